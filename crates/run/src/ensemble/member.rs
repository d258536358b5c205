//! A member of an ensemble while it is integrated.

use super::blueprint::Blueprint;
use super::hashes::link;
use super::journals::{self, JournalRows, is_of_run};
use super::rows::{MemberRow, Tables};
use crate::assemble::{self, Session, Setup};
use crate::cluster::TimedSurvey;
use crate::config::{Config, Engine, Ensemble, Kept, Model, StopAt};
use crate::simulation::SessionInfo;
use crate::system::{Engines, System};
use crate::{stars, subsystems};
use std::path::{Path, PathBuf};
use std::time::Instant;
use tisane::diagnostics::cluster::Settings;
use tisane::diagnostics::force_audit::Audit;
use tisane::diagnostics::outcome::Outcome;
use tisane::diagnostics::reference::Basis;
use tisane::diagnostics::runaways::Runaways;
use tisane::error::{Error, Result, RunContext};
use tisane::force::Field;
use tisane::force::precision::Precision;
use tisane::pair::{Body, Pair};
use tisane::subsystems::Event;
use tisane::time::{TICKS_PER_DT_MAX, Time};
use tisane::units::Dimension;
use tisane_io::checkpoint::{MemberState, RunState};
use tisane_io::fields::{FieldColumns, Journal, JournalRow};
use tisane_io::file_units::FileUnits;
use tisane_io::provenance::{self, Provenance};
use tisane_io::snapshot::{self, Snapshot};
use tisane_io::table::Value;

/// Indices of the stars of the binary of an encounter.
const BINARY: [usize; 2] = [0, 1];

/// Settings of the outputs of a member, and of its end.
struct Plan {
    end: Time,
    /// Interval of the outputs, in `dt_max`.
    every: u64,
    /// Interval of looks for a reason to stop, in `dt_max`; [`None`] if there is nothing to look for between outputs.
    check_every: Option<u64>,
    survey: Option<Settings>,
    stop: StopAt,
    bound_fraction: f64,
    /// Tidal tolerance of the outcome of an encounter, if that is looked for.
    encounter: Option<f64>,
    /// Softening, in internal units.
    epsilon: f64,
    energy_error: Option<f64>,
    series: bool,
    /// Flag that the energy errors of its cluster are measured.
    cluster_errors: bool,
    snapshots: Kept,
    /// Flag that a contact of two stars ends the member.
    stops_at_contact: bool,
    /// Journals that are kept.
    journals: Vec<Journal>,
}

impl Plan {
    fn keeps(&self, journal: Journal) -> bool {
        self.journals.contains(&journal)
    }
}

/// Member that is being integrated.
pub(super) struct Member {
    pub number: u64,
    pub system: System,
    plan: Plan,
    units: FileUnits,
    provenance: Provenance,
    context: RunContext,
    began: Instant,
    seconds_before: f64,
    audit: Option<Audit>,
    /// Mass at the start, in internal units.
    mass: f64,
    bound_fraction: f64,
    outcome: Option<Outcome>,
    /// Binding energy of the binary of an encounter at the start: its total energy may be near zero.
    binding_energy: Option<f64>,
    /// Rows of journals that were not handed over.
    rows: JournalRows,
}

/// Returns the interval of looks for a reason to stop, in `dt_max`, if they come between outputs.
fn check_every(ensemble: &Ensemble, config: &Config) -> Option<u64> {
    let interval = ensemble.check_interval.filter(|_| ensemble.stop != StopAt::End)?;
    // The longest step of a member may follow from its particles.
    Some((interval.get() / config.dt_max()).round().max(1.0) as u64)
}

/// Returns the tidal tolerance of the outcome of an encounter, if that is looked for.
fn tolerance(ensemble: &Ensemble, config: &Config) -> Option<f64> {
    match &config.initial.model {
        Model::BinarySingle(model) if ensemble.stop == StopAt::Escape => Some(model.tidal_tolerance.get()),
        _ => None,
    }
}

/// Name of the snapshot of a member's output, of those in `dir`.
pub(super) fn snapshot_path(dir: &Path, member: u64, output: u64) -> PathBuf {
    dir.join(format!("member_{member:06}_{output:04}.hdf5"))
}

impl Member {
    /// Reads the configuration of a member, samples its particles and builds its engines.
    pub fn new(blueprint: &Blueprint, number: u64, session: Session) -> Result<Self> {
        Self::of(blueprint, number, |_| session)
    }

