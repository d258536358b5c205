//! Orbit-averaged coupling of a pair and a perturber: where the perturbation is weak, and the period short against the time in
//! which it changes. The energy of the direct coupling depends on the position of the pair on its orbit, that of the averaged one
//! does not. Where the coupling changes from one to the other, the binding energy of the pair takes up the difference, so that
//! the sum stays.

use crate::encounters::forces::bodies::Bodies;
use crate::encounters::forces::coupling::{self, PointMasses};
use crate::encounters::forces::orbit::{AveragedPair, Orbit};
use crate::encounters::motion::elements::bound_by;
use crate::encounters::motion::subsystem::{Approach, Course, Perturber, Subsystem};
use crate::encounters::settings::criteria::{self, Rules};
use crate::few_body::Motion;
use nalgebra::Matrix3;
use std::cell::LazyCell;
use tisane_force::error::Result;
use tisane_force::time::{Clock, Level, Time};

/// Coupling of a subsystem from now on.
#[derive(Clone, Debug)]
pub struct CouplingChoice {
    is_perturbed: bool,
    is_averaged: bool,
    /// Places in the list of the perturbers that change between direct and orbit-averaged coupling.
    pub changed: Vec<usize>,
}

impl Subsystem {
    /// Chooses for each perturber, until the centre of mass, now of level `step`, moves again: direct or orbit-averaged coupling.
    /// The motion must be that of `now` if it is perturbed. If no perturber changes, the choice is applied; otherwise
    /// [`Self::apply_coupling`] follows.
    pub fn choose_coupling(
        &mut self,
        bodies: &Bodies,
        clock: &Clock,
        rules: &Rules,
        now: Time,
        step: Level,
    ) -> Result<CouplingChoice> {
        if self.averaged.is_some() {
            self.advance(bodies, clock, rules, now)?;
            self.turn(bodies, clock);
        }
        self.turn_nested(clock, now)?;
        let (mass, dt) = (self.mass(), step.step(clock.dt_max));
        // Most have no perturbers, and need neither.
        let own = LazyCell::new(|| Course::of(&bodies.particles, bodies.of_star(self.stars[0]), clock, now));
        let pair = LazyCell::new(|| {
            self.settled(rules).filter(|_| !self.is_watched(rules) && Orbit::of(&self.motion).is_some())
        });
        let strength = 2.0 / mass * (self.size * self.size * self.size);
        let (mut is_perturbed, mut is_averaged) = (self.far.is_some(), false);
        let mut changed = Vec::new();
        for (perturber, place) in self.perturbers.iter().zip(0..) {
            let k = bodies.of_star(perturber.star);
            let approach = own.approach(&Course::of(&bodies.particles, k, clock, now));
            if !approach.comes_within(dt, perturber.outer2) {
                continue;
            }
            let Approach { pos: x, vel: v, .. } = approach;
            let (m, r2) = (bodies.particles.mass[k], x.norm_squared());
            let r = r2.sqrt();
            let averaged = pair.is_some_and(|pair| {
                let time = (r2 / (v.norm_squared() + (mass + m) / r)).sqrt();
                rules.is_averaged(strength * m / (r * r2), time / pair.period, perturber.is_averaged)
            });
            if averaged != perturber.is_averaged {
                changed.push(place);
            }
            is_averaged |= averaged;
            is_perturbed |= !averaged;
        }
        let choice = CouplingChoice { is_perturbed, is_averaged, changed };
        if choice.changed.is_empty() {
            self.apply_coupling(&choice, bodies, clock, rules, now)?;
        }
        Ok(choice)
    }

    /// Applies a choice.
    pub fn apply_coupling(
        &mut self,
        choice: &CouplingChoice,
        bodies: &Bodies,
        clock: &Clock,
        rules: &Rules,
        now: Time,
    ) -> Result<()> {
        let CouplingChoice { is_perturbed, is_averaged, ref changed } = *choice;
        if is_perturbed != self.is_perturbed || !changed.is_empty() {
            self.advance(bodies, clock, rules, now)?;
        }
        if !changed.is_empty() {
            let energy: f64 = changed.iter().map(|&k| self.change_of(k, bodies, clock)).sum();
            self.motion = bound_by(&self.motion, energy);
            changed.iter().for_each(|&k| self.perturbers[k].is_averaged ^= true);
        }
        self.is_perturbed = is_perturbed;
        self.averaged = if is_averaged {
            self.advance(bodies, clock, rules, now)?;
            self.averaged_pair(&self.motion, bodies, clock).map(|pair| (now, pair))
        } else {
            None
        };
        Ok(())
    }

