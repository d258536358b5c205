//! Promise: in an external field a GPU gives the CPU's forces: the field is added on the host, so that its part has the
//! same bits in every mode, and in f64 all of it has. Without a GPU each test says that it is skipped.
#![cfg(feature = "cuda")]

use crate::gpu::needed;
use crate::systems::{CLOCK, bits, block, system};
use std::sync::Arc;
use tisane::force::cpu::{self, Width};
use tisane::force::cuda::{CudaAccelerations, CudaEngine};
use tisane::force::external::{ExternalField, Plummer, WithExternal};
use tisane::force::precision::Precision;
use tisane::force::{Accelerations, Evaluation, ForceEngine, Forces, Targets};
use tisane::integrator::Integrator;
use tisane::integrator::hermite4::{Hermite4, Limits, OnFloor, Parameters};
use tisane::particles::{Particles, Vec3};
use tisane::time::{Level, Time};

const EPSILON: f64 = 1.0 / 256.0;
const FIELD: Plummer = Plummer { mass: 100.0, position: Vec3::new(1.5, -2.0, 0.25), scale_radius: 0.5 };

fn in_the_field<E: Evaluation>(engine: Box<dyn ForceEngine<E>>) -> WithExternal<E> {
    WithExternal::new(engine, Arc::new(FIELD), CLOCK)
}

fn evaluated<E: Evaluation>(engine: Box<dyn ForceEngine<E>>, p: &Particles, now: Time, targets: Targets<'_>) -> E {
    let (mut engine, mut found) = (in_the_field(engine), E::default());
    engine.load(p).unwrap();
    engine.evaluate(now, targets, &mut found).unwrap();
    found
}

#[test]
fn forces_in_a_field_are_those_of_the_cpu() {
    let width = Width::choose().unwrap();
    let (p, now) = system(3000, 11);
    let targets = block(&p, now, (0..3000).step_by(7).collect());
    for precision in [Precision::F64, Precision::Mixed] {
        let Some(gpu) = needed(CudaEngine::new(precision, EPSILON, CLOCK, 0)) else { return };
        let found: Forces = evaluated(Box::new(gpu), &p, now, targets.view());
        let expected: Forces = evaluated(cpu::engine(precision, EPSILON, CLOCK, width), &p, now, targets.view());
        assert_eq!(found.external, expected.external);
        assert_eq!(found.external[0], FIELD.pot(targets.pos[0], CLOCK.time(now)));
        if precision == Precision::F64 {
            assert!(bits(&found) == bits(&expected), "other bits");
        }
        let pairs = found.acc.iter().zip(&expected.acc);
        let error = pairs.map(|(a, b)| (a - b).norm() / b.norm()).fold(0.0, f64::max);
        assert!(error < 1e-5, "{}: {error:e}", precision.name());
    }
    let Some(gpu) = needed(CudaAccelerations::new(Precision::F64, EPSILON, 0)) else { return };
    let everyone: Vec<u32> = (0..3000).collect();
    let all = Targets::all(&p, &everyone);
    let found: Accelerations = evaluated(Box::new(gpu), &p, now, all);
    let expected: Accelerations = evaluated(cpu::accelerations(Precision::F64, EPSILON, width), &p, now, all);
    assert!(found == expected, "other bits");
}

#[test]
fn a_run_in_a_field_ends_in_the_state_of_the_cpu() {
    let Some(gpu) = needed(CudaEngine::new(Precision::F64, EPSILON, CLOCK, 0)) else { return };
    let parameters = Parameters {
        nu: 0.02,
        nu_start: 0.02,
        iterations: 1,
        limits: Limits { floor: Level::DEEPEST, on_floor: OnFloor::Clamp, ..Limits::new(Precision::F64) },
    };
    let state = |engine: Box<dyn ForceEngine>| {
        let (mut engine, mut integrator) = (in_the_field(engine), Hermite4::new(parameters, CLOCK));
        let mut p = tisane::initial::plummer::sample(2000, 7, 0.999);
        integrator.start(&mut p, &mut engine).unwrap();
        integrator.advance(&mut p, &mut engine, Time::from_dt_max(1), u64::MAX).unwrap();
        p.state_sha256(&CLOCK)
    };
    let expected = state(cpu::engine(Precision::F64, EPSILON, CLOCK, Width::choose().unwrap()));
    assert_eq!(state(Box::new(gpu)), expected);
}
