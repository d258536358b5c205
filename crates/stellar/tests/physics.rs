//! Promise: stars of every mass and metallicity live sensibly, the same in every bit however they are looked at.

mod common;

use common::{Population, Table, ratio};
use tisane_stellar::{
    BlackHoleKicks, Cause, Event, Kicks, Kind, Life, Metallicity, Model, Options, PairInstability, RemnantRecipe,
    Remnants, Star, State, Steps, Supernova, WindRecipe, Winds, merge, merged_kind,
};

const METALLICITIES: [f64; 6] = [1e-4, 3e-4, 1e-3, 4e-3, 0.02, 0.03];
const AGE: f64 = 15_000.0;

fn model(z: f64) -> Model {
    Model::new(z, Options::default()).expect("a valid metallicity")
}

/// Masses from the lightest to the heaviest, in equal steps of their logarithm.
fn masses(n: u32) -> impl Iterator<Item = f64> {
    let (least, greatest) = Star::BIRTH_MASSES;
    (0..n).map(move |i| (least * (greatest / least).powf(f64::from(i) / f64::from(n - 1))).clamp(least, greatest))
}

fn life_of(model: &Model, id: u64, mass: f64) -> (Star, Vec<Event>) {
    let mut star = Star::new(model, id, mass, 0.0).expect("a mass within the range");
    let mut events = Vec::new();
    star.advance_to(model, AGE, &mut events);
    (star, events)
}

fn is_sane(state: &State) -> bool {
    let State { effective_mass, mass, core_mass, age, luminosity, radius, kind } = *state;
    let finite = [effective_mass, mass, core_mass, age, luminosity, radius, state.temperature()];
    finite.iter().all(|x| x.is_finite() && *x >= 0.0)
        && core_mass <= mass
        && luminosity > 0.0
        && radius > 0.0
        && (mass > 0.0) == (kind != Kind::NoRemnant)
}

#[test]
fn every_stretch_of_every_star_is_sane() {
    let (mut stars, mut stretches) = (0, 0);
    for z in METALLICITIES {
        let model = model(z);
        for mass in masses(150) {
            let mut star = Star::new(&model, 1, mass, 0.0).expect("a mass within the range");
            while star.end <= AGE {
                let before = star;
                let mut events = Vec::new();
                star.advance_to(&model, star.end, &mut events);
                let place = format!("Z {z}, {mass}: {before:?}\nbecame {star:?}");
                assert!(is_sane(&star.state), "{place}");
                assert!(star.begin >= before.end && star.end > star.begin, "{place}");
                assert!(star.state.mass <= before.state.mass && star.end_mass <= star.state.mass, "{place}");
                assert!(before.end_mass > 0.0, "{place}");
                assert!(
                    star.state.core_mass >= before.state.core_mass || star.state.kind != before.state.kind,
                    "{place}"
                );
                assert!(star.stretches < 20_000, "{place}");
                let middle = star.state_at(&model, 0.5 * (star.begin + star.end.min(2.0 * AGE)));
                assert!(is_sane(&middle) && middle.kind == star.state.kind, "{place}\n{middle:?}");
            }
            stars += 1;
            stretches += star.stretches;
        }
    }
    eprintln!("{stars} stars, {} stretches a star", f64::from(stretches) / f64::from(stars));
}

