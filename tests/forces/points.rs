//! Promise: forces at any points have the bits of the reference engine, leave out exactly the excluded source, follow
//! the softening, and are those of `evaluate` where the points are predicted particles.

use crate::systems::{CLOCK, bits, block, forces, points, system, with_derivatives};
use tisane::Error;
use tisane::force::cpu::{self, Width};
use tisane::force::precision::Precision;
use tisane::force::{EngineKind, FieldEngine, Forces, NO_SOURCE, Points, SourceForces, reference};
use tisane::gravity::predict_by;
use tisane::particles::{Particles, Vec3};
use tisane::states::history::History;
use tisane::time::Time;

fn at(engine: &mut dyn FieldEngine, p: &Particles, now: Time, points: Points<'_>) -> Forces {
    let mut out = Forces::default();
    engine.load(p).unwrap();
    engine.evaluate_at(now, points, &mut out).unwrap();
    out
}

#[test]
fn points_have_the_bits_of_the_reference() {
    for precision in Precision::ALL {
        for n in [1, 2, 63, 64, 65, 257, 1025] {
            let (p, now) = system(n, n as u64);
            for m in [1, 2, 31, 65, 300] {
                let (exclude, pos, vel) = points(n, m);
                let points = Points { exclude: &exclude, pos: &pos, vel: &vel };
                let want = at(&mut *reference::engine(precision, 0.01, CLOCK), &p, now, points);
                for width in Width::available() {
                    for threads in [1, 3] {
                        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                        let got =
                            pool.install(|| at(&mut *cpu::engine(precision, 0.01, CLOCK, width), &p, now, points));
                        let what = format!("{} n = {n}, m = {m}, {}", precision.name(), width.name());
                        assert!(bits(&got) == bits(&want), "{what}");
                    }
                }
            }
        }
    }
}

#[test]
fn predicted_particles_feel_the_forces_of_a_block() {
    for precision in Precision::ALL {
        let (p, now) = system(300, 3);
        let targets = block(&p, now, (0..300).step_by(7).collect());
        let mut engine = cpu::engine(precision, 0.0, CLOCK, Width::widest());
        let want = forces(&mut *engine, &p, now, &targets);
        let points = Points { exclude: &targets.index, pos: &targets.pos, vel: &targets.vel };
        assert!(bits(&at(&mut *engine, &p, now, points)) == bits(&want), "{}", precision.name());
    }
}

/// Where every stage is in f64; in other modes by acceleration and jerk alone.
#[test]
fn sources_are_predicted_by_all_derivatives_that_a_scheme_keeps() {
    for (precision, kept) in Precision::ALL.into_iter().flat_map(|precision| [(precision, 2), (precision, 4)]) {
        let (before, now) = system(130, 3);
        let before = with_derivatives(before, kept, 1);
        let (mut p, changed) = (with_derivatives(before.clone(), kept, 2), [0, 63, 64, 100, 129]);
        p.pos[100] *= 0.5;
        let by = if precision.in_f64() { kept } else { 0 };
        // All others stay as they were.
        for (of, was) in p.states.get_mut::<History>().derivatives.iter_mut().zip(before.derivatives()) {
            (0..130).filter(|i| !changed.contains(&(*i as u32))).for_each(|i| of[i] = was[i]);
        }
        // At their predicted places and this moment nothing is predicted.
        let mut there = p.clone();
        for i in 0..130 {
            let ((x, v), (acc, jerk), of) = ((p.pos[i], p.vel[i]), (p.acc[i], p.jerk[i]), &p.derivatives()[..by]);
            (there.pos[i], there.vel[i]) = predict_by((x, v), (acc, jerk), (of, i), CLOCK.between(p.time[i], now));
            there.time[i] = now;
        }
        let (exclude, pos, vel) = points(130, 40);
        let points = Points { exclude: &exclude, pos: &pos, vel: &vel };
        let want = at(&mut *reference::engine(precision, 0.01, CLOCK), &there, now, points);
        let cpus = Width::available().into_iter().map(|width| cpu::engine(precision, 0.01, CLOCK, width));
        for mut engine in cpus.chain([reference::engine(precision, 0.01, CLOCK)]) {
            let mut got = Forces::default();
            engine.load(&before).unwrap();
            engine.update(&p, &changed).unwrap();
            engine.evaluate_at(now, points, &mut got).unwrap();
            assert!(bits(&got) == bits(&want) && engine.derivatives() == by, "{} {kept}", precision.name());
            let mut one_more = Forces::default();
            engine.replace(&p, &[7]).unwrap();
            engine.evaluate_at(now, points, &mut one_more).unwrap();
            assert!(bits(&one_more) == bits(&got));
        }
    }
}

