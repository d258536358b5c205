//! Forces on targets: the contract that every force engine implements, and the engines.
//!
//! An engine holds its own copy of the sources and predicts them, as a GRAPE does, so that only the active particles
//! cross from host to engine and back in a block step. All engines compute the [canonical sum](canonical). An engine
//! evaluates either accelerations alone or acceleration, jerk and potential; its type says which.

pub mod block_steps;
pub mod canonical;
pub mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
mod engine_kind;
pub mod external;
mod given;
pub mod mode;
pub mod neighbours;
pub mod noise;
pub mod operations;
mod points;
pub mod precision;
pub mod profile;
pub mod range;
pub mod real;
pub mod reference;
mod source_forces;
pub mod split;

pub use engine_kind::EngineKind;
pub use given::GivenForces;
pub use points::{FieldEngine, NO_SOURCE, Points};
pub use source_forces::SourceForces;

use crate::error::{Error, Result};
use crate::gravity::Force;
use crate::law::Law;
use crate::particles::{Particles, Vec3};
use crate::time::Time;
use block_steps::{Pause, Span, StepRules, Taken};
use external::{ExternalField, for_step};
use neighbours::{NeighbourForces, NeighbourTargets};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

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
    #[must_use]
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Returns true if there are no targets.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Returns the targets at the places `part`.
    #[must_use]
    pub fn part(&self, part: Range<usize>) -> Self {
        Self { index: &self.index[part.clone()], pos: &self.pos[part.clone()], vel: &self.vel[part] }
    }

    /// Checks that the targets are all `n` particles, as engines of [`Accelerations`] require.
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
    #[must_use]
    pub fn view(&self) -> Targets<'_> {
        Targets { index: &self.index, pos: &self.pos, vel: &self.vel }
    }

    /// Number of particles.
    #[must_use]
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Returns true if there are no particles.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }
}

/// Quantities that a [`ForceEngine`] evaluates on targets, in columns: [`Forces`] or [`Accelerations`].
pub trait Evaluation: Default + Send + 'static {
    /// Accelerations, in the targets' order.
    fn acc(&self) -> &[Vec3];

    /// Potentials per unit mass, in the targets' order, if they are evaluated: those of the pairs alone.
    fn pot(&self) -> Option<&[f64]>;

    /// Adds an external field at the time `t` to what was evaluated on `targets`.
    fn add_external(&mut self, field: &dyn ExternalField, targets: Targets<'_>, t: f64);

    /// Returns the columns of pairs' quantities for `n` targets, resized to these, each with its numbers a target.
    fn columns(&mut self, n: usize) -> Vec<(usize, &mut [f64])>;

    /// Returns the same columns as they are.
    fn as_columns(&self) -> Vec<(usize, &[f64])>;
}

/// Acceleration, jerk and potential on targets, one entry a target, in the targets' order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Forces {
    /// Acceleration.
    pub acc: Vec<Vec3>,
    /// Jerk.
    pub jerk: Vec<Vec3>,
    /// Potential per unit mass of the pairs, self term left out.
    pub pot: Vec<f64>,
    /// Potential per unit mass of an [external field](external); empty where there is none.
    pub external: Vec<f64>,
    /// Acceleration by an external field, which is part of `acc`; empty where there is none.
    pub external_acc: Vec<Vec3>,
}

impl Forces {
    /// Resizes the columns to `n` targets without an external field, and keeps the allocation.
    pub fn resize(&mut self, n: usize) {
        self.external.clear();
        self.external_acc.clear();
        self.acc.resize(n, Vec3::zeros());
        self.jerk.resize(n, Vec3::zeros());
        self.pot.resize(n, 0.0);
    }

    /// Stores the force on target `k`.
    #[inline]
    pub fn set(&mut self, k: usize, pull: &Force) {
        self.acc[k] = pull.acc;
        self.jerk[k] = pull.jerk;
        self.pot[k] = pull.pot;
    }

