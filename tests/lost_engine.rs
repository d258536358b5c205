//! Promise: an engine that fails or returns what is no number ends the run with exit code 4, and the last checkpoint, from
//! before that, is whole: the run goes on from it to the bits of one that nothing happened to.

#[path = "common/simulated.rs"]
mod simulated;

use simulated::{Blind, CLOCK, hermite4, not_begun};
use std::path::Path;
use std::time::Duration;
use tisane::Result;
use tisane::error::Error;
use tisane::force::cpu::{self, Width};
use tisane::force::precision::Precision;
use tisane::force::range::Range;
use tisane::force::{AccelerationEngine, ForceEngine, Forces, Targets};
use tisane::initial::plummer;
use tisane::integrator::leapfrog::Leapfrog;
use tisane::io::checkpoint::{self, RunState};
use tisane::io::table;
use tisane::motion::Motion;
use tisane::particles::{Particles, Vec3};
use tisane::simulation::{Engines, ExitReason, Simulation};
use tisane::time::Time;

/// What happens to an engine.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Well,
    Lost,
    LostAtOutput,
    NotANumber,
}

/// An engine that meets its fate at an evaluation.
struct Doomed<E: ?Sized> {
    engine: Box<E>,
    left: u32,
    fate: Fate,
    before: Time,
}

impl<E: ?Sized> Doomed<E> {
    /// After an evaluation: the engine may be lost now; true if its forces are to be no numbers.
    fn meet(&mut self, output: bool) -> Result<bool> {
        self.left = self.left.saturating_sub(1);
        let lost = || Err(Error::Integration { problem: "the GPU failed (computing): it is gone".into(), help: None });
        match self.fate {
            Fate::Lost if self.left == 0 => lost(),
            Fate::LostAtOutput if self.left == 0 && output => lost(),
            fate => Ok(fate == Fate::NotANumber && self.left == 0),
        }
    }
}

impl ForceEngine for Doomed<dyn ForceEngine> {
    fn load(&mut self, all: &Particles) -> Result<()> {
        self.engine.load(all)
    }
    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        self.engine.update(all, changed)
    }
    fn evaluate(&mut self, now: Time, targets: &Targets, out: &mut Forces) -> Result<()> {
        self.engine.evaluate(now, targets, out)?;
        // Steps evaluate a moment once; what comes after a step is an output.
        let output = now == self.before && now > Time::default();
        self.before = now;
        if self.meet(output)? {
            out.acc[0][1] = f64::NAN;
        }
        Ok(())
    }
}

impl AccelerationEngine for Doomed<dyn AccelerationEngine> {
    fn load(&mut self, mass: &[f64]) -> Result<()> {
        self.engine.load(mass)
    }
    fn accelerate(&mut self, pos: &[Vec3], acc: &mut Vec<Vec3>) -> Result<()> {
        self.engine.accelerate(pos, acc)?;
        if self.meet(false)? {
            acc[0][1] = f64::NAN;
        }
        Ok(())
    }
}

/// What moves the particles.
#[derive(Clone, Copy, Debug)]
enum Scheme {
    Hermite4,
    Leapfrog,
}

fn simulation(dir: &Path, particles: Particles, state: RunState, scheme: Scheme, fate: Fate) -> Simulation {
    let (epsilon, width, before) = (1.0 / 16.0, Width::choose().unwrap(), Time::default());
    let engine = cpu::engine(Precision::F64, epsilon, CLOCK, width);
    let motion = match scheme {
        Scheme::Hermite4 => hermite4(Box::new(Doomed { engine, left: 200, fate, before }), None),
        Scheme::Leapfrog => {
            let alone = cpu::accelerations(Precision::F64, epsilon, width);
            Motion::Accelerations {
                integrator: Box::new(Leapfrog::new(CLOCK, Range::F64)),
                engine: Box::new(Doomed { engine: alone, left: 40, fate, before }),
                meter: engine,
            }
        }
    };
    // The leapfrog's step is dt_max here.
    let periods = if matches!(scheme, Scheme::Leapfrog) { 50 } else { 4 };
    let engines = Engines { motion, auditor: None };
    simulated::simulation(dir, (particles, state), engines, (periods, Duration::from_micros(200)))
}

/// A run from its start; the state it ends in.
fn run(dir: &Path, scheme: Scheme, fate: Fate) -> Result<String> {
    let mut simulation = simulation(dir, plummer::sample(128, 1, 0.999), not_begun(), scheme, fate);
    let mut series = simulation.start(&mut Blind)?;
    let reason = simulation.run(&mut series, &mut Blind)?;
    assert_eq!(reason, ExitReason::Finished);
    Ok(simulation.particles.state_sha256(&CLOCK))
}

#[test]
fn the_last_checkpoint_survives_the_engine() {
    let folder = tempfile::tempdir().unwrap();
    // What measures beside a leapfrog is not its engine, so that it cannot be lost at an output.
    for (scheme, fates) in [
        (Scheme::Hermite4, &[Fate::Lost, Fate::LostAtOutput, Fate::NotANumber][..]),
        (Scheme::Leapfrog, &[Fate::Lost, Fate::NotANumber]),
    ] {
        let dir = |fate: Fate| folder.path().join(format!("{scheme:?} {fate:?}"));
        let expected = run(&dir(Fate::Well), scheme, Fate::Well).unwrap();
        fates.iter().for_each(|&fate| survives(&dir(fate), scheme, fate, &expected));
    }
}

/// The run fails, and goes on from its last checkpoint to the state that it should have ended in.
fn survives(dir: &Path, scheme: Scheme, fate: Fate, expected: &str) {
    let error = run(dir, scheme, fate).unwrap_err();
    assert_eq!(error.exit_code(), 4, "{error}");
    let words = if fate == Fate::NotANumber { "not a finite number" } else { "it is gone" };
    assert!(error.to_string().contains(words), "{error}");

    let csv = table::read_csv(&dir.join("diagnostics.csv")).unwrap();
    let hdf5 = table::read_hdf5(&dir.join("diagnostics.hdf5")).unwrap();
    assert_eq!(csv.contents().collect::<Vec<_>>(), hdf5.contents().collect::<Vec<_>>(), "diagnostics are whole");

    let (found, warning) = checkpoint::read_newest(dir).unwrap();
    assert_eq!(warning, None, "the newest checkpoint is whole");
    assert!(found.run.counters.block_steps > 0, "it is from after the start");
    assert!(found.particles.acc.iter().flatten().all(|x| x.is_finite()));
    let mut simulation = simulation(dir, found.particles, found.run, scheme, Fate::Well);
    let mut series = simulation.resume().unwrap();
    simulation.run(&mut series, &mut Blind).unwrap();
    assert_eq!(simulation.particles.state_sha256(&CLOCK), expected, "{scheme:?} {fate:?}");
}
