//! Force engine that adds the coupling of subsystems to the forces of an engine, to which they are points.

use super::averaged::Attended;
use super::coupling::{self, Members};
use super::group::{Group, Listed, Near};
use super::surroundings::{Positions, at};
use super::{Rules, Units};
use rayon::prelude::*;
use tisane_force::error::Result;
use tisane_force::force::{ForceEngine, Forces, Targets};
use tisane_force::particles::{Particles, Vec3};
use tisane_force::time::{Clock, Level, Time};

/// Mark of a unit that is no target.
const NONE: u32 = u32::MAX;

/// Number of subsystems up to which one thread advances them: waking others costs as much as some of them.
const SHARE: usize = 16;

/// Change of the factor of a coupling by a new list from which on the forces are evaluated anew.
const REFADED: f64 = 1e-3;

/// All subsystems, and the units as the engine knows them.
#[derive(Clone, Debug)]
pub struct Subsystems {
    /// The subsystems, in the order of their lowest stars.
    pub groups: Vec<Group>,
    /// Stars that are alone, and centres of mass.
    pub units: Units,
    /// Criteria.
    pub rules: Rules,
    /// Time axis.
    pub clock: Clock,
    /// Place of the subsystem of each star that is the lowest of one.
    places: Vec<u32>,
    /// States that units had before they moved, since contacts were looked for; none without collisions.
    pub passed: Vec<Passage>,
    /// Subsystems on whose lists the unit of each lowest star is, in order, with the squares of their outer radii.
    felt: Vec<Vec<Near>>,
    room: Room,
}

/// State of a unit before it moved.
#[derive(Clone, Copy, Debug)]
pub struct Passage {
    /// The unit.
    pub unit: u32,
    /// Time of the state.
    pub time: Time,
    /// Position, velocity, acceleration and jerk.
    pub state: [Vec3; 4],
}

/// Columns that are kept for their memory.
#[derive(Clone, Debug, Default)]
struct Room {
    /// Target of each unit.
    targets: Vec<u32>,
    /// Subsystems whose motion has to be known now.
    is_due: Vec<bool>,
    due: Vec<u32>,
    /// The members of those, as others see them.
    members: Vec<Members>,
}

impl Subsystems {
    /// Creates the subsystems of units that are all single stars.
    pub fn new(rules: Rules, clock: Clock) -> Self {
        Self {
            groups: Vec::new(),
            units: Units::default(),
            rules,
            clock,
            places: Vec::new(),
            passed: Vec::new(),
            felt: Vec::new(),
            room: Room::default(),
        }
    }

    /// Takes note of the subsystems after units have changed.
    pub fn index(&mut self, stars: usize) {
        self.places.clear();
        self.places.resize(stars, NONE);
        self.groups.iter().zip(0..).for_each(|(group, place)| self.places[group.members[0] as usize] = place);
        self.felt.iter_mut().for_each(Vec::clear);
        self.felt.resize(stars, Vec::new());
        for group in &self.groups {
            for near in &group.near {
                self.felt[near.star as usize].push(Near { star: group.members[0], ..*near });
            }
        }
    }

    /// Returns the place of the subsystem whose lowest star is `star`.
    pub fn place(&self, star: u32) -> Option<usize> {
        Some(self.places[star as usize]).filter(|&place| place != NONE).map(|place| place as usize)
    }

    /// Returns the subsystem whose lowest star is `star`.
    pub fn of_star(&self, star: u32) -> Option<&Group> {
        self.place(star).map(|place| &self.groups[place])
    }

    /// Returns the subsystem whose lowest star is `star`, mutably.
    pub fn of_star_mut(&mut self, star: u32) -> Option<&mut Group> {
        self.place(star).map(|place| &mut self.groups[place])
    }

    /// Returns the subsystems on whose lists the unit of a lowest star is, and how it feels them.
    pub fn felt_by(&self, star: u32) -> impl Iterator<Item = (&Group, &Near)> {
        self.felt[star as usize].iter().map(|near| (&self.groups[self.places[near.star as usize] as usize], near))
    }

    /// Returns a new list of the subsystem at a place, whose centre of mass moves with steps of level `step`.
    pub fn listed(&self, place: usize, positions: &Positions, now: Time, step: Level) -> Listed {
        self.groups[place].listed((&self.units, &self.clock, &self.rules), positions, (now, step))
    }