    /// Returns the sums of these forces and others on the same targets, with the external field of the others.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let vectors = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| a + b).collect();
        Self {
            acc: vectors(&self.acc, &other.acc),
            jerk: vectors(&self.jerk, &other.jerk),
            pot: self.pot.iter().zip(&other.pot).map(|(a, b)| a + b).collect(),
            external: other.external.clone(),
            external_acc: other.external_acc.clone(),
        }
    }

    /// Returns the acceleration of target `k` by which its next step is measured; see [`for_step`].
    #[inline(always)]
    #[must_use]
    pub fn acc_for_step(&self, k: usize) -> Vec3 {
        let external = self.external_acc.get(k);
        external.map_or(self.acc[k], |external| for_step(self.acc[k], *external))
    }

    /// Replaces the forces on some targets by their places.
    pub fn replace(&mut self, places: &[u32], by: &Self) {
        for (k, place) in places.iter().map(|&k| k as usize).enumerate() {
            (self.acc[place], self.jerk[place], self.pot[place]) = (by.acc[k], by.jerk[k], by.pot[k]);
        }
    }
}

impl Evaluation for Forces {
    fn acc(&self) -> &[Vec3] {
        &self.acc
    }

    fn pot(&self) -> Option<&[f64]> {
        Some(&self.pot)
    }

    fn add_external(&mut self, field: &dyn ExternalField, targets: Targets<'_>, t: f64) {
        self.external.resize(targets.len(), 0.0);
        self.external_acc.resize(targets.len(), Vec3::zeros());
        let sums = self.acc.par_iter_mut().zip(&mut self.jerk);
        let own = self.external.par_iter_mut().zip(&mut self.external_acc);
        let states = targets.pos.par_iter().zip(targets.vel);
        sums.zip(own).zip(states).with_min_len(external::SHARE).for_each(|(((acc, jerk), (pot, by)), (&x, &v))| {
            *by = field.acc(x, t);
            *acc += *by;
            *jerk += field.jerk(x, v, t);
            *pot = field.pot(x, t);
        });
    }

    fn columns(&mut self, n: usize) -> Vec<(usize, &mut [f64])> {
        self.resize(n);
        let Self { acc, jerk, pot, .. } = self;
        vec![(3, bytemuck::cast_slice_mut(acc)), (3, bytemuck::cast_slice_mut(jerk)), (1, pot)]
    }

    fn as_columns(&self) -> Vec<(usize, &[f64])> {
        vec![(3, bytemuck::cast_slice(&self.acc)), (3, bytemuck::cast_slice(&self.jerk)), (1, &self.pot)]
    }
}

/// Accelerations alone, of all particles: a third of the arithmetic of [`Forces`], and sufficient for schemes with one
/// shared step and no derivative of the force.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accelerations {
    /// Acceleration.
    pub acc: Vec<Vec3>,
}

impl Evaluation for Accelerations {
    fn acc(&self) -> &[Vec3] {
        &self.acc
    }

    fn pot(&self) -> Option<&[f64]> {
        None
    }

    fn add_external(&mut self, field: &dyn ExternalField, targets: Targets<'_>, t: f64) {
        let columns = self.acc.par_iter_mut().zip(targets.pos).with_min_len(external::SHARE);
        columns.for_each(|(acc, &x)| *acc += field.acc(x, t));
    }

    fn columns(&mut self, n: usize) -> Vec<(usize, &mut [f64])> {
        self.acc.resize(n, Vec3::zeros());
        vec![(3, bytemuck::cast_slice_mut(&mut self.acc))]
    }

    fn as_columns(&self) -> Vec<(usize, &[f64])> {
        vec![(3, bytemuck::cast_slice(&self.acc))]
    }
}

