//! Numbers of a run in a checkpoint: work, outputs, reference values; and their names in the file.

use crate::checksum::Digest;
use crate::fields::Journal;
use tisane::diagnostics::reference::{Basis, Reference};
use tisane::diagnostics::tidal_work::TidalWork;
use tisane::force::external::guide::{OrbitState, Work};
use tisane::particles::Vec3;
use tisane::subsystems::Removed;
use tisane::time::{Clock, Time};
use tisane::units::Scale;

/// Numbers of a run, in internal units (G = 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunState {
    /// Time of the last block step.
    pub now: Time,
    /// Time axis.
    pub clock: Clock,
    /// Size of the internal units in the user's units.
    pub scale: Scale,
    /// Work done since the start of the run.
    pub counters: Counters,
    /// Output written since the start of the run.
    pub written: OutputCounts,
    /// Reference values of the error measures.
    pub references: References,
    /// Orbit of the origin of coordinates; [`None`] where it is at rest.
    pub orbit: Option<OrbitNumbers>,
    /// Wall time spent so far, in s.
    pub wall_seconds: f64,
}

/// Orbit of the origin of coordinates in external fields.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OrbitNumbers {
    /// Place and velocity at the last multiple of dt_max, from which the orbit goes on.
    pub origin: OrbitState,
    /// Work that the moving origin has done.
    pub tidal: TidalWork,
}

impl RunState {
    /// Returns the time of the last block step, in the user's unit.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.clock.time(self.now) * self.scale.time
    }
}

/// Work done since the start of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Number of block steps.
    pub block_steps: u64,
    /// Number of particle steps.
    pub particle_steps: u64,
    /// Number of pair interactions evaluated.
    pub pair_interactions: u64,
    /// Number of particle steps clamped at dt_min.
    pub clamped_steps: u64,
    /// Number of contacts and mergers of stars.
    pub contacts: u64,
    /// Number of stars that escaped; one that came back and escaped again counts twice.
    pub escapes: u64,
}

/// Output written since the start of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutputCounts {
    /// Number of snapshots.
    pub snapshots: u64,
    /// Number of rows of the diagnostics.
    pub diagnostics_rows: u64,
    /// Number of rows of the cluster journal.
    pub cluster_rows: u64,
    /// Number of rows of the binaries journal.
    pub binaries_rows: u64,
    /// Number of events.
    pub events: u64,
    /// Number of rows of the encounters journal.
    pub encounters_rows: u64,
    /// Number of rows of the stars journal.
    pub stars_rows: u64,
    /// Number of rows of the stellar journal.
    pub stellar_rows: u64,
    /// SHA-256 of `diagnostics.csv` up to these rows; [`None`] in a checkpoint of a version that did not record it.
    pub diagnostics_sha256: Option<Digest>,
    /// SHA-256 of `cluster.csv`, likewise.
    pub cluster_sha256: Option<Digest>,
    /// SHA-256 of `binaries.csv`, likewise.
    pub binaries_sha256: Option<Digest>,
    /// SHA-256 of `events.csv`, likewise.
    pub events_sha256: Option<Digest>,
    /// SHA-256 of `encounters.csv`, likewise; [`None`] in runs without it.
    pub encounters_sha256: Option<Digest>,
    /// SHA-256 of `stars.csv`, likewise.
    pub stars_sha256: Option<Digest>,
    /// SHA-256 of `stellar.csv`, likewise.
    pub stellar_sha256: Option<Digest>,
}

impl OutputCounts {
    /// Returns the number of rows of a journal, and its hash.
    pub fn journal_mut(&mut self, journal: Journal) -> (&mut u64, &mut Option<Digest>) {
        match journal {
            Journal::Diagnostics => (&mut self.diagnostics_rows, &mut self.diagnostics_sha256),
            Journal::Cluster => (&mut self.cluster_rows, &mut self.cluster_sha256),
            Journal::Binaries => (&mut self.binaries_rows, &mut self.binaries_sha256),
            Journal::Events => (&mut self.events, &mut self.events_sha256),
            Journal::Encounters => (&mut self.encounters_rows, &mut self.encounters_sha256),
            Journal::Stars => (&mut self.stars_rows, &mut self.stars_sha256),
            Journal::Stellar => (&mut self.stellar_rows, &mut self.stellar_sha256),
        }
    }
}

