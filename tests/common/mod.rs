//! Systems and runs that several tests share.

#![allow(dead_code, reason = "each test file uses its own part")]

use tisane::force::ForceEngine;
use tisane::force::cpu::{CpuEngine, Width};
use tisane::force::mode::F64;
use tisane::force::precision::Precision;
use tisane::integrator::Integrator;
use tisane::integrator::hermite4::{Hermite4, Limits, Parameters};
use tisane::particles::{Particles, Vec3};
use tisane::time::{Clock, Level, Time};

/// Hermite parameters with the usual settings and no floor in the way.
pub fn parameters(nu: f64) -> Parameters {
    Parameters {
        nu,
        nu_start: nu,
        iterations: 1,
        limits: Limits { floor: Level::DEEPEST, ..Limits::new(Precision::F64) },
    }
}

/// Two bodies of masses m and 1 − m on an orbit of semi-major axis 1, eccentricity e, period 2π, at apocentre.
pub fn kepler(m: f64, e: f64) -> Particles {
    let (r, v) = (1.0 + e, ((1.0 - e) / (1.0 + e)).sqrt());
    Particles::new(
        vec![m, 1.0 - m],
        vec![(1.0 - m) * r * Vec3::x(), -m * r * Vec3::x()],
        vec![(1.0 - m) * v * Vec3::y(), -m * v * Vec3::y()],
    )
}

/// Integrates with the CPU engine over `steps` of `clock.dt_max`; returns the number of particle steps.
pub fn integrate(p: &mut Particles, parameters: Parameters, clock: Clock, epsilon: f64, steps: u64) -> u64 {
    let mut engine = CpuEngine::<F64>::new(epsilon, clock, Width::choose().unwrap());
    let mut integrator = Hermite4::new(parameters, clock);
    integrator.start(p, &mut engine).unwrap();
    advance(p, &mut integrator, &mut engine, Time::from_dt_max(steps))
}

/// Goes on to `end`; returns the number of particle steps.
pub fn advance<I: Integrator + ?Sized>(
    p: &mut Particles,
    integrator: &mut I,
    engine: &mut dyn ForceEngine<I::Evaluation>,
    end: Time,
) -> u64 {
    let done = integrator.advance(p, engine, end, u64::MAX).unwrap();
    assert_eq!(done.now, end, "the end is a multiple of dt_max, so it is reached exactly");
    done.particle_steps
}

/// Total energy by direct summation over pairs.
pub fn energy(p: &Particles, epsilon: f64) -> f64 {
    let mut e = 0.0;
    for i in 0..p.len() {
        e += 0.5 * p.mass[i] * p.vel[i].norm_squared();
        for j in 0..i {
            e -= p.mass[i] * p.mass[j] / ((p.pos[i] - p.pos[j]).norm_squared() + epsilon * epsilon).sqrt();
        }
    }
    e
}
