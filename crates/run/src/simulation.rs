//! A run: the loop over block steps, with diagnostics, snapshots and checkpoints when they are due, and stop requests.

mod outputs;
mod plan;
mod report;
mod retry_when_full;
mod row;

pub use outputs::Outputs;
pub use plan::{ExitReason, Plan};

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tisane::diagnostics::conserved::Conserved;
use tisane::diagnostics::force_audit::{Audit, Auditor};
use tisane::error::{Error, Result};
use tisane::force::EngineKind;
use tisane::force::Field;
use tisane::force::profile::Profiler;
use tisane::integrator::Progress;
use tisane::particles::Particles;
use tisane::propagator::Propagator;
use tisane::time::TICKS_PER_DT_MAX;
use tisane_io::checkpoint::CheckpointRef;
use tisane_io::checkpoint::{self, RunState};
use tisane_io::directory;
use tisane_io::fields::DiagnosticsRow;
use tisane_io::file_units::FileUnits;
use tisane_io::history::History;
use tisane_io::provenance::Provenance;
use tisane_io::snapshot::{self, Snapshot};

/// Looks on while a run goes on: the face.
pub trait Watch {
    /// Called after every block step with the moment reached; must be quick.
    fn step(&mut self, state: &RunState);
    /// Called after every row of diagnostics (internal units).
    fn output(&mut self, row: &DiagnosticsRow);
}

/// A run in progress.
pub struct Simulation {
    /// The particles, in internal units.
    pub particles: Particles,
    /// The numbers of the run: moment, counters, references.
    pub state: RunState,
    /// What has been told of in its events.
    pub history: History,
    /// What is told about the run beside its numbers.
    pub notes: Notes,
    engines: Engines,
    units: FileUnits,
    provenance: Provenance,
    plan: Plan,
    session: Session,
}

/// Engines of a run.
pub struct Engines {
    /// Kind of the engine that computes the forces.
    pub kind: EngineKind,
    /// Moves the particles, and measures in f64.
    pub propagator: Propagator,
    /// Audits the forces, unless they are those of the f64 CPU path.
    pub auditor: Option<Auditor>,
}

/// What is told about a run beside its numbers.
#[derive(Default)]
pub struct Notes {
    /// Which engine computes, and why that one.
    pub choice: String,
    /// The GPU and its driver, where one computes.
    pub gpu: String,
    /// Things that are allowed but may not be meant.
    pub warnings: Vec<String>,
    /// Where the time of this session goes, if that is measured.
    pub profiler: Option<Profiler>,
}

/// This process's share of a run.
struct Session {
    began: Instant,
    /// Wall time of the run before this process.
    wall_before: f64,
    /// Block steps of the run before this process.
    blocks_before: u64,
    last_checkpoint: Instant,
    /// Set by whoever wants it to stop.
    stop: &'static AtomicBool,
}

/// Block steps after which a run looks for signals, limits and outputs. One, as limits count block steps and a profile
/// takes the time of each.
const STEPS_BETWEEN_CHECKS: u64 = 1;

/// Flag that is never set.
static NEVER: AtomicBool = AtomicBool::new(false);

