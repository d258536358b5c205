//! Assembly of a simulation from its configuration: the only module that knows every model, engine and integrator.

mod changes;
mod cluster_plan;
mod clusters;
mod engine;
mod gpu;
mod initial;
mod law;
mod lifetimes;
mod memory;
mod part;
mod particle_file;
mod potentials;
mod rebase;
mod reproduce;
mod resumed;
mod sampled;
mod stars;
mod stepped_elsewhere;
pub(crate) mod steps;

pub(crate) use changes::{differing_section, first_difference};
pub use cluster_plan::cluster_settings;
pub(crate) use engine::several_devices;
#[cfg(feature = "mpi")]
pub(crate) use engine::{Build, device_of_rank, engine_of_rank};
pub use engine::{
    Session, describe_engine, force_engine, force_engine_with_bags, forecast, forecast_engine, forecast_several,
    scheme_on_device,
};
pub use gpu::{Gpu, OnGpu, check_gpu, cuda, cuda_accelerations, gpus, system_stepper};
pub(crate) use gpu::{OpenAhead, open_ahead};
pub use memory::MEMORY_PER_PARTICLE;
pub(crate) use potentials::potentials;
pub use potentials::{MOST_SUMMED, SAMPLE, potential_energy, sample};
pub use reproduce::{Reproduction, reproduction};
pub use resumed::{Resumed, resumed_run};
pub use stepped_elsewhere::engines_stepped_elsewhere;
pub use steps::close_pairs;

use crate::binaries::{Binaries, Terms};
use crate::config::{self, Config, Loaded, Problem};
use crate::ensemble;
use crate::in_memory::external;
use crate::simulation::{Plan, SessionInfo, Simulation};
use crate::system::Engines;
use engine::Task;
use std::sync::Arc;
use tisane::diagnostics::cluster::Stars;
use tisane::diagnostics::conserved::Conserved;
use tisane::diagnostics::structure::median_radius;
use tisane::error::{Error, Result, RunContext};
use tisane::force::EngineKind;
use tisane::force::cpu::Width;
use tisane::force::external::ExternalField;
use tisane::force::precision::Precision;
use tisane::force::range::OutOfRange;
use tisane::force::range::Range;
use tisane::initial::{Cluster, InitialState, coincident_pair, scaling};
use tisane::integrator::AnyIntegrator;
use tisane::law::Law;
use tisane::particles::Particles;
use tisane::propagator::Propagator;
use tisane::time::{Clock, Time};
use tisane::units::Scale;
use tisane_io::checkpoint::{Counters, OutputCounts, References, RunState};
use tisane_io::file_units::FileUnits;
use tisane_io::provenance::Provenance;

/// Particles, clock and units of a configuration, ready to be inspected or run.
#[derive(Clone)]
pub struct Setup {
    /// The configuration, with the start time known.
    pub config: Config,
    /// Provenance of the files, as far as it is known: the configuration and the initial conditions.
    pub provenance: Provenance,
    /// The particles at the start, in internal units.
    pub particles: Particles,
    /// The time axis, in internal units.
    pub clock: Clock,
    /// User units in one internal unit.
    pub scale: Scale,
    /// Length of the run in `dt_max`.
    pub steps_to_end: u64,
    /// Origin of the particles, for logs.
    pub source: String,
    /// Further properties of the particles for a summary: name and text.
    pub about: Vec<(String, String)>,
    /// The first of the two stars of each primordial binary, as an index; the second follows it.
    pub binaries: Vec<usize>,
    /// Clusters of a list, with the distributions that each is drawn from in the units of the configuration; the system, if it
    /// is one.
    pub clusters: Vec<Cluster>,
    /// Settings that the configuration leaves to the particles, as they were found, with the reasons.
    pub derived: Vec<String>,
    /// Warnings about settings that are valid but may be mistakes.
    pub warnings: Vec<String>,
    /// Law of the force in place of Newton's.
    pub law: Option<Arc<Law>>,
    /// Flag that potentials of many particles may be estimated: see [`Loaded::for_forecast`].
    pub(crate) estimates: bool,
}

