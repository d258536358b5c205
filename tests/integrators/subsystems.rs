//! Promises on subsystems: energy, pairs that nothing disturbs, the same bits for any division of the steps, any number of
//! threads, and from a state that is kept.

use crate::kinds::{Kind, each};
use tisane::diagnostics::{conserved::Conserved, orbit::Orbit};
use tisane::encounters::{Encounters, SubsystemState};
use tisane::few_body::FewBody;
use tisane::force::{FieldEngine, ForceEngine, precision::Precision, reference};
use tisane::initial::plummer;
use tisane::integrator::Integrator as _;
use tisane::integrator::hermite4::{Limits, OnFloor};
use tisane::particles::{Particles, Vec3};
use tisane::subsystems::Subsystems as _;
use tisane::time::{Clock, Level, Time};

pub const CLOCK: Clock = Clock { start: 0.0, dt_max: 1.0 / 16.0 };

/// Limits of steps that hold a particle at the shortest one, which is the shortest that there is.
pub fn limits() -> Limits {
    Limits { floor: Level::DEEPEST, on_floor: OnFloor::Clamp, ..Limits::new(Precision::F64) }
}

pub fn encounters(perturbation: f64) -> Encounters {
    encounters_with(0.01, perturbation)
}

pub fn encounters_with(nu: f64, perturbation: f64) -> Encounters {
    encounters_on(Kind::Hermite4, nu, perturbation)
}

pub fn encounters_on(kind: Kind, nu: f64, perturbation: f64) -> Encounters {
    Encounters::new(kind.build(CLOCK, nu, limits()), perturbation, CLOCK)
}

pub fn engine() -> Box<dyn FieldEngine> {
    reference::engine(Precision::F64, 0.0, CLOCK)
}

/// Plummer sphere of `n` units, of which the first `binaries` are pairs with semi-major axes from 1e-6 to 1e-2 and
/// eccentricities up to 0.95.
pub fn cluster(n: usize, binaries: usize) -> Particles {
    cluster_of(&plummer::sample(n, 7, 0.99), binaries)
}

/// Does so with a sample of units.
pub fn cluster_of(units: &Particles, binaries: usize) -> Particles {
    let n = units.len();
    let (mut mass, mut pos, mut vel) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..n {
        let (m, x, v) = (units.mass[i], units.pos[i], units.vel[i]);
        if i >= binaries {
            mass.push(m);
            pos.push(x);
            vel.push(v);
            continue;
        }
        let part = i as f64 / binaries as f64;
        let (a, e) = (1e-6 * 10f64.powf(4.0 * part), 0.95 * part);
        let turn = 0.7 * i as f64;
        let (r, u) = (a * (1.0 + e), (m * (1.0 - e) / (a * (1.0 + e))).sqrt());
        let dx = Vec3::new(turn.cos(), turn.sin() * 0.6, turn.sin() * 0.8) * r;
        let dv = Vec3::new(-turn.sin(), turn.cos() * 0.6, turn.cos() * 0.8) * u;
        for share in [-0.25, 0.75] {
            mass.push(m * if share < 0.0 { 0.75 } else { 0.25 });
            pos.push(x + dx * share);
            vel.push(v + dv * share);
        }
    }
    Particles::new(mass, pos, vel)
}

pub fn energy(it: &mut Encounters, p: &Particles, f: &mut dyn ForceEngine, now: Time) -> f64 {
    let field = it.field(p, now, f, true).unwrap();
    Conserved::from_particles(p, &field.pot).energy()
}

/// Integrates to `until` in calls of up to `max` block steps; resumes in a new integrator before each if asked for. Returns the
/// particles, and at how many stops the rows of the bodies were out of order.
pub fn run(kind: Kind, mut p: Particles, until: Time, max: u64, resumes: bool) -> (Particles, usize) {
    let new = || (encounters_on(kind, 0.01, 1e-6), engine());
    let ((mut it, mut f), mut out_of_order) = (new(), 0);
    it.start(&mut p, &mut *f).unwrap();
    loop {
        let done = it.advance(&mut p, &mut *f, until, max).unwrap();
        if done.now == until {
            return (p, out_of_order);
        }
        let rows = it.loaded(&p);
        let is_ordered = rows.id.is_sorted() && rows.mass.iter().all(|mass| *mass > 0.0);
        out_of_order += usize::from(!is_ordered);
        if resumes {
            (it, f) = new();
            it.resume(&p, done.now, &mut *f).unwrap();
        }
    }
}

