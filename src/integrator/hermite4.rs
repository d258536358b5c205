//! The 4th-order Hermite scheme with individual block time steps (Makino & Aarseth 1992, PASJ 44, 141; Portegies Zwart
//! et al. 2007, eqs 2–9): predict, evaluate, correct. The corrector may be iterated, P(EC)ⁿ.

mod corrector;
mod settings;

pub use settings::Hermite4Settings;

use corrector::{LANES, Lanes, correct};

use super::particle_slices::ParticleSlices;
use super::scheduler::Scheduler;
use super::timestep::{initial, next_level};
use super::{Integrator, Progress, Scheme, out_of_range};
use crate::error::{Error, Result};
use crate::force::precision::Precision;
use crate::force::range::{self, RangeGuard};
use crate::force::{Block, ForceEngine, Forces, Targets};
use crate::gravity::predict;
use crate::particles::{Particles, Vec3};
use crate::time::{Clock, Level, Time};
use crate::units::nearest_power_of_two;
use rayon::prelude::*;
use std::ops::Range;

/// Largest number of targets that are evaluated at a time, which bounds the memory for them.
const TILE: usize = 1 << 14;
/// Minimum number of particles that a thread predicts or corrects: waking it costs as much as some hundred of them.
const SHARE: usize = 1024;

/// Treatment of a particle that needs a step below `dt_min`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "serde", schemars(rename = "OnDtMin"))]
pub enum OnFloor {
    /// Stop the run and name the particle and its partner.
    #[default]
    Stop,
    /// Continue with dt_min and count such steps.
    Clamp,
}

/// Parameters of the scheme, in internal units.
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    /// Accuracy parameter ν of Aarseth's criterion.
    pub nu: f64,
    /// Accuracy parameter of the first step.
    pub nu_start: f64,
    /// Number of evaluations and corrections a step: the n of P(EC)ⁿ.
    pub iterations: u32,
    /// Deepest level allowed: that of the shortest step.
    pub floor: Level,
    /// Treatment of particles that need a shorter step.
    pub on_floor: OnFloor,
    /// Rounding error of an acceleration, relative to the larger of |a| and φ²/M: 0 for forces in f64.
    pub noise: f64,
    /// Range of the pair arithmetic of the forces.
    pub range: range::Range,
}

impl Parameters {
    /// Returns the defaults for forces of a precision mode: ν = 0.01, one evaluation a step, steps down to
    /// dt_max/2²³, and [`OnFloor::Stop`] below.
    #[must_use]
    pub const fn new(precision: Precision) -> Self {
        Self {
            nu: 0.01,
            nu_start: 0.01,
            iterations: 1,
            floor: Level(23),
            on_floor: OnFloor::Stop,
            noise: precision.noise(),
            range: range::Range::for_precision(precision),
        }
    }
}

/// Hermite integrator.
#[derive(Debug)]
pub struct Hermite4 {
    parameters: Parameters,
    clock: Clock,
    scheduler: Scheduler,
    block: Vec<u32>,
    targets: Block,
    predicted: (Vec<Vec3>, Vec<Vec3>),
    forces: Forces,
    guard: RangeGuard,
    /// 1/M rounded to a power of two, so that products with it are exact.
    per_mass: f64,
}

/// Result of moving a part of a block.
#[derive(Clone, Copy, Debug, Default)]
struct Moved {
    /// Number of particles clamped to the floor.
    clamped: u64,
    /// First target that cannot continue, and the step that it needs.
    refused: Option<(usize, f64)>,
}

impl Moved {
    /// Combines two results; `self` comes first in the block.
    fn and(self, later: Self) -> Self {
        Self { clamped: self.clamped + later.clamped, refused: self.refused.or(later.refused) }
    }

    /// Returns the allowed level of target `k`, if any, and records clamping or refusal.
    #[inline(always)]
    fn level(&mut self, k: usize, wanted: f64, allowed: Option<(Level, bool)>) -> Option<Level> {
        match allowed {
            Some((level, held)) => {
                self.clamped += u64::from(held);
                Some(level)
            }
            None => {
                self.refused = self.refused.or(Some((k, wanted)));
                None
            }
        }
    }
}

/// Returns the number of particles for each thread, of `n`.
fn share(n: usize) -> usize {
    n.div_ceil((n / SHARE).clamp(1, rayon::current_num_threads()))
}

