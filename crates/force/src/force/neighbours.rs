//! Forces in two parts, as neighbour schemes take them (Ahmad & Cohen 1973): the *irregular* force by the neighbours of a
//! target, and the *regular* force by all other sources.
//!
//! The neighbours of a target are its list, ascending indices of sources. A list is made from a radius R: source j is in
//! that of target i if r² + ε² < R² + ε², both sides in the numbers of the precision mode as its pair arithmetic has
//! them, so that one comparison decides on the list and on the regular sum, on every engine alike. The regular sum is the
//! [canonical](super::canonical) one of the mode, in which neighbours are left out in place. The irregular sum is in f64
//! in every mode: entry k of the list goes to sum k mod 8, and the eight sums are added as a canonical tree.

use super::forces::Evaluation;
use super::targets::Targets;
use crate::error::{Error, Result};
use crate::time::Time;
use std::ops::Range;

/// Number of running sums of an irregular force.
pub const IRREGULAR_SUMS: usize = 8;

/// Targets with their neighbours, at one moment.
#[derive(Clone, Copy, Debug)]
pub struct NeighbourTargets<'a> {
    /// Moment.
    pub now: Time,
    /// Targets, at their predicted state.
    pub targets: Targets<'a>,
    /// Neighbours of each target, ascending, without the target itself.
    pub lists: &'a [&'a [u32]],
    /// Targets that need a regular force and a new list: places in `targets`, ascending.
    pub regular: &'a [u32],
    /// Radius for the new list of each of them.
    pub radius: &'a [f64],
    /// Largest number of neighbours in a new list. A target with more within its radius gets an empty one.
    pub max: usize,
}

impl NeighbourTargets<'_> {
    /// Returns the task in which only the targets at the places `part` of `regular` get a regular force and a new list.
    #[must_use]
    pub fn renewing(&self, part: Range<usize>) -> Self {
        Self { regular: &self.regular[part.clone()], radius: &self.radius[part], ..*self }
    }
}

/// Forces in two parts.
#[derive(Clone, Debug, Default)]
pub struct NeighbourForces<E> {
    /// Irregular force by the given lists, one entry a target.
    pub irregular: E,
    /// Regular force beyond the new list, one entry a target that needs one.
    pub regular: E,
    /// Irregular force by the new list, likewise.
    pub renewed: E,
    /// New list, likewise. Only the first entries are of this evaluation; the others keep their allocation.
    pub lists: Vec<Vec<u32>>,
    /// Number of sources within the radius, likewise: that of the list, unless there were too many.
    pub within: Vec<u32>,
    /// ε² of these forces.
    pub eps2: f64,
}

impl<E: Evaluation> NeighbourForces<E> {
    /// Makes room for the new lists of `n` targets.
    pub fn resize(&mut self, n: usize) {
        if self.lists.len() < n {
            self.lists.resize_with(n, Vec::new);
        }
        self.within.resize(n, 0);
    }

    /// Empties the new lists that are longer than `max`, and returns the places of their targets, whose regular force is
    /// then one by all sources.
    pub fn cut(&mut self, n: usize, max: usize) -> Vec<u32> {
        let mut cut = Vec::new();
        for (k, list) in self.lists[..n].iter_mut().enumerate() {
            self.within[k] = list.len() as u32;
            if list.len() > max {
                list.clear();
                cut.push(k as u32);
            }
        }
        cut
    }
}

/// Returns the square of the softened distance below which a source is a neighbour: R² + ε².
#[inline]
#[must_use]
pub fn limit(radius: f64, eps2: f64) -> f64 {
    radius.mul_add(radius, eps2)
}

/// Checks that an engine has no law of its own: neighbour schemes know Newton's.
pub(super) fn newton_only(has_law: bool) -> Result<()> {
    if has_law {
        let problem = "a neighbour scheme knows Newton's law only".into();
        return Err(Error::Integration { problem, help: None });
    }
    Ok(())
}

/// Returns the error of an engine that does not compute forces in two parts.
pub(super) fn not_here() -> Error {
    let problem = "this engine does not compute forces in two parts, which neighbour schemes need";
    Error::Integration { problem: problem.into(), help: Some("take the engine cpu".into()) }
}

/// Largest and smallest ratio of the radii of two regular steps.
const RATIOS: [f64; 2] = [0.9, 1.1];
/// Ratio where there was no neighbour: the volume doubles.
const WITHOUT: f64 = 1.26;
/// Returns the next radius of a particle that had `found` particles within its radius: the one that would have the wanted
/// number at the same density, within limits, so that the number does not swing.
#[must_use]
pub fn next_radius(radius: f64, found: u32, wanted: f64) -> f64 {
    let ratio = if found == 0 {
        WITHOUT
    } else {
        let [min, max] = RATIOS;
        libm::cbrt(wanted / f64::from(found)).clamp(min, max)
    };
    let next = radius * ratio;
    // Zero and the largest number stay what they are.
    if next.is_normal() { next } else { radius }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_comes_near_the_wanted_one_and_stays() {
        // 10 neighbours in the unit sphere, at a uniform density.
        let found = |radius: f64| (10.0 * radius.powi(3)) as u32;
        for (first, steps) in [(0.02, 60), (1.0, 10), (40.0, 60)] {
            let mut radius: f64 = first;
            for _ in 0..steps {
                radius = next_radius(radius, found(radius), 24.0);
            }
            for _ in 0..20 {
                radius = next_radius(radius, found(radius), 24.0);
                assert!((22..=26).contains(&found(radius)), "from {first}: {radius}");
            }
        }
    }

    #[test]
    fn a_radius_stays_a_number() {
        let mut radius = 1e300;
        for _ in 0..1000 {
            radius = next_radius(radius, 0, 4.0);
        }
        assert!(radius.is_finite());
        assert_eq!(next_radius(0.0, 0, 4.0), 0.0);
        assert_eq!(next_radius(f64::MAX, 9, 4.0), f64::MAX * 0.9);
        assert_eq!(next_radius(f64::MAX, 9, 9.0), f64::MAX);
    }
}
