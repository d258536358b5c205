//! Stars of different bodies that touch and become one, in the order of their contacts.

use crate::encounters::Encounters;
use crate::encounters::contacts::inside::spin;
use crate::encounters::contacts::ways::{Way, share};
use crate::encounters::forces::surroundings::at;
use crate::encounters::membership::change::Change;
use crate::encounters::motion::member;
use crate::encounters::settings::criteria;
use crate::encounters::settings::stars::Collisions;
use crate::subsystems::stars::Removed;
use tisane_force::error::Result;
use tisane_force::force::ForceEngine;
use tisane_force::particles::Vec3;
use tisane_force::time::Time;

impl Encounters {
    /// Looks for contacts in the block step that ended at `now`, and makes one star of two that touched. Returns the bodies of the
    /// block that are left, with those that moved for a contact.
    pub(crate) fn unite(&mut self, f: &mut dyn ForceEngine, now: Time, mut block: Vec<u32>) -> Result<Vec<u32>> {
        if self.action().is_none() {
            return Ok(block);
        }
        let _phase = self.hierarchy.phase("contacts");
        self.synchronise_due(f, now, &mut block)?;
        self.find_crossings(now)?;
        if self.crossings.found.is_empty() {
            return Ok(block);
        }
        let stars: Vec<u32> = block.iter().map(|&body| self.hierarchy.bodies.stars[body as usize]).collect();
        self.unite_all(f, now)?;
        Ok(stars.into_iter().filter_map(|star| Some(self.body_of(star)? as u32)).collect())
    }

    /// Does the same for what has moved since, and prepares for the next block step.
    pub(crate) fn unite_rest(&mut self, f: &mut dyn ForceEngine, now: Time) -> Result<()> {
        if self.action().is_none() {
            return Ok(());
        }
        let _phase = self.hierarchy.phase("contacts");
        self.unite_all(f, now)?;
        let mut stirred = std::mem::take(&mut self.crossings.stirred);
        self.crossings.ways.clear();
        stirred.sort_unstable();
        stirred.dedup();
        let bodies: Vec<u32> = stirred.into_iter().filter_map(|star| Some(self.body_of(star)? as u32)).collect();
        self.watch_neighbours(now, &bodies)
    }

    fn unite_all(&mut self, f: &mut dyn ForceEngine, now: Time) -> Result<()> {
        while !self.crossings.found.is_empty() {
            self.crossings.found.sort_by(|a, b| b.time.total_cmp(&a.time).then(b.stars.cmp(&a.stars)));
            let Some(first) = self.crossings.found.pop() else { break };
            let bodies = first.stars.map(|star| self.body_with(star));
            // A star that has become one with another, or a member of the same subsystem, which finds its own contacts.
            let [Some(i), Some(k)] = bodies else { continue };
            if i == k {
                continue;
            }
            let lowest = [i, k].map(|body| self.hierarchy.bodies.stars[body]);
            let way = self.way_of_union([i, k], first.time, now);
            let near: Vec<u32> = lowest.iter().flat_map(|&star| self.neighbours.of(star)).copied().collect();
            self.change(f, now, &[Change::Unite([i, k], Box::new(first.clone()))])?;
            if let Some(way) = way {
                self.follow_union(way, lowest, first.time, near, now)?;
            }
        }
        Ok(())
    }

    /// Looks for the contacts of what two bodies, by their lowest stars, have become at a moment, from then on, with those that
    /// were near them.
    fn follow_union(&mut self, way: Way, lowest: [u32; 2], time: f64, mut near: Vec<u32>, now: Time) -> Result<()> {
        let star = lowest[0].min(lowest[1]);
        if self.body_of(star).is_none() {
            return Ok(());
        }
        self.crossings.ways.insert(star, way);
        let mut found = std::mem::take(&mut self.crossings.found);
        found.retain(|it| it.stars.iter().all(|&touched| self.lowest_with(touched).is_some_and(|it| it != star)));
        near.sort_unstable();
        near.dedup();
        for other in near.into_iter().filter(|other| !lowest.contains(other)) {
            let mut crossing = self.crossing([star.min(other), star.max(other)], now)?;
            // Not before there is the new star, by rounding.
            crossing.iter_mut().for_each(|it| it.time = it.time.max(time));
            found.append(&mut crossing);
        }
        self.crossings.found = found;
        Ok(())
    }

