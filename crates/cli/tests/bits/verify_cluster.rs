//! Verification of what is measured of a cluster: against Plummer's model, and against binaries, triples and escapers
//! put in.

use std::f64::consts::PI;
use tisane::diagnostics::cluster::{LagrangianMass, Settings, Stars, Survey};
use tisane::initial::kepler::Elements;
use tisane::initial::king::{self, King};
use tisane::initial::plummer;
use tisane::particles::{Particles, Vec3};
use tisane_io::fields::FRACTIONS;

const A: f64 = 3.0 * PI / 16.0;

fn settings() -> Settings {
    Settings {
        neighbours: 6,
        lagrangian_mass: LagrangianMass::Initial,
        binary_hardness: 1.0,
        escape_radius: 10.0,
        encounter_radius: 1.0,
        epsilon: 0.0,
    }
}

fn fractions() -> [f64; FRACTIONS.len()] {
    FRACTIONS.map(|thousandths| f64::from(thousandths) / 1000.0)
}

/// Particles with their potentials, summed over all pairs.
fn stars(p: &Particles, epsilon: f64) -> Stars {
    let pot = (0..p.len()).map(|i| {
        let others = (0..p.len()).filter(|&j| j != i);
        -others.map(|j| p.mass[j] / ((p.pos[i] - p.pos[j]).norm_squared() + epsilon * epsilon).sqrt()).sum::<f64>()
    });
    Stars::new(p, &pot.collect::<Vec<_>>())
}

fn survey(stars: &Stars) -> Survey<{ FRACTIONS.len() }> {
    Survey::new(stars, &settings(), fractions(), None)
}

/// Adds a particle.
fn add(p: &mut Particles, mass: f64, pos: Vec3, vel: Vec3) {
    let more = Particles::new(vec![mass], vec![pos], vec![vel]);
    p.id.push(p.id.len() as u64);
    p.mass.extend(more.mass);
    p.pos.extend(more.pos);
    p.vel.extend(more.vel);
}

#[test]
fn verify_lagrangian_radii_of_a_plummer_sphere() {
    let (n, share) = (4096, 0.999);
    for seed in 1..=4 {
        let found = survey(&stars(&plummer::sample(n, seed, share), 0.0));
        for (f, r) in fractions().into_iter().zip(found.lagrangian) {
            // The mass that the model has within the radius, in which a sample scatters binomially about f.
            let enclosed = (1.0 + (A / r).powi(2)).powf(-1.5) / share;
            let error = (f * (1.0 - f) / n as f64).sqrt();
            assert!((enclosed - f).abs() < 4.0 * error + 4.0 / n as f64, "seed {seed}: {f}: {enclosed} at {r}");
        }
        let shells: u64 = found.shells.iter().map(|shell| shell.number).sum();
        assert_eq!(shells, n as u64);
        assert!((found.half_mass_radius / (A * 1.3048) - 1.0).abs() < 0.05, "{}", found.half_mass_radius);
        // Isotropic: beta scatters by about sqrt(6 / N).
        assert!(found.anisotropy.abs() < 4.0 * (6.0 / n as f64).sqrt(), "{}", found.anisotropy);
        // The one-dimensional dispersion of the model at r is G M / (6 sqrt(r² + a²)).
        let shell = FRACTIONS.iter().position(|f| *f == 500).unwrap();
        let middle = 0.5 * (found.lagrangian[shell] + found.lagrangian[shell - 1]);
        let dispersion = (1.0 / (6.0 * (middle * middle + A * A).sqrt())).sqrt();
        for x in [found.shells[shell].radial, found.shells[shell].tangential] {
            assert!((x / dispersion - 1.0).abs() < 0.12, "{x} {dispersion}");
        }
    }
}