#[test]
fn without_a_perturbation_it_is_the_plain_scheme() {
    each(|kind| {
        let (mut p, mut f) = (plummer::sample(40, 3, 0.99), engine());
        let mut want = p.clone();
        let until = Time::from_dt_max(4);
        let (mut it, mut plain) = (encounters_on(kind, 0.01, 0.0), kind.build(CLOCK, 0.01, limits()));
        assert_eq!(it.start(&mut p, &mut *f).unwrap(), plain.start(&mut want, &mut *engine()).unwrap());
        let mut g = engine();
        plain.resume(&want, Time::default(), &mut *g).unwrap();
        let done = it.advance(&mut p, &mut *f, until, u64::MAX).unwrap();
        assert_eq!(done, plain.advance(&mut want, &mut *g, until, u64::MAX).unwrap());
        assert!(p == want);
    });
}

#[test]
fn calls_threads_and_resuming_change_no_bit() {
    let until = Time::from_dt_max(2);
    each(|kind| {
        let run = |max, resumes| run(kind, cluster(40, 12), until, max, resumes);
        let (want, _) = run(u64::MAX, false);
        assert!(!want.states.get::<SubsystemState>().words.is_empty());
        assert!(run(7, false).0 == want, "calls");
        for max in [1, 5] {
            let (found, out_of_order) = run(max, true);
            assert!(found == want, "resuming after {max}");
            assert!(out_of_order > 10, "{out_of_order}");
        }
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(pool.install(|| run(u64::MAX, false)).0 == want, "{threads} threads");
        }
    });
}

#[test]
fn energy_is_conserved_and_undisturbed_pairs_stay() {
    each(|kind| {
        let (mut p, mut f, mut it) = (cluster(40, 12), engine(), encounters_on(kind, 0.01, 1e-6));
        let before = p.clone();
        it.start(&mut p, &mut *f).unwrap();
        assert!(it.number() > 8, "{}", it.number());
        let first = energy(&mut it, &p, &mut *f, Time::default());
        let internal = it.binding_energy();
        let until = Time::from_dt_max(8);
        it.advance(&mut p, &mut *f, until, u64::MAX).unwrap();
        let last = energy(&mut it, &p, &mut *f, until);
        assert!(internal > 50.0 && (last - first).abs() < 1e-6, "{internal} {:e}", last - first);
        // The closest pairs: of places in the cluster only some digits are left.
        let orbit =
            |p: &Particles, i: usize| Orbit::from_state(p.pos[i + 1] - p.pos[i], p.vel[i + 1] - p.vel[i], 1.0 / 40.0);
        for i in [0, 2, 4] {
            let (a, b) = (orbit(&before, i), orbit(&p, i));
            assert!((a.semi_major_axis / b.semi_major_axis - 1.0).abs() < 1e-8, "{a:?} {b:?}");
            assert!((a.eccentricity - b.eccentricity).abs() < 1e-8, "{a:?} {b:?}");
        }
    });
}

/// Two stars, far from a third one, that fall towards each other: a passage that the plain scheme does not survive.
#[test]
fn a_close_passage_is_taken() {
    each(|kind| {
        let pos = [[0.5, 0.0, 0.0], [-0.5, 1e-7, 0.0], [30.0, 0.0, 0.0]].map(Vec3::from);
        let mut p = Particles::new(vec![0.5, 0.5, 1e-3], pos.to_vec(), vec![Vec3::zeros(); 3]);
        let (mut it, mut f) = (encounters_on(kind, 0.01, 1e-6), engine());
        it.start(&mut p, &mut *f).unwrap();
        let first = energy(&mut it, &p, &mut *f, Time::default());
        let done = it.advance(&mut p, &mut *f, Time::from_dt_max(80), u64::MAX).unwrap();
        let error = energy(&mut it, &p, &mut *f, Time::from_dt_max(80)) / first - 1.0;
        // The third star's tide of 1e-7 is neglected.
        assert!(error.abs() < 1e-7 && done.clamped == 0, "{error:e}");
    });
}

