//! Particles on which forces are evaluated: borrowed, or with their own memory.

use crate::error::{Error, Result};
use crate::particles::{Particles, Vec3};
use std::ops::Range;

/// Particles on which forces are evaluated, at their state predicted to the moment of evaluation. Borrowed from a
/// [`Block`], or from the columns of [`Particles`] where nothing has to be predicted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Targets<'a> {
    /// Index of each target in [`Particles`], strictly ascending.
    pub index: &'a [u32],
    /// Predicted position of each target.
    pub pos: &'a [Vec3],
    /// Predicted velocity of each target.
    pub vel: &'a [Vec3],
}

impl<'a> Targets<'a> {
    /// Creates targets of all particles at their current positions; `index` holds 0 … N−1.
    #[must_use]
    pub fn all(p: &'a Particles, index: &'a [u32]) -> Self {
        Self { index, pos: &p.pos, vel: &p.vel }
    }

    /// Number of targets.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Returns true if there are no targets.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Returns the targets at the places `part`.
    #[must_use]
    pub fn part(&self, part: Range<usize>) -> Self {
        Self { index: &self.index[part.clone()], pos: &self.pos[part.clone()], vel: &self.vel[part] }
    }

    /// Checks that the targets are all `n` particles, as engines of [`Accelerations`](super::Accelerations) require.
    ///
    /// # Errors
    /// [`Error::Integration`] with both numbers if they are not.
    pub fn check_all(&self, n: usize) -> Result<()> {
        if self.len() == n {
            return Ok(());
        }
        let problem = format!(
            "an engine of accelerations expects all {n} particles that it holds as targets, and was given {}",
            self.len()
        );
        Err(Error::Integration { problem, help: None })
    }
}

/// Predicted state of some particles in columns: [`Targets`] that own their memory.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Index of each particle in [`Particles`], strictly ascending.
    pub index: Vec<u32>,
    /// Predicted position.
    pub pos: Vec<Vec3>,
    /// Predicted velocity.
    pub vel: Vec<Vec3>,
}

impl Block {
    /// Copies the particles `index`, strictly ascending, at their current positions.
    #[must_use]
    pub fn from_particles(p: &Particles, index: Vec<u32>) -> Self {
        let pos = index.iter().map(|&i| p.pos[i as usize]).collect();
        let vel = index.iter().map(|&i| p.vel[i as usize]).collect();
        Self { index, pos, vel }
    }

    /// Copies some targets by their places, ascending.
    #[must_use]
    pub fn of_places(targets: Targets<'_>, places: &[u32]) -> Self {
        let of = |k: &u32| *k as usize;
        Self {
            index: places.iter().map(|k| targets.index[of(k)]).collect(),
            pos: places.iter().map(|k| targets.pos[of(k)]).collect(),
            vel: places.iter().map(|k| targets.vel[of(k)]).collect(),
        }
    }

    /// Borrows the block as targets.
    #[inline]
    #[must_use]
    pub fn view(&self) -> Targets<'_> {
        Targets { index: &self.index, pos: &self.pos, vel: &self.vel }
    }

    /// Number of particles.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Returns true if there are no particles.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }
}
