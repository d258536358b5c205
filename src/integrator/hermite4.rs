//! The 4th-order Hermite scheme with individual block time steps (Makino & Aarseth 1992, PASJ 44, 141; Portegies Zwart et
//! al. 2007, eqs 2–9). Predict, evaluate, correct; the corrector may be iterated, P(EC)ⁿ.

use super::scheduler::Scheduler;
use super::timestep::{aarseth, first, next_level, norm};
use super::{Integrator, StepReport};
use crate::error::{Error, Result};
use crate::force::{ForceEngine, Forces, Targets};
use crate::gravity::predict;
use crate::particles::{Particles, Vec3};
use crate::time::{Clock, Level, Time};
use rayon::prelude::*;

/// Most targets that are evaluated at a time, which bounds the memory for them.
const TILE: usize = 1 << 14;
/// Blocks of at least so many particles are predicted and corrected on all threads.
const PARALLEL_BLOCK: usize = 2048;

/// What to do with a particle that wants a shorter step than the floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFloor {
    /// End the run with an error that names the particle and its partner.
    Stop,
    /// Let it go on with the shortest step, and count it.
    Clamp,
}

/// Parameters of the scheme, in internal units.
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    /// Accuracy ν of Aarseth's criterion.
    pub nu: f64,
    /// Accuracy of the first step.
    pub nu_start: f64,
    /// Evaluations and corrections a step: the n of P(EC)ⁿ.
    pub iterations: u32,
    /// Deepest level, that is the shortest step, allowed.
    pub floor: Level,
    /// What to do below it.
    pub on_floor: OnFloor,
}

/// The integrator.
#[derive(Debug)]
pub struct Hermite4 {
    parameters: Parameters,
    clock: Clock,
    scheduler: Scheduler,
    block: Vec<u32>,
    targets: Targets,
    predicted: Vec<(Vec3, Vec3)>,
    forces: Forces,
    wanted: Vec<f64>,
}

/// Position, velocity and wanted next step of a particle after the corrector.
struct Corrected {
    pos: Vec3,
    vel: Vec3,
    wanted: f64,
}

/// The corrector and the new step (Portegies Zwart et al. 2007, eqs 5–9), in the scaled derivatives `a⁽²⁾ dt²` and
/// `a⁽³⁾ dt³`, so that no power of a short step over- or underflows. `old` and `new` are (acc, jerk) at both ends.
#[inline]
fn correct(nu: f64, dt: f64, (pos, vel): (Vec3, Vec3), old: (Vec3, Vec3), new: (Vec3, Vec3)) -> Corrected {
    let (mut x, mut v, mut snap, mut crackle) = (pos, vel, [0.0; 3], [0.0; 3]);
    for k in 0..3 {
        let difference = old.0[k] - new.0[k];
        let a2 = -6.0 * difference - dt * (4.0 * old.1[k] + 2.0 * new.1[k]);
        let a3 = 12.0 * difference + 6.0 * dt * (old.1[k] + new.1[k]);
        x[k] += (a2 * (1.0 / 24.0) + a3 * (1.0 / 120.0)) * (dt * dt);
        v[k] += (a2 * (1.0 / 6.0) + a3 * (1.0 / 24.0)) * dt;
        snap[k] = a2 + a3;
        crackle[k] = a3;
    }
    let wanted = aarseth(nu, dt, norm(new.0), norm(new.1), norm(snap), norm(crackle));
    Corrected { pos: x, vel: v, wanted }
}

impl Hermite4 {
    /// An integrator for a run on the time axis `clock`, in internal units.
    #[must_use]
    pub fn new(parameters: Parameters, clock: Clock) -> Self {
        Self {
            parameters,
            clock,
            scheduler: Scheduler::new(Time::default(), &[]),
            block: Vec::new(),
            targets: Targets::default(),
            predicted: Vec::new(),
            forces: Forces::default(),
            wanted: Vec::new(),
        }
    }

