//! Bias of averages: what runs that have all diverged say of a system together, beside the most accurate ones.

use super::divergence::radius_of_share;
use super::system::Scheme;
use serde::{Deserialize, Serialize};
use tisane::particles::Particles;
use tisane_plot::band::Band;

/// End of a member of an ensemble, in N-body units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndState {
    /// Logarithm of the radius of half the stars about their mean place.
    pub ln_half: f64,
    /// Logarithm of the radius of the innermost quarter of the stars.
    pub ln_quarter: f64,
    /// Binding energy of the hardest pair.
    pub hardest_pair: f64,
    /// Largest |E − E₀| / |E₀| at the moments.
    pub energy_error: f64,
    /// Pairs evaluated.
    pub pairs: u64,
}

impl EndState {
    /// Measures the particles at the end.
    #[must_use]
    pub fn new(p: &Particles, epsilon: f64, energy_error: f64, pairs: u64) -> Self {
        let radius = |share: f64| radius_of_share(&p.pos, share).ln();
        Self {
            ln_half: radius(0.5),
            ln_quarter: radius(0.25),
            hardest_pair: binding_energy(p, epsilon),
            energy_error,
            pairs,
        }
    }

    const fn quantities(&self) -> [f64; 3] {
        [self.ln_half, self.ln_quarter, self.hardest_pair]
    }
}

/// Returns the binding energy of the pair that is bound most, with G = 1; negative if none is bound.
fn binding_energy(p: &Particles, epsilon: f64) -> f64 {
    let of_pair = |i: usize, j: usize| {
        let (mass, product) = (p.mass[i] + p.mass[j], p.mass[i] * p.mass[j]);
        let distance = ((p.pos[i] - p.pos[j]).norm_squared() + epsilon * epsilon).sqrt();
        product / distance - 0.5 * product / mass * (p.vel[i] - p.vel[j]).norm_squared()
    };
    (0..p.len()).flat_map(|i| (0..i).map(move |j| of_pair(i, j))).fold(f64::NEG_INFINITY, f64::max)
}

/// Mean with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// Mean.
    pub value: f64,
    /// Standard error.
    pub error: f64,
}

impl Mean {
    fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let value = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|x| (x - value).powi(2)).sum();
        Self { value, error: (squares / (n - 1.0) / n).sqrt() }
    }
}

/// Ensemble of one scheme beside the most accurate one.
#[derive(Clone, Debug, PartialEq)]
pub struct Bias {
    /// Number of particles.
    pub n: u32,
    /// Scheme.
    pub scheme: Scheme,
    /// True for the most accurate one, with which the others are compared.
    pub is_reference: bool,
    /// Number of members that both have.
    pub members: usize,
    /// Median of the largest energy errors of the members; NaN without a result.
    pub median_error: f64,
    /// Largest of them.
    pub max_error: f64,
    /// Pairs evaluated, mean over the members.
    pub pairs: f64,
    /// Mean differences from the most accurate ensemble, seed by seed: of ln r of half the stars, of ln r of the innermost
    /// quarter, and of the binding energy of the hardest pair.
    pub differences: [Mean; 3],
}

/// Members of one scheme, by seed; [`None`] where one has no result.
pub type Members = (Scheme, Vec<Option<EndState>>);

/// Compares the ensembles of one N with the one whose median energy error is the least.
#[must_use]
pub fn biases(n: u32, ensembles: &[Members]) -> Vec<Bias> {
    let error = |members: &[Option<EndState>]| Band::of(members.iter().flatten().map(|it| it.energy_error));
    let median = |members: &[Option<EndState>]| error(members).map_or(f64::NAN, |band| band.median);
    // NaN comes after all numbers.
    let best = ensembles.iter().min_by(|(_, a), (_, b)| median(a).total_cmp(&median(b)));
    let Some((best, of_best)) = best else { return Vec::new() };
    let bias = |(scheme, members): &Members| {
        let both: Vec<(&EndState, &EndState)> =
            members.iter().zip(of_best).filter_map(|(a, b)| Some((a.as_ref()?, b.as_ref()?))).collect();
        let difference = |k: usize| {
            let each: Vec<f64> = both.iter().map(|(a, b)| a.quantities()[k] - b.quantities()[k]).collect();
            Mean::of(&each)
        };
        Bias {
            n,
            scheme: *scheme,
            is_reference: scheme == best && !both.is_empty(),
            members: both.len(),
            median_error: median(members),
            max_error: members.iter().flatten().map(|it| it.energy_error).fold(f64::NAN, f64::max),
            pairs: both.iter().map(|(a, _)| a.pairs as f64).sum::<f64>() / both.len() as f64,
            differences: [0, 1, 2].map(difference),
        }
    };
    ensembles.iter().map(bias).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::integrators::Integrator;
    use tisane::force::precision::Precision;
    use tisane::particles::Vec3;

    #[test]
    fn the_hardest_pair_is_found() {
        let pos = [0.0, 1.0, 1.25].map(|x| Vec3::new(x, 0.0, 0.0)).to_vec();
        let vel = [0.0, 0.0, 1.0].map(|y| Vec3::new(0.0, y, 0.0)).to_vec();
        let p = Particles::new(vec![0.5, 0.25, 0.25], pos, vel);
        // m m / r = 0.25 less ½ μ v² = 0.0625; the first and the second have 0.125.
        assert_eq!(binding_energy(&p, 0.0), 0.1875);
        let end = EndState::new(&p, 0.0, 0.0, 1);
        assert_eq!((end.hardest_pair, end.ln_quarter), (0.1875, 0.25f64.ln()));
    }

    #[test]
    fn differences_are_taken_seed_by_seed() {
        let scheme = |accuracy| Scheme { integrator: Integrator::default(), mode: Precision::F64, accuracy };
        let end = |ln_half: f64, energy_error: f64| {
            Some(EndState { ln_half, ln_quarter: 0.0, hardest_pair: 1.0, energy_error, pairs: 10 })
        };
        let rough = vec![end(1.1, 1e-3), end(2.3, 3e-3), end(3.2, 2e-3), None];
        let fine = vec![end(1.0, 1e-9), end(2.0, 3e-9), end(3.0, 2e-9), end(9.0, 1e-9)];
        let found = biases(16, &[(scheme(0.1), rough), (scheme(0.001), fine)]);
        let [rough, fine] = &found[..] else { panic!("{found:?}") };
        assert!(!rough.is_reference && fine.is_reference);
        assert_eq!((rough.members, rough.median_error, rough.max_error, rough.pairs), (3, 2e-3, 3e-3, 10.0));
        // 0.1, 0.3, 0.2: mean 0.2, scatter 0.1.
        let Mean { value, error } = rough.differences[0];
        assert!((value - 0.2).abs() < 1e-12 && (error - 0.1 / 3f64.sqrt()).abs() < 1e-12);
        assert_eq!(fine.differences[0], Mean { value: 0.0, error: 0.0 });

        // A scheme without any result has no numbers, and is no reference.
        let none = || (scheme(0.1), vec![None, None]);
        let found = biases(16, &[none(), (scheme(0.001), vec![end(1.0, 1e-9), end(2.0, 3e-9)])]);
        let [without, fine] = &found[..] else { panic!("{found:?}") };
        assert!(!without.is_reference && fine.is_reference && without.members == 0);
        let numbers = [without.median_error, without.max_error, without.pairs, without.differences[0].value];
        assert!(numbers.iter().all(|it| it.is_nan()), "{without:?}");
        assert!(!biases(16, &[none()])[0].is_reference);
    }
}