#[test]
fn verify_core_of_a_plummer_sphere() {
    // With weights rho the mean radius is a (1/24) / ∫ r² (1 + r²)^−5 dr = 0.6791 a, and the mean density, with rho_0
    // the central one, rho_0 ∫ r² (1 + r²)^(−15/2) dr / ∫ r² (1 + r²)^−5 dr = 0.5689 rho_0.
    let simpson = |f: &dyn Fn(f64) -> f64| {
        let (steps, h) = (20_000, 0.001);
        let weight = |k: usize| {
            if k == 0 || k == steps {
                1.0
            } else if k % 2 == 1 {
                4.0
            } else {
                2.0
            }
        };
        (0..=steps).map(|k| weight(k) * f(k as f64 * h)).sum::<f64>() * h / 3.0
    };
    let norm = simpson(&|r| r * r * (1.0 + r * r).powi(-5));
    let radius = A * simpson(&|r| r.powi(3) * (1.0 + r * r).powi(-5)) / norm;
    let (samples, n) = (12, 4096);
    let found: Vec<_> = (1..=samples).map(|seed| survey(&stars(&plummer::sample(n, seed, 0.999), 0.0))).collect();
    let mean = |of: &dyn Fn(&Survey<{ FRACTIONS.len() }>) -> f64| {
        let values: Vec<f64> = found.iter().map(of).collect();
        let mean = values.iter().sum::<f64>() / samples as f64;
        let spread = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (samples - 1) as f64;
        (mean, (spread / samples as f64).sqrt())
    };
    let (core, error) = mean(&|s| s.core.radius);
    assert!((core - radius).abs() < 4.0 * error && error < 0.02 * radius, "{core} ± {error}, not {radius}");
    // Half the mass of a projected core is known less well than the mean; the core of a sample holds what the model has
    // in it.
    let held = (1.0 + (A / radius).powi(2)).powf(-1.5);
    let (mass, error) = mean(&|s| s.within_core.0);
    assert!((mass - held).abs() < 5.0 * error && error < 0.05 * held, "{mass} ± {error}, not {held}");
    for s in &found {
        assert!(s.core.centre.norm() < 0.06, "density centre {:?}", s.core.centre);
    }
}

#[test]
fn verify_lagrangian_and_core_radii_of_king_models() {
    for w0 in [3.0, 6.0, 9.0] {
        let (model, n) = (King::new(w0), 4096);
        // The mean distance from the centre with the density as weight, in King's core radii.
        let rho = |r: f64| king::density(model.depth(r));
        let (steps, h) = (20_000, model.tidal_radius() / 20_000.0);
        let moment =
            |power: i32| (1..steps).map(|k| f64::from(k) * h).map(|r| r.powi(power) * rho(r).powi(2)).sum::<f64>();
        let expected = moment(3) / moment(2);
        let found: Vec<_> = (1..=6).map(|seed| survey(&stars(&model.sample(n, seed), 0.0))).collect();
        for s in &found {
            for (f, r) in fractions().into_iter().zip(s.lagrangian) {
                let error = (f * (1.0 - f) / n as f64).sqrt();
                let enclosed = model.enclosed(r);
                assert!((enclosed - f).abs() < 4.5 * error + 4.0 / n as f64, "W0 = {w0}: {f}: {enclosed} at {r}");
            }
        }
        let mean = found.iter().map(|s| s.core.radius).sum::<f64>() / found.len() as f64;
        let spread = found.iter().map(|s| (s.core.radius - mean).powi(2)).sum::<f64>() / (found.len() - 1) as f64;
        let error = (spread / found.len() as f64).sqrt();
        assert!((mean - expected).abs() < 5.0 * error, "W0 = {w0}: {mean} ± {error}, not {expected}");
        assert!(error < 0.05 * expected, "W0 = {w0}: {mean} ± {error}");
    }
}

