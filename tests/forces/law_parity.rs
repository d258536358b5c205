//! Promise: with a law the CPU engine gives the bits of the reference engine, in every mode, on any vector width and any
//! number of threads.

use crate::systems::{CLOCK, bits, block, forces, points, system};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::Arc;
use tisane::force::cpu::{self, Width};
use tisane::force::precision::Precision;
use tisane::force::{Accelerations, Block, FieldEngine, ForceEngine, Forces, NO_SOURCE, Points, reference};
use tisane::law::{Formula, Law, LawSource, ready::Ready};
use tisane::particles::{NamedColumn, Particles};
use tisane::time::Time;

fn law(formula: Formula, parameters: &[(&str, f64)], columns: &[&str]) -> Arc<Law> {
    Arc::new(Law::new(LawSource::new(formula, parameters).with_columns(columns)).unwrap())
}

/// A law for each kind of operation: plain, all functions and columns, a choice by distance, no potential.
pub fn laws() -> Vec<(&'static str, Arc<Law>)> {
    let potential = |formula: &str| Formula::Potential(formula.into());
    let everything = "-m_i*m_j*(exp(-s/a)*(2 + sin(3*s)*cos(s)) + log(s + 2))/(s + 1) + 0.1*q_i*q_j*(s + 0.5)^(-b)";
    let spline = Ready::named("spline").unwrap();
    vec![
        ("newton", law(potential("-m_i*m_j/s"), &[], &[])),
        ("everything", law(potential(everything), &[("a", 0.3), ("b", 0.7)], &["q"])),
        ("spline", law(spline.formula(), &[("h", 0.5)], &[])),
        ("no potential", law(Formula::Acceleration("m_j*min(s, 1)/(1 + s^2)".into()), &[], &[])),
        // It does not vanish with the mass of a source: places without one must not count.
        ("charges alone", law(Formula::Acceleration("(2 + q_j + q_i)*(1 + s)".into()), &[], &["q"])),
    ]
}

/// A system with a column q.
pub fn charged(n: usize) -> (Particles, Time) {
    let (mut p, now) = system(n, n as u64);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(n as u64);
    let values = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
    p.columns.push(NamedColumn { name: "q".into(), values });
    (p, now)
}

/// Calls `test` with each width and number of threads.
pub fn everywhere(mut test: impl FnMut(Width, &str) + Send) {
    for width in Width::available() {
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| test(width, &format!("{} × {threads} threads", width.name())));
        }
    }
}

#[test]
fn forces_have_the_reference_bits() {
    for (name, law) in laws() {
        for precision in Precision::ALL {
            for (n, epsilon) in [(1, 0.0), (2, 0.0), (33, 0.01), (64, 0.0), (65, 0.01), (257, 0.0), (1025, 0.01)] {
                let (p, now) = charged(n);
                for size in [1, 3, 9, 65, n] {
                    let index: Vec<u32> = (0..n as u32).step_by((n / size).max(1)).take(size).collect();
                    if index.len() * n > 1 << 17 {
                        continue;
                    }
                    let targets = block(&p, now, index);
                    let want = forces(&mut *reference::law_engine(&law, precision, epsilon, CLOCK), &p, now, &targets);
                    assert!(want.acc.iter().flatten().all(|x| x.is_finite()), "{name}");
                    everywhere(|width, how| {
                        let mut engine = cpu::law_engine(&law, precision, epsilon, CLOCK, width);
                        let same = bits(&forces(&mut *engine, &p, now, &targets)) == bits(&want);
                        assert!(same, "{name}, {}, n = {n}, {} targets, {how}", precision.name(), targets.len());
                    });
                }
            }
        }
    }
}

#[test]
fn accelerations_alone_have_the_bits_of_the_forces() {
    for (name, law) in laws() {
        for precision in Precision::ALL {
            let (p, now) = charged(321);
            let everyone = Block::from_particles(&p, (0..321).collect());
            let want = forces(&mut *reference::law_engine(&law, precision, 0.01, CLOCK), &p, now, &everyone);
            let same = |mut engine: Box<dyn ForceEngine<Accelerations>>, how: &str| {
                let mut out = Accelerations::default();
                engine.load(&p).unwrap();
                engine.evaluate(now, everyone.view(), &mut out).unwrap();
                assert!(out.acc == want.acc, "{name}, {}, {how}", precision.name());
            };
            same(reference::law_accelerations(&law, precision, 0.01), "reference");
            everywhere(|width, how| same(cpu::law_accelerations(&law, precision, 0.01, width), how));
        }
    }
}

#[test]
fn points_have_the_reference_bits_or_are_refused() {
    let at = |mut engine: Box<dyn FieldEngine>, p: &Particles, now: Time, points: Points<'_>| {
        let mut out = Forces::default();
        engine.load(p).unwrap();
        engine.evaluate_at(now, points, &mut out).map(|()| bits(&out))
    };
    let (p, now) = charged(130);
    let (mut exclude, pos, vel) = points(130, 66);
    for (name, law) in laws() {
        for with_particles_alone in [false, true] {
            if with_particles_alone {
                exclude.iter_mut().filter(|it| **it == NO_SOURCE).for_each(|it| *it = 7);
            }
            let points = Points { exclude: &exclude, pos: &pos, vel: &vel };
            let want = at(reference::law_engine(&law, Precision::Mixed, 0.01, CLOCK), &p, now, points);
            assert_eq!(want.is_err(), law.program().reads_target() && !with_particles_alone, "{name}");
            everywhere(|width, how| {
                let got = at(cpu::law_engine(&law, Precision::Mixed, 0.01, CLOCK, width), &p, now, points);
                assert_eq!(got.as_ref().ok(), want.as_ref().ok(), "{name}, {how}");
            });
        }
        exclude = points(130, 66).0;
    }
}

/// The formula is Newton's law in another order of operations.
#[test]
fn newton_as_a_law_agrees_with_the_law_built_in() {
    let (p, now) = system(1000, 3);
    let targets = block(&p, now, (0..1000).collect());
    let width = Width::choose().unwrap();
    let built_in = forces(&mut *cpu::engine(Precision::F64, 0.01, CLOCK, width), &p, now, &targets);
    let law = &laws()[0].1;
    let formula = forces(&mut *cpu::law_engine(law, Precision::F64, 0.01, CLOCK, width), &p, now, &targets);
    for k in 0..1000 {
        assert!((built_in.acc[k] - formula.acc[k]).norm() < 1e-12 * built_in.acc[k].norm());
        assert!((built_in.jerk[k] - formula.jerk[k]).norm() < 1e-11 * built_in.jerk[k].norm());
        assert!((built_in.pot[k] - formula.pot[k]).abs() < 1e-12 * built_in.pot[k].abs());
    }
}
