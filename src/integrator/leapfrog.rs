//! The leapfrog in its kick-drift-kick form, with one fixed step for all particles: the leapfrog-Verlet of the papers on
//! direct summation (Hamada & Iitaka 2007; Verlet 1967). Of 2nd order, symplectic and time-reversible: its energy error does
//! not grow.

mod settings;

pub use settings::LeapfrogSettings;

use super::{Integrator, StepReport, outside};
use crate::error::{Error, Result};
use crate::force::AccelerationEngine;
use crate::force::range::{Range, Watched};
use crate::particles::{Particles, Vec3};
use crate::time::{Clock, Level, Time};
use rayon::prelude::*;

/// A thread gets at least so many particles to move: waking it costs as much as some hundred of them.
const SHARE: usize = 1024;

/// The integrator. Its step is the `dt_max` of the clock, level 0 of the block steps; all particles always stand at the same
/// time. The last kick of a step and the first of the next use the same acceleration, which the particles keep between steps:
/// one evaluation a step. Jerk and potential stay zero.
#[derive(Debug)]
pub struct Leapfrog {
    clock: Clock,
    now: Time,
    acc: Vec<Vec3>,
    watched: Watched,
}

impl Leapfrog {
    /// An integrator with the step `clock.dt_max`, in internal units, for accelerations by an arithmetic with this range.
    #[must_use]
    pub fn new(clock: Clock, range: Range) -> Self {
        Self { clock, now: Time::default(), acc: Vec::new(), watched: Watched::new(range, clock.dt_max) }
    }

    /// Accelerations of all particles where they stand, all finite and of numbers that the engine's arithmetic holds.
    fn accelerate(&mut self, p: &Particles, f: &mut dyn AccelerationEngine, now: Time) -> Result<()> {
        f.accelerate(&p.pos, &mut self.acc)?;
        if let Some(what) = self.watched.accelerations(p, &self.acc) {
            return Err(outside(p, what, self.watched.range(), self.clock.time(now)));
        }
        let bad = self.acc.par_iter().with_min_len(SHARE).position_first(|acc| !acc.iter().all(|a| a.is_finite()));
        match bad {
            Some(i) => Err(not_finite(p, i, self.acc[i], (self.clock.time(now), self.watched.range()))),
            None => Ok(()),
        }
    }

    /// The first half kick of a step and the drift.
    fn kick_and_drift(&self, p: &mut Particles) {
        let (dt, half) = (self.clock.dt_max, 0.5 * self.clock.dt_max);
        let Particles { pos, vel, acc, .. } = p;
        let columns = pos.par_iter_mut().zip(vel.par_iter_mut()).zip(acc.par_iter());
        columns.with_min_len(SHARE).for_each(|((pos, vel), acc)| {
            for k in 0..3 {
                vel[k] += acc[k] * half;
                pos[k] += vel[k] * dt;
            }
        });
    }

    /// The last half kick, by the new accelerations, which the particles keep.
    fn kick(&self, p: &mut Particles, now: Time) {
        let half = 0.5 * self.clock.dt_max;
        let Particles { vel, acc, time, .. } = p;
        let columns = vel.par_iter_mut().zip(acc.par_iter_mut()).zip(time.par_iter_mut()).zip(&self.acc);
        columns.with_min_len(SHARE).for_each(|(((vel, acc), time), new)| {
            for k in 0..3 {
                vel[k] += new[k] * half;
            }
            (*acc, *time) = (*new, now);
        });
    }

    fn report(&self, n: usize) -> StepReport {
        let n = n as u64;
        StepReport { now: self.now, block: n, pairs: n * n.saturating_sub(1), clamped: 0 }
    }
}

fn not_finite(p: &Particles, i: usize, acc: Vec3, (time, range): (f64, &Range)) -> Error {
    Error::Integration {
        problem: format!(
            "the acceleration of particle {} is not a finite number (time {time} in internal units, acceleration {acc:?}, position \
             {:?})",
            p.id[i], p.pos[i]
        ),
        help: Some(format!(
            "a collision without softening, or a step that is too long for a close pair: set softening.epsilon, or lower \
             integrator.leapfrog.dt{}",
            range.too_close()
        )),
    }
}

impl Integrator for Leapfrog {
    type Engine = dyn AccelerationEngine;

    fn start(&mut self, p: &mut Particles, f: &mut Self::Engine) -> Result<StepReport> {
        self.now = Time::default();
        f.load(&p.mass)?;
        self.watched.load(p);
        self.accelerate(p, f, self.now)?;
        p.acc.clone_from(&self.acc);
        p.jerk.fill([0.0; 3]);
        p.pot.fill(0.0);
        p.time.fill(self.now);
        p.step.fill(Level::default());
        Ok(self.report(p.len()))
    }

    fn resume(&mut self, p: &Particles, now: Time, f: &mut Self::Engine) -> Result<()> {
        self.now = now;
        self.watched.load(p);
        f.load(&p.mass)
    }

    fn step(&mut self, p: &mut Particles, f: &mut Self::Engine) -> Result<StepReport> {
        let now = self.now.after(Level::default());
        self.kick_and_drift(p);
        self.accelerate(p, f, now)?;
        self.kick(p, now);
        self.now = now;
        Ok(self.report(p.len()))
    }
}