/// A pair as one body of a wider orbit, which nothing disturbs or which both orbits follow in the mean; and one that has to be
/// opened.
#[test]
fn a_pair_inside_of_a_wider_orbit() {
    each(|kind| {
        for (a, closed) in [(1e-6, true), (0.02, true), (0.1, false)] {
            let (u, w) = ((0.5f64 / a).sqrt(), 0.8);
            let pos = [[a * 0.5, 0.0, 0.0], [-a * 0.5, 0.0, 0.0], [1.0, 0.0, 0.0], [300.0, 0.0, 0.0]].map(Vec3::from);
            let vel = [[0.0, u * 0.5, 0.0], [0.0, -u * 0.5, 0.0], [0.0, 0.0, w], [0.0, 0.0, 0.0]].map(Vec3::from);
            let mut p = Particles::new(vec![0.25, 0.25, 0.5, 1e-3], pos.to_vec(), vel.to_vec());
            let (mut it, mut f) = (encounters_on(kind, 0.01, 1e-6), engine());
            it.start(&mut p, &mut *f).unwrap();
            // The first number of a state is that of the bodies of the first subsystem.
            assert_eq!((it.number(), p.states.get::<SubsystemState>().words[0]), (1, if closed { 2 } else { 3 }));
            let first = energy(&mut it, &p, &mut *f, Time::default());
            it.advance(&mut p, &mut *f, Time::from_dt_max(100), u64::MAX).unwrap();
            let error = energy(&mut it, &p, &mut *f, Time::from_dt_max(100)) - first;
            assert!(error.abs() < 1e-9, "{a}: {error:e}");
        }
    });
}

#[test]
fn states_that_are_none_are_errors() {
    let (mut p, mut f) = (cluster(20, 6), engine());
    encounters(1e-6).start(&mut p, &mut *f).unwrap();
    let whole = p.states.get::<SubsystemState>().clone();
    let try_with = |change: fn(&mut SubsystemState)| {
        let mut p = p.clone();
        change(p.states.get_mut::<SubsystemState>());
        encounters(1e-6).resume(&p, Time::default(), &mut *engine()).is_err()
    };
    assert!(!try_with(|_| ()) && !whole.words.is_empty());
    assert!(try_with(|state| _ = state.words.pop()));
    assert!(try_with(|state| _ = state.numbers.pop()));
    assert!(try_with(|state| state.numbers.push(0.0)));
    assert!(try_with(|state| state.words[0] = 0));
    assert!(try_with(|state| state.words[0] = u64::MAX));
}

/// The state between two block steps, at a moment of all.
#[test]
fn a_synchronised_state_changes_nothing() {
    each(|kind| {
        let (mut p, mut f, mut it) = (cluster(40, 12), engine(), encounters_on(kind, 0.01, 1e-6));
        it.start(&mut p, &mut *f).unwrap();
        let done = it.advance(&mut p, &mut *f, Time::from_dt_max(1), 40).unwrap();
        let before = p.clone();
        let all = it.synchronised(&p, done.now, &mut *f).unwrap();
        assert!(all.time.iter().all(|&time| time == done.now));
        it.advance(&mut p, &mut *f, Time::from_dt_max(1), u64::MAX).unwrap();
        let mut other = encounters_on(kind, 0.01, 1e-6);
        let mut undisturbed = before;
        let mut g = engine();
        other.resume(&undisturbed, done.now, &mut *g).unwrap();
        other.advance(&mut undisturbed, &mut *g, Time::from_dt_max(1), u64::MAX).unwrap();
        assert_eq!(p, undisturbed);
    });
}