impl Setup {
    /// Returns the softening length in internal units.
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        self.config.softening.epsilon.get() / self.scale.length
    }

    /// Returns the configuration that files of the run have: with the defaults that follow from the precision mode and the
    /// number of particles, too. A run of it has the same bits.
    #[must_use]
    pub fn config_of_files(&self) -> Config {
        let mut config = self.config.clone();
        config.integrator.scheme_mut().resolve_late(config.force.precision(), self.particles.len());
        config
    }

    /// Returns what errors of its integration need to know of it.
    #[must_use]
    pub fn run_context(&self) -> RunContext {
        RunContext {
            units: self.config.units(),
            scale: self.scale,
            epsilon: self.epsilon(),
            t_end: Some(self.clock.time(Time::from_dt_max(self.steps_to_end))),
            seconds_per_block_step: None,
            directory: None,
        }
    }

    /// Finds the binaries and other close pairs of the particles; none by another law than Newton's.
    ///
    /// # Errors
    /// As the CPU engine.
    pub fn binaries(&self) -> Result<Binaries> {
        let pot = law::potentials(self, &self.particles)?;
        let found = close_pairs(&self.particles, &pot, self.terms());
        Ok(if self.law.is_some() { found.without_pairs(&Stars::new(&self.particles, &pot)) } else { found })
    }

    /// Returns true if the energies of the particles are estimates.
    #[must_use]
    pub fn has_estimates(&self) -> bool {
        self.estimates && self.particles.len() > MOST_SUMMED
    }

    /// Returns the settings that close pairs are compared with.
    fn terms(&self) -> Terms {
        Terms::new(&self.config, &self.scale, self.clock.start * self.scale.time)
    }

    /// Returns the state of a system that has not started.
    pub(crate) fn state(&self) -> RunState {
        RunState {
            now: Time::default(),
            clock: self.clock,
            scale: self.scale,
            counters: Counters::default(),
            written: OutputCounts::default(),
            references: References::default(),
            wall_seconds: 0.0,
        }
    }

    /// External field that acts on the particles, in internal units, if there is one.
    #[must_use]
    pub fn external_field(&self) -> Option<Arc<dyn ExternalField>> {
        self.config.external.build(&self.scale)
    }
}

/// Reads or samples the particles of a configuration and converts everything to internal units. A cluster without softening
/// has subsystems where the configuration leaves that open.
///
/// # Errors
/// [`Error::Config`] and [`Error::Input`]; nothing is written.
pub fn prepare(mut loaded: Loaded) -> Result<Setup> {
    ensemble::refuse(&loaded)?;
    memory::check(&loaded)?;
    let (state, warnings) = initial_state(&loaded)?;
    let adds = loaded.settle_subsystems(&state.particles.mass)?;
    let mut setup = set_up(loaded, state, warnings, true)?;
    if let Some(settings) = setup.config.subsystems().filter(|_| adds) {
        let with = settings.perturbation.get();
        setup
            .derived
            .push(format!("encounters.perturbation = {with:e}, as nothing softens the forces in this cluster"));
    }
    let of_stars = lifetimes::warning(&setup);
    setup.warnings.extend(of_stars);
    Ok(setup)
}

/// Reads or samples the particles of a configuration, in its units. Returns them with warnings.
///
/// # Errors
/// [`Error::Config`] and [`Error::Input`].
pub(crate) fn initial_state(loaded: &Loaded) -> Result<(InitialState, Vec<String>)> {
    let mut warnings = Vec::new();
    let state = initial::state(loaded, &mut warnings)?;
    if state.particles.total_mass() == 0.0 && loaded.config.external.is_empty() {
        let problem = format!("the total mass is 0, of {}: expected a positive number", state.source);
        let help = "particles without mass need an external field, [external.point-mass] or another";
        return Err(loaded.explain(Problem::new("initial", problem).with_help(help)));
    }
    Ok((state, warnings))
}

