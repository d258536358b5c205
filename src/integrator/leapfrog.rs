//! The leapfrog in its kick-drift-kick form, with one fixed step for all particles: the leapfrog-Verlet of the papers
//! on direct summation (Hamada & Iitaka 2007; Verlet 1967). It is of 2nd order, symplectic and time-reversible, so that
//! its energy error does not grow.

use super::checks::{InvalidSetting, positive, tick};
use super::contract::{Integrator, Progress, out_of_range};
use super::settings::{AnyIntegrator, Scheme, SchemeInfo};
use crate::star_changes::{Lost, StarChanges};
use rayon::prelude::*;
use tisane_force::error::{Error, Result};
use tisane_force::force::precision::Precision;
use tisane_force::force::range::{Range, RangeGuard};
use tisane_force::force::{Accelerations, ForceEngine, Forces, Targets};
use tisane_force::particles::{Particles, Vec3};
use tisane_force::time::{Clock, Level, Time};
use tisane_force::units::Real;
use tisane_force::units::digits;

/// Minimum number of particles that a thread moves: waking it costs as much as some hundred of them.
const SHARE: usize = 1024;

/// Leapfrog integrator. Its step is the `dt_max` of the clock, level 0 of the block steps; all particles are always at
/// the same time. The last kick of a step and the first of the next use the same acceleration, which the particles keep
/// between steps: one evaluation a step. Jerk and potential stay zero.
#[derive(Debug)]
pub struct Leapfrog {
    clock: Clock,
    now: Time,
    /// Indices of all particles, 0 … N−1.
    all: Vec<u32>,
    found: Accelerations,
    guard: RangeGuard,
}

impl Leapfrog {
    /// Creates an integrator with the step `clock.dt_max`, in internal units, for accelerations by an arithmetic with
    /// this range.
    #[must_use]
    pub fn new(clock: Clock, range: Range) -> Self {
        let (all, found) = (Vec::new(), Accelerations::default());
        Self { clock, now: Time::default(), all, found, guard: RangeGuard::new(range, clock.dt_max) }
    }

    /// Loads all particles into the engine.
    fn load(&mut self, p: &Particles, f: &mut dyn ForceEngine<Accelerations>) -> Result<()> {
        self.guard.load(p);
        self.all = (0..p.len() as u32).collect();
        f.load(p)
    }

    /// Evaluates the accelerations of all particles at their positions, and checks that they are finite and within the
    /// range of the engine's arithmetic.
    fn accelerate(&mut self, p: &Particles, f: &mut dyn ForceEngine<Accelerations>, now: Time) -> Result<()> {
        let targets = Targets::all(p, &self.all);
        f.evaluate(now, targets, &mut self.found)?;
        let checked = self.guard.check(p, targets, &self.found);
        checked.map_err(|what| out_of_range(p, what, self.guard.range(), self.clock.time(now)))?;
        let bad =
            self.found.acc.par_iter().with_min_len(SHARE).position_first(|acc| !acc.iter().all(|a| a.is_finite()));
        match bad {
            Some(i) => Err(not_finite(p, i, self.found.acc[i], (self.clock.time(now), self.guard.range()))),
            None => Ok(()),
        }
    }

    /// Applies the last half kick of a step `dt`, by the new accelerations, which the particles keep.
    fn kick(&self, p: &mut Particles, dt: f64, now: Time) {
        let half = 0.5 * dt;
        let Particles { vel, acc, time, .. } = p;
        let columns = vel.par_iter_mut().zip(acc.par_iter_mut()).zip(time.par_iter_mut()).zip(&self.found.acc);
        columns.with_min_len(SHARE).for_each(|(((vel, acc), time), new)| {
            *vel += new * half;
            (*acc, *time) = (*new, now);
        });
    }

    /// Moves all particles to `now`.
    fn step(&mut self, p: &mut Particles, f: &mut dyn ForceEngine<Accelerations>, now: Time) -> Result<()> {
        kick_and_drift(p, self.clock.dt_max);
        self.accelerate(p, f, now)?;
        self.kick(p, self.clock.dt_max, now);
        self.now = now;
        Ok(())
    }
}

/// Applies the first half kick of a step `dt`, and the drift.
fn kick_and_drift(p: &mut Particles, dt: f64) {
    let half = 0.5 * dt;
    let Particles { pos, vel, acc, .. } = p;
    let columns = pos.par_iter_mut().zip(vel.par_iter_mut()).zip(acc.par_iter());
    columns.with_min_len(SHARE).for_each(|((pos, vel), acc)| {
        *vel += acc * half;
        *pos += *vel * dt;
    });
}

/// Returns the number of pairs in an evaluation of `n` particles.
fn pairs(n: usize) -> u64 {
    n as u64 * (n as u64).saturating_sub(1)
}

