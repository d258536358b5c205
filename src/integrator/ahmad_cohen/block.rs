//! Block steps: prediction, forces, correction and next steps of all particles that are due.

use super::slices::{self, Slices};
use super::{AhmadCohen, Order, particle};
use crate::integrator::block_loop::BlockLoop as _;
use crate::integrator::contract::out_of_range;
use crate::integrator::hermite::{LANES, MIN_SHARE, Moved, piece, share};
use crate::integrator::multipoint;
use crate::integrator::timestep::next_level;
use rayon::prelude::*;
use std::ops::Range;
use tisane_force::error::Result;
use tisane_force::force::neighbours::{NeighbourForces, NeighbourTargets, next_radius};
use tisane_force::force::{Block, ForceEngine, Forces};
use tisane_force::gravity::{Force, predict, predict_with};
use tisane_force::particles::{Particles, Vec3};
use tisane_force::spin_pool;
use tisane_force::states::history::History;
use tisane_force::states::neighbours::Neighbours;
use tisane_force::time::Time;

/// Nanoseconds in which a particle is asked for its lists or steps: all of them for the memory.
const ASK: usize = 30;

/// Returns the force on target `k`.
#[inline(always)]
fn force(forces: &Forces, k: usize) -> Force {
    Force { acc: forces.acc[k], jerk: forces.jerk[k], pot: forces.pot[k] }
}

/// Returns true if all numbers of a force are finite.
#[inline(always)]
fn is_finite(Force { acc, jerk, pot }: &Force) -> bool {
    (acc.norm_squared() + jerk.norm_squared() + pot).is_finite()
        || acc.iter().chain(jerk).chain([pot]).all(|x| x.is_finite())
}

impl AhmadCohen {
    /// Returns the number of pairs evaluated in the last block step.
    pub(super) fn pairs(&self, p: &Particles) -> u64 {
        let lists = &p.states.get::<Neighbours>().lists;
        let by_lists = spin_pool::map(&self.block, ASK, |&i| lists[i as usize].len() as u64);
        // Of those with a new list also the old one, which is now in its place, and all particles.
        let by_old = self.forces.lists.iter().take(self.regular.len()).map(|list| (list.len() + p.len() - 1) as u64);
        by_lists.into_iter().chain(by_old).sum()
    }

    /// Returns the predicted position and velocity of particle `i`: of a target with its higher derivatives, of others as
    /// engines have them.
    #[inline(always)]
    pub(super) fn predicted(&self, p: &Particles, i: usize, now: Time, is_target: bool) -> (Vec3, Vec3) {
        let dt = self.clock.between(p.time[i], now);
        let (pos, vel, acc, jerk) = (p.pos[i], p.vel[i], p.acc[i], p.jerk[i]);
        if self.parameters.order == Order::Six && is_target {
            let derivatives = &p.states.get::<History>().derivatives;
            let [snap, crackle] = [0, 1].map(|k| derivatives[k][i]);
            return predict_with((pos, vel), (acc, jerk), [snap, crackle], dt);
        }
        predict(pos, vel, acc, jerk, dt)
    }

    /// Predicts the particles of the block to `now`; `is_regular` chooses those with a regular step.
    pub(super) fn predict_targets(&mut self, p: &Particles, now: Time, is_regular: impl Fn(usize) -> bool + Sync) {
        self.regular.clear();
        self.rank.clear();
        let are_regular = spin_pool::map(&self.block, ASK, |&i| is_regular(i as usize));
        for (k, is_regular) in are_regular.into_iter().enumerate() {
            self.rank.push(is_regular.then(|| {
                self.regular.push(k as u32);
                self.regular.len() as u32 - 1
            }));
        }
        let mut targets = std::mem::take(&mut self.targets);
        targets.index.clone_from(&self.block);
        let n = self.block.len();
        targets.pos.resize(n, Vec3::zeros());
        targets.vel.resize(n, Vec3::zeros());
        let part = |((index, pos), vel): ((&[u32], &mut [Vec3]), &mut [Vec3])| {
            for ((&i, pos), vel) in index.iter().zip(pos).zip(vel) {
                (*pos, *vel) = self.predicted(p, i as usize, now, true);
            }
        };
        match share(n) {
            share if share == n => part(((&targets.index, &mut targets.pos), &mut targets.vel)),
            share => {
                let parts = targets.index.par_chunks(share).zip(targets.pos.par_chunks_mut(share));
                parts.zip(targets.vel.par_chunks_mut(share)).for_each(part);
            }
        }
        self.targets = targets;
    }

