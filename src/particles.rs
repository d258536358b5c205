//! The particles, as columns.

use crate::time::{Clock, Level, Time};
use sha2::{Digest, Sha256};

/// A vector in space.
pub type Vec3 = [f64; 3];

/// All particles of a system, one column a quantity, all of length N, in internal units (G = 1). The host's truth: every
/// particle stands at its own [`time`](Self::time).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Particles {
    /// Identity, unique, kept from the input for ever.
    pub id: Vec<u64>,
    /// Mass.
    pub mass: Vec<f64>,
    /// Position at the particle's own time.
    pub pos: Vec<Vec3>,
    /// Velocity.
    pub vel: Vec<Vec3>,
    /// Acceleration, as evaluated at the predicted position.
    pub acc: Vec<Vec3>,
    /// Jerk, d acc / dt.
    pub jerk: Vec<Vec3>,
    /// Potential per unit mass, self term left out.
    pub pot: Vec<f64>,
    /// The moment that the particle has reached.
    pub time: Vec<Time>,
    /// Block level of its next step.
    pub step: Vec<Level>,
}

impl Particles {
    /// Particles at rest in time: positions and velocities given, everything else zero, ids 0 … N−1.
    ///
    /// # Panics
    /// If the columns differ in length: a programming error.
    #[must_use]
    pub fn new(mass: Vec<f64>, pos: Vec<Vec3>, vel: Vec<Vec3>) -> Self {
        let n = mass.len();
        assert!(pos.len() == n && vel.len() == n, "columns of different lengths");
        Self {
            id: (0..n as u64).collect(),
            mass,
            pos,
            vel,
            acc: vec![[0.0; 3]; n],
            jerk: vec![[0.0; 3]; n],
            pot: vec![0.0; n],
            time: vec![Time::default(); n],
            step: vec![Level::default(); n],
        }
    }

    /// Number of particles.
    #[must_use]
    pub fn len(&self) -> usize {
        self.mass.len()
    }

    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.mass.is_empty()
    }

    /// Total mass, compensated.
    #[must_use]
    pub fn total_mass(&self) -> f64 {
        crate::sum::sum(self.mass.iter().copied())
    }

    /// SHA-256 of the state: mass, pos, vel, time of all particles in id order as little-endian f64, one particle after the
    /// other (m, x, y, z, vx, vy, vz, t), in internal units. Lower-case hexadecimal.
    #[must_use]
    pub fn state_sha256(&self, clock: &Clock) -> String {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by_key(|&i| self.id[i]);
        let mut hash = Sha256::new();
        for i in order {
            let t = clock.time(self.time[i]);
            let [x, y, z] = self.pos[i];
            let [vx, vy, vz] = self.vel[i];
            for value in [self.mass[i], x, y, z, vx, vy, vz, t] {
                hash.update(value.to_le_bytes());
            }
        }
        hexadecimal(&hash.finalize())
    }
}

/// Returns bytes as lower-case hexadecimal digits, the text form of hashes.
#[must_use]
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_depends_on_every_bit_and_not_on_storage_order() {
        let p = Particles::new(vec![1.0, 2.0], vec![[0.0; 3], [1.0; 3]], vec![[0.0; 3]; 2]);
        let mut swapped = p.clone();
        swapped.id.swap(0, 1);
        swapped.mass.swap(0, 1);
        swapped.pos.swap(0, 1);
        let clock = Clock { start: 0.0, dt_max: 0.125 };
        assert_eq!(p.state_sha256(&clock), swapped.state_sha256(&clock));
        let mut touched = p.clone();
        touched.vel[1][2] = f64::from_bits(1);
        assert_ne!(p.state_sha256(&clock), touched.state_sha256(&clock));
    }
}
