//! Contacts of stars in different bodies, on the paths that these took in a block step.
//!
//! After each block step the paths of the bodies that have moved are compared with those of their neighbours, from the moment on
//! at which both stood when they were compared before. A path has position, velocity and acceleration of both ends.

use crate::encounters::Encounters;
use crate::encounters::contacts::inside::leads_inside;
use crate::encounters::contacts::path::{Path, State};
use crate::encounters::contacts::ways::{Offset, Way, share};
use crate::encounters::forces::surroundings::at;
use crate::encounters::membership::each::{PATH, each};
use crate::encounters::membership::hierarchy::Passage;
use crate::encounters::motion::elements::Elements;
use crate::encounters::motion::touched::Touched;
use crate::encounters::settings::criteria;
use crate::encounters::settings::stars::CollisionAction;
use tisane_force::error::Result;
use tisane_force::particles::Vec3;
use tisane_force::time::Time;

impl Encounters {
    /// Looks for contacts on the ways of the bodies that have moved to `now` since the last call.
    pub(crate) fn find_crossings(&mut self, now: Time) -> Result<()> {
        let Some(action) = self.action() else { return Ok(()) };
        let passed = std::mem::take(&mut self.hierarchy.passed);
        let bodies = &self.hierarchy.bodies;
        let mut pairs = Vec::new();
        for &Passage { body, time, state } in &passed {
            let star = bodies.stars[body as usize];
            let way = Way::of(&self.particles, body as usize, state, time, now, &self.clock);
            self.crossings.ways.extend(way.map(|way| (star, way)));
            self.crossings.stirred.push(star);
            pairs.extend(self.neighbours.of(star).iter().map(|&other| [star.min(other), star.max(other)]));
        }
        pairs.sort_unstable();
        pairs.dedup();
        let places: Vec<usize> = (0..pairs.len()).collect();
        for found in each(&places, PATH, |k| self.crossing(pairs[k], now)) {
            let found = found?;
            match action {
                CollisionAction::Merge => self.crossings.found.extend(found),
                CollisionAction::Stop | CollisionAction::Record => self.contacts.extend(found),
            }
        }
        Ok(())
    }

    /// Returns the body whose lowest star is `star`, if there is one.
    pub(crate) fn body_of(&self, star: u32) -> Option<usize> {
        Some(self.hierarchy.bodies.of_star(star)).filter(|&body| body < self.particles.len())
    }

    /// Returns the way of a body to `now`.
    pub(crate) fn way(&self, star: u32, now: Time) -> Option<Way> {
        self.crossings.ways.get(&star).copied().or_else(|| {
            let (p, i) = (&self.particles, self.body_of(star)?);
            Way::of(p, i, [p.pos[i], p.vel[i], p.acc[i], p.jerk[i]], p.time[i], now, &self.clock)
        })
    }

    /// Returns the contacts of stars of two bodies, given by their lowest stars, in the block step that ends `now`.
    pub(crate) fn crossing(&self, pair: [u32; 2], now: Time) -> Result<Vec<Touched>> {
        let ([Some(i), Some(k)], [Some(a), Some(b)]) =
            (pair.map(|star| self.body_of(star)), pair.map(|star| self.way(star, now)))
        else {
            return Ok(Vec::new());
        };
        let path = a.to(&b);
        if path.is_outside(self.reach(i) + self.reach(k)) {
            return Ok(Vec::new());
        }
        if pair.iter().any(|&star| self.hierarchy.of_star(star).is_some()) {
            return self.crossings_inside(pair, [&a, &b], &path, now);
        }
        let stars = pair.map(|star| (star, self.particles.mass[self.hierarchy.bodies.of_star(star)]));
        let touched = self.entry(stars.map(|star| (star.0, star.1, [Vec3::zeros(); 2])), &path, true).map(|time| {
            let [x, v, _] = path.at(time);
            let centre = [&a, &b].map(|way| way.back(path.span - time));
            self.touched(stars, centre.map(|it| [it[0], it[1]]), [x, v], self.clock.time(now) - (path.span - time))
        });
        Ok(touched.into_iter().collect())
    }

