//! Places of the two stars of close pairs: stars that touch, and positions with too few digits.

use super::close_orbit::CloseOrbit;
use std::collections::HashMap;
use tisane::particles::Particles;

/// Relative error of a separation, by the spacing of the numbers at the place of a pair, that is told.
const COARSE: f64 = 1e-9;

/// Returns the indices of the two stars of each orbit.
pub(super) fn stars<'a>(
    p: &'a Particles,
    orbits: &'a [CloseOrbit],
) -> impl Iterator<Item = (&'a CloseOrbit, [usize; 2])> {
    let index: HashMap<u64, usize> = p.id.iter().enumerate().map(|(i, id)| (*id, i)).collect();
    orbits.iter().filter_map(move |orbit| {
        let [a, b] = orbit.ids.map(|id| index.get(&id).copied());
        Some((orbit, [a?, b?]))
    })
}

/// Returns the ids of the pairs whose pericentre is below the sum of their radii, that with the smallest ratio first; none where the
/// particles have no radii.
pub(super) fn touching(p: &Particles, orbits: &[CloseOrbit]) -> Vec<[u64; 2]> {
    if p.radius.len() != p.len() {
        return Vec::new();
    }
    let mut found: Vec<(f64, [u64; 2])> = stars(p, orbits)
        .filter_map(|(orbit, [i, j])| {
            let pericentre = orbit.pair.semi_major_axis * (1.0 - orbit.pair.eccentricity);
            let sum = p.radius[i] + p.radius[j];
            (pericentre < sum).then_some((pericentre / sum, orbit.ids))
        })
        .collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.into_iter().map(|(_, ids)| ids).collect()
}

/// Returns the pair whose separation the positions give with the fewest digits, and the relative error of that: the spacing of
/// numbers at its place over its separation.
pub(super) fn coarsest(p: &Particles, orbits: &[CloseOrbit]) -> Option<([u64; 2], f64)> {
    let error = |[i, j]: [usize; 2]| {
        let place = p.pos[i].amax().max(p.pos[j].amax());
        place * f64::EPSILON / (p.pos[j] - p.pos[i]).norm()
    };
    let worst = stars(p, orbits).map(|(orbit, two)| (orbit.ids, error(two))).max_by(|a, b| a.1.total_cmp(&b.1));
    worst.filter(|(_, error)| *error > COARSE)
}
