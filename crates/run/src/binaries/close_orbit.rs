//! Orbit of a close pair.

use tisane::diagnostics::cluster::pair::Pair;

/// Orbit of two particles about each other, without softening.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CloseOrbit {
    /// Ids of the two.
    pub ids: [u64; 2],
    /// The orbit, in internal units.
    pub pair: Pair,
    /// Binding energy in kT; infinite in a system that is no cluster.
    pub hardness: f64,
    /// Shortest step that the scheme needs for it, in internal units: an estimate from the motion of the two alone.
    pub step: f64,
    /// Flag that the two are bound with the softening of the run too.
    pub bound: bool,
}
