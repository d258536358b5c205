//! Steps in which others pass that were thrown out.
//!
//! A scheme finds the step of a particle by the forces that it has felt. One that a supernova or an encounter throws out may pass
//! another and be gone within a step that this began before: only one of the two is deflected, and the energy is off for good. So steps
//! that are under way are limited by the time r / v of the passage, as far as its force counts. Those that follow know of it by its force,
//! which may be too weak to tell when they begin. Of a fast body they are limited in the same way, its own too, until it has passed all.

use super::steps::Steps;
use super::timestep::shortened;
use rayon::prelude::*;
use tisane_force::gravity::predict;
use tisane_force::particles::{Particles, Vec3};
use tisane_force::spin_pool::min_share;
use tisane_force::time::{Clock, Level, Time};

/// Square of the jump of a velocity, over the potential there, from which on a particle is thrown out: with 2 it escapes from rest.
const THROWN_ABOVE: f64 = 1.0;
/// The same from which on it is fast: it passes others so quickly that they do not feel it before their next step has begun.
const FAST_ABOVE: f64 = 16.0;
/// Error of a force by a step in which another particle passes, over that by a step of the scheme.
const ERROR_SHARE: f64 = 0.125;
/// Longest step of a particle that another one approaches, in units of their distance over their relative speed.
const STEP_OF_APPROACH: f64 = 0.5;
/// Nanoseconds in which the passage of one particle is looked at.
const WORK: usize = 50;

/// Particle that passes another, from where that is.
struct Passage {
    pos: Vec3,
    vel: Vec3,
    mass: f64,
}

impl Passage {
    /// Returns the longest step, in internal units, of the other particle, which all accelerate by `acc`, by a scheme whose step on a
    /// circular orbit is `natural` times r / v. The force is softened by `eps2 = ε²`.
    ///
    /// A force of the fraction f of all has the error f x⁴ of the acceleration in steps of x r / v, where the scheme takes `natural`⁴.
    /// In steps with x > 1 the particle is gone at their end, and its jerk at their begin makes the error f x. What comes nearer is met
    /// with steps of half of the distance.
    fn longest_step(&self, acc: f64, natural: f64, eps2: f64) -> f64 {
        let (r2, v2, along) = (self.pos.norm_squared(), self.vel.norm_squared(), self.pos.dot(&self.vel));
        // Where the forces of others cancel, this one is all.
        let acc = acc.max(self.mass / (r2 + eps2));
        let natural2 = natural * natural;
        let errors = |r2: f64| ERROR_SHARE * (natural2 * natural2) * acc * (r2 + eps2) / self.mass;
        let (here, time) = (errors(r2), ((r2 + eps2) / v2).sqrt());
        let longest = if here < 1.0 { here.sqrt().sqrt() } else { here };
        let meets = along < 0.0 && errors((r2 - along * along / v2).max(0.0)) < 1.0;
        time * if meets { longest.min(STEP_OF_APPROACH) } else { longest }
    }
}

/// Steps at a moment in which others pass.
#[derive(Clone, Copy, Debug)]
pub struct Passages<'a> {
    /// Time axis.
    pub clock: &'a Clock,
    /// Square of the softening length.
    pub eps2: f64,
    /// The moment.
    pub now: Time,
}

/// What a longest step depends on besides the two particles.
struct Scale {
    /// [`Steps::natural_step`].
    natural: f64,
    /// Mass of all particles.
    mass: f64,
}

