//! `summary.json`: the result of a run in short.

use super::atomic::write_atomically;
use super::directory::SUMMARY;
use super::provenance::Provenance;
use serde::Serialize;
use std::path::Path;
use tisane::error::{Error, Result};
use tisane::force::profile::Profile;

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
