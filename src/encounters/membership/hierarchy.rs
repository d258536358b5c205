//! All subsystems, with the bodies of the integration and the lists of those that perturb them.

use crate::encounters::forces::bodies::Units;
use crate::encounters::forces::coupling::{self, Members};
use crate::encounters::forces::surroundings::Positions;
use crate::encounters::motion::averaged::Attended;
use crate::encounters::motion::subsystem::{Group, Listed, Near};
use crate::encounters::settings::rules::Rules;
use rayon::prelude::*;
use tisane_force::error::Result;
use tisane_force::particles::Vec3;
use tisane_force::time::{Clock, Level, Time};

/// Mark of a unit that is no target.
pub const NONE: u32 = u32::MAX;

/// Number of subsystems up to which one thread advances them: waking others costs as much as some of them.
pub const SHARE: usize = 16;

/// Change of the factor of a coupling by a new list from which on the forces are evaluated anew.
const REFADED: f64 = 1e-3;

/// All subsystems, and the units as the engine knows them.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    /// The subsystems, in the order of their lowest stars.
    pub groups: Vec<Group>,
    /// Stars that are alone, and centres of mass.
    pub units: Units,
    /// Criteria.
    pub rules: Rules,
    /// Time axis.
    pub clock: Clock,
    /// Place of the subsystem of each star that is the lowest of one.
    pub places: Vec<u32>,
    /// States that units had before they moved, since contacts were looked for; none without collisions.
    pub passed: Vec<Passage>,
    /// Hierarchy on whose lists the unit of each lowest star is, in order, with the squares of their outer radii.
    pub felt: Vec<Vec<Near>>,
    pub room: Room,
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
pub struct Room {
    /// Target of each unit.
    pub targets: Vec<u32>,
    /// Hierarchy whose motion has to be known now.
    pub is_due: Vec<bool>,
    /// Their places.
    pub due: Vec<u32>,
    /// The members of those, as others see them.
    pub members: Vec<Members>,
}

impl Hierarchy {
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
}