/// A binary with semi-major axis `a` in the middle of a ring of three stars, none of which is its companion.
fn ring(a: f64) -> Particles {
    let (m, n) = (0.1, 3);
    let (mut mass, mut pos, mut vel) = (Vec::new(), Vec::new(), Vec::new());
    let u = (2.0 * m / a).sqrt() * (0.5f64 / 1.5).sqrt();
    for side in [-0.5, 0.5] {
        mass.push(m);
        pos.push(Vec3::new(1.5 * a * side, 0.0, 0.0));
        vel.push(Vec3::new(0.0, 0.8 * u * side, 0.6 * u * side));
    }
    for k in 0..n {
        let angle = std::f64::consts::TAU * f64::from(k) / f64::from(n) + 0.3;
        let speed = ((2.0 * m + m / 3f64.sqrt()) / 0.5).sqrt();
        mass.push(m);
        pos.push(Vec3::new(angle.cos(), angle.sin(), 0.0) * 0.5);
        vel.push(Vec3::new(-angle.sin(), angle.cos(), 0.1) * speed);
    }
    Particles::new(mass, pos, vel)
}

/// The closer binary is followed in the mean over its orbit, with steps longer than its period.
#[test]
fn verify_the_coupling_with_others_conserves_energy() {
    each(|kind| {
        for (a, nu, perturbation, max) in [(0.015, 0.01, 1e-7, 1e-11), (0.006, 1e-4, 3e-7, 1e-12)] {
            let (mut p, mut f) = (ring(a), engine());
            let mut it = encounters_on(kind, nu, perturbation);
            it.start(&mut p, &mut *f).unwrap();
            assert_eq!(it.number(), 1);
            let first = energy(&mut it, &p, &mut *f, Time::default());
            let mut worst = 0.0f64;
            let (until, factor) = if kind == Kind::Hermite4 { (32, 1.0) } else { (8, 10.0) };
            for k in 1..=until {
                it.advance(&mut p, &mut *f, Time::from_dt_max(k), u64::MAX).unwrap();
                worst = worst.max((energy(&mut it, &p, &mut *f, Time::from_dt_max(k)) - first).abs());
            }
            assert!(worst < factor * max, "{a}: {worst:e}");
        }
    });
}

/// Two stars that pass each other on a hyperbola, too fast to stay a subsystem when they are apart again.
#[test]
fn a_subsystem_ends_when_its_stars_fly_apart() {
    each(|kind| {
        let pos = [[1.0, 0.01, 0.0], [-1.0, -0.01, 0.0], [30.0, 0.0, 0.0]].map(Vec3::from);
        let vel = [[-1.2, 0.0, 0.0], [1.2, 0.0, 0.0], [0.0; 3]].map(Vec3::from);
        let mut p = Particles::new(vec![0.5, 0.5, 1e-3], pos.to_vec(), vel.to_vec());
        let (mut it, mut f, mut max) = (encounters_on(kind, 0.01, 1e-6), engine(), 0);
        it.start(&mut p, &mut *f).unwrap();
        let first = energy(&mut it, &p, &mut *f, Time::default());
        for k in 1..=64 {
            it.advance(&mut p, &mut *f, Time::from_dt_max(k), u64::MAX).unwrap();
            max = max.max(it.number());
        }
        assert_eq!((max, it.number()), (1, 0));
        assert!((p.pos[0] - p.pos[1]).norm() > 5.0 && p.states.get::<SubsystemState>().words.is_empty());
        let error = energy(&mut it, &p, &mut *f, Time::from_dt_max(64)) - first;
        assert!(error.abs() < 1e-6, "{error:e}");
    });
}