#[test]
fn phases_begin_where_the_last_one_ended() {
    let mut largest = [0.0_f64; 2];
    for z in METALLICITIES {
        let model = model(z);
        for mass in masses(200).filter(|m| (0.8..100.0).contains(m)) {
            let life = Life::new(&model, Kind::MainSequence, mass);
            let Life::Hydrogen(marks) = &life else { panic!("a young star is a hydrogen star") };
            for (end, kind) in [
                (marks.t_ms, Kind::MainSequence),
                (marks.t_bgb, Kind::HertzsprungGap),
                (marks.t_hei, Kind::GiantBranch),
                (marks.t_bagb, Kind::CoreHeliumBurning),
                (marks.t_du, Kind::EarlyAsymptoticGiant),
            ] {
                let at = |age: f64| {
                    let state =
                        State { kind, effective_mass: mass, mass, core_mass: 0.0, age, luminosity: 0.0, radius: 0.0 };
                    life.evaluate(&model, &state).state
                };
                let (before, after) = (at(end * (1.0 - 1e-12)), at(end * (1.0 + 1e-12)));
                // The helium flash is no continuous change, nor is the loss of the envelope.
                let is_flash = before.kind == Kind::GiantBranch && marks.is_below_flash();
                // The cores of the heaviest stars are beyond the second dredge-up before the asymptotic giant branch.
                let is_skipped = end == marks.t_bagb && marks.t_du <= marks.t_bagb;
                if is_flash
                    || is_skipped
                    || before.kind != kind
                    || after.kind > Kind::ThermallyPulsingGiant
                    || after.kind == kind
                {
                    continue;
                }
                for (i, jump) in [before.luminosity / after.luminosity, before.radius / after.radius].iter().enumerate()
                {
                    largest[i] = largest[i].max((jump - 1.0).abs());
                    assert!((jump - 1.0).abs() < 0.05, "Z {z}, {mass}: {before:?}\nthen {after:?}");
                }
            }
        }
    }
    eprintln!("largest jumps of luminosity and radius: {largest:?}");
}

#[test]
fn a_track_does_not_depend_on_when_it_is_looked_at() {
    let model = model(0.02);
    for mass in [0.3, 0.9, 1.5, 3.0, 8.0, 25.0, 60.0, 140.0] {
        let (whole, events) = life_of(&model, 5, mass);
        let mut star = Star::new(&model, 5, mass, 0.0).expect("a mass within the range");
        let mut found = Vec::new();
        let mut last = mass;
        for i in 1..=1000 {
            // Most looks are in the life of the star.
            let time = AGE * (f64::from(i) / 1000.0).powi(4);
            star.advance_to(&model, time, &mut found);
            let state = star.state_at(&model, time);
            assert!(state.mass <= last && star.mass_at(time) == state.mass, "{mass}: {state:?}");
            last = state.mass;
        }
        assert_eq!((star, &found), (whole, &events), "{mass}");
    }
}

#[test]
fn a_track_does_not_depend_on_the_time_of_birth_nor_on_other_stars() {
    let model = model(0.001);
    for mass in [2.0, 9.0, 30.0] {
        let (_, now) = life_of(&model, 7, mass);
        let mut later = Star::new(&model, 7, mass, 100.0).expect("a mass within the range");
        let mut events = Vec::new();
        later.advance_to(&model, AGE, &mut events);
        assert_eq!(now.len(), events.len());
        for (a, b) in now.iter().zip(&events) {
            // Times are rounded differently, which may move a step by 1e-7 of the age.
            assert!(ratio(b.time - 100.0, a.time) < 1e-6 && a.after.kind == b.after.kind, "{a:?} {b:?}");
            assert!(ratio(b.after.mass, a.after.mass) < 1e-3, "{a:?} {b:?}");
            assert!(a.kick.iter().zip(b.kick).all(|(a, b)| ratio(b, *a) < 1e-3), "{a:?} {b:?}");
        }
    }
}

#[test]
fn a_star_goes_on_from_its_state_alone() {
    let model = model(0.004);
    for mass in [0.7, 1.2, 4.0, 12.0, 45.0] {
        let mut star = Star::new(&model, 3, mass, 0.0).expect("a mass within the range");
        while star.end <= AGE {
            star.advance_to(&model, star.end, &mut Vec::new());
            let again = Star::resume(&model, 3, mass, star.begin, &star.state).expect("a valid state");
            let same = Star { supernovae: star.supernovae, stretches: star.stretches, ..again };
            assert_eq!(same, star);
        }
    }
}

