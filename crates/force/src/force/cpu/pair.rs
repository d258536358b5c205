//! The pair in lanes, and the sources of a bag added one after the other.

use super::arithmetic::{difference, dot, softened_square};
use super::bag::{Bag, Source};
use super::inverse_sqrt::{Ieee, InverseSqrt};
use super::near::{Near, Word};
use super::sources::columns;
use crate::force::canonical::BAG;
use crate::force::mode::{MAX_LANES, Mode, NodeRow, Running, Sum, V, is_whole};
use crate::force::real::Real;
use pulp::Simd;
use std::mem::size_of;

/// Running sums of as many targets or bags as there are lanes.
pub type Sums<M, S, const K: usize> = [Running<<M as Mode>::Real, S>; K];

/// Returns the number of lanes.
#[inline(always)]
pub const fn lanes<M: Mode, S: Simd>() -> usize {
    size_of::<V<M, S>>() / size_of::<M::Real>()
}

/// State of the targets in the lanes. `low` is used by split modes.
pub struct Lanes<M: Mode, S: Simd> {
    pub pos: [V<M, S>; 3],
    pub low: [V<M, S>; 3],
    pub vel: [V<M, S>; 3],
    pub eps2: V<M, S>,
    /// Square of the softened distance below which a source is a neighbour.
    limit: V<M, S>,
    zero: V<M, S>,
    minus_three: V<M, S>,
}

impl<M: Mode, S: Simd> Lanes<M, S> {
    /// Creates lanes from the position and velocity for each of them.
    #[inline(always)]
    pub fn new(simd: S, state: [([f64; 3], [f64; 3]); MAX_LANES], eps2: f64) -> Self {
        let splat = M::Real::splat::<S>;
        let mut lanes = Self {
            pos: [splat(simd, M::Real::from_f64(0.0)); 3],
            low: [splat(simd, M::Real::from_f64(0.0)); 3],
            vel: [splat(simd, M::Real::from_f64(0.0)); 3],
            eps2: splat(simd, M::Real::from_f64(eps2)),
            limit: splat(simd, M::Real::from_f64(0.0)),
            zero: splat(simd, M::Real::from_f64(0.0)),
            minus_three: splat(simd, M::Real::from_f64(-3.0)),
        };
        for k in 0..3 {
            let mut values = [[M::Real::from_f64(0.0); MAX_LANES]; 3];
            for (lane, (pos, vel)) in state.iter().enumerate() {
                let [hi, lo] = M::Real::split(pos[k]);
                (values[0][lane], values[1][lane], values[2][lane]) = (hi, lo, M::Real::from_f64(vel[k]));
            }
            lanes.pos[k] = load::<M, S>(&values[0]);
            lanes.low[k] = load::<M, S>(&values[1]);
            lanes.vel[k] = load::<M, S>(&values[2]);
        }
        lanes
    }

    /// Gives each lane the square of the softened distance below which a source is a neighbour.
    #[inline(always)]
    pub fn with_limits(self, limits: [f64; MAX_LANES]) -> Self {
        Self { limit: load::<M, S>(&limits.map(M::Real::from_f64)), ..self }
    }

    /// Returns s² = r² + ε².
    #[inline(always)]
    pub fn softened_square(&self, simd: S, r: [V<M, S>; 3]) -> V<M, S> {
        softened_square::<M, S>(simd, r, self.eps2)
    }
}

/// Returns the position of a source relative to the targets.
#[inline(always)]
pub fn relative_position<M: Mode, S: Simd, const OVER_BAGS: bool>(
    simd: S,
    target: &Lanes<M, S>,
    source: Source<'_, M::Real, OVER_BAGS>,
) -> [V<M, S>; 3] {
    let mut r = target.pos;
    for (k, r) in r.iter_mut().enumerate() {
        let of = source.column(simd, k);
        let low_of = if M::SPLIT { source.column(simd, 3 + k) } else { of };
        *r = difference::<M, S>(simd, [of, low_of], [*r, target.low[k]]);
    }
    r
}

