//! Promise: a force that is not a finite number ends the run at the block where it appears, with an error that names the
//! particle, and leaves everybody else and the last checkpoint as they were.

use crate::common;
use crate::simulated;
use common::parameters;
use simulated::{Blind, CLOCK, hermite4, not_begun, simulation};
use std::time::Duration;
use tisane::force::cpu::{self, Width};
use tisane::force::precision::Precision;
use tisane::force::{ForceEngine, Forces, Targets};
use tisane::initial::plummer;
use tisane::integrator::Integrator;
use tisane::integrator::hermite4::{Hermite4, OnFloor, Parameters};
use tisane::particles::Particles;
use tisane::time::Time;
use tisane::{Error, Result};
use tisane_io::checkpoint;
use tisane_run::simulation::Engines;

const QUANTITIES: [&str; 3] = ["acceleration", "jerk", "potential"];

/// An engine whose forces go wrong in one number of the block's last target, in one evaluation.
struct Faulty {
    engine: Box<dyn ForceEngine>,
    evaluations: usize,
    wrong: usize,
    quantity: &'static str,
    value: f64,
    block: Vec<u32>,
}

impl Faulty {
    fn new(wrong: usize, quantity: &'static str, value: f64) -> Self {
        let engine = cpu::engine(Precision::F64, 1.0 / 64.0, CLOCK, Width::choose().unwrap());
        Self { engine, evaluations: 0, wrong, quantity, value, block: Vec::new() }
    }
}

impl ForceEngine for Faulty {
    fn load(&mut self, all: &Particles) -> Result<()> {
        self.engine.load(all)
    }
    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        self.engine.update(all, changed)
    }
    fn evaluate(&mut self, now: Time, targets: &Targets, out: &mut Forces) -> Result<()> {
        self.engine.evaluate(now, targets, out)?;
        self.evaluations += 1;
        if self.evaluations == self.wrong {
            let last = targets.len() - 1;
            match self.quantity {
                "acceleration" => out.acc[last][1] = self.value,
                "jerk" => out.jerk[last][2] = self.value,
                _ => out.pot[last] = self.value,
            }
        }
        self.block.clone_from(&targets.index);
        Ok(())
    }
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

#[test]
fn the_third_block_ends_the_run_and_nobody_else_has_changed() {
    for (quantity, value) in faults() {
        for (on_floor, iterations) in [(OnFloor::Stop, 1), (OnFloor::Clamp, 1), (OnFloor::Clamp, 2)] {
            let mut p = particles();
            let mut engine = Faulty::new(1 + 3 * iterations as usize, quantity, value);
            let mut integrator = Hermite4::new(Parameters { on_floor, iterations, ..parameters(0.01) }, CLOCK);
            integrator.start(&mut p, &mut engine).unwrap();
            integrator.step(&mut p, &mut engine).unwrap();
            integrator.step(&mut p, &mut engine).unwrap();
            let before = p.clone();
            let error = integrator.step(&mut p, &mut engine).unwrap_err();
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
            let mut engine = Faulty::new(1, quantity, value);
            let mut integrator = Hermite4::new(Parameters { on_floor, ..parameters(0.01) }, CLOCK);
            let error = integrator.start(&mut p, &mut engine).unwrap_err();
            assert_names(&error, quantity, 1099);
        }
    }
}

/// Numbers whose squares or sums overflow are not wrong by that alone.
#[test]
fn large_numbers_are_finite() {
    let mut p = particles();
    let mut engine = Faulty::new(4, "potential", -f64::MAX);
    let mut integrator = Hermite4::new(parameters(0.01), CLOCK);
    integrator.start(&mut p, &mut engine).unwrap();
    for _ in 0..3 {
        integrator.step(&mut p, &mut engine).unwrap();
    }
}

#[test]
fn the_last_checkpoint_stays_whole() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    // The first evaluation is the start's, the second that of the first row of diagnostics.
    let force = Box::new(Faulty::new(5, "potential", f64::INFINITY));
    let engines = Engines { motion: hermite4(force, None), auditor: None };
    let begin = (particles(), not_begun());
    let mut simulation = simulation(dir, begin, engines, (1, Duration::from_secs(600)));
    let mut series = simulation.start(&mut Blind).unwrap();
    let written = std::fs::read(dir.join(checkpoint::NEWEST)).unwrap();
    let error = simulation.run(&mut series, &mut Blind).unwrap_err();
    assert!(error.to_string().contains("potential inf"), "{error}");
    assert_eq!(simulation.state.counters.block_steps, 2);
    assert_eq!(std::fs::read(dir.join(checkpoint::NEWEST)).unwrap(), written);
    let last = checkpoint::read(&dir.join(checkpoint::NEWEST)).unwrap();
    let p = &last.particles;
    assert!(p.acc.iter().chain(&p.jerk).flatten().chain(&p.pot).all(|x| x.is_finite()));
}