impl Simulation {
    /// A run about to start, or to go on from `state` (internal units throughout).
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
        };
        let (history, notes) = (History::default(), Notes::default());
        Self { particles, state, history, notes, engines, units, provenance, plan, session }
    }

    /// Kind of the engine that computes the forces.
    #[must_use]
    pub fn engine(&self) -> EngineKind {
        self.engines.kind
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Lets this session of the run go this many block steps, whatever limits the plan has.
    pub fn limit_block_steps(&mut self, limit: u64) {
        self.plan.block_steps = Some(limit);
        self.plan.wall_time = None;
    }

    /// Lets this session of the run take so much wall time, whatever the plan says.
    pub fn limit_wall_time(&mut self, limit: Duration) {
        self.plan.wall_time = Some(limit);
    }

    /// Has this session of the run stop after the block step in hand once `stop` is set, by a signal handler say.
    pub fn stop_on(&mut self, stop: &'static AtomicBool) {
        self.session.stop = stop;
    }

    /// The units of its files.
    #[must_use]
    pub fn units(&self) -> &FileUnits {
        &self.units
    }

    /// Where its files come from.
    #[must_use]
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// Prepares a new run: first forces and steps, the first row of diagnostics, the first snapshot, and a checkpoint, so that
    /// from here on a kill at any instant leaves something to resume from.
    ///
    /// # Errors
    /// As [`Propagator::start`], and [`tisane::Error::Storage`].
    pub fn start(&mut self, watch: &mut dyn Watch) -> Result<Outputs> {
        let done = self.engines.propagator.start(&mut self.particles)?;
        self.count(done);
        let mut outputs = self.insist(|| Outputs::create(&self.plan, &self.units))?;
        let measured = self.engines.propagator.field(&self.particles, self.state.now)?;
        let conserved = Conserved::from_particles(&self.particles, &measured.pot);
        let references = &mut self.state.references;
        references.energy = conserved.energy();
        references.previous_energy = conserved.energy();
        references.angular_momentum = conserved.angular_momentum;
        references.momentum = conserved.momentum;
        references.centre_of_mass = conserved.centre_of_mass;
        self.write_row(&mut outputs, &measured, watch)?;
        self.look_at_cluster(&mut outputs, &measured)?;
        self.write_snapshot(&measured)?;
        self.checkpoint(&mut outputs)?;
        Ok(outputs)
    }

    /// Takes up the run where its checkpoint left it. Rows and snapshots from after the checkpoint are removed: the run will
    /// write them again, and under another plan not all of them. The summary goes too: it said how the run had ended.
    ///
    /// # Errors
    /// As [`Propagator::resume`], [`ResumableJournal::check`](tisane_io::journal::ResumableJournal::check),
    /// [`directory::remove_summary`] and [`directory::remove_snapshots`].
    pub fn resume(&mut self) -> Result<Outputs> {
        self.engines.propagator.resume(&self.particles, self.state.now)?;
        if self.state.now >= self.plan.end {
            // No row is to come: the last one must not be passed for good because its run is resumed.
            let measured = self.engines.propagator.field(&self.particles, self.state.now)?;
            let (row, audit) = self.measure(&measured)?;
            self.judge(&row, audit.as_ref())?;
        }
        let written = self.state.written;
        let outputs = Outputs::resume(&self.plan, &written, &self.units)?;
        directory::remove_snapshots(&self.plan.directory, written.snapshots)?;
        Ok(outputs)
    }

    /// Runs to the end, or until something stops it; leaves a checkpoint and complete diagnostics either way.
    ///
    /// # Errors
    /// As [`Propagator::advance`], and [`tisane::Error::Storage`]; the last checkpoint stays whole.
    pub fn run(&mut self, outputs: &mut Outputs, watch: &mut dyn Watch) -> Result<ExitReason> {
        let reason = match self.advance(outputs, watch) {
            Ok(reason) => reason,
            Err(error) => {
                // Why the run ended comes first; that its last rows could not be written comes on top.
                let storage = matches!(error, Error::Storage { .. });
                if let Some(also) = (!storage).then(|| self.finish(outputs)).and_then(Result::err) {
                    tracing::error!("{also}");
                }
                return Err(error.in_user_units(&self.state.scale));
            }
        };
        self.checkpoint(outputs)?;
        self.finish(outputs)?;
        Ok(reason)
    }

    /// Steps, outputs and checkpoints until there is a reason to stop.
    fn advance(&mut self, outputs: &mut Outputs, watch: &mut dyn Watch) -> Result<ExitReason> {
        loop {
            if let Some(reason) = self.reason_to_stop() {
                return Ok(reason);
            }
            let watch_of_step = self.notes.profiler.as_ref().map(Profiler::begin);
            let done = self.engines.propagator.advance(&mut self.particles, self.plan.end, STEPS_BETWEEN_CHECKS)?;
            if let Some(watch) = watch_of_step {
                watch.end(&done);
            }
            self.count(done);
            self.tell_of_cluster(outputs, false)?;
            if done.now.is_synchronised() {
                self.output(outputs, watch)?;
            }
            if self.session.last_checkpoint.elapsed() >= self.plan.checkpoint_interval {
                self.checkpoint(outputs)?;
            }
            watch.step(&self.state);
        }
    }

    fn reason_to_stop(&self) -> Option<ExitReason> {
        let plan = &self.plan;
        if self.state.now >= plan.end {
            Some(ExitReason::Finished)
        } else if self.session.stop.load(Ordering::Relaxed) {
            Some(ExitReason::Interrupted)
        } else if plan.wall_time.is_some_and(|limit| self.session.began.elapsed() >= limit) {
            Some(ExitReason::TimeLimit)
        } else if plan
            .block_steps
            .is_some_and(|limit| self.state.counters.block_steps - self.session.blocks_before >= limit)
        {
            Some(ExitReason::BlockStepLimit)
        } else {
            None
        }
    }

    fn count(&mut self, done: Progress) {
        let counters = &mut self.state.counters;
        counters.block_steps += done.block_steps;
        counters.particle_steps += done.particle_steps;
        counters.pair_interactions += done.pairs;
        counters.clamped_steps += done.clamped;
        self.state.now = done.now;
    }

    /// Writes what is due at a synchronised moment; the end is always due.
    fn output(&mut self, outputs: &mut Outputs, watch: &mut dyn Watch) -> Result<()> {
        let periods = self.state.now.0 / TICKS_PER_DT_MAX;
        let due = |every: u64| periods.is_multiple_of(every) || self.state.now >= self.plan.end;
        let (row, snapshot) = (due(self.plan.diagnostics_every), due(self.plan.snapshots_every));
        let cluster = self.plan.cluster.is_some_and(|cluster| due(cluster.every));
        if !row && !cluster && !snapshot {
            return Ok(());
        }
        let measured = self.engines.propagator.field(&self.particles, self.state.now)?;
        if row {
            self.write_row(outputs, &measured, watch)?;
        }
        if cluster {
            self.look_at_cluster(outputs, &measured)?;
        }
        if snapshot {
            self.write_snapshot(&measured)?;
        }
        Ok(())
    }

    /// The row of diagnostics of a synchronised moment, and its audit, if there is one.
    fn measure(&mut self, measured: &Field) -> Result<(DiagnosticsRow, Option<Audit>)> {
        let Engines { propagator, auditor, .. } = &mut self.engines;
        let audit = match auditor {
            Some(auditor) => auditor.audit(&self.particles, self.state.now, propagator)?,
            None => None,
        };
        let conserved = Conserved::from_particles(&self.particles, &measured.pot);
        Ok((row::of(&self.particles, &self.state, &conserved, audit.as_ref()), audit))
    }

    /// Refuses a row that says that the run went wrong.
    fn judge(&self, row: &DiagnosticsRow, audit: Option<&Audit>) -> Result<()> {
        let time = row.time * self.state.scale.time;
        row::judge_energy(row, self.state.references.energy, self.plan.energy_error, time)?;
        match (&self.engines.auditor, audit) {
            (Some(auditor), Some(audit)) => auditor.check(audit, time),
            _ => Ok(()),
        }
    }

    fn write_row(&mut self, outputs: &mut Outputs, measured: &Field, watch: &mut dyn Watch) -> Result<()> {
        self.state.wall_seconds = self.session.wall_before + self.session.began.elapsed().as_secs_f64();
        let (row, audit) = self.measure(measured)?;
        self.insist(|| outputs.diagnostics.append(&row))?;
        self.insist(|| outputs.diagnostics.refresh(|| self.provenance_now()))?;
        let state = &mut self.state;
        state.written.diagnostics_rows += 1;
        let references = &mut state.references;
        references.previous_energy = row.energy;
        references.previous_counters = state.counters;
        references.previous_wall_seconds = state.wall_seconds;
        references.angular_momentum_error = row.angular_momentum_error;
        references.max_relative_energy_error =
            references.max_relative_energy_error.max(row.relative_energy_error.abs());
        watch.output(&row);
        let verdict = self.judge(&row, audit.as_ref());
        if verdict.is_err() {
            self.checkpoint(outputs)?;
            self.finish(outputs)?;
        }
        verdict
    }

    fn write_snapshot(&mut self, measured: &Field) -> Result<()> {
        let number = self.state.written.snapshots;
        let path = directory::snapshot(&self.plan.directory, number);
        let provenance = self.provenance_now();
        let snapshot = Snapshot {
            particles: &self.particles,
            field: measured,
            now: self.state.now,
            clock: &self.state.clock,
            units: &self.units,
            provenance: &provenance,
        };
        self.insist(|| snapshot::write(&path, &snapshot))?;
        self.state.written.snapshots += 1;
        tracing::debug!("wrote {}", path.display());
        Ok(())
    }

    fn checkpoint(&mut self, outputs: &mut Outputs) -> Result<()> {
        self.tell_of_cluster(outputs, true)?;
        outputs.sync()?;
        outputs.note(&mut self.state.written);
        self.state.wall_seconds = self.session.wall_before + self.session.began.elapsed().as_secs_f64();
        let provenance = self.provenance_now();
        let checkpoint = CheckpointRef {
            particles: &self.particles,
            run: &self.state,
            history: &self.history,
            provenance: &provenance,
        };
        self.insist(|| checkpoint::write(&self.plan.directory, checkpoint))?;
        self.session.last_checkpoint = Instant::now();
        tracing::debug!("wrote a checkpoint after {} block steps", self.state.counters.block_steps);
        Ok(())
    }
}
