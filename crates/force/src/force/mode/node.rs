//! Partial sums over bags: what the canonical tree adds up, one node at a time or the nodes of all lanes of a vector.

/// Value that the tree over bags adds up.
pub trait Sum: Copy + Send + Sync {
    /// Returns the empty sum.
    #[must_use]
    fn zero() -> Self;
    /// Returns the sum of two values.
    #[must_use]
    fn plus(&self, other: &Self) -> Self;
}

/// Partial sum over bags.
pub trait Node: Sum {
    /// Nodes of `K` sums in [`MAX_LANES`] lanes, stored part by part.
    type Parts<const K: usize>: Copy + Send + Sync;
    /// Returns the parts of empty sums.
    fn no_parts<const K: usize>() -> Self::Parts<K>;
    /// Returns node `k`.
    fn get<const K: usize>(parts: &Self::Parts<K>, k: usize) -> Self;
    /// Stores the node at `k`.
    fn put<const K: usize>(self, parts: &mut Self::Parts<K>, k: usize);
    /// Returns the value as f64, exactly.
    fn value(&self) -> f64;
}

/// Largest number of lanes of any vector unit and mode.
pub const MAX_LANES: usize = 16;
/// Numbers of `K` sums in each lane.
type Numbers<R, const K: usize> = [[R; MAX_LANES]; K];

/// Nodes of `K` sums in the lanes of a vector. Their parts lie apart, each kind in one run, so that the compiler makes
/// vector code of a loop over them. Of nested loops over lanes and sums it made gathers and scatters.
#[derive(Clone, Copy)]
pub struct NodeRow<N: Node, const K: usize>(N::Parts<K>);

impl<N: Node, const K: usize> NodeRow<N, K> {
    /// Returns node `k`.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, k: usize) -> N {
        N::get(&self.0, k)
    }

    /// Stores a node at `k`.
    #[inline(always)]
    pub fn put(&mut self, k: usize, node: N) {
        node.put(&mut self.0, k);
    }
}

impl<N: Node, const K: usize> Sum for NodeRow<N, K> {
    #[inline(always)]
    fn zero() -> Self {
        Self(N::no_parts())
    }
    #[inline(always)]
    fn plus(&self, other: &Self) -> Self {
        let mut sum = Self::zero();
        for k in 0..K * MAX_LANES {
            sum.put(k, self.get(k).plus(&other.get(k)));
        }
        sum
    }
}

macro_rules! plain_node {
    ($real:ty) => {
        impl Sum for $real {
            #[inline(always)]
            fn zero() -> Self {
                0.0
            }
            #[inline(always)]
            fn plus(&self, other: &Self) -> Self {
                self + other
            }
        }

        impl Node for $real {
            type Parts<const K: usize> = Numbers<$real, K>;
            #[inline(always)]
            fn no_parts<const K: usize>() -> Self::Parts<K> {
                [[0.0; MAX_LANES]; K]
            }
            #[inline(always)]
            fn get<const K: usize>(parts: &Self::Parts<K>, k: usize) -> Self {
                parts.as_flattened()[k]
            }
            #[inline(always)]
            fn put<const K: usize>(self, parts: &mut Self::Parts<K>, k: usize) {
                parts.as_flattened_mut()[k] = self;
            }
            #[inline(always)]
            fn value(&self) -> f64 {
                f64::from(*self)
            }
        }
    };
}

plain_node!(f32);
plain_node!(f64);

/// Number as the unevaluated sum of two f32, |lo| ≤ ½ ulp(hi).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Twofold {
    hi: f32,
    lo: f32,
}

impl Twofold {
    /// Returns `hi + lo`, normalised (Dekker 1971, fast two-sum; needs |hi| ≥ |lo|). Adding zero to a normalised number
    /// is exact.
    #[inline(always)]
    pub(super) fn normalised(hi: f32, lo: f32) -> Self {
        let sum = hi + lo;
        Self { hi: sum, lo: lo - (sum - hi) }
    }
}

impl Sum for Twofold {
    #[inline(always)]
    fn zero() -> Self {
        Self::default()
    }
    /// Two-sum of the high parts (Knuth 1969, §4.2.2), low parts added to its error.
    #[inline(always)]
    fn plus(&self, other: &Self) -> Self {
        let sum = self.hi + other.hi;
        let part = sum - self.hi;
        let error = (self.hi - (sum - part)) + (other.hi - part);
        Self::normalised(sum, error + (self.lo + other.lo))
    }
}

impl Node for Twofold {
    type Parts<const K: usize> = [Numbers<f32, K>; 2];
    #[inline(always)]
    fn no_parts<const K: usize>() -> Self::Parts<K> {
        [[[0.0; MAX_LANES]; K]; 2]
    }
    #[inline(always)]
    fn get<const K: usize>([hi, lo]: &Self::Parts<K>, k: usize) -> Self {
        Self { hi: hi.as_flattened()[k], lo: lo.as_flattened()[k] }
    }
    #[inline(always)]
    fn put<const K: usize>(self, [hi, lo]: &mut Self::Parts<K>, k: usize) {
        (hi.as_flattened_mut()[k], lo.as_flattened_mut()[k]) = (self.hi, self.lo);
    }
    #[inline(always)]
    fn value(&self) -> f64 {
        f64::from(self.hi) + f64::from(self.lo)
    }
}

/// Sums of several nodes, all in the same place of the tree.
impl<N: Sum, const K: usize> Sum for [N; K] {
    #[inline(always)]
    fn zero() -> Self {
        [N::zero(); K]
    }
    #[inline(always)]
    fn plus(&self, other: &Self) -> Self {
        let mut sum = *self;
        for k in 0..K {
            sum[k] = self[k].plus(&other[k]);
        }
        sum
    }
}
