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

use crate::particles::Particles;
use laws::Laws;
use std::cmp::Ordering;

/// Initial state of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InitialState {
    /// Particles: columns `mass`, `pos`, `vel`, `id` are set, the rest is zero. In the units of the model or file.
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
}

impl InitialState {
    /// Creates a state of particles at time 0, without further properties.
    #[must_use]
    pub fn new(particles: Particles, source: &str) -> Self {
        Self { particles, source: source.into(), ..Self::default() }
    }
}

/// Returns two particles at exactly the same position, by storage index with the smaller first, or [`None`]. Without
/// softening their mutual force is undefined, whatever their masses. O(N log N).
#[must_use]
pub fn coincident_pair(particles: &Particles) -> Option<(usize, usize)> {
    // Adding zero turns −0 into +0: equal numbers must be neighbours in the total order too.
    let key = |i: usize| particles.pos[i].map(|x| x + 0.0);
    let by_position = |&a: &usize, &b: &usize| {
        let (a, b) = (key(a), key(b));
        (0..3).map(|k| a[k].total_cmp(&b[k])).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
    };
    let mut order: Vec<usize> = (0..particles.len()).collect();
    order.sort_by(by_position);
    order.windows(2).find(|pair| key(pair[0]) == key(pair[1])).map(|pair| (pair[0], pair[1]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::particles::Vec3;

    fn at(pos: &[[f64; 3]]) -> Particles {
        let n = pos.len();
        Particles::new(vec![1.0; n], pos.iter().map(|x| Vec3::from(*x)).collect(), vec![Vec3::zeros(); n])
    }

    #[test]
    fn coincidence_is_exact_equality_of_all_three_coordinates() {
        let apart = [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0_f64.next_up()], [1.0, 3.0, 2.0], [2.0, 1.0, 3.0]];
        assert_eq!(coincident_pair(&at(&apart)), None);
        let mut pos = apart.to_vec();
        pos.push([1.0, 3.0, 2.0]);
        assert_eq!(coincident_pair(&at(&pos)), Some((2, 4)));
        assert_eq!(coincident_pair(&at(&[[0.0, 0.0, -0.0], [-0.0, 0.0, 0.0]])), Some((0, 1)));
        assert_eq!(coincident_pair(&at(&[[0.0; 3]])), None);
        assert_eq!(coincident_pair(&at(&[])), None);
    }
}
