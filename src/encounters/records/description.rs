//! Hierarchy at a moment as plain data: who they are, their orbits and energies, and what the integration neglects of them.

use crate::encounters::forces::bodies::Units;
use crate::encounters::forces::coupling::{self, Members};
use crate::encounters::forces::surroundings::at;
use crate::encounters::membership::hierarchy::Hierarchy;
use crate::encounters::motion::member::{Body, Placed, stars};
use crate::encounters::motion::subsystem::Group;
use crate::encounters::records::parts::{component, pair_orbit};
use crate::subsystems::description::{Description, StarInside};
use tisane_force::error::Result;
use tisane_force::particles::Vec3;
use tisane_force::time::{Clock, Time};

/// Adds the inner subsystems of some bodies to `found`; they are inside of the one at the place `outer`, and pairs of a stable
/// system that is followed in the mean where it is `nested`.
fn add_inner(found: &mut Vec<Description>, bodies: &[Body], ids: &[u64], (outer, nested): (usize, bool)) {
    for few in bodies.iter().filter_map(Body::inner) {
        let place = found.len();
        found.push(Description {
            members: component(&few.bodies, ids),
            inside_of: Some(outer),
            mass: few.motion.masses().iter().sum(),
            binding: few.motion.binding(),
            orbit: pair_orbit(&few.bodies, &few.motion, ids),
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
fn neglected(group: &Group, inside: &[Placed<u32>], subsystems: &Hierarchy, now: Time) -> f64 {
    let Hierarchy { units, clock, .. } = subsystems;
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
pub(crate) fn describe(subsystems: &Hierarchy, ids: &[u64], now: Time) -> Result<Vec<Description>> {
    let (units, clock): (&Units, &Clock) = (&subsystems.units, &subsystems.clock);
    let mut found = Vec::with_capacity(subsystems.groups.len());
    for group in &subsystems.groups {
        let present = group.at(units, clock, now.max(group.time))?;
        let place = found.len();
        let inside = stars(&present.bodies, &present.motion, clock, now)?;
        let star = |star: &Placed<u32>| StarInside { id: ids[star.of as usize], pos: star.pos, vel: star.vel };
        found.push(Description {
            members: component(&group.bodies, ids),
            inside_of: None,
            mass: group.mass(),
            binding: present.motion.binding(),
            orbit: pair_orbit(&present.bodies, &present.motion, ids),
            is_perturbed: group.is_perturbed,
            is_averaged: group.ring.is_some() || group.nested.is_some(),
            neglected: neglected(group, &inside, subsystems, now),
            stars: inside.iter().map(star).collect(),
        });
        add_inner(&mut found, &present.bodies, ids, (place, group.nested.is_some()));
    }
    Ok(found)
}