    /// The same for one whose steps a GPU does not take. In f64 all engines have the same bits: it has the quicker one.
    pub fn left_by_device(blueprint: &Blueprint, number: u64, session: Session) -> Result<Self> {
        Self::of(blueprint, number, |config| match config.force.precision() {
            Precision::F64 => Session { engine: Some(Engine::Auto), ..session },
            _ => session,
        })
    }

    fn of(blueprint: &Blueprint, number: u64, session: impl FnOnce(&Config) -> Session) -> Result<Self> {
        let setup = assemble::prepare(blueprint.member(number)?)?;
        let (engines, info) = assemble::engines(&setup, session(&setup.config))?;
        Self::with_engines(blueprint, number, setup, (engines, &info))
    }

    /// Creates a member with its engines.
    pub fn with_engines(
        blueprint: &Blueprint,
        number: u64,
        setup: Setup,
        (mut engines, info): (Engines, &SessionInfo),
    ) -> Result<Self> {
        let default = Ensemble::default();
        let ensemble = blueprint.config.ensemble.as_ref().unwrap_or(&default);
        let provenance = match ensemble.snapshots {
            Kept::None => Provenance::default(),
            _ => assemble::provenance(&setup.config, setup.provenance.clone(), (engines.kind, info))?,
        };
        let (config, scale, context, state) = (&setup.config, setup.scale, setup.run_context(), setup.state());
        let surveys = (ensemble.series && config.cluster.enabled) || ensemble.stop == StopAt::Dissolution;
        let plan = Plan {
            end: Time::from_dt_max(setup.steps_to_end),
            every: config.diagnostics_every(),
            check_every: check_every(ensemble, config),
            survey: surveys.then(|| assemble::cluster_settings(config, &scale)),
            stop: ensemble.stop,
            bound_fraction: ensemble.bound_fraction.get(),
            encounter: tolerance(ensemble, config),
            epsilon: setup.epsilon(),
            energy_error: config.energy_limit(),
            series: ensemble.series,
            cluster_errors: blueprint.tables().has_cluster_errors(),
            snapshots: ensemble.snapshots,
            stops_at_contact: config.stops_at_contact(),
            journals: blueprint.written.journals.iter().copied().filter(|it| is_of_run(*it, config)).collect(),
        };
        let p = &setup.particles;
        let star = |i: usize| Body { mass: p.mass[i], pos: p.pos[i], vel: p.vel[i] };
        let binding_energy =
            plan.encounter.map(|_| Pair::new(&star(BINARY[0]), &star(BINARY[1]), 0.0).binding_energy());
        let units = FileUnits { units: config.units(), scale };
        let mass = p.total_mass();
        if let (true, Some(subsystems)) = (plan.keeps(Journal::Encounters), engines.propagator.subsystems()) {
            subsystems.record_events();
        }
        let Setup { particles, config, .. } = setup;
        let system = System {
            particles,
            state,
            engines,
            field: config.field_columns(),
            events: Vec::new(),
            type_changes: Vec::new(),
            runaways: Runaways::default(),
        };
        Ok(Self {
            number,
            system,
            plan,
            units,
            provenance,
            context,
            began: Instant::now(),
            seconds_before: 0.0,
            audit: None,
            mass,
            bound_fraction: f64::NAN,
            outcome: None,
            binding_energy,
            rows: JournalRows::new(),
        })
    }

    /// Computes the first forces and steps, and makes the first output. Returns true if the member has ended.
    pub fn start(&mut self, out: &mut Outputs<'_>) -> Result<bool> {
        self.system.start()?;
        let events = self.system.take_events();
        self.record(&events);
        let field = self.system.field()?;
        self.system.set_references(&field);
        self.output(&field, out)
    }

    /// Continues from a state in place of the start.
    pub fn resume(&mut self, state: MemberState) -> Result<()> {
        let MemberState { member: _, particles, run, runaways } = state;
        self.seconds_before = run.wall_seconds;
        (self.system.particles, self.system.state, self.system.runaways) = (particles, run, runaways);
        // States of version 0.2 count no outputs: they have those until their time.
        if !self.has_begun() {
            self.system.state.written.diagnostics_rows = self.outputs_until_now();
        }
        self.system.engines.propagator.resume(&self.system.particles, self.system.state.now)
    }

    /// Returns true if the first output was made: before it there is no state to go on from.
    pub fn has_begun(&self) -> bool {
        self.system.state.written.diagnostics_rows > 0
    }

