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

/// Lattice sums Σ r⁻ⁿ of the face-centred cubic lattice, r in distances of neighbours: Jones & Ingham 1925, Proc. R. Soc. A
/// 107, 636, in six or seven digits.
const LATTICE_SUMS: [(i32, f64); 4] = [(6, 14.45392), (8, 12.80194), (12, 12.13188), (14, 12.05899)];

/// Returns the lattice sites within a distance of a site, which is the first, and that distance's share of a lattice sum
/// that lies beyond it: 4π √2 ∫ r²⁻ⁿ dr.
fn face_centred(radius: f64) -> (Vec<Vec3>, impl Fn(i32) -> f64) {
    let max = (radius * std::f64::consts::SQRT_2).ceil() as i32;
    let axis = || -max..=max;
    let all = axis().flat_map(|i| axis().flat_map(move |j| axis().map(move |k| [i, j, k])));
    let sites = all.filter(|site| site.iter().sum::<i32>() % 2 == 0 && *site != [0; 3]);
    let sites = sites.map(|site| Vec3::from(site.map(f64::from)) * std::f64::consts::FRAC_1_SQRT_2);
    let within = sites.filter(|site| site.norm() <= radius);
    let density = std::f64::consts::SQRT_2;
    let beyond = move |n| 4.0 * std::f64::consts::PI * density / (f64::from(n - 3) * radius.powi(n - 3));
    (std::iter::once(Vec3::zeros()).chain(within).collect(), beyond)
}

/// The atoms of a crystal as large as it would be without pressure, a = (2 C₁₂ / C₆)^(1/6) σ: energy, force on an atom beside
/// its site, and its change as the atom moves there.
#[test]
fn validate_a_crystal_of_lennard_jones_has_the_published_lattice_sums() {
    const SIGMA: f64 = 0.8;
    const DEPTH: f64 = 0.25;
    const MASS: f64 = 0.5;
    let (sites, beyond) = face_centred(12.0);
    let [c6, c8, c12, c14] = LATTICE_SUMS.map(|(_, sum)| sum);
    let a = (2.0 * c12 / c6).powf(1.0 / 6.0) * SIGMA;
    let ratio = SIGMA / a;
    assert!((1.0 / ratio - 1.09).abs() < 5e-3, "Kittel, Introduction to Solid State Physics, chapter 3: 1.09");
    let parameters = [("sigma", SIGMA), ("depth", DEPTH)];
    let law = law(LawSource::new(Ready::named("lennard-jones").unwrap().formula(), &parameters));
    let n = sites.len();
    let mut p = Particles::new(vec![MASS; n], sites.iter().map(|site| a * site).collect(), vec![Vec3::zeros(); n]);
    let at_site = |p: &Particles, now: Time| {
        forces(&mut *reference::law_engine(&law, Precision::F64, 0.0, CLOCK), p, now, &block(p, now, vec![0]))
    };
    // Half of what an atom has with all others.
    let energy = 0.5 * MASS * at_site(&p, Time::default()).pot[0]
        + 2.0 * DEPTH * (ratio.powi(12) * beyond(12) - ratio.powi(6) * beyond(6));
    let expected = -DEPTH * c6 * c6 / (2.0 * c12);
    assert!((energy / expected - 1.0).abs() < 1e-5, "{energy} is not {expected}");
    assert!((expected / DEPTH + 8.61).abs() < 5e-3, "Kittel: -2.15 times 4 depths");

    // The mean of the second derivatives: Δ r⁻ⁿ = n (n − 1) r⁻ⁿ⁻², and for n = 12 and 6 of each direction a third.
    let third = |n: i32, sum: f64| f64::from(n * (n - 1)) / 3.0 * ratio.powi(n) * (sum - beyond(n + 2)) / (a * a);
    let stiffness = 4.0 * DEPTH * (third(12, c14) - third(6, c8));
    for direction in [Vec3::x(), Vec3::new(0.6, 0.0, -0.8), Vec3::new(1.0, 2.0, 2.0) / 3.0] {
        (p.pos[0], p.vel[0]) = (1e-4 * a * direction, 0.3 * direction);
        let force = at_site(&p, Time::default());
        for (found, expected) in [(force.acc[0], p.pos[0]), (force.jerk[0], p.vel[0])] {
            let expected = -stiffness / MASS * expected;
            assert!((found - expected).norm() < 1e-5 * expected.norm(), "{found} is not {expected}");
        }
    }
}