/// Returns the velocity of a source relative to the targets.
#[inline(always)]
pub fn relative_velocity<M: Mode, S: Simd, const K: usize, const OVER_BAGS: bool>(
    simd: S,
    target: &Lanes<M, S>,
    source: Source<'_, M::Real, OVER_BAGS>,
) -> [V<M, S>; 3] {
    let mut v = target.vel;
    for (k, v) in v.iter_mut().enumerate() {
        *v = M::Real::sub(simd, source.column(simd, columns::<M, K>() - 4 + k), *v);
    }
    v
}

/// Pair whose products are not yet added to the sums.
#[derive(Clone, Copy)]
struct Pair<V> {
    r: [V; 3],
    s_inv: V,
}

/// Boolean for each lane.
type Mask<M, S> = <<M as Mode>::Real as Real>::Mask<S>;
/// Pair after its first half, and the mask of the neighbours among the lanes.
type Approach<M, S> = (Pair<V<M, S>>, Option<Mask<M, S>>);

/// Computes the first half of [`crate::gravity::pair`], operation by operation, in lanes: the slow ones, root and
/// quotient. Where `mask` is set the pair is left out: with the s⁻¹ of an infinite distance every term is an exact zero.
/// With `FAR` neighbours are left out likewise, and noted; the mask of those in the lanes is returned.
#[inline(always)]
fn approach<M: Mode, S: Simd, D: InverseSqrt, const OVER_BAGS: bool, const FAR: bool>(
    (simd, form): (S, D),
    target: &Lanes<M, S>,
    source: Source<'_, M::Real, OVER_BAGS>,
    mask: Option<Mask<M, S>>,
    near: &mut Word<M, S>,
) -> Approach<M, S> {
    let r = relative_position::<M, S, OVER_BAGS>(simd, target, source);
    let s2 = target.softened_square(simd, r);
    let mut s_inv = form.inverse_sqrt::<M::Real, S>(simd, s2);
    if let Some(mask) = mask {
        s_inv = M::Real::select(simd, mask, target.zero, s_inv);
    }
    let mut within = None;
    if FAR {
        let mask = M::Real::less(simd, s2, target.limit);
        s_inv = M::Real::select(simd, mask, target.zero, s_inv);
        *near = M::Real::mark(simd, mask, *near, source.place % M::Real::WORD_BITS);
        within = Some(mask);
    }
    (Pair { r, s_inv }, within)
}

/// Computes the second half and adds the pair to the sums.
#[inline(always)]
fn add_pair<M: Mode, S: Simd, const K: usize, const OVER_BAGS: bool>(
    simd: S,
    sums: &mut Sums<M, S, K>,
    target: &Lanes<M, S>,
    source: Source<'_, M::Real, OVER_BAGS>,
    Pair { r, s_inv }: Pair<V<M, S>>,
) {
    let columns = columns::<M, K>();
    let s_inv2 = M::Real::mul(simd, s_inv, s_inv);
    let m_s = M::Real::mul(simd, source.column(simd, columns - 1), s_inv);
    let m_s3 = M::Real::mul(simd, m_s, s_inv2);
    for (sum, &r) in sums.iter_mut().zip(&r) {
        M::add_product(simd, sum, m_s3, r);
    }
    if is_whole(K) {
        let v = relative_velocity::<M, S, K, OVER_BAGS>(simd, target, source);
        let rv = dot::<M, S>(simd, r, v);
        let alpha = M::Real::mul(simd, target.minus_three, M::Real::mul(simd, rv, s_inv2));
        for k in 0..3 {
            M::add_product(simd, &mut sums[3 + k], m_s3, M::Real::fma(simd, alpha, r[k], v[k]));
        }
        M::subtract(simd, &mut sums[6], m_s);
    }
}

/// Restores the sums of `before` where the mask is set.
#[inline(always)]
pub fn restore<M: Mode, S: Simd, const K: usize>(
    simd: S,
    sums: &mut Sums<M, S, K>,
    before: &Sums<M, S, K>,
    mask: <M::Real as Real>::Mask<S>,
) {
    for (sum, before) in sums.iter_mut().zip(before) {
        for (now, then) in sum.iter_mut().zip(before) {
            *now = M::Real::select(simd, mask, *then, *now);
        }
    }
}

