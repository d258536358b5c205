//! Accelerations and potentials of all particles, for diagnostics.

use super::engine::ForceEngine;
use super::external::guide::About;
use super::forces::Forces;
use super::targets::Targets;
use crate::error::Result;
use crate::particles::{Particles, Vec3};
use crate::time::Time;

/// Acceleration and potential of every particle at its current position, one entry a particle, in internal units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Field {
    /// Acceleration, that by an external field included.
    pub acc: Vec<Vec3>,
    /// Potential per unit mass of the pairs, self term left out.
    pub pot: Vec<f64>,
    /// Potential per unit mass of an [external field](super::external); empty where there is none.
    pub external: Vec<f64>,
    /// Moving origin that the places are relative to; none where it is at rest.
    pub about: Option<About>,
}

impl Field {
    /// Evaluates the field of a system that is synchronised at `now` and that `engine` holds, for diagnostics. Works in
    /// tiles of targets, so that it takes 32 bytes a particle and not 108.
    ///
    /// # Errors
    /// As [`ForceEngine::evaluate`].
    pub fn from_engine(p: &Particles, engine: &mut dyn ForceEngine, now: Time) -> Result<Self> {
        const TILE: usize = 1 << 14;
        let n = p.len();
        let mut field = Self { acc: Vec::with_capacity(n), pot: Vec::with_capacity(n), ..Self::default() };
        let (mut index, mut forces) = (Vec::new(), Forces::default());
        for first in (0..n).step_by(TILE) {
            let tile = first..n.min(first + TILE);
            index.clear();
            index.extend(tile.start as u32..tile.end as u32);
            let targets = Targets { index: &index, pos: &p.pos[tile.clone()], vel: &p.vel[tile] };
            engine.evaluate(now, targets, &mut forces)?;
            field.acc.extend_from_slice(&forces.acc);
            field.pot.extend_from_slice(&forces.pot);
            field.external.extend_from_slice(&forces.external);
        }
        Ok(field)
    }
}
