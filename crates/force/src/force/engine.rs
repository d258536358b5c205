//! The contract of force engines.

use super::block_steps::{NextStep, Pause, Span, StepField, StepRules, Taken};
use super::external::parts::FieldParts;
use super::forces::{Evaluation, Forces};
use super::neighbours::{NeighbourForces, NeighbourTargets, not_here};
use super::targets::Targets;
use super::watch::Watch;
use crate::error::{Error, Result};
use crate::law::Law;
use crate::particles::{Particles, Vec3};
use crate::time::Time;
use std::ops::Range;
use std::sync::Arc;

/// Engine that holds all particles as sources and evaluates `E` on targets: the GRAPE contract. Its sums are the
/// [canonical](super::canonical) ones, so that the accelerations among [`Forces`] have the bits of
/// [`Accelerations`](super::Accelerations) in the same mode.
///
/// An engine of accelerations alone takes all particles as its targets in every evaluation. Therefore it needs only the
/// masses from [`load`](Self::load) and nothing from [`update`](Self::update), which such schemes need not call; it
/// predicts nothing and reads no velocities.
pub trait ForceEngine<E: Evaluation = Forces>: Send {
    /// Copies all particles as sources and replaces those held before. Where every stage is in f64, they are predicted by
    /// their [derivatives](Particles::derivatives) too.
    ///
    /// # Errors
    /// If the engine cannot hold them.
    fn load(&mut self, all: &Particles) -> Result<()>;

    /// Copies the new state of the particles `changed` (indices, strictly ascending), after a correction.
    ///
    /// # Errors
    /// If the engine fails.
    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()>;

    /// Copies rows of particles (indices, strictly ascending) of which everything may have changed, masses too. Rows at the
    /// end may be new; none is gone. Afterwards all sums have the bits that they have after [`load`](Self::load), which is
    /// what engines do that cannot do with less.
    ///
    /// # Errors
    /// If the engine cannot hold them.
    fn replace(&mut self, all: &Particles, _changed: &[u32]) -> Result<()> {
        self.load(all)
    }

    /// Returns the number of [derivatives](Particles::derivatives) by which the engine predicts its sources besides
    /// acceleration and jerk.
    fn derivatives(&self) -> usize {
        0
    }

    /// Evaluates the forces on `targets` at the moment `now`, with every source predicted to `now`. Sources that are
    /// targets stand at the positions in `targets`, so that a second call with corrected targets is the second
    /// evaluation of P(EC)². The self pair is left out exactly. `out` is resized to the targets, in their order.
    ///
    /// # Errors
    /// If the engine fails; where it evaluates accelerations alone, if the targets are not all particles.
    fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut E) -> Result<()>;

    /// Starts the evaluation of the forces on `targets` at `now`, and returns while a device is at work on it, so that the caller
    /// can do something else. [`evaluate`](Self::evaluate) with the same arguments, which must be the next call, completes it. Does
    /// nothing where the engine works on the caller's threads.
    ///
    /// # Errors
    /// If the engine fails.
    fn begin(&mut self, _now: Time, _targets: Targets<'_>) -> Result<()> {
        Ok(())
    }

    /// Starts the evaluation of forces in two parts, as [`begin`](Self::begin) does of whole ones:
    /// [`evaluate_neighbours`](Self::evaluate_neighbours) with the same task, which must be the next call, completes it.
    ///
    /// # Errors
    /// If the engine fails.
    fn begin_neighbours(&mut self, _: &NeighbourTargets<'_>) -> Result<()> {
        Ok(())
    }

    /// Evaluates the forces on the targets `part` alone, with the sources and the bits of [`evaluate`](Self::evaluate) on
    /// all of them. `out` is resized to the part. For engines that share the targets of a block; see
    /// [`split`](super::split).
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
        Err(not_here())
    }

    /// Sets the time at tick 0, on which only forces that change with time depend, for a system that starts anew at
    /// another time.
    fn set_start(&mut self, _: f64) {}

    /// Returns the law that the engine computes in place of Newton's, and its softening squared, if it does.
    fn law(&self) -> Option<(Arc<Law>, f64)> {
        None
    }

    /// Returns the potential of external fields at a place at the moment `now`, per unit mass and in internal units; 0 without a
    /// field.
    ///
    /// # Errors
    /// If the field cannot be followed to that moment.
    fn external_potential(&self, _now: Time, _pos: Vec3) -> Result<f64> {
        Ok(0.0)
    }

    /// Returns the tidal tensors of external fields at some places at the moment `now`, in internal units: xx, xy, xz, yy, yz, zz;
    /// none without a field.
    ///
    /// # Errors
    /// If the field cannot be followed to that moment.
    fn external_tides(&self, _now: Time, _pos: &[Vec3]) -> Result<Vec<[f64; 6]>> {
        Ok(Vec::new())
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

    /// Takes one block step as [`take_steps`](Self::take_steps) does, and stores the new state of the block in `p`. The engine may work
    /// on the step after it while the caller looks at this one. A caller that changes particles tells it by [`load`](Self::load),
    /// [`update`](Self::update), [`replace`](Self::replace) or [`reschedule`](Self::reschedule). Returns [`None`], and does nothing, if
    /// the engine cannot; a step that was refused is the caller's too.
    ///
    /// # Errors
    /// If the engine fails.
    fn take_step(&mut self, _p: &mut Particles, _rules: &StepRules, _next: NextStep<'_>) -> Result<Option<Taken>> {
        Ok(None)
    }

    /// Takes block steps as [`take_steps`](Self::take_steps) does, up to the first after which particles of the block may form a pair
    /// by `watch`, which says which, and stores the new state of those that have moved in `p`.
    ///
    /// # Errors
    /// If the engine fails.
    fn take_watched_steps(
        &mut self,
        _p: &mut Particles,
        _rules: &StepRules,
        _span: Span,
        _watch: &mut Watch<'_>,
        _pause: Option<&Pause>,
    ) -> Result<Option<Taken>> {
        Ok(None)
    }

    /// Takes note that the caller has given some particles (in any order) other steps.
    fn reschedule(&mut self, _changed: &[u32]) {}

    /// Returns true if the engine can take whole block steps in an external field; see [`take_steps_in`](Self::take_steps_in).
    ///
    /// # Errors
    /// If the engine fails.
    fn can_take_steps_in(&mut self, _: &Arc<FieldParts>) -> Result<bool> {
        Ok(false)
    }

    /// Takes block steps as [`take_steps`](Self::take_steps) does, with an external field that acts besides the forces of the engine.
    ///
    /// # Errors
    /// If the engine fails.
    fn take_steps_in(
        &mut self,
        _: StepField<'_>,
        _p: &mut Particles,
        _rules: &StepRules,
        _span: Span,
        _pause: Option<&Pause>,
    ) -> Result<Option<Taken>> {
        Ok(None)
    }

    /// Takes one block step as [`take_step`](Self::take_step) does, with an external field.
    ///
    /// # Errors
    /// If the engine fails.
    fn take_step_in(
        &mut self,
        _: StepField<'_>,
        _p: &mut Particles,
        _rules: &StepRules,
        _next: NextStep<'_>,
    ) -> Result<Option<Taken>> {
        Ok(None)
    }

    /// Takes block steps as [`take_watched_steps`](Self::take_watched_steps) does, with an external field.
    ///
    /// # Errors
    /// If the engine fails.
    fn take_watched_steps_in(
        &mut self,
        _: StepField<'_>,
        _p: &mut Particles,
        _rules: &StepRules,
        _span: Span,
        _watch: &mut Watch<'_>,
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
