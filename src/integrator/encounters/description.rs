//! Subsystems at a moment as plain data: who they are, their orbits and energies, and what the integration neglects of them.

use super::bodies::{Body, Placed, stars};
use super::coupled::Subsystems;
use super::coupling::{self, Members};
use super::events::{Component, PairOrbit};
use super::group::Group;
use super::surroundings::at;
use super::{Encounters, Units};
use crate::few_body::{AT_ONE_PLACE, TOO_CLOSE};
use tisane_force::error::{Error, Result};
use tisane_force::particles::Vec3;
use tisane_force::time::{Clock, Time};

/// Bodies that move about each other, in internal units: a subsystem, or one inside of another.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// Its stars.
    pub members: Component,
    /// Place in the list of the subsystem that it is inside of; [`None`] for one that is inside of none.
    pub inside_of: Option<usize>,
    /// Mass.
    pub mass: f64,
    /// Binding energy of its bodies on each other, without that inside of them.
    pub binding: f64,
    /// Orbit of its bodies, if they are two.
    pub orbit: Option<PairOrbit>,
    /// True while the internal motion is integrated with the forces of others.
    pub is_perturbed: bool,
    /// True while it is followed in the mean over its orbit: there are others that feel it so, and that it feels, or it is a stable
    /// triple or quadruple, or the inner pair of one.
    pub is_averaged: bool,
    /// Energy that the integration neglects: Σ |(1 − K) φ| over all others, with the energy φ of one of them and the members
    /// less that with their centre of mass, of which the part K is integrated. 0 for one that is inside of another.
    pub neglected: f64,
    /// Its stars relative to its centre of mass; none for one that is inside of another.
    pub stars: Vec<StarInside>,
}

/// Star of a subsystem relative to the centre of mass of that, in internal units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StarInside {
    /// Its id.
    pub id: u64,
    /// Position.
    pub pos: Vec3,
    /// Velocity.
    pub vel: Vec3,
}

/// Adds the inner subsystems of some bodies to `found`; they are inside of the one at the place `outer`, and pairs of a stable
/// system that is followed in the mean where it is `nested`.
fn add_inner(found: &mut Vec<Description>, bodies: &[Body], ids: &[u64], (outer, nested): (usize, bool)) {
    for few in bodies.iter().filter_map(Body::inner) {
        let place = found.len();
        found.push(Description {
            members: Component::of(&few.bodies, ids),
            inside_of: Some(outer),
            mass: few.motion.masses().iter().sum(),
            binding: few.motion.binding(),
            orbit: PairOrbit::of(&few.bodies, &few.motion, ids),
            is_perturbed: false,
            is_averaged: nested,
            neglected: 0.0,
            stars: Vec::new(),
        });
        add_inner(found, &few.bodies, ids, (place, false));
    }
}

/// Returns the part of the coupling with unit `k`, at `r` from the centre of mass, that is integrated.
fn part_integrated(group: &Group, units: &Units, k: usize, r: Vec3) -> f64 {
    let Ok(place) = group.near.binary_search_by_key(&units.stars[k], |near| near.star) else { return 0.0 };
    let near = &group.near[place];
    let is_felt = if near.is_mean { group.ring.is_some() } else { group.is_perturbed };
    if is_felt { coupling::factor(r.norm_squared(), near.outer2) } else { 0.0 }
}

/// Returns the energy that is neglected between a subsystem and all others. `inside` has its stars at `now`, at their places on
/// the orbits.
fn neglected(group: &Group, inside: &[Placed<u32>], subsystems: &Subsystems, now: Time) -> f64 {
    let Subsystems { units, clock, .. } = subsystems;
    let offsets: Vec<Vec3> = inside.iter().map(|star| star.pos).collect();
    let mass = inside.iter().map(|star| star.mass).collect();
    let members = Members { mass, speeds: vec![Vec3::zeros(); offsets.len()], offsets };
    let here = units.of_star(group.members[0]);
    let place = |k: usize| at(&units.all, k, clock, now).0;
    let centre = place(here);
    let of = |k: usize| {
        let r = place(k) - centre;
        (1.0 - part_integrated(group, units, k, r)) * units.all.mass[k] * coupling::potential(&members, r).abs()
    };
    (0..units.all.len()).filter(|&k| k != here).map(of).sum()
}

/// Returns all subsystems at `now`, where all units stand; `ids` has the ids of all stars. Inner ones follow the one that
/// they are inside of.
pub(super) fn describe(subsystems: &Subsystems, ids: &[u64], now: Time) -> Result<Vec<Description>> {
    let (units, clock): (&Units, &Clock) = (&subsystems.units, &subsystems.clock);
    let mut found = Vec::with_capacity(subsystems.groups.len());
    for group in &subsystems.groups {
        let present = group.at(units, clock, now.max(group.time))?;
        let place = found.len();
        let inside = stars(&present.bodies, &present.motion, clock, now)?;
        let star = |star: &Placed<u32>| StarInside { id: ids[star.of as usize], pos: star.pos, vel: star.vel };
        found.push(Description {
            members: Component::of(&group.bodies, ids),
            inside_of: None,
            mass: group.mass(),
            binding: present.motion.binding(),
            orbit: PairOrbit::of(&present.bodies, &present.motion, ids),
            is_perturbed: group.is_perturbed,
            is_averaged: group.ring.is_some() || group.nested.is_some(),
            neglected: neglected(group, &inside, subsystems, now),
            stars: inside.iter().map(star).collect(),
        });
        add_inner(&mut found, &present.bodies, ids, (place, group.nested.is_some()));
    }
    Ok(found)
}

impl Encounters {
    /// Names in an error of the motion of few bodies the stars of the subsystem that it is about: the one with the closest two.
    pub(super) fn named(&self, error: Error) -> Error {
        let (problem, help) = match error {
            Error::Integration { problem, help: Some(help) } => (problem, help),
            other => return other,
        };
        let gap = |group: &&Group| group.gaps().fold(f64::INFINITY, f64::min);
        let closest = self.subsystems.groups.iter().min_by(|a, b| gap(a).total_cmp(&gap(b)));
        let is_of_few = [AT_ONE_PLACE, TOO_CLOSE].contains(&help.as_str());
        let named = |group: &Group| {
            let (stars, time) = (Component::of(&group.bodies, &self.ids), self.clock.time(group.time));
            format!("{problem} since {time}, in the subsystem of stars {stars}")
        };
        let problem = closest.filter(|_| is_of_few).map_or_else(|| problem.clone(), named);
        Error::Integration { problem, help: Some(help) }
    }
}
