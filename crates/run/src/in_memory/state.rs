//! Particles as a program sees them.

use tisane::particles::{Particles, Vec3};

/// Particles as a program sees them: one column a quantity, in the units of the configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Identities.
    pub id: Vec<u64>,
    /// Masses; unit: mass.
    pub mass: Vec<f64>,
    /// Positions; unit: length.
    pub pos: Vec<Vec3>,
    /// Velocities; unit: velocity.
    pub vel: Vec<Vec3>,
}

impl State {
    /// Converts particles by the factors of mass, length and velocity.
    pub(super) fn new(p: &Particles, [mass, length, velocity]: [f64; 3]) -> Self {
        Self {
            id: p.id.clone(),
            mass: p.mass.iter().map(|m| m * mass).collect(),
            pos: p.pos.iter().map(|x| x * length).collect(),
            vel: p.vel.iter().map(|v| v * velocity).collect(),
        }
    }
}
