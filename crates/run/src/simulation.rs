//! A run: the loop over block steps, with diagnostics, snapshots and checkpoints when they are due, and stop requests.

mod begin_anew;
mod close_pairs;
mod error_watch;
mod outputs;
mod plan;
mod report;
mod retry_when_full;

pub use outputs::Outputs;
pub use plan::{ExitReason, Plan};

use crate::binaries::Terms;
use crate::subsystems;
use crate::system::{Engines, System};
use error_watch::ErrorWatch;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tisane::diagnostics::force_audit::Audit;
use tisane::error::{Error, Result};
use tisane::force::block_steps::Pause;
use tisane::force::profile::Profiler;
use tisane::force::{EngineKind, Field};
use tisane::integrator::encounters::Description;
use tisane::particles::Particles;
use tisane::time::{TICKS_PER_DT_MAX, Time};
use tisane::units::Dimension;
use tisane_io::checkpoint::{self, CheckpointRef, RunState};
use tisane_io::directory;
use tisane_io::fields::DiagnosticsRow;
use tisane_io::file_units::FileUnits;
use tisane_io::history::History;
use tisane_io::provenance::Provenance;
use tisane_io::snapshot::{self, Snapshot};

/// Observer of a run, such as a progress bar.
pub trait Observer {
    /// Called after every block step with the state reached; must be quick.
    fn step(&mut self, state: &RunState);
    /// Called after every row of diagnostics, in internal units.
    fn output(&mut self, row: &DiagnosticsRow);
}

/// A run in progress.
pub struct Simulation {
    /// Particles with their engines, time, counters and reference values.
    pub system: System,
    /// Systems, escapers and encounters that the journal of events has recorded.
    pub history: History,
    /// Engine, GPU, warnings and profile of this session.
    pub info: SessionInfo,
    units: FileUnits,
    provenance: Provenance,
    plan: Plan,
    session: Session,
    watch: ErrorWatch,
    /// Last row of diagnostics of this session.
    measured: Option<LastMeasured>,
}

/// Field of all particles and their subsystems, measured at an output, in internal units.
struct Measured {
    field: Field,
    subsystems: Vec<Description>,
}

/// Time and error of the last row of diagnostics, in internal units.
#[derive(Clone, Copy, Debug)]
struct LastMeasured {
    time: f64,
    cluster_energy_error: Option<f64>,
}

/// Information about a session of a run, for its log and summary.
#[derive(Default)]
pub struct SessionInfo {
    /// Name of the engine, and the reason for its choice.
    pub engine_choice: String,
    /// Name of the GPU and version of its driver; empty without a GPU.
    pub gpu: String,
    /// Warnings about settings that are valid but may be mistakes.
    pub warnings: Vec<String>,
    /// Settings that the close pairs of the particles at the start are compared with; none for a run that is resumed.
    pub terms: Option<Terms>,
    /// Profiler of this session, if it is profiled.
    pub profiler: Option<Profiler>,
    /// Flag that the device takes whole block steps.
    pub steps_on_device: bool,
}

/// Part of a run that this process computes.
struct Session {
    began: Instant,
    /// Wall time of the run before this process.
    wall_before: f64,
    /// Block steps of the run before this process.
    blocks_before: u64,
    last_checkpoint: Instant,
    /// Flag that requests a stop, such as one set by a signal handler.
    stop: &'static AtomicBool,
    /// Flag that stars have touched.
    has_contact: bool,
}

/// Time after which a GPU that takes whole block steps hands the state over: for progress, checkpoints and the limit of
/// the wall time. A request to stop is seen sooner.
const PAUSE: Duration = Duration::from_millis(250);

/// Flag that is never set.
static NEVER: AtomicBool = AtomicBool::new(false);

impl Simulation {
    /// Returns a run that starts, or continues, from `state`; internal units throughout.
    #[must_use]
    pub fn new(
        particles: Particles,
        state: RunState,
        engines: Engines,
        (units, provenance): (FileUnits, Provenance),
        plan: Plan,
    ) -> Self {
        let now = Instant::now();
        let session = Session {
            began: now,
            wall_before: state.wall_seconds,
            blocks_before: state.counters.block_steps,
            last_checkpoint: now,
            stop: &NEVER,
            has_contact: false,
        };
        let (history, info) = (History::default(), SessionInfo::default());
        let system = System { particles, state, engines, external_field: plan.external_field };
        let (watch, measured) = (ErrorWatch::default(), None);
        Self { system, history, info, units, provenance, plan, session, watch, measured }
    }