/// Converts particles in the units of a configuration, and everything else, to internal units. Without `ends`, the end of
/// a configuration whose steps follow from the particles is not its own: it becomes that of one step.
///
/// # Errors
/// [`Error::Config`] and [`Error::Input`].
pub(crate) fn set_up(mut loaded: Loaded, state: InitialState, mut warnings: Vec<String>, ends: bool) -> Result<Setup> {
    let units = loaded.config.units();
    let mut particles = state.particles;
    let start = loaded.config.t_start().unwrap_or(state.time);
    let has_steps = loaded.config.has_steps();
    if ends || has_steps {
        loaded.config.check_end(start).map_err(|problem| loaded.explain(problem))?;
    }
    check_coincidence(&loaded, &particles, 1.0)?;
    let centre = Conserved::from_particles(&particles, &particles.pot).centre_of_mass;
    let scale = Scale::choose(&units, particles.total_mass(), median_radius(&particles, centre));
    scaling::rescale(&mut particles, 1.0 / scale.mass, 1.0 / scale.length, 1.0 / scale.velocity);
    check_range(&loaded, &particles, &scale)?;
    if loaded.config.subsystems().is_none() {
        // Only subsystems use relative states.
        particles.close.clear();
    }
    loaded.config.set_radii(&mut particles, &scale).map_err(|problem| loaded.explain(problem))?;
    let mut derived = Vec::new();
    if !has_steps {
        derived = steps::derive(&mut loaded, &particles, (&scale, start), ends)?;
        if !ends && let Some(end) = config::Real::new(start + loaded.config.dt_max()) {
            loaded.config.run.t_end = end;
        }
    }
    let steps_to_end = loaded.config.steps_to_end(start).map_err(|problem| loaded.explain(problem))?;
    let law = law::of_particles(&loaded, &mut particles, &scale, (&mut warnings, &mut derived))?;

    let is_sampled = loaded.config.initial.model.sampled().is_some();
    let one = || Cluster { particles: 0..particles.len(), source: state.source.clone(), laws: state.laws, is_sampled };
    let clusters = if state.clusters.is_empty() { vec![one()] } else { state.clusters };
    let inputs = reproduce::inputs_of(&loaded.config)?;
    let provenance = Provenance::current().with_overrides(loaded.overrides());
    let estimates = loaded.estimates;
    let (mut config, config_as_written) = (loaded.config, loaded.written);
    config.set_t_start(start);
    let clock = Clock { start: start / scale.time, dt_max: config.dt_max() / scale.time };
    let initial_sha256 = particles.state_sha256(&clock);
    Ok(Setup {
        config,
        provenance: Provenance { config_as_written, inputs, initial_sha256, ..provenance },
        particles,
        clock,
        scale,
        steps_to_end,
        source: state.source,
        about: state.about,
        binaries: state.binaries,
        clusters,
        derived,
        warnings,
        law,
        estimates,
    })
}

/// Checks particles in internal units that a program has changed.
///
/// # Errors
/// [`Error::Config`] for particles at one place without softening, and numbers that the precision mode cannot represent.
pub(crate) fn check_changed(loaded: &Loaded, p: &Particles, scale: &Scale) -> Result<()> {
    law::check_columns(loaded, p)?;
    check_coincidence(loaded, p, scale.length)?;
    check_range(loaded, p, scale)
}

/// Refuses particles at the same position without softening: their force is infinite. `length` is the unit of the
/// positions in the user's.
fn check_coincidence(loaded: &Loaded, p: &Particles, length: f64) -> Result<()> {
    if loaded.config.softening.epsilon.get() > 0.0 {
        return Ok(());
    }
    let Some((i, j)) = coincident_pair(p) else { return Ok(()) };
    let (distance, place) = ((p.pos[j] - p.pos[i]).norm(), <[f64; 3]>::from(p.pos[i] * length));
    let (a, b, apart) = (p.id[i], p.id[j], (p.pos[j] - p.pos[i]).amax() * length);
    let problem = if distance == 0.0 && apart == 0.0 {
        format!("particles {a} and {b} start at the same place {place:?}: the force without softening is infinite")
    } else {
        format!(
            "particles {a} and {b} start at the same place {place:?}, but for {apart:e}: the square of their distance is too \
             small for double precision, and the force without softening infinite"
        )
    };
    let help = "take one of the two out of the input, or set softening.epsilon > 0, which softens all pairs";
    Err(loaded.explain(Problem::new("softening.epsilon", problem).with_help(help)))
}

