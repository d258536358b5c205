//! A run by an engine of one's own, without the program around it.

use std::path::Path;
use std::time::Duration;
use tisane::force::ForceEngine;
use tisane::force::precision::Precision;
use tisane::integrator::hermite4::{Hermite4, Limits, Parameters};
use tisane::particles::Particles;
use tisane::propagator::Propagator;
use tisane::time::{Clock, Level, Time};
use tisane::units::{Scale, Units};
use tisane_io::checkpoint::{Counters, OutputCounts, References, RunState};
use tisane_io::fields::{DiagnosticsRow, FieldColumns};
use tisane_io::file_units::FileUnits;
use tisane_io::provenance::Provenance;
use tisane_run::simulation::{Observer, Plan, Simulation};
use tisane_run::system::Engines;

pub const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.125 };

/// Does not look on.
pub struct Blind;

impl Observer for Blind {
    fn step(&mut self, _: &RunState) {}
    fn output(&mut self, _: &DiagnosticsRow, _: bool) {}
}

/// The numbers of a run that has not begun.
pub fn not_begun() -> RunState {
    RunState {
        now: Time::default(),
        clock: CLOCK,
        scale: Scale::IDENTITY,
        counters: Counters::default(),
        written: OutputCounts::default(),
        references: References::default(),
        orbit: None,
        wall_seconds: 0.0,
    }
}

/// The Hermite scheme with an engine, which measures too if there is no separate f64 engine.
pub fn hermite4(engine: Box<dyn ForceEngine>, f64_engine: Option<Box<dyn ForceEngine>>) -> Propagator {
    let parameters = Parameters {
        nu: 0.01,
        nu_start: 0.01,
        iterations: 1,
        limits: Limits { floor: Level::DEEPEST, ..Limits::new(Precision::F64) },
    };
    let integrator = Hermite4::new(parameters, CLOCK);
    match f64_engine {
        Some(f64_engine) => Propagator::new(Box::new(integrator), engine, f64_engine),
        None => Propagator::in_f64(Box::new(integrator), engine),
    }
}

/// A run in the directory `dir` to the end of `periods` of dt_max, with every output at each, and a checkpoint at
/// intervals of wall time.
pub fn simulation(
    dir: &Path,
    (particles, state): (Particles, RunState),
    engines: Engines,
    (periods, checkpoint_interval): (u64, Duration),
) -> Simulation {
    std::fs::create_dir_all(dir.join("snapshots")).unwrap();
    let plan = Plan {
        field: FieldColumns::None,
        conserves_jacobi: false,
        epsilon: 0.0,
        subsystems: false,
        star_events: false,
        evolution: false,
        stops_at_contact: false,
        directory: dir.to_owned(),
        end: Time::from_dt_max(periods),
        diagnostics_every: 1,
        snapshots_every: 1,
        cluster: None,
        checkpoint_interval,
        wall_time: None,
        block_steps: None,
        bound_fraction: None,
        energy_error: None,
        wait_for_space: false,
    };
    let files = FileUnits { units: Units::henon(), scale: Scale::IDENTITY };
    Simulation::new(particles, state, engines, (files, Provenance::current()), plan)
}