    /// Returns the kind of the engine that computes the forces.
    #[must_use]
    pub fn engine(&self) -> EngineKind {
        self.system.engines.kind
    }

    /// Returns the plan of the run.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Limits this session to a number of block steps, in place of the limits of the plan.
    pub fn limit_block_steps(&mut self, limit: u64) {
        self.plan.block_steps = Some(limit);
        self.plan.wall_time = None;
    }

    /// Limits the wall time of this session, in place of the limit of the plan.
    pub fn limit_wall_time(&mut self, limit: Duration) {
        self.plan.wall_time = Some(limit);
    }

    /// Stops this session after the current block step once `stop` is set, for example by a signal handler.
    pub fn stop_on(&mut self, stop: &'static AtomicBool) {
        self.session.stop = stop;
    }

    /// Returns the units of its files.
    #[must_use]
    pub fn units(&self) -> &FileUnits {
        &self.units
    }

    /// Returns the provenance of its files, without the state at which each is written.
    #[must_use]
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// Starts a new run: computes the first forces and steps, and writes the first row of diagnostics, the first
    /// snapshot and a checkpoint, so that a run that is killed at any later instant can be resumed.
    ///
    /// # Errors
    /// As [`Propagator::start`](tisane::propagator::Propagator::start), and [`tisane::Error::Storage`].
    pub fn start(&mut self, observer: &mut dyn Observer) -> Result<Outputs> {
        self.record_encounters();
        if let Err(error) = self.system.start() {
            self.warn_of_close_pairs(None);
            return Err(error);
        }
        let mut outputs = self.retry_when_full(|| Outputs::create(&self.plan, &self.units))?;
        self.write_encounters(&mut outputs)?;
        let measured = self.measure()?;
        self.warn_of_close_pairs(Some(&measured.field));
        self.system.set_references(&measured.field);
        if self.plan.subsystems {
            self.system.state.references.binding_energy = Some(subsystems::binding_energy(&measured.subsystems));
        }
        self.write_row(&mut outputs, &measured, observer)?;
        self.start_cluster_survey(&mut outputs, &measured.field)?;
        self.write_snapshot(&measured)?;
        self.checkpoint(&mut outputs)?;
        Ok(outputs)
    }

    /// Resumes the run at its checkpoint. Rows and snapshots from after the checkpoint are removed: the run writes them
    /// again, or fewer of them under another plan. The summary, which describes the earlier end, is removed too.
    ///
    /// # Errors
    /// As [`Propagator::resume`](tisane::propagator::Propagator::resume), [`ResumableJournal::check`](tisane_io::journal::ResumableJournal::check),
    /// [`directory::remove_summary`] and [`directory::remove_snapshots`].
    pub fn resume(&mut self) -> Result<Outputs> {
        self.record_encounters();
        let System { particles, state, engines, .. } = &mut self.system;
        engines.propagator.resume(particles, state.now)?;
        if self.system.state.now >= self.plan.end {
            // No row follows: check the last one again, so that resuming a failed run does not pass it.
            let measured = self.system.field()?;
            let (row, audit) = self.system.measure(&measured)?;
            self.check_row(&row, audit.as_ref())?;
        }
        let written = self.system.state.written;
        let outputs = Outputs::resume(&self.plan, &written, &self.units)?;
        directory::remove_snapshots(&self.plan.directory, written.snapshots)?;
        Ok(outputs)
    }

    /// Runs to the end, a limit or a request to stop, then writes a checkpoint and completes the diagnostics.
    ///
    /// # Errors
    /// As [`Propagator::advance`](tisane::propagator::Propagator::advance), and [`tisane::Error::Storage`]; the last checkpoint stays whole.
    pub fn run(&mut self, outputs: &mut Outputs, observer: &mut dyn Observer) -> Result<ExitReason> {
        let reason = match self.advance(outputs, observer) {
            Ok(reason) => reason,
            Err(error) => {
                let error = error.in_run(&self.context());
                // Return the error that ended the run, and only log a failure to write its last state and rows.
                let last = match &error {
                    Error::Storage { .. } => Ok(()),
                    Error::StepBelowFloor(what) if what.resumable => {
                        self.checkpoint(outputs).and_then(|()| self.finish(outputs))
                    }
                    _ => self.finish(outputs),
                };
                if let Err(also) = last {
                    tracing::error!("{also}");
                }
                return Err(error);
            }
        };
        self.checkpoint(outputs)?;
        self.finish(outputs)?;
        Ok(reason)
    }