    /// Returns what the binding energy takes up when the perturber at a place in the list changes its coupling.
    fn change_of(&self, place: usize, bodies: &Bodies, clock: &Clock) -> f64 {
        let perturber = &self.perturbers[place];
        let difference =
            self.average_less_present(&self.motion, &self.motion, std::iter::once(perturber), bodies, clock);
        if perturber.is_averaged { -difference } else { difference }
    }

    /// Returns the tidal field of the perturbers with orbit-averaged coupling, at a time after `from`.
    fn averaged_tide(&self, bodies: &Bodies, clock: &Clock, from: Time, since: f64) -> Matrix3<f64> {
        let position = |i: usize| bodies.source(i, clock.between(bodies.particles.time[i], from) + since).0;
        let centre = position(bodies.of_star(self.stars[0]));
        let mut tide = Matrix3::zeros();
        for perturber in self.perturbers.iter().filter(|perturber| perturber.is_averaged) {
            let k = bodies.of_star(perturber.star);
            let r = position(k) - centre;
            let r2 = r.norm_squared();
            if r2 < perturber.outer2 {
                let weight = coupling::factor(r2, perturber.outer2) * bodies.particles.mass[k] / (r2 * r2.sqrt());
                tide += (r * r.transpose() * (3.0 / r2) - Matrix3::identity()) * weight;
            }
        }
        tide
    }

    /// Turns the orbit, since the moment of the averaged pair, by the perturbers with orbit-averaged coupling. The motion must be that of
    /// [`time`](Self::time).
    fn turn(&mut self, bodies: &Bodies, clock: &Clock) {
        let Some((from, _)) = self.averaged.filter(|(from, _)| *from < self.time) else { return };
        if let Some(before) = Orbit::of(&self.motion) {
            let dt = clock.between(from, self.time);
            let after = before.after(dt, |time| self.averaged_tide(bodies, clock, from, time));
            before.turn(&after, &mut self.motion);
            self.averaged = self.averaged_pair(&self.motion, bodies, clock).map(|pair| (self.time, pair));
        }
    }

    /// Returns the pair averaged over its orbit.
    fn averaged_pair(&self, motion: &Motion, bodies: &Bodies, clock: &Clock) -> Option<AveragedPair> {
        let (reduced, _) = motion.pair_constants()?;
        Some(Orbit::of(motion)?.averaged_pair(reduced, &self.averaged_tide(bodies, clock, self.time, 0.0)))
    }

    /// Moves all orbit-averaged pairs to their present positions on their orbits, at `now`, which the motion has
    /// reached.
    pub(crate) fn resolve(&mut self, bodies: &Bodies, clock: &Clock, now: Time) -> Result<()> {
        self.turn(bodies, clock);
        self.turn_nested(clock, now)?;
        if self.averaged.take().is_some() {
            let mean = self.motion.clone();
            for _ in 0..criteria::REFINEMENTS {
                let averaged = self.perturbers.iter().filter(|perturber| perturber.is_averaged);
                let difference = self.average_less_present(&mean, &self.motion, averaged, bodies, clock);
                self.motion = bound_by(&mean, -difference);
            }
            self.perturbers.iter_mut().for_each(|perturber| perturber.is_averaged = false);
        }
        self.resolve_nested();
        Ok(())
    }

    /// Returns the orbit-averaged energy of the coupling with perturbers, less the direct one at the position of the `present` motion.
    fn average_less_present<'a>(
        &'a self,
        mean: &Motion,
        present: &Motion,
        others: impl Iterator<Item = &'a Perturber>,
        bodies: &Bodies,
        clock: &Clock,
    ) -> f64 {
        let Some(averaged) = self.averaged_pair(mean, bodies, clock) else { return 0.0 };
        let position = |i: usize| bodies.source(i, clock.between(bodies.particles.time[i], self.time)).0;
        let pos = position(bodies.of_star(self.stars[0]));
        let points = PointMasses { mass: present.masses(), offsets: present.offsets(), speeds: Vec::new() };
        let difference = |perturber: &Perturber| {
            let k = bodies.of_star(perturber.star);
            let r = position(k) - pos;
            let factor = coupling::factor(r.norm_squared(), perturber.outer2) * bodies.particles.mass[k];
            if factor > 0.0 { factor * (averaged.potential(r) - coupling::potential(&points, r)) } else { 0.0 }
        };
        others.map(difference).sum()
    }
}
