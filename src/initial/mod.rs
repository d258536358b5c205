//! Initial conditions: one file for each model, and one for each extension of a sampled model: masses, binaries,
//! segregation, rotation, a central body. Every model uses plain arithmetic, square roots and the `libm` crate, so that
//! the same arguments give the same bits on any machine.
//!
//! Arguments are checked by the configuration, which reports a mistake with its key. Here an invalid argument is a
//! programming error and panics as documented.

pub mod binaries;
pub mod binary_single;
pub mod central_body;
pub mod eff;
pub mod eigenevolution;
pub mod encounter;
pub mod figure_eight;
pub mod fractal;
pub mod hernquist;
pub mod kepler;
pub mod king;
pub mod laws;
pub mod masses;
mod numerics;
pub mod orbiting;
pub mod plummer;
pub mod pythagorean;
mod random;
pub mod rotation;
pub mod scaling;
pub mod segregation;
pub mod solar_system;
pub mod two_body;
pub mod uniform_sphere;

pub use random::deviates;

use laws::Laws;
use std::cmp::Ordering;
use std::ops::Range;
use tisane_force::particles::Particles;

/// Initial state of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InitialState {
    /// Particles: columns `mass`, `pos`, `vel`, `id` are set, `radius` where a file has it, the rest is zero. In the units of the model or file.
    pub particles: Particles,
    /// Time of this state, in the same units.
    pub time: f64,
    /// Origin of the state, as one line for logs.
    pub source: String,
    /// Further properties for reports, as names and texts.
    pub about: Vec<(String, String)>,
    /// Index of the first of the two stars of each primordial binary; the second follows it.
    pub binaries: Vec<usize>,
    /// Distributions that a sampled model is drawn from.
    pub laws: Laws,
    /// Clusters of a list, in the order of their particles; empty for one model.
    pub clusters: Vec<Cluster>,
}

/// Cluster of a list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cluster {
    /// Indices of its particles.
    pub particles: Range<usize>,
    /// Origin, as one line.
    pub source: String,
    /// Distributions that it is drawn from, about its place.
    pub laws: Laws,
    /// Flag for a sampled model.
    pub is_sampled: bool,
}

impl InitialState {
    /// Creates a state of particles at time 0, without further properties.
    #[must_use]
    pub fn new(particles: Particles, source: &str) -> Self {
        Self { particles, source: source.into(), ..Self::default() }
    }
}

/// Coordinates below this count as 0 where particles at one place are looked for: others that differ, differ by more than
/// distances whose square is no normal number.
const TINY: f64 = 1e-130;

/// Returns two particles at the same position, by storage index with the smaller first, or [`None`]: at exactly the same, or
/// at a distance whose square is no normal number. Without softening their mutual force is undefined, whatever their
/// masses. O(N log N).
#[must_use]
pub fn coincident_pair(particles: &Particles) -> Option<(usize, usize)> {
    // Adding zero turns −0 into +0: equal numbers must be neighbours in the total order too.
    let key = |i: usize| particles.pos[i].map(|x| if x.abs() < TINY { 0.0 } else { x + 0.0 });
    let by_position = |&a: &usize, &b: &usize| {
        let (a, b) = (key(a), key(b));
        (0..3).map(|k| a[k].total_cmp(&b[k])).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
    };
    let mut order: Vec<usize> = (0..particles.len()).collect();
    order.sort_by(by_position);
    let meet = |a: usize, b: usize| {
        let square = (particles.pos[b] - particles.pos[a]).norm_squared();
        square < f64::MIN_POSITIVE
    };
    order.iter().enumerate().find_map(|(k, &a)| {
        let near = order[k + 1..].iter().take_while(|&&b| key(a) == key(b));
        near.copied().find(|&b| meet(a, b)).map(|b| (a.min(b), a.max(b)))
    })
}

/// Returns two particles that touch, whose distance is below the sum of their radii, by storage index with the smaller first;
/// [`None`] if there are none, or no radii. O(N log N) where the radii are much smaller than the system.
#[must_use]
pub fn overlapping_pair(particles: &Particles) -> Option<(usize, usize)> {
    let (p, radius) = (&particles.pos, &particles.radius);
    let largest = radius.iter().copied().fold(0.0, f64::max);
    let mut order: Vec<usize> = (0..radius.len()).collect();
    order.sort_by(|&a, &b| p[a].x.total_cmp(&p[b].x));
    let touch = |a: usize, b: usize| (p[a] - p[b]).norm() < radius[a] + radius[b];
    order.iter().enumerate().find_map(|(k, &a)| {
        let reach = p[a].x + radius[a] + largest;
        let near = order[k + 1..].iter().take_while(|&&b| p[b].x <= reach);
        near.copied().find(|&b| touch(a, b)).map(|b| (a.min(b), a.max(b)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tisane_force::particles::Vec3;

    fn at(pos: &[[f64; 3]]) -> Particles {
        let n = pos.len();
        Particles::new(vec![1.0; n], pos.iter().map(|x| Vec3::from(*x)).collect(), vec![Vec3::zeros(); n])
    }

    #[test]
    fn particles_that_touch_are_found() {
        let mut p = at(&[[3.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 2.0, 0.0]]);
        assert_eq!(overlapping_pair(&p), None);
        p.radius = vec![1.0, 0.5, 0.5, 1.4];
        assert_eq!(overlapping_pair(&p), None, "contact at a point");
        p.radius[3] = 1.7;
        assert_eq!(overlapping_pair(&p), Some((1, 3)));
        p.radius[3] = 0.0;
        p.radius[0] = 1.6;
        assert_eq!(overlapping_pair(&p), Some((0, 2)));
    }

    #[test]
    fn coincidence_is_exact_equality_of_all_three_coordinates() {
        let apart = [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0_f64.next_up()], [1.0, 3.0, 2.0], [2.0, 1.0, 3.0]];
        assert_eq!(coincident_pair(&at(&apart)), None);
        let mut pos = apart.to_vec();
        pos.push([1.0, 3.0, 2.0]);
        assert_eq!(coincident_pair(&at(&pos)), Some((2, 4)));
        assert_eq!(coincident_pair(&at(&[[0.0, 0.0, -0.0], [-0.0, 0.0, 0.0]])), Some((0, 1)));
        assert_eq!(coincident_pair(&at(&[[1.0, 0.0, 1e-162], [1.0, 0.0, 0.0]])), Some((0, 1)), "a square of 0");
        assert_eq!(coincident_pair(&at(&[[0.0; 3], [1e-150, 0.0, 0.0], [1e-155, 0.0, 1e-155]])), Some((0, 2)));
        assert_eq!(coincident_pair(&at(&[[0.0; 3], [1e-150, 0.0, 0.0]])), None);
        assert_eq!(coincident_pair(&at(&[[0.0; 3]])), None);
        assert_eq!(coincident_pair(&at(&[])), None);
    }
}