    /// Steps, writes outputs and checkpoints until there is a reason to stop.
    fn advance(&mut self, outputs: &mut Outputs, observer: &mut dyn Observer) -> Result<ExitReason> {
        if self.takes_many_steps() {
            let stop = self.session.stop;
            self.system.engines.propagator.set_pause(Pause::new(move || stop.load(Ordering::Relaxed), PAUSE));
        }
        loop {
            if let Some(reason) = self.reason_to_stop() {
                return Ok(reason);
            }
            let stopwatch = self.info.profiler.as_ref().map(Profiler::begin);
            let (until, most) = self.stretch();
            let done = self.system.advance(until, most)?;
            if let Some(stopwatch) = stopwatch {
                stopwatch.end(done.block_steps, done.particle_steps);
            }
            self.write_encounters(outputs)?;
            self.finish_cluster_survey(outputs, false)?;
            if done.now.is_synchronised() {
                self.output(outputs, observer)?;
            }
            if self.session.last_checkpoint.elapsed() >= self.plan.checkpoint_interval {
                self.checkpoint(outputs)?;
            }
            observer.step(&self.system.state);
        }
    }

    /// Returns true if a call of the integrator takes many steps.
    fn takes_many_steps(&self) -> bool {
        self.info.steps_on_device || self.plan.subsystems
    }

    /// Returns the moment and the number of block steps up to which to advance at once: by one step, so that a profile
    /// times each of them, or, where a device takes them, up to the next moment that may have outputs.
    fn stretch(&self) -> (Time, u64) {
        let Plan { end, block_steps, .. } = self.plan;
        if !self.takes_many_steps() {
            return (end, 1);
        }
        let state = &self.system.state;
        let taken = state.counters.block_steps - self.session.blocks_before;
        let until = Time::from_dt_max(state.now.0 / TICKS_PER_DT_MAX + 1);
        (until.min(end), block_steps.map_or(u64::MAX, |limit| limit.saturating_sub(taken)))
    }

    fn reason_to_stop(&self) -> Option<ExitReason> {
        let plan = &self.plan;
        if self.system.state.now >= plan.end {
            Some(ExitReason::Finished)
        } else if self.plan.stops_at_contact && self.session.has_contact {
            Some(ExitReason::Collision)
        } else if self.session.stop.load(Ordering::Relaxed) {
            Some(ExitReason::Interrupted)
        } else if plan.wall_time.is_some_and(|limit| self.session.began.elapsed() >= limit) {
            Some(ExitReason::TimeLimit)
        } else if plan
            .block_steps
            .is_some_and(|limit| self.system.state.counters.block_steps - self.session.blocks_before >= limit)
        {
            Some(ExitReason::BlockStepLimit)
        } else {
            None
        }
    }

    /// Writes the outputs that are due at a synchronised time; all are due at the end.
    fn output(&mut self, outputs: &mut Outputs, observer: &mut dyn Observer) -> Result<()> {
        let periods = self.system.state.now.0 / TICKS_PER_DT_MAX;
        let due = |every: u64| periods.is_multiple_of(every) || self.system.state.now >= self.plan.end;
        let (row, snapshot) = (due(self.plan.diagnostics_every), due(self.plan.snapshots_every));
        let cluster = self.plan.cluster.is_some_and(|cluster| due(cluster.every));
        if !row && !cluster && !snapshot {
            return Ok(());
        }
        let _span = tracing::trace_span!("output").entered();
        let measured = self.measure()?;
        if row {
            self.write_row(outputs, &measured, observer)?;
        }
        if cluster {
            self.start_cluster_survey(outputs, &measured.field)?;
        }
        if snapshot {
            self.write_snapshot(&measured)?;
        }
        Ok(())
    }

    /// Lets the integrator record changes of subsystems.
    fn record_encounters(&mut self) {
        if self.plan.subsystems {
            self.system.engines.propagator.record_events();
        }
    }

    /// Measures the field and the subsystems at a synchronised time.
    fn measure(&mut self) -> Result<Measured> {
        let subsystems = self.system.engines.propagator.describe_subsystems(self.system.state.now)?;
        Ok(Measured { field: self.system.field()?, subsystems })
    }

