//! Promise: rounding in the forces of `mixed` and `double-float` does not make steps collapse: a small ν or η costs
//! what it costs in f64.

use crate::common;
use common::parameters;
use tisane::force::Forces;
use tisane::force::cpu::{self, Width};
use tisane::force::precision::Precision;
use tisane::initial::{plummer, scaling};
use tisane::integrator::Integrator;
use tisane::integrator::hermite4::{Hermite4, Limits, Parameters};
use tisane::integrator::multipoint::{self, Multipoint};
use tisane::time::{Clock, Level, Time};

const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.125 };

/// Limits with some noise of the forces of a mode.
fn limits(mode: Precision, noise: f64) -> Limits {
    Limits { floor: Level::DEEPEST, noise, ..Limits::new(mode) }
}

fn hermite4(mode: Precision, noise: f64) -> Hermite4 {
    Hermite4::new(Parameters { limits: limits(mode, noise), ..parameters(2e-5) }, CLOCK)
}

/// By the criterion of modes that are not in f64, whatever the mode.
fn multipoint(mode: Precision, noise: f64) -> Multipoint {
    let usual = multipoint::Parameters::new(Precision::Mixed);
    Multipoint::new(multipoint::Parameters { eta: 0.04, limits: limits(mode, noise), ..usual }, CLOCK)
}

/// Particle steps that a Plummer sphere takes over half a time unit, or `enough` if they are more.
fn steps<I: Integrator<Evaluation = Forces>>(mode: Precision, mut integrator: I, enough: u64) -> u64 {
    let mut p = plummer::sample(256, 1, 0.999);
    scaling::to_centre_of_mass(&mut p);
    let mut engine = cpu::engine(mode, 1.0 / 256.0, CLOCK, Width::choose().unwrap());
    let mut now = integrator.start(&mut p, &mut *engine).unwrap().now;
    let mut steps = 0;
    while now < Time::from_dt_max(2) && steps < enough {
        let done = integrator.advance(&mut p, &mut *engine, Time::from_dt_max(2), 1).unwrap();
        (now, steps) = (done.now, steps + done.particle_steps);
    }
    steps
}

/// Compares a scheme that knows the noise of a mode with one that takes it for derivatives.
fn compare<I: Integrator<Evaluation = Forces>>(scheme: impl Fn(Precision, f64) -> I) {
    let exact = steps(Precision::F64, scheme(Precision::F64, 0.0), u64::MAX);
    for mode in [Precision::Mixed, Precision::DoubleFloat] {
        let of = |noise| steps(mode, scheme(mode, noise), 3 * exact);
        let (with, without) = (of(mode.noise()), of(0.0));
        println!("{}: {with} steps, {without} if all were believed, {exact} in f64", mode.name());
        assert!(with < exact + exact / 4, "{}: {with} steps, in f64 {exact}", mode.name());
        assert!(without > 2 * exact, "{}: nothing to guard against: {without} steps, in f64 {exact}", mode.name());
    }
}

#[test]
fn regress_rounding_does_not_make_steps_collapse() {
    compare(hermite4);
}

#[test]
fn regress_rounding_does_not_make_steps_of_the_multipoint_scheme_collapse() {
    compare(multipoint);
}