/// Engine that holds all particles as sources and evaluates `E` on targets: the GRAPE contract. Its sums are the
/// [canonical] ones, so that the accelerations among [`Forces`] have the bits of [`Accelerations`] in the same mode.
///
/// An engine of [`Accelerations`] takes all particles as its targets in every evaluation. Therefore it needs only the
/// masses from [`load`](Self::load) and nothing from [`update`](Self::update), which such schemes need not call; it
/// predicts nothing and reads no velocities.
pub trait ForceEngine<E: Evaluation = Forces>: Send {
    /// Copies all particles as sources and replaces those held before.
    ///
    /// # Errors
    /// If the engine cannot hold them.
    fn load(&mut self, all: &Particles) -> Result<()>;

    /// Copies the new state of the particles `changed` (indices, strictly ascending), after a correction.
    ///
    /// # Errors
    /// If the engine fails.
    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()>;

    /// Evaluates the forces on `targets` at the moment `now`, with every source predicted to `now`. Sources that are
    /// targets stand at the positions in `targets`, so that a second call with corrected targets is the second
    /// evaluation of P(EC)². The self pair is left out exactly. `out` is resized to the targets, in their order.
    ///
    /// # Errors
    /// If the engine fails; of [`Accelerations`], if the targets are not all particles.
    fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut E) -> Result<()>;

    /// Evaluates the forces on the targets `part` alone, with the sources and the bits of [`evaluate`](Self::evaluate) on
    /// all of them. `out` is resized to the part. For engines that share the targets of a block; see [`split`].
    ///
    /// # Errors
    /// If the engine cannot, or fails.
    fn evaluate_part(&mut self, _now: Time, _targets: Targets<'_>, _part: Range<usize>, _out: &mut E) -> Result<()> {
        let problem = "this engine does not evaluate a part of the targets";
        Err(Error::Integration { problem: problem.into(), help: None })
    }

    /// Evaluates irregular forces on all targets, and regular forces, new lists and irregular forces by these on some of
    /// them, with sources as in [`evaluate`](Self::evaluate). The particles that were loaded must have room for lists (see
    /// [`Neighbours`](crate::states::neighbours::Neighbours)). An external field is in the irregular forces.
    ///
    /// # Errors
    /// If the engine cannot, or fails.
    fn evaluate_neighbours(&mut self, _: &NeighbourTargets<'_>, _: &mut NeighbourForces<E>) -> Result<()> {
        Err(neighbours::not_here())
    }

    /// Sets the time at tick 0, on which only forces that change with time depend, for a system that starts anew at
    /// another time.
    fn set_start(&mut self, _: f64) {}

    /// Returns the law that the engine computes in place of Newton's, and its softening squared, if it does.
    fn law(&self) -> Option<(Arc<Law>, f64)> {
        None
    }

    /// Returns true if the engine can take whole block steps of the particles that it holds; see
    /// [`take_steps`](Self::take_steps).
    ///
    /// # Errors
    /// If the engine fails.
    fn can_take_steps(&mut self) -> Result<bool> {
        Ok(false)
    }

    /// Takes block steps of the 4th-order Hermite scheme with the particles that the engine holds, as the host would, bit
    /// for bit, and stores the new state in `p`. Returns [`None`], and does nothing, if the engine cannot, or not these.
    /// May return early where `pause` says so.
    ///
    /// # Errors
    /// If the engine fails.
    fn take_steps(
        &mut self,
        _p: &mut Particles,
        _rules: &StepRules,
        _span: Span,
        _pause: Option<&Pause>,
    ) -> Result<Option<Taken>> {
        Ok(None)
    }

    /// Returns the seconds that each phase of the last evaluation took, by name; empty unless the engine was built to
    /// measure them.
    ///
    /// # Errors
    /// If the engine fails.
    fn spent(&self) -> Result<Vec<(&'static str, f64)>> {
        Ok(Vec::new())
    }
}

/// Acceleration and potential of every particle at its current position, one entry a particle, in internal units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Field {
    /// Acceleration, that by an external field included.
    pub acc: Vec<Vec3>,
    /// Potential per unit mass of the pairs, self term left out.
    pub pot: Vec<f64>,
    /// Potential per unit mass of an [external field](external); empty where there is none.
    pub external: Vec<f64>,
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