    /// Returns the number of outputs from the start to the present moment, with that of the moment itself.
    fn outputs_until_now(&self) -> u64 {
        let now = self.system.state.now;
        let periods = now.0 / TICKS_PER_DT_MAX;
        let is_last = now >= self.plan.end && !periods.is_multiple_of(self.plan.every);
        periods / self.plan.every + 1 + u64::from(is_last)
    }

    /// Advances by up to `max` block steps, and by none that would pass `until`. Returns the number of block steps, and true if two stars
    /// touched that end the member.
    pub fn advance(&mut self, until: Time, max: u64) -> Result<(u64, bool)> {
        let done = self.system.advance(until, max);
        let events = match &done {
            Ok(_) => self.system.take_events(),
            // Those before the error: the row of the member counts them.
            Err(_) => std::mem::take(&mut self.system.events),
        };
        self.record(&events);
        Ok((done?.block_steps, self.has_collided()))
    }

    /// Makes rows of events and of the changes of type since the last call, in the journals that are kept.
    fn record(&mut self, events: &[Event]) {
        let changes = std::mem::take(&mut self.system.type_changes);
        let RunState { clock, scale, .. } = self.system.state;
        self.push_rows(Journal::Encounters, || subsystems::rows(events, &clock, &scale));
        self.push_rows(Journal::Stars, || stars::rows(events, &clock, &scale));
        let evolution = self.system.engines.evolution.as_ref();
        let changes = evolution.map(|evolution| evolution.rows(&changes, &clock, &scale)).unwrap_or_default();
        self.push_rows(Journal::Stellar, || changes);
    }

    /// Makes the last rows of the journals, at the end of the member: those of changes of subsystems that were held back.
    pub fn end_journals(&mut self) {
        let events = self.system.held_back();
        let RunState { clock, scale, .. } = self.system.state;
        self.push_rows(Journal::Encounters, || subsystems::rows(&events, &clock, &scale));
    }

    /// Adds rows of a journal, if it is kept.
    fn push_rows<R: JournalRow>(&mut self, journal: Journal, rows: impl FnOnce() -> Vec<R>) {
        if !self.plan.keeps(journal) {
            return;
        }
        for row in rows() {
            let cells = journals::cells(self.number, &row, &self.units.scale);
            let (count, hash) = self.system.state.written.journal_mut(journal);
            (*count, *hash) = (*count + 1, Some(link(*hash, &cells)));
            self.rows.entry(journal).or_default().push(cells);
        }
    }

    /// Hands over the rows of the journals: before a state that counts them.
    pub fn take_journals(&mut self) -> JournalRows {
        std::mem::take(&mut self.rows)
    }

    fn has_collided(&self) -> bool {
        self.plan.stops_at_contact && self.system.state.counters.contacts > 0
    }

    /// Returns true if the present moment is one at which the member is looked at.
    pub fn is_at_look(&self) -> bool {
        let now = self.system.state.now;
        let periods = now.0 / TICKS_PER_DT_MAX;
        let is_at = |every: u64| periods.is_multiple_of(every);
        now >= self.plan.end
            || (now.is_synchronised() && (is_at(self.plan.every) || self.plan.check_every.is_some_and(is_at)))
    }

    /// Returns the state after the last block step, and after the last output that was made.
    pub fn state(&self) -> MemberState {
        let run = RunState { wall_seconds: self.wall_seconds(), ..self.system.state };
        let System { particles, runaways, .. } = &self.system;
        MemberState { member: self.number, particles: particles.clone(), run, runaways: runaways.clone() }
    }

    fn wall_seconds(&self) -> f64 {
        self.seconds_before + self.began.elapsed().as_secs_f64()
    }

    /// Returns the softening, in internal units.
    pub fn epsilon(&self) -> f64 {
        self.plan.epsilon
    }

    /// Returns the next moment at which the member is to be looked at: of an output, or for a reason to stop.
    pub fn next_look(&self) -> Time {
        let periods = self.system.state.now.0 / TICKS_PER_DT_MAX;
        let next = |every: u64| Time::from_dt_max((periods / every + 1) * every);
        let check = self.plan.check_every.map_or(self.plan.end, next);
        next(self.plan.every).min(check).min(self.plan.end)
    }