/// Checks that the precision mode can represent the particles, in internal units.
fn check_range(loaded: &Loaded, p: &Particles, scale: &Scale) -> Result<()> {
    let range = Range::for_precision(loaded.config.force.precision());
    let epsilon = loaded.config.softening.epsilon.get() / scale.length;
    range.check_start(p, epsilon).map_err(|what| {
        let key = if matches!(what, OutOfRange::Softening(..)) { "softening.epsilon" } else { "force.precision" };
        loaded.explain(Problem::new(key, what.describe(p, &range, scale)).with_help(range.advice()))
    })
}

/// Returns the instructions for an engine on the CPU.
fn width(precision: Precision) -> Result<Width> {
    Width::choose_for(precision).map_err(|problem| Error::input(Width::VARIABLE, problem))
}

/// Chooses the engines of a session. `of_run` is the kind of engine that computed the run so far.
fn choose_engines(
    config: &Config,
    session: Session,
    of_run: Option<EngineKind>,
    task: Task<'_>,
) -> Result<(Engines, SessionInfo)> {
    match config.integrator_of_run(task.precision, task.clock, task.scale) {
        AnyIntegrator::Forces(integrator) => engine::choose(integrator, config, session, of_run, task),
        AnyIntegrator::Accelerations(integrator) => engine::choose(integrator, config, session, of_run, task),
    }
}

fn plan(config: &Config, steps_to_end: u64, scale: &Scale) -> Plan {
    Plan {
        directory: config.output_directory(),
        end: Time::from_dt_max(steps_to_end),
        diagnostics_every: config.diagnostics_every(),
        snapshots_every: config.snapshot_every(),
        cluster: cluster_plan::cluster_plan(config, scale),
        checkpoint_interval: config.checkpoint.interval.get(),
        wall_time: config.limits.wall_time.map(config::WallTime::get),
        block_steps: config.limits.block_steps,
        energy_error: config.limits.energy_error.map(config::Real::get),
        wait_for_space: config.output.on_full == config::OnFull::Wait,
        external_field: !config.external.is_empty(),
        epsilon: config.softening.epsilon.get() / scale.length,
        subsystems: config.subsystems().is_some(),
        star_events: config.has_star_events(),
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
/// [`Error::Config`] or [`Error::Input`] if the engine is not there, or has too little memory.
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
/// [`Error::Config`] or [`Error::Input`] if the engine is not there, or has too little memory.
pub fn engines(set: &Setup, session: Session) -> Result<(Engines, SessionInfo)> {
    let (precision, n) = (set.config.force.precision(), set.particles.len());
    let field = set.external_field();
    let (clock, scale) = (set.clock, &set.scale);
    let (team, field) = (session.team, field.as_ref());
    let task = Task { precision, epsilon: set.epsilon(), clock, scale, n, field, law: set.law.as_ref(), team };
    choose_engines(&set.config, session, None, task)
}

/// Engines of a system, information about them, and the external field, if there is one.
pub(crate) type EnginesAt = (Engines, SessionInfo, Option<Arc<dyn ExternalField>>);

/// Builds the engines of a configuration for a number of particles, a time axis and a scale that are not those of its
/// start. `of_run` is the kind of engine that computed them so far, `own` a field of the program in the units of the
/// configuration.
///
/// # Errors
/// [`Error::Config`] or [`Error::Input`] if the engine is not there, or has too little memory.
pub(crate) fn engines_at(
    config: &Config,
    of_run: Option<EngineKind>,
    (n, clock, scale): (usize, Clock, &Scale),
    own: Option<&Arc<dyn ExternalField>>,
) -> Result<EnginesAt> {
    let (precision, epsilon) = (config.force.precision(), config.softening.epsilon.get() / scale.length);
    let field = external::total(config.external.build(scale), own, scale);
    let law = config.law(scale)?;
    let task = Task { precision, epsilon, clock, scale, n, field: field.as_ref(), law: law.as_ref(), team: None };
    let (engines, info) = choose_engines(config, Session::default(), of_run, task)?;
    Ok((engines, info, field))
}
