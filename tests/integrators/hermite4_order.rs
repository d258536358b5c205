//! Promise: the Hermite scheme is of 4th order and follows known orbits.

use crate::common;

use common::{advance, energy, integrate, kepler, parameters};
use std::f64::consts::PI;
use tisane::force::mode::F64;
use tisane::force::precision::Precision;
use tisane::force::reference::ReferenceEngine;
use tisane::integrator::Integrator;
use tisane::integrator::hermite4::{Hermite4, Limits, Parameters};
use tisane::particles::{Particles, Vec3};
use tisane::time::{Clock, Level, Time};

/// Position error after one period of e = 0.3 with `2^k` equal steps.
fn error_after_a_period(k: u32, iterations: u32) -> f64 {
    let clock = Clock { start: 0.0, dt_max: 2.0 * PI / f64::from(1 << k) };
    let mut p = kepler(0.5, 0.3);
    let start = p.pos[0];
    // So large a ν that every particle takes dt_max: a constant, shared step.
    integrate(&mut p, Parameters { iterations, ..parameters(1e30) }, clock, 0.0, 1 << k);
    assert!(p.step.iter().all(|&level| level == Level(0)));
    (p.pos[0] - start).norm()
}

#[test]
fn verify_order_four_on_kepler() {
    for iterations in [1, 2, 3] {
        let errors: Vec<f64> = (9..=12).map(|k| error_after_a_period(k, iterations)).collect();
        for pair in errors.windows(2) {
            let slope = (pair[0] / pair[1]).log2();
            assert!((3.9..=4.1).contains(&slope), "P(EC)^{iterations}: slope {slope}, errors {errors:?}");
        }
    }
}

#[test]
fn verify_eccentric_orbit_over_a_hundred_periods() {
    let clock = Clock { start: 0.0, dt_max: 2.0 * PI / 64.0 };
    let mut p = kepler(0.25, 0.9);
    let e0 = energy(&p, 0.0);
    integrate(&mut p, parameters(0.001), clock, 0.0, 6400);
    let error = ((energy(&p, 0.0) - e0) / e0).abs();
    assert!(error < 1e-5, "relative energy error {error}");
    let (a, ecc) = elements(&p);
    assert!((a - 1.0).abs() < 1e-5 && (ecc - 0.9).abs() < 1e-5, "a = {a}, e = {ecc}");
}

/// Semi-major axis and eccentricity of two bodies of total mass 1.
fn elements(p: &Particles) -> (f64, f64) {
    let r = p.pos[0] - p.pos[1];
    let v = p.vel[0] - p.vel[1];
    let (r1, v2) = (r.norm(), v.norm_squared());
    let a = 1.0 / (2.0 / r1 - v2);
    let l = r[0] * v[1] - r[1] * v[0];
    (a, (1.0 - l * l / a).sqrt())
}

#[test]
fn verify_figure_eight_returns() {
    const PERIOD: f64 = 6.325_913_985;
    let p0 = tisane::initial::figure_eight::orbit();
    let clock = Clock { start: 0.0, dt_max: PERIOD / 64.0 };
    let mut p = p0.clone();
    integrate(&mut p, parameters(1e-5), clock, 0.0, 64);
    for i in 0..3 {
        assert!((p.pos[i] - p0.pos[i]).norm() < 1e-6, "body {i}: {:?} against {:?}", p.pos[i], p0.pos[i]);
    }
}

#[test]
fn verify_energy_error_falls_as_nu_squared() {
    // dt ∝ √ν and the scheme is of 4th order, so the energy error per unit time falls as ν².
    let clock = Clock { start: 0.0, dt_max: 2.0 * PI / 16.0 };
    let error = |nu: f64| {
        let mut p = kepler(0.5, 0.5);
        let e0 = energy(&p, 0.0);
        integrate(&mut p, parameters(nu), clock, 0.0, 16 * 16);
        ((energy(&p, 0.0) - e0) / e0).abs()
    };
    // Block steps are powers of two, so ν is changed by factors of 4² to keep the pattern of steps.
    let errors = [1.6e-2, 1e-3, 6.25e-5].map(error);
    for pair in errors.windows(2) {
        let slope = (pair[0] / pair[1]).log(16.0);
        assert!((1.7..=2.7).contains(&slope), "slope {slope}, errors {errors:?}");
    }
}

#[test]
fn the_first_step_of_a_system_at_rest_is_not_a_leap() {
    let clock = Clock { start: 0.0, dt_max: 1.0 };
    let mut p = Particles::new(vec![0.5; 2], vec![0.5 * Vec3::x(), -0.5 * Vec3::x()], vec![Vec3::zeros(); 2]);
    let mut engine = ReferenceEngine::<F64>::new(0.0, clock);
    let mut integrator = Hermite4::new(parameters(0.01), clock);
    integrator.start(&mut p, &mut engine).unwrap();
    assert!(p.step[0].step(1.0) <= 0.1 * 2f64.sqrt(), "sqrt(ν|φ|)/|a| = 0.1 √2: {:?}", p.step);
    let e0 = energy(&p, 0.0);
    advance(&mut p, &mut integrator, &mut engine, Time::from_dt_max(1));
    assert!(((energy(&p, 0.0) - e0) / e0).abs() < 1e-4);
}

#[test]
fn one_particle_moves_on_a_straight_line() {
    let clock = Clock { start: 0.0, dt_max: 0.25 };
    let mut p = Particles::new(vec![1.0], vec![Vec3::new(1.0, 2.0, 3.0)], vec![Vec3::new(1.0, 0.0, -1.0)]);
    assert_eq!(integrate(&mut p, parameters(0.01), clock, 0.0, 8), 8, "a free particle takes the longest step");
    assert_eq!(p.pos[0], Vec3::new(3.0, 2.0, 1.0));
}

#[test]
fn a_step_below_the_floor_names_the_pair() {
    let clock = Clock { start: 0.0, dt_max: 0.125 };
    let mut p = kepler(0.5, 0.999);
    p.id = vec![17, 4];
    let limits = Limits { floor: Level(6), ..Limits::new(Precision::F64) };
    let floored = Parameters { limits, ..parameters(0.01) };
    let mut engine = ReferenceEngine::<F64>::new(0.0, clock);
    let mut integrator = Hermite4::new(floored, clock);
    integrator.start(&mut p, &mut engine).unwrap();
    let mut advance = || integrator.advance(&mut p, &mut engine, Time::from_dt_max(1000), 100_000);
    assert!(advance().unwrap().block_steps > 10, "steps before the floor");
    let error = advance().expect_err("it must hit the floor");
    let text = error.to_string();
    assert!(text.contains("particle 17") && text.contains("particle 4"), "{text}");
    assert!(text.starts_with("2 particles need time steps below dt_min") && text.contains("semi-major axis"), "{text}");
    assert_eq!(error.exit_code(), 4);
    // The state is that after a whole block step: with a deeper floor it goes on like one that always had it.
    let now = *p.time.iter().max().unwrap();
    let mut deeper = Hermite4::new(parameters(0.01), clock);
    deeper.resume(&p, now, &mut engine).unwrap();
    deeper.advance(&mut p, &mut engine, Time::from_dt_max(48), u64::MAX).unwrap();
    let (mut whole, mut undisturbed) = (kepler(0.5, 0.999), Hermite4::new(parameters(0.01), clock));
    whole.id = vec![17, 4];
    undisturbed.start(&mut whole, &mut engine).unwrap();
    undisturbed.advance(&mut whole, &mut engine, Time::from_dt_max(48), u64::MAX).unwrap();
    assert!(p == whole, "the bits of a run with the deeper floor");
}
