//! Promise: with a law the CUDA engine gives the CPU's forces: in f64 bit for bit, in the other modes up to the roundings
//! of their 1/√, and bit for bit too with `TISANE_NVRTC=-DTISANE_IEEE TISANE_PARITY=bits`. Needs NVRTC beside the GPU;
//! without them each test reports that it is skipped, or fails if `TISANE_NEED_GPU` is set. `TISANE_MODES` and
//! `TISANE_SIZES` reduce the tests, as those of Newton's law.
#![cfg(feature = "cuda")]

use crate::gpu::{held_to_bits, modes, needed, sizes};
use crate::systems::{CLOCK, bits, block, forces, points, system};
use std::sync::Arc;
use tisane::force::cpu::{self, Width};
use tisane::force::cuda::{CudaAccelerations, CudaEngine};
use tisane::force::precision::Precision;
use tisane::force::{Accelerations, Block, FieldEngine, ForceEngine, Forces, Points};
use tisane::law::{Formula, Law, LawSource};
use tisane::particles::{NamedColumn, Particles, Vec3};
use tisane::time::Time;

const EPSILON: f64 = 0.01;

/// Laws with few and many operations, with and without columns, potential, and a force of sources without mass.
fn laws() -> Vec<Arc<Law>> {
    let everything = "-m_i*m_j*(exp(-s/a)*(2 + sin(3*s)*cos(s)) + log(s + 2))/(s + 1) + 0.1*q_i*q_j*(s + 0.5)^(-b)";
    let potential = |formula: &str| Formula::Potential(formula.into());
    let law = |formula, columns: &[&str]| {
        let source = LawSource::new(formula, &[("a", 0.3), ("b", 0.7)]).with_columns(columns);
        Arc::new(Law::new(source).unwrap())
    };
    vec![
        law(potential("-m_i*m_j/s"), &[]),
        law(potential("-m_i*m_j*exp(-s/a)/s"), &[]),
        law(potential(everything), &["q"]),
        // As many columns as a GPU takes.
        law(potential("(q_i*q_j + u_i*u_j + v_i*v_j + w_i*w_j - m_i*m_j)/s"), &["q", "u", "v", "w"]),
        law(Formula::Acceleration("(2 + q_j + q_i)*(1 + s)".into()), &["q"]),
    ]
}

fn charged(n: usize) -> (Particles, Time) {
    let (mut p, now) = system(n, n as u64);
    for (name, scale) in [("q", 1.0), ("u", 0.7), ("v", 0.2), ("w", 0.1)] {
        let values = (0..n).map(|i| (scale * i as f64).sin()).collect();
        p.columns.push(NamedColumn { name: name.into(), values });
    }
    (p, now)
}

/// Relative difference that the approximation of 1/√ may make in a mode.
fn tolerance(precision: Precision) -> f64 {
    match precision {
        Precision::F64 => 0.0,
        Precision::F64Fast => 1e-12,
        _ => 1e-4,
    }
}

fn on_cpu(law: &Arc<Law>, precision: Precision) -> Box<dyn FieldEngine> {
    cpu::law_engine(law, precision, EPSILON, CLOCK, Width::choose_for(precision).unwrap())
}

/// Compares vectors with the largest of those that are wanted: terms of a law may cancel.
fn check(got: &[Vec3], want: &[Vec3], precision: Precision, what: &str) {
    let largest = want.iter().map(|x| x.norm()).fold(0.0, f64::max);
    for (got, want) in got.iter().zip(want) {
        let within = (got - want).norm() <= tolerance(precision) * largest;
        assert!(within, "{what}, {}: {got:?} instead of {want:?}", precision.name());
    }
}

fn compare(got: &Forces, want: &Forces, precision: Precision, what: &str) {
    if precision == Precision::F64 || held_to_bits() {
        assert!(bits(got) == bits(want), "{what}, {}", precision.name());
        return;
    }
    check(&got.acc, &want.acc, precision, what);
    check(&got.jerk, &want.jerk, precision, what);
    let pot = |forces: &Forces| forces.pot.iter().map(|&x| Vec3::new(x, 0.0, 0.0)).collect::<Vec<_>>();
    check(&pot(got), &pot(want), precision, what);
}

#[test]
fn forces_by_laws_are_those_of_the_cpu() {
    for law in laws() {
        let what = law.source().formula.text().to_owned();
        for precision in modes() {
            let Some(mut engine) = needed(CudaEngine::with_law(&law, precision, EPSILON, CLOCK, 0)) else { return };
            for n in sizes() {
                let (p, now) = charged(n);
                for size in [1, 33, n] {
                    let index: Vec<u32> = (0..n as u32).step_by((n / size).max(1)).take(size).collect();
                    let targets = block(&p, now, index);
                    let want = forces(&mut *on_cpu(&law, precision), &p, now, &targets);
                    let got = forces(&mut engine, &p, now, &targets);
                    compare(&got, &want, precision, &format!("{what}, n = {n}, {} targets", targets.len()));
                }
            }
            assert!(!engine.can_take_steps().unwrap(), "steps by a law are the host's");
        }
    }
}

#[test]
fn forces_at_points_and_accelerations_alone_are_those_of_the_cpu() {
    let (p, now) = charged(321);
    let everyone = Block::from_particles(&p, (0..321).collect());
    let (exclude, pos, vel) = points(321, 66);
    for law in laws() {
        let what = law.source().formula.text().to_owned();
        for precision in modes() {
            let Some(mut engine) = needed(CudaAccelerations::with_law(&law, precision, EPSILON, 0)) else { return };
            let mut got = Accelerations::default();
            engine.load(&p).unwrap();
            engine.evaluate(now, everyone.view(), &mut got).unwrap();
            let want = forces(&mut *on_cpu(&law, precision), &p, now, &everyone);
            check(&got.acc, &want.acc, precision, &what);

            let Some(mut engine) = needed(CudaEngine::with_law(&law, precision, EPSILON, CLOCK, 0)) else { return };
            let points = Points { exclude: &exclude, pos: &pos, vel: &vel };
            let at = |engine: &mut dyn FieldEngine| {
                let mut out = Forces::default();
                engine.load(&p).unwrap();
                engine.evaluate_at(now, points, &mut out).map(|()| out)
            };
            match (at(&mut engine), at(&mut *on_cpu(&law, precision))) {
                (Ok(got), Ok(want)) => compare(&got, &want, precision, &what),
                (got, want) => assert_eq!(got.is_err(), want.is_err(), "{what}"),
            }
        }
    }
}