    /// Evaluates the forces on the predicted block, and checks that their numbers are within the range of the engine's
    /// arithmetic.
    pub(super) fn evaluate(&mut self, p: &Particles, f: &mut dyn ForceEngine, now: Time) -> Result<()> {
        let of = p.states.get::<Neighbours>();
        let lists = spin_pool::map(&self.block, ASK, |&i| of.lists[i as usize].as_slice());
        let radius = spin_pool::map(&self.regular, ASK, |&k| of.radius[self.block[k as usize] as usize]);
        let task = NeighbourTargets {
            now,
            targets: self.targets.view(),
            lists: &lists,
            regular: &self.regular,
            radius: &radius,
            max: self.max,
        };
        f.evaluate_neighbours(&task, &mut self.forces)?;
        if self.regular.is_empty() {
            return Ok(());
        }
        let some = Block::of_places(self.targets.view(), &self.regular);
        // A regular force may be small, or zero: the error of the whole force counts.
        let NeighbourForces { regular, renewed, .. } = &self.forces;
        let checked = self.guard.check(p, some.view(), &regular.plus(renewed));
        checked.map_err(|what| out_of_range(p, what, &self.parameters.limits.range, self.clock.time(now)))
    }

    /// Moves the particles of the block to `now`; returns the number of clamped particles.
    pub(super) fn step(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, now: Time) -> Result<u64> {
        let Neighbours { regular_time, regular_step, .. } = p.states.get();
        self.predict_targets(p, now, |i| regular_time[i].after(regular_step[i]) == now);
        self.evaluate(p, f, now)?;
        self.find_changes(p, now);
        let (n, all) = (self.block.len(), slices::all(p));
        let moved = match piece(n) {
            size if size >= n => self.move_part(all, 0..n, now),
            size => {
                let slices = all.for_chunks(&self.block, size).into_par_iter().enumerate();
                let part = |(k, slice)| self.move_part(slice, k * size..n.min((k + 1) * size), now);
                slices.map(part).reduce(Moved::default, Moved::and)
            }
        };
        self.check(p, now, moved)?;
        let owners = self.regular.iter().map(|&k| self.block[k as usize]);
        if let Some(holders) = self.holders.as_mut().filter(|holders| !holders.is_outgrown()) {
            let owner = |rank: usize| self.block[self.regular[rank] as usize];
            holders.enter_all(&self.changes, owner);
        }
        let lists = &mut p.states.get_mut::<Neighbours>().lists;
        owners.zip(&mut self.forces.lists).for_each(|(owner, list)| std::mem::swap(&mut lists[owner as usize], list));
        self.scheduler.reschedule(&p.step, &self.block);
        f.update(p, &self.block)?;
        Ok(moved.clamped)
    }

    /// Returns the error that ends the run, if there is one.
    pub(super) fn check(&self, p: &Particles, now: Time, moved: Moved) -> Result<()> {
        let Some((k, wanted)) = moved.refused else { return Ok(()) };
        let i = self.block[k] as usize;
        let parts = self.parts(k);
        match parts.iter().flatten().find(|force| !is_finite(force)) {
            Some(force) => Err(self.guards().not_finite(p, i, now, force)),
            None if wanted.is_nan() => Err(self.guards().not_finite(p, i, now, &force(&self.forces.irregular, k))),
            None => Err(self.guards().below_floor(p, (i, 1), now, wanted)),
        }
    }

    /// Returns the irregular force on target `k`, and the regular and irregular ones by its new list, if it has one.
    #[inline(always)]
    pub(super) fn parts(&self, k: usize) -> [Option<Force>; 3] {
        let renewed = self.rank[k].map(|rank| rank as usize);
        [
            Some(force(&self.forces.irregular, k)),
            renewed.map(|rank| force(&self.forces.regular, rank)),
            renewed.map(|rank| force(&self.forces.renewed, rank)),
        ]
    }

