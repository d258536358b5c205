//! What stands for machine code of laws in a build without it: there is none, and programs are gone through operation by
//! operation.

use super::bag::Bag;
use super::pair::{Lanes, Sums};
use crate::force::mode::{Mode, V};
use crate::law::Program;
use pulp::Simd;
use std::marker::PhantomData;
use std::ops::Range;

/// Machine code of a law: none.
#[derive(Default)]
pub struct LawCode(());

/// Lanes and the bag that they go through, with what a law reads of them.
#[allow(dead_code, reason = "machine code alone reads them here")]
pub struct LanesWithBag<'a, M: Mode, S: Simd> {
    pub target: &'a Lanes<M, S>,
    pub bag: &'a Bag<'a, M, S>,
    pub of_targets: &'a [V<M, S>],
    pub columns: &'a [Vec<M::Real>],
}

/// Machine code of the pairs: none.
pub struct CompiledPairs<'a>(PhantomData<&'a LawCode>);

impl<'a> CompiledPairs<'a> {
    /// Number of sources of which it takes a multiple.
    pub const TURN: usize = 1;

    /// Makes nothing.
    #[allow(clippy::extra_unused_type_parameters, reason = "as of machine code")]
    pub fn new<M: Mode, const K: usize>(_: &'a LawCode, _: &Program, _: usize, _: bool) -> Self {
        Self(PhantomData)
    }

    /// Notes that the targets are others.
    #[inline(always)]
    pub fn forget_targets(&mut self) {}

    /// Returns false: no pair was added.
    #[inline(always)]
    pub fn run<M: Mode, S: Simd, const K: usize, const OVER_BAGS: bool>(
        &mut self,
        _: S,
        _: LanesWithBag<'_, M, S>,
        _: Range<usize>,
        _: &mut Sums<M, S, K>,
    ) -> bool {
        false
    }
}
