//! Solutions with as many digits as are asked for: the leapfrog extrapolated in h² (Gragg 1965; Bulirsch & Stoer 1966), in
//! numbers of 106 to 1024 bits, with one step for all particles that follows the motion. Two of different accuracy that agree
//! are a converged solution (Boekholt & Portegies Zwart 2015, Computational Astrophysics and Cosmology 2, 2).
//!
//! Steps are dt_max over a power of two, so that moments are exact. Their length is the one that takes the fewest
//! evaluations: shorter steps converge with fewer columns. The forces are the scheme's own, of softened Newtonian gravity.

mod double_double;
mod limbs;
mod number;
mod settings;
mod solver;
mod step;
#[cfg(test)]
mod tests;

pub use settings::ExtrapolatedSettings;
pub use solver::{BITS, low_parts};

use super::contract::{Integrator, Progress};
use crate::star_changes::{Lost, StarChanges};
use solver::{Solver, solver};
use step::Outcome;
use tisane_force::error::{Error, Result};
use tisane_force::force::{Accelerations, ForceEngine, Forces, Targets};
use tisane_force::particles::{Particles, Vec3};
use tisane_force::time::{Clock, Level, Time};

/// Accuracy of a solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accuracy {
    /// Largest change of a coordinate or a component of a velocity by the last column of a step, in internal units.
    pub tolerance: f64,
    /// Number of bits, one of [`BITS`].
    pub bits: u32,
}

/// How often a time may be halved that is no step: of a step at the deepest level in a close passage, or up to a moment between
/// block times.
const MAX_HALVINGS: u32 = 30;

/// Extrapolated leapfrog. All particles are always at the same time. Jerk and potential stay zero.
pub struct Extrapolated {
    accuracy: Accuracy,
    clock: Clock,
    epsilon: f64,
    now: Time,
    /// Step that is tried next.
    level: Level,
    solver: Option<Box<dyn Solver>>,
}

impl Extrapolated {
    /// Creates an integrator whose longest step is `clock.dt_max`, without softening until one is set.
    #[must_use]
    pub fn new(accuracy: Accuracy, clock: Clock) -> Self {
        Self { accuracy, clock, epsilon: 0.0, now: Time::default(), level: Level::default(), solver: None }
    }

    /// Takes over the particles, and returns their system.
    fn load(&mut self, p: &Particles) -> Result<&mut Box<dyn Solver>> {
        let Accuracy { tolerance, bits } = self.accuracy;
        Ok(self.solver.insert(solver(p, bits, self.epsilon, tolerance)?))
    }

    /// Takes steps; those before an error are in `done`.
    fn take_steps(&mut self, solver: &mut Box<dyn Solver>, done: &mut Progress, until: Time, max: u64) -> Result<()> {
        while done.block_steps < max && self.now.after(self.level) <= until {
            let dt = self.level.step(self.clock.dt_max);
            let advice = match solver.step(dt) {
                Outcome::TooLong if self.level < Level::DEEPEST => {
                    self.level = Level(self.level.0 + 1);
                    continue;
                }
                Outcome::TooLong => {
                    *solver = self.cover(&**solver, dt, self.now)?;
                    0
                }
                Outcome::Converged(advice) => advice,
            };
            self.now = self.now.after(self.level);
            self.level = self.next(advice);
            done.block_steps += 1;
        }
        Ok(())
    }

    /// Returns the level of the next step.
    fn next(&self, advice: i8) -> Level {
        let Level(level) = self.level;
        match advice {
            1 if level > 0 && self.now.is_multiple_of(Level(level - 1)) => Level(level - 1),
            -1 if self.level < Level::DEEPEST => Level(level + 1),
            _ => self.level,
        }
    }

    /// Returns the system after a time of any length, halved where it does not converge.
    fn cover(&self, from: &dyn Solver, dt: f64, now: Time) -> Result<Box<dyn Solver>> {
        fn moves(system: &mut dyn Solver, dt: f64, halvings: u32) -> bool {
            matches!(system.step(dt), Outcome::Converged(_))
                || (halvings > 0 && (0..2).all(|_| moves(system, 0.5 * dt, halvings - 1)))
        }
        let mut moved = from.copied();
        if moves(&mut *moved, dt, MAX_HALVINGS) { Ok(moved) } else { Err(self.does_not_converge(now)) }
    }