#[test]
fn the_bits_of_tracks_are_pinned() {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bits: u64| {
        for byte in bits.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    };
    let winds = [WindRecipe::Belczynski2010, WindRecipe::Hurley2000, WindRecipe::None];
    for (recipe, z) in winds.iter().flat_map(|recipe| METALLICITIES.map(|z| (*recipe, z))) {
        let options = Options { winds: Winds { recipe, ..Winds::default() }, ..Options::default() };
        let model = Model::new(z, options).expect("a valid metallicity");
        for (id, mass) in (0..).zip(masses(60)) {
            let (star, events) = life_of(&model, id, mass);
            for event in events {
                let State { kind, effective_mass, mass, core_mass, age, luminosity, radius } = event.after;
                add(u64::from(kind.number()));
                let values = [event.time, effective_mass, mass, core_mass, age, luminosity, radius];
                values.iter().chain(&event.kick).for_each(|x| add(x.to_bits()));
            }
            [star.end, star.end_mass, star.state.radius].iter().for_each(|x| add(x.to_bits()));
        }
    }
    // Whoever changes this number changes results: say so in the change log.
    assert_eq!(hash, 0x34a4_6863_59c6_5ca8, "{hash:#018x}");
}

#[test]
fn states_are_those_that_agreed_with_other_programs() {
    let table = Table::parse("states.csv", include_str!("states.csv"));
    for row in table.rows() {
        let model = model(row.number("Z"));
        let mut star = Star::new(&model, 1, row.number("birth_mass"), 0.0).expect("a mass within the range");
        star.advance_to(&model, row.number("time"), &mut Vec::new());
        let state = star.state_at(&model, row.number("time"));
        assert_eq!(state.kind, row.kind("type"), "{}", row.place());
        for (column, value) in [
            ("effective_mass", state.effective_mass),
            ("mass", state.mass),
            ("core_mass", state.core_mass),
            ("luminosity", state.luminosity),
            ("radius", state.radius),
            ("temperature", state.temperature()),
        ] {
            let deviation = ratio(value, row.number(column));
            assert!(deviation < 1e-12, "{}: {column} is {value:e}, off by {deviation:e}", row.place());
        }
    }
}

/// Shares of the initial mass that SSE leaves of the same population, with its options of the year 2000.
#[test]
fn a_population_loses_mass_as_that_of_sse() {
    let options = Options {
        winds: Winds { recipe: WindRecipe::Hurley2000, ..Winds::default() },
        remnants: Remnants { recipe: RemnantRecipe::Belczynski2002, electron_capture: false, ..Remnants::default() },
        steps: Steps { main_sequence: 0.05, giants: 0.01, asymptotic: 0.02 },
        ..Options::default()
    };
    let mut stars = Population::new(Model::new(0.02, options).expect("a valid metallicity"), 2000);
    for (time, share) in [(5.0, 0.952), (20.0, 0.868), (100.0, 0.790), (1000.0, 0.691), (1e4, 0.598)] {
        let sums = stars.at(time);
        assert!((sums.mass - share).abs() < 1.5e-3, "{time}: {sums:?}");
        if time == 1000.0 {
            assert!((sums.white_dwarfs - 0.040).abs() < 1e-3, "{sums:?}");
            assert!((sums.mass - sums.neutron_stars - sums.black_holes - 0.653).abs() < 1.5e-3, "{sums:?}");
        }
    }
}

#[test]
fn without_winds_only_the_end_takes_mass() {
    let options = Options { winds: Winds { recipe: WindRecipe::None, ..Winds::default() }, ..Options::default() };
    let model = Model::new(0.02, options).expect("a valid metallicity");
    for mass in [0.8, 1.1, 5.0, 30.0] {
        for event in life_of(&model, 1, mass).1 {
            assert_eq!(event.before.mass, mass, "{event:?}");
            assert!(event.after.mass == mass || event.after.kind.is_remnant(), "{event:?}");
        }
    }
}

const CORE_COLLAPSE: Supernova = Supernova { cause: Cause::CoreCollapse, fallback: 0.0 };

/// Distribution of Maxwell's speeds of unit dispersion.
fn maxwell(v: f64) -> f64 {
    libm::erf(v / 2.0_f64.sqrt()) - (2.0 / std::f64::consts::PI).sqrt() * v * (-0.5 * v * v).exp()
}