/// Reference values of the error measures, and the state at the last row of the diagnostics.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct References {
    /// Total energy at the start.
    pub energy: f64,
    /// Frame, values and scales by which errors of energy and angular momentum are measured.
    pub start: Reference,
    /// Binding energy of subsystems at the start; [`None`] in runs without them.
    pub binding_energy: Option<f64>,
    /// Jacobi energy at the start; [`None`] in runs where it is not conserved.
    pub jacobi_energy: Option<f64>,
    /// Energy at the last row of the diagnostics; NaN if no energy is measured.
    pub previous_energy: f64,
    /// Energy that mergers and escapes had taken out until then.
    pub previous_removed_energy: f64,
    /// What mergers and escapes have taken out.
    pub removed: Removed,
    /// Relative energy error at the last row of the diagnostics; NaN if no energy is measured.
    pub relative_energy_error: f64,
    /// Largest |relative energy error| of any row so far.
    pub max_relative_energy_error: f64,
    /// Relative error of the angular momentum at the last row of the diagnostics.
    pub angular_momentum_error: f64,
    /// Angular momentum at the start.
    pub angular_momentum: Vec3,
    /// Momentum at the start.
    pub momentum: Vec3,
    /// Centre of mass at the start.
    pub centre_of_mass: Vec3,
    /// Counters at the last row of the diagnostics.
    pub previous_counters: Counters,
    /// Wall time at the last row of the diagnostics, in s.
    pub previous_wall_seconds: f64,
}

/// Returns the numbers of a run before they are read.
pub(super) fn unread() -> RunState {
    RunState {
        now: Time(0),
        clock: Clock { start: 0.0, dt_max: 0.0 },
        scale: Scale::IDENTITY,
        counters: Counters::default(),
        written: OutputCounts::default(),
        references: References::default(),
        orbit: None,
        wall_seconds: 0.0,
    }
}

/// Visitor of the numbers of a run, so that one list of names serves writing and reading.
pub(super) trait StateVisitor<E> {
    fn count(&mut self, name: &str, value: &mut u64) -> std::result::Result<(), E>;
    /// Visits a count that checkpoints of format version 1 do not have.
    fn count_since_2(&mut self, name: &str, value: &mut u64) -> std::result::Result<(), E>;
    /// Visits a count that checkpoints have only where it is not 0.
    fn count_if_any(&mut self, name: &str, value: &mut u64) -> std::result::Result<(), E>;
    /// Visits an optional hash.
    fn digest(&mut self, name: &str, value: &mut Option<Digest>) -> std::result::Result<(), E>;
    fn float(&mut self, name: &str, value: &mut f64) -> std::result::Result<(), E>;
    /// Visits a number that is NaN where it was not measured.
    fn float_or_nan(&mut self, name: &str, value: &mut f64) -> std::result::Result<(), E>;
    /// Visits a number that only checkpoints of some runs have.
    fn float_if_any(&mut self, name: &str, value: &mut Option<f64>) -> std::result::Result<(), E>;
    fn vector(&mut self, name: &str, value: &mut Vec3) -> std::result::Result<(), E>;
}

/// Visits every number of a run, under its name in the file.
pub(super) fn visit<E>(run: &mut RunState, v: &mut impl StateVisitor<E>) -> std::result::Result<(), E> {
    v.count("now_ticks", &mut run.now.0)?;
    v.float("clock_start", &mut run.clock.start)?;
    v.float("clock_dt_max", &mut run.clock.dt_max)?;
    v.float("scale_mass", &mut run.scale.mass)?;
    v.float("scale_length", &mut run.scale.length)?;
    v.float("scale_velocity", &mut run.scale.velocity)?;
    v.float("scale_time", &mut run.scale.time)?;
    visit_counters("", &mut run.counters, v)?;
    v.count("snapshots_written", &mut run.written.snapshots)?;
    v.count("diagnostics_rows_written", &mut run.written.diagnostics_rows)?;
    v.count_since_2("cluster_rows_written", &mut run.written.cluster_rows)?;
    v.count_since_2("binaries_rows_written", &mut run.written.binaries_rows)?;
    v.count_since_2("events_written", &mut run.written.events)?;
    v.count_if_any("encounters_rows_written", &mut run.written.encounters_rows)?;
    v.count_if_any("stars_rows_written", &mut run.written.stars_rows)?;
    v.count_if_any("stellar_rows_written", &mut run.written.stellar_rows)?;
    v.digest("diagnostics_csv_sha256", &mut run.written.diagnostics_sha256)?;
    v.digest("cluster_csv_sha256", &mut run.written.cluster_sha256)?;
    v.digest("binaries_csv_sha256", &mut run.written.binaries_sha256)?;
    v.digest("events_csv_sha256", &mut run.written.events_sha256)?;
    v.digest("encounters_csv_sha256", &mut run.written.encounters_sha256)?;
    v.digest("stars_csv_sha256", &mut run.written.stars_sha256)?;
    v.digest("stellar_csv_sha256", &mut run.written.stellar_sha256)?;
    let first = &mut run.references;
    v.float("initial_energy", &mut first.energy)?;
    v.float_if_any("initial_binding_energy", &mut first.binding_energy)?;
    v.float_if_any("initial_jacobi_energy", &mut first.jacobi_energy)?;
    v.float_or_nan("previous_energy", &mut first.previous_energy)?;
    visit_removed(first, v)?;
    v.float("max_relative_energy_error", &mut first.max_relative_energy_error)?;
    v.float("angular_momentum_error", &mut first.angular_momentum_error)?;
    v.vector("initial_angular_momentum", &mut first.angular_momentum)?;
    v.vector("initial_momentum", &mut first.momentum)?;
    v.vector("initial_centre_of_mass", &mut first.centre_of_mass)?;
    visit_start(first, v)?;
    visit_counters("previous_", &mut first.previous_counters, v)?;
    v.float("previous_wall_seconds", &mut first.previous_wall_seconds)?;
    visit_orbit(&mut run.orbit, v)?;
    v.float("wall_seconds", &mut run.wall_seconds)
}

