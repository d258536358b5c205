//! Promise: rounding in the forces of `mixed` and `double-float` does not make steps collapse: a small ν costs what it costs in
//! f64.

use crate::common;
use common::parameters;
use tisane::force::cpu::{self, Width};
use tisane::force::precision::Precision;
use tisane::force::range::Range;
use tisane::initial::{plummer, scaling};
use tisane::integrator::Integrator;
use tisane::integrator::hermite4::{Hermite4, Parameters};
use tisane::time::{Clock, Time};

const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.125 };

/// Particle steps that a Plummer sphere takes over half a time unit, or `enough` if they are more.
fn steps(mode: Precision, noise: f64, enough: u64) -> u64 {
    let mut p = plummer::sample(256, 1, 0.999);
    scaling::to_centre_of_mass(&mut p);
    let mut engine = cpu::engine(mode, 1.0 / 256.0, CLOCK, Width::choose().unwrap());
    let mut integrator =
        Hermite4::new(Parameters { noise, range: Range::for_precision(mode), ..parameters(2e-5) }, CLOCK);
    let mut now = integrator.start(&mut p, &mut *engine).unwrap().now;
    let mut steps = 0;
    while now < Time::from_dt_max(2) && steps < enough {
        let done = integrator.advance(&mut p, &mut *engine, Time::from_dt_max(2), 1).unwrap();
        (now, steps) = (done.now, steps + done.particle_steps);
    }
    steps
}

#[test]
fn regress_rounding_does_not_make_steps_collapse() {
    let exact = steps(Precision::F64, 0.0, u64::MAX);
    for mode in [Precision::Mixed, Precision::DoubleFloat] {
        let (with, without) = (steps(mode, mode.noise(), 3 * exact), steps(mode, 0.0, 3 * exact));
        println!("{}: {with} steps, {without} if all were believed, {exact} in f64", mode.name());
        assert!(with < exact + exact / 4, "{}: {with} steps, in f64 {exact}", mode.name());
        assert!(without > 2 * exact, "{}: nothing to guard against: {without} steps, in f64 {exact}", mode.name());
    }
}
