//! Promise: a force that is not a finite number ends the run at the block where it appears, with an error that names
//! the particle, and leaves everybody else and the last checkpoint as they were.

use crate::common;
use crate::faulty;
use crate::simulated;

use common::parameters;
use faulty::FaultyEngine;
use simulated::{Blind, CLOCK, hermite4, not_begun, simulation};
use std::time::Duration;
use tisane::Error;
use tisane::force::cpu::{self, Width};
use tisane::force::precision::Precision;
use tisane::force::{EngineKind, Forces};
use tisane::initial::plummer;
use tisane::integrator::Integrator;
use tisane::integrator::hermite4::{Hermite4, Limits, OnFloor, Parameters};
use tisane::integrator::multipoint::{self, Multipoint};
use tisane::particles::Particles;
use tisane::time::Time;
use tisane_io::checkpoint;
use tisane_run::system::Engines;

/// A moment after the block steps of these tests.
const END: Time = Time::from_dt_max(1);
const QUANTITIES: [&str; 3] = ["acceleration", "jerk", "potential"];

/// An engine whose forces go wrong in one number of the block's last target, in evaluation number `wrong`.
fn faulty(wrong: u32, quantity: &'static str, value: f64) -> FaultyEngine<Forces> {
    let engine = cpu::engine(Precision::F64, 1.0 / 64.0, CLOCK, Width::choose().unwrap());
    FaultyEngine::new(engine, move |call, out: &mut Forces| {
        if call.number == wrong {
            let last = out.pot.len() - 1;
            match quantity {
                "acceleration" => out.acc[last][1] = value,
                "jerk" => out.jerk[last][2] = value,
                _ => out.pot[last] = value,
            }
        }
        Ok(())
    })
}

fn particles() -> Particles {
    let mut p = plummer::sample(100, 1, 0.999);
    p.id.iter_mut().for_each(|id| *id += 1000);
    p
}

/// Every quantity, NaN and both infinities.
fn faults() -> impl Iterator<Item = (&'static str, f64)> {
    QUANTITIES.into_iter().flat_map(|quantity| [f64::NAN, f64::INFINITY, -f64::INFINITY].map(|value| (quantity, value)))
}

fn assert_names(error: &Error, quantity: &str, id: u64) {
    assert_eq!(error.exit_code(), 4);
    assert!(matches!(error, Error::Integration { .. }), "{error:?}");
    let text = error.to_string();
    for part in [format!("particle {id} "), quantity.into(), "not a finite number".into(), "time ".into()] {
        assert!(text.contains(&part), "{part}: {text}");
    }
}

fn with_floor(on_floor: OnFloor) -> Parameters {
    let usual = parameters(0.01);
    Parameters { limits: Limits { on_floor, ..usual.limits }, ..usual }
}

#[test]
fn the_third_block_ends_the_run_and_nobody_else_has_changed() {
    for (quantity, value) in faults() {
        for (on_floor, iterations) in [(OnFloor::Stop, 1), (OnFloor::Clamp, 1), (OnFloor::Clamp, 2)] {
            let mut p = particles();
            let mut engine = faulty(1 + 3 * iterations, quantity, value);
            let mut integrator = Hermite4::new(Parameters { iterations, ..with_floor(on_floor) }, CLOCK);
            integrator.start(&mut p, &mut engine).unwrap();
            assert_eq!(integrator.advance(&mut p, &mut engine, END, 2).unwrap().block_steps, 2);
            let before = p.clone();
            let error = integrator.advance(&mut p, &mut engine, END, 1).unwrap_err();
            assert_names(&error, quantity, p.id[*engine.block.last().unwrap() as usize]);
            let row = |p: &Particles, i: usize| {
                format!("{:?}", (p.pos[i], p.vel[i], p.acc[i], p.jerk[i], p.pot[i], p.time[i], p.step[i]))
            };
            for i in (0..p.len()).filter(|&i| !engine.block.contains(&(i as u32))) {
                assert_eq!(row(&p, i), row(&before, i), "{quantity} {value}: particle {i}");
            }
        }
    }
}

#[test]
fn the_first_force_is_looked_at_too() {
    for (quantity, value) in faults() {
        for on_floor in [OnFloor::Stop, OnFloor::Clamp] {
            let mut p = particles();
            let mut engine = faulty(1, quantity, value);
            let mut integrator = Hermite4::new(with_floor(on_floor), CLOCK);
            let error = integrator.start(&mut p, &mut engine).unwrap_err();
            assert_names(&error, quantity, 1099);
        }
    }
}

/// The multi-point scheme evaluates three times before its first step, and once in each step.
#[test]
fn the_multipoint_scheme_names_the_particle_too() {
    for (quantity, value) in faults() {
        for wrong in 1..=4 {
            let mut p = particles();
            let mut engine = faulty(wrong, quantity, value);
            let mut integrator = Multipoint::new(multipoint::Parameters::new(Precision::F64), CLOCK);
            let started = integrator.start(&mut p, &mut engine);
            assert_eq!(started.is_ok(), wrong > 3, "evaluation {wrong}");
            let error = started.and_then(|_| integrator.advance(&mut p, &mut engine, END, 1)).unwrap_err();
            assert_names(&error, quantity, p.id[*engine.block.last().unwrap() as usize]);
        }
    }
}

/// Numbers whose squares or sums overflow are not wrong by that alone.
#[test]
fn large_numbers_are_finite() {
    let mut p = particles();
    let mut engine = faulty(4, "potential", -f64::MAX);
    let mut integrator = Hermite4::new(parameters(0.01), CLOCK);
    integrator.start(&mut p, &mut engine).unwrap();
    assert_eq!(integrator.advance(&mut p, &mut engine, END, 3).unwrap().block_steps, 3);
}

#[test]
fn the_last_checkpoint_stays_whole() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    // The first evaluation is the start's, the second that of the first row of diagnostics.
    let force = Box::new(faulty(5, "potential", f64::INFINITY));
    let engines = Engines {
        kind: EngineKind::Cpu,
        propagator: hermite4(force, None),
        auditor: None,
        law: None,
        origin: None,
        tide: None,
        epsilon: 0.0,
        evolution: None,
    };
    let begin = (particles(), not_begun());
    let mut simulation = simulation(dir, begin, engines, (1, Duration::from_secs(600)));
    let mut series = simulation.start(&mut Blind).unwrap();
    let written = std::fs::read(dir.join(checkpoint::NEWEST)).unwrap();
    let error = simulation.run(&mut series, &mut Blind).unwrap_err();
    assert!(error.to_string().contains("potential inf"), "{error}");
    assert_eq!(simulation.system.state.counters.block_steps, 2);
    assert_eq!(std::fs::read(dir.join(checkpoint::NEWEST)).unwrap(), written);
    let last = checkpoint::read(&dir.join(checkpoint::NEWEST)).unwrap();
    let p = &last.particles;
    assert!(p.acc.iter().chain(&p.jerk).flatten().chain(&p.pot).all(|x| x.is_finite()));
}
