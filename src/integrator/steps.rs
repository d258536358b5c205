//! What a system that changes between block steps needs of its scheme.

use super::contract::{Integrator, Progress};
use super::pair_series::Source;
use tisane_force::error::Result;
use tisane_force::force::block_steps::Pause;
use tisane_force::force::watch::Watch;
use tisane_force::force::{ForceEngine, Forces};
use tisane_force::particles::Particles;
use tisane_force::time::{Level, Time};

/// Particles that give way to others at a moment: the rows that end, with their masses, and the rows that begin in their place,
/// with theirs. A row may end and begin at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Succession {
    /// Rows that end, with their masses.
    pub ended: Vec<(u32, f64)>,
    /// Rows that begin, with their masses.
    pub begun: Vec<(u32, f64)>,
}

/// Rows of particles that change at a moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowChange {
    /// Rows whose particles begin at the moment, or begin anew as the force on them changes by a jump; ascending. Rows at the
    /// end may be new.
    pub begun: Vec<u32>,
    /// Rows that are left without a particle: mass 0, far from all others, at rest; ascending.
    pub emptied: Vec<u32>,
    /// Who gave way to whom.
    pub successions: Vec<Succession>,
}

impl RowChange {
    /// Returns all rows that change, ascending.
    #[must_use]
    pub fn rows(&self) -> Vec<u32> {
        let mut rows = [&self.begun[..], &self.emptied].concat();
        rows.sort_unstable();
        rows.dedup();
        rows
    }
}

/// Scheme whose particles may begin, end and change between its block steps: subsystems of few bodies run on it.
///
/// [`Integrator::advance`] takes the block steps, one a call. At the moment that it reached, particles of the block and
/// others may stand at one time, get new forces, or give way to others. Indices of particles are ascending. A row without a
/// particle has the level 0.
pub trait Steps: Integrator<Evaluation = Forces> + Sync {
    /// Returns the particles of the last block.
    fn block(&self) -> &[u32];

    /// Returns the moment of the last block and the deepest level of all particles, if the scheme lets engines take
    /// [watched](Self::advance_watched) steps.
    fn unattended_from(&self) -> Option<(Time, Level)> {
        None
    }

    /// Lets the engine take up to `max` block steps, none of which passes `until`, up to the first after which particles of the block may
    /// form a pair by `watch`. Returns the progress; [`None`] if the next step is the host's.
    ///
    /// # Errors
    /// If the engine fails.
    fn advance_watched(
        &mut self,
        p: &mut Particles,
        f: &mut dyn ForceEngine,
        (until, max): (Time, u64),
        by: (&mut Watch<'_>, Option<&Pause>),
    ) -> Result<Option<Progress>> {
        let _ = (p, f, until, max, by);
        Ok(None)
    }

    /// Returns true if most of its work is on lists of neighbours: then particles of near places should be in near rows.
    fn works_by_lists(&self) -> bool {
        false
    }

    /// Returns the level of the shortest step allowed.
    fn floor(&self) -> Level;

    /// Returns the step on a circular orbit, in units of radius over speed.
    fn natural_step(&self) -> f64;

    /// Shortens the step of a particle to a length, in internal units, in which it does not feel `other` one by one, as far as its end is
    /// after `now`: the regular one of a neighbour scheme. Others have none.
    fn shorten_regular(&self, p: &mut Particles, particle: usize, other: usize, longest: f64, now: Time) {
        let _ = (p, particle, other, longest, now);
    }

    /// Takes particles that stand before `now`, the moment of the last block, to it, by one step of any length each.
    ///
    /// # Errors
    /// If the engine fails or a number is not finite.
    fn synchronise(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, late: Vec<u32>, now: Time) -> Result<()>;

    /// Evaluates the forces again on particles that stand at `now`, where a force changes by a jump. What a scheme knows of the
    /// force before it forgets, and takes a shorter step.
    ///
    /// # Errors
    /// If the engine fails.
    fn evaluate_again(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, index: Vec<u32>, now: Time) -> Result<()>;

    /// Goes on at `now` with rows that have changed: those that begin get forces and first steps. The others keep their state.
    /// The caller has set the columns of the particles; their [states](tisane_force::states) are the scheme's.
    ///
    /// # Errors
    /// If the engine fails or a particle cannot be given a step.
    fn admit(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, change: &RowChange, now: Time) -> Result<()>;

    /// Takes note of all rows that are without a particle (ascending): they are never due. Called after `resume` too.
    fn set_empty(&mut self, empty: &[u32]);

    /// Adds the forces of sources at `now`, a moment of all, to those on all particles but the `gone`, ascending, and to what the
    /// scheme knows of them besides, as if they had always been there; softened by `eps2 = ε²`. The rows of particles that end are
    /// there still: the caller takes them out. It resumes.
    fn add_sources(&self, p: &mut Particles, sources: &[Source], eps2: f64, gone: &[u32], now: Time);

    /// Takes note of new levels of some particles.
    fn reschedule(&mut self, p: &Particles, changed: &[u32]);
}