impl Hermite4 {
    /// Creates an integrator for a run on the time axis `clock`, in internal units.
    #[must_use]
    pub fn new(parameters: Parameters, clock: Clock) -> Self {
        Self {
            parameters,
            clock,
            scheduler: Scheduler::new(Time::default(), &[]),
            block: Vec::new(),
            targets: Block::default(),
            predicted: Default::default(),
            forces: Forces::default(),
            guard: RangeGuard::new(parameters.range, clock.dt_max),
            per_mass: 1.0,
        }
    }

    /// Loads all particles into the guard and the engine.
    fn load(&mut self, p: &Particles, f: &mut dyn ForceEngine) -> Result<()> {
        self.guard.load(p);
        self.per_mass = 1.0 / nearest_power_of_two(p.total_mass());
        f.load(p)
    }

    /// Predicts the particles `tile` of the block into the targets, each by the time `dt` of its index.
    fn predict_targets(&mut self, p: &Particles, tile: Range<usize>, dt: impl Fn(usize) -> f64 + Sync) {
        let Self { targets, block, .. } = self;
        targets.index.clear();
        targets.index.extend_from_slice(&block[tile]);
        let n = targets.index.len();
        targets.pos.resize(n, Vec3::zeros());
        targets.vel.resize(n, Vec3::zeros());
        let part = |((index, pos), vel): ((&[u32], &mut [Vec3]), &mut [Vec3])| {
            for ((&i, pos), vel) in index.iter().zip(pos).zip(vel) {
                let i = i as usize;
                (*pos, *vel) = predict(p.pos[i], p.vel[i], p.acc[i], p.jerk[i], dt(i));
            }
        };
        match share(n) {
            share if share == n => part(((&targets.index, &mut targets.pos), &mut targets.vel)),
            share => {
                let parts = targets.index.par_chunks(share).zip(targets.pos.par_chunks_mut(share));
                parts.zip(targets.vel.par_chunks_mut(share)).for_each(part);
            }
        }
    }

    /// Evaluates the forces on the targets, and checks that their numbers are within the range of the engine's
    /// arithmetic.
    fn evaluate(&mut self, p: &Particles, f: &mut dyn ForceEngine, now: Time) -> Result<()> {
        f.evaluate(now, self.targets.view(), &mut self.forces)?;
        let checked = self.guard.check(p, self.targets.view(), &self.forces);
        checked.map_err(|what| out_of_range(p, what, &self.parameters.range, self.clock.time(now)))
    }

    /// Corrects the targets in place for the next evaluation: every correction starts from the prediction.
    fn correct_targets(&mut self, p: &Particles) {
        let Self { targets, clock, predicted, forces, .. } = self;
        let index = &targets.index;
        targets.pos.par_iter_mut().zip(&mut targets.vel).enumerate().with_min_len(SHARE).for_each(|(k, (pos, vel))| {
            let i = index[k] as usize;
            let (dt, start) = (p.step[i].step(clock.dt_max), (predicted.0[k], predicted.1[k]));
            let corrected = correct(dt, start, (p.acc[i], p.jerk[i]), (forces.acc[k], forces.jerk[k]));
            (*pos, *vel) = (corrected.pos, corrected.vel);
        });
    }

    /// Moves the targets' particles to `now`: corrects them, and gives each its new step. Returns the number of clamped
    /// particles.
    fn move_particles(&self, p: &mut Particles, now: Time) -> Result<u64> {
        let n = self.targets.len();
        let all = ParticleSlices::all(p);
        let moved = match share(n) {
            share if share == n => self.move_part(all, 0..n, now),
            share => {
                let slices = all.for_chunks(&self.targets.index, share).into_par_iter().enumerate();
                let part = |(k, slice)| self.move_part(slice, k * share..n.min((k + 1) * share), now);
                slices.map(part).reduce(Moved::default, Moved::and)
            }
        };
        self.check(p, now, moved)
    }

