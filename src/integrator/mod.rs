//! Integrators: what moves the particles, given an engine for the forces.

pub mod hermite4;
pub mod leapfrog;
pub mod scheduler;
mod settings;
mod stretch;
pub mod timestep;

pub use settings::{AnyIntegrator, BlockSteps, Mistake, Scheme, SchemeInfo};

settings::schemes! {
    /// Hermite scheme of 4th order with individual block time steps (Makino & Aarseth 1992).
    Hermite4: hermite4::Hermite4Settings,
    /// Leapfrog of 2nd order, kick-drift-kick, with one fixed step for all particles (Verlet 1967).
    Leapfrog: leapfrog::LeapfrogSettings,
}

use crate::error::{Error, Result};
use crate::force::range::{Outside, Range};
use crate::particles::Particles;
use crate::time::Time;
use crate::units::Scale;

/// What one step did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepReport {
    /// The moment reached by the particles that moved.
    pub now: Time,
    /// How many moved.
    pub block: u64,
    /// Pairs evaluated, self pairs not counted.
    pub pairs: u64,
    /// Particles that wanted a step below the floor and were held at it.
    pub clamped: u64,
}

/// A scheme that advances a system by block steps.
pub trait Integrator: Send {
    /// The kind of engine that it needs: [`dyn ForceEngine`](crate::force::ForceEngine) or
    /// [`dyn AccelerationEngine`](crate::force::AccelerationEngine).
    type Engine: ?Sized;

    /// Prepares a system whose particles all stand at time zero of the axis: loads the engine, computes the first forces
    /// and steps.
    ///
    /// # Errors
    /// If the engine fails or a particle cannot be given a step.
    fn start(&mut self, p: &mut Particles, f: &mut Self::Engine) -> Result<StepReport>;

    /// Takes up a system in mid-flight as it was after a step that reached `now`: changes nothing in it.
    ///
    /// # Errors
    /// If the engine fails.
    fn resume(&mut self, p: &Particles, now: Time, f: &mut Self::Engine) -> Result<()>;

    /// Advances the particles that are due next. The state is whole afterwards: every particle stands at its own time.
    ///
    /// # Errors
    /// If the engine fails, a number is not finite, or a particle wants a step below the floor.
    fn step(&mut self, p: &mut Particles, f: &mut Self::Engine) -> Result<StepReport>;
}

/// The run has come to where the arithmetic of its forces does not hold its numbers.
fn outside(p: &Particles, what: Outside, range: &Range, time: f64) -> Error {
    Error::Integration {
        problem: format!("{} (time {time}; internal units)", what.told(p, range, &Scale::IDENTITY)),
        help: Some(format!("{}: in a new run, which may begin from the last snapshot", range.advice())),
    }
}