    /// Predicts the particles `tile` to `now` into the targets.
    fn predict_targets(&mut self, p: &Particles, now: Time, tile: std::ops::Range<usize>) {
        let Self { targets, clock, block, .. } = self;
        targets.index.clear();
        targets.index.extend_from_slice(&block[tile]);
        let n = targets.index.len();
        targets.pos.resize(n, [0.0; 3]);
        targets.vel.resize(n, [0.0; 3]);
        let one = |((&i, pos), vel): ((&u32, &mut Vec3), &mut Vec3)| {
            let i = i as usize;
            let dt = clock.between(p.time[i], now);
            (*pos, *vel) = predict(p.pos[i], p.vel[i], p.acc[i], p.jerk[i], dt);
        };
        if n < PARALLEL_BLOCK {
            targets.index.iter().zip(&mut targets.pos).zip(&mut targets.vel).for_each(one);
        } else {
            targets.index.par_iter().zip(&mut targets.pos).zip(&mut targets.vel).for_each(one);
        }
    }

    /// Corrects the targets in place, from the predicted state and the forces there.
    fn correct_targets(&mut self, p: &Particles, now: Time) {
        let Self { targets, clock, predicted, forces, wanted, parameters, .. } = self;
        wanted.resize(targets.len(), 0.0);
        let (index, from) = (&targets.index, &*predicted);
        let one = |(k, ((pos, vel), wanted)): (usize, ((&mut Vec3, &mut Vec3), &mut f64))| {
            let i = index[k] as usize;
            let dt = clock.between(p.time[i], now);
            // With one evaluation the targets still hold the predicted state; with more it was kept aside.
            let start = from.get(k).copied().unwrap_or((*pos, *vel));
            let corrected = correct(parameters.nu, dt, start, (p.acc[i], p.jerk[i]), (forces.acc[k], forces.jerk[k]));
            (*pos, *vel, *wanted) = (corrected.pos, corrected.vel, corrected.wanted);
        };
        if index.len() < PARALLEL_BLOCK {
            targets.pos.iter_mut().zip(&mut targets.vel).zip(wanted).enumerate().for_each(one);
        } else {
            targets.pos.par_iter_mut().zip(&mut targets.vel).zip(wanted).enumerate().for_each(one);
        }
    }

    /// Stores the corrected targets in the particles.
    fn store(&self, p: &mut Particles, now: Time) {
        for (k, i) in self.targets.index.iter().map(|&i| i as usize).enumerate() {
            p.pos[i] = self.targets.pos[k];
            p.vel[i] = self.targets.vel[k];
            p.acc[i] = self.forces.acc[k];
            p.jerk[i] = self.forces.jerk[k];
            p.pot[i] = self.forces.pot[k];
            p.time[i] = now;
        }
    }

    /// The level for a wanted step of particle `i`, and whether it was held at the floor.
    fn level(&self, p: &Particles, i: usize, now: Time, wanted: f64) -> Result<(Level, bool)> {
        match Level::not_longer_than(wanted / self.clock.dt_max) {
            Some(level) if level <= self.parameters.floor => Ok((level, false)),
            _ if wanted.is_nan() => Err(not_finite(p, i, self.clock.time(now))),
            _ if self.parameters.on_floor == OnFloor::Clamp => Ok((self.parameters.floor, true)),
            _ => Err(self.below_floor(p, i, now, wanted)),
        }
    }

