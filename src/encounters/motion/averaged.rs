//! Pairs and others that feel each other in the mean over the orbit of the pair: where the perturbation is weak, and the period
//! short against the time in which it changes. The energy of the coupling differs from its mean by what the place of the pair
//! on its orbit makes of it; where they begin or end to feel each other so, the binding energy of the pair takes up the
//! difference, so that the sum stays.

use crate::encounters::forces::bodies::Units;
use crate::encounters::forces::coupling::{self, Members};
use crate::encounters::forces::orbit::{Orbit, Ring};
use crate::encounters::forces::surroundings::at;
use crate::encounters::motion::elements::REFINED;
use crate::encounters::motion::elements::bound_by;
use crate::encounters::motion::subsystem::{Group, Near, comes_within};
use crate::encounters::settings::rules::Rules;
use crate::few_body::Motion;
use nalgebra::Matrix3;
use tisane_force::error::Result;
use tisane_force::gravity::predict;
use tisane_force::time::{Clock, Level, Time};

/// How others feel a subsystem from now on.
#[derive(Clone, Debug)]
pub struct Attended {
    is_perturbed: bool,
    is_mean: bool,
    /// Places in the list of those that change to or from the mean.
    pub changed: Vec<usize>,
}

impl Group {
    /// Decides how the internal motion goes on until the centre of mass, now of level `step`, moves again: who of the others feels
    /// the members, and who feels them in the mean. The motion must be that of `now` if it is perturbed. It goes on so where
    /// no one changes to or from the mean; otherwise [`Self::go_on`] follows.
    pub fn attend(&mut self, units: &Units, clock: &Clock, rules: &Rules, now: Time, step: Level) -> Result<Attended> {
        if self.ring.is_some() {
            self.advance(units, clock, now)?;
            self.turn(units, clock);
        }
        self.turn_nested(clock, now)?;
        let here = units.of_star(self.members[0]);
        let (pos, vel) = at(&units.all, here, clock, now);
        let (mass, dt) = (self.mass(), step.step(clock.dt_max));
        let pair = self.settled(rules).filter(|_| !self.is_watched(rules) && Orbit::of(&self.motion).is_some());
        let strength = 2.0 / mass * (self.size * self.size * self.size);
        let (mut is_perturbed, mut is_mean) = (self.far.is_some(), false);
        let mut changed = Vec::new();
        for (near, place) in self.near.iter().zip(0..) {
            let k = units.of_star(near.star);
            let (x, v) = at(&units.all, k, clock, now);
            let (x, v, m) = (x - pos, v - vel, units.all.mass[k]);
            if !comes_within((x, v), mass + m, dt, near.outer2) {
                continue;
            }
            let r2 = x.norm_squared();
            let r = r2.sqrt();
            let felt_in_mean = pair.is_some_and(|pair| {
                let time = (r2 / (v.norm_squared() + (mass + m) / r)).sqrt();
                rules.is_mean(strength * m / (r * r2), time / pair.period, near.is_mean)
            });
            if felt_in_mean != near.is_mean {
                changed.push(place);
            }
            is_mean |= felt_in_mean;
            is_perturbed |= !felt_in_mean;
        }
        let attended = Attended { is_perturbed, is_mean, changed };
        if attended.changed.is_empty() {
            self.go_on(&attended, units, clock, now)?;
        }
        Ok(attended)
    }

    /// Goes on as decided.
    pub fn go_on(&mut self, attended: &Attended, units: &Units, clock: &Clock, now: Time) -> Result<()> {
        let Attended { is_perturbed, is_mean, ref changed } = *attended;
        if is_perturbed != self.is_perturbed || !changed.is_empty() {
            self.advance(units, clock, now)?;
        }
        if !changed.is_empty() {
            let energy: f64 = changed.iter().map(|&k| self.change_of(k, units, clock)).sum();
            self.motion = bound_by(&self.motion, energy);
            changed.iter().for_each(|&k| self.near[k].is_mean ^= true);
        }
        self.is_perturbed = is_perturbed;
        self.ring = if is_mean {
            self.advance(units, clock, now)?;
            self.seen_as_ring(&self.motion, units, clock).map(|ring| (now, ring))
        } else {
            None
        };
        Ok(())
    }