/// Returns the mask of the lanes that leave a source out.
#[inline(always)]
fn absent<M: Mode, S: Simd, const OVER_BAGS: bool, const MASKED: bool>(
    simd: S,
    bag: &Bag<'_, M, S>,
    source: Source<'_, M::Real, OVER_BAGS>,
) -> Option<<M::Real as Real>::Mask<S>> {
    if MASKED { Some(source.absent(simd, bag)) } else { None }
}

/// Adds the sources of a bag, or of a bag for each lane, to the sums. With `FAR` the neighbours of a target are left out
/// of its sums, and returned; otherwise none are.
#[inline(always)]
pub fn add_bag<M: Mode, S: Simd, D: InverseSqrt, const K: usize, const OVER_BAGS: bool, const FAR: bool>(
    (simd, form): (S, D),
    target: &Lanes<M, S>,
    bag: &Bag<'_, M, S>,
    sums: &mut Sums<M, S, K>,
) -> Near<M, S> {
    let (before, mut near) = (*sums, Near::none(simd));
    if bag.masked {
        add_sources::<M, S, D, K, OVER_BAGS, true, FAR>((simd, form), target, bag, sums, &mut near);
    } else {
        add_sources::<M, S, D, K, OVER_BAGS, false, FAR>((simd, form), target, bag, sums, &mut near);
    }
    // A distance of 0 or ∞, where the form has no value, has made the first sum NaN.
    if D::PARTIAL && form.any_nan::<M::Real, S>(sums[0][0]) {
        *sums = before;
        add_sources::<M, S, Ieee, K, OVER_BAGS, true, FAR>((simd, Ieee), target, bag, sums, &mut near);
    }
    near
}

#[inline(always)]
fn add_sources<
    M: Mode,
    S: Simd,
    D: InverseSqrt,
    const K: usize,
    const OVER_BAGS: bool,
    const MASKED: bool,
    const FAR: bool,
>(
    with: (S, D),
    target: &Lanes<M, S>,
    bag: &Bag<'_, M, S>,
    sums: &mut Sums<M, S, K>,
    near: &mut Near<M, S>,
) {
    // The limits and the words of neighbours take registers of their own.
    let fewer = if FAR { 2 } else { 0 };
    let ahead = if (MASKED || FAR) && M::ZERO_COUNTS { 0 } else { D::ahead::<S>(M::SPLIT).saturating_sub(fewer) };
    let stride = columns::<M, K>() * <M::Real as Real>::WIDTH;
    if bag.slots.len() >= BAG * stride {
        // Known where this is compiled: one of them is left.
        match ahead {
            1 => return begin_ahead::<M, S, D, K, OVER_BAGS, MASKED, FAR, 1>(with, target, bag, sums, near),
            2 => return begin_ahead::<M, S, D, K, OVER_BAGS, MASKED, FAR, 2>(with, target, bag, sums, near),
            3 => return begin_ahead::<M, S, D, K, OVER_BAGS, MASKED, FAR, 3>(with, target, bag, sums, near),
            4 => return begin_ahead::<M, S, D, K, OVER_BAGS, MASKED, FAR, 4>(with, target, bag, sums, near),
            _ => {}
        }
    }
    let (simd, bits) = (with.0, M::Real::WORD_BITS);
    for (part, slots) in bag.slots.chunks(bits * stride).enumerate() {
        let mut word = M::Real::no_word(simd);
        for (bit, slot) in slots.chunks_exact(stride).enumerate() {
            let source = Source::<_, OVER_BAGS>::new(slot, bag.first, part * bits + bit);
            let (mask, before) = (absent::<M, S, OVER_BAGS, MASKED>(simd, bag, source), *sums);
            let (pair, within) = approach::<M, S, D, OVER_BAGS, FAR>(with, target, source, mask, &mut word);
            add_pair::<M, S, K, OVER_BAGS>(simd, sums, target, source, pair);
            if M::ZERO_COUNTS
                && let Some(within) = within
            {
                restore::<M, S, K>(simd, sums, &before, within);
            }
            if M::ZERO_COUNTS
                && let Some(mask) = mask
            {
                restore::<M, S, K>(simd, sums, &before, mask);
                if OVER_BAGS {
                    restore::<M, S, K>(simd, sums, &before, source.beyond(simd, bag));
                }
            }
        }
        if FAR {
            near.0[part] = word;
        }
    }
}

