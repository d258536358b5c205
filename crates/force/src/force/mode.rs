//! The precision modes as types: the numbers ([`Real`]) of the pair arithmetic, the sum inside a bag and the node over
//! bags.
//!
//! The arithmetic is written once, over the lanes of any vector unit. A single number is the case of one lane
//! ([`pulp::Scalar`]), which the reference engine uses.

mod node;

pub use node::{MAX_LANES, Node, NodeRow, Sum, Twofold};

use super::operations::Operations;
use super::precision::Precision;
use super::real::Real;

/// Number of sums in a force: acceleration (3), jerk (3), potential (1).
pub const SUMS: usize = 7;
/// Number of sums in an acceleration alone: the first three of a force.
pub const ACC_SUMS: usize = 3;

/// Returns true if `k` sums are those of a whole force, which needs velocities.
#[must_use]
pub const fn is_whole(k: usize) -> bool {
    k == SUMS
}

/// Order in which bags are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The canonical tree: any worker may take any aligned run of bags.
    Tree,
    /// One bag after the other.
    InOrder,
    /// No bags: one running sum over all sources.
    Running,
}

/// Running sum: the sum, and the accumulated rounding error (unused by modes of one part).
pub type Running<R, S> = [<R as Real>::Lanes<S>; 2];

/// Vector of the mode's numbers.
pub type V<M, S> = <<M as Mode>::Real as Real>::Lanes<S>;

/// Precision mode. Its constants are repeated in `kernels/precision.cuh`; a test of [`super::cuda`] compares them.
pub trait Mode: Send + Sync + 'static {
    /// Type of the pair arithmetic and of the sums in a bag.
    type Real: Real;
    /// Type of the partial sums over bags.
    type Node: Node;
    /// Name of the mode.
    const PRECISION: Precision;
    /// Flag that positions are split into two numbers, hi + lo, so that their difference keeps the digits that one
    /// number loses.
    const SPLIT: bool;
    /// Flag that adding a zero may change a sum, so that a pair that is left out must leave the sums untouched.
    const ZERO_COUNTS: bool = false;
    /// Number of components of a running sum: two where the mode keeps the rounding error of additions.
    const PARTS: usize = 1;
    /// Order of summation over bags.
    const ORDER: Order = Order::Tree;

    /// Adds a · b to the running sum.
    #[inline(always)]
    fn add_product<O: Operations<Self::Real>>(unit: O, sum: &mut [O::Lanes; 2], a: O::Lanes, b: O::Lanes) {
        sum[0] = unit.fma(a, b, sum[0]);
    }

    /// Adds a · b + c · d to the running sum. A mode that keeps the rounding error of additions makes one of them.
    #[inline(always)]
    fn add_products<O: Operations<Self::Real>>(
        unit: O,
        sum: &mut [O::Lanes; 2],
        [a, b]: [O::Lanes; 2],
        [c, d]: [O::Lanes; 2],
    ) {
        Self::add_product(unit, sum, a, b);
        Self::add_product(unit, sum, c, d);
    }

    /// Subtracts x from the running sum.
    #[inline(always)]
    fn subtract<O: Operations<Self::Real>>(unit: O, sum: &mut [O::Lanes; 2], x: O::Lanes) {
        sum[0] = unit.sub(sum[0], x);
    }

    /// Returns the finished sum over a bag.
    fn node(sum: [Self::Real; 2]) -> Self::Node;
}

/// [`Precision::F64`], and on the CPU [`Precision::F64Fast`].
pub struct F64;
/// [`Precision::F32Direct`].
pub struct F32Direct;
/// [`Precision::F32Chamomile`].
pub struct F32Chamomile;
/// [`Precision::F32Kahan`].
pub struct F32Kahan;
/// [`Precision::Mixed`].
pub struct Mixed;
/// [`Precision::DoubleFloat`].
pub struct DoubleFloat;

impl Mode for F64 {
    type Real = f64;
    type Node = f64;
    const PRECISION: Precision = Precision::F64;
    const SPLIT: bool = false;
    #[inline(always)]
    fn node([sum, _]: [f64; 2]) -> f64 {
        sum
    }
}

impl Mode for F32Direct {
    type Real = f32;
    type Node = f32;
    const PRECISION: Precision = Precision::F32Direct;
    const SPLIT: bool = false;
    const ORDER: Order = Order::Running;
    #[inline(always)]
    fn node([sum, _]: [f32; 2]) -> f32 {
        sum
    }
}

impl Mode for F32Chamomile {
    type Real = f32;
    type Node = f32;
    const PRECISION: Precision = Precision::F32Chamomile;
    const SPLIT: bool = false;
    const ORDER: Order = Order::InOrder;
    #[inline(always)]
    fn node([sum, _]: [f32; 2]) -> f32 {
        sum
    }
}

impl Mode for Mixed {
    type Real = f32;
    type Node = f64;
    const PRECISION: Precision = Precision::Mixed;
    const SPLIT: bool = true;
    #[inline(always)]
    fn node([sum, _]: [f32; 2]) -> f64 {
        f64::from(sum)
    }
}

/// Kahan's compensated sum (1965): `sum[1]` holds the rounding error of the last addition, with the sign of an excess.
/// The term is passed with the opposite sign, which costs nothing: rounding to nearest is symmetric.
#[inline(always)]
fn kahan<O: Operations<f32>>(unit: O, sum: &mut [O::Lanes; 2], minus_term: O::Lanes) {
    let total = unit.sub(sum[0], minus_term);
    sum[1] = unit.add(unit.sub(total, sum[0]), minus_term);
    sum[0] = total;
}

