//! The contract of all integrators: they advance a system by block steps, given an engine for the forces.

use crate::star_changes::{Lost, StarChanges};
use crate::subsystems::Subsystems;
use tisane_force::error::{Error, Result};
use tisane_force::force::block_steps::{Pause, StepRules, StepScheme};
use tisane_force::force::profile::Profiler;
use tisane_force::force::range::{OutOfRange, Range};
use tisane_force::force::{Evaluation, Field, ForceEngine, Forces, Targets};
use tisane_force::particles::Particles;
use tisane_force::time::Time;
use tisane_force::units::Scale;

/// Work done by one call of an integrator, summed over its block steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Moment reached by the particles that moved last.
    pub now: Time,
    /// Number of block steps.
    pub block_steps: u64,
    /// Number of particle steps: the sum of the sizes of all blocks.
    pub particle_steps: u64,
    /// Number of pairs evaluated, self pairs not counted.
    pub pairs: u64,
    /// Number of particle steps that would have been below the floor and were clamped to it.
    pub clamped: u64,
}

impl Progress {
    /// Returns the sum of this call and the next one.
    #[must_use]
    pub fn plus(&self, next: &Self) -> Self {
        Self {
            now: next.now,
            block_steps: self.block_steps + next.block_steps,
            particle_steps: self.particle_steps + next.particle_steps,
            pairs: self.pairs + next.pairs,
            clamped: self.clamped + next.clamped,
        }
    }
}

/// Scheme that advances a system by block steps.
pub trait Integrator: Send {
    /// Quantities that the scheme needs from its engine.
    type Evaluation: Evaluation;

    /// Prepares a system whose particles are all at time zero of the axis: loads the engine, computes the first forces
    /// and step lengths. Takes no step.
    ///
    /// # Errors
    /// If the engine fails or a particle cannot be given a step.
    fn start(&mut self, p: &mut Particles, f: &mut dyn ForceEngine<Self::Evaluation>) -> Result<Progress>;

    /// Continues a system from its state after a step that reached `now`. Loads the engine and changes nothing in the
    /// system.
    ///
    /// # Errors
    /// If the engine fails.
    fn resume(&mut self, p: &Particles, now: Time, f: &mut dyn ForceEngine<Self::Evaluation>) -> Result<()>;

    /// Returns the state of all particles at the moment `now`, which no particle has passed and before which no block is
    /// due: those that stand earlier take a step of any length to it. Changes nothing in the integration.
    ///
    /// # Errors
    /// If the engine fails or a force is not finite.
    fn synchronised(
        &mut self,
        p: &Particles,
        now: Time,
        f: &mut dyn ForceEngine<Self::Evaluation>,
    ) -> Result<Particles>;

    /// Tells a scheme that computes the forces itself the softening length, in internal units, before it starts.
    fn set_softening(&mut self, _: f64) {}

    /// Sets the time at tick 0, for a system that starts anew at another time.
    fn set_start(&mut self, start: f64);

    /// Returns the scheme if it lets an engine that can (see [`ForceEngine::can_take_steps`]) take its steps.
    fn step_scheme(&self) -> Option<StepScheme> {
        None
    }

    /// Returns the rules of the block steps of these particles, for a device that takes them instead of the integrator (see
    /// [`SystemStepper`](tisane_force::force::block_steps::SystemStepper)); [`None`] if the scheme's steps have other rules.
    /// External fields are not among them. [`resume`](Self::resume) tells the integrator afterwards where the particles
    /// stand.
    fn step_rules(&mut self, _: &Particles) -> Option<StepRules> {
        None
    }

    /// Lets [`advance`](Self::advance) return early, after any number of steps, where an engine takes many by itself.
    fn set_pause(&mut self, _: Pause) {}

    /// Reports the phases of the integrator's own work to `profiler` from now on, if it tells any apart.
    fn set_profiler(&mut self, _: &Profiler) {}

    /// Returns access to descriptions and events of the subsystems; [`None`] if the integrator has none.
    fn subsystems(&mut self) -> Option<&mut dyn Subsystems> {
        None
    }

    /// Advances the system by up to `max` block steps, and by none that would pass `until`. In each step the particles
    /// that are due next move. The state is complete afterwards: every particle stands at its own time, and the bits do
    /// not depend on the division of the steps among calls. A call takes no step if the next one would pass `until`; a
    /// multiple of dt_max, where all particles are synchronised, is always reached exactly.
    ///
    /// # Errors
    /// If in a block step the engine fails or a number is not finite. Before the first step of a call, if particles need
    /// steps below the floor: the steps before it are done, and the state is one to resume with a lower floor.
    fn advance(
        &mut self,
        p: &mut Particles,
        f: &mut dyn ForceEngine<Self::Evaluation>,
        until: Time,
        max: u64,
    ) -> Result<Progress>;

    /// Measures the field of a system that is synchronised at `now` by an engine that computes in f64, and that holds the
    /// system already if it is the integrator's own.
    ///
    /// # Errors
    /// If the engine fails.
    fn field(&mut self, p: &Particles, now: Time, engine: &mut dyn ForceEngine, is_own: bool) -> Result<Field> {
        if !is_own {
            engine.load(p)?;
        }
        Field::from_engine(p, engine, now)
    }

    /// Changes masses and velocities of stars at `now`, a multiple of dt_max that the particles have reached: forces, steps and what
    /// the scheme knows of the past go on as if the masses had always been the new ones. Returns what the changes take out of the
    /// system.
    ///
    /// # Errors
    /// If the engine fails or a particle cannot be given a step.
    fn change_stars(
        &mut self,
        p: &mut Particles,
        f: &mut dyn ForceEngine<Self::Evaluation>,
        changes: &StarChanges<'_>,
        now: Time,
    ) -> Result<Lost>;

    /// Returns the particles that the engine holds after [`field`](Self::field): those of the system, `p`, or with
    /// subsystems the centre of mass of each and the single stars.
    fn loaded<'a>(&'a self, p: &'a Particles) -> &'a Particles {
        p
    }

    /// Returns the forces that the scheme uses, on some of the particles that the engine [holds](Self::loaded), of a
    /// system that is synchronised at `now`, for an audit. Columns that the scheme does not use are empty.
    ///
    /// # Errors
    /// If the engine fails.
    fn forces(
        &mut self,
        p: &Particles,
        now: Time,
        targets: Targets<'_>,
        f: &mut dyn ForceEngine<Self::Evaluation>,
    ) -> Result<Forces>;
}

/// Returns the error of a run whose numbers leave the range of the arithmetic of its forces.
pub(crate) fn out_of_range(p: &Particles, what: OutOfRange, range: &Range, time: f64) -> Error {
    Error::Integration {
        problem: format!("{} (time {time}; internal units)", what.describe(p, range, &Scale::IDENTITY)),
        help: Some(format!("{}; this takes a new run, which may start from the last snapshot", range.advice())),
    }
}