    fn write_row(&mut self, outputs: &mut Outputs, measured: &Measured, observer: &mut dyn Observer) -> Result<()> {
        self.system.state.wall_seconds = self.session.wall_before + self.session.began.elapsed().as_secs_f64();
        let (mut row, audit) = self.system.measure(&measured.field)?;
        row.cluster_energy_error = Some(self.system.cluster_energy_error(&row, &measured.field, self.plan.epsilon));
        if self.plan.star_events {
            row.removed_energy = Some(self.system.state.references.removed.energy);
            row.particles = Some(self.system.particles.len() as u64);
        }
        if self.plan.subsystems {
            subsystems::measure(&mut row, &measured.subsystems, &self.system.state.references);
        }
        self.retry_when_full(|| outputs.diagnostics.append(&row))?;
        self.retry_when_full(|| outputs.diagnostics.refresh(|| self.provenance_now()))?;
        let state = &mut self.system.state;
        state.written.diagnostics_rows += 1;
        let references = &mut state.references;
        references.previous_energy = row.energy;
        references.previous_removed_energy = references.removed.energy;
        references.previous_counters = state.counters;
        references.previous_wall_seconds = state.wall_seconds;
        references.angular_momentum_error = row.angular_momentum_error;
        references.max_relative_energy_error =
            references.max_relative_energy_error.max(row.relative_energy_error.abs());
        observer.output(&row);
        let end = self.system.state.clock.time(self.plan.end);
        let (units, scale) = (&self.units.units, self.system.state.scale.time);
        for warning in self.watch.observe(&row, end, |t| units.readable(t * scale, Dimension::TIME)) {
            tracing::warn!("{warning}");
        }
        self.measured = Some(LastMeasured { time: row.time, cluster_energy_error: row.cluster_energy_error });
        let verdict = self.check_row(&row, audit.as_ref());
        if verdict.is_err() {
            self.checkpoint(outputs)?;
            self.finish(outputs)?;
        }
        verdict
    }

    /// Returns an error for a row whose energy error or audit exceeds its limit.
    fn check_row(&self, row: &DiagnosticsRow, audit: Option<&Audit>) -> Result<()> {
        let time = self.time();
        let energy = self.system.check_energy(row, self.plan.energy_error, &time);
        energy.map_err(|error| self.advise_to_begin_anew(error, row.relative_energy_error))?;
        self.system.check_audit(audit, &time)
    }

    /// Returns the present time with its unit.
    fn time(&self) -> String {
        let state = &self.system.state;
        self.units.units.readable(state.clock.time(state.now) * state.scale.time, Dimension::TIME)
    }

    fn write_snapshot(&mut self, measured: &Measured) -> Result<()> {
        let path = directory::snapshot(&self.plan.directory, self.system.state.written.snapshots);
        let provenance = self.provenance_now();
        let snapshot = Snapshot {
            particles: &self.system.particles,
            field: &measured.field,
            subsystems: &measured.subsystems,
            now: self.system.state.now,
            clock: &self.system.state.clock,
            units: &self.units,
            provenance: &provenance,
        };
        self.retry_when_full(|| snapshot::write(&path, &snapshot))?;
        self.system.state.written.snapshots += 1;
        tracing::debug!(path = %path.display(), time = %self.time(), "wrote a snapshot");
        Ok(())
    }

    /// Writes a checkpoint of the present state.
    ///
    /// # Errors
    /// [`tisane::Error::Storage`]; the last checkpoint stays whole.
    pub fn checkpoint(&mut self, outputs: &mut Outputs) -> Result<()> {
        let _span = tracing::trace_span!("checkpoint").entered();
        self.finish_cluster_survey(outputs, true)?;
        outputs.sync()?;
        outputs.record_hashes(&mut self.system.state.written);
        self.system.state.wall_seconds = self.session.wall_before + self.session.began.elapsed().as_secs_f64();
        let provenance = self.provenance_now();
        let checkpoint = CheckpointRef {
            particles: &self.system.particles,
            run: &self.system.state,
            history: &self.history,
            provenance: &provenance,
        };
        self.retry_when_full(|| checkpoint::write(&self.plan.directory, checkpoint))?;
        self.session.last_checkpoint = Instant::now();
        let block_steps = self.system.state.counters.block_steps;
        tracing::debug!(time = %self.time(), block_steps, "wrote a checkpoint");
        Ok(())
    }
}
