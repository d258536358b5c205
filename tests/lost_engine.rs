//! Promise: an engine that fails or returns what is no number ends the run with exit code 4, and the last checkpoint, from
//! before that, is whole: the run goes on from it to the bits of one that nothing happened to.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tisane::Result;
use tisane::error::Error;
use tisane::force::cpu::{self, Width};
use tisane::force::precision::Precision;
use tisane::force::{ForceEngine, Forces, Targets};
use tisane::initial::plummer;
use tisane::integrator::hermite4::{Hermite4, OnFloor, Parameters};
use tisane::io::checkpoint::{self, Counters, References, RunState, Written};
use tisane::io::fields::DiagnosticsRow;
use tisane::io::file_units::FileUnits;
use tisane::io::provenance::Provenance;
use tisane::io::table;
use tisane::particles::Particles;
use tisane::simulation::{Engines, ExitReason, Plan, Simulation, Watch};
use tisane::time::{Clock, Level, Time};
use tisane::units::{Scale, Units};

const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.125 };

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

struct Blind;

impl Watch for Blind {
    fn step(&mut self, _: &RunState) {}
    fn output(&mut self, _: &DiagnosticsRow) {}
}

fn simulation(dir: &Path, particles: Particles, state: RunState, fate: Fate) -> Simulation {
    let engine = cpu::engine(Precision::F64, 1.0 / 256.0, CLOCK, Width::choose().unwrap());
    let parameters =
        Parameters { nu: 0.01, nu_start: 0.01, iterations: 1, floor: Level::DEEPEST, on_floor: OnFloor::Stop };
    let engines = Engines {
        integrator: Box::new(Hermite4::new(parameters, CLOCK)),
        force: Box::new(Doomed { engine, left: 200, fate, before: Time::default() }),
        meter: None,
    };
    let plan = Plan {
        directory: dir.to_owned(),
        end: Time::from_dt_max(4),
        diagnostics_every: 1,
        snapshots_every: 1,
        checkpoint_interval: Duration::from_micros(200),
        wall_time: None,
        block_steps: None,
    };
    let files = FileUnits { units: Units::henon(), scale: Scale::IDENTITY };
    Simulation::new(particles, state, engines, (files, Provenance::of_this_program()), plan)
}

/// A run from its start; the state it ends in.
fn run(dir: &Path, fate: Fate) -> Result<String> {
    std::fs::create_dir_all(dir.join("snapshots")).unwrap();
    let state = RunState {
        now: Time::default(),
        clock: CLOCK,
        scale: Scale::IDENTITY,
        counters: Counters::default(),
        written: Written::default(),
        references: References::default(),
        wall_seconds: 0.0,
    };
    let mut simulation = simulation(dir, plummer::sample(128, 1, 0.999), state, fate);
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
