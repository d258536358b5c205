//! Work item with a law in place of Newton's.

use super::inverse_sqrt::Fma;
use super::lanes::Item;
use super::law::LawSources;
use super::law_pairs::LawPairs;
use crate::force::mode::Mode;
use pulp::{Simd, WithSimd};

/// Work item with a law.
pub struct LawItem<'a, M: Mode, const K: usize, const FAR: bool> {
    pub item: Item<'a, M, K, FAR>,
    pub law: &'a LawSources<M>,
}

impl<M: Mode, const K: usize, const FAR: bool> WithSimd for LawItem<'_, M, K, FAR> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let estimates = Fma::computes::<M::Real, S>() && self.item.divide_on.is_some();
        self.item.sum(simd, LawPairs::new::<K>(simd, self.law, estimates));
    }
}