    /// Returns true if an output is due at the present moment and was not made yet, or there is a reason to stop.
    pub fn needs_output(&mut self) -> Result<bool> {
        let now = self.system.state.now;
        if now >= self.plan.end || (now.0 / TICKS_PER_DT_MAX).is_multiple_of(self.plan.every) {
            return Ok(self.system.state.written.diagnostics_rows < self.outputs_until_now());
        }
        if self.plan.stop == StopAt::Dissolution {
            let field = self.system.field()?;
            if let Some(survey) = self.plan.survey.map(|settings| self.survey(&field, &settings)) {
                self.note_bound(&survey);
            }
        }
        self.note_outcome();
        Ok(self.has_ended())
    }

    fn note_outcome(&mut self) {
        let encounter = self.plan.encounter;
        self.outcome = encounter.and_then(|tolerance| Outcome::find(&self.system.particles, BINARY, tolerance));
    }

    fn note_bound(&mut self, survey: &TimedSurvey) {
        // In a tide what is within the tidal radius counts.
        let held = survey.survey.tidal.as_ref().map_or(survey.survey.bound.0, |tidal| tidal.mass);
        self.bound_fraction = held / self.mass;
    }

    /// Returns the share of its time that it has been integrated over.
    pub fn share(&self) -> f64 {
        self.system.state.now.0 as f64 / self.plan.end.0.max(1) as f64
    }

    /// Measures at the time of an output, and hands on what is to be kept. Returns true if the member has ended.
    pub fn measure(&mut self, out: &mut Outputs<'_>) -> Result<bool> {
        let field = self.system.field()?;
        self.output(&field, out)
    }

    /// Makes an output. If it cannot be written, the state stays that before it: a session that goes on from there makes it.
    fn output(&mut self, field: &Field, out: &mut Outputs<'_>) -> Result<bool> {
        let (before, rows) = ((self.system.state, self.system.runaways.clone()), out.rows.len());
        let ended = self.make_output(field, out);
        if matches!(ended, Err(Error::Storage { .. })) {
            (self.system.state, self.system.runaways) = before;
            out.rows.truncate(rows);
        }
        ended
    }

    fn make_output(&mut self, field: &Field, out: &mut Outputs<'_>) -> Result<bool> {
        let (mut row, audit) = self.system.measure(field)?;
        row.removed_energy = Some(self.system.state.references.removed.energy);
        row.particles = Some(self.system.particles.len() as u64);
        let survey = self.plan.survey.map(|settings| self.survey(field, &settings));
        if self.plan.cluster_errors {
            let subsystems = self.system.describe_subsystems()?;
            let errors = self.system.cluster_energy_errors(&row, (field, &subsystems), self.plan.epsilon);
            row.cluster_energy_error = Some(errors.with_binaries_as_bodies);
            self.system.choose_runaways(&errors.runaways, field)?;
        }
        let state = &mut self.system.state;
        let references = &mut state.references;
        references.previous_energy = row.energy;
        references.relative_energy_error = row.relative_energy_error;
        references.previous_removed_energy = references.removed.energy;
        references.previous_counters = state.counters;
        references.angular_momentum_error = row.angular_momentum_error;
        references.max_relative_energy_error =
            references.max_relative_energy_error.max(row.relative_energy_error.abs());
        if let Some(survey) = &survey {
            self.note_bound(survey);
        }
        self.note_outcome();
        let ends = self.has_ended();
        if self.plan.series {
            let cluster = survey.as_ref().map(TimedSurvey::row);
            let cells = out.tables.output(self.number, &row, cluster.as_ref(), &self.units.scale);
            let written = &mut self.system.state.written;
            written.diagnostics_sha256 = Some(link(written.diagnostics_sha256, &cells));
            out.rows.push(cells);
        }
        self.system.state.written.diagnostics_rows += 1;
        if self.plan.snapshots == Kept::All || (ends && self.plan.snapshots == Kept::End) {
            self.write_snapshot(field, out.snapshots)?;
        }
        let units = &self.units;
        let time = units.units.readable(row.time * units.scale.time, Dimension::TIME);
        let checked = self
            .system
            .check_energy(&row, field, self.plan.energy_error, &time)
            .and_then(|()| self.system.check_audit(audit.as_ref(), &time));
        self.audit = audit;
        checked.map(|()| ends)
    }

    fn survey(&self, field: &Field, settings: &Settings) -> TimedSurvey {
        let state = &self.system.state;
        let states = self.system.star_states();
        let stars = TimedSurvey::stars(&self.system.particles, &field.pot, (&states, &[]), &self.units);
        TimedSurvey::new(&stars, state.time(), settings, self.system.tide(field).as_ref())
    }

