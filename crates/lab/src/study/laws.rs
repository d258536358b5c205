//! How rounding grows in the sums of the precision modes: laws to hold the measurements against.
//!
//! **One rounding.** u = 2⁻²⁴ is half a unit in the last place of an f32 at 1. For mantissas m spread evenly in their
//! logarithm over 1 … 2, a rounding error is spread evenly over ±u/m in proportion to the number, so that its root mean
//! square is δ = u √(⅓ ⟨m⁻²⟩) = u √(1 / (8 ln 2)) ≈ 0.425 u.
//!
//! **A running sum** of N terms of one sign and like size, in any order that knows nothing of their size: after k terms
//! the sum is about k/N of the whole S, and each addition rounds it. Roundings are independent, so their squares add
//! up: Σ δ² (k/N)² S² = δ² S² N/3, and the relative error is δ √(N/3). (Robertazzi & Schwartz 1988, ACM Trans. Math.
//! Softw. 14, 101, find the same power for sums of positive terms; the worst case, N u, is in Higham 1993, SIAM J. Sci.
//! Comput. 14, 783.)
//!
//! **Bags.** A bag of b terms is a running sum for itself, with the error δ √(b/3) in proportion to the bag's sum S
//! b/N. There are N/b bags with independent errors: together δ S √(N/b) √(b/3) b/N = δ S b/√(3N). In bags the error
//! *falls* with N.
//!
//! **Over bags** the modes differ. In order, in f32 (Chamomile): a running sum of N/b terms, δ √(N/(3b)). In a tree of
//! f32: level l has nodes of 2^l b terms, whose roundings together are δ S √(2^l b/N); the levels sum to at most δ √2,
//! whatever N (the worst case is u log₂(N/b)). In f64 or in pairs of f32: nothing that counts.
//!
//! **The pairs.** Each term m/s comes with its own error: half that of s², the root's and the quotient's, δ √(¼ + 1 +
//! 1) = 1.5 δ. Together they make 1.5 δ/√N.
//!
//! All this holds for the potential, whose terms have one sign. Accelerations and jerks cancel, which multiplies their
//! relative errors by a number that depends on where a particle is, and not on the mode.
//!
//! **What no sum can mend.** Modes that round positions to one f32 move each particle by up to half a unit in the last
//! place. In the split modes the difference of the high parts is rounded, and for one target in the same way against
//! all sources of like coordinates: that too acts like a shift of the target. Both end the fall with N, at some tenths
//! of δ in the potential; only measurement says where.

use tisane::force::mode::{Arithmetic, Order};
use tisane::force::precision::Precision;

/// Root mean square of a rounding error of an f32, in proportion to the number: 2⁻²⁴ / √(8 ln 2).
pub const DELTA: f64 = 5.960_464_477_539_063e-8 * 0.424_660_900_144_009_5;
/// Error of one m/s in the unit of [`DELTA`].
const PAIR: f64 = 1.5;

/// A running sum of `n` terms.
#[must_use]
pub fn running(n: f64) -> f64 {
    DELTA * (n / 3.0).sqrt()
}

/// All bags of `bag` terms, among `n`, each a running sum; what comes over them left out.
#[must_use]
pub fn in_bags(n: f64, bag: f64) -> f64 {
    DELTA * bag.min(n) / (3.0 * n).sqrt()
}

/// Root mean square of the relative error of the potential of a particle among `n`, in bags of `bag`; [`None`] for
/// modes whose error is that of positions, and for f64.
#[must_use]
pub fn potential(mode: Precision, n: f64, bag: f64) -> Option<f64> {
    let pairs = PAIR * DELTA / n.sqrt();
    // Compensated sums, and those in f64, add nothing that shows.
    let Arithmetic { real_bytes: 4, parts: 1, order, .. } = mode.arithmetic() else { return None };
    let sums = match order {
        Order::Running => running(n),
        Order::InOrder => running(n / bag).hypot(in_bags(n, bag)),
        Order::Tree => in_bags(n, bag),
    };
    Some(sums.hypot(pairs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn delta_is_what_roundings_show() {
        assert!((DELTA - 2f64.powi(-24) / (8.0 * 2f64.ln()).sqrt()).abs() < 1e-20);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let squares: f64 = (0..100_000)
            .map(|_| {
                let x = 2f64.powf(rng.random_range(0.0..1.0));
                ((f64::from(x as f32) - x) / x).powi(2)
            })
            .sum();
        let found = (squares / 1e5).sqrt();
        assert!((found / DELTA - 1.0).abs() < 0.01, "{found} and {DELTA}");
    }

    /// Root mean square of the relative error of sums of positive f32.
    fn error_of_sums(n: usize, sum: impl Fn(&[f32]) -> f64) -> f64 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let trials = 600;
        let squares = (0..trials).map(|_| {
            let terms: Vec<f32> = (0..n).map(|_| rng.random_range(0.5..1.5)).collect();
            let exact: f64 = terms.iter().map(|&x| f64::from(x)).sum();
            ((sum(&terms) - exact) / exact).powi(2)
        });
        (squares.sum::<f64>() / f64::from(trials)).sqrt()
    }

    #[test]
    fn plain_sums_follow_the_laws() {
        let bag = |terms: &[f32]| terms.iter().sum::<f32>();
        for size in [300, 3000, 30_000] {
            let n = size as f64;
            let near = |what: &str, found: f64, law: f64| {
                assert!((0.75..1.33).contains(&(found / law)), "{what}, {n} terms: {found} and {law}");
            };
            near("running sum", error_of_sums(size, |terms| f64::from(bag(terms))), running(n));
            let wide = |terms: &[f32]| terms.chunks(64).map(|terms| f64::from(bag(terms))).sum();
            near("wide totals", error_of_sums(size, wide), in_bags(n, 64.0));
            let in_order = |terms: &[f32]| f64::from(terms.chunks(64).map(bag).sum::<f32>());
            near("in order", error_of_sums(size, in_order), running(n / 64.0).hypot(in_bags(n, 64.0)));
        }
    }
}
