//! Elementary functions of the laws: fixed sequences of IEEE operations and of operations on bits, so that they have the
//! same bits in one lane and in many, on a CPU and on a GPU.
//!
//! They have no branches and no tables: a loop over them becomes vector code. In f64 their errors are below 1 unit in the
//! last place (ulp): 0.53 for [`exp`], 0.52 for [`log`], 0.7 for [`sin`], [`cos`] and [`pow`] at most. In f32 [`exp`], which
//! many laws have, has operations in f32 alone and an error below 1 ulp; the others are those in f64, rounded. The polynomials are the Taylor series, long enough for the intervals that arguments are reduced to.

mod exponential;
mod trigonometric;

use crate::force::real::Real;

/// Returns eˣ: in f64 0 below −745.2 and ∞ above 709.8, in f32 0 below −104 and ∞ above 88.8.
#[inline(always)]
pub fn exp<R: Real>(x: R) -> R {
    if size_of::<R>() == size_of::<f32>() {
        let value: f32 = exponential::exp_f32(bytemuck::cast(x));
        bytemuck::cast(value)
    } else {
        R::from_f64(exponential::exp(x.widen()))
    }
}

/// Returns the natural logarithm of x: −∞ at 0, NaN below.
#[inline(always)]
pub fn log<R: Real>(x: R) -> R {
    R::from_f64(exponential::log(x.widen()))
}

/// Returns sin x for |x| ≤ 2⁴⁰, where numbers lie 2⁻¹² apart, and NaN beyond: the phase would be noise.
#[inline(always)]
pub fn sin<R: Real>(x: R) -> R {
    R::from_f64(trigonometric::sin(x.widen()))
}

/// Returns cos x for |x| ≤ 2⁴⁰, and NaN beyond, as [`sin`].
#[inline(always)]
pub fn cos<R: Real>(x: R) -> R {
    R::from_f64(trigonometric::cos(x.widen()))
}

/// Returns xʸ, with the special values of C's `pow`: of a negative x NaN unless y is a whole number.
#[inline(always)]
pub fn pow<R: Real>(x: R, y: R) -> R {
    R::from_f64(exponential::pow(x.widen(), y.widen()))
}

#[cfg(test)]
mod tests;