fn not_finite(p: &Particles, i: usize, acc: Vec3, (time, range): (f64, &Range)) -> Error {
    Error::Integration {
        problem: format!(
            "the acceleration of particle {} is not a finite number (time {time} in internal units, acceleration {:?}, \
             position {:?})",
            p.id[i],
            acc.as_slice(),
            p.pos[i].as_slice()
        ),
        help: Some(format!(
            "a collision without softening, or a step that is too long for a close pair: set a softening \
             length, or lower dt{}",
            range.too_close()
        )),
    }
}

impl Integrator for Leapfrog {
    type Evaluation = Accelerations;

    fn start(&mut self, p: &mut Particles, f: &mut dyn ForceEngine<Accelerations>) -> Result<Progress> {
        self.now = Time::default();
        self.load(p, f)?;
        self.accelerate(p, f, self.now)?;
        p.acc.clone_from(&self.found.acc);
        p.jerk.fill(Vec3::zeros());
        p.pot.fill(0.0);
        p.time.fill(self.now);
        p.step.fill(Level::default());
        Ok(Progress { now: self.now, pairs: pairs(p.len()), ..Progress::default() })
    }

    fn resume(&mut self, p: &Particles, now: Time, f: &mut dyn ForceEngine<Accelerations>) -> Result<()> {
        self.now = now;
        self.load(p, f)
    }

    /// Kicks and drifts all particles by the part of a step up to `now`.
    fn synchronised(&mut self, p: &Particles, now: Time, f: &mut dyn ForceEngine<Accelerations>) -> Result<Particles> {
        let mut p = p.clone();
        let dt = self.clock.between(self.now, now);
        if dt > 0.0 {
            kick_and_drift(&mut p, dt);
            self.accelerate(&p, f, now)?;
            self.kick(&mut p, dt, now);
        }
        Ok(p)
    }

    fn set_start(&mut self, start: f64) {
        self.clock.start = start;
    }

    fn advance(
        &mut self,
        p: &mut Particles,
        f: &mut dyn ForceEngine<Accelerations>,
        until: Time,
        max: u64,
    ) -> Result<Progress> {
        let mut done = Progress { now: self.now, ..Progress::default() };
        while done.block_steps < max && self.now.after(Level::default()) <= until {
            self.step(p, f, self.now.after(Level::default()))?;
            done.now = self.now;
            done.block_steps += 1;
            done.particle_steps += p.len() as u64;
            done.pairs += pairs(p.len());
        }
        Ok(done)
    }

    /// Evaluates all accelerations again.
    fn change_stars(
        &mut self,
        p: &mut Particles,
        f: &mut dyn ForceEngine<Accelerations>,
        changes: &StarChanges<'_>,
        now: Time,
    ) -> Result<Lost> {
        let lost = changes.apply(p, |pos| f.external_potential(now, pos))?;
        self.load(p, f)?;
        self.accelerate(p, f, now)?;
        p.acc.clone_from(&self.found.acc);
        Ok(lost)
    }

    /// Returns the accelerations of the last step, which the particles keep: nothing has to be evaluated.
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

/// Default number of steps between outputs.
const STEPS_PER_OUTPUT: f64 = 128.0;

/// Leapfrog, kick-drift-kick, with one fixed step for all particles.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "serde", schemars(rename = "Leapfrog"))]
pub struct LeapfrogSettings {
    /// Time step, above 0; unit: time. Output intervals and the length of the run are whole multiples of it.
    pub dt: Real,
}

impl Scheme for LeapfrogSettings {
    fn info() -> SchemeInfo {
        SchemeInfo {
            section: "integrator.leapfrog",
            title: "the leapfrog",
            order: 2,
            accuracy_key: "dt",
            dt_max_key: "dt",
            state_keys: &[],
            references: &["Verlet1967", "HamadaIitaka2007"],
        }
    }

    fn dt_max(&self) -> f64 {
        self.dt.get()
    }

    fn shared_step(&self) -> Option<f64> {
        Some(self.dt.get())
    }

    fn output_interval(&self) -> f64 {
        STEPS_PER_OUTPUT * self.dt.get()
    }

    fn describe(&self) -> [String; 2] {
        ["leapfrog, one step for all".to_owned(), digits(self.dt.get())]
    }

    fn check(&self, _: bool, _: Precision, found: &mut Vec<InvalidSetting>) -> bool {
        let before = found.len();
        positive(found, "dt", Some(self.dt));
        let dt = self.dt.get();
        if dt > 0.0 && !tick(dt).is_normal() {
            found.push(InvalidSetting::Wrong("dt", format!("{dt:e} is too short to be counted in ticks")));
        }
        found.len() == before
    }

    fn build(&self, precision: Precision, clock: Clock) -> AnyIntegrator {
        AnyIntegrator::Accelerations(Box::new(Leapfrog::new(clock, Range::for_precision(precision))))
    }
}
