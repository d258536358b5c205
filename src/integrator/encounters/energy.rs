//! Energy of the units and their subsystems as the forces have it.
//!
//! Between changes of the subsystems and of their lists the forces conserve it. Where a change would make it jump, because bodies
//! that were felt as a point are resolved from then on, or the other way round, the motion inside of a subsystem takes up
//! the difference. Each is no more than what is neglected anyway, but over many changes they would add up.

use super::Encounters;
use super::averaged::{REFINED, bound_by};
use super::columns::{Column, LANES};
use super::coupled::Subsystems;
use super::coupling::{self, Members};
use super::group::{Group, Listed, Near};
use super::membership::Change;
use super::surroundings::{Positions, at};
use crate::few_body::Motion;
use tisane_force::error::Result;
use tisane_force::particles::{Particles, Vec3};
use tisane_force::time::Time;

impl Group {
    /// Returns the energy inside, with that of inner subsystems and of the far field.
    fn energy(&self) -> f64 {
        let far = self.far.map_or(0.0, |far| {
            let Members { mass, offsets, .. } = self.members();
            mass.iter().zip(&offsets).map(|(mass, x)| -0.5 * mass * x.dot(&(far.tide * x))).sum()
        });
        far + self.nested_energy() - self.binding()
    }

    /// Adds an energy to that of the internal motion: a settled pair changes in size, others in their speeds.
    fn take_up(&mut self, energy: f64, is_settled: bool) {
        if is_settled {
            self.motion = bound_by(&self.motion, -energy);
        } else {
            self.motion.take_up(energy);
        }
    }
}

impl Subsystems {
    /// Returns the energy of the coupling of a subsystem, its motion that of `now`, with another unit at `r` from its
    /// centre of mass.
    fn coupling(&self, group: &Group, near: &Near, r: Vec3, now: Time) -> f64 {
        let factor = coupling::factor(r.norm_squared(), near.outer2);
        if factor == 0.0 {
            return 0.0;
        }
        let potential = match &group.ring {
            Some((time, ring)) if near.is_mean => ring.after(self.clock.between(*time, now)).potential(r),
            None if near.is_mean => 0.0,
            _ => coupling::potential(&group.members(), r),
        };
        factor * self.units.all.mass[self.units.of_star(near.star)] * potential
    }

    /// Returns the energy of the subsystem at a place with that of its coupling.
    fn coupled_energy(&self, place: usize, now: Time) -> f64 {
        let (group, all) = (&self.groups[place], &self.units.all);
        let (pos, _) = at(all, self.units.of_star(group.members[0]), &self.clock, now);
        let coupling = |near: &Near| {
            let r = at(all, self.units.of_star(near.star), &self.clock, now).0 - pos;
            self.coupling(group, near, r, now)
        };
        group.energy() + group.near.iter().map(coupling).sum::<f64>()
    }

    /// Renews the list of the subsystem at a place, whose motion takes up what that changes.
    pub fn list_again(&mut self, place: usize, listed: Listed, now: Time) -> Result<()> {
        let Self { groups, units, rules, clock, .. } = self;
        groups[place].advance(units, clock, now)?;
        let is_settled = groups[place].settled(rules).is_some();
        let before = self.coupled_energy(place, now);
        self.list(place, listed);
        // The place of a settled pair changes with its size, and with it the energy of the coupling, by less each time.
        for _ in 0..if is_settled { REFINED } else { 1 } {
            let after = self.coupled_energy(place, now);
            self.groups[place].take_up(before - after, is_settled);
        }
        Ok(())
    }

