//! The particles of a cluster.

use super::followed::FollowedPair;
use tisane_force::pair::Body;
use tisane_force::particles::{Particles, Vec3};
use tisane_stellar::State;

/// The particles of a cluster, all at one time, as columns in internal units (G = 1).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stars {
    /// Unique identity.
    pub id: Vec<u64>,
    /// Mass.
    pub mass: Vec<f64>,
    /// Position.
    pub pos: Vec<Vec3>,
    /// Velocity.
    pub vel: Vec<Vec3>,
    /// Potential per unit mass, self term left out, softened as the forces are.
    pub pot: Vec<f64>,
    /// States of stars that age, one a particle; empty where they do not.
    pub states: Vec<State>,
    /// Bound pairs that an integrator follows as subsystems, those inside of others too; empty where there are none.
    pub followed: Vec<FollowedPair>,
}

impl Stars {
    /// Returns particles that all stand at one time, with their potentials `pot`, without states of stars and subsystems.
    #[must_use]
    pub fn new(p: &Particles, pot: &[f64]) -> Self {
        let Particles { id, mass, pos, vel, .. } = p;
        Self {
            id: id.clone(),
            mass: mass.clone(),
            pos: pos.clone(),
            vel: vel.clone(),
            pot: pot.to_vec(),
            states: Vec::new(),
            followed: Vec::new(),
        }
    }

    /// Returns the number of particles.
    #[must_use]
    pub fn len(&self) -> usize {
        self.mass.len()
    }

    /// Returns true if there are no particles.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.mass.is_empty()
    }

    pub(super) fn body(&self, i: u32) -> Body {
        let i = i as usize;
        Body { mass: self.mass[i], pos: self.pos[i], vel: self.vel[i] }
    }
}