/// A source at a point that excludes it is left out, at a point that does not its force without softening is no number.
#[test]
fn only_the_excluded_source_is_left_out() {
    let p = Particles::new(vec![2.0, 8.0], vec![Vec3::zeros(), Vec3::new(2.0, 0.0, 0.0)], vec![Vec3::zeros(); 2]);
    let (pos, vel) = (vec![Vec3::zeros(); 3], vec![Vec3::zeros(); 3]);
    let points = Points { exclude: &[0, 1, NO_SOURCE], pos: &pos, vel: &vel };
    for mut engine in
        [reference::engine(Precision::F64, 0.0, CLOCK), cpu::engine(Precision::F64, 0.0, CLOCK, Width::widest())]
    {
        let out = at(&mut *engine, &p, Time::default(), points);
        assert!(out.acc[0] == Vec3::new(2.0, 0.0, 0.0) && out.pot[0] == -4.0);
        assert!(!out.pot[1].is_finite() && !out.pot[2].is_finite());
    }
}

#[test]
fn the_softening_can_change_between_evaluations() {
    let (p, now) = system(130, 5);
    let (exclude, pos, vel) = points(130, 40);
    let points = Points { exclude: &exclude, pos: &pos, vel: &vel };
    for precision in Precision::ALL {
        let engines = |epsilon: f64| {
            [reference::engine(precision, epsilon, CLOCK), cpu::engine(precision, epsilon, CLOCK, Width::widest())]
        };
        for (mut engine, mut softer) in engines(0.0).into_iter().zip(engines(0.25)) {
            let hard = at(&mut *engine, &p, now, points);
            engine.set_softening(0.25 * 0.25);
            let soft = at(&mut *engine, &p, now, points);
            assert!(bits(&soft) == bits(&at(&mut *softer, &p, now, points)), "{}", precision.name());
            engine.set_softening(0.0);
            assert!(bits(&at(&mut *engine, &p, now, points)) == bits(&hard), "{}", precision.name());
        }
    }
}

#[test]
fn without_sources_or_points_there_are_no_forces() {
    let (exclude, pos, vel) = points(1, 5);
    let points = Points { exclude: &exclude, pos: &pos, vel: &vel };
    let (some, now) = system(70, 1);
    for mut engine in
        [reference::engine(Precision::Mixed, 0.0, CLOCK), cpu::engine(Precision::Mixed, 0.0, CLOCK, Width::widest())]
    {
        // After forces of another system: nothing of them is left.
        let mut out = at(&mut *engine, &some, now, points);
        engine.load(&Particles::default()).unwrap();
        engine.evaluate_at(now, points, &mut out).unwrap();
        let zeros = [vec![Vec3::zeros(); 5], vec![Vec3::zeros(); 5]];
        assert!([out.acc, out.jerk] == zeros && out.pot == [0.0; 5]);
        assert_eq!(at(&mut *engine, &some, now, Points::default()), Forces::default());
    }
}

#[test]
fn columns_of_different_lengths_are_refused() {
    let (p, now) = system(3, 1);
    let mut engine = cpu::engine(Precision::F64, 0.0, CLOCK, Width::widest());
    engine.load(&p).unwrap();
    let points = Points { exclude: &[0], pos: &p.pos, vel: &p.vel };
    let error = engine.evaluate_at(now, points, &mut Forces::default()).unwrap_err();
    assert!(matches!(error, Error::Integration { problem, .. } if problem.contains("[1, 3, 3]")));
}

