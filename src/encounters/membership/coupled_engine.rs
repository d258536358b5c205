//! Force engine that adds the coupling of subsystems to the forces of an engine, to which they are points.

use crate::encounters::forces::coupling::{self, Members};
use crate::encounters::forces::surroundings::at;
use crate::encounters::membership::hierarchy::{Hierarchy, NONE, Passage, Room, SHARE};
use crate::encounters::motion::subsystem::{Group, Near};
use tisane_force::error::Result;
use tisane_force::force::{ForceEngine, Forces, Targets};
use tisane_force::particles::{Particles, Vec3};
use tisane_force::time::Time;

/// Engine with the coupling of subsystems.
pub struct Coupled<'a> {
    /// The engine, to which subsystems are points.
    pub engine: &'a mut dyn ForceEngine,
    /// The subsystems.
    pub subsystems: &'a mut Hierarchy,
}

impl ForceEngine for Coupled<'_> {
    fn load(&mut self, all: &Particles) -> Result<()> {
        self.subsystems.units.all.clone_from(all);
        self.engine.load(all)
    }

    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        let Hierarchy { units, passed, .. } = &mut *self.subsystems;
        let (own, is_watched) = (&mut units.all, units.sizes.collisions.is_some());
        for i in changed.iter().map(|&i| i as usize) {
            if is_watched && own.time[i] < all.time[i] {
                let state = [own.pos[i], own.vel[i], own.acc[i], own.jerk[i]];
                passed.push(Passage { unit: i as u32, time: own.time[i], state });
            }
            (own.pos[i], own.vel[i], own.acc[i], own.jerk[i]) = (all.pos[i], all.vel[i], all.acc[i], all.jerk[i]);
            own.time[i] = all.time[i];
        }
        self.engine.update(all, changed)
    }

    fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut Forces) -> Result<()> {
        self.engine.evaluate(now, targets, out)?;
        if self.subsystems.groups.is_empty() {
            return Ok(());
        }
        self.subsystems.follow(now, targets)?;
        self.subsystems.correct(now, targets, out);
        Ok(())
    }

    fn set_start(&mut self, start: f64) {
        self.engine.set_start(start);
    }
}

impl Hierarchy {
    /// Finds the subsystems whose motion has to be known where the targets move, and advances it to `now`.
    fn follow(&mut self, now: Time, targets: Targets<'_>) -> Result<()> {
        let mut room = std::mem::take(&mut self.room);
        let Room { is_due, due, members, .. } = &mut room;
        is_due.resize(self.groups.len(), false);
        for &i in targets.index {
            let star = self.units.stars[i as usize];
            let mut add = |place: usize| {
                if !std::mem::replace(&mut is_due[place], true) {
                    due.push(place as u32);
                }
            };
            if let Some(place) = self.place(star).filter(|&place| self.groups[place].is_followed(&self.rules)) {
                add(place);
            }
            for near in &self.felt[star as usize] {
                let place = self.places[near.star as usize] as usize;
                if !near.is_mean && self.groups[place].is_perturbed {
                    add(place);
                }
            }
        }
        if due.len() > SHARE && rayon::current_num_threads() > 1 {
            self.advance(now, |place, _| is_due[place])?;
        } else {
            let Self { groups, units, clock, .. } = self;
            due.iter().try_for_each(|&place| groups[place as usize].advance(units, clock, now))?;
        }
        members.resize(self.groups.len(), Members::default());
        for place in due.drain(..).map(|place| place as usize) {
            is_due[place] = false;
            if self.groups[place].is_perturbed {
                members[place] = self.groups[place].members();
            }
        }
        self.room = room;
        Ok(())
    }

    /// Adds the forces of the coupling at `now` to those on targets.
    fn correct(&mut self, now: Time, targets: Targets<'_>, out: &mut Forces) {
        let mut places = std::mem::take(&mut self.room.targets);
        places.resize(self.units.all.len(), NONE);
        targets.index.iter().zip(0..).for_each(|(&i, k)| places[i as usize] = k);
        let state = |i: usize| match places[i] {
            NONE => at(&self.units.all, i, &self.clock, now),
            k => (targets.pos[k as usize], targets.vel[k as usize]),
        };
        // Returns what the unit of `near` feels, at this place relative to the subsystem.
        let force = |group: &Group, near: &Near, r: Vec3, v: Vec3| {
            if r.norm_squared() >= near.outer2 {
                return None;
            }
            match &group.ring {
                Some((time, ring)) if near.is_mean => {
                    Some(coupling::ring_force(&ring.after(self.clock.between(*time, now)), r, v, near.outer2))
                }
                None if near.is_mean => None,
                _ => group.is_perturbed.then(|| {
                    let place = self.places[group.members[0] as usize] as usize;
                    coupling::force(&self.room.members[place], r, v, near.outer2)
                }),
            }
        };
        for (&i, k) in targets.index.iter().zip(0..) {
            let (star, (pos, vel)) = (self.units.stars[i as usize], (targets.pos[k], targets.vel[k]));
            let (mut acc, mut jerk) = (Vec3::zeros(), Vec3::zeros());
            if let Some(group) = self.of_star(star) {
                for near in &group.near {
                    let other = self.units.of_star(near.star);
                    let (x, v) = state(other);
                    if let Some((a, j)) = force(group, near, x - pos, v - vel) {
                        let back = self.units.all.mass[other] / self.units.all.mass[i as usize];
                        acc -= a * back;
                        jerk -= j * back;
                    }
                }
            }
            for (group, near) in self.felt_by(star) {
                let (x, v) = state(self.units.of_star(group.members[0]));
                if let Some((a, j)) = force(group, near, pos - x, vel - v) {
                    acc += a;
                    jerk += j;
                }
            }
            out.acc[k] += acc;
            out.jerk[k] += jerk;
        }
        targets.index.iter().for_each(|&i| places[i as usize] = NONE);
        self.room.targets = places;
    }
}