    fn does_not_converge(&self, now: Time) -> Error {
        let Accuracy { tolerance, bits } = self.accuracy;
        Error::Integration {
            problem: format!(
                "the shortest step does not converge to {tolerance:e} (time {} in internal units): a collision without \
                 softening, or an accuracy that {bits} bits do not have at these distances",
                self.clock.time(now)
            ),
            help: Some("set a softening length, allow a larger tolerance, or take more bits".into()),
        }
    }
}

impl Integrator for Extrapolated {
    type Evaluation = Accelerations;

    fn set_softening(&mut self, epsilon: f64) {
        self.epsilon = epsilon;
    }

    fn start(&mut self, p: &mut Particles, f: &mut dyn ForceEngine<Accelerations>) -> Result<Progress> {
        (self.now, self.level) = (Time::default(), Level::default());
        f.load(p)?;
        self.load(p)?.store(p);
        p.jerk.fill(Vec3::zeros());
        p.pot.fill(0.0);
        p.time.fill(self.now);
        p.step.fill(self.level);
        let n = p.len() as u64;
        Ok(Progress { now: self.now, pairs: n * n.saturating_sub(1), ..Progress::default() })
    }

    fn resume(&mut self, p: &Particles, now: Time, f: &mut dyn ForceEngine<Accelerations>) -> Result<()> {
        (self.now, self.level) = (now, p.step.first().copied().unwrap_or_default());
        f.load(p)?;
        self.load(p).map(|_| ())
    }

    fn synchronised(&mut self, p: &Particles, now: Time, _: &mut dyn ForceEngine<Accelerations>) -> Result<Particles> {
        let (mut p, dt) = (p.clone(), self.clock.between(self.now, now));
        if dt > 0.0 {
            self.load(&p)?;
            if let Some(solver) = &self.solver {
                self.cover(&**solver, dt, now)?.store(&mut p);
            }
            p.time.fill(now);
            p.step.fill(now.shallowest_level().max(self.level));
        }
        Ok(p)
    }

    fn set_start(&mut self, start: f64) {
        self.clock.start = start;
    }

    fn advance(
        &mut self,
        p: &mut Particles,
        _: &mut dyn ForceEngine<Accelerations>,
        until: Time,
        max: u64,
    ) -> Result<Progress> {
        let mut done = Progress { now: self.now, ..Progress::default() };
        let Some(mut solver) = self.solver.take() else { return Ok(done) };
        let before = solver.evaluations();
        let ended = self.take_steps(&mut solver, &mut done, until, max);
        let n = p.len() as u64;
        if done.block_steps > 0 {
            solver.store(p);
        }
        p.time.fill(self.now);
        p.step.fill(self.level);
        (done.now, done.particle_steps) = (self.now, n * done.block_steps);
        done.pairs = (solver.evaluations() - before) * n * n.saturating_sub(1);
        self.solver = Some(solver);
        ended.map(|()| done)
    }

    /// Goes on with the new masses and velocities.
    fn change_stars(
        &mut self,
        p: &mut Particles,
        f: &mut dyn ForceEngine<Accelerations>,
        changes: &StarChanges<'_>,
        now: Time,
    ) -> Result<Lost> {
        let lost = changes.apply(p, |pos| f.external_potential(now, pos))?;
        f.load(p)?;
        self.load(p)?.store(p);
        Ok(lost)
    }

    /// Returns the accelerations at the end of the last step, rounded: the engine is not asked.
    fn forces(
        &mut self,
        p: &Particles,
        _: Time,
        targets: Targets<'_>,
        _: &mut dyn ForceEngine<Accelerations>,
    ) -> Result<Forces> {
        let acc = targets.index.iter().map(|&i| p.acc[i as usize]).collect();
        Ok(Forces { acc, ..Forces::default() })
    }
}
