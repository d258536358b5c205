//! A run: the loop over block steps, with diagnostics, snapshots and checkpoints when they are due, and stop requests.

mod batches;
mod begin_anew;
mod close_pairs;
mod error_watch;
mod outputs;
mod plan;
mod report;
mod retry_when_full;
mod writing;

pub use outputs::Outputs;
pub use plan::{ExitReason, Plan};

use crate::binaries::Terms;
use crate::config::is_cluster;
use crate::help::in_cluster_without_subsystems;
use crate::subsystems;
use crate::system::{Engines, System};
use batches::Batches;
use error_watch::ErrorWatch;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tisane::diagnostics::runaways::Runaways;
use tisane::error::{Error, Result};
use tisane::force::block_steps::Pause;
use tisane::force::profile::Profiler;
use tisane::force::{EngineKind, Field};
use tisane::particles::Particles;
use tisane::spin_pool;
use tisane::subsystems::Description;
use tisane::time::{TICKS_PER_DT_MAX, Time};
use tisane_io::checkpoint::RunState;
use tisane_io::directory;
use tisane_io::dissolution::{self, Dissolution};
use tisane_io::fields::{ClusterRow, DiagnosticsRow, FieldColumns};
use tisane_io::file_units::FileUnits;
use tisane_io::history::History;
use tisane_io::provenance::Provenance;

/// Observer of a run, such as a progress bar.
pub trait Observer {
    /// Called after every block step with the state reached; must be quick.
    fn step(&mut self, state: &RunState);
    /// Called after every row of diagnostics, in internal units. With `survey`, a row about the cluster at its time follows.
    fn output(&mut self, row: &DiagnosticsRow, survey: bool);
    /// Called after every row about the cluster, in internal units: before the next row of diagnostics.
    fn surveyed(&mut self, _row: &ClusterRow) {}
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
    /// Mass within the tidal radius at the start of the run and of the last survey; with a limit of it only.
    dissolution: Dissolution,
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
            dissolution: Dissolution::default(),
        };
        let (history, info) = (History::default(), SessionInfo::default());
        let system = System {
            particles,
            state,
            engines,
            field: plan.field,
            events: Vec::new(),
            type_changes: Vec::new(),
            runaways: Runaways::default(),
        };
        let (watch, measured) = (ErrorWatch::default(), None);
        Self { system, history, info, units, provenance, plan, session, watch, measured }
    }

    /// Returns the kind of the engine that computes the forces.
    #[must_use]
    pub fn engine(&self) -> EngineKind {
        self.system.engines.kind
    }

    /// Returns the number of threads that spin beside a GPU; see [`spin_pool`].
    #[must_use]
    pub fn spinning_threads(&self) -> usize {
        spin_pool::size_for(self.plan.subsystems.then(|| self.system.particles.len()))
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
        let _span = tracing::trace_span!("start").entered();
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
        self.write_row(&mut outputs, &measured, (self.plan.cluster.is_some(), observer))?;
        self.start_cluster_survey(&mut outputs, &measured)?;
        self.write_snapshot(&measured)?;
        self.checkpoint(&mut outputs, observer)?;
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
            self.check_row(&row, &measured, audit.as_ref())?;
        }
        let written = self.system.state.written;
        if self.plan.bound_fraction.is_some() && written.cluster_rows > 0 {
            // The mass at the start; what the cluster was like since then did not stop the run.
            self.session.dissolution.first = dissolution::read(&self.plan.directory, 0.0)?.first;
        }
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
                        self.checkpoint(outputs, observer).and_then(|()| self.finish(outputs, observer))
                    }
                    _ => self.finish(outputs, observer),
                };
                if let Err(also) = last {
                    tracing::error!("{also}");
                }
                return Err(if self.may_have_subsystems() { in_cluster_without_subsystems(error) } else { error });
            }
        };
        self.checkpoint(outputs, observer)?;
        self.finish(outputs, observer)?;
        Ok(reason)
    }

    /// Returns true for a cluster by Newton's law, in contrast to a few bodies.
    #[must_use]
    pub fn is_cluster(&self) -> bool {
        self.system.engines.law.is_none() && is_cluster(&self.system.particles.mass)
    }

    /// Returns true for a cluster without subsystems in which close pairs might be such.
    fn may_have_subsystems(&self) -> bool {
        let Plan { subsystems, field, epsilon, .. } = self.plan;
        !subsystems && field == FieldColumns::None && epsilon == 0.0 && self.is_cluster()
    }

    /// Steps, writes outputs and checkpoints until there is a reason to stop.
    fn advance(&mut self, outputs: &mut Outputs, observer: &mut dyn Observer) -> Result<ExitReason> {
        if self.takes_many_steps() {
            let stop = self.session.stop;
            self.system.engines.propagator.set_pause(Pause::new(move || stop.load(Ordering::Relaxed), PAUSE));
        }
        let mut batches = Batches::default();
        loop {
            if let Some(reason) = self.reason_to_stop() {
                batches.end(&self.system.state.counters);
                return Ok(reason);
            }
            batches.begin(&self.system.state.counters);
            let stopwatch = self.info.profiler.as_ref().map(Profiler::begin);
            let (until, max) = self.stretch();
            let done = self.system.advance(until, max)?;
            if let Some(stopwatch) = stopwatch {
                stopwatch.end(done.block_steps, done.particle_steps);
            }
            self.write_encounters(outputs)?;
            self.write_type_changes(outputs)?;
            self.finish_cluster_survey(outputs, observer, false)?;
            batches.end_if_long(&self.system.state.counters);
            if let Some(due) = done.now.is_synchronised().then(|| self.due()).flatten() {
                batches.end(&self.system.state.counters);
                self.output(due, outputs, observer)?;
            }
            if self.session.last_checkpoint.elapsed() >= self.plan.checkpoint_interval {
                batches.end(&self.system.state.counters);
                self.checkpoint(outputs, observer)?;
            }
            observer.step(&self.system.state);
        }
    }

    /// Returns true if a call of the integrator takes many steps.
    fn takes_many_steps(&self) -> bool {
        self.info.steps_on_device || self.plan.subsystems || self.plan.evolution
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
        } else if self.session.dissolution.time.is_some() {
            Some(ExitReason::Dissolution)
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

    /// Lets the integrator record changes of subsystems.
    fn record_encounters(&mut self) {
        if let Some(subsystems) = self.system.engines.propagator.subsystems().filter(|_| self.plan.subsystems) {
            subsystems.record_events();
        }
    }
}