impl Mode for F32Kahan {
    type Real = f32;
    type Node = Twofold;
    const PRECISION: Precision = Precision::F32Kahan;
    const SPLIT: bool = false;
    // A zero would bring in the rounding error of the last addition: half a unit in the last place may round the sum
    // up.
    const ZERO_COUNTS: bool = true;
    const PARTS: usize = 2;
    #[inline(always)]
    fn add_product<O: Operations<f32>>(unit: O, sum: &mut [O::Lanes; 2], a: O::Lanes, b: O::Lanes) {
        // a · b minus the excess of the last addition, rounded once.
        kahan(unit, sum, unit.minus_product(a, b, sum[1]));
    }
    #[inline(always)]
    fn add_products<O: Operations<f32>>(
        unit: O,
        sum: &mut [O::Lanes; 2],
        [a, b]: [O::Lanes; 2],
        [c, d]: [O::Lanes; 2],
    ) {
        kahan(unit, sum, unit.minus_product(c, d, unit.minus_product(a, b, sum[1])));
    }
    #[inline(always)]
    fn subtract<O: Operations<f32>>(unit: O, sum: &mut [O::Lanes; 2], x: O::Lanes) {
        kahan(unit, sum, unit.add(x, sum[1]));
    }
    #[inline(always)]
    fn node([sum, excess]: [f32; 2]) -> Twofold {
        Twofold::normalised(sum, -excess)
    }
}

/// Two-sum (Knuth 1969): the exact error of the addition goes to `sum[1]`.
#[inline(always)]
fn two_sum<O: Operations<f32>>(unit: O, sum: &mut [O::Lanes; 2], term: O::Lanes) {
    let total = unit.add(sum[0], term);
    let part = unit.sub(total, sum[0]);
    let error = unit.add(unit.sub(sum[0], unit.sub(total, part)), unit.sub(term, part));
    *sum = [total, unit.add(sum[1], error)];
}

impl Mode for DoubleFloat {
    type Real = f32;
    type Node = Twofold;
    const PRECISION: Precision = Precision::DoubleFloat;
    const SPLIT: bool = true;
    const PARTS: usize = 2;
    #[inline(always)]
    fn add_product<O: Operations<f32>>(unit: O, sum: &mut [O::Lanes; 2], a: O::Lanes, b: O::Lanes) {
        two_sum(unit, sum, unit.mul(a, b));
    }
    #[inline(always)]
    fn add_products<O: Operations<f32>>(
        unit: O,
        sum: &mut [O::Lanes; 2],
        [a, b]: [O::Lanes; 2],
        [c, d]: [O::Lanes; 2],
    ) {
        two_sum(unit, sum, unit.fma(c, d, unit.mul(a, b)));
    }
    #[inline(always)]
    fn subtract<O: Operations<f32>>(unit: O, sum: &mut [O::Lanes; 2], x: O::Lanes) {
        two_sum(unit, sum, unit.sub(unit.constant(0.0), x));
    }
    #[inline(always)]
    fn node([hi, lo]: [f32; 2]) -> Twofold {
        Twofold::normalised(hi, lo)
    }
}

/// Evaluates an expression with the type of a precision mode: `with_mode!(precision, M => Engine::<M>::new(epsilon))`.
///
/// The only place where the name of a mode becomes its type. On the CPU `f64-fast` is [`F64`].
macro_rules! with_mode {
    ($precision:expr, $M:ident => $body:expr) => {{
        use $crate::force::mode;
        use $crate::force::precision::Precision;
        match $precision {
            Precision::F32Direct => {
                type $M = mode::F32Direct;
                $body
            }
            Precision::F32Chamomile => {
                type $M = mode::F32Chamomile;
                $body
            }
            Precision::F32Kahan => {
                type $M = mode::F32Kahan;
                $body
            }
            Precision::Mixed => {
                type $M = mode::Mixed;
                $body
            }
            Precision::DoubleFloat => {
                type $M = mode::DoubleFloat;
                $body
            }
            Precision::F64Fast | Precision::F64 => {
                type $M = mode::F64;
                $body
            }
        }
    }};
}
pub(crate) use with_mode;

/// Numbers and order of summation of a mode: the constants of its type as values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arithmetic {
    /// Size of a number of the pair arithmetic: 4 or 8 bytes.
    pub real_bytes: usize,
    /// Size of a partial sum over bags, in bytes.
    pub node_bytes: usize,
    /// See [`Mode::SPLIT`].
    pub split: bool,
    /// See [`Mode::PARTS`].
    pub parts: usize,
    /// See [`Mode::ORDER`].
    pub order: Order,
}

impl Arithmetic {
    /// Returns the arithmetic of the mode `M`.
    const fn from_mode<M: Mode>() -> Self {
        Self {
            real_bytes: size_of::<M::Real>(),
            node_bytes: size_of::<M::Node>(),
            split: M::SPLIT,
            parts: M::PARTS,
            order: M::ORDER,
        }
    }

    /// Returns true if bags are added in order and not by the tree.
    #[must_use]
    pub const fn in_order(&self) -> bool {
        !matches!(self.order, Order::Tree)
    }
}

impl Precision {
    /// Returns the numbers and the order of summation of the mode.
    #[must_use]
    pub const fn arithmetic(self) -> Arithmetic {
        with_mode!(self, M => Arithmetic::from_mode::<M>())
    }

    /// Returns the mode whose bits a CPU gives: `f64` for `f64-fast`, otherwise the mode itself.
    #[must_use]
    pub const fn on_cpu(self) -> Self {
        with_mode!(self, M => M::PRECISION)
    }
}