    /// Checks that the forces on all targets are finite numbers.
    pub(super) fn check_finite(&self, p: &Particles, now: Time) -> Result<()> {
        for k in 0..self.block.len() {
            if let Some(force) = self.parts(k).iter().flatten().find(|force| !is_finite(force)) {
                return Err(self.guards().not_finite(p, self.block[k] as usize, now, force));
            }
        }
        Ok(())
    }

    /// Moves the targets `part`, whose particles lie in the slice `p`.
    fn move_part(&self, p: Slices<'_>, part: Range<usize>, now: Time) -> Moved {
        let (mut p, mut moved, guards) = (p.of_equal_length(), Moved::default(), self.guards());
        let (parameters, noise) = (&self.parameters, &self.noise);
        let corrector = particle::Corrector { order: parameters.order, clock: self.clock, now };
        let mut begin = part.start;
        while begin < part.end {
            let end = part.end.min(begin + LANES);
            let (mut lanes, mut steps) = <([multipoint::Lanes; 2], [[f64; LANES]; 2])>::default();
            let (mut finite, mut any_regular, mut min) = ([true; LANES], false, [[0.0; LANES]; 2]);
            for k in begin..end {
                let (i, lane) = (self.block[k] as usize - p.first, k - begin);
                let [irregular, regular, renewed] = self.parts(k);
                finite[lane] = [&irregular, &regular, &renewed].into_iter().flatten().all(is_finite);
                let Some(irregular) = irregular else { continue };
                let mut derivatives = corrector.correct_irregular(&mut p, i, &irregular);
                if let (Some(rank), Some(regular), Some(renewed)) = (self.rank[k], regular, renewed) {
                    any_regular = true;
                    let exchange = self.exchanges[rank as usize].as_ref();
                    let norm2 = regular.acc.norm_squared();
                    let error = noise.of(self.block[k], norm2, regular.pot);
                    let time = noise.time_of_others(self.block[k], norm2, regular.pot);
                    min[1][lane] = time * (MIN_SHARE * self.eta_regular);
                    let found = corrector.correct_regular(&mut p, i, [&irregular, &regular, &renewed], exchange);
                    corrector.exchange(&mut p, i, &mut derivatives, exchange);
                    lanes[1].set(lane, found.dt, (regular.acc, regular.jerk), &found.scaled, found.noise(error));
                    let of = &mut p.own.neighbours;
                    of.radius[i] = next_radius(of.radius[i], self.forces.within[rank as usize], self.wanted);
                }
                let pot = renewed.map_or(irregular.pot, |force| force.pot);
                corrector.finish(&mut p, i, pot, Some(&derivatives));
                let (acc, jerk) = (p.columns.acc[i], p.own.neighbours.jerk[i]);
                let time = noise.time_of_others(self.block[k], acc.norm_squared(), p.columns.pot[i]);
                min[0][lane] = time * (MIN_SHARE * parameters.eta);
                lanes[0].set(lane, derivatives.dt, (acc, jerk), &derivatives.scaled, [0.0; 4]);
            }
            let used = ..end - begin;
            lanes[0].wanted(parameters.eta, parameters.criteria[0], &mut steps[0][used]);
            if any_regular {
                lanes[1].wanted(self.eta_regular, parameters.criteria[1], &mut steps[1][used]);
            }
            for k in begin..end {
                let (i, lane) = (self.block[k] as usize - p.first, k - begin);
                // Where the forces cancel. As a comparison, so that a NaN stays one.
                let step = |of: usize| if steps[of][lane] < min[of][lane] { min[of][lane] } else { steps[of][lane] };
                let (wanted, wanted_regular) = (step(0), step(1));
                let allowed = |wanted: f64| guards.allowed(wanted).filter(|_| finite[lane]);
                // A clamped particle counts once.
                let regular = || allowed(wanted_regular).map(|(level, _)| (level, false));
                if self.rank[k].is_some()
                    && let Some(level) = moved.level(k, wanted_regular, regular())
                {
                    let step = &mut p.own.neighbours.regular_step[i];
                    *step = next_level(*step, level, now);
                }
                if let Some(level) = moved.level(k, wanted, allowed(wanted)) {
                    let step = &mut p.columns.step[i];
                    *step = next_level(*step, level, now).max(p.own.neighbours.regular_step[i]);
                }
            }
            begin = end;
        }
        moved
    }
}
