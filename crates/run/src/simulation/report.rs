//! Summary of a run, and the provenance of the files that it writes.

use super::{ExitReason, Simulation, System};
use tisane::diagnostics::conserved::relative;
use tisane::force::profile::Profiler;
use tisane::units::Dimension;
use tisane_io::provenance::{self, Provenance};
use tisane_io::summary::Summary;

impl Simulation {
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

    /// Returns the summary of the run so far.
    #[must_use]
    pub fn summary(&self, name: &str, reason: ExitReason) -> Summary {
        let System { particles, state, .. } = &self.system;
        let made_by = self.provenance_now();
        let (energy, references) = (state.scale.factor(Dimension::ENERGY), &state.references);
        let pairs = state.counters.pair_interactions;
        Summary {
            name: name.into(),
            version: made_by.version.clone(),
            git_commit: made_by.git_commit.clone(),
            n: particles.len(),
            time: state.clock.time(state.now) * state.scale.time,
            engine: made_by.engine.clone(),
            precision: made_by.precision.clone(),
            engine_choice: self.info.engine_choice.clone(),
            threads: rayon::current_num_threads(),
            energy_initial: references.energy * energy,
            energy_final: references.previous_energy * energy,
            relative_energy_error: relative(references.previous_energy, references.energy),
            max_relative_energy_error: references.max_relative_energy_error,
            angular_momentum_error: references.angular_momentum_error,
            block_steps: state.counters.block_steps,
            particle_steps: state.counters.particle_steps,
            clamped_steps: state.counters.clamped_steps,
            pair_interactions: pairs,
            wall_seconds: state.wall_seconds,
            pairs_per_second: if state.wall_seconds > 0.0 { pairs as f64 / state.wall_seconds } else { 0.0 },
            exit_reason: reason.name(),
            warnings: self.info.warnings.clone(),
            state_sha256: made_by.state_sha256.clone(),
            profile: self.info.profiler.as_ref().map(Profiler::profile),
            provenance: made_by,
        }
    }
}
