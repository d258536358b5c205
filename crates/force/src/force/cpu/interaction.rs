//! What computes the pairs of a bag: Newton's law, built in, or a [law](super::law) of the user.

use super::bag::Bag;
use super::inverse_sqrt::InverseSqrt;
use super::near::Near;
use super::pair::{Lanes, Sums, add_bag};
use crate::force::mode::{MAX_LANES, Mode};
use pulp::Simd;

/// Computation of the pairs of the targets in the lanes with the sources of a bag.
pub trait Interaction<M: Mode, S: Simd, const K: usize, const FAR: bool> {
    /// Flag that a place without a source must be masked: it would change the sums.
    const MASKS_PLACES: bool;

    /// Takes the particles in the lanes, for what the law reads of a target.
    fn take_targets(&mut self, particles: &[u32; MAX_LANES]);

    /// Adds the sources of a bag to the sums. With `FAR` the neighbours of a target are left out, and returned.
    fn add_bag<const OVER_BAGS: bool>(
        &mut self,
        simd: S,
        target: &Lanes<M, S>,
        bag: &Bag<'_, M, S>,
        sums: &mut Sums<M, S, K>,
    ) -> Near<M, S>;
}

/// Newton's law, with a form of 1/√x.
pub struct Newton<D>(pub D);

impl<M: Mode, S: Simd, D: InverseSqrt, const K: usize, const FAR: bool> Interaction<M, S, K, FAR> for Newton<D> {
    // A place without a source has mass 0 and adds exact zeros.
    const MASKS_PLACES: bool = M::ZERO_COUNTS;

    #[inline(always)]
    fn take_targets(&mut self, _: &[u32; MAX_LANES]) {}

    #[inline(always)]
    fn add_bag<const OVER_BAGS: bool>(
        &mut self,
        simd: S,
        target: &Lanes<M, S>,
        bag: &Bag<'_, M, S>,
        sums: &mut Sums<M, S, K>,
    ) -> Near<M, S> {
        add_bag::<M, S, D, K, OVER_BAGS, FAR>((simd, self.0), target, bag, sums)
    }
}