/// Visits the orbit of the origin of coordinates, which only checkpoints of some runs have.
fn visit_orbit<E>(orbit: &mut Option<OrbitNumbers>, v: &mut impl StateVisitor<E>) -> std::result::Result<(), E> {
    let mut work = orbit.map(|orbit| orbit.tidal.work.masses);
    v.float_if_any("orbit_work", &mut work)?;
    let Some(work) = work else { return Ok(()) };
    let orbit = orbit.get_or_insert_default();
    orbit.tidal.work.masses = work;
    v.vector("orbit_position", &mut orbit.origin.pos)?;
    v.vector("orbit_velocity", &mut orbit.origin.vel)?;
    v.count("orbit_work_ticks", &mut orbit.tidal.until.0)?;
    v.float("orbit_work_massless", &mut orbit.tidal.work.massless)?;
    let [Work { masses, massless }, Work { masses: masses_change, massless: massless_change }] = &mut orbit.tidal.power;
    v.float("orbit_power", masses)?;
    v.float("orbit_power_massless", massless)?;
    v.float("orbit_power_change", masses_change)?;
    v.float("orbit_power_change_massless", massless_change)
}

/// Visits the reference of the errors. A checkpoint of a version that measured errors in the coordinates has none.
fn visit_start<E>(first: &mut References, v: &mut impl StateVisitor<E>) -> std::result::Result<(), E> {
    let start = &mut first.start;
    let mut scale = Some(start.energy_scale).filter(|scale| *scale != 0.0);
    v.float_if_any("reference_energy_scale", &mut scale)?;
    let Some(scale) = scale else {
        *start = Reference::in_coordinates(first.energy, first.angular_momentum);
        first.relative_energy_error = start.energy_error(first.previous_energy + first.previous_removed_energy);
        return Ok(());
    };
    start.energy_scale = scale;
    v.float("reference_energy", &mut start.energy)?;
    v.vector("reference_velocity", &mut start.velocity)?;
    v.vector("reference_centre", &mut start.centre)?;
    v.vector("reference_angular_momentum", &mut start.angular_momentum)?;
    v.float("reference_angular_momentum_scale", &mut start.angular_momentum_scale)?;
    v.count_if_any("reference_massless_bodies", &mut start.massless)?;
    let mut basis = Basis::ALL.iter().position(|basis| *basis == start.basis).unwrap_or(0) as u64;
    v.count_if_any("reference_basis", &mut basis)?;
    start.basis = Basis::ALL.get(basis as usize).copied().unwrap_or_default();
    let mut error = Some(first.relative_energy_error).filter(|error| error.is_finite());
    v.float_if_any("relative_energy_error", &mut error)?;
    first.relative_energy_error = error.unwrap_or(f64::NAN);
    Ok(())
}

/// Names of the numbers of what was taken out.
const REMOVED: [&str; 11] = [
    "removed_energy",
    "removed_momentum_x",
    "removed_momentum_y",
    "removed_momentum_z",
    "removed_angular_momentum_x",
    "removed_angular_momentum_y",
    "removed_angular_momentum_z",
    "removed_mass",
    "removed_moment_x",
    "removed_moment_y",
    "removed_moment_z",
];

/// Visits what was taken out of the system, which only checkpoints of runs have where something was.
fn visit_removed<E>(first: &mut References, v: &mut impl StateVisitor<E>) -> std::result::Result<(), E> {
    let mut numbers = first.removed.numbers();
    let named = REMOVED.into_iter().zip(&mut numbers);
    for (name, value) in named.chain([("previous_removed_energy", &mut first.previous_removed_energy)]) {
        let mut found = (*value != 0.0).then_some(*value);
        v.float_if_any(name, &mut found)?;
        *value = found.unwrap_or(0.0);
    }
    first.removed = Removed::from_numbers(numbers);
    Ok(())
}

fn visit_counters<E>(prefix: &str, c: &mut Counters, v: &mut impl StateVisitor<E>) -> std::result::Result<(), E> {
    v.count(&format!("{prefix}block_steps"), &mut c.block_steps)?;
    v.count(&format!("{prefix}particle_steps"), &mut c.particle_steps)?;
    v.count(&format!("{prefix}pair_interactions"), &mut c.pair_interactions)?;
    v.count(&format!("{prefix}clamped_steps"), &mut c.clamped_steps)?;
    v.count_if_any(&format!("{prefix}contacts"), &mut c.contacts)?;
    v.count_if_any(&format!("{prefix}escapes"), &mut c.escapes)
}
