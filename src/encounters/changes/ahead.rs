//! Contacts that are to come: where stars become one, steps end soon after them, and none is passed over by other steps.

use crate::encounters::contacts::path::{Path, between};
use crate::encounters::contacts::ways::Offset;
use crate::encounters::membership::each::{PATH, each};
use crate::encounters::settings::criteria;
use crate::encounters::settings::stars::CollisionAction;
use crate::encounters::{Encounters, shorten};
use tisane_force::error::Result;
use tisane_force::force::ForceEngine;
use tisane_force::gravity::predict;
use tisane_force::particles::Vec3;
use tisane_force::time::Time;

/// Contact of stars of two bodies that is to come.
struct Ahead {
    /// Lowest star of the other body, if both bodies are stars.
    other: Option<u32>,
    /// Time until then.
    time: f64,
    /// Time by which the step should end.
    longest: f64,
}

/// Number of neighbours with which a body is compared. No result depends on it.
const TYPICAL_NEIGHBOURS: usize = 8;

impl Encounters {
    /// Renews the lists of neighbours of bodies that stand at `now`. Where stars are to become one, steps of two that will touch end
    /// soon after that: neither passes the other.
    pub(crate) fn watch_neighbours(&mut self, now: Time, bodies: &[u32]) -> Result<()> {
        let Some(action) = self.action() else { return Ok(()) };
        self.list_neighbours(now, bodies);
        if action != CollisionAction::Merge {
            return Ok(());
        }
        let (floor, mut changed) = (self.scheme.floor(), Vec::new());
        let stands = |&body: &usize| self.particles.time[body] == now;
        let here: Vec<usize> = bodies.iter().map(|&body| body as usize).filter(stands).collect();
        let all = each(&here, PATH * TYPICAL_NEIGHBOURS, |body| self.ahead(body));
        for (body, ahead) in here.into_iter().zip(all) {
            let mut ahead = ahead?;
            let longest = ahead.iter().map(|it| it.longest).reduce(f64::min);
            if longest.is_some_and(|longest| shorten(&mut self.particles, body, longest, floor, &self.clock, now)) {
                changed.push(body as u32);
                // By the step that it has: so it is found again where a run is resumed.
                ahead = self.ahead(body)?;
            }
            self.expect(body, ahead);
        }
        self.scheme.reschedule(&self.particles, &changed);
        Ok(())
    }

    /// Finds the contacts that are to come where a run is resumed at `now`: those that were known.
    pub(crate) fn watch_again(&mut self, now: Time) -> Result<()> {
        self.list_all_neighbours(now);
        if self.action() != Some(CollisionAction::Merge) {
            return Ok(());
        }
        let mut stars: Vec<usize> = self.hierarchy.bodies.occupied().filter(|&body| self.is_star(body)).collect();
        stars.sort_by_key(|&body| self.particles.time[body]);
        for body in stars {
            let ahead = self.ahead(body)?;
            self.expect(body, ahead);
        }
        Ok(())
    }

    fn expect(&mut self, body: usize, ahead: Vec<Ahead>) {
        let (star, from) = (self.hierarchy.bodies.stars[body], self.clock.time(self.particles.time[body]));
        self.neighbours.expect(star, ahead.into_iter().filter_map(|it| Some((it.other?, from + it.time))));
    }

    fn is_star(&self, body: usize) -> bool {
        self.hierarchy.of_star(self.hierarchy.bodies.stars[body]).is_none()
    }

    /// Moves stars to `now` that were to touch up to then, and adds them to the block. So a contact counts in the block step in
    /// which it is: others that what two have become may touch next have not moved on since.
    pub(crate) fn synchronise_due(&mut self, f: &mut dyn ForceEngine, now: Time, block: &mut Vec<u32>) -> Result<()> {
        let due = self.neighbours.due(self.clock.time(now));
        let bodies = due.into_iter().filter_map(|star| self.body_of(star));
        let late: Vec<u32> = bodies.filter(|&body| self.particles.time[body] < now).map(|body| body as u32).collect();
        if late.is_empty() {
            return Ok(());
        }
        block.extend_from_slice(&late);
        block.sort_unstable();
        block.dedup();
        self.synchronise(f, now, late.into_iter())
    }

    /// Returns the contacts that are predicted in the next step of a body with those that stand at no later moment.
    fn ahead(&self, body: usize) -> Result<Vec<Ahead>> {
        let (p, clock) = (&self.particles, &self.clock);
        let (now, level) = (p.time[body], p.step[body]);
        let (star, dt) = (self.hierarchy.bodies.stars[body], level.step(clock.dt_max));
        let state = |k: usize, later: f64| {
            let since = clock.between(p.time[k], now) + later;
            let (x, v) = predict(p.pos[k], p.vel[k], p.acc[k], p.jerk[k], since);
            [x, v, p.acc[k] + p.jerk[k] * since]
        };
        let mut found = Vec::new();
        for &other in self.neighbours.of(star) {
            let Some(k) = self.body_of(other).filter(|&k| p.time[k] <= now) else { continue };
            let ends = [0.0, dt].map(|later| between(state(body, later), state(k, later)));
            let path = Path::new(ends[0], ends[1], dt);
            if path.is_outside(self.reach(body) + self.reach(k)) {
                continue;
            }
            let is_single = self.is_star(body) && self.is_star(k);
            let mut add = |path: &Path, [a, b]: [u32; 2]| {
                let distance = self.radius_of(a) + self.radius_of(b);
                let Some(time) = path.entry(distance) else { return };
                let longest = time.max(criteria::STEP_ENDS_AFTER_CONTACT * distance / path.at(time)[1].norm());
                found.push(Ahead { other: Some(other).filter(|_| is_single), time, longest });
            };
            if is_single {
                add(&path, [star, other]);
            } else {
                // Members move by cubic paths over the step, which resolves their motion.
                let moments = [now, now.after(level)];
                let [begin, end] = moments.map(|moment| self.offsets([star, other], moment, dt));
                let (begin, end) = (begin?, end?);
                let relative = |x: Vec3, v: Vec3, a: &Offset, b: &Offset| [x + b.2[0] - a.2[0], v + b.2[1] - a.2[1]];
                for (a, c) in begin[0].iter().zip(&end[0]) {
                    for (b, d) in begin[1].iter().zip(&end[1]) {
                        let [[x, v, _], [y, w, _]] = ends;
                        add(&Path::cubic(relative(x, v, a, b), relative(y, w, c, d), dt), [a.0, b.0]);
                    }
                }
            }
        }
        Ok(found)
    }
}