    /// Moves the targets `part`, whose particles lie in the slice `p`.
    fn move_part(&self, p: ParticleSlices, part: Range<usize>, now: Time) -> Moved {
        let Self { clock, forces, targets, parameters, per_mass, .. } = self;
        let predicted = match parameters.iterations {
            1 => (&targets.pos, &targets.vel),
            _ => (&self.predicted.0, &self.predicted.1),
        };
        // Slices of equal length, so that one bounds check of an index serves all columns.
        let (n, len) = (part.len(), p.step.len());
        let (index, predicted) =
            (&targets.index[part.clone()], (&predicted.0[part.clone()], &predicted.1[part.clone()]));
        let (acc, jerk) = (&forces.acc[part.clone()][..n], &forces.jerk[part.clone()][..n]);
        let pot = &forces.pot[part.clone()][..n];
        let (p_pos, p_vel, p_acc) = (&mut p.pos[..len], &mut p.vel[..len], &mut p.acc[..len]);
        let (p_jerk, p_pot, p_time) = (&mut p.jerk[..len], &mut p.pot[..len], &mut p.time[..len]);
        let mut moved = Moved::default();
        for begin in (0..n).step_by(LANES) {
            let end = n.min(begin + LANES);
            let mut lanes = Lanes::default();
            for k in begin..end {
                let i = index[k] as usize - p.first;
                let dt = p.step[i].step(clock.dt_max);
                let corrected = correct(dt, (predicted.0[k], predicted.1[k]), (p_acc[i], p_jerk[i]), (acc[k], jerk[k]));
                (p_pos[i], p_vel[i]) = (corrected.pos, corrected.vel);
                (p_acc[i], p_jerk[i], p_pot[i], p_time[i]) = (acc[k], jerk[k], pot[k], now);
                let noise = parameters.noise * acc[k].norm().max(pot[k] * pot[k] * per_mass);
                lanes.set(k - begin, dt, noise, [acc[k], jerk[k], corrected.snap, corrected.crackle]);
            }
            let mut wanted = [0.0; LANES];
            lanes.wanted(parameters.nu, &mut wanted);
            for k in begin..end {
                let lane = k - begin;
                let sum = lanes.acc2[lane] + lanes.jerk2[lane] + pot[k];
                let target = part.start + k;
                let allowed = self
                    .allowed(wanted[lane], wanted[lane] / clock.dt_max)
                    .filter(|_| sum.is_finite() || self.is_finite(target));
                if let Some(level) = moved.level(target, wanted[lane], allowed) {
                    let step = &mut p.step[index[k] as usize - p.first];
                    *step = next_level(*step, level, now);
                }
            }
        }
        moved
    }

    /// Returns the level for a wanted step, `ratio` times dt_max, and true if it is clamped to the floor; [`None`] for
    /// NaN, or if the run has to stop.
    #[inline(always)]
    fn allowed(&self, wanted: f64, ratio: f64) -> Option<(Level, bool)> {
        match Level::not_longer_than(ratio) {
            Some(level) if level <= self.parameters.floor => Some((level, false)),
            _ if wanted.is_nan() || self.parameters.on_floor == OnFloor::Stop => None,
            _ => Some((self.parameters.floor, true)),
        }
    }

    /// Returns true if all numbers of the force on target `k` are finite.
    fn is_finite(&self, k: usize) -> bool {
        let Forces { acc, jerk, pot, .. } = &self.forces;
        acc[k].iter().chain(&jerk[k]).chain([&pot[k]]).all(|x| x.is_finite())
    }

    /// Moves the particles of the block to `now`; returns the number of clamped particles.
    fn step(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, now: Time) -> Result<u64> {
        // Iterated targets act on each other as corrected, so that the block must stay in one piece.
        let tile = if self.parameters.iterations == 1 { TILE } else { usize::MAX };
        let (n, dt_max, mut clamped) = (self.block.len(), self.clock.dt_max, 0);
        for begin in (0..n).step_by(tile) {
            self.predict_targets(p, begin..n.min(begin.saturating_add(tile)), |i| p.step[i].step(dt_max));
            if self.parameters.iterations > 1 {
                self.predicted.0.clone_from(&self.targets.pos);
                self.predicted.1.clone_from(&self.targets.vel);
            }
            self.evaluate(p, f, now)?;
            for _ in 1..self.parameters.iterations {
                self.correct_targets(p);
                self.evaluate(p, f, now)?;
            }
            clamped += self.move_particles(p, now)?;
        }
        self.scheduler.reschedule(&p.step, &self.block);
        f.update(p, &self.block)?;
        Ok(clamped)
    }

    /// Returns the number of particles clamped to the floor, or the error that ends the run.
    fn check(&self, p: &Particles, now: Time, moved: Moved) -> Result<u64> {
        let Some((k, wanted)) = moved.refused else { return Ok(moved.clamped) };
        let i = self.targets.index[k] as usize;
        if wanted.is_nan() || !self.is_finite(k) {
            return Err(not_finite(p, i, self.clock.time(now), &self.parameters.range));
        }
        Err(self.below_floor(p, i, now, wanted))
    }

