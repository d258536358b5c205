//! Engines, plan and provenance of a run, and the simulation made of them.

use super::cluster_plan;
use super::engine::{self, Task};
use super::session::Session;
use super::setup::Setup;
use super::tide;
use crate::config::{Config, OnFull, WallTime, orbit};
use crate::own_field;
use crate::simulation::{Plan, SessionInfo, Simulation};
use crate::system::Engines;
use std::sync::Arc;
use tisane::error::{Error, Result};
use tisane::force::EngineKind;
use tisane::force::external::ExternalField;
use tisane::force::external::guide::{MovingOrigin, OrbitState};
use tisane::integrator::AnyIntegrator;
use tisane::propagator::Propagator;
use tisane::time::{Clock, Time};
use tisane::units::{Real, Scale};
use tisane_io::file_units::FileUnits;
use tisane_io::provenance::Provenance;

/// Chooses the engines of a session. `of_run` is the kind of engine that computed the run so far.
pub(super) fn choose_engines(
    config: &Config,
    session: Session,
    of_run: Option<EngineKind>,
    task: Task<'_>,
) -> Result<(Engines, SessionInfo)> {
    // As in the files of the run: what follows from the number of stars stays where they become bodies, merge or leave.
    let mut settled = config.clone();
    settled.integrator.scheme_mut().resolve_late(task.precision, task.n);
    let tide = tide::of_task(config, &task).map(|source| (source, task.origin.cloned()));
    match settled.integrator_of_run((task.precision, task.clock), task.scale, tide) {
        AnyIntegrator::Forces(integrator) => engine::choose(integrator, config, session, of_run, task),
        AnyIntegrator::Accelerations(mut integrator) => {
            integrator.set_softening(task.epsilon);
            engine::choose(integrator, config, session, of_run, task)
        }
    }
}

pub(super) fn plan(config: &Config, steps_to_end: u64, scale: &Scale) -> Plan {
    Plan {
        directory: config.output_directory(),
        end: Time::from_dt_max(steps_to_end),
        diagnostics_every: config.diagnostics_every(),
        snapshots_every: config.snapshot_every(),
        cluster: cluster_plan::cluster_plan(config, scale),
        checkpoint_interval: config.checkpoint.interval.get(),
        wall_time: config.limits.wall_time.map(WallTime::get),
        block_steps: config.limits.block_steps,
        energy_error: config.energy_limit(),
        bound_fraction: config.limits.bound_fraction.map(Real::get),
        wait_for_space: config.output.on_full == OnFull::Wait,
        field: config.field_columns(),
        conserves_jacobi: tide::tide_source(config, scale).ok().flatten().is_some_and(|tide| tide.conserves),
        epsilon: config.softening.epsilon.get() / scale.length,
        subsystems: config.subsystems().is_some(),
        star_events: config.has_star_events(),
        evolution: config.stellar_evolution.is_some(),
        stops_at_contact: config.stops_at_contact(),
    }
}

/// Returns the provenance of the files of a session: `of_run` with its configuration, precision and engine.
pub(crate) fn provenance(
    config: &Config,
    of_run: Provenance,
    (kind, info): (EngineKind, &SessionInfo),
) -> Result<Provenance> {
    Ok(Provenance {
        engine: kind.name().into(),
        gpu: info.gpu.clone(),
        precision: config.force.precision().name().into(),
        seed: config.initial.sampled().map(|(_, _, seed)| seed),
        config_resolved: config.resolved_toml()?,
        ..of_run
    })
}

/// Builds the propagator of a configuration, for a run that is not written to files.
///
/// # Errors
/// As [`new_run`].
pub fn propagator(set: &Setup, session: Session) -> Result<Propagator> {
    engines(set, session).map(|(engines, _)| engines.propagator)
}

/// Returns a simulation that is ready to start.
///
/// # Errors
/// [`Error::Config`](tisane::Error::Config) or [`Error::Input`](tisane::Error::Input) if the engine is not there, or has too little memory.
pub fn new_run(set: Setup, session: Session) -> Result<Simulation> {
    let (engines, mut info) = engines(&set, session)?;
    info.warnings.splice(0..0, set.warnings.iter().cloned());
    info.terms = set.law.is_none().then(|| set.terms());
    let state = set.state();
    let units = FileUnits { units: set.config.units(), scale: set.scale };
    let plan = plan(&set.config, set.steps_to_end, &set.scale);
    let provenance = provenance(&set.config_of_files(), set.provenance, (engines.kind, &info))?;
    let mut simulation = Simulation::new(set.particles, state, engines, (units, provenance), plan);
    simulation.info = info;
    Ok(simulation)
}

/// Builds the engines of a configuration and the information about them: for a run, or for studies without its files.
///
/// # Errors
/// [`Error::Config`](tisane::Error::Config) or [`Error::Input`](tisane::Error::Input) if the engine is not there, or has too little memory.
pub fn engines(set: &Setup, session: Session) -> Result<(Engines, SessionInfo)> {
    let (precision, n) = (set.config.force.precision(), set.particles.len());
    let field = set.external_field()?;
    let (clock, scale) = (set.clock, &set.scale);
    let (team, field, origin) = (session.team, field.as_ref(), set.moving_origin());
    let (origin, law) = (origin.as_ref(), set.law.as_ref());
    let task = Task { precision, epsilon: set.epsilon(), clock, scale, n, field, origin, law, team };
    choose_engines(&set.config, session, None, task)
}

/// Engines of a system, information about them, and the external field, if there is one.
pub(crate) type EnginesAt = (Engines, SessionInfo, Option<Arc<dyn ExternalField>>);

/// Builds the engines of a configuration for a number of particles, a time axis and a scale that are not those of its
/// start. `of_run` is the kind of engine that computed them so far, `own` a field of the program in the units of the
/// configuration, `orbit` the step of the time axis from which a moving origin goes on, with its state there; that of the
/// configuration where it begins.
///
/// # Errors
/// [`Error::Config`](tisane::Error::Config) or [`Error::Input`](tisane::Error::Input) if the engine is not there, or has too little memory.
pub(crate) fn engines_at(
    config: &Config,
    of_run: Option<EngineKind>,
    n: usize,
    clock: Clock,
    scale: &Scale,
    own: Option<&Arc<dyn ExternalField>>,
    orbit: Option<(u64, OrbitState)>,
) -> Result<EnginesAt> {
    let (precision, epsilon) = (config.force.precision(), config.softening.epsilon.get() / scale.length);
    let field = own_field::total(config.external_field(scale)?, own, scale);
    let law = config.law(scale)?;
    let origin = match (&config.orbit, &field) {
        (None, _) => None,
        (Some(_), None) => return Err(orbit::without_a_field().into()),
        (Some(settings), Some(field)) => {
            let begin = || Ok::<_, Error>((0, settings.state(&**field, &clock, (&config.units(), scale))?));
            Some(MovingOrigin::new(field.clone(), clock, orbit.map_or_else(begin, Ok)?))
        }
    };
    let (acting, origin, law) = (field.as_ref(), origin.as_ref(), law.as_ref());
    let task = Task { precision, epsilon, clock, scale, n, field: acting, origin, law, team: None };
    let (engines, info) = choose_engines(config, Session::default(), of_run, task)?;
    Ok((engines, info, field))
}
