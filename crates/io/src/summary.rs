//! Summary of a run: `summary.json`.

use super::atomic::write_atomically;
use super::directory::SUMMARY;
use super::provenance::{Change, Provenance};
use super::removed::Removed;
use serde::Serialize;
use std::path::Path;
use tisane::error::{Error, Result};
use tisane::force::profile::Profile;

/// Contents of `summary.json`. Energies and times are in the user's units.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Name of the run.
    pub name: String,
    /// Version of tisane.
    pub version: String,
    /// Git commit of the build.
    pub git_commit: String,
    /// Number of particles.
    pub n: usize,
    /// Time at the start.
    pub time_start: f64,
    /// Time reached.
    pub time: f64,
    /// Force engine.
    pub engine: String,
    /// Precision mode.
    pub precision: String,
    /// Force engine and device, with the reason if it was chosen automatically.
    pub engine_choice: String,
    /// Number of threads of this session.
    pub threads: usize,
    /// Energy at the start.
    pub energy_initial: f64,
    /// Energy at the last row of the diagnostics; null if there is none after the start.
    pub energy_final: Option<f64>,
    /// What mergers and escapes had taken out until then, by the kind of the event; only if they had.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<Removed>,
    /// Energy error at the last row of the diagnostics, as its column `relative_energy_error`; null likewise.
    pub relative_energy_error: Option<f64>,
    /// What the energy errors are relative to: total energy, internal energy, sum of kinetic and |potential| energy, energies of the
    /// massless bodies; or not measured.
    pub energy_error_relative_to: &'static str,
    /// Number of massless bodies whose energies are not conserved and not measured; only if there are some.
    #[serde(skip_serializing_if = "is_zero")]
    pub massless_bodies_not_measured: u64,
    /// Largest |relative energy error| of any row; null likewise.
    pub max_relative_energy_error: Option<f64>,
    /// Energy error at the last row, relative to the internal energy of the cluster with each binary and hierarchy as one
    /// body; only if a row after the start was written in this session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_energy_error: Option<f64>,
    /// Time at which the energy was measured last.
    pub energy_time: f64,
    /// Relative error of the angular momentum at the last row; null if there is none after the start, and in an external field.
    pub angular_momentum_error: Option<f64>,
    /// Time of the first measurement of the cluster at which the mass within its tidal radius was below `limits.bound_fraction`,
    /// or 0.05, of that at the start; only in runs in a tide where it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dissolution_time: Option<f64>,
    /// Number of block steps.
    pub block_steps: u64,
    /// Number of particle steps.
    pub particle_steps: u64,
    /// Number of particle steps clamped at dt_min.
    pub clamped_steps: u64,
    /// Number of pair interactions evaluated by the integrator.
    pub pair_interactions: u64,
    /// Wall time of all sessions of the run, in s.
    pub wall_seconds: f64,
    /// Pair interactions per second of wall time; null if no wall time was measured.
    pub pairs_per_second: Option<f64>,
    /// Reason for the end of the run: finished, interrupted, time-limit, block-step-limit, dissolution, collision, failed.
    pub exit_reason: &'static str,
    /// Error that ended the run; only if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Advice that comes with the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// Settings that were changed when the run was resumed, in order; only if there were some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// Warnings about settings and initial conditions, as in `run.log`.
    pub warnings: Vec<String>,
    /// SHA-256 of mass, pos, vel, time of all particles in id order (internal units, little-endian f64), and of digits beyond f64.
    pub state_sha256: String,
    /// Time spent in each part of the block steps of this session; only with `--profile`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Provenance, as in `/Provenance` of the HDF5 files.
    pub provenance: Provenance,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Summary {
    /// Writes the summary into the directory of a run.
    ///
    /// # Errors
    /// [`Error::Storage`] if it cannot be written.
    pub fn write(&self, dir: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self).map_err(|e| Error::storage(dir.join(SUMMARY), e))?;
        write_atomically(&dir.join(SUMMARY), |path| {
            std::fs::write(path, format!("{text}\n")).map_err(|e| Error::storage(path, e))
        })
    }
}
