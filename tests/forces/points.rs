//! Promise: forces at any points have the bits of the reference engine, leave out exactly the excluded source, follow
//! the softening, and are those of `evaluate` where the points are predicted particles.

use crate::systems::{CLOCK, bits, block, forces, points, system};
use tisane::Error;
use tisane::force::cpu::{self, Width};
use tisane::force::precision::Precision;
use tisane::force::{FieldEngine, Forces, NO_SOURCE, Points, reference};
use tisane::particles::{Particles, Vec3};
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