    /// Returns the time since the begin of a path at which it is within the radii of two stars, unless that is known already.
    fn entry(&self, [a, b]: [Offset; 2], path: &Path, is_first: bool) -> Option<f64> {
        let radii = [a.0, b.0].map(|star| self.radius_of(star));
        let stars = [a.0.min(b.0), a.0.max(b.0)];
        let merges = self.action() == Some(CollisionAction::Merge);
        if !merges && self.recorded.touching.binary_search(&stars).is_ok() {
            return None;
        }
        let time = path.entry(radii[0] + radii[1])?;
        // Stars that part do not touch anew; those that become one may be within the radii of a new star.
        let [x, v, _] = path.at(0.0);
        let parts = !merges && is_first && time == 0.0 && x.dot(&v) >= 0.0;
        (!parts).then_some(time)
    }

    /// Returns the radius of a star, also of one that two have become in this block step.
    pub(crate) fn radius_of(&self, star: u32) -> f64 {
        let sizes = &self.hierarchy.bodies.sizes;
        let subsystem = self.hierarchy.with_star(star);
        subsystem.map_or_else(|| sizes.radii[star as usize], |subsystem| subsystem.radius(sizes, star))
    }

    /// Returns the contacts of stars of two bodies of which one is a subsystem, by parts of the block step.
    fn crossings_inside(&self, pair: [u32; 2], ways: [&Way; 2], path: &Path, now: Time) -> Result<Vec<Touched>> {
        let ticks = ((path.span / self.clock.tick()).round() as u64).max(1);
        let parts = ticks.min(criteria::PARTS_OF_STEP);
        let back =
            |part: u64| Time(now.0 - (ticks - (u128::from(ticks) * u128::from(part) / u128::from(parts)) as u64));
        let since = |part: u64| path.span - self.clock.between(back(part), now);
        let mut found: Vec<Touched> = Vec::new();
        let mut before = self.offsets(pair, back(0), path.span)?;
        for part in 1..=parts {
            let after = self.offsets(pair, back(part), path.span)?;
            let (from, to) = (since(part - 1), since(part));
            let ends = [from, to].map(|time| path.at(time));
            for (a, c) in before[0].iter().zip(&after[0]) {
                for (b, d) in before[1].iter().zip(&after[1]) {
                    let state = |end: &State, a: &Offset, b: &Offset| [0, 1].map(|k| end[k] + b.2[k] - a.2[k]);
                    let path = Path::cubic(state(&ends[0], a, b), state(&ends[1], c, d), to - from);
                    let stars = [a.0.min(b.0), a.0.max(b.0)];
                    if found.iter().any(|it| it.stars == stars) {
                        continue;
                    }
                    let Some(time) = self.entry([*a, *b], &path, part == 1) else { continue };
                    let left = ways[0].span.min(ways[1].span) - from - time;
                    let centre = [(ways[0], a, c), (ways[1], b, d)].map(|(way, begin, end)| {
                        let [x, v, _] = way.back(left);
                        let [y, w, _] = Path::cubic(begin.2, end.2, to - from).at(time);
                        [x + y, v + w]
                    });
                    let [x, v, _] = path.at(time);
                    found.push(self.touched(
                        [a, b].map(|it| (it.0, it.1)),
                        centre,
                        [x, v],
                        self.clock.time(now) - left,
                    ));
                }
            }
            before = after;
        }
        Ok(found)
    }