/// Greatest distance of a sample from a distribution.
fn kolmogorov_smirnov(mut sample: Vec<f64>, distribution: impl Fn(f64) -> f64) -> f64 {
    sample.sort_by(f64::total_cmp);
    let n = sample.len() as f64;
    let distance = |(i, x): (usize, &f64)| {
        let wanted = distribution(*x);
        (wanted - i as f64 / n).abs().max((i as f64 + 1.0) / n - wanted)
    };
    sample.iter().enumerate().map(distance).fold(0.0, f64::max)
}

#[test]
fn kicks_are_maxwellian_and_isotropic() {
    let n = 10_000;
    // Distance that one sample of a thousand exceeds.
    let bound = 1.95 / f64::from(n).sqrt();
    for (seed, number) in [(1, 0), (2, 0), (1, 1)] {
        let settings = Kicks { seed, ..Kicks::default() };
        let kicks: Vec<[f64; 3]> =
            (0..n as u64).map(|id| settings.draw(Kind::NeutronStar, &CORE_COLLAPSE, id, number)).collect();
        let speeds = kicks.iter().map(|[x, y, z]| (x * x + y * y + z * z).sqrt() / settings.sigma).collect();
        let distance = kolmogorov_smirnov(speeds, maxwell);
        assert!(distance < bound, "speeds: {distance}");
        for axis in 0..3 {
            let part = kicks.iter().map(|kick| kick[axis] / settings.sigma).collect();
            let distance = kolmogorov_smirnov(part, |x| 0.5 * (1.0 + libm::erf(x / 2.0_f64.sqrt())));
            assert!(distance < bound, "component {axis}: {distance}");
            // Neither two components nor two neighbours by identity are correlated.
            let product = |a: &[f64; 3], b: f64| a[axis] * b / (settings.sigma * settings.sigma * f64::from(n));
            let across: f64 = kicks.iter().map(|kick| product(kick, kick[(axis + 1) % 3])).sum();
            let along: f64 = kicks.windows(2).map(|pair| product(&pair[0], pair[1][axis])).sum();
            assert!(across.abs() < 3.5 / f64::from(n).sqrt() && along.abs() < 3.5 / f64::from(n).sqrt());
        }
    }
}

#[test]
fn kicks_follow_the_settings() {
    let settings = Kicks::default();
    let of = |settings: &Kicks, kind, supernova: Supernova| settings.draw(kind, &supernova, 11, 0);
    let full = of(&settings, Kind::NeutronStar, CORE_COLLAPSE);
    let third = Supernova { fallback: 0.75, ..CORE_COLLAPSE };
    assert_eq!(of(&settings, Kind::BlackHole, third), full.map(|v| 0.25 * v));
    let direct = Supernova { fallback: 1.0, ..CORE_COLLAPSE };
    assert_eq!(of(&settings, Kind::BlackHole, direct), [0.0; 3]);
    let quiet = Kicks { black_holes: BlackHoleKicks::None, ..settings };
    assert_eq!((of(&quiet, Kind::BlackHole, third), of(&quiet, Kind::NeutronStar, third)), ([0.0; 3], full));
    let loud = Kicks { black_holes: BlackHoleKicks::Full, ..settings };
    assert_eq!((of(&loud, Kind::BlackHole, direct), of(&loud, Kind::NeutronStar, direct)), (full, full));
    let gentle = Supernova { cause: Cause::ElectronCapture, fallback: 0.0 };
    let kick = of(&settings, Kind::NeutronStar, gentle);
    assert!(kick.iter().zip(full).all(|(a, b)| ratio(a * 265.0, b * 3.0) < 1e-14), "{kick:?}");
    assert_eq!(of(&settings, Kind::NoRemnant, CORE_COLLAPSE), [0.0; 3]);
}

