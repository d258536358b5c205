//! Stars of different units that touch and become one, in the order of their contacts, and steps that end soon after a contact.

use super::collisions::{CollisionAction, Collisions, Removed};
use super::contacts::{Touched, spin};
use super::crossings::{Way, share};
use super::membership::Change;
use super::path::{Path, between};
use super::surroundings::at;
use super::{Encounters, bodies, shorten};
use crate::error::Result;
use crate::force::ForceEngine;
use crate::particles::Vec3;
use crate::time::Time;

/// Time after the contact of two stars by which the step ends that has it, in units of the sum of the radii over the speed.
const LATE: f64 = 0.1;

/// Change of the acceleration of another unit by a merger, in units of that acceleration, from which on that unit begins anew.
const FELT: f64 = 1e-8;

impl Encounters {
    /// Looks for contacts in the block step that ended at `now`, and makes one star of two that touched. Returns the units of the
    /// block that are left.
    pub(super) fn unite(&mut self, f: &mut dyn ForceEngine, now: Time, block: Vec<u32>) -> Result<Vec<u32>> {
        if self.action().is_none() {
            return Ok(block);
        }
        self.find_crossings(now)?;
        if self.crossings.found.is_empty() {
            return Ok(block);
        }
        let stars: Vec<u32> = block.iter().map(|&unit| self.subsystems.units.stars[unit as usize]).collect();
        self.unite_all(f, now)?;
        Ok(stars.into_iter().filter_map(|star| Some(self.unit_of(star)? as u32)).collect())
    }

    /// Does the same for what has moved since, and prepares for the next block step.
    pub(super) fn unite_rest(&mut self, f: &mut dyn ForceEngine, now: Time) -> Result<()> {
        if self.action().is_none() {
            return Ok(());
        }
        self.unite_all(f, now)?;
        let mut stirred = std::mem::take(&mut self.crossings.stirred);
        self.crossings.ways.clear();
        stirred.sort_unstable();
        stirred.dedup();
        let units: Vec<u32> = stirred.into_iter().filter_map(|star| Some(self.unit_of(star)? as u32)).collect();
        self.watch_neighbours(now, &units);
        Ok(())
    }

    fn unite_all(&mut self, f: &mut dyn ForceEngine, now: Time) -> Result<()> {
        while !self.crossings.found.is_empty() {
            self.crossings.found.sort_by(|a, b| b.time.total_cmp(&a.time).then(b.stars.cmp(&a.stars)));
            let Some(first) = self.crossings.found.pop() else { break };
            let units = first.stars.map(|star| self.unit_with(star));
            // A star that has become one with another, or a member of the same subsystem, which looks itself.
            let [Some(i), Some(k)] = units else { continue };
            if i == k {
                continue;
            }
            let lowest = [i, k].map(|unit| self.subsystems.units.stars[unit]);
            let way = if lowest == first.stars { self.way_of_union(&first, now) } else { None };
            let near: Vec<u32> = lowest.iter().flat_map(|&star| self.neighbours.of(star)).copied().collect();
            self.change(f, now, &[Change::Unite([i, k], Box::new(first.clone()))])?;
            if let Some(way) = way {
                self.follow_union(way, &first, near, now)?;
            }
        }
        Ok(())
    }

    /// Looks for the contacts of a star that two have become, from that moment on, with those that were near them.
    fn follow_union(&mut self, way: Way, first: &Touched, mut near: Vec<u32>, now: Time) -> Result<()> {
        let star = first.stars[0];
        if self.unit_of(star).is_none() {
            return Ok(());
        }
        self.crossings.ways.insert(star, way);
        self.crossings.found.retain(|it| !it.stars.iter().any(|star| first.stars.contains(star)));
        near.sort_unstable();
        near.dedup();
        for other in near.into_iter().filter(|other| !first.stars.contains(other)) {
            let found = self.crossing([star.min(other), star.max(other)], now)?;
            self.crossings.found.extend(found);
        }
        Ok(())
    }

    /// Returns the way of the centre of mass of two single stars from their contact to `now`.
    fn way_of_union(&self, first: &Touched, now: Time) -> Option<Way> {
        let ways = first.stars.map(|star| self.way(star, now));
        let ([Some(a), Some(b)], share) = (ways, share(first.mass)) else { return None };
        let span = self.clock.time(now) - first.time;
        let centre = |x: Vec3, y: Vec3| x + (y - x) * share;
        let [from, to] = [a.back(span), b.back(span)];
        let end = std::array::from_fn(|k| centre(a.end[k], b.end[k]));
        let begin = [0, 1, 2].map(|k| centre(from[k], to[k]));
        let jerk = centre(a.begin[3], b.begin[3]);
        (span > 0.0).then_some(Way { begin: [begin[0], begin[1], begin[2], jerk], end, span })
    }

    /// Returns the unit that a star is in.
    fn unit_with(&self, star: u32) -> Option<usize> {
        self.unit_of(star).or_else(|| {
            let group = self.subsystems.groups.iter().find(|group| group.members.contains(&star))?;
            self.unit_of(group.members[0])
        })
    }

    /// Returns the units on which the force of two units of these masses changes at `now` where they become one at the centre of
    /// mass: these begin anew, as no polynomial goes through the jump.
    pub(super) fn felt_of_union(&self, units: [usize; 2], mass: [f64; 2], now: Time) -> Vec<usize> {
        let p = &self.particles;
        let place = |unit: usize| at(p, unit, &self.clock, now).0;
        let [a, b] = units.map(place);
        let centre = a + (b - a) * share(mass);
        let feels = |&unit: &usize| {
            let x = place(unit);
            let pull = |mass: f64, from: Vec3| (from - x) * (mass / (from - x).norm().powi(3));
            let change = pull(mass[0], a) + pull(mass[1], b) - pull(mass[0] + mass[1], centre);
            change.norm() > FELT * p.acc[unit].norm()
        };
        (0..p.len()).filter(|unit| !units.contains(unit)).filter(feels).collect()
    }

