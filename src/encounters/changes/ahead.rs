//! Contacts that are to come: where stars become one, steps end soon after them, and none is passed over by other steps.

use crate::encounters::contacts::path::{Path, between};
use crate::encounters::contacts::ways::Offset;
use crate::encounters::settings::stars::CollisionAction;
use crate::encounters::{Encounters, shorten};
use tisane_force::error::Result;
use tisane_force::force::ForceEngine;
use tisane_force::gravity::predict;
use tisane_force::particles::Vec3;
use tisane_force::time::Time;

/// Time after the contact of two stars by which the step ends that has it, in units of the sum of the radii over the speed.
const LATE: f64 = 0.1;

/// Contact of stars of two units that is to come.
struct Ahead {
    /// Lowest star of the other unit, if both units are stars.
    other: Option<u32>,
    /// Time until then.
    time: f64,
    /// Time by which the step should end.
    longest: f64,
}

impl Encounters {
    /// Renews the lists of neighbours of units that stand at `now`. Where stars are to become one, steps of two that will touch end
    /// soon after that: neither passes the other.
    pub(crate) fn watch_neighbours(&mut self, now: Time, units: &[u32]) -> Result<()> {
        let Some(action) = self.action() else { return Ok(()) };
        self.list_neighbours(now, units);
        if action != CollisionAction::Merge {
            return Ok(());
        }
        let (floor, mut changed) = (self.scheme.floor(), Vec::new());
        for unit in units.iter().map(|&unit| unit as usize) {
            if self.particles.time[unit] != now {
                continue;
            }
            let mut ahead = self.ahead(unit)?;
            let longest = ahead.iter().map(|it| it.longest).reduce(f64::min);
            if longest.is_some_and(|longest| shorten(&mut self.particles, unit, (longest, floor), &self.clock, now)) {
                changed.push(unit as u32);
                // By the step that it has: so it is found again where a run is resumed.
                ahead = self.ahead(unit)?;
            }
            self.expect(unit, ahead);
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
        let mut stars: Vec<usize> = (0..self.particles.len()).filter(|&unit| self.is_star(unit)).collect();
        stars.sort_by_key(|&unit| self.particles.time[unit]);
        for unit in stars {
            let ahead = self.ahead(unit)?;
            self.expect(unit, ahead);
        }
        Ok(())
    }

    fn expect(&mut self, unit: usize, ahead: Vec<Ahead>) {
        let (star, from) = (self.subsystems.units.stars[unit], self.clock.time(self.particles.time[unit]));
        self.neighbours.expect(star, ahead.into_iter().filter_map(|it| Some((it.other?, from + it.time))));
    }

    fn is_star(&self, unit: usize) -> bool {
        self.subsystems.of_star(self.subsystems.units.stars[unit]).is_none()
    }

    /// Moves stars to `now` that were to touch up to then, and adds them to the block. So a contact counts in the block step in
    /// which it is: others that what two have become may touch next have not moved on since.
    pub(crate) fn bring_due(&mut self, f: &mut dyn ForceEngine, now: Time, block: &mut Vec<u32>) -> Result<()> {
        let due = self.neighbours.due(self.clock.time(now));
        let units = due.into_iter().filter_map(|star| self.unit_of(star));
        let late: Vec<u32> = units.filter(|&unit| self.particles.time[unit] < now).map(|unit| unit as u32).collect();
        if late.is_empty() {
            return Ok(());
        }
        block.extend_from_slice(&late);
        block.sort_unstable();
        block.dedup();
        self.bring(f, now, late.into_iter())
    }

    /// Returns the contacts that are predicted in the next step of a unit with those that stand at no later moment.
    fn ahead(&self, unit: usize) -> Result<Vec<Ahead>> {
        let (p, clock) = (&self.particles, &self.clock);
        let (now, level) = (p.time[unit], p.step[unit]);
        let (star, dt) = (self.subsystems.units.stars[unit], level.step(clock.dt_max));
        let state = |k: usize, later: f64| {
            let since = clock.between(p.time[k], now) + later;
            let (x, v) = predict(p.pos[k], p.vel[k], p.acc[k], p.jerk[k], since);
            [x, v, p.acc[k] + p.jerk[k] * since]
        };
        let mut found = Vec::new();
        for &other in self.neighbours.of(star) {
            let Some(k) = self.unit_of(other).filter(|&k| p.time[k] <= now) else { continue };
            let ends = [0.0, dt].map(|later| between(state(unit, later), state(k, later)));
            let path = Path::new(ends[0], ends[1], dt);
            if path.is_outside(self.reach(unit) + self.reach(k)) {
                continue;
            }
            let is_single = self.is_star(unit) && self.is_star(k);
            let mut add = |path: &Path, [a, b]: [u32; 2]| {
                let distance = self.radius_of(a) + self.radius_of(b);
                let Some(time) = path.entry(distance) else { return };
                let longest = time.max(LATE * distance / path.at(time)[1].norm());
                found.push(Ahead { other: Some(other).filter(|_| is_single), time, longest });
            };
            if is_single {
                add(&path, [star, other]);
            } else {
                // Members move by cubic paths over the step, which resolves their motion.
                let moments = [now, now.after(level)];
                let [begin, end] = moments.map(|moment| self.offsets([star, other], moment, dt));
                let (begin, end) = (begin?, end?);
                let place = |x: Vec3, v: Vec3, a: &Offset, b: &Offset| [x + b.2[0] - a.2[0], v + b.2[1] - a.2[1]];
                for (a, c) in begin[0].iter().zip(&end[0]) {
                    for (b, d) in begin[1].iter().zip(&end[1]) {
                        let [[x, v, _], [y, w, _]] = ends;
                        add(&Path::cubic(place(x, v, a, b), place(y, w, c, d), dt), [a.0, b.0]);
                    }
                }
            }
        }
        Ok(found)
    }
}
