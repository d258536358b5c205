//! Stars that begin to fill their Roche lobes in pairs that are subsystems, as events: no mass is transferred.

use crate::evolution::{Evolution, TypeChange};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use tisane::particles::Particles;
use tisane::subsystems::{Component, Description};
use tisane::time::Time;
use tisane_stellar::{Event, State, roche_lobe};

/// Notes at a multiple of dt_max, `now`, at which it is `at` in internal units, which stars fill their lobes at the pericentre of their pair,
/// by the lobe of a circular orbit of that size. Returns those that have begun to, in the order of the particles.
pub(crate) fn note(
    evolution: &Evolution,
    p: &mut Particles,
    found: &[Description],
    (now, at): (Time, f64),
) -> Vec<TypeChange> {
    let mut limits: BTreeMap<u64, (u64, f64)> = BTreeMap::new();
    for one in found {
        let (Component::Several(parts), Some(orbit)) = (&one.members, &one.orbit) else { continue };
        let pericentre = orbit.semi_major_axis * (1.0 - orbit.eccentricity);
        // A pair that is disturbed has another pericentre at its next revolution.
        if orbit.semi_major_axis <= 0.0 || one.is_perturbed {
            continue;
        }
        let limit = |k: usize| roche_lobe(orbit.mass[k] / orbit.mass[1 - k]) * pericentre * evolution.rsun();
        if let [first, second] = parts.as_slice() {
            for (k, star, other) in [(0, first, second), (1, second, first)] {
                if let Component::Star(id) = star {
                    limits.insert(*id, (other.first(), limit(k)));
                }
            }
        }
    }
    // A star in a pair that is disturbed, or in a larger subsystem, is what it was.
    let inside: BTreeSet<u64> = found.iter().flat_map(|one| one.members.ids()).collect();
    let limited = |row: usize| limits.get(&p.id[row]).map(|_| evolution.present(&p.stars[row], at));
    let states: Vec<Option<(f64, State)>> = (0..p.stars.len()).into_par_iter().map(limited).collect();
    let mut begun = Vec::new();
    for ((id, star), state) in p.id.iter().zip(&mut p.stars).zip(states) {
        let (Some((other, limit)), Some((time, state))) = (limits.get(id), state) else {
            star.fills_lobe &= inside.contains(id);
            continue;
        };
        let fills = state.radius > *limit;
        if fills && !star.fills_lobe {
            begun.push(contact(*id, *other, (time, state), star.track.birth_mass, now));
        }
        star.fills_lobe = fills;
    }
    begun
}

/// Returns the event of a star that has begun to fill its lobe at a time in Myr.
fn contact(id: u64, other: u64, (time, state): (f64, State), birth_mass: f64, applied: Time) -> TypeChange {
    let event = Event { id, time, before: state, after: state, supernova: None, kick: [0.0; 3] };
    TypeChange { event, birth_mass, applied, merged: None, contact: Some(other) }
}