    /// Returns the error that names the particle that needs too short a step, and its nearest neighbour at that moment.
    fn below_floor(&self, p: &Particles, i: usize, now: Time, wanted: f64) -> Error {
        let at = |j: usize| predict(p.pos[j], p.vel[j], p.acc[j], p.jerk[j], self.clock.between(p.time[j], now)).0;
        let here = at(i);
        let distance = |j: usize| (at(j) - here).norm();
        let partner = (0..p.len()).filter(|&j| j != i).map(|j| (distance(j), j)).min_by(|a, b| a.0.total_cmp(&b.0));
        Error::StepBelowFloor(Box::new(crate::error::StepBelowFloor {
            id: p.id[i],
            time: self.clock.time(now),
            wanted,
            floor: self.parameters.floor.step(self.clock.dt_max),
            section: Hermite4Settings::info().section,
            partner: partner.map(|(distance, j)| (p.id[j], distance)),
        }))
    }
}

fn not_finite(p: &Particles, i: usize, time: f64, range: &range::Range) -> Error {
    Error::Integration {
        problem: format!(
            "the force on particle {} is not a finite number (time {time} in internal units, acceleration {:?}, \
             jerk {:?}, potential {:?})",
            p.id[i],
            p.acc[i].as_slice(),
            p.jerk[i].as_slice(),
            p.pot[i]
        ),
        help: Some(format!(
            "a collision without softening, or a close pair that was not resolved by the first step: lower nu_start \
             and nu, or set softening.epsilon{}",
            range.too_close()
        )),
    }
}

impl Integrator for Hermite4 {
    type Evaluation = Forces;

    fn start(&mut self, p: &mut Particles, f: &mut dyn ForceEngine) -> Result<Progress> {
        self.load(p, f)?;
        let now = Time::default();
        self.block = (0..p.len() as u32).collect();
        let mut clamped = 0;
        for begin in (0..p.len()).step_by(TILE) {
            let tile = begin..p.len().min(begin + TILE);
            self.predict_targets(p, tile.clone(), |_| 0.0);
            self.evaluate(p, f, now)?;
            p.pos[tile.clone()].copy_from_slice(&self.targets.pos);
            p.vel[tile.clone()].copy_from_slice(&self.targets.vel);
            p.acc[tile.clone()].copy_from_slice(&self.forces.acc);
            p.jerk[tile.clone()].copy_from_slice(&self.forces.jerk);
            p.pot[tile.clone()].copy_from_slice(&self.forces.pot);
            p.time[tile.clone()].fill(now);
            let mut moved = Moved::default();
            for (k, i) in tile.enumerate() {
                let pot = p.pot[i].abs() + self.forces.external.get(k).map_or(0.0, |pot| pot.abs());
                let wanted = initial(self.parameters.nu_start, p.acc[i].norm(), p.jerk[i].norm(), pot);
                let allowed = self.allowed(wanted, wanted / self.clock.dt_max).filter(|_| self.is_finite(k));
                p.step[i] = moved.level(k, wanted, allowed).unwrap_or_default();
            }
            clamped += self.check(p, now, moved)?;
        }
        f.update(p, &self.block)?;
        self.scheduler = Scheduler::new(now, &p.step);
        let n = p.len() as u64;
        Ok(Progress { now, pairs: n * n.saturating_sub(1), clamped, ..Progress::default() })
    }

    fn resume(&mut self, p: &Particles, now: Time, f: &mut dyn ForceEngine) -> Result<()> {
        self.load(p, f)?;
        self.scheduler = Scheduler::new(now, &p.step);
        Ok(())
    }

    fn advance(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, until: Time, most: u64) -> Result<Progress> {
        let mut done = Progress { now: self.scheduler.now(), ..Progress::default() };
        while done.block_steps < most
            && let Some(now) = self.scheduler.next_block(&p.step, until, &mut self.block)
        {
            let clamped = self.step(p, f, now)?;
            let n = self.block.len() as u64;
            done.now = now;
            done.block_steps += 1;
            done.particle_steps += n;
            done.pairs += n * (p.len() as u64).saturating_sub(1) * u64::from(self.parameters.iterations);
            done.clamped += clamped;
        }
        Ok(done)
    }

    fn forces(&mut self, _: &Particles, now: Time, targets: Targets<'_>, f: &mut dyn ForceEngine) -> Result<Forces> {
        let mut found = Forces::default();
        f.evaluate(now, targets, &mut found)?;
        Ok(found)
    }
}