#[test]
fn verify_centre_of_a_model_that_is_elsewhere() {
    let (place, drift) = (Vec3::new(10.0, -5.0, 3.0), Vec3::new(1.0, 2.0, -3.0));
    let here = plummer::sample(2000, 7, 0.999);
    let mut there = here.clone();
    there.pos.iter_mut().for_each(|x| *x += place);
    there.vel.iter_mut().for_each(|v| *v += drift);
    // A clump far out draws the centre of mass, not the density centre: as many again, a hundred times as wide.
    let halo = plummer::sample(500, 8, 0.999);
    for (x, v) in halo.pos.iter().zip(&halo.vel) {
        add(&mut there, 1.0 / 2000.0, 100.0 * x + place + 300.0 * Vec3::x(), v + drift);
    }
    let (here, there) = (survey(&stars(&here, 0.0)), survey(&stars(&there, 0.0)));
    assert!(here.core.centre.norm() < 0.08, "{:?}", here.core.centre);
    assert!((there.core.centre - place - here.core.centre).norm() < 0.01, "{:?}", there.core.centre);
    assert!((there.velocity - drift).norm() < 0.1, "{:?}", there.velocity);
}

/// A Plummer sphere of a thousand with bodies on Kepler orbits about each other put in.
fn with_pair(masses: [f64; 2], elements: &Elements) -> Particles {
    let mut p = plummer::sample(1000, 3, 0.999);
    let (x, v) = elements.relative_state(masses[0] + masses[1]);
    let share = masses[1] / (masses[0] + masses[1]);
    let (at, moves) = (Vec3::new(0.4, -0.3, 0.2), Vec3::new(0.2, 0.1, -0.3));
    add(&mut p, masses[0], at - share * x, moves - share * v);
    add(&mut p, masses[1], at + (1.0 - share) * x, moves + (1.0 - share) * v);
    p
}

fn elements(a: f64, e: f64, inclination: f64) -> Elements {
    Elements { semi_major_axis: a, eccentricity: e, inclination, node: 0.0, pericentre: 1.2, mean_anomaly: 2.0 }
}

#[test]
fn verify_a_binary_put_in_is_found_with_its_elements() {
    for (a, e) in [(1e-3, 0.6), (1e-5, 0.0), (3e-3, 0.9)] {
        let p = with_pair([0.001, 0.002], &elements(a, e, 0.7));
        let found = survey(&stars(&p, 0.0));
        let [binary] = &found.systems[..] else { panic!("a = {a}: {:?}", found.systems) };
        assert_eq!((binary.members.to_string().as_str(), binary.pair.mass), ("(1000+1001)", [0.001, 0.002]));
        assert!((binary.pair.semi_major_axis / a - 1.0).abs() < 1e-8, "{binary:?}");
        assert!((binary.pair.eccentricity - e).abs() < 1e-7, "{binary:?}");
        assert!((binary.pair.period() / (2.0 * PI * (a.powi(3) / 0.003).sqrt()) - 1.0).abs() < 1e-7);
        let expected = 0.001 * 0.002 / (2.0 * a) / found.thermal_energy;
        assert!((binary.hardness / expected - 1.0).abs() < 1e-7, "{binary:?}");
        // 3/2 kT is the mean kinetic energy of bodies of 1/1000 that have T = 1/4 together.
        assert!((found.thermal_energy / (2.0 / 3.0 * 0.25 / 1000.0) - 1.0).abs() < 0.1, "{}", found.thermal_energy);
        assert!(binary.energy < 0.0 && binary.stable && !binary.is_hierarchy());
    }
    // So wide that it is softer than kT.
    assert!(survey(&stars(&with_pair([0.001, 0.001], &elements(0.05, 0.3, 0.0)), 0.0)).systems.is_empty());
}

#[test]
fn verify_the_energy_of_a_binary_is_softened_as_the_forces_are() {
    let (epsilon, p) = (5e-4, with_pair([0.001, 0.002], &elements(1e-3, 0.0, 0.0)));
    let found = Survey::new(&stars(&p, epsilon), &Settings { epsilon, ..settings() }, fractions(), None);
    let [binary] = &found.systems[..] else { panic!("{:?}", found.systems) };
    let (r, v2) = (binary.pair.distance, binary.pair.speed.powi(2));
    let energy = 0.5 * v2 - 0.003 / (r * r + epsilon * epsilon).sqrt();
    assert!((binary.pair.energy / energy - 1.0).abs() < 1e-12 && energy > -0.003 / (2.0 * 1e-3), "{binary:?}");
}