#[test]
fn supernovae_leave_what_their_recipe_says() {
    let recipes = [
        (RemnantRecipe::Hurley2000, 1.8),
        (RemnantRecipe::Belczynski2002, 3.0),
        (RemnantRecipe::Belczynski2008, 2.5),
        (RemnantRecipe::Fryer2012Rapid, 2.5),
        (RemnantRecipe::Fryer2012Delayed, 2.5),
    ];
    let unstable =
        [PairInstability::None, PairInstability::Belczynski2016, PairInstability::Moderate, PairInstability::Weak];
    for ((recipe, heaviest), pair_instability) in recipes.iter().flat_map(|r| unstable.map(|p| (*r, p))) {
        let remnants = Remnants { recipe, pair_instability, ..Remnants::default() };
        let steps = Steps { main_sequence: 0.05, giants: 0.02, asymptotic: 0.02 };
        let model = Model::new(1e-4, Options { remnants, steps, ..Options::default() }).expect("valid options");
        let mut causes = Vec::new();
        for mass in (0..100).map(|i| 5.0 * 30.0_f64.powf(f64::from(i) / 99.0).min(30.0)) {
            let (star, events) = life_of(&model, 1, mass);
            let end = events.last().expect("a heavy star dies");
            assert!(end.after.mass <= end.before.mass && star.state.kind.is_remnant(), "{mass}: {end:?}");
            let Some(supernova) = end.supernova else { continue };
            causes.push(supernova.cause);
            assert!((0.0..=1.0).contains(&supernova.fallback), "{mass}: {end:?}");
            match end.after.kind {
                Kind::NeutronStar => assert!((1.1..=heaviest).contains(&end.after.mass), "{mass}: {end:?}"),
                Kind::BlackHole => assert!(end.after.mass > heaviest, "{mass}: {end:?}"),
                _ => assert_eq!((end.after.mass, end.kick), (0.0, [0.0; 3]), "{mass}"),
            }
            if supernova.cause == Cause::ElectronCapture {
                assert_eq!((end.after.mass, end.after.age), (1.26, 0.0));
            }
        }
        assert!(causes.contains(&Cause::ElectronCapture) && causes.contains(&Cause::CoreCollapse), "{recipe:?}");
        let is_unstable = causes.contains(&Cause::PulsationalPairInstability);
        assert_eq!(is_unstable, pair_instability != PairInstability::None, "{recipe:?} {pair_instability:?}");
    }
}

/// A star of each type, 0 to 14, all at the time 0.
fn one_of_each(model: &Model) -> Vec<Star> {
    let mut found: Vec<Option<Star>> = vec![None; 15];
    let young = |mass: f64| Star::new(model, 1, mass, 0.0).expect("a mass within the range");
    let bare = |mass: f64| {
        let kind = Kind::HeliumMainSequence;
        let state = State { kind, effective_mass: mass, mass, core_mass: 0.0, ..young(1.0).state };
        Star::resume(model, 1, mass, 0.0, &state).expect("a valid state")
    };
    let hydrogen = [0.3, 1.0, 2.5, 5.0, 7.5, 12.0, 60.0, 110.0].map(young);
    for mut star in hydrogen.into_iter().chain([1.0, 2.0, 3.0].map(bare)) {
        let mass = star.birth_mass;
        loop {
            let middle = if star.end.is_finite() { 0.5 * (star.begin + star.end) } else { star.begin };
            let state = star.state_at(model, middle);
            let place = usize::from(state.kind.number());
            if place < 15 && (found[place].is_none() || state.kind.is_main_sequence()) {
                let id = u64::from(state.kind.number());
                found[place] = Some(Star::resume(model, id, mass, 0.0, &state).expect("a valid state"));
            }
            if star.end.is_infinite() {
                break;
            }
            star.advance_to(model, star.end, &mut Vec::new());
        }
    }
    found.into_iter().enumerate().map(|(i, star)| star.unwrap_or_else(|| panic!("no star of type {i}"))).collect()
}