    /// Returns the energy of units, with that of what they and others feel of each other. What `counts` has the masses of all
    /// others, and loses those of the units.
    fn energy(&self, p: &Particles, positions: &Positions, units: &[usize], counts: &mut Column, now: Time) -> f64 {
        let mut sum = 0.0;
        for &i in units {
            counts[i / LANES][i % LANES] = 0.0;
            let star = self.units.stars[i];
            let (_, vel) = at(p, i, &self.clock, now);
            sum += p.mass[i] * (0.5 * vel.norm_squared() + positions.potential(i, counts));
            let between = |k: usize| positions.of(k) - positions.of(i);
            let other = |star: u32| Some(self.units.of_star(star)).filter(|&k| counts[k / LANES][k % LANES] > 0.0);
            if let Some(group) = self.of_star(star) {
                let felt = group.near.iter().filter_map(|near| Some((near, other(near.star)?)));
                let felt = felt.map(|(near, k)| self.coupling(group, near, between(k), now));
                sum += group.energy() + felt.sum::<f64>();
            }
            for (group, _) in self.felt_by(star) {
                let near = group.near.binary_search_by_key(&star, |near| near.star);
                if let (Ok(near), Some(k)) = (near, other(group.members[0])) {
                    sum += self.coupling(group, &group.near[near], -between(k), now);
                }
            }
        }
        sum
    }
}

impl Encounters {
    /// Returns the energy of all units and subsystems as the forces have it: what it lacks of that of all stars is neglected
    /// at this moment, and what it changes is the error of the integration.
    ///
    /// # Errors
    /// [`Error::Integration`](tisane_force::error::Error::Integration) where the motion of a subsystem cannot be followed to `now`.
    pub fn energy_of_forces(&self, now: Time) -> Result<f64> {
        let (mut subsystems, mut positions) = (self.subsystems.clone(), Positions::default());
        subsystems.advance(now, |_, _| true)?;
        positions.set(&self.particles, &self.clock, now);
        let all: Vec<usize> = (0..self.particles.len()).collect();
        let mut counts = positions.mass().clone();
        Ok(subsystems.energy(&self.particles, &positions, &all, &mut counts, now))
    }

    /// Returns the energies of the units of each change, where all of them stand at `now`.
    pub(super) fn energies<'a>(&mut self, units: impl Iterator<Item = &'a [usize]>, now: Time) -> Vec<f64> {
        let Self { particles, subsystems, positions, clock, .. } = self;
        positions.set(particles, clock, now);
        let mut counts = positions.mass().clone();
        units.map(|units| subsystems.energy(particles, positions, units, &mut counts, now)).collect()
    }

    /// Gives the units that each change led to, by their lowest stars, the energy of those that ended there.
    pub(super) fn balance(&mut self, changes: &[Change], energies: &[f64], begun: &[Vec<u32>], now: Time) {
        let units = |stars: &Vec<u32>| stars.iter().map(|&star| self.subsystems.units.of_star(star)).collect();
        let begun: Vec<Vec<usize>> = begun.iter().map(units).collect();
        let after = self.energies(begun.iter().map(Vec::as_slice), now);
        for (((change, units), before), after) in changes.iter().zip(&begun).zip(energies).zip(after) {
            // What a merger takes out of the system is recorded by itself.
            match change {
                Change::Merge(_) => {}
                Change::Unite(_, touched) => {
                    let removed = touched.merged.map_or(0.0, |removed| removed.energy);
                    self.take_up(units, before - after - removed);
                }
                _ => self.take_up(units, before - after),
            }
        }
    }

    /// Adds an energy to that of the motion inside of a unit, or of two units about each other; inside of one of them where these
    /// hardly move.
    fn take_up(&mut self, units: &[usize], energy: f64) {
        let (p, subsystems) = (&mut self.particles, &mut self.subsystems);
        let rules = subsystems.rules;
        match *units {
            [i] => {
                let star = subsystems.units.stars[i];
                if let Some(group) = subsystems.of_star_mut(star) {
                    let is_settled = group.settled(&rules).is_some();
                    group.take_up(energy, is_settled);
                }
            }
            [i, k] => {
                let mut pair = Motion::new(&[p.mass[i], p.mass[k]], &[p.pos[i], p.pos[k]], &[p.vel[i], p.vel[k]]);
                let before = pair.speeds();
                if !pair.take_up(energy) {
                    let has_inside = |unit: &usize| subsystems.of_star(subsystems.units.stars[*unit]).is_some();
                    let inside = [i, k].into_iter().find(has_inside);
                    return inside.into_iter().for_each(|unit| self.take_up(&[unit], energy));
                }
                for ((unit, before), after) in [i, k].into_iter().zip(before).zip(pair.speeds()) {
                    p.vel[unit] += after - before;
                    subsystems.units.all.vel[unit] = p.vel[unit];
                }
            }
            _ => {}
        }
    }
}
