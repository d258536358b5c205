//! `summary.json`: the result of a run in short.

use super::atomic::write_atomically;
use super::directory::SUMMARY;
use super::provenance::Provenance;
use tisane::error::{Error, Result};
use serde::Serialize;
use std::path::Path;

/// What `summary.json` says; energies and time in the user's units.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Name of the run.
    pub name: String,
    /// tisane's version.
    pub version: String,
    /// Commit that tisane was built from.
    pub git_commit: String,
    /// Number of particles.
    pub n: usize,
    /// Time reached.
    pub time: f64,
    /// Force engine.
    pub engine: String,
    /// Precision mode.
    pub precision: String,
    /// Which engine and device, and where it was chosen automatically, why.
    pub engine_choice: String,
    /// Threads of this session.
    pub threads: usize,
    /// Energy at the start.
    pub energy_initial: f64,
    /// Energy at the last row of the diagnostics.
    pub energy_final: f64,
    /// (final − initial) / |initial|.
    pub relative_energy_error: f64,
    /// Largest |relative energy error| of any row.
    pub max_relative_energy_error: f64,
    /// |L − L0| / |L0| at the last row.
    pub angular_momentum_error: f64,
    /// Block steps done.
    pub block_steps: u64,
    /// Particle steps done.
    pub particle_steps: u64,
    /// Particle steps held at dt_min.
    pub clamped_steps: u64,
    /// Pair interactions evaluated by the integrator.
    pub pair_interactions: u64,
    /// Wall time of all sessions of the run, in s.
    pub wall_seconds: f64,
    /// Pair interactions over wall time.
    pub pairs_per_second: f64,
    /// Why it ended: finished, interrupted, time-limit, block-step-limit.
    pub exit_reason: &'static str,
    /// SHA-256 of mass, pos, vel, time of all particles in id order (internal units, little-endian f64).
    pub state_sha256: String,
    /// Where the time of this session's block steps went; only with --profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Where it comes from, as in `/Provenance` of the HDF5 files.
    pub provenance: Provenance,
}

/// Where the time of block steps went.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Profile {
    /// Everything together.
    #[serde(flatten)]
    pub total: Spent,
    /// By the number of particles in a block: from 1, 4, 16, 64, … up to below the next.
    pub by_block_size: Vec<Bucket>,
}

/// Blocks of a size.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Bucket {
    /// Least number of particles.
    pub from: u64,
    /// What they took.
    #[serde(flatten)]
    pub spent: Spent,
}

/// What some block steps took.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Spent {
    /// Block steps.
    pub block_steps: u64,
    /// Evaluations of the force.
    pub evaluations: u64,
    /// Seconds of each phase.
    #[serde(serialize_with = "by_name")]
    pub seconds: Vec<(&'static str, f64)>,
}

fn by_name<S: serde::Serializer>(seconds: &[(&'static str, f64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(seconds.iter().copied())
}

impl std::fmt::Display for Profile {
    /// The whole in a line, and a line a block size.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{:.6} s: {}", self.total.all(), self.total.shares())?;
        for Bucket { from, spent } in &self.by_block_size {
            let each = 1e6 * spent.all() / spent.block_steps.max(1) as f64;
            let sizes = format!("{from} to {}", 4 * from - 1);
            writeln!(f, "  blocks of {sizes:>16}: {:8} steps of {each:8.1} µs: {}", spent.block_steps, spent.shares())?;
        }
        Ok(())
    }
}

impl Spent {
    /// Adds seconds to a phase.
    pub fn add(&mut self, phase: &'static str, seconds: f64) {
        match self.seconds.iter_mut().find(|(name, _)| *name == phase) {
            Some((_, sum)) => *sum += seconds,
            None => self.seconds.push((phase, seconds)),
        }
    }

    /// Adds what other steps took.
    pub fn merge(&mut self, other: &Self) {
        self.block_steps += other.block_steps;
        self.evaluations += other.evaluations;
        other.seconds.iter().for_each(|(phase, seconds)| self.add(phase, *seconds));
    }

    /// Seconds of all phases.
    #[must_use]
    pub fn all(&self) -> f64 {
        self.seconds.iter().map(|(_, seconds)| seconds).sum()
    }

    /// The phases and their shares in the time of all, in one line.
    #[must_use]
    pub fn shares(&self) -> String {
        let share = |(phase, seconds): &(&str, f64)| {
            format!("{} {:.1} %", phase.replace('_', " "), 100.0 * seconds / self.all().max(f64::MIN_POSITIVE))
        };
        self.seconds.iter().map(share).collect::<Vec<_>>().join(", ")
    }
}

impl Summary {
    /// Writes it into a run's directory.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn write(&self, dir: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self).map_err(|e| Error::storage(dir.join(SUMMARY), e))?;
        write_atomically(&dir.join(SUMMARY), |path| {
            std::fs::write(path, format!("{text}\n")).map_err(|e| Error::storage(path, e))
        })
    }
}
