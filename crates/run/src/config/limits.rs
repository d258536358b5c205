//! Sections on checkpoints, limits and the audit.

use super::wall_time::WallTime;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tisane::force::precision::Precision;
use tisane::units::Real;

/// Checkpoints, from which a run resumes bit for bit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Checkpoint {
    /// Wall-clock time between checkpoints.
    pub interval: WallTime,
}

impl Default for Checkpoint {
    fn default() -> Self {
        Self { interval: WallTime::minutes(15) }
    }
}

/// Limits at which the run stops with a checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Wall-clock time after which the run stops with a checkpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_time: Option<WallTime>,
    /// Number of block steps, counted from the start or the resume, after which the run stops with a checkpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub block_steps: Option<u64>,
    /// Largest relative energy error of a row of diagnostics; beyond it the run ends with an error. Default: an error
    /// of a quarter of the larger of kinetic and potential energy in the system's own frame, and none in an external field
    /// that changes in time without `[orbit]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy_error: Option<Real>,
    /// Part of the mass within the tidal radius at the start, above 0 and below 1, below which the run stops with a checkpoint: the
    /// cluster has dissolved. In a tide, with `[orbit]` or one `[external.tide]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound_fraction: Option<Real>,
}

/// Audit of every engine and mode other than the CPU in f64: at each row of diagnostics the forces on a random sample
/// of particles are computed again by the f64 CPU path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Audit {
    /// Number of particles in the sample; 0 for no audit, N or more for all particles.
    pub sample: u32,
    /// Relative error of acceleration or potential at which the run stops. Default: that of the mode, from 1e-2 (f32-*) to 1e-11 (f64).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) limit: Option<Real>,
}

impl Default for Audit {
    fn default() -> Self {
        Self { sample: 256, limit: None }
    }
}

impl Audit {
    /// Returns the relative error at which a run in the mode `precision` stops.
    #[must_use]
    pub fn limit(&self, precision: Precision) -> f64 {
        self.limit.map_or_else(|| precision.audit_limit(), Real::get)
    }
}