    fn is_dissolved(&self) -> bool {
        self.plan.stop == StopAt::Dissolution && self.bound_fraction < self.plan.bound_fraction
    }

    fn has_ended(&self) -> bool {
        self.system.state.now >= self.plan.end || self.is_dissolved() || self.outcome.is_some()
    }

    fn write_snapshot(&mut self, field: &Field, folder: &Path) -> Result<()> {
        let subsystems = self.system.describe_subsystems()?;
        let stars = self.system.star_states();
        let System { particles, state, .. } = &mut self.system;
        let provenance = Provenance {
            created: provenance::now_utc(),
            state_sha256: particles.state_sha256(&state.clock),
            state_block_steps: Some(state.counters.block_steps),
            state_time: Some(state.time()),
            ..self.provenance.clone()
        };
        let path = snapshot_path(folder, self.number, state.written.snapshots);
        state.written.snapshots += 1;
        let snapshot = Snapshot {
            particles,
            field,
            subsystems: &subsystems,
            stars: &stars,
            now: state.now,
            clock: &state.clock,
            units: &self.units,
            provenance: &provenance,
        };
        snapshot::write(&path, &snapshot)
    }

    /// Returns the row of a member that has ended, or failed by an error.
    pub fn row(&self, error: Option<Error>) -> MemberRow {
        let System { particles, state, .. } = &self.system;
        let problem = error.map(|error| describe(&error.in_run(&self.context)));
        let outcome = match &problem {
            Some(_) => FAILED,
            None if self.has_collided() => COLLISION,
            None if self.is_dissolved() => "dissolved",
            None => match (self.outcome, self.plan.encounter) {
                (Some(outcome), _) => outcome.name(),
                (None, Some(_)) => "unresolved",
                (None, None) => "finished",
            },
        };
        // Errors are relative to the scale of the start, which a row of an encounter has another one for.
        let has_energy = self.system.engines.has_energy();
        let number = |x: f64| if has_energy { x } else { f64::NAN };
        let is_measured = state.references.start.basis != Basis::NotMeasured;
        let error = |x: f64| if is_measured { number(x) } else { f64::NAN };
        let energy = number(state.references.energy);
        let scale = self.binding_energy.map_or(1.0, |binding| state.references.start.energy_scale / binding);
        let acceleration_error = match (&self.system.engines.auditor, &self.audit) {
            (None, _) => 0.0,
            (Some(_), Some(audit)) if problem.is_none() => audit.acc.rms,
            // That of the last output was before the end of a member that failed, perhaps in an earlier session.
            _ => f64::NAN,
        };
        MemberRow {
            member: self.number,
            outcome: outcome.into(),
            n: particles.len() as u64,
            time: state.time(),
            energy,
            // Of the last output, which may be one of an earlier session.
            energy_error: if self.has_begun() { state.references.relative_energy_error * scale } else { f64::NAN },
            max_energy_error: error(state.references.max_relative_energy_error * scale),
            angular_momentum_error: match self.system.field {
                FieldColumns::None => state.references.angular_momentum_error,
                FieldColumns::External | FieldColumns::Tidal => f64::NAN,
            },
            acceleration_error,
            bound_fraction: self.bound_fraction,
            departure: self.outcome.and_then(|outcome| outcome.departure()),
            block_steps: state.counters.block_steps,
            particle_steps: state.counters.particle_steps,
            clamped_steps: state.counters.clamped_steps,
            contacts: state.counters.contacts,
            escapes: state.counters.escapes,
            removed_energy: state.references.removed.energy,
            encounters_rows: state.written.encounters_rows,
            stellar_rows: state.written.stellar_rows,
            wall_seconds: self.wall_seconds(),
            state_sha256: particles.state_sha256(&state.clock),
            problem: problem.unwrap_or_default(),
            scale: Some(self.units.scale),
        }
    }
}

/// Word for a member that a contact of two stars ended.
pub(super) const COLLISION: &str = "collision";
/// Word for a member that an error ended.
pub(super) const FAILED: &str = "failed";

/// Describes an error with its advice in one line.
pub(super) fn describe(error: &Error) -> String {
    match crate::help::advice(error) {
        Some(advice) => format!("{error}; {advice}"),
        None => error.to_string(),
    }
}

/// Where the outputs of members go.
pub(super) struct Outputs<'a> {
    pub tables: &'a Tables,
    /// Folder of the snapshots.
    pub snapshots: &'a Path,
    /// Rows of the series that were made.
    pub rows: Vec<Vec<Value>>,
}
