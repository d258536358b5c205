//! Neighbours in a bag, noted while its sources are added.

use crate::force::canonical::BAG;
use crate::force::mode::Mode;
use crate::force::real::Real;
use pulp::Simd;

/// Word for each lane.
pub type Word<M, S> = <<M as Mode>::Real as Real>::Word<S>;

/// Bits of the neighbours in a bag, in each lane, by their places: one word after the other.
pub struct Near<M: Mode, S: Simd>(pub [Word<M, S>; 2]);

impl<M: Mode, S: Simd> Near<M, S> {
    /// Returns no bits.
    #[inline(always)]
    pub fn none(simd: S) -> Self {
        Self([M::Real::no_word(simd); 2])
    }

    /// Returns the bits of a lane.
    #[inline(always)]
    pub fn of_lane(&self, lane: usize) -> u64 {
        let bits = M::Real::WORD_BITS;
        let word = |k: usize| M::Real::of_lane(&self.0[k], lane) << (k * bits);
        (0..BAG / bits).fold(0, |all, k| all | word(k))
    }
}
