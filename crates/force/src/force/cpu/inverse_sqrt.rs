//! 1/√x in lanes, in two forms with the same bits.

use crate::force::operations::Operations;
use crate::force::real::Real;
use bytemuck::cast;
use pulp::Simd;
use pulp::x86::V4;
use std::arch::x86_64::{__m512d, _MM_FROUND_NO_EXC, _MM_FROUND_TO_POS_INF};
use std::mem::size_of;

/// Form of 1/√x.
pub trait InverseSqrt: Copy {
    /// Flag that the result is NaN where x is 0 or ∞, instead of ∞ or 0.
    const PARTIAL: bool;
    /// Number of sources whose 1/√x is begun before the products of an earlier one are added to the sums, in a mode
    /// whose positions are `split` or not: as many as were fastest.
    fn ahead<S: Simd>(split: bool) -> usize;
    /// Returns 1/√x with the bits of a square root and a division, each correctly rounded.
    fn inverse_sqrt<R: Real, S: Simd>(self, simd: S, x: R::Lanes<S>) -> R::Lanes<S>;
    /// Returns true if a lane is NaN.
    fn any_nan<R: Real, S: Simd>(self, x: R::Lanes<S>) -> bool;
}

/// Square root and division by the machine's instructions.
#[derive(Clone, Copy)]
pub struct Ieee;

impl InverseSqrt for Ieee {
    const PARTIAL: bool = false;

    /// Three fill the 32 registers of AVX-512. Other units have 16, and split positions take more of them.
    #[inline(always)]
    fn ahead<S: Simd>(split: bool) -> usize {
        match size_of::<S::f64s>() {
            64 => 3,
            32 if split => 1,
            32 => 2,
            _ => 0,
        }
    }

    #[inline(always)]
    fn inverse_sqrt<R: Real, S: Simd>(self, simd: S, x: R::Lanes<S>) -> R::Lanes<S> {
        <R as Real>::div(simd, R::splat(simd, R::one()), R::sqrt_lanes(simd, x))
    }

    #[inline(always)]
    fn any_nan<R: Real, S: Simd>(self, _: R::Lanes<S>) -> bool {
        false
    }
}

/// Square root by the machine's instruction and division by fused multiply-adds, in f64 on AVX-512. An Intel core has
/// one unit for roots and divisions, which is busy for 18 + 16 cycles with those of eight pairs, while the rest takes
/// 14 cycles of its two units for multiply-adds.
#[derive(Clone, Copy)]
pub struct Fma(pub V4);

impl Fma {
    /// Returns true if vectors of this type on these units are those of [`Fma`].
    pub const fn computes<R: Real, S: Simd>() -> bool {
        size_of::<R>() == size_of::<f64>() && size_of::<R::Lanes<S>>() == size_of::<__m512d>()
    }
}

/// What [`reciprocal`] needs beside the other operations.
pub trait Estimates: Operations<f64> {
    /// Returns an estimate of 1/√x to 2⁻¹⁴.
    fn estimate(self, x: Self::Lanes) -> Self::Lanes;
    /// a · b + c, rounded up once
    fn fma_up(self, a: Self::Lanes, b: Self::Lanes, c: Self::Lanes) -> Self::Lanes;
}

impl Estimates for V4 {
    #[inline(always)]
    fn estimate(self, x: Self::Lanes) -> Self::Lanes {
        cast(self.avx512f._mm512_rsqrt14_pd(cast(x)))
    }
    #[inline(always)]
    fn fma_up(self, a: Self::Lanes, b: Self::Lanes, c: Self::Lanes) -> Self::Lanes {
        const UP: i32 = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
        cast(self.avx512f._mm512_fmadd_round_pd::<UP>(cast(a), cast(b), cast(c)))
    }
}

/// Returns 1/s, correctly rounded, for s other than 0 and ∞ and an estimate y₀ of it, to 2⁻¹⁴.
///
/// Let e = 1 − s y₀. A step of third order,
/// y = y₀ + y₀ (e + e² + e³), rounded up, is within an ulp of 1/s. Then d = 1 − s y is exact, and q = y + y d lies
/// at (1/s)(1 − d²) before it is rounded, for every machine's y₀. That rounds as 1/s does unless a midpoint of two
/// numbers is between the two, so only where 1/s is less than 4 · 2⁻¹⁰⁶ above a midpoint. There y is the number above
/// 1/s, half an ulp away, and d² < 2⁻¹⁰⁶, while no 1/s is as near to a midpoint as 2⁻¹⁰⁶. To round y up matters for
/// s = 2 − 2⁻⁵², the exception of Markstein's theorem (1990). Neighbouring forms, such as y rounded to nearest, fail
/// for a few values of s that random numbers do not find: the tests have a list of them.
#[inline(always)]
pub fn reciprocal<E: Estimates>(unit: E, s: E::Lanes, y0: E::Lanes) -> E::Lanes {
    let one = unit.constant(1.0);
    let e = unit.minus_product(s, y0, one);
    let p = unit.fma(e, unit.fma(e, e, e), e);
    let y = unit.fma_up(y0, p, y0);
    let d = unit.minus_product(s, y, one);
    unit.fma(d, y, y)
}

impl InverseSqrt for Fma {
    const PARTIAL: bool = true;

    #[inline(always)]
    fn ahead<S: Simd>(_: bool) -> usize {
        4
    }

    #[inline(always)]
    fn inverse_sqrt<R: Real, S: Simd>(self, simd: S, x: R::Lanes<S>) -> R::Lanes<S> {
        // The estimate does not wait for the root.
        let estimate = self.0.estimate(cast(x));
        cast(reciprocal(self.0, cast(R::sqrt_lanes(simd, x)), estimate))
    }

