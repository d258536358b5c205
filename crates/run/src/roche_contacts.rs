//! Stars that begin to fill their Roche lobes in pairs that are subsystems, as events: no mass is transferred.

use crate::evolution::{Evolution, TypeChange};
use std::collections::BTreeMap;
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
    let mut begun = Vec::new();
    for (id, star) in p.id.iter().zip(&mut p.stars) {
        let Some((other, limit)) = limits.get(id) else {
            star.fills_lobe = false;
            continue;
        };
        let (time, state) = evolution.present(star, at);
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
