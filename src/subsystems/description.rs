//! Subsystems at a moment: who they are, their orbits and energies, and what the integration neglects of them.

use super::component::{Component, PairOrbit};
use tisane_force::particles::Vec3;

/// Members that move about each other, in internal units: a subsystem, or one inside of another.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// Its stars.
    pub members: Component,
    /// Place in the list of the subsystem that it is inside of; [`None`] for one that is inside of none.
    pub inside_of: Option<usize>,
    /// Mass.
    pub mass: f64,
    /// Binding energy of its members on each other, without that inside of them.
    pub binding: f64,
    /// Orbit of its members, if they are two.
    pub orbit: Option<PairOrbit>,
    /// True while the internal motion is integrated with the forces of others.
    pub is_perturbed: bool,
    /// True while it is orbit-averaged: in the coupling with a perturber, as a stable triple or quadruple, or as the inner pair of
    /// one.
    pub is_averaged: bool,
    /// Energy that the integration neglects: Σ |(1 − K) φ| over all others, with the energy φ of one of them and the members
    /// less that with their centre of mass, of which the part K is integrated. Bodies of mass m at a distance r are left out where
    /// m (s / r)³ is below 1e-12 of the mass, or 1e-16 N of more than 10000 bodies, with the size s of the subsystem. 0 for one that is
    /// inside of another.
    pub neglected: f64,
    /// Its stars relative to its centre of mass; none for one that is inside of another.
    pub stars: Vec<StarInside>,
}

/// Star of a subsystem relative to the centre of mass of that, in internal units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StarInside {
    /// Its id.
    pub id: u64,
    /// Position.
    pub pos: Vec3,
    /// Velocity.
    pub vel: Vec3,
}