    /// Returns changes with what the unions among them take out of the system, where all that take part stand at `now`.
    pub(super) fn with_removed(&mut self, mut changes: Vec<Change>, now: Time) -> Result<Vec<Change>> {
        let collisions = self.subsystems.units.sizes.collisions;
        for change in &mut changes {
            let Change::Unite(units, touched) = change else { continue };
            touched.merged = Some(self.removed_by_union(*units, touched.stars, now)?);
            self.contacts.push((**touched).clone());
            if let Some(Collisions { law, .. }) = collisions {
                let radius = law.merged(touched.mass.iter().sum(), touched.radius);
                self.subsystems.units.sizes.radii[touched.stars[0] as usize] = radius;
            }
        }
        Ok(changes)
    }

    /// Returns what it takes out of the system that two stars of two units become one at `now`.
    fn removed_by_union(&self, units: [usize; 2], stars: [u32; 2], now: Time) -> Result<Removed> {
        let p = &self.particles;
        let mut all: Vec<(Option<u32>, f64, Vec3, Vec3)> = Vec::new();
        for unit in 0..p.len() {
            let (x, v) = at(p, unit, &self.clock, now);
            let star = self.subsystems.units.stars[unit];
            match self.subsystems.of_star(star).filter(|_| units.contains(&unit)) {
                None => all.push((units.contains(&unit).then_some(star), p.mass[unit], x, v)),
                Some(group) => {
                    let inside = bodies::stars(&group.bodies, &group.motion, &self.clock, now)?;
                    all.extend(inside.into_iter().map(|it| (Some(it.of), it.mass, x + it.pos, v + it.vel)));
                }
            }
        }
        let [Some(&a), Some(&b)] = stars.map(|star| all.iter().find(|it| it.0 == Some(star))) else {
            return Ok(Removed::default());
        };
        let (mass, x, v) = ([a.1, b.1], b.2 - a.2, b.3 - a.3);
        let inverse = |r: Vec3| if r.norm() > 0.0 { 1.0 / r.norm() } else { 0.0 };
        let reduced = if mass[0] + mass[1] > 0.0 { mass[0] * mass[1] / (mass[0] + mass[1]) } else { 0.0 };
        let centre = a.2 + x * share(mass);
        let others = all.iter().filter(|it| it.0.is_none_or(|star| !stars.contains(&star)));
        let outside = others.map(|&(_, m, place, _)| {
            let one = (mass[0] + mass[1]) * inverse(place - centre);
            m * (one - mass[0] * inverse(place - a.2) - mass[1] * inverse(place - b.2))
        });
        Ok(Removed {
            energy: 0.5 * reduced * v.norm_squared() - mass[0] * mass[1] * inverse(x) + outside.sum::<f64>(),
            angular_momentum: spin(mass, [x, v]),
            ..Removed::default()
        })
    }

    /// Forgets units that have ended, and takes note of those that have begun, by their lowest stars.
    pub(super) fn ended(&mut self, ended: &[u32], begun: &[u32]) {
        if self.action().is_none() {
            return;
        }
        for star in ended.iter().chain(begun) {
            self.crossings.ways.remove(star);
            self.neighbours.forget(*star);
        }
        self.crossings.stirred.extend_from_slice(begun);
    }

    /// Renews the lists of neighbours of units that stand at `now`. Where stars are to become one, steps of two that will touch end
    /// soon after that: neither passes the other.
    pub(super) fn watch_neighbours(&mut self, now: Time, units: &[u32]) {
        let Some(action) = self.action() else { return };
        self.list_neighbours(now, units);
        if action != CollisionAction::Merge {
            return;
        }
        let (floor, mut changed) = (self.hermite.floor(), Vec::new());
        for &unit in units {
            if let Some(longest) = self.time_to_contact(unit as usize, now)
                && shorten(&mut self.particles, unit as usize, (longest, floor), &self.clock, now)
            {
                changed.push(unit);
            }
        }
        self.hermite.reschedule(&self.particles, &changed);
    }

    /// Returns the time from `now` by which the next step of a single star should end, if a contact is predicted in it.
    fn time_to_contact(&self, unit: usize, now: Time) -> Option<f64> {
        let (p, units, clock) = (&self.particles, &self.subsystems.units, &self.clock);
        let (star, dt) = (units.stars[unit], p.step[unit].step(clock.dt_max));
        let is_single = |star: u32| self.subsystems.of_star(star).is_none();
        if !is_single(star) || p.time[unit] != now {
            return None;
        }
        let state = |k: usize, later: f64| {
            let since = clock.between(p.time[k], now) + later;
            let (x, v) = crate::gravity::predict(p.pos[k], p.vel[k], p.acc[k], p.jerk[k], since);
            [x, v, p.acc[k] + p.jerk[k] * since]
        };
        let others = self.neighbours.of(star).iter().filter(|&&other| is_single(other));
        let times = others.filter_map(|&other| {
            let k = self.unit_of(other)?;
            let distance = units.sizes.radii[star as usize] + units.sizes.radii[other as usize];
            let ends = [0.0, dt].map(|later| between(state(unit, later), state(k, later)));
            let path = Path::new(ends[0], ends[1], dt);
            let time = path.entry(distance)?;
            Some(time.max(LATE * distance / path.at(time)[1].norm()))
        });
        times.reduce(f64::min)
    }
}
