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
    /// What mergers and escapes took out until then, by event; only if they did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<Removed>,
    /// Energy error there; null likewise.
    pub relative_energy_error: Option<f64>,
    /// What it is relative to, in words.
    pub energy_error_relative_to: &'static str,
    /// Massless bodies whose energies are not measured; only if there are some.
    #[serde(skip_serializing_if = "is_zero")]
    pub massless_bodies_not_measured: u64,
    /// Largest |relative energy error| of any row; null likewise.
    pub max_relative_energy_error: Option<f64>,
    /// The column of that name at the last row, null without a bound cluster; only if this session wrote one after the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_energy_error: Option<f64>,
    /// Time at which the energy was measured last.
    pub energy_time: f64,
    /// Relative error of the angular momentum at the last row; null likewise, and in an external field.
    pub angular_momentum_error: Option<f64>,
    /// Time at which a cluster in a tide had dissolved; only if it had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dissolution_time: Option<f64>,
    /// Number of block steps.
    pub block_steps: u64,
    /// Number of particle steps.
    pub particle_steps: u64,
    /// Number of particle steps clamped at dt_min.
    pub clamped_steps: u64,
    /// Number of pairs evaluated by the integrator.
    pub pair_interactions: u64,
    /// Wall time of all sessions of the run, in s.
    pub wall_seconds: f64,
    /// Pairs per second of wall time; null if it was not measured.
    pub pairs_per_second: Option<f64>,
    /// Reason for the end of the run.
    pub exit_reason: &'static str,
    /// Error that ended the run; only if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Advice that comes with the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// Settings changed at a resume, in order; only if there were some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// Warnings about settings and initial conditions, as in `run.log`.
    pub warnings: Vec<String>,
    /// Hash of the state.
    pub state_sha256: String,
    /// Where the time of this session went; only with `--profile`.
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