    /// Names the particle that wants too short a step, and its nearest neighbour at that moment.
    fn below_floor(&self, p: &Particles, i: usize, now: Time, wanted: f64) -> Error {
        let at = |j: usize| predict(p.pos[j], p.vel[j], p.acc[j], p.jerk[j], self.clock.between(p.time[j], now)).0;
        let here = at(i);
        let distance = |j: usize| norm([0, 1, 2].map(|k| at(j)[k] - here[k]));
        let partner = (0..p.len()).filter(|&j| j != i).map(|j| (distance(j), j)).min_by(|a, b| a.0.total_cmp(&b.0));
        Error::StepBelowFloor(Box::new(crate::error::StepBelowFloor {
            id: p.id[i],
            time: self.clock.time(now),
            wanted,
            floor: self.parameters.floor.step(self.clock.dt_max),
            partner: partner.map(|(distance, j)| (p.id[j], distance)),
        }))
    }
}

fn not_finite(p: &Particles, i: usize, time: f64) -> Error {
    Error::Integration {
        problem: format!(
            "the force on particle {} is not a finite number (time {time} in internal units, acceleration {:?}, jerk {:?})",
            p.id[i], p.acc[i], p.jerk[i]
        ),
        help: Some("a collision without softening, or a close pair that a longer first step jumped over: lower nu_start and nu, or set softening.epsilon".into()),
    }
}

impl Integrator for Hermite4 {
    fn start(&mut self, p: &mut Particles, f: &mut dyn ForceEngine) -> Result<StepReport> {
        f.load(p)?;
        let now = Time::default();
        self.block = (0..p.len() as u32).collect();
        let mut clamped = 0;
        for first_of_tile in (0..p.len()).step_by(TILE) {
            self.predict_targets(p, now, first_of_tile..p.len().min(first_of_tile + TILE));
            f.evaluate(now, &self.targets, &mut self.forces)?;
            self.store(p, now);
            for i in self.targets.index.iter().map(|&i| i as usize) {
                let wanted = first(self.parameters.nu_start, norm(p.acc[i]), norm(p.jerk[i]), p.pot[i]);
                let (level, held) = self.level(p, i, now, wanted)?;
                p.step[i] = level;
                clamped += u64::from(held);
            }
        }
        f.update(p, &self.block)?;
        self.scheduler = Scheduler::new(now, &p.step);
        let n = p.len() as u64;
        Ok(StepReport { now, block: n, pairs: n * n.saturating_sub(1), clamped })
    }

    fn resume(&mut self, p: &Particles, now: Time, f: &mut dyn ForceEngine) -> Result<()> {
        f.load(p)?;
        self.scheduler = Scheduler::new(now, &p.step);
        Ok(())
    }

    fn step(&mut self, p: &mut Particles, f: &mut dyn ForceEngine) -> Result<StepReport> {
        let mut block = std::mem::take(&mut self.block);
        let now = self.scheduler.next_block(&mut block);
        self.block = block;
        // Iterated targets see each other corrected, so then the block must stay in one piece.
        let tile = if self.parameters.iterations == 1 { TILE } else { usize::MAX };
        let (n, mut clamped) = (self.block.len(), 0);
        for first_of_tile in (0..n).step_by(tile) {
            self.predict_targets(p, now, first_of_tile..n.min(first_of_tile.saturating_add(tile)));
            self.predicted.clear();
            if self.parameters.iterations > 1 {
                // Every correction starts from the prediction, which the first one overwrites in the targets.
                self.predicted.extend(self.targets.pos.iter().copied().zip(self.targets.vel.iter().copied()));
            }
            for _ in 0..self.parameters.iterations {
                f.evaluate(now, &self.targets, &mut self.forces)?;
                self.correct_targets(p, now);
            }
            self.store(p, now);
            for k in 0..self.targets.len() {
                let i = self.targets.index[k] as usize;
                let (wanted, held) = self.level(p, i, now, self.wanted[k])?;
                p.step[i] = next_level(p.step[i], wanted, now);
                clamped += u64::from(held);
                self.scheduler.add(i as u32, p.step[i]);
            }
        }
        f.update(p, &self.block)?;
        let pairs = n as u64 * (p.len() as u64 - 1) * u64::from(self.parameters.iterations);
        Ok(StepReport { now, block: n as u64, pairs, clamped })
    }
}