/// Times so late that no stretch has a length among the numbers near them.
#[test]
fn tracks_end_at_any_time() {
    let model = model(0.02);
    for (mass, birth, now) in [(1.0, -1e300, 0.0), (40.0, 1e20, 1.1e20), (20.0, -Star::LATEST, Star::LATEST)] {
        let mut star = Star::new(&model, 1, mass, birth).expect("a mass within the range");
        star.advance_to(&model, now, &mut Vec::new());
        assert!(is_sane(&star.state), "{star:?}");
        assert_eq!(star.state.kind.is_remnant(), now <= Star::LATEST && birth >= -Star::LATEST, "{star:?}");
    }
}

#[test]
fn any_two_stars_merge() {
    let model = model(0.02);
    let mut stars = one_of_each(&model);
    let state = State { kind: Kind::NoRemnant, effective_mass: 0.0, mass: 0.0, core_mass: 0.0, ..stars[10].state };
    stars.push(Star::resume(&model, 15, 5.0, 0.0, &state).expect("a valid state"));
    let is_compact = |star: &Star| matches!(star.state.kind, Kind::NeutronStar | Kind::BlackHole);
    for (a, b) in stars.iter().flat_map(|a| stars.iter().map(move |b| (a, b))) {
        let place = format!("{:?} and {:?}", a.state.kind, b.state.kind);
        let merger = merge([&model; 2], &model, [a, b], 0.0);
        let mut star = merger.star;
        let (sum, wanted) = (a.state.mass + b.state.mass, merged_kind(a.state.kind, b.state.kind));
        assert_eq!(wanted, merged_kind(b.state.kind, a.state.kind));
        assert_eq!(merge([&model; 2], &model, [b, a], 0.0).star.state, star.state, "{place}");
        assert_eq!((star.id, star.begin), (a.id, 0.0));
        assert!(is_sane(&star.state), "{place}: {star:?}");
        if wanted < Kind::NeutronStar && star.state.kind < Kind::NeutronStar {
            assert_eq!(star.state.mass, sum, "{place}");
        } else if is_compact(a) != is_compact(b) {
            assert_eq!(star.state.mass, if is_compact(a) { a.state.mass } else { b.state.mass }, "{place}");
        }
        let is_double_neutron_star = a.state.kind == Kind::NeutronStar && b.state.kind == Kind::NeutronStar;
        let is_heavy_dwarf = wanted == Kind::OxygenNeonWhiteDwarf && star.state.kind == Kind::NeutronStar;
        let is_ignited = star.state.kind == Kind::NoRemnant && merger.supernova.is_some();
        let differs = is_double_neutron_star || is_heavy_dwarf || is_ignited;
        assert!(star.state.kind == wanted || differs || wanted <= Kind::GiantBranch, "{place}: {star:?}");
        let mut events = Vec::new();
        star.advance_to(&model, AGE, &mut events);
        assert!(is_sane(&star.state), "{place}: {star:?}");
        assert!(events.iter().all(|event| is_sane(&event.before) && is_sane(&event.after)), "{place}: {events:?}");
    }
}

#[test]
fn merged_main_sequence_stars_are_mixed() {
    let model = model(0.02);
    let mut star = Star::new(&model, 1, 1.0, 0.0).expect("a mass within the range");
    star.advance_to(&model, 5000.0, &mut Vec::new());
    let merger = merge([&model; 2], &model, [&star; 2], 5000.0);
    let t_ms = |mass| match Life::new(&model, Kind::MainSequence, mass) {
        Life::Hydrogen(marks) => marks.t_ms,
        _ => panic!("a young star is a hydrogen star"),
    };
    let state = merger.star.state;
    assert_eq!((state.kind, state.mass), (Kind::MainSequence, 2.0 * star.mass_at(5000.0)));
    // The new star has a tenth of the share of the two, of its own, shorter life.
    let wanted = 0.1 * t_ms(state.mass) * 5000.0 / t_ms(star.mass_at(5000.0));
    assert!(ratio(state.age, wanted) < 3e-3, "{} {wanted}", state.age);
    assert!(ratio(merger.star.epoch(), 5000.0 - wanted) < 1e-4);
}