    /// Returns the units that feel the members of the subsystem at a place more, or less, with another list.
    pub fn refaded(&self, place: usize, listed: &Listed, positions: &Positions) -> Vec<usize> {
        let group = &self.groups[place];
        let here = positions.of(self.units.of_star(group.members[0]));
        let factor = |near: &[Near], star: u32, r2: f64| {
            let known = near.binary_search_by_key(&star, |near| near.star);
            known.map_or(0.0, |k| coupling::factor(r2, near[k].outer2))
        };
        let is_refaded = |near: &&Near| {
            let r2 = (positions.of(self.units.of_star(near.star)) - here).norm_squared();
            (factor(&group.near, near.star, r2) - factor(&listed.near, near.star, r2)).abs() > REFADED
        };
        let both = group.near.iter().chain(&listed.near).filter(is_refaded);
        both.map(|near| self.units.of_star(near.star)).collect()
    }

    /// Sets the list of the subsystem at a place.
    pub fn list(&mut self, place: usize, listed: Listed) {
        let Self { groups, felt, .. } = self;
        let group = &mut groups[place];
        let star = group.members[0];
        for near in &group.near {
            let by = &mut felt[near.star as usize];
            if let Ok(k) = by.binary_search_by_key(&star, |near| near.star) {
                by.remove(k);
            }
        }
        (group.near, group.near_until, group.far) = (listed.near, listed.until, listed.far);
        for near in &group.near {
            let by = &mut felt[near.star as usize];
            by.insert(by.partition_point(|near| near.star < star), Near { star, ..*near });
        }
    }

    /// Decides how the subsystem at a place, whose centre of mass now moves with steps of level `step`, goes on. Where others
    /// change to or from the mean, [`Self::go_on`] follows.
    pub fn attend(&mut self, place: usize, now: Time, step: Level) -> Result<Option<Attended>> {
        let Self { groups, units, rules, clock, .. } = self;
        let attended = groups[place].attend(units, clock, rules, now, step)?;
        Ok(Some(attended).filter(|attended| !attended.changed.is_empty()))
    }

    /// Lets the subsystem at a place go on as decided, if others change to or from the mean.
    pub fn go_on(&mut self, place: usize, attended: Option<Attended>, now: Time) -> Result<()> {
        let Some(attended) = attended else { return Ok(()) };
        let Self { groups, units, clock, felt, .. } = self;
        let group = &mut groups[place];
        group.go_on(&attended, units, clock, now)?;
        for near in attended.changed.iter().map(|&k| &group.near[k]) {
            let by = &mut felt[near.star as usize];
            if let Ok(k) = by.binary_search_by_key(&group.members[0], |near| near.star) {
                by[k].is_mean = near.is_mean;
            }
        }
        Ok(())
    }

    /// Adds a unit, which is new, to the list of the subsystem at a place, if it belongs there. Returns true if so.
    pub fn list_new(&mut self, place: usize, now: Time, unit: usize) -> Result<bool> {
        let Self { groups, units, rules, clock, felt, .. } = self;
        let (group, star) = (&mut groups[place], units.stars[unit]);
        let Err(position) = group.near.binary_search_by_key(&star, |near| near.star) else { return Ok(false) };
        let found = group.felt_by_new(units, clock, rules, now, unit);
        if let Some(near) = found {
            group.advance(units, clock, now)?;
            group.near.insert(position, near);
            let (by, own) = (&mut felt[star as usize], group.members[0]);
            by.insert(by.partition_point(|near| near.star < own), Near { star: own, ..near });
        }
        Ok(found.is_some())
    }

    /// Advances the internal motion of those subsystems to `now` for which `is_due` holds.
    pub fn advance(&mut self, now: Time, is_due: impl Fn(usize, &Group) -> bool + Sync) -> Result<()> {
        let Self { groups, units, clock, .. } = self;
        let due = |(place, group): &(usize, &mut Group)| group.time < now && is_due(*place, group);
        let advance = |(_, group): (usize, &mut Group)| group.advance(units, clock, now);
        groups.par_iter_mut().enumerate().filter(due).try_for_each(advance)
    }

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

/// Engine with the coupling of subsystems.
pub struct Coupled<'a> {
    /// The engine, to which subsystems are points.
    pub engine: &'a mut dyn ForceEngine,
    /// The subsystems.
    pub subsystems: &'a mut Subsystems,
}

impl ForceEngine for Coupled<'_> {
    fn load(&mut self, all: &Particles) -> Result<()> {
        self.subsystems.units.all.clone_from(all);
        self.engine.load(all)
    }

    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        let Subsystems { units, passed, .. } = &mut *self.subsystems;
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
