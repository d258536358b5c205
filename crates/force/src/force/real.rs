//! Real numbers in lanes: the operations that the pair arithmetic of a mode is written in, for any vector unit.

use bytemuck::Pod;
use num_traits::Float;
use pulp::Simd;

/// Real type with vector operations.
pub trait Real: Float + Pod + Send + Sync {
    /// Number of lanes of the widest vector unit: the number of bags that lie interleaved in the engine's memory.
    const WIDTH: usize;
    /// Coordinate of a lane without a source: so far away that with mass 0 it adds exact zeros, near enough that no
    /// square overflows.
    const NOWHERE: f64;
    /// Vector of this type.
    type Lanes<S: Simd>: Copy + Pod;
    /// Boolean for each lane.
    type Mask<S: Simd>: Copy;
    /// Number of bits of a word.
    const WORD_BITS: usize;
    /// Word for each lane.
    type Word<S: Simd>: Copy + Pod;
    /// Returns the number of this type nearest to `x`.
    fn from_f64(x: f64) -> Self;
    /// Returns the number as f64, exactly.
    fn widen(self) -> f64;
    /// Returns x as the sum of two numbers of this type: the nearest, and the one nearest to the remainder.
    fn split(x: f64) -> [Self; 2];
    /// Returns the number in the only lane of a one-lane vector.
    fn single(x: Self::Lanes<pulp::Scalar>) -> Self;
    /// Returns a vector with the same number in every lane.
    fn splat<S: Simd>(simd: S, x: Self) -> Self::Lanes<S>;
    /// a + b
    fn add<S: Simd>(simd: S, a: Self::Lanes<S>, b: Self::Lanes<S>) -> Self::Lanes<S>;
    /// a − b
    fn sub<S: Simd>(simd: S, a: Self::Lanes<S>, b: Self::Lanes<S>) -> Self::Lanes<S>;
    /// a · b
    fn mul<S: Simd>(simd: S, a: Self::Lanes<S>, b: Self::Lanes<S>) -> Self::Lanes<S>;
    /// a / b, correctly rounded
    fn div<S: Simd>(simd: S, a: Self::Lanes<S>, b: Self::Lanes<S>) -> Self::Lanes<S>;
    /// √a, correctly rounded
    fn sqrt_lanes<S: Simd>(simd: S, a: Self::Lanes<S>) -> Self::Lanes<S>;
    /// a · b + c, rounded once
    fn fma<S: Simd>(simd: S, a: Self::Lanes<S>, b: Self::Lanes<S>, c: Self::Lanes<S>) -> Self::Lanes<S>;
    /// c − a · b, rounded once
    fn minus_product<S: Simd>(simd: S, a: Self::Lanes<S>, b: Self::Lanes<S>, c: Self::Lanes<S>) -> Self::Lanes<S>;
    /// a = b
    fn equal<S: Simd>(simd: S, a: Self::Lanes<S>, b: Self::Lanes<S>) -> Self::Mask<S>;
    /// a < b
    fn less<S: Simd>(simd: S, a: Self::Lanes<S>, b: Self::Lanes<S>) -> Self::Mask<S>;
    /// Returns words without bits.
    fn no_word<S: Simd>(simd: S) -> Self::Word<S>;
    /// Sets a bit in the words of the lanes where the mask is set.
    fn mark<S: Simd>(simd: S, mask: Self::Mask<S>, word: Self::Word<S>, bit: usize) -> Self::Word<S>;
    /// Returns the word of a lane.
    fn of_lane<S: Simd>(word: &Self::Word<S>, lane: usize) -> u64;
    /// a ≥ b
    fn at_least<S: Simd>(simd: S, a: Self::Lanes<S>, b: Self::Lanes<S>) -> Self::Mask<S>;
    /// `yes` where the mask is set, `no` elsewhere
    fn select<S: Simd>(simd: S, mask: Self::Mask<S>, yes: Self::Lanes<S>, no: Self::Lanes<S>) -> Self::Lanes<S>;
}