    /// Returns what the binding energy takes up when another body on the list, at a place, changes to or from the mean.
    fn change_of(&self, place: usize, units: &Units, clock: &Clock) -> f64 {
        let near = &self.near[place];
        let difference = self.less_than_mean(&self.motion, &self.motion, std::iter::once(near), units, clock);
        if near.is_mean { -difference } else { difference }
    }

    /// Returns the tidal field, in the mean over the orbit, of those on the list that are felt so, at a time after `from`.
    fn mean_tide(&self, units: &Units, clock: &Clock, from: Time, since: f64) -> Matrix3<f64> {
        let place = |i: usize| {
            let p = &units.all;
            predict(p.pos[i], p.vel[i], p.acc[i], p.jerk[i], clock.between(p.time[i], from) + since).0
        };
        let centre = place(units.of_star(self.members[0]));
        let mut tide = Matrix3::zeros();
        for near in self.near.iter().filter(|near| near.is_mean) {
            let k = units.of_star(near.star);
            let r = place(k) - centre;
            let r2 = r.norm_squared();
            if r2 < near.outer2 {
                let weight = coupling::factor(r2, near.outer2) * units.all.mass[k] / (r2 * r2.sqrt());
                tide += (r * r.transpose() * (3.0 / r2) - Matrix3::identity()) * weight;
            }
        }
        tide
    }

    /// Turns the orbit, since the moment of the ring, as those do that are felt in the mean. The motion must be that of
    /// [`time`](Self::time).
    fn turn(&mut self, units: &Units, clock: &Clock) {
        let Some((from, _)) = self.ring.filter(|(from, _)| *from < self.time) else { return };
        if let Some(before) = Orbit::of(&self.motion) {
            let dt = clock.between(from, self.time);
            let after = before.after(dt, |time| self.mean_tide(units, clock, from, time));
            before.turn(&after, &mut self.motion);
            self.ring = self.seen_as_ring(&self.motion, units, clock).map(|ring| (self.time, ring));
        }
    }

    /// Returns the pair as others feel it in the mean.
    fn seen_as_ring(&self, motion: &Motion, units: &Units, clock: &Clock) -> Option<Ring> {
        let (reduced, _) = motion.pair_constants()?;
        Some(Orbit::of(motion)?.ring(reduced, &self.mean_tide(units, clock, self.time, 0.0)))
    }

    /// Moves all pairs that are followed in the mean over their orbits to their present places, at `now`, which the motion has
    /// reached.
    pub(crate) fn resolve(&mut self, units: &Units, clock: &Clock, now: Time) -> Result<()> {
        self.turn(units, clock);
        self.turn_nested(clock, now)?;
        if self.ring.take().is_some() {
            let mean = self.motion.clone();
            for _ in 0..REFINED {
                let felt = self.near.iter().filter(|near| near.is_mean);
                let difference = self.less_than_mean(&mean, &self.motion, felt, units, clock);
                self.motion = bound_by(&mean, -difference);
            }
            self.near.iter_mut().for_each(|near| near.is_mean = false);
        }
        self.resolve_nested();
        Ok(())
    }

    /// Returns the energy of the coupling with others in the mean over an orbit less that at the place of the `present` motion.
    fn less_than_mean<'a>(
        &'a self,
        mean: &Motion,
        present: &Motion,
        others: impl Iterator<Item = &'a Near>,
        units: &Units,
        clock: &Clock,
    ) -> f64 {
        let Some(ring) = self.seen_as_ring(mean, units, clock) else { return 0.0 };
        let (pos, _) = at(&units.all, units.of_star(self.members[0]), clock, self.time);
        let members = Members { mass: present.masses(), offsets: present.offsets(), speeds: Vec::new() };
        let difference = |near: &Near| {
            let k = units.of_star(near.star);
            let r = at(&units.all, k, clock, self.time).0 - pos;
            let factor = coupling::factor(r.norm_squared(), near.outer2) * units.all.mass[k];
            if factor > 0.0 { factor * (ring.potential(r) - coupling::potential(&members, r)) } else { 0.0 }
        };
        others.map(difference).sum()
    }
}
