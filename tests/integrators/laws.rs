//! Promise: orbits by a law are those of its equations of motion, and its energy is conserved as Newton's is.
//!
//! The comparison is an integration of the relative motion by Runge and Kutta's scheme of 4th order with very short
//! steps, with forces that are written out here.

use std::sync::Arc;
use tisane::diagnostics::conserved::Conserved;
use tisane::force::precision::Precision;
use tisane::force::reference;
use tisane::integrator::hermite4::{Hermite4, Parameters};
use tisane::law::ready::Ready;
use tisane::law::{Law, LawSource};
use tisane::particles::{NamedColumn, Particles, Vec3};
use tisane::propagator::Propagator;
use tisane::time::{Clock, Time};

const CLOCK: Clock = Clock { start: 0.0, dt_max: 1.0 / 64.0 };
const MASS: [f64; 2] = [1.0, 0.25];
const CHARGE: [f64; 2] = [2.0, -0.75];
/// Time of the comparison, in `dt_max`: several orbits.
const STEPS: u64 = 64 * 12;

/// Law with its parameters, the relative position and velocity at the start, and the acceleration of the relative
/// motion along the separation as a function of the distance: minus its derivative of the potential energy over the
/// reduced mass.
struct Case {
    name: &'static str,
    parameters: &'static [(&'static str, f64)],
    pos: f64,
    vel: f64,
    pull: fn(f64) -> f64,
}

const TOTAL: f64 = MASS[0] + MASS[1];
const REDUCED: f64 = MASS[0] * MASS[1] / TOTAL;

const CASES: [Case; 6] = [
    Case {
        name: "yukawa",
        parameters: &[("lambda", 1.5)],
        pos: 1.0,
        vel: 0.8,
        pull: |s| TOTAL * (-s / 1.5).exp() * (1.0 + s / 1.5) / (s * s),
    },
    Case {
        name: "spline",
        parameters: &[("h", 1.6)],
        pos: 1.0,
        vel: 0.4,
        pull: |s| {
            let u = s / 1.6;
            let g = if u < 0.5 {
                32.0 / 3.0 - 38.4 * u * u + 32.0 * u * u * u
            } else if u < 1.0 {
                64.0 / 3.0 - 48.0 * u + 38.4 * u * u - 32.0 / 3.0 * u * u * u - 1.0 / (15.0 * u * u * u)
            } else {
                1.0 / (u * u * u)
            };
            TOTAL * u * g / (1.6 * 1.6)
        },
    },
    Case {
        name: "lennard-jones",
        parameters: &[("sigma", 0.8), ("depth", 0.1)],
        pos: 1.0,
        vel: 0.3,
        pull: |s| 0.4 * (6.0 * (0.8 / s).powi(6) - 12.0 * (0.8 / s).powi(12)) / (s * REDUCED),
    },
    Case { name: "coulomb", parameters: &[("k", 0.5)], pos: 1.0, vel: 1.2, pull: |s| 0.5 * 1.5 / (REDUCED * s * s) },
    Case {
        name: "p3m-cutoff",
        parameters: &[("radius", 6.0)],
        pos: 1.0,
        vel: 0.7,
        pull: |s| {
            let x: f64 = s / 3.0;
            let p = |k: i32| x.powi(k);
            let missing = 224.0 * p(3) - 224.0 * p(5) + 70.0 * p(6) + 48.0 * p(7) - 21.0 * p(8);
            TOTAL * (1.0 - missing / 140.0) / (s * s)
        },
    },
    Case {
        name: "paczynski-wiita",
        parameters: &[("c", 8.0)],
        pos: 1.0,
        vel: 0.9,
        pull: |s| TOTAL / (s - 2.0 * TOTAL / 64.0).powi(2),
    },
];

/// Returns relative position and velocity after a time.
fn runge_kutta(case: &Case, time: f64) -> [Vec3; 2] {
    const N: usize = 400_000;
    let h = time / N as f64;
    let slope = |[x, v]: [Vec3; 2]| [v, -x / x.norm() * (case.pull)(x.norm())];
    let moved = |[x, v]: [Vec3; 2], [dx, dv]: [Vec3; 2], h: f64| [x + h * dx, v + h * dv];
    let mut y = [Vec3::x() * case.pos, Vec3::y() * case.vel];
    for _ in 0..N {
        let a = slope(y);
        let b = slope(moved(y, a, 0.5 * h));
        let c = slope(moved(y, b, 0.5 * h));
        let d = slope(moved(y, c, h));
        y = [0, 1].map(|k| y[k] + h / 6.0 * (a[k] + 2.0 * (b[k] + c[k]) + d[k]));
    }
    y
}

#[test]
fn verify_orbits_are_those_of_the_equations_of_motion() {
    for case in &CASES {
        let of = Ready::named(case.name).unwrap();
        let source = LawSource::new(of.formula(), case.parameters).with_columns(of.columns);
        let law = Arc::new(Law::new(source).unwrap());
        // About the centre of mass.
        let part = [-MASS[1] / TOTAL, MASS[0] / TOTAL];
        let mut p = Particles::new(
            MASS.to_vec(),
            part.map(|part| Vec3::x() * (part * case.pos)).to_vec(),
            part.map(|part| Vec3::y() * (part * case.vel)).to_vec(),
        );
        p.columns = vec![NamedColumn { name: "charge".into(), values: CHARGE.to_vec() }];
        let engine = reference::law_engine(&law, Precision::F64, 0.0, CLOCK);
        let parameters = Parameters { nu: 2.5e-4, ..Parameters::new(Precision::F64) };
        let mut system = Propagator::in_f64(Box::new(Hermite4::new(parameters, CLOCK)), engine);
        system.start(&mut p).unwrap();
        let energy = |p: &Particles, system: &mut Propagator, at: Time| {
            Conserved::from_particles(p, &system.field(p, at).unwrap().pot).energy()
        };
        let (end, before) = (Time::from_dt_max(STEPS), energy(&p, &mut system, Time::default()));
        system.advance(&mut p, end, u64::MAX).unwrap();
        let after = energy(&p, &mut system, end);
        let [pos, vel] = runge_kutta(case, STEPS as f64 * CLOCK.dt_max);
        let errors = [(p.pos[1] - p.pos[0] - pos).norm(), (p.vel[1] - p.vel[0] - vel).norm()];
        assert!(errors.iter().all(|error| *error < 1e-6), "{}: {errors:?}", case.name);
        if !of.is_acceleration {
            let error = after / before - 1.0;
            assert!(error.abs() < 1e-8, "{}: dE/E = {error:e}", case.name);
        }
    }
}