macro_rules! real {
    ($real:ty, $width:literal, $nowhere:literal, $lanes:ident, $mask:ident, $splat:ident, $add:ident, $sub:ident,
     $mul:ident, $div:ident, $sqrt:ident, $fma:ident, $minus_product:ident, $equal:ident, $at_least:ident, $less:ident, $select:ident,
     $words:ident, $bits:ident, $splat_bits:ident, $or:ident, $select_bits:ident) => {
        impl Real for $real {
            const WIDTH: usize = $width;
            const NOWHERE: f64 = $nowhere;
            type Lanes<S: Simd> = S::$lanes;
            type Mask<S: Simd> = S::$mask;
            const WORD_BITS: usize = <$bits>::BITS as usize;
            type Word<S: Simd> = S::$words;
            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                x as Self
            }
            #[inline(always)]
            #[allow(clippy::unnecessary_cast, reason = "one of the two types is f64")]
            fn widen(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn split(x: f64) -> [Self; 2] {
                let high = x as Self;
                [high, (x - high as f64) as Self]
            }
            #[inline(always)]
            fn single(x: Self) -> Self {
                x
            }
            #[inline(always)]
            fn splat<S: Simd>(simd: S, x: Self) -> S::$lanes {
                simd.$splat(x)
            }
            #[inline(always)]
            fn add<S: Simd>(simd: S, a: S::$lanes, b: S::$lanes) -> S::$lanes {
                simd.$add(a, b)
            }
            #[inline(always)]
            fn sub<S: Simd>(simd: S, a: S::$lanes, b: S::$lanes) -> S::$lanes {
                simd.$sub(a, b)
            }
            #[inline(always)]
            fn mul<S: Simd>(simd: S, a: S::$lanes, b: S::$lanes) -> S::$lanes {
                simd.$mul(a, b)
            }
            #[inline(always)]
            fn div<S: Simd>(simd: S, a: S::$lanes, b: S::$lanes) -> S::$lanes {
                simd.$div(a, b)
            }
            #[inline(always)]
            fn sqrt_lanes<S: Simd>(simd: S, a: S::$lanes) -> S::$lanes {
                simd.$sqrt(a)
            }
            #[inline(always)]
            fn fma<S: Simd>(simd: S, a: S::$lanes, b: S::$lanes, c: S::$lanes) -> S::$lanes {
                simd.$fma(a, b, c)
            }
            #[inline(always)]
            fn minus_product<S: Simd>(simd: S, a: S::$lanes, b: S::$lanes, c: S::$lanes) -> S::$lanes {
                simd.$minus_product(a, b, c)
            }
            #[inline(always)]
            fn equal<S: Simd>(simd: S, a: S::$lanes, b: S::$lanes) -> S::$mask {
                simd.$equal(a, b)
            }
            #[inline(always)]
            fn less<S: Simd>(simd: S, a: S::$lanes, b: S::$lanes) -> S::$mask {
                simd.$less(a, b)
            }
            #[inline(always)]
            fn no_word<S: Simd>(simd: S) -> S::$words {
                simd.$splat_bits(0)
            }
            #[inline(always)]
            fn mark<S: Simd>(simd: S, mask: S::$mask, word: S::$words, bit: usize) -> S::$words {
                simd.$select_bits(mask, simd.$or(word, simd.$splat_bits(1 << bit)), word)
            }
            #[inline(always)]
            fn of_lane<S: Simd>(word: &S::$words, lane: usize) -> u64 {
                u64::from(bytemuck::cast_slice::<_, $bits>(std::slice::from_ref(word))[lane])
            }
            #[inline(always)]
            fn at_least<S: Simd>(simd: S, a: S::$lanes, b: S::$lanes) -> S::$mask {
                simd.$at_least(a, b)
            }
            #[inline(always)]
            fn select<S: Simd>(simd: S, mask: S::$mask, yes: S::$lanes, no: S::$lanes) -> S::$lanes {
                simd.$select(mask, yes, no)
            }
        }
    };
}

real!(
    f64,
    8,
    1e150,
    f64s,
    m64s,
    splat_f64s,
    add_f64s,
    sub_f64s,
    mul_f64s,
    div_f64s,
    sqrt_f64s,
    mul_add_f64s,
    negate_mul_add_f64s,
    equal_f64s,
    greater_than_or_equal_f64s,
    less_than_f64s,
    select_f64s,
    u64s,
    u64,
    splat_u64s,
    or_u64s,
    select_u64s
);
real!(
    f32,
    16,
    1e15,
    f32s,
    m32s,
    splat_f32s,
    add_f32s,
    sub_f32s,
    mul_f32s,
    div_f32s,
    sqrt_f32s,
    mul_add_f32s,
    negate_mul_add_f32s,
    equal_f32s,
    greater_than_or_equal_f32s,
    less_than_f32s,
    select_f32s,
    u32s,
    u32,
    splat_u32s,
    or_u32s,
    select_u32s
);