/// Adds the sources of a full bag, and begins the 1/√x of `AHEAD` of them before the products of an earlier one are added
/// to the sums. A processor reorders operations by itself, but only those that it has room to hold back: here few have
/// to wait.
#[inline(always)]
fn begin_ahead<
    M: Mode,
    S: Simd,
    D: InverseSqrt,
    const K: usize,
    const OVER_BAGS: bool,
    const MASKED: bool,
    const FAR: bool,
    const AHEAD: usize,
>(
    with: (S, D),
    target: &Lanes<M, S>,
    bag: &Bag<'_, M, S>,
    sums: &mut Sums<M, S, K>,
    near: &mut Near<M, S>,
) {
    let (simd, stride) = (with.0, columns::<M, K>() * <M::Real as Real>::WIDTH);
    let source = Source::<_, OVER_BAGS>::new(&bag.slots[..stride], bag.first, 0);
    let nothing = Pair { r: [target.zero; 3], s_inv: target.zero };
    let mut begun = [(source, nothing); AHEAD];
    let bits = M::Real::WORD_BITS;
    // A list may have more sources than a bag.
    for (part, slots) in bag.slots.chunks(bits * stride).enumerate() {
        // In a register for as long as its bits are set.
        let mut word = M::Real::no_word(simd);
        for (bit, slot) in slots.chunks_exact(stride).enumerate() {
            let place = part * bits + bit;
            let source = Source::new(slot, bag.first, place);
            let mask = absent::<M, S, OVER_BAGS, MASKED>(simd, bag, source);
            let (pair, _) = approach::<M, S, D, OVER_BAGS, FAR>(with, target, source, mask, &mut word);
            if place >= AHEAD {
                let (source, pair) = begun[0];
                add_pair::<M, S, K, OVER_BAGS>(simd, sums, target, source, pair);
            }
            for k in 1..AHEAD {
                begun[k - 1] = begun[k];
            }
            begun[AHEAD - 1] = (source, pair);
        }
        if FAR {
            near.0[part] = word;
        }
    }
    for (source, pair) in begun {
        add_pair::<M, S, K, OVER_BAGS>(simd, sums, target, source, pair);
    }
}

/// Returns the first numbers as a vector.
#[inline(always)]
pub fn load<M: Mode, S: Simd>(values: &[M::Real; MAX_LANES]) -> V<M, S> {
    bytemuck::pod_read_unaligned(bytemuck::cast_slice(&values[..lanes::<M, S>()]))
}

/// Returns empty sums.
#[inline(always)]
pub fn zero<M: Mode, S: Simd, const K: usize>(simd: S) -> Sums<M, S, K> {
    [[M::Real::splat(simd, M::Real::from_f64(0.0)); 2]; K]
}

/// Returns the finished sums of each lane; those of one quantity lie adjacent.
#[inline(always)]
pub fn finish<M: Mode, S: Simd, const K: usize>(simd: S, sums: &Sums<M, S, K>) -> NodeRow<M::Node, K> {
    let zero = M::Real::splat(simd, M::Real::from_f64(0.0));
    let (mut first, mut second) = ([zero; K], [zero; K]);
    for k in 0..K {
        [first[k], second[k]] = sums[k];
    }
    let (first, second): (&[M::Real], &[M::Real]) = (bytemuck::cast_slice(&first), bytemuck::cast_slice(&second));
    let mut row = NodeRow::zero();
    for k in 0..K * lanes::<M, S>() {
        row.put(k, M::node([first[k], second[k]]));
    }
    row
}