    #[inline(always)]
    fn any_nan<R: Real, S: Simd>(self, x: R::Lanes<S>) -> bool {
        self.0.avx512f._mm512_cmpunord_pd_mask(cast(x), cast(x)) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::array::from_fn;

    /// Values of s in [1, 2) as their 53 bits, such that 1/s lies within 64 · 2⁻¹⁰⁶ above or 16 · 2⁻¹⁰⁶ below a midpoint
    /// of two numbers, relative to it: all divisors of 2¹⁰⁶ − k, for −16 ≤ k ≤ 64, of which the cofactor is an odd number
    /// of 54 bits.
    const HARD: &str = include_str!("hard_roots.txt");
    /// Number of values tried at each end of a binade.
    const ENDS: u64 = 4096;
    const LANES: usize = 8;

    /// The hard values of s and both ends of the binade, in [1, 2).
    fn roots() -> Vec<f64> {
        let hard = HARD.split_whitespace().map(|word| u64::from_str_radix(word, 16).unwrap());
        let bits = hard.chain((0..ENDS).flat_map(|k| [(1 << 52) + k, (1 << 53) - 1 - k]));
        bits.map(|bits| bits as f64 / (1u64 << 52) as f64).collect()
    }

    /// Calls `test` with eight values at a time, the last of them repeated.
    fn in_vectors(values: &[f64], mut test: impl FnMut([f64; LANES])) {
        for eight in values.chunks(LANES) {
            test(from_fn(|k| eight[k.min(eight.len() - 1)]));
        }
    }

    struct Compute(V4, [f64; LANES]);

    impl pulp::WithSimd for Compute {
        type Output = [f64; LANES];
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> [f64; LANES] {
            let x = bytemuck::pod_read_unaligned(bytemuck::cast_slice(&self.1));
            let y: S::f64s = Fma(self.0).inverse_sqrt::<f64, S>(simd, x);
            bytemuck::pod_read_unaligned(bytemuck::bytes_of(&y))
        }
    }

    /// Compares 1/√x with the two IEEE operations.
    fn check(unit: V4, values: &[f64]) {
        in_vectors(values, |x| {
            let found = Simd::vectorize(unit, Compute(unit, x));
            for (x, found) in x.into_iter().zip(found) {
                let expected = 1.0 / x.sqrt();
                assert_eq!(found.to_bits(), expected.to_bits(), "1/√{x:e} ({:#x})", x.to_bits());
            }
        });
    }

    fn unit() -> Option<V4> {
        let found = V4::try_new();
        if found.is_none() {
            eprintln!("SKIPPED: this machine has no avx512");
        }
        found
    }

    #[test]
    fn hard_values_have_the_bits_of_root_and_division() {
        let Some(unit) = unit() else { return };
        let mut values = Vec::new();
        for s in roots() {
            // All x whose root is s, and some more.
            let middle = (s * s).to_bits();
            values.extend((middle - 3..=middle + 3).map(f64::from_bits));
        }
        for exponent in [-1022, -1000, -300, -2, 0, 2, 300, 1020] {
            let scale = 2f64.powi(exponent);
            check(unit, &values.iter().map(|x| x * scale).collect::<Vec<_>>());
        }
    }

    #[test]
    fn denormal_and_extreme_distances_have_the_bits_of_root_and_division() {
        let Some(unit) = unit() else { return };
        let denormal = (0..52).flat_map(|k| [1u64 << k, (1 << k) + 1, (1 << 52) - (1 << k)]);
        let large = (1..100).map(|k| f64::MAX.to_bits() - k * k * k);
        check(unit, &denormal.chain(large).chain([f64::MAX.to_bits()]).map(f64::from_bits).collect::<Vec<_>>());
        let odd = Simd::vectorize(unit, Compute(unit, [0.0, f64::INFINITY, f64::NAN, 0.0, 1.0, 1.0, 1.0, 1.0]));
        assert!(odd[..4].iter().all(|y| y.is_nan()) && odd[4..] == [1.0; 4], "{odd:?}");
    }

    /// Estimates from all over the range that the instruction may give: other processors have other ones. A form that
    /// rounds to nearest fails here, and with few values of s: the list is as sharp as it has to be.
    #[test]
    fn any_estimate_gives_the_quotient() {
        let Some(unit) = unit() else { return };
        let mut wrong_to_nearest = Vec::new();
        for s in roots() {
            for k in -20i32..=20 {
                let y0 = (1.0 + f64::from(k) / 20.0 * 2f64.powi(-14)) / s;
                let found: [f64; LANES] = cast(Simd::vectorize(unit, Reciprocal(unit, s, y0)));
                assert_eq!(found[0].to_bits(), (1.0 / s).to_bits(), "1/{s:e} from {y0:e}");
                if to_nearest(s, y0) != 1.0 / s {
                    wrong_to_nearest.push(s);
                }
            }
        }
        wrong_to_nearest.dedup();
        assert!((1..20).contains(&wrong_to_nearest.len()), "{wrong_to_nearest:?}");
    }

    struct Reciprocal(V4, f64, f64);

    impl pulp::WithSimd for Reciprocal {
        type Output = __m512d;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> __m512d {
            let splat = |x: f64| cast([x; LANES]);
            cast(reciprocal(self.0, splat(self.1), splat(self.2)))
        }
    }

    /// [`reciprocal`] with y rounded to nearest.
    fn to_nearest(s: f64, y0: f64) -> f64 {
        let e = (-s).mul_add(y0, 1.0);
        let p = e.mul_add(e.mul_add(e, e), e);
        let y = y0.mul_add(p, y0);
        (-s).mul_add(y, 1.0).mul_add(y, y)
    }
}
