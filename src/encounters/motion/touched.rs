//! Contact of two stars.

use crate::subsystems::stars::Removed;
use tisane_force::particles::Vec3;

/// Two stars that touched since the last block step.
#[derive(Clone, Debug, PartialEq)]
pub struct Touched {
    /// The stars, the lower first.
    pub stars: [u32; 2],
    /// Their masses.
    pub mass: [f64; 2],
    /// Their radii.
    pub radius: [f64; 2],
    /// Time, on the axis of the run.
    pub time: f64,
    /// Position and velocity of their centre of mass.
    pub centre: [Vec3; 2],
    /// Position and velocity of the second relative to the first.
    pub relative: [Vec3; 2],
    /// Pericentre of their orbit about each other.
    pub pericentre: f64,
    /// What their merger takes out of the system, if they are one already.
    pub merged: Option<Removed>,
}
