//! Force engine that adds the coupling of subsystems to the forces of an engine, to which they are points.

use super::coupling;
use super::group::Group;
use super::surroundings::at;
use super::{Rules, Units};
use crate::error::Result;
use crate::force::{ForceEngine, Forces, Targets};
use crate::particles::{Particles, Vec3};
use crate::time::{Clock, Time};
use rayon::prelude::*;

/// Mark of a unit that is no target.
const NONE: u32 = u32::MAX;

/// Number of subsystems up to which one thread advances them: waking others costs as much as some of them.
const SHARE: usize = 16;

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
    /// Target of each unit; kept for its memory.
    places: Vec<u32>,
}

impl Subsystems {
    /// Creates the subsystems of units that are all single stars.
    pub fn new(rules: Rules, clock: Clock) -> Self {
        Self { groups: Vec::new(), units: Units::default(), rules, clock, places: Vec::new() }
    }

    /// Returns the subsystem whose lowest star is `star`.
    pub fn of_star(&self, star: u32) -> Option<&Group> {
        let place = self.groups.binary_search_by_key(&star, |group| group.members[0]).ok()?;
        self.groups.get(place)
    }

    /// Returns the subsystem whose lowest star is `star`, mutably.
    pub fn of_star_mut(&mut self, star: u32) -> Option<&mut Group> {
        let place = self.groups.binary_search_by_key(&star, |group| group.members[0]).ok()?;
        self.groups.get_mut(place)
    }

    /// Advances the internal motion of those subsystems to `now` for which `is_due` holds.
    pub fn advance(&mut self, now: Time, is_due: impl Fn(&Group, &Units, &Rules) -> bool + Sync) -> Result<()> {
        let Self { groups, units, clock, rules, .. } = self;
        let due = |group: &Group| group.time < now && is_due(group, units, rules);
        if groups.iter().filter(|group| due(group)).nth(SHARE).is_none() {
            return groups.iter_mut().filter(|group| due(group)).try_for_each(|group| group.advance(units, clock, now));
        }
        groups.par_iter_mut().filter(|group| due(group)).try_for_each(|group| group.advance(units, clock, now))
    }

    /// Adds the forces of the coupling at `now` to those on targets.
    fn correct(&mut self, now: Time, targets: Targets<'_>, out: &mut Forces) {
        let Self { groups, units, clock, places, .. } = self;
        let state = |i: usize| match places[i] {
            NONE => at(&units.all, i, clock, now),
            k => (targets.pos[k as usize], targets.vel[k as usize]),
        };
        for group in groups.iter().filter(|group| group.is_perturbed) {
            let here = units.of_star(group.members[0]);
            let near = || group.near.iter().map(|near| (units.of_star(near.star), near.outer2));
            if places[here] == NONE && near().all(|(k, _)| places[k] == NONE) {
                continue;
            }
            let (members, mass, (pos, vel)) = (group.members(), units.all.mass[here], state(here));
            let mut add = |i: usize, acc: Vec3, jerk: Vec3| {
                if places[i] != NONE {
                    out.acc[places[i] as usize] += acc;
                    out.jerk[places[i] as usize] += jerk;
                }
            };
            for (k, outer2) in near().filter(|(k, _)| places[here] != NONE || places[*k] != NONE) {
                let (x, v) = state(k);
                let (acc, jerk) = coupling::force(&members, x - pos, v - vel, outer2);
                let back = -units.all.mass[k] / mass;
                add(k, acc, jerk);
                add(here, acc * back, jerk * back);
            }
        }
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
        let own = &mut self.subsystems.units.all;
        for i in changed.iter().map(|&i| i as usize) {
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
        let mut places = std::mem::take(&mut self.subsystems.places);
        places.resize(self.subsystems.units.all.len(), NONE);
        targets.index.iter().zip(0..).for_each(|(&i, k)| places[i as usize] = k);
        let moves = |units: &Units, star: u32| places[units.of_star(star)] != NONE;
        self.subsystems.advance(now, |group, units, rules| {
            (moves(units, group.members[0]) && group.is_followed(rules))
                || (group.is_perturbed && group.near.iter().any(|near| moves(units, near.star)))
        })?;
        self.subsystems.places = places;
        self.subsystems.correct(now, targets, out);
        targets.index.iter().for_each(|&i| self.subsystems.places[i as usize] = NONE);
        Ok(())
    }

    fn set_start(&mut self, start: f64) {
        self.engine.set_start(start);
    }
}