#[test]
fn verify_a_triple_put_in_is_found_as_such() {
    for (outer, stable) in [(5e-3, true), (4e-4, false)] {
        let mut p = with_pair([0.001, 0.001], &elements(1e-4, 0.2, 0.0));
        let (x, v) = elements(outer, 0.3, 0.7).relative_state(0.003);
        let [at, moves] = [&p.pos, &p.vel].map(|column| column[1000] + 0.5 * (column[1001] - column[1000]));
        add(&mut p, 0.001, at + x, moves + v);
        let found = survey(&stars(&p, 0.0));
        let [inner, triple] = &found.systems[..] else { panic!("{outer}: {:?}", found.systems) };
        assert_eq!(inner.members.to_string(), "(1000+1001)");
        assert_eq!(triple.members.to_string(), "((1000+1001)+1002)");
        assert!((inner.pair.semi_major_axis / 1e-4 - 1.0).abs() < 1e-7, "{inner:?}");
        assert!((triple.pair.semi_major_axis / outer - 1.0).abs() < 1e-7, "{triple:?}");
        assert!((triple.pair.eccentricity - 0.3).abs() < 1e-7, "{triple:?}");
        assert!((triple.inclination - 0.7).abs() < 1e-6, "{triple:?}");
        assert_eq!((triple.stable, triple.is_hierarchy(), inner.is_hierarchy()), (stable, true, false));
    }
}

#[test]
fn what_goes_through_a_binary_is_no_companion_of_it() {
    for (outer, expected) in [(2e-4, vec!["(1000+1001)", "((1000+1001)+1002)"]), (6e-5, vec!["(1000+1001)"])] {
        let mut p = with_pair([0.001, 0.001], &elements(1e-4, 0.2, 0.0));
        let (x, v) = elements(outer, 0.0, 1.5).relative_state(0.0021);
        let [at, moves] = [&p.pos, &p.vel].map(|column| column[1000] + 0.5 * (column[1001] - column[1000]));
        add(&mut p, 1e-4, at + x, moves + v);
        let found = survey(&stars(&p, 0.0));
        let members: Vec<String> = found.systems.iter().map(|system| system.members.to_string()).collect();
        assert_eq!(members, expected, "{outer}");
    }
}

#[test]
fn verify_two_binaries_about_each_other_are_a_quadruple() {
    let mut p = plummer::sample(500, 3, 0.999);
    let (x, v) = elements(1e-4, 0.1, 0.3).relative_state(0.004);
    let (far, about) = elements(1e-2, 0.2, 0.0).relative_state(0.008);
    for side in [-0.5, 0.5] {
        for end in [-0.5, 0.5] {
            add(&mut p, 0.002, 0.3 * Vec3::x() + side * far + end * x, side * about + end * v);
        }
    }
    let found = survey(&stars(&p, 0.0));
    let names: Vec<String> = found.systems.iter().map(|system| system.members.to_string()).collect();
    assert_eq!(names, ["(500+501)", "(502+503)", "((500+501)+(502+503))"]);
    assert!((found.systems[2].pair.semi_major_axis / 1e-2 - 1.0).abs() < 1e-6 && found.systems[2].stable);
}