/// Sources without mass are left out: the forces are bit for bit those of the others alone, whatever is changed.
#[test]
fn sources_without_mass_change_no_bit() {
    let (p, _) = system(200, 5);
    let (_, pos, vel) = points(200, 30);
    let mut mass = p.mass.clone();
    mass.iter_mut().step_by(3).for_each(|m| *m = 0.0);
    let kept: Vec<usize> = (0..200).filter(|i| i % 3 != 0).collect();
    let open = || SourceForces::open(EngineKind::Cpu, Precision::F64, 0.05, 0).unwrap();
    let pick = |column: &[Vec3]| kept.iter().map(|&i| column[i]).collect::<Vec<_>>();
    let (mut all, mut some, mut out) = (open(), open(), [Forces::default(), Forces::default()]);
    // From other places, which are then changed: 0 twice, and one without mass.
    all.set(&mass, &p.vel, &p.pos).unwrap();
    let index: Vec<u64> = (0..200).chain([0, 1]).collect();
    let with_two = |column: &[Vec3]| column.iter().chain(&column[..2]).copied().collect::<Vec<_>>();
    let masses: Vec<f64> = mass.iter().chain(&mass[..2]).copied().collect();
    all.set_some(&index, &masses, &with_two(&p.pos), &with_two(&p.vel)).unwrap();
    some.set(&kept.iter().map(|&i| mass[i]).collect::<Vec<_>>(), &pick(&p.pos), &pick(&p.vel)).unwrap();
    all.evaluate(&[], &pos, &vel, &mut out[0]).unwrap();
    some.evaluate(&[], &pos, &vel, &mut out[1]).unwrap();
    assert!(bits(&out[0]) == bits(&out[1]));
    // A particle excludes itself by its number, with mass or without.
    let numbers: Vec<u64> = (0..200).collect();
    all.evaluate(&numbers, &p.pos, &p.vel, &mut out[0]).unwrap();
    some.evaluate(&(0..kept.len() as u64).collect::<Vec<_>>(), &pick(&p.pos), &pick(&p.vel), &mut out[1]).unwrap();
    assert!(kept.iter().enumerate().all(|(k, &i)| out[0].acc[i] == out[1].acc[k] && out[0].pot[i] == out[1].pot[k]));
    // A mass that changes.
    all.set_some(&[0], &[0.5], &p.pos[..1], &p.vel[..1]).unwrap();
    all.evaluate(&[], &pos, &[], &mut out[0]).unwrap();
    assert!(bits(&out[0]) != bits(&out[1]));
}

#[test]
fn mistakes_with_sources_are_named() {
    let says = |result: tisane::Result<()>, words: &str| {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    let x = vec![Vec3::zeros(), Vec3::new(1.0, 0.0, 0.0)];
    for epsilon in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(SourceForces::open(EngineKind::Cpu, Precision::F64, epsilon, 0).is_err());
    }
    let mut sources = SourceForces::open(EngineKind::Cpu, Precision::Mixed, 0.0, 0).unwrap();
    let mut out = Forces::default();
    sources.evaluate(&[], &x, &x, &mut out).unwrap();
    assert!(sources.is_empty() && out.pot == [0.0; 2]);
    says(sources.set(&[1.0], &x, &x), "[1, 2, 2]");
    says(sources.set(&[1.0, -1.0], &x, &x), "source 1 has the mass -1");
    says(sources.set(&[f64::NAN, 1.0], &x, &x), "source 0 has the mass NaN");
    says(sources.set(&[1.0, 1e-60], &x, &x), "represents masses");
    says(sources.set(&[1.0, 1.0], &x, &[Vec3::repeat(f64::NAN), x[0]]), "velocities");
    assert!(sources.is_empty());
    sources.set(&[1.0, 1.0], &x, &x).unwrap();
    says(sources.set_some(&[2], &[1.0], &x[..1], &x[..1]), "there is no source 2");
    says(sources.evaluate(&[0], &x, &x, &mut out), "[2, 2, 1]");
    says(sources.evaluate(&[], &[Vec3::repeat(f64::NAN)], &[], &mut out), "point 0");
    says(sources.evaluate(&[0, 5], &x, &x, &mut out), "the force at point 1");
    sources.evaluate(&[0, 1], &x, &x, &mut out).unwrap();
    assert_eq!((sources.len(), out.acc[0]), (2, Vec3::new(1.0, 0.0, 0.0)));
}
