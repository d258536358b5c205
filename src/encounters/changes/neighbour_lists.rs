//! New lists of the bodies that each body may touch soon.

use crate::encounters::Encounters;
use crate::encounters::contacts::neighbours::List;
use crate::encounters::forces::columns::{Column, LANES};
use crate::encounters::forces::surroundings::Extents;
use crate::encounters::membership::each::{ASK, SUM, each};
use crate::encounters::settings::criteria;
use rayon::prelude::*;
use tisane_force::particles::Vec3;
use tisane_force::spin_pool::min_share;
use tisane_force::time::Time;

impl Encounters {
    /// Returns the largest distance of a surface in a body from its place, also for the next steps.
    pub(crate) fn reach(&self, body: usize) -> f64 {
        let bodies = &self.hierarchy.bodies;
        let star = bodies.stars[body];
        match self.hierarchy.of_star(star) {
            None => bodies.sizes.radii[star as usize],
            Some(subsystem) => {
                let radius = |star: &u32| subsystem.radius(&bodies.sizes, *star);
                subsystem.size.max(subsystem.reach()) + subsystem.stars.iter().map(radius).fold(0.0, f64::max)
            }
        }
    }

    /// Returns a bound of the speed of a body in its next step, in the frame of the lists, with that of its members if they
    /// may fly apart.
    fn speed_bound(&self, body: usize) -> f64 {
        let (p, dt) = (&self.particles, self.particles.step[body].step(self.clock.dt_max));
        let own =
            (p.vel[body] - self.neighbours.frame).norm() + dt * (p.acc[body].norm() + 0.5 * dt * p.jerk[body].norm());
        let subsystem = self.hierarchy.of_star(self.hierarchy.bodies.stars[body]);
        let inside = subsystem.filter(|subsystem| subsystem.settled(&self.hierarchy.rules).is_none());
        own + inside.map_or(0.0, |subsystem| subsystem.motion.speeds().iter().map(|v| v.norm()).fold(0.0, f64::max))
    }

    /// Makes the lists of all bodies at `now`, if contacts are looked for.
    pub(crate) fn list_all_neighbours(&mut self, now: Time) {
        if self.action().is_some() {
            let all: Vec<u32> = self.hierarchy.bodies.occupied().map(|body| body as u32).collect();
            self.list_neighbours(now, &all);
        }
    }

    /// Renews the lists of bodies that stand at `now`, where they do not hold for their next steps.
    pub(crate) fn list_neighbours(&mut self, now: Time, bodies: &[u32]) {
        self.neighbours.lists.resize(self.ids.len(), List::default());
        let mut old = Vec::new();
        for &body in bodies {
            let bound = self.speed_bound(body as usize);
            let list = &self.neighbours.lists[self.hierarchy.bodies.stars[body as usize] as usize];
            if now.after(self.particles.step[body as usize]) > list.until
                || criteria::MIN_KNOWN_SPEED * bound > list.speed
            {
                old.push(body);
            }
        }
        if old.is_empty() {
            return;
        }
        if self.follow_mean_velocity() {
            old = self.hierarchy.bodies.occupied().map(|body| body as u32).collect();
        }
        for &body in &old {
            let (speed, star) =
                (criteria::KNOWN_SPEED * self.speed_bound(body as usize), self.hierarchy.bodies.stars[body as usize]);
            self.neighbours.lists[star as usize].speed = speed;
        }
        self.positions.set(&self.particles, &self.clock, now);
        let extents = self.extents();
        let old: Vec<usize> = old.into_iter().map(|body| body as usize).collect();
        let found = each(&old, SUM, |body| self.neighbours_of(body, &extents));
        old.into_iter().zip(found).for_each(|(body, (number, neighbours))| self.list(now, body, number, neighbours));
    }

    /// Returns sizes and known speeds of all bodies.
    fn extents(&self) -> Extents {
        let bodies = &self.hierarchy.bodies;
        let rows = 0..self.particles.len().div_ceil(LANES);
        let row = |row: usize| {
            let (mut size, mut speed) = ([0.0; LANES], [0.0; LANES]);
            for lane in 0..LANES {
                let body = row * LANES + lane;
                if body < self.particles.len() && bodies.is_occupied(body) {
                    (size[lane], speed[lane]) = (self.reach(body), self.known_speed(body));
                }
            }
            (size, speed)
        };
        let (size, speed) = rows.into_par_iter().with_min_len(min_share(LANES * ASK)).map(row).unzip();
        Extents { size, speed }
    }

    /// Lets the frame of the lists follow the mean velocity of the bodies. Returns true if it has changed, so that no list holds.
    fn follow_mean_velocity(&mut self) -> bool {
        let bodies = || self.hierarchy.bodies.occupied().map(|body| self.particles.vel[body]);
        let n = bodies().count() as f64;
        let mean = bodies().sum::<Vec3>() / n;
        let speed = bodies().map(|v| (v - mean).norm()).sum::<f64>() / n;
        let changes = (mean - self.neighbours.frame).norm() > criteria::MAX_DRIFT * speed;
        if changes {
            self.neighbours.frame = mean;
        }
        changes
    }

    fn known_speed(&self, body: usize) -> f64 {
        self.neighbours.lists[self.hierarchy.bodies.stars[body] as usize].speed
    }

    /// Returns the number of steps for which a new list of a body holds, and the bodies on it, by lowest stars.
    fn neighbours_of(&self, body: usize, extents: &Extents) -> (u64, Vec<u32>) {
        let Extents { size, speed } = extents;
        let of = |column: &Column, k: usize| column[k / LANES][k % LANES];
        let (dt, own) = (self.particles.step[body].step(self.clock.dt_max), of(speed, body));
        let slack = of(size, body) + criteria::MAX_STEPS_OF_NEIGHBOURS as f64 * dt * own;
        let found = self.positions.reached(body, extents, slack, criteria::MAX_STEPS_OF_NEIGHBOURS as f64 * dt);
        // The number of steps after which each may be reached.
        let steps = |(k, r): (usize, f64)| (k, (r - of(size, body) - of(size, k)) / (dt * (own + of(speed, k))));
        let found: Vec<(usize, f64)> = found.into_iter().map(steps).collect();
        let mut number = criteria::MAX_STEPS_OF_NEIGHBOURS;
        while number > 1 && found.iter().filter(|(_, after)| *after <= number as f64).count() > criteria::MAX_NEIGHBOURS
        {
            number /= 2;
        }
        let is_listed = |(_, after): &(usize, f64)| *after <= number as f64 || after.is_nan();
        let stars = &self.hierarchy.bodies.stars;
        let mut neighbours: Vec<u32> = found.into_iter().filter(is_listed).map(|(k, _)| stars[k]).collect();
        neighbours.sort_unstable();
        (number, neighbours)
    }

    /// Gives a body a new list, and enters it in those of others.
    fn list(&mut self, now: Time, body: usize, number: u64, neighbours: Vec<u32>) {
        let (star, lists) = (self.hierarchy.bodies.stars[body], &mut self.neighbours.lists);
        for &other in &neighbours {
            let other = &mut lists[other as usize].neighbours;
            if let Err(place) = other.binary_search(&star) {
                other.insert(place, star);
            }
        }
        let list = &mut lists[star as usize];
        list.until = Time(now.0.saturating_add(number * self.particles.step[body].ticks()));
        list.neighbours = neighbours;
    }
}
