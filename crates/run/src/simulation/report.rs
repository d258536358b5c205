//! Summary of a run, and the provenance of the files that it writes.

use super::{ExitReason, Simulation, System};
use crate::help;
use tisane::error::{Error, Result, RunContext};
use tisane::force::profile::Profiler;
use tisane::time::{TICKS_PER_DT_MAX, Time};
use tisane::units::Dimension;
use tisane_io::dissolution::{self, BOUND_FRACTION};
use tisane_io::fields::{FieldColumns, TideColumns};
use tisane_io::provenance::{self, Provenance};
use tisane_io::removed;
use tisane_io::summary::Summary;

impl Simulation {
    /// Returns the time at which the energy was measured last, in internal units: that of the last row of this session,
    /// or else of the last row that was due before it.
    fn energy_time(&self) -> f64 {
        let state = &self.system.state;
        let periods = state.now.0 / TICKS_PER_DT_MAX;
        let due = Time::from_dt_max(periods - periods % self.plan.diagnostics_every);
        self.measured.map_or_else(|| state.clock.time(due), |last| last.time)
    }

    /// Returns what errors of the integration need to know of the run.
    pub(super) fn context(&self) -> RunContext {
        let (state, plan) = (&self.system.state, &self.plan);
        let blocks = state.counters.block_steps - self.session.blocks_before;
        RunContext {
            units: self.units.units.clone(),
            scale: state.scale,
            epsilon: plan.epsilon,
            t_end: Some(state.clock.time(plan.end)),
            seconds_per_block_step: (blocks > 0).then(|| self.session.began.elapsed().as_secs_f64() / blocks as f64),
            directory: Some(plan.directory.clone()),
        }
    }

    /// Returns the provenance of a file that is written at the present state.
    #[must_use]
    pub fn provenance_now(&self) -> Provenance {
        let System { particles, state, .. } = &self.system;
        Provenance {
            created: provenance::now_utc(),
            state_sha256: particles.state_sha256(&state.clock),
            state_block_steps: Some(state.counters.block_steps),
            state_time: Some(state.clock.time(state.now) * state.scale.time),
            ..self.provenance.clone()
        }
    }

    /// Writes the summary of a run that has ended, and returns it; after an error, the error.
    ///
    /// # Errors
    /// The one that ended the run; otherwise [`Error::Storage`] if the summary cannot be written.
    pub fn conclude(&self, name: &str, ended: Result<ExitReason>) -> Result<Summary> {
        let directory = &self.plan.directory;
        match ended {
            Ok(reason) => {
                let summary = self.summary(name, reason, None);
                self.retry_when_full(|| summary.write(directory))?;
                Ok(summary)
            }
            Err(error) => {
                if let Err(also) = self.summary(name, ExitReason::Failed, Some(&error)).write(directory) {
                    tracing::error!("{also}");
                }
                Err(error)
            }
        }
    }

    /// Returns the summary of the run so far, with the error that ended it, if one did.
    fn summary(&self, name: &str, reason: ExitReason, error: Option<&Error>) -> Summary {
        let System { particles, state, .. } = &self.system;
        let made_by = self.provenance_now();
        let (energy, references) = (state.scale.factor(Dimension::ENERGY), &state.references);
        let pairs = state.counters.pair_interactions;
        // The references are those of the start until a row is written.
        let is_measured = self.energy_time() > state.clock.start;
        let measured = |value: f64| is_measured.then_some(value);
        let energy_time = self.energy_time() * state.scale.time;
        // A summary is written in any case: without the journal it says less.
        let removed = match references.previous_removed_energy == 0.0 {
            true => Vec::new(),
            false => {
                let total = references.previous_removed_energy * energy;
                removed::read_all(&self.plan.directory, energy_time, total).unwrap_or_default()
            }
        };
        let dissolution =
            self.plan.cluster.filter(|cluster| cluster.columns.tide != TideColumns::None).and_then(|_| {
                let fraction = self.plan.bound_fraction.unwrap_or(BOUND_FRACTION);
                dissolution::read(&self.plan.directory, fraction).ok()?.time
            });
        Summary {
            name: name.into(),
            version: made_by.version.clone(),
            git_commit: made_by.git_commit.clone(),
            n: particles.len(),
            time_start: state.clock.start * state.scale.time,
            time: state.clock.time(state.now) * state.scale.time,
            engine: made_by.engine.clone(),
            precision: made_by.precision.clone(),
            engine_choice: self.info.engine_choice.clone(),
            threads: rayon::current_num_threads(),
            energy_initial: references.energy * energy,
            energy_final: measured(references.previous_energy * energy),
            removed,
            relative_energy_error: measured(references.relative_energy_error),
            energy_error_relative_to: references.start.basis.name(),
            massless_bodies_not_measured: references.start.massless_not_measured(particles),
            max_relative_energy_error: measured(references.max_relative_energy_error),
            cluster_energy_error: self.measured.filter(|_| is_measured).and_then(|last| last.cluster_energy_error),
            energy_time,
            // A field does not conserve it: its change is no error.
            angular_momentum_error: measured(references.angular_momentum_error)
                .filter(|_| self.plan.field == FieldColumns::None),
            dissolution_time: dissolution,
            block_steps: state.counters.block_steps,
            particle_steps: state.counters.particle_steps,
            clamped_steps: state.counters.clamped_steps,
            pair_interactions: pairs,
            wall_seconds: state.wall_seconds,
            pairs_per_second: (state.wall_seconds > 0.0).then(|| pairs as f64 / state.wall_seconds),
            exit_reason: reason.name(),
            error: error.map(ToString::to_string),
            advice: error.and_then(help::advice),
            // Written by this program.
            changes: made_by.changes().unwrap_or_default(),
            warnings: self.info.warnings.clone(),
            state_sha256: made_by.state_sha256.clone(),
            profile: self.info.profiler.as_ref().map(Profiler::profile),
            provenance: made_by,
        }
    }
}