    /// Returns the way of the centre of mass of two bodies from a moment to `now`.
    fn way_of_union(&self, bodies: [usize; 2], from: f64, now: Time) -> Option<Way> {
        let ways = bodies.map(|body| self.way(self.hierarchy.bodies.stars[body], now));
        let ([Some(a), Some(b)], share) = (ways, share(bodies.map(|body| self.particles.mass[body]))) else {
            return None;
        };
        let span = self.clock.time(now) - from;
        let centre = |x: Vec3, y: Vec3| x + (y - x) * share;
        let [from, to] = [a.back(span), b.back(span)];
        let end: [Vec3; 3] = std::array::from_fn(|k| centre(a.end[k], b.end[k]));
        let [pos, vel, acc] = std::array::from_fn(|k| centre(from[k], to[k]));
        (span > 0.0).then(|| Way { begin: [pos, vel, acc, (end[2] - acc) / span], end, span })
    }

    /// Returns the body that a star is in.
    pub(crate) fn body_with(&self, star: u32) -> Option<usize> {
        self.body_of(self.lowest_with(star)?)
    }

    /// Returns the lowest star of the body that a star is in.
    fn lowest_with(&self, star: u32) -> Option<u32> {
        if self.body_of(star).is_some() { Some(star) } else { Some(self.hierarchy.with_star(star)?.stars[0]) }
    }

    /// Returns the bodies on which the force of two bodies of these masses changes at `now` where they become one at the centre of
    /// mass: these begin anew, as no polynomial goes through the jump.
    pub(crate) fn disturbed_by_union(&self, bodies: [usize; 2], mass: [f64; 2], now: Time) -> Vec<usize> {
        let p = &self.particles;
        let position = |body: usize| at(p, body, &self.clock, now).0;
        let [a, b] = bodies.map(position);
        let centre = a + (b - a) * share(mass);
        let feels = |&body: &usize| {
            let x = position(body);
            let pull = |mass: f64, from: Vec3| (from - x) * (mass / (from - x).norm().powi(3));
            let change = pull(mass[0], a) + pull(mass[1], b) - pull(mass[0] + mass[1], centre);
            change.norm() > criteria::DISTURBED_ABOVE * p.acc[body].norm()
        };
        self.hierarchy.bodies.occupied().filter(|body| !bodies.contains(body)).filter(feels).collect()
    }

    /// Returns changes with what the unions among them take out of the system, where all that take part stand at `now`.
    pub(crate) fn with_removed(&mut self, mut changes: Vec<Change>, now: Time) -> Result<Vec<Change>> {
        let collisions = self.hierarchy.bodies.sizes.collisions;
        for change in &mut changes {
            let Change::Unite(bodies, touched) = change else { continue };
            touched.merged = Some(self.removed_by_union(*bodies, touched.stars, now)?);
            self.contacts.push((**touched).clone());
            if let Some(Collisions { law, .. }) = collisions {
                let radius = law.merged(touched.mass.iter().sum(), touched.radius);
                self.hierarchy.bodies.sizes.radii[touched.stars[0] as usize] = radius;
            }
        }
        Ok(changes)
    }

    /// Returns what it takes out of the system that two stars of two bodies become one at `now`.
    fn removed_by_union(&self, bodies: [usize; 2], stars: [u32; 2], now: Time) -> Result<Removed> {
        let p = &self.particles;
        let mut all: Vec<(Option<u32>, f64, Vec3, Vec3)> = Vec::new();
        for body in self.hierarchy.bodies.occupied() {
            let (x, v) = at(p, body, &self.clock, now);
            let star = self.hierarchy.bodies.stars[body];
            match self.hierarchy.of_star(star).filter(|_| bodies.contains(&body)) {
                None => all.push((bodies.contains(&body).then_some(star), p.mass[body], x, v)),
                Some(subsystem) => {
                    let inside = member::stars(&subsystem.members, &subsystem.motion, &self.clock, now)?;
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
        let outside = others.map(|&(_, m, pos, _)| {
            let one = (mass[0] + mass[1]) * inverse(pos - centre);
            m * (one - mass[0] * inverse(pos - a.2) - mass[1] * inverse(pos - b.2))
        });
        Ok(Removed {
            energy: 0.5 * reduced * v.norm_squared() - mass[0] * mass[1] * inverse(x) + outside.sum::<f64>(),
            angular_momentum: spin(mass, [x, v]),
            ..Removed::default()
        })
    }

    /// Forgets bodies that have ended, and takes note of those that have begun, by their lowest stars.
    pub(crate) fn ended(&mut self, ended: &[u32], begun: &[u32]) {
        if self.action().is_none() {
            return;
        }
        for star in ended.iter().chain(begun) {
            self.crossings.ways.remove(star);
            self.neighbours.forget(*star);
        }
        self.crossings.stirred.extend_from_slice(begun);
    }
}
