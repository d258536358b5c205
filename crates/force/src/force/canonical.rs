//! The canonical sum: one order of summation for every engine, number of threads and vector width (method.md).
//!
//! The sources are divided into *bags* of [`BAG`] consecutive indices. Inside a bag they are summed in order. Over bags
//! the sum is the aligned pairwise tree: node(0, k) is the sum of bag k, node(l, k) = node(l−1, 2k) + node(l−1, 2k+1),
//! and a right child that does not exist is left out. So the result depends on N and [`BAG`] alone.

use super::mode::Sum;

/// Number of sources in a bag.
pub const BAG: usize = 64;

/// Returns the number of bags of `n` sources.
#[must_use]
pub const fn bags(n: usize) -> usize {
    n.div_ceil(BAG)
}

/// Sum of tree nodes that arrive in order, like a binary counter: at most one partial node a level is kept, in `DEPTH`
/// entries.
#[derive(Clone, Copy, Debug)]
pub struct TreeSum<N, const DEPTH: usize> {
    nodes: [N; DEPTH],
    /// Level of the node in each entry of the stack; levels fall towards the top.
    levels: [u8; DEPTH],
    len: usize,
}

impl<N: Sum, const DEPTH: usize> Default for TreeSum<N, DEPTH> {
    fn default() -> Self {
        Self { nodes: [N::zero(); DEPTH], levels: [0; DEPTH], len: 0 }
    }
}

impl<N: Sum, const DEPTH: usize> TreeSum<N, DEPTH> {
    /// Removes all nodes.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds the next node of `level`; neighbours of the same level merge at once.
    #[inline(always)]
    pub fn push(&mut self, mut level: u8, mut node: N) {
        while self.len > 0 && self.levels[self.len - 1] == level {
            self.len -= 1;
            node = self.nodes[self.len].plus(&node);
            level += 1;
        }
        self.nodes[self.len] = node;
        self.levels[self.len] = level;
        self.len += 1;
    }

    /// Returns the root over all nodes; the remaining ones merge from the right, missing children left out.
    #[inline(always)]
    #[must_use]
    pub fn root(&self) -> N {
        let Some((last, rest)) = self.nodes[..self.len].split_last() else { return N::zero() };
        // No closure: see the comment in `cpu::lanes`.
        let mut root = *last;
        for left in rest.iter().rev() {
            root = left.plus(&root);
        }
        root
    }
}

/// Depth of a [`TreeSum`] over single bags that suffices for any number of u32-indexed sources.
pub const FULL_DEPTH: usize = 28;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the definition, written as recursion.
    fn node(bags: &[f64], level: u32, k: usize) -> Option<f64> {
        if level == 0 {
            return bags.get(k).copied();
        }
        match (node(bags, level - 1, 2 * k), node(bags, level - 1, 2 * k + 1)) {
            (Some(left), Some(right)) => Some(left + right),
            (left, _) => left,
        }
    }

    proptest! {
        #[test]
        fn the_counter_is_the_tree(values in prop::collection::vec(-1e3..1e3f64, 1..200)) {
            let mut sum = TreeSum::<f64, FULL_DEPTH>::default();
            values.iter().for_each(|&x| sum.push(0, x));
            prop_assert_eq!(sum.root().to_bits(), node(&values, 8, 0).unwrap().to_bits());
        }

        #[test]
        fn aligned_subtrees_are_independent(values in prop::collection::vec(-1e3..1e3f64, 1..200), level in 0u8..5) {
            let mut whole = TreeSum::<f64, FULL_DEPTH>::default();
            values.iter().for_each(|&x| whole.push(0, x));
            let mut parts = TreeSum::<f64, FULL_DEPTH>::default();
            for chunk in values.chunks(1 << level) {
                let mut part = TreeSum::<f64, FULL_DEPTH>::default();
                chunk.iter().for_each(|&x| part.push(0, x));
                parts.push(level, part.root());
            }
            prop_assert_eq!(parts.root().to_bits(), whole.root().to_bits());
        }
    }
}