/// A star in the Hertzsprung gap by its own metallicity stays there, although by that of the mixture it would be on the main sequence; the
/// share of its phase is its own.
#[test]
fn stars_of_different_metallicity_merge_by_what_they_are() {
    let (own, other, mixed) = (model(1e-4), model(0.03), model(0.015));
    let life = |model: &Model, mass| match Life::new(model, Kind::MainSequence, mass) {
        Life::Hydrogen(marks) => marks,
        _ => panic!("a young star is a hydrogen star"),
    };
    let marks = life(&own, 2.0);
    let age = 0.5 * (marks.t_ms + marks.t_bgb);
    let mut star = Star::new(&own, 1, 2.0, 0.0).expect("a mass within the range");
    star.advance_to(&own, age, &mut Vec::new());
    let mut young = Star::new(&other, 2, 1.9, 0.0).expect("a mass within the range");
    young.advance_to(&other, age, &mut Vec::new());
    assert_eq!((star.state.kind, young.state.kind), (Kind::HertzsprungGap, Kind::MainSequence));
    assert!(life(&mixed, 2.0).t_ms > age, "by the mixture it would be on the main sequence");
    for (models, stars) in [([&own, &other], [&star, &young]), ([&other, &own], [&young, &star])] {
        let state = merge(models, &mixed, stars, age).star.state;
        let new = life(&mixed, state.mass);
        assert_eq!(state.kind, Kind::HertzsprungGap);
        assert!((((state.age - new.t_ms) / (new.t_bgb - new.t_ms)) - 0.5).abs() < 0.02, "{state:?}");
    }
}

#[test]
fn mistakes_are_named() {
    let message = |error: tisane_stellar::Error| error.to_string();
    let of_z = |z: f64| Metallicity::new(z).map_err(message).expect_err("an error");
    assert_eq!(of_z(0.05), "metallicity Z is 0.05, but must be from 0.0001 to 0.03");
    assert_eq!(of_z(f64::NAN), "metallicity Z is NaN, but must be from 0.0001 to 0.03");
    let model = model(0.02);
    let of_mass = |mass: f64| Star::new(&model, 1, mass, 0.0).map_err(message).expect_err("an error");
    assert_eq!(of_mass(200.0), "mass at birth in solar masses is 200, but must be from 0.01 to 150");
    assert_eq!(of_mass(-1.0), "mass at birth in solar masses is -1, but must be from 0.01 to 150");
    let star = Star::new(&model, 1, 1.0, 0.0).expect("a mass within the range");
    let state = State { core_mass: 2.0, ..star.state };
    let error = Star::resume(&model, 1, 1.0, 0.0, &state).map_err(message).expect_err("an error");
    assert_eq!(error, "core mass in solar masses is 2, but must be from 0 to 1");
    let state = State { age: -1.0, ..star.state };
    let error = Star::resume(&model, 1, 1.0, 0.0, &state).map_err(message).expect_err("an error");
    assert_eq!(error, "age in Myr is -1, but must be at least 0");
    let kicks = Kicks { sigma: -265.0, ..Kicks::default() };
    let error = Model::new(0.02, Options { kicks, ..Options::default() }).map_err(message).expect_err("an error");
    assert_eq!(error, "dispersion of kicks in km/s is -265, but must be from 0 to 100000");
}

#[test]
fn runaway_mergers_stay_sane() {
    for z in [1e-4, 0.02] {
        let model = model(z);
        let mut star = Star::new(&model, 1, 150.0, 0.0).expect("a mass within the range");
        let mut events = Vec::new();
        for i in 1..20 {
            let time = 0.1 * f64::from(i);
            star.advance_to(&model, time, &mut events);
            let mut other = Star::new(&model, 2, 100.0, 0.0).expect("a mass within the range");
            other.advance_to(&model, time, &mut events);
            star = merge([&model; 2], &model, [&star, &other], time).star;
            assert!(is_sane(&star.state), "{star:?}");
        }
        star.advance_to(&model, AGE, &mut events);
        assert!(star.state.kind.is_remnant() && is_sane(&star.state), "{star:?}");
        assert!(events.iter().all(|event| is_sane(&event.after)), "{events:?}");
    }
}