/// A pair and a star that become a stable triple when a fourth star's tide lets them, and that this star destroys.
#[test]
fn an_inner_pair_that_is_perturbed_opens() {
    each(|kind| {
        let (a, u) = (0.01, (0.5f64 / 0.01).sqrt());
        let pos = [[a * 0.5, 0.0, 0.0], [-a * 0.5, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 12.0, 0.3]].map(Vec3::from);
        let vel = [[0.0, u * 0.5, 0.0], [0.0, -u * 0.5, 0.0], [0.0, 0.0, 0.8], [0.0, -1.2, 0.0]].map(Vec3::from);
        let mut p = Particles::new(vec![0.25, 0.25, 0.5, 0.5], pos.to_vec(), vel.to_vec());
        let (mut it, mut f) = (encounters_on(kind, 0.01, 1e-7), engine());
        it.start(&mut p, &mut *f).unwrap();
        assert_eq!((it.number(), p.states.get::<SubsystemState>().words[0]), (1, 2));
        let first = energy(&mut it, &p, &mut *f, Time::default());
        let mut max = 0;
        for k in 1..=160 {
            it.advance(&mut p, &mut *f, Time::from_dt_max(k), u64::MAX).unwrap();
            max = max.max(p.states.get::<SubsystemState>().words.first().copied().unwrap_or_default());
        }
        assert!(max > 2, "{max}");
        let error = energy(&mut it, &p, &mut *f, Time::from_dt_max(160)) - first;
        assert!(error.abs() < 1e-6, "{error:e}");
    });
}

/// A binary, a star that passes it at 0.35, and a light one far away.
pub fn passage() -> Particles {
    let (a, u) = (0.01, (0.5f64 / 0.01).sqrt());
    let pos = [[a * 0.5, 0.0, 0.0], [-a * 0.5, 0.0, 0.0], [0.35, 3.0, 0.1], [-40.0, 0.0, 0.0]].map(Vec3::from);
    let vel = [[0.0, u * 0.4, u * 0.2], [0.0, u * -0.4, u * -0.2], [0.0, -1.5, 0.0], [0.0; 3]].map(Vec3::from);
    Particles::new(vec![0.25, 0.25, 0.25, 1e-3], pos.to_vec(), vel.to_vec())
}

/// A star that passes a binary: far away they feel each other in the mean over the orbit, at the pericentre directly.
#[test]
fn a_passage_in_and_out_of_the_mean_conserves_energy() {
    each(|kind| {
        let mut p = passage();
        let (mut it, mut f) = (encounters_on(kind, 1e-4, 1e-7), engine());
        it.start(&mut p, &mut *f).unwrap();
        let (mut energies, mut ways) = (Vec::new(), [false; 2]);
        for k in 1..=64 {
            let now = Time::from_dt_max(k);
            it.advance(&mut p, &mut *f, now, u64::MAX).unwrap();
            let [found] = &it.describe(now).unwrap()[..] else { panic!("one subsystem") };
            ways = [ways[0] | found.is_averaged, ways[1] | found.is_perturbed];
            // Farther away a part of the tide is neglected.
            if found.neglected < 1e-12 {
                energies.push(energy(&mut it, &p, &mut *f, now));
            }
        }
        assert!(ways == [true; 2] && energies.len() > 10);
        let worst = energies.iter().map(|energy| (energy - energies[0]).abs()).fold(0.0, f64::max);
        assert!(worst < 5e-9, "{worst:e}");
    });
}