#[test]
fn escapers_and_encounters_are_seen() {
    let mut p = plummer::sample(1000, 5, 0.999);
    let r_h = survey(&stars(&p, 0.0)).half_mass_radius;
    // A runaway, a binary that runs away, one that is as far and bound, one that is as fast and near.
    add(&mut p, 0.001, 11.0 * r_h * Vec3::z(), 3.0 * Vec3::z());
    let (x, v) = elements(1e-4, 0.0, 0.0).relative_state(0.002);
    for side in [-0.5, 0.5] {
        add(&mut p, 0.001, 60.0 * r_h * Vec3::x() + side * x, 2.0 * Vec3::x() + side * v);
    }
    add(&mut p, 0.001, 12.0 * r_h * Vec3::y(), 0.1 * Vec3::y());
    add(&mut p, 0.001, 2.0 * r_h * Vec3::y(), 9.0 * Vec3::y());
    // Two that pass each other.
    let b = 0.3 * 4.0 * r_h / 1000.0;
    add(&mut p, 0.001, Vec3::repeat(3.0), 0.1 * Vec3::x());
    add(&mut p, 0.001, Vec3::new(3.0, 3.0 + b, 3.0), Vec3::new(-0.1, 3.0, 0.0));
    let found = survey(&stars(&p, 0.0));
    let names: Vec<String> = found.escapers.iter().map(|escaper| escaper.members.to_string()).collect();
    assert_eq!((names, found.escaped), (vec!["1000".to_owned(), "(1001+1002)".to_owned()], 3));
    assert_eq!(
        found.number - found.bound.1,
        5,
        "unbound: the escapers, the fast one near by, one of the two that pass"
    );
    let passing = found.encounters.iter().find(|encounter| encounter.ids == [1005, 1006]).expect("the two that pass");
    assert!((passing.pair.distance / b - 1.0).abs() < 1e-10 && passing.pair.energy > 0.0 && passing.hardness < 0.0);
    assert!(passing.pair.pericentre() <= passing.pair.distance);
    let current = Settings { lagrangian_mass: LagrangianMass::Current, ..settings() };
    let bound = Survey::new(&stars(&p, 0.0), &current, fractions(), None);
    assert_eq!(bound.shells.iter().map(|shell| shell.number).sum::<u64>(), bound.bound.1);
    assert!(bound.lagrangian.last() < found.lagrangian.last());
}

#[test]
fn few_particles_and_degenerate_ones_get_an_answer() {
    let line = |n: usize| (0..n).map(|i| i as f64 * Vec3::x()).collect::<Vec<_>>();
    for n in [0, 1, 2, 3, 7, 50] {
        for pos in [line(n), vec![Vec3::new(0.3, 0.2, 0.1); n]] {
            for epsilon in [0.0, 0.1] {
                let p = Particles::new(vec![0.5; n], pos.clone(), vec![Vec3::zeros(); n]);
                let found = Survey::new(&stars(&p, epsilon), &Settings { epsilon, ..settings() }, fractions(), None);
                assert_eq!(found.number, n as u64);
                assert!(n < 2 || found.core.centre.iter().all(|x| x.is_finite()), "{n} {found:?}");
                let counted: u64 = found.shells.iter().map(|shell| shell.number).sum();
                assert_eq!(counted, n as u64);
            }
        }
    }
    let alone = survey(&stars(&Particles::new(vec![2.0], vec![Vec3::repeat(1.0)], vec![Vec3::repeat(3.0)]), 0.0));
    assert_eq!((alone.core.centre, alone.velocity, alone.bound.1), (Vec3::repeat(1.0), Vec3::repeat(3.0), 0));
    // Two alone are a binary, however little kT there is.
    let (x, v) = elements(0.5, 0.4, 0.1).relative_state(1.0);
    let two = Particles::new(
        vec![0.75, 0.25],
        vec![Vec3::repeat(5.0) - 0.25 * x, Vec3::repeat(5.0) + 0.75 * x],
        vec![-0.25 * v, 0.75 * v],
    );
    let two = survey(&stars(&two, 0.0));
    let [binary] = &two.systems[..] else { panic!("{:?}", two.systems) };
    assert!((binary.pair.semi_major_axis - 0.5).abs() < 1e-12 && (binary.pair.eccentricity - 0.4).abs() < 1e-12);
}

#[test]
fn the_number_of_threads_does_not_show() {
    let stars = stars(&with_pair([0.001, 0.002], &elements(1e-3, 0.6, 0.7)), 0.0);
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        format!("{:?}", pool.install(|| survey(&stars)))
    };
    let one = on(1);
    for threads in [2, 3, 8] {
        assert!(on(threads) == one, "{threads} threads");
    }
}
