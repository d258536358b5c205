//! New lists of the units that each unit may touch soon.

use crate::encounters::Encounters;
use crate::encounters::contacts::neighbours::List;
use crate::encounters::forces::columns::{Column, LANES};
use tisane_force::particles::Vec3;
use tisane_force::time::Time;

/// Longest time that a list holds for, in steps of its unit.
const STEPS: u64 = 8;
/// Number of units up to which a list may hold for more than one step.
const MANY: usize = 32;
/// Speed by which a unit is known, in units of that which its next step ends with, and smallest such ratio.
const FASTER: f64 = 2.0;
const LEAST: f64 = 1.25;
/// Change of the mean velocity, in mean speeds relative to it, from which on speeds are measured anew.
const DRIFT: f64 = 0.5;

impl Encounters {
    /// Returns the largest distance of a surface in a unit from its place, also for the next steps.
    pub(crate) fn reach(&self, unit: usize) -> f64 {
        let units = &self.subsystems.units;
        let star = units.stars[unit];
        match self.subsystems.of_star(star) {
            None => units.sizes.radii[star as usize],
            Some(group) => {
                let radius = |star: &u32| group.radius(&units.sizes, *star);
                group.size.max(group.reach()) + group.members.iter().map(radius).fold(0.0, f64::max)
            }
        }
    }

    /// Returns a bound of the speed of a unit in its next step, in the frame of the lists, with that of its members if they
    /// may fly apart.
    fn speed_bound(&self, unit: usize) -> f64 {
        let (p, dt) = (&self.particles, self.particles.step[unit].step(self.clock.dt_max));
        let own =
            (p.vel[unit] - self.neighbours.frame).norm() + dt * (p.acc[unit].norm() + 0.5 * dt * p.jerk[unit].norm());
        let group = self.subsystems.of_star(self.subsystems.units.stars[unit]);
        let inside = group.filter(|group| group.settled(&self.subsystems.rules).is_none());
        own + inside.map_or(0.0, |group| group.motion.speeds().iter().map(|v| v.norm()).fold(0.0, f64::max))
    }

    /// Makes the lists of all units at `now`, if contacts are looked for.
    pub(crate) fn list_all_neighbours(&mut self, now: Time) {
        if self.action().is_some() {
            let all: Vec<u32> = (0..self.particles.len() as u32).collect();
            self.list_neighbours(now, &all);
        }
    }

    /// Renews the lists of units that stand at `now`, where they do not hold for their next steps.
    pub(crate) fn list_neighbours(&mut self, now: Time, units: &[u32]) {
        self.neighbours.lists.resize(self.ids.len(), List::default());
        let mut old = Vec::new();
        for &unit in units {
            let bound = self.speed_bound(unit as usize);
            let list = &self.neighbours.lists[self.subsystems.units.stars[unit as usize] as usize];
            if now.after(self.particles.step[unit as usize]) > list.until || LEAST * bound > list.speed {
                old.push(unit);
            }
        }
        if old.is_empty() {
            return;
        }
        if self.follow_mean_velocity() {
            old = (0..self.particles.len() as u32).collect();
        }
        for &unit in &old {
            let (speed, star) = (FASTER * self.speed_bound(unit as usize), self.subsystems.units.stars[unit as usize]);
            self.neighbours.lists[star as usize].speed = speed;
        }
        self.positions.set(&self.particles, &self.clock, now);
        let n = self.particles.len();
        let (mut size, mut speed) = (vec![[0.0; LANES]; n.div_ceil(LANES)], vec![[0.0; LANES]; n.div_ceil(LANES)]);
        for unit in 0..n {
            size[unit / LANES][unit % LANES] = self.reach(unit);
            speed[unit / LANES][unit % LANES] = self.known_speed(unit);
        }
        old.into_iter().for_each(|unit| self.list_anew(now, unit as usize, (&size, &speed)));
    }

    /// Lets the frame of the lists follow the mean velocity of the units. Returns true if it has changed, so that no list holds.
    fn follow_mean_velocity(&mut self) -> bool {
        let (vel, n) = (&self.particles.vel, self.particles.len() as f64);
        let mean = vel.iter().sum::<Vec3>() / n;
        let speed = vel.iter().map(|v| (v - mean).norm()).sum::<f64>() / n;
        let changes = (mean - self.neighbours.frame).norm() > DRIFT * speed;
        if changes {
            self.neighbours.frame = mean;
        }
        changes
    }

    fn known_speed(&self, unit: usize) -> f64 {
        self.neighbours.lists[self.subsystems.units.stars[unit] as usize].speed
    }

    fn list_anew(&mut self, now: Time, unit: usize, (size, speed): (&Column, &Column)) {
        let of = |column: &Column, k: usize| column[k / LANES][k % LANES];
        let (dt, own) = (self.particles.step[unit].step(self.clock.dt_max), of(speed, unit));
        let slack = of(size, unit) + STEPS as f64 * dt * own;
        let found = self.positions.reached(unit, (size, speed), (slack, STEPS as f64 * dt));
        // The number of steps after which each may be reached.
        let steps = |(k, r): (usize, f64)| (k, (r - of(size, unit) - of(size, k)) / (dt * (own + of(speed, k))));
        let found: Vec<(usize, f64)> = found.into_iter().map(steps).collect();
        let mut number = STEPS;
        while number > 1 && found.iter().filter(|(_, after)| *after <= number as f64).count() > MANY {
            number /= 2;
        }
        let (stars, lists) = (&self.subsystems.units.stars, &mut self.neighbours.lists);
        let is_listed = |(_, after): &(usize, f64)| *after <= number as f64 || after.is_nan();
        let near: Vec<u32> = found.into_iter().filter(is_listed).map(|(k, _)| stars[k]).collect();
        let star = stars[unit];
        for &other in &near {
            let other = &mut lists[other as usize].near;
            if let Err(place) = other.binary_search(&star) {
                other.insert(place, star);
            }
        }
        let list = &mut lists[star as usize];
        list.until = Time(now.0.saturating_add(number * self.particles.step[unit].ticks()));
        list.near = near;
    }
}
