//! Operations of the pair arithmetic, so that it is written once for vectors of any unit and for a record of it, of
//! which machine code is made.

use super::real::Real;
use pulp::Simd;

/// What carries out operations on values of the type `R`: a vector unit, or a recorder.
pub trait Operations<R: Real>: Copy {
    /// A number for each lane.
    type Lanes: Copy;
    /// The same number in every lane.
    fn constant(self, x: f64) -> Self::Lanes;
    /// a + b
    fn add(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// a − b
    fn sub(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// a · b
    fn mul(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// a · b + c, rounded once
    fn fma(self, a: Self::Lanes, b: Self::Lanes, c: Self::Lanes) -> Self::Lanes;
    /// c − a · b, rounded once
    fn minus_product(self, a: Self::Lanes, b: Self::Lanes, c: Self::Lanes) -> Self::Lanes;
}

impl<R: Real, S: Simd> Operations<R> for S {
    type Lanes = R::Lanes<S>;
    #[inline(always)]
    fn constant(self, x: f64) -> R::Lanes<S> {
        R::splat(self, R::from_f64(x))
    }
    #[inline(always)]
    fn add(self, a: R::Lanes<S>, b: R::Lanes<S>) -> R::Lanes<S> {
        <R as Real>::add(self, a, b)
    }
    #[inline(always)]
    fn sub(self, a: R::Lanes<S>, b: R::Lanes<S>) -> R::Lanes<S> {
        <R as Real>::sub(self, a, b)
    }
    #[inline(always)]
    fn mul(self, a: R::Lanes<S>, b: R::Lanes<S>) -> R::Lanes<S> {
        <R as Real>::mul(self, a, b)
    }
    #[inline(always)]
    fn fma(self, a: R::Lanes<S>, b: R::Lanes<S>, c: R::Lanes<S>) -> R::Lanes<S> {
        R::fma(self, a, b, c)
    }
    #[inline(always)]
    fn minus_product(self, a: R::Lanes<S>, b: R::Lanes<S>, c: R::Lanes<S>) -> R::Lanes<S> {
        R::minus_product(self, a, b, c)
    }
}
