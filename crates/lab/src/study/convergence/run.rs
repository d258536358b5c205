//! Run of a scheme beside a converged solution.

use super::divergence::Divergence;
use super::system::{Scheme, System};

/// Run beside a converged solution.
#[derive(Clone, Debug)]
pub struct Run {
    /// System, up to the last moment that is compared.
    pub system: System,
    /// Scheme.
    pub scheme: Scheme,
    /// Largest |E − E₀| / |E₀| at the moments; NaN without a result.
    pub energy_error: f64,
    /// Pairs evaluated.
    pub pairs: u64,
    /// Rms distance from the solution at each moment, in half-mass radii.
    pub distances: Vec<f64>,
    /// How it grows.
    pub divergence: Divergence,
    /// Why there is no result.
    pub failure: Option<String>,
}