/// Cycles of Kozai and Lidov: both orbits in the mean, and star by star.
#[test]
fn verify_a_stable_triple_turns_as_its_stars_do() {
    each(|kind| {
        let (a, turn) = (0.04, 70f64.to_radians());
        let (u, mass) = ((0.5f64 / a).sqrt(), vec![0.25, 0.25, 0.5, 1e-6]);
        let side = Vec3::new(0.0, turn.cos(), turn.sin());
        let centre = Vec3::new(-0.5, 0.0, 0.0);
        let x = Vec3::new(a * 0.5, 0.0, 0.0);
        let pos = [centre + x, centre - x, -centre, Vec3::new(1000.0, 0.0, 0.0)];
        let drift = Vec3::new(0.0, 0.5, 0.0);
        let vel = [drift + side * (0.42 * u), drift - side * (0.42 * u), -drift, Vec3::zeros()];
        let mut p = Particles::new(mass.clone(), pos.to_vec(), vel.to_vec());
        let (mut it, mut f) = (encounters_on(kind, 0.01, 1e-6), engine());
        it.start(&mut p, &mut *f).unwrap();
        let first = energy(&mut it, &p, &mut *f, Time::default());
        let mut stars = FewBody::new(&mass[..3], &pos[..3], &vel[..3]).unwrap();
        let (mut steps, mut max, mut off) = (0, 0.0f64, 0.0f64);
        for k in 1..=40 {
            let now = Time::from_dt_max(160 * k);
            steps += it.advance(&mut p, &mut *f, now, u64::MAX).unwrap().particle_steps;
            stars.advance(CLOCK.time(now)).unwrap();
            let eccentricity = |pos: &[Vec3], vel: &[Vec3]| {
                let (x, v) = (pos[1] - pos[0], vel[1] - vel[0]);
                (v.cross(&x.cross(&v)) / 0.5 - x.normalize()).norm()
            };
            let exact = eccentricity(&stars.state().0, &stars.state().1);
            (max, off) = (max.max(exact), off.max((eccentricity(&p.pos, &p.vel) - exact).abs()));
            let error = energy(&mut it, &p, &mut *f, now) - first;
            assert!(error.abs() < 1e-6, "{error:e}");
        }
        assert!(max > 0.9 && off < 0.01 && steps < 13_000, "{max} {off} {steps}");
    });
}

/// A compact triple and a compact quadruple in a cluster: their orbits take no steps.
#[test]
fn compact_systems_take_no_steps() {
    let units = plummer::sample(48, 7, 0.99);
    let pair = |m: [f64; 2], a: f64, e: f64, turn: f64| {
        let (mu, r) = (m[0] + m[1], a * (1.0 + e));
        let (x, v) = (Vec3::new(r, 0.0, 0.0), Vec3::new(0.0, turn.cos(), turn.sin()) * (mu * (1.0 - e) / r).sqrt());
        [(x * (-m[1] / mu), v * (-m[1] / mu)), (x * (m[0] / mu), v * (m[0] / mu))]
    };
    let with = |system: Option<usize>| {
        let (mut mass, mut pos, mut vel) = (units.mass[1..].to_vec(), units.pos[1..].to_vec(), units.vel[1..].to_vec());
        let (m, x, v) = (units.mass[0], units.pos[0], units.vel[0]);
        let mut add = |m: f64, (dx, dv): (Vec3, Vec3)| {
            mass.push(m);
            pos.push(x + dx);
            vel.push(v + dv);
        };
        let plus = |a: (Vec3, Vec3), b: (Vec3, Vec3)| (a.0 + b.0, a.1 + b.1);
        match system {
            None => add(m, (Vec3::zeros(), Vec3::zeros())),
            Some(pairs) => {
                let outer = pair([0.5 * m; 2], 1e-4, 0.2, 0.0);
                for (k, place) in outer.into_iter().enumerate() {
                    if k < pairs {
                        let inner = pair([0.3 * m, 0.2 * m], 1e-5, 0.1, 1.1 + k as f64);
                        [0.3 * m, 0.2 * m].into_iter().zip(inner).for_each(|(m, star)| add(m, plus(place, star)));
                    } else {
                        add(0.5 * m, place);
                    }
                }
            }
        }
        Particles::new(mass, pos, vel)
    };
    let run = |mut p: Particles| {
        let (mut it, mut f) = (encounters(1e-6), engine());
        it.start(&mut p, &mut *f).unwrap();
        let first = energy(&mut it, &p, &mut *f, Time::default());
        let now = Time::from_dt_max(8);
        let steps = it.advance(&mut p, &mut *f, now, u64::MAX).unwrap().particle_steps;
        let error = energy(&mut it, &p, &mut *f, now) - first;
        assert!(error.abs() < 1e-6, "{error:e}");
        steps as f64
    };
    let single = run(with(None));
    for pairs in [1, 2] {
        let steps = run(with(Some(pairs)));
        assert!(steps < 1.2 * single, "{pairs}: {steps} {single}");
    }
}