    /// Returns the stars of two bodies at a moment, relative to their bodies. Pairs whose period is short against the `span` of the
    /// block step are at their centre of mass.
    pub(crate) fn offsets(&self, pair: [u32; 2], time: Time, span: f64) -> Result<[Vec<Offset>; 2]> {
        let hierarchy = &self.hierarchy;
        let of = |star: u32| -> Result<Vec<Offset>> {
            let Some(subsystem) = hierarchy.of_star(star) else {
                let mass = self.particles.mass[hierarchy.bodies.of_star(star)];
                return Ok(vec![(star, mass, [Vec3::zeros(); 2])]);
            };
            let is_fast =
                |pair: Elements| pair.period * criteria::PARTS_OF_STEP as f64 <= criteria::MIN_PARTS_PER_PERIOD * span;
            let mut found = subsystem.stars_at(&hierarchy.bodies, &self.clock, &hierarchy.rules, time)?;
            if subsystem.settled(&hierarchy.rules).is_some_and(is_fast) {
                found.iter_mut().for_each(|star| star.2 = [Vec3::zeros(); 2]);
            }
            Ok(found)
        };
        Ok([of(pair[0])?, of(pair[1])?])
    }

    /// Returns the contact of two stars with these masses and states, at a time, and the state of the second relative to the first.
    fn touched(&self, stars: [(u32, f64); 2], at: [[Vec3; 2]; 2], relative: [Vec3; 2], time: f64) -> Touched {
        let is_turned = stars[0].0 > stars[1].0;
        let [a, b] = if is_turned { [1, 0] } else { [0, 1] };
        let mass = [stars[a].1, stars[b].1];
        let relative = if is_turned { relative.map(|x| -x) } else { relative };
        let share = share(mass);
        Touched {
            stars: [stars[a].0, stars[b].0],
            mass,
            radius: [stars[a].0, stars[b].0].map(|star| self.radius_of(star)),
            time,
            centre: [0, 1].map(|k| at[a][k] + (at[b][k] - at[a][k]) * share),
            relative,
            pericentre: pericentre(relative, mass[0] + mass[1]),
            merged: None,
        }
    }

    /// Returns true if two stars that were seen to touch are still within their radii, or their orbit about each other leads them
    /// there: at the moment up to which their paths are known, from which on they are looked at next.
    pub(crate) fn still_touch(&self, stars: [u32; 2]) -> bool {
        let (bodies, p) = (&self.hierarchy.bodies, &self.particles);
        let together = self.hierarchy.with_star(stars[0]).filter(|subsystem| subsystem.stars.contains(&stars[1]));
        if let Some(subsystem) = together {
            return subsystem.still_touch(&bodies.sizes, stars);
        }
        // A star that has become one with another in this block step is in no body.
        let [Some(i), Some(k)] = stars.map(|star| self.body_with(star)) else { return false };
        let until = p.time[i].max(p.time[k]);
        let place = |star: u32, body: usize| {
            let (x, v) = at(p, body, &self.clock, until);
            let Some(subsystem) = self.hierarchy.of_star(bodies.stars[body]) else { return Some((p.mass[body], x, v)) };
            let inside = subsystem.stars_at(bodies, &self.clock, &self.hierarchy.rules, until).ok()?;
            let (_, mass, [y, w]) = inside.into_iter().find(|it| it.0 == star)?;
            Some((mass, x + y, v + w))
        };
        let (Some(a), Some(b)) = (place(stars[0], i), place(stars[1], k)) else { return false };
        let distance = stars.iter().map(|&star| bodies.sizes.radii[star as usize]).sum();
        leads_inside(b.1 - a.1, b.2 - a.2, a.0 + b.0, distance)
    }
}

/// Returns the pericentre of two bodies of mass `mu`, also without masses: h² / (μ + √(μ² + 2 E h²)).
fn pericentre([pos, vel]: [Vec3; 2], mu: f64) -> f64 {
    let (h2, energy) = (pos.cross(&vel).norm_squared(), vel.norm_squared() - 2.0 * mu / pos.norm());
    let below = mu + (mu * mu + energy * h2).max(0.0).sqrt();
    if h2 > 0.0 { h2 / below } else { 0.0 }
}
