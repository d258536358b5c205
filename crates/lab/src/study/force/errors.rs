//! A point of the study of forces: its parameters and the errors that were measured.

use serde::{Deserialize, Serialize};
use tisane::force::precision::Precision;
use tisane_run::config::LawSection;

/// Parameters of the error of forces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// Number of particles.
    pub n: u32,
    /// Seed of the Plummer sphere.
    pub seed: u64,
    /// Softening.
    pub epsilon: f64,
    /// Engine, with what it computes on.
    pub engine: String,
    /// Precision mode.
    pub mode: Precision,
    /// Sources in a bag.
    pub bag: u32,
    /// Particles compared.
    pub targets: u32,
    /// Law in place of Newton's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub law: Option<LawSection>,
}

/// Relative errors of one point: maximum, root mean square, 99th percentile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Errors {
    /// Of the acceleration.
    pub acc: [f64; 3],
    /// Of the jerk.
    pub jerk: [f64; 3],
    /// Of the potential.
    pub pot: [f64; 3],
}
