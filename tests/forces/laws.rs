//! Promise: an engine with a law sums the pairs of the formula as it sums those of Newton's law.

use crate::systems::{CLOCK, bits, block, forces, system};
use std::sync::Arc;
use tisane::force::precision::Precision;
use tisane::force::reference;
use tisane::force::{Accelerations, Forces, NO_SOURCE, Points, Targets};
use tisane::law::ready::{self, Ready};
use tisane::law::{Formula, Law, LawSource};
use tisane::particles::{NamedColumn, Particles, Vec3};
use tisane::time::Time;

fn law(source: LawSource) -> Arc<Law> {
    Arc::new(Law::new(source).unwrap_or_else(|mistake| panic!("{mistake}")))
}

fn ready(of: &Ready) -> Arc<Law> {
    // A velocity of light above those of the particles, and a cut-off beyond them.
    let value = |name: &str| match name {
        "c" => 9.0,
        "radius" => 2.5,
        _ => 0.7,
    };
    let parameters: Vec<_> = of.parameters.iter().map(|(name, _)| (*name, value(name))).collect();
    law(LawSource::new(of.formula(), &parameters).with_columns(of.columns))
}

/// Returns particles with charges of both signs.
fn charged(n: usize) -> Particles {
    let (mut p, _) = system(n, 3);
    p.time.fill(Time::default());
    let values = (0..n).map(|i| if i % 3 == 0 { -0.5 } else { 1.0 / n as f64 }).collect();
    p.columns = vec![NamedColumn { name: "charge".into(), values }];
    p
}

#[test]
fn verify_newton_as_a_law_has_newtons_forces_in_every_mode() {
    let newton = law(LawSource::new(Formula::Potential("-G*m_i*m_j/s".into()), &[]));
    let (p, now) = system(300, 4);
    let targets = block(&p, now, (0..300).collect());
    for precision in Precision::ALL {
        let built_in = forces(&mut *reference::engine(precision, 0.01, CLOCK), &p, now, &targets);
        let of_law = forces(&mut *reference::law_engine(&newton, precision, 0.01, CLOCK), &p, now, &targets);
        let tolerance = if matches!(precision, Precision::F64 | Precision::F64Fast) { 1e-13 } else { 3e-5 };
        // The factors A and −U / m_i are computed by the same operations.
        assert_eq!(
            bits(&Forces { jerk: vec![], ..built_in.clone() }),
            bits(&Forces { jerk: vec![], ..of_law.clone() })
        );
        for (a, b) in built_in.jerk.iter().zip(&of_law.jerk) {
            assert!((a - b).norm() <= tolerance * a.norm(), "{}: {a} is not {b}", precision.name());
        }
    }
}

#[test]
fn verify_jerks_and_potentials_of_every_ready_law_belong_to_its_accelerations() {
    const H: f64 = 1e-5;
    for of in ready::ALL {
        for epsilon in [0.0, 0.2] {
            let mut p = charged(2);
            (p.pos[1], p.vel[1]) = (p.pos[0] + Vec3::new(0.5, 0.3, -0.2), p.vel[0] + Vec3::new(0.3, -0.1, 0.4));
            let mut engine = reference::law_engine(&ready(of), Precision::F64, epsilon, CLOCK);
            engine.load(&p).unwrap();
            let mut at = |pos: Vec3| {
                let mut out = Forces::default();
                let points = Points { exclude: &[0], pos: &[pos], vel: &[p.vel[0]] };
                engine.evaluate_at(Time::default(), points, &mut out).unwrap();
                (out.acc[0], out.jerk[0], out.pot[0])
            };
            let (x, v) = (p.pos[0], p.vel[0] - p.vel[1]);
            let (acc, jerk, pot) = at(x);
            let change = (at(x + H * v).0 - at(x - H * v).0) / (2.0 * H);
            assert!((jerk - change).norm() < 1e-7 * jerk.norm(), "{}: {jerk} is not {change}", of.name);
            if of.is_acceleration {
                assert_eq!(pot, 0.0);
                continue;
            }
            let slope = |axis: Vec3, at: &mut dyn FnMut(Vec3) -> (Vec3, Vec3, f64)| {
                (at(x - H * axis).2 - at(x + H * axis).2) / (2.0 * H)
            };
            let gradient = [Vec3::x(), Vec3::y(), Vec3::z()].map(|axis| slope(axis, &mut at));
            assert!((acc - Vec3::from(gradient)).norm() < 1e-7 * acc.norm(), "{}: {acc} is not {gradient:?}", of.name);
        }
    }
}

#[test]
fn accelerations_alone_have_the_bits_of_whole_forces() {
    let p = charged(130);
    let index: Vec<u32> = (0..130).collect();
    let targets = Targets { index: &index, pos: &p.pos, vel: &p.vel };
    for of in ready::ALL {
        for precision in Precision::ALL {
            let (mut whole, mut alone) = (Forces::default(), Accelerations::default());
            let mut engine = reference::law_engine(&ready(of), precision, 0.1, CLOCK);
            engine.load(&p).unwrap();
            engine.evaluate(Time::default(), targets, &mut whole).unwrap();
            let mut engine = reference::law_accelerations(&ready(of), precision, 0.1);
            engine.load(&p).unwrap();
            engine.evaluate(Time::default(), targets, &mut alone).unwrap();
            assert!(whole.acc == alone.acc, "{} in {}", of.name, precision.name());
        }
    }
}

#[test]
fn what_a_law_cannot_know_is_an_error() {
    let mut p = charged(4);
    let coulomb = ready(Ready::named("coulomb").unwrap());
    let mut engine = reference::law_engine(&coulomb, Precision::F64, 0.0, CLOCK);
    engine.load(&p).unwrap();
    let points = Points { exclude: &[NO_SOURCE], pos: &[Vec3::zeros()], vel: &[Vec3::zeros()] };
    let error = engine.evaluate_at(Time::default(), points, &mut Forces::default()).unwrap_err().to_string();
    assert!(error.contains("a point without a particle has not"), "{error}");
    // Where the formula does not read the target, any point feels it.
    let mut yukawa = reference::law_engine(&ready(Ready::named("yukawa").unwrap()), Precision::F64, 0.0, CLOCK);
    yukawa.load(&p).unwrap();
    yukawa.evaluate_at(Time::default(), points, &mut Forces::default()).unwrap();
    p.columns.clear();
    let error = engine.load(&p).unwrap_err().to_string();
    assert!(error.contains("column `charge` of the particles, which the law reads, is missing"), "{error}");
}
