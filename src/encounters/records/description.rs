//! Hierarchy at a moment as plain data: who they are, their orbits and energies, and what the integration neglects of them.

use crate::encounters::forces::bodies::Bodies;
use crate::encounters::forces::coupling::{self, PointMasses};
use crate::encounters::membership::each::{WORK, each};
use crate::encounters::membership::hierarchy::Hierarchy;
use crate::encounters::motion::member::{Member, Placed, stars};
use crate::encounters::motion::subsystem::Subsystem;
use crate::encounters::records::field::{Places, noticed_within};
use crate::encounters::records::parts::{component, pair_orbit};
use crate::subsystems::description::{Description, StarInside};
use tisane_force::error::Result;
use tisane_force::particles::Vec3;
use tisane_force::time::{Clock, Time};

/// Adds the inner subsystems of some members to `found`; they are inside of the one of row `outer`. Those at the `averaged` places are
/// followed in the mean over their orbits.
fn add_inner(found: &mut Vec<Description>, members: &[Member], ids: &[u64], outer: usize, averaged: &[usize]) {
    for (place, few) in members.iter().enumerate().filter_map(|(place, member)| Some((place, member.inner()?))) {
        let row = found.len();
        found.push(Description {
            members: component(&few.members, ids),
            inside_of: Some(outer),
            mass: few.motion.masses().iter().sum(),
            binding: few.motion.binding(),
            orbit: pair_orbit(&few.members, &few.motion, ids),
            is_perturbed: false,
            is_averaged: averaged.contains(&place),
            neglected: 0.0,
            stars: Vec::new(),
        });
        add_inner(found, &few.members, ids, row, &[]);
    }
}

/// Returns the part of the coupling with body `k`, at `r` from the centre of mass, that is integrated.
fn part_integrated(subsystem: &Subsystem, bodies: &Bodies, k: usize, r: Vec3) -> f64 {
    let Ok(place) = subsystem.perturbers.binary_search_by_key(&bodies.stars[k], |perturber| perturber.star) else {
        return 0.0;
    };
    let perturber = &subsystem.perturbers[place];
    let is_felt = if perturber.is_averaged { subsystem.averaged.is_some() } else { subsystem.is_perturbed };
    if is_felt { coupling::factor(r.norm_squared(), perturber.outer2) } else { 0.0 }
}

/// Returns the energy that is neglected between a subsystem and all others that notice its members. `inside` has its stars at
/// `now`, at their places on the orbits, and `places` the bodies at that moment.
fn neglected(subsystem: &Subsystem, inside: &[Placed<u32>], hierarchy: &Hierarchy, places: &Places, now: Time) -> f64 {
    let Hierarchy { bodies, clock, .. } = hierarchy;
    let pos = &places.pos;
    let offsets: Vec<Vec3> = inside.iter().map(|star| star.pos).collect();
    let mass = inside.iter().map(|star| star.mass).collect();
    let points = PointMasses { mass, speeds: vec![Vec3::zeros(); offsets.len()], offsets };
    let here = bodies.of_star(subsystem.stars[0]);
    let of = |k: usize| {
        let r = pos[k] - pos[here];
        (1.0 - part_integrated(subsystem, bodies, k, r))
            * bodies.particles.mass[k]
            * coupling::potential(&points, r).abs()
    };
    let factor = noticed_within(&points, bodies.particles.mass[here], bodies.particles.len());
    places.within(clock, now, here, factor).into_iter().map(of).sum()
}

/// Returns all subsystems at `now`, where all bodies stand; `ids` has the ids of all stars. Inner ones follow the one that
/// they are inside of.
pub(crate) fn describe(hierarchy: &Hierarchy, ids: &[u64], now: Time) -> Result<Vec<Description>> {
    described(hierarchy, Some(&Places::of(hierarchy, now)), ids, now)
}

/// Returns the same without what is neglected and the places of the stars.
pub(crate) fn orbits(hierarchy: &Hierarchy, ids: &[u64], now: Time) -> Result<Vec<Description>> {
    described(hierarchy, None, ids, now)
}

/// Returns the subsystems at `now`; what depends on the `places` of others is left out without them.
fn described(hierarchy: &Hierarchy, places: Option<&Places>, ids: &[u64], now: Time) -> Result<Vec<Description>> {
    let rows: Vec<usize> = hierarchy.rows_in_order().collect();
    let mut found = Vec::with_capacity(rows.len());
    for one in each(&rows, WORK, |row| describe_one(hierarchy, places, &hierarchy.subsystems[row], ids, now)) {
        let before = found.len();
        found.extend(one?.into_iter().map(|it| Description { inside_of: it.inside_of.map(|row| before + row), ..it }));
    }
    Ok(found)
}

/// Returns a subsystem at `now`, and those inside of it.
fn describe_one(
    hierarchy: &Hierarchy,
    places: Option<&Places>,
    subsystem: &Subsystem,
    ids: &[u64],
    now: Time,
) -> Result<Vec<Description>> {
    let (bodies, clock): (&Bodies, &Clock) = (&hierarchy.bodies, &hierarchy.clock);
    let present = subsystem.at(bodies, clock, &hierarchy.rules, now.max(subsystem.time))?;
    let inside = match places {
        Some(_) => stars(&present.members, &present.motion, clock, now)?,
        None => Vec::new(),
    };
    let star = |star: &Placed<u32>| StarInside { id: ids[star.of as usize], pos: star.pos, vel: star.vel };
    let mut found = vec![Description {
        members: component(&subsystem.members, ids),
        inside_of: None,
        mass: subsystem.mass(),
        binding: present.motion.binding(),
        orbit: pair_orbit(&present.members, &present.motion, ids),
        is_perturbed: subsystem.is_perturbed,
        is_averaged: subsystem.averaged.is_some() || subsystem.nested.is_some(),
        neglected: places.map_or(0.0, |places| neglected(subsystem, &inside, hierarchy, places, now)),
        stars: inside.iter().map(star).collect(),
    }];
    let averaged = match subsystem.nested {
        Some(_) => (0..present.members.len()).collect(),
        None => present.places_of_rings(&hierarchy.rules),
    };
    add_inner(&mut found, &present.members, ids, 0, &averaged);
    Ok(found)
}
