//! Promise: an engine that fails or returns what is no number ends the run with exit code 4, and the last checkpoint, from
//! before that, is whole: the run goes on from it to the bits of one that nothing happened to.

#[path = "common/simulated.rs"]
mod simulated;

use simulated::{Blind, CLOCK, not_begun};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tisane::Result;
use tisane::error::Error;
use tisane::force::cpu::{self, Width};
use tisane::force::precision::Precision;
use tisane::force::{ForceEngine, Forces, Targets};
use tisane::initial::plummer;
use tisane::io::checkpoint::{self, RunState};
use tisane::io::table;
use tisane::particles::Particles;
use tisane::simulation::{ExitReason, Simulation};
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
struct Doomed {
    engine: Box<dyn ForceEngine>,
    left: u32,
    fate: Fate,
    before: Time,
}

impl ForceEngine for Doomed {
    fn load(&mut self, all: &Particles) -> Result<()> {
        self.engine.load(all)
    }
    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        self.engine.update(all, changed)
    }
    fn evaluate(&mut self, now: Time, targets: &Targets, out: &mut Forces) -> Result<()> {
        self.engine.evaluate(now, targets, out)?;
        self.left = self.left.saturating_sub(1);
        // Steps evaluate a moment once; what comes after a step is an output.
        let output = now == self.before && now > Time::default();
        self.before = now;
        let lost = || Err(Error::Integration { problem: "the GPU failed (computing): it is gone".into(), help: None });
        match self.fate {
            Fate::Lost if self.left == 0 => lost(),
            Fate::LostAtOutput if self.left == 0 && output => lost(),
            Fate::NotANumber if self.left == 0 => {
                out.acc[0][1] = f64::NAN;
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

fn simulation(dir: &Path, particles: Particles, state: RunState, fate: Fate) -> Simulation {
    let engine = cpu::engine(Precision::F64, 1.0 / 256.0, CLOCK, Width::choose().unwrap());
    let force = Box::new(Doomed { engine, left: 200, fate, before: Time::default() });
    simulated::simulation(dir, (particles, state), engines, (4, Duration::from_micros(200)))
}

/// A run from its start; the state it ends in.
fn run(dir: &Path, fate: Fate) -> Result<String> {
    let mut simulation = simulation(dir, plummer::sample(128, 1, 0.999), not_begun(), fate);
    let mut series = simulation.start(&mut Blind)?;
    let reason = simulation.run(&mut series, &AtomicBool::new(false), &mut Blind)?;
    assert_eq!(reason, ExitReason::Finished);
    Ok(simulation.particles.state_sha256(&CLOCK))
}

#[test]
fn the_last_checkpoint_survives_the_engine() {
    let folder = tempfile::tempdir().unwrap();
    let expected = run(&folder.path().join("well"), Fate::Well).unwrap();
    for fate in [Fate::Lost, Fate::LostAtOutput, Fate::NotANumber] {
        let dir = folder.path().join(format!("{fate:?}"));
        let error = run(&dir, fate).unwrap_err();
        assert_eq!(error.exit_code(), 4, "{error}");
        let words = if fate == Fate::NotANumber { "not a finite number" } else { "it is gone" };
        assert!(error.to_string().contains(words), "{error}");

        let rows = |table: table::Table| table.columns;
        let (csv, hdf5) = (dir.join("diagnostics.csv"), dir.join("diagnostics.hdf5"));
        assert_eq!(
            rows(table::read_csv(&csv).unwrap()),
            rows(table::read_hdf5(&hdf5).unwrap()),
            "diagnostics are whole"
        );

        let (found, warning) = checkpoint::read_newest(&dir).unwrap();
        assert_eq!(warning, None, "the newest checkpoint is whole");
        assert!(found.run.counters.block_steps > 0, "it is from after the start");
        assert!(found.particles.acc.iter().flatten().all(|x| x.is_finite()));
        let mut simulation = simulation(&dir, found.particles, found.run, Fate::Well);
        let mut series = simulation.resume().unwrap();
        simulation.run(&mut series, &AtomicBool::new(false), &mut Blind).unwrap();
        assert_eq!(simulation.particles.state_sha256(&CLOCK), expected, "{fate:?}");
    }
}
