//! What a system that changes between block steps needs of its scheme.

use super::contract::Integrator;
use tisane_force::error::Result;
use tisane_force::force::{ForceEngine, Forces};
use tisane_force::particles::Particles;
use tisane_force::time::{Level, Time};

/// Scheme whose particles may begin, end and change between its block steps: subsystems of few bodies run on it.
///
/// [`Integrator::advance`] takes the block steps, one a call. At the moment that it reached, particles of the block and
/// others may stand at one time, get new forces, or give way to others. Indices of particles are ascending.
pub trait Steps: Integrator<Evaluation = Forces> {
    /// Returns the particles of the last block.
    fn block(&self) -> &[u32];

    /// Returns the level of the shortest step allowed.
    fn floor(&self) -> Level;

    /// Takes particles that stand before `now`, the moment of the last block, to it, by one step of any length each.
    ///
    /// # Errors
    /// If the engine fails or a number is not finite.
    fn synchronise(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, late: Vec<u32>, now: Time) -> Result<()>;

    /// Evaluates the forces again on particles that stand at `now`, where a force changes by a jump.
    ///
    /// # Errors
    /// If the engine fails.
    fn evaluate_again(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, index: Vec<u32>, now: Time) -> Result<()>;

    /// Goes on with particles of which some begin at `now`: they get forces and first steps. The others keep their state;
    /// rows may have changed.
    ///
    /// # Errors
    /// If the engine fails or a particle cannot be given a step.
    fn admit(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, begun: Vec<u32>, now: Time) -> Result<()>;

    /// Goes on with the particles that are left at `now`, after others have ended.
    ///
    /// # Errors
    /// If the engine fails.
    fn retire(&mut self, p: &Particles, f: &mut dyn ForceEngine, now: Time) -> Result<()> {
        self.resume(p, now, f)
    }

    /// Takes note of new levels of some particles.
    fn reschedule(&mut self, p: &Particles, changed: &[u32]);
}
