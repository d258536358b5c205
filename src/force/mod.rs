//! Force, jerk and potential on a block of targets: the contract and the engines.
//!
//! An engine holds its own copy of the sources and predicts them, as a GRAPE does, so that per block step only the block
//! crosses from host to engine and back. All engines compute the [canonical sum](canonical).

pub mod canonical;
pub mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
pub mod mode;
pub mod precision;
pub mod range;
pub mod real;
pub mod reference;

use crate::error::Result;
use crate::gravity::Pull;
use crate::particles::{Particles, Vec3};
use crate::time::Time;

/// A block: the particles whose forces are wanted, at their predicted state.
#[derive(Clone, Debug, Default)]
pub struct Targets {
    /// Index of each target in [`Particles`], strictly ascending.
    pub index: Vec<u32>,
    /// Position, predicted to the moment of evaluation.
    pub pos: Vec<Vec3>,
    /// Velocity, predicted likewise.
    pub vel: Vec<Vec3>,
}

impl Targets {
    /// Number of targets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }
}

/// Forces on a block, one entry a target, in the targets' order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Forces {
    /// Acceleration.
    pub acc: Vec<Vec3>,
    /// Jerk.
    pub jerk: Vec<Vec3>,
    /// Potential per unit mass, self term left out.
    pub pot: Vec<f64>,
}

impl Forces {
    /// Makes room for `n` targets; keeps the allocation.
    pub fn resize(&mut self, n: usize) {
        self.acc.resize(n, Vec3::zeros());
        self.jerk.resize(n, Vec3::zeros());
        self.pot.resize(n, 0.0);
    }

    /// Stores the force on target `k`.
    #[inline]
    pub fn set(&mut self, k: usize, pull: &Pull) {
        self.acc[k] = pull.acc;
        self.jerk[k] = pull.jerk;
        self.pot[k] = pull.pot;
    }
}

/// What computes forces: the GRAPE contract and nothing more.
pub trait ForceEngine: Send {
    /// Takes over all particles as sources.
    ///
    /// # Errors
    /// If the engine cannot hold them.
    fn load(&mut self, all: &Particles) -> Result<()>;

    /// Takes over the new state of the particles `changed` (indices, strictly ascending), after a correction.
    ///
    /// # Errors
    /// If the engine fails.
    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()>;

    /// Forces on `targets` at the moment `now`, with every source predicted to `now`; sources that are targets stand
    /// where `targets` puts them, so that a second call with corrected targets is the second evaluation of P(EC)².
    /// The self pair is left out exactly. `out` is resized to the targets.
    ///
    /// # Errors
    /// If the engine fails.
    fn evaluate(&mut self, now: Time, targets: &Targets, out: &mut Forces) -> Result<()>;

    /// Seconds that the phases of the last evaluation took, by name, where the engine was built to measure them.
    ///
    /// # Errors
    /// If the engine fails.
    fn spent(&self) -> Result<Vec<(&'static str, f64)>> {
        Ok(Vec::new())
    }
}

/// What computes accelerations alone, those of all particles on each other where they stand: all that schemes with a shared
/// step and no derivative need, at a third of the arithmetic. Its sums are the [canonical] ones, like those of a
/// [`ForceEngine`] of the same mode.
pub trait AccelerationEngine: Send {
    /// Takes over the particles' masses; their number stays.
    ///
    /// # Errors
    /// If the engine cannot hold them.
    fn load(&mut self, mass: &[f64]) -> Result<()>;

    /// Accelerations of all particles standing at `pos`, in their order; the self pair is left out exactly. `acc` is
    /// resized to them.
    ///
    /// # Errors
    /// If the engine fails.
    fn accelerate(&mut self, pos: &[Vec3], acc: &mut Vec<Vec3>) -> Result<()>;

    /// Seconds that the phases of the last evaluation took, by name, where the engine was built to measure them.
    ///
    /// # Errors
    /// If the engine fails.
    fn spent(&self) -> Result<Vec<(&'static str, f64)>> {
        Ok(Vec::new())
    }
}

/// Acceleration and potential of every particle where it stands, one value a particle.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Field {
    /// Acceleration.
    pub acc: Vec<Vec3>,
    /// Potential per unit mass, self term left out.
    pub pot: Vec<f64>,
}

impl Field {
    /// The field at a moment `now` at which the whole system is synchronised and `engine` holds it: for diagnostics.
    /// Evaluated in tiles, so that it takes 32 bytes a particle and not a whole block's 108.
    ///
    /// # Errors
    /// As [`ForceEngine::evaluate`].
    pub fn of(p: &Particles, engine: &mut dyn ForceEngine, now: Time) -> Result<Self> {
        const TILE: usize = 1 << 14;
        let n = p.len();
        let mut field = Self { acc: Vec::with_capacity(n), pot: Vec::with_capacity(n) };
        let (mut targets, mut forces) = (Targets::default(), Forces::default());
        for first in (0..n).step_by(TILE) {
            let tile = first..n.min(first + TILE);
            targets.index.clear();
            targets.index.extend(tile.start as u32..tile.end as u32);
            targets.pos.clear();
            targets.pos.extend_from_slice(&p.pos[tile.clone()]);
            targets.vel.clear();
            targets.vel.extend_from_slice(&p.vel[tile]);
            engine.evaluate(now, &targets, &mut forces)?;
            field.acc.extend_from_slice(&forces.acc);
            field.pot.extend_from_slice(&forces.pot);
        }
        Ok(field)
    }
}
