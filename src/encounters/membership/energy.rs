//! Energy of the units and their subsystems as the forces have it.
//!
//! Between changes of the subsystems and of their lists the forces conserve it. Where a change would make it jump, because bodies
//! that were felt as a point are resolved from then on, or the other way round, the motion inside of a subsystem takes up
//! the difference. Each is no more than what is neglected anyway, but over many changes they would add up.

use crate::encounters::forces::columns::{Column, LANES};
use crate::encounters::forces::coupling::{self, Members};
use crate::encounters::forces::surroundings::{Positions, at};
use crate::encounters::membership::hierarchy::Hierarchy;
use crate::encounters::motion::elements::{REFINED, bound_by};
use crate::encounters::motion::subsystem::{Group, Listed, Near};
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
    pub fn take_up(&mut self, energy: f64, is_settled: bool) {
        if is_settled {
            self.motion = bound_by(&self.motion, -energy);
        } else {
            self.motion.take_up(energy);
        }
    }
}

impl Hierarchy {
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
    pub fn energy(&self, p: &Particles, positions: &Positions, units: &[usize], counts: &mut Column, now: Time) -> f64 {
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