impl Passages<'_> {
    /// Shortens the steps under way of the particles that others may pass which are thrown out at the moment. `all` returns the rows of
    /// all particles, ascending; `jumps` has rows and jumps of velocities, internal units. Forces are those of the moment. Returns the rows
    /// of those that are so fast that [steps which begin later](Self::limit_by_thrown) are to be limited too.
    pub fn limit_by_jumps(
        &self,
        scheme: &mut (impl Steps + ?Sized),
        p: &mut Particles,
        all: impl FnOnce() -> Vec<u32>,
        jumps: &[(usize, Vec3)],
    ) -> Vec<usize> {
        let above = |limit: f64| {
            let is_above =
                |&&(i, jump): &&(usize, Vec3)| p.mass[i] > 0.0 && jump.norm_squared() > limit * p.pot[i].abs();
            jumps.iter().filter(is_above).map(|(i, _)| *i).collect::<Vec<usize>>()
        };
        let (thrown, fast) = (above(THROWN_ABOVE), above(FAST_ABOVE));
        if thrown.is_empty() {
            return fast;
        }
        let all = all();
        let scale = Scale::new(scheme, p, &all);
        for thrown in thrown {
            self.limit(scheme, p, &scale, &all, thrown);
        }
        fast
    }

    /// Shortens the steps that begin at the moment of the particles that others pass which were `thrown` out before, and the steps of these.
    /// Returns those of `thrown` that still pass any of `all`, rows that ascend. It depends on the state of the particles alone.
    pub fn limit_by_thrown(
        &self,
        scheme: &mut (impl Steps + ?Sized),
        p: &mut Particles,
        all: &[u32],
        thrown: &[usize],
    ) -> Vec<usize> {
        let scale = Scale::new(scheme, p, all);
        let moved: Vec<u32> = all.iter().copied().filter(|&i| p.time[i as usize] == self.now).collect();
        let mut passing = Vec::with_capacity(thrown.len());
        for &body in thrown {
            if all.binary_search(&(body as u32)).is_err() {
                continue;
            }
            self.limit(scheme, p, &scale, &moved, body);
            if p.time[body] < self.now || self.limit_own(scheme, p, &scale, all, body) {
                passing.push(body);
            }
        }
        passing
    }

    /// Shortens the steps of some particles that another one passes.
    fn limit(
        &self,
        scheme: &mut (impl Steps + ?Sized),
        p: &mut Particles,
        scale: &Scale,
        particles: &[u32],
        other: usize,
    ) {
        let there = self.at(p, other);
        let longest = |&i: &u32| {
            let i = i as usize;
            Some((i, self.longest_step(p, scale, (i, self.at(p, i)), (other, there))?))
        };
        let found: Vec<(usize, f64)> = particles.par_iter().with_min_len(min_share(WORK)).filter_map(longest).collect();
        let mut changed = Vec::new();
        for (i, longest) in found {
            scheme.shorten_regular(p, i, other, longest, self.now);
            if self.shorten(p, i, longest, scheme.floor()) {
                changed.push(i as u32);
            }
        }
        scheme.reschedule(p, &changed);
    }

    /// Shortens the step of a particle that passes others. Returns true if it passes any, or any it.
    fn limit_own(
        &self,
        scheme: &mut (impl Steps + ?Sized),
        p: &mut Particles,
        scale: &Scale,
        all: &[u32],
        body: usize,
    ) -> bool {
        let here = (body, self.at(p, body));
        let both = |&i: &u32| {
            let other = (i as usize, self.at(p, i as usize));
            let own = self.longest_step(p, scale, here, other);
            let passes = own.is_some() || self.longest_step(p, scale, other, here).is_some();
            passes.then_some((other.0, own))
        };
        let found: Vec<(usize, Option<f64>)> =
            all.par_iter().with_min_len(min_share(2 * WORK)).filter_map(both).collect();
        let mut is_shorter = false;
        for (other, longest) in found.iter().filter_map(|(other, own)| Some((*other, (*own)?))) {
            scheme.shorten_regular(p, body, other, longest, self.now);
            is_shorter |= self.shorten(p, body, longest, scheme.floor());
        }
        if is_shorter {
            scheme.reschedule(p, &[body as u32]);
        }
        !found.is_empty()
    }

    /// Shortens the step of a particle to a length, as far as its end is after the moment. Returns true if that changes it.
    fn shorten(&self, p: &mut Particles, i: usize, longest: f64, floor: Level) -> bool {
        let found = shortened((p.time[i], p.step[i]), longest / self.clock.dt_max, floor, self.now);
        found.into_iter().for_each(|level| p.step[i] = level);
        found.is_some()
    }

    /// Returns position and velocity of a particle at the moment.
    fn at(&self, p: &Particles, i: usize) -> (Vec3, Vec3) {
        predict(p.pos[i], p.vel[i], p.acc[i], p.jerk[i], self.clock.between(p.time[i], self.now))
    }

    /// Returns the longest step of particle `i`, with its state, that another one passes; [`None`] if it is not below the longest of all.
    fn longest_step(
        &self,
        p: &Particles,
        scale: &Scale,
        (i, (x, v)): (usize, (Vec3, Vec3)),
        (other, (pos, vel)): (usize, (Vec3, Vec3)),
    ) -> Option<f64> {
        if i == other {
            return None;
        }
        let passage = Passage { pos: pos - x, vel: vel - v, mass: p.mass[other] };
        // Not more than all together accelerate at this potential: an external field may be strong and nearly the same everywhere.
        let acc = p.acc[i].norm().min(p.pot[i] * p.pot[i] / scale.mass);
        Some(passage.longest_step(acc, scale.natural, self.eps2)).filter(|&longest| longest < self.clock.dt_max)
    }
}

impl Scale {
    fn new(scheme: &(impl Steps + ?Sized), p: &Particles, all: &[u32]) -> Self {
        Self { natural: scheme.natural_step(), mass: all.iter().map(|&i| p.mass[i as usize]).sum() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In units of the distance over the speed.
    fn longest([x, y, z]: [f64; 3], mass: f64) -> f64 {
        let passage = Passage { pos: Vec3::new(x, y, z), vel: Vec3::new(-10.0, 0.0, 0.0), mass };
        passage.longest_step(1.0, 0.1, 0.0) * 10.0 / passage.pos.norm()
    }

    fn is(found: f64, want: f64) {
        assert!((found / want - 1.0).abs() < 1e-3, "{found} {want}");
    }

    #[test]
    fn steps_have_a_share_of_the_error_of_the_scheme() {
        // At its pericentre, where the passage is all that acts: a tenth of r / v as on a circular orbit, and an eighth of the error.
        is(longest([0.0, 1.0, 0.0], 1.0), 0.1 * ERROR_SHARE.powf(0.25));
        // A sixteenth of the force may be resolved half as well.
        is(longest([0.0, 1.0, 0.0], 1.0 / 16.0), 0.2 * ERROR_SHARE.powf(0.25));
        // Gone at the end of the step: its error is that of the jerk.
        is(longest([-1.0, 0.0, 0.0], 1e-6), 100.0 * ERROR_SHARE);
    }

    #[test]
    fn what_comes_near_is_met_at_half_of_the_distance() {
        is(longest([200.0, 1.0, 0.0], 1.0), STEP_OF_APPROACH);
        // Not what passes far away, or is too light.
        is(longest([200.0, 1.0, 0.0], 1e-7), 4e4 * 1e-4 / 1e-7 * ERROR_SHARE);
        is(longest([200.0, 500.0, 0.0], 1.0), 2.9e5 * 1e-4 * ERROR_SHARE);
    }
}
