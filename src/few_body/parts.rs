//! Motion of few bodies as plain numbers, for checkpoints.

use super::chain::{Chain, total};
use super::motion::Motion;
use tisane_force::error::{Error, Result};
use tisane_force::particles::Vec3;

/// Numbers of a [`Motion`], from which it is made again to the same bits.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    /// Number of each body along the chain.
    pub order: Vec<u64>,
    /// Evaluations of the forces so far.
    pub evaluations: u64,
    /// Masses, positions, velocities, and all else.
    pub numbers: Vec<f64>,
}

impl Motion {
    /// Returns all numbers, for a checkpoint.
    #[must_use]
    pub fn parts(&self) -> Parts {
        let Chain { mass, pos, vel, low_pos, low_vel, .. } = &self.chain;
        let vectors = [pos, vel, low_pos, low_vel].into_iter().flatten().flat_map(|v| [v[0], v[1], v[2]]);
        let rest = [self.energy.0, self.energy.1, self.step, self.first, self.tolerance];
        Parts {
            order: self.chain.body.iter().map(|&body| body as u64).collect(),
            evaluations: self.evaluations,
            numbers: mass.iter().copied().chain(vectors).chain(rest).collect(),
        }
    }

    /// Returns the motion with these numbers.
    ///
    /// # Errors
    /// [`Error::Input`] for numbers of another count, and for an order that is none.
    pub fn from_parts(parts: &Parts) -> Result<Self> {
        let Parts { order, evaluations, numbers } = parts;
        let n = order.len();
        let is_order = (0..n as u64).all(|body| order.contains(&body));
        if n < 2 || !is_order || numbers.len() != n + 12 * (n - 1) + 5 {
            return Err(Error::input("few bodies", format!("{} numbers of {n} bodies are no motion", numbers.len())));
        }
        let (mass, rest) = numbers.split_at(n);
        let (vectors, rest) = rest.split_at(12 * (n - 1));
        let column = |k: usize| {
            let numbers = &vectors[3 * k * (n - 1)..][..3 * (n - 1)];
            numbers.chunks_exact(3).map(Vec3::from_column_slice).collect()
        };
        let mut by_number = mass.to_vec();
        order.iter().zip(mass).for_each(|(&body, &mass)| by_number[body as usize] = mass);
        let chain = Chain {
            mass: mass.to_vec(),
            total: total(&by_number),
            body: order.iter().map(|&body| body as usize).collect(),
            pos: column(0),
            vel: column(1),
            low_pos: column(2),
            low_vel: column(3),
        };
        let [energy, low, step, first, tolerance] = [0, 1, 2, 3, 4].map(|k| rest[k]);
        Ok(Self { chain, energy: (energy, low), step, first, tolerance, evaluations: *evaluations })
    }
}
