//! The loop body of the CPU engine, generic over vector width and precision mode, and the two ways of filling its
//! lanes.
//!
//! *Lanes over targets*: each lane is a target, each source is broadcast. *Lanes over bags*: each lane is a bag of the
//! same target, and the lanes are then merged as the lowest levels of the canonical tree. Both give the bits of
//! [`crate::gravity::pair`] summed canonically, so the choice is a matter of speed alone.
//!
//! `K` is the number of sums: all [`SUMS`] of a force, or only the [`ACC_SUMS`](crate::force::mode::ACC_SUMS) of an
//! acceleration, which have the same bits.
//!
//! No closures around vector operations: a closure is a function of its own, compiled without the wider instructions,
//! and every operation in it would become a call (measured: ten times slower).

use super::sources::columns;
use crate::force::canonical::{BAG, TreeSum, bags};
use crate::force::mode::{MAX_LANES, Mode, NodeRow, Order, Running, SUMS, Sum};
use crate::force::real::Real;
use pulp::{Simd, WithSimd};
use std::mem::size_of;

/// Running sums of as many targets or bags as there are lanes.
type Sums<M, S, const K: usize> = [Running<<M as Mode>::Real, S>; K];
type V<M, S> = <<M as Mode>::Real as Real>::Lanes<S>;
/// Partial sums of one target.
pub type Partial<M, const K: usize> = [<M as Mode>::Node; K];

/// Depth of the tree over the bags of one work item.
const ITEM_DEPTH: usize = 8;
/// Largest number of bags in a work item of a mode that sums by the tree.
pub const MAX_ITEM_BAGS: usize = 1 << (ITEM_DEPTH - 2);

/// Work item: forces of consecutive bags on a tile of targets, computed by one thread.
pub struct Item<'a, M: Mode, const K: usize> {
    /// Slots; see [`super::sources::Slots::numbers`].
    pub sources: &'a [M::Real],
    /// Number of sources.
    pub len: usize,
    /// First bag, a multiple of [`Real::WIDTH`].
    pub first_bag: usize,
    /// Number of bags: at most [`MAX_ITEM_BAGS`], or all of them in a mode with another order than the tree.
    pub bags: usize,
    /// Source index of each target.
    pub index: &'a [u32],
    /// Position of each target.
    pub pos: &'a [[f64; 3]],
    /// Velocity of each target; unused for an acceleration alone.
    pub vel: &'a [[f64; 3]],
    /// ε².
    pub eps2: f64,
    /// Output: partial sums over the bags, one entry a target.
    pub out: &'a mut [Partial<M, K>],
}

impl<M: Mode, const K: usize> Item<'_, M, K> {
    /// Returns position and velocity of target `k`.
    #[inline(always)]
    fn state(&self, k: usize) -> ([f64; 3], [f64; 3]) {
        (self.pos[k], if is_whole(K) { self.vel[k] } else { [0.0; 3] })
    }
}

/// Returns the number of targets that run with lanes over targets; the others run with lanes over bags. Counts vector
/// iterations: a vector of targets costs one for each source; a single target costs one for every `lanes` bags, and the
/// merging of the lanes.
fn split(targets: usize, bags: usize, lanes: usize) -> usize {
    let rest = targets % lanes;
    let merging_percent = 110;
    if rest * bags.div_ceil(lanes) * merging_percent < bags * 100 { targets - rest } else { targets }
}

impl<M: Mode, const K: usize> WithSimd for Item<'_, M, K> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let mut item = self;
        item.bags = item.bags.min(bags(item.len) - item.first_bag);
        let lanes = lanes::<M, S>();
        let in_lanes = match M::ORDER {
            Order::Tree => split(item.index.len(), item.bags, lanes),
            Order::InOrder | Order::Running => item.index.len(),
        };
        for first in (0..in_lanes).step_by(lanes) {
            over_targets(simd, &mut item, first, in_lanes.min(first + lanes));
        }
        for k in in_lanes..item.index.len() {
            item.out[k] = over_bags(simd, &item, k);
        }
    }
}

/// Returns true if `k` sums are those of a whole force, which needs velocities.
pub(super) const fn is_whole(k: usize) -> bool {
    k == SUMS
}

#[inline(always)]
const fn lanes<M: Mode, S: Simd>() -> usize {
    size_of::<V<M, S>>() / size_of::<M::Real>()
}

/// State of the targets in the lanes. `low` is used by split modes.
struct Lanes<M: Mode, S: Simd> {
    pos: [V<M, S>; 3],
    low: [V<M, S>; 3],
    vel: [V<M, S>; 3],
    eps2: V<M, S>,
    one: V<M, S>,
    minus_three: V<M, S>,
    infinity: V<M, S>,
}

impl<M: Mode, S: Simd> Lanes<M, S> {
    /// Creates lanes from the position and velocity for each of them.
    #[inline(always)]
    fn new(simd: S, state: [([f64; 3], [f64; 3]); MAX_LANES], eps2: f64) -> Self {
        let splat = M::Real::splat::<S>;
        let mut lanes = Self {
            pos: [splat(simd, M::Real::from_f64(0.0)); 3],
            low: [splat(simd, M::Real::from_f64(0.0)); 3],
            vel: [splat(simd, M::Real::from_f64(0.0)); 3],
            eps2: splat(simd, M::Real::from_f64(eps2)),
            one: splat(simd, M::Real::from_f64(1.0)),
            minus_three: splat(simd, M::Real::from_f64(-3.0)),
            infinity: splat(simd, M::Real::from_f64(f64::INFINITY)),
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
}

/// Pair after its slow operations, root and quotient, whose products are not yet added to the sums.
struct Pair<M: Mode, S: Simd> {
    r: [V<M, S>; 3],
    v: [V<M, S>; 3],
    mass: V<M, S>,
    s_inv: V<M, S>,
}

/// Computes the first half of [`crate::gravity::pair`], operation by operation, in lanes. `source` has the columns of a
/// slot. Where `mask` is set the pair is left out: at an infinite distance every term is an exact zero.
#[inline(always)]
fn approach<M: Mode, S: Simd, const K: usize>(
    simd: S,
    target: &Lanes<M, S>,
    source: &[V<M, S>; 10],
    mask: Option<<M::Real as Real>::Mask<S>>,
) -> Pair<M, S> {
    let (mut r, mut v) = (target.pos, target.vel);
    for k in 0..3 {
        r[k] = M::Real::sub(simd, source[k], r[k]);
        if M::SPLIT {
            r[k] = M::Real::add(simd, r[k], M::Real::sub(simd, source[3 + k], target.low[k]));
        }
        if is_whole(K) {
            v[k] = M::Real::sub(simd, source[columns::<M, K>() - 4 + k], v[k]);
        }
    }
    let [x, y, z] = r;
    let mut s2 = M::Real::fma(simd, x, x, M::Real::fma(simd, y, y, M::Real::fma(simd, z, z, target.eps2)));
    if let Some(mask) = mask {
        s2 = M::Real::select(simd, mask, target.infinity, s2);
    }
    let s_inv = M::Real::div(simd, target.one, M::Real::sqrt_lanes(simd, s2));
    Pair { r, v, mass: source[columns::<M, K>() - 1], s_inv }
}

/// Computes the second half and adds the pair to the sums.
#[inline(always)]
fn add_pair<M: Mode, S: Simd, const K: usize>(
    simd: S,
    sums: &mut Sums<M, S, K>,
    target: &Lanes<M, S>,
    pair: &Pair<M, S>,
    mask: Option<<M::Real as Real>::Mask<S>>,
) {
    let before = *sums;
    let ([x, y, z], [vx, vy, vz], s_inv) = (pair.r, pair.v, pair.s_inv);
    let s_inv2 = M::Real::mul(simd, s_inv, s_inv);
    let m_s = M::Real::mul(simd, pair.mass, s_inv);
    let m_s3 = M::Real::mul(simd, m_s, s_inv2);
    for (sum, &r) in sums.iter_mut().zip(&pair.r) {
        M::add_product(simd, sum, m_s3, r);
    }
    if is_whole(K) {
        let rv = M::Real::fma(simd, x, vx, M::Real::fma(simd, y, vy, M::Real::mul(simd, z, vz)));
        let alpha = M::Real::mul(simd, target.minus_three, M::Real::mul(simd, rv, s_inv2));
        for k in 0..3 {
            M::add_product(simd, &mut sums[3 + k], m_s3, M::Real::fma(simd, alpha, pair.r[k], pair.v[k]));
        }
        M::subtract(simd, &mut sums[6], m_s);
    }
    if let Some(mask) = mask
        && M::ZERO_COUNTS
    {
        restore::<M, S, K>(simd, sums, &before, mask);
    }
}

/// Restores the sums of `before` where the mask is set.
#[inline(always)]
fn restore<M: Mode, S: Simd, const K: usize>(
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

#[inline(always)]
fn load<M: Mode, S: Simd>(values: &[M::Real; MAX_LANES]) -> V<M, S> {
    bytemuck::pod_read_unaligned(bytemuck::cast_slice(&values[..lanes::<M, S>()]))
}

#[inline(always)]
fn zero<M: Mode, S: Simd, const K: usize>(simd: S) -> Sums<M, S, K> {
    [[M::Real::splat(simd, M::Real::from_f64(0.0)); 2]; K]
}

/// Returns the finished sums of each lane; those of one quantity lie adjacent.
#[inline(always)]
fn finish<M: Mode, S: Simd, const K: usize>(simd: S, sums: &Sums<M, S, K>) -> NodeRow<M::Node, K> {
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

/// Sums the forces of the item's bags on targets `first..last`, one target a lane.
#[inline(always)]
fn over_targets<M: Mode, S: Simd, const K: usize>(simd: S, item: &mut Item<'_, M, K>, first: usize, last: usize) {
    // Lanes beyond the last target repeat that target.
    let (mut state, mut own) = ([([0.0; 3], [0.0; 3]); MAX_LANES], [0u32; MAX_LANES]);
    for lane in 0..MAX_LANES {
        let k = (first + lane).min(last - 1);
        state[lane] = item.state(k);
        own[lane] = item.index[k];
    }
    let target = Lanes::<M, S>::new(simd, state, item.eps2);

    let mut tree = TreeSum::<NodeRow<M::Node, K>, ITEM_DEPTH>::default();
    let mut in_order = NodeRow::zero();
    let mut sums = zero::<M, S, K>(simd);
    for bag in item.first_bag..item.first_bag + item.bags {
        if M::ORDER != Order::Running {
            sums = zero::<M, S, K>(simd);
        }
        if item.index[first..last].iter().any(|&i| i as usize / BAG == bag) {
            bag_on_targets::<M, S, K, true>(simd, item, bag, &target, &own, &mut sums);
        } else {
            bag_on_targets::<M, S, K, false>(simd, item, bag, &target, &own, &mut sums);
        }
        match M::ORDER {
            Order::Tree => tree.push(0, finish::<M, S, K>(simd, &sums)),
            Order::InOrder => in_order = in_order.plus(&finish::<M, S, K>(simd, &sums)),
            Order::Running => {}
        }
    }
    let total = match M::ORDER {
        Order::Tree => tree.root(),
        Order::InOrder => in_order,
        Order::Running => finish::<M, S, K>(simd, &sums),
    };
    for (lane, out) in item.out[first..last].iter_mut().enumerate() {
        for (k, out) in out.iter_mut().enumerate() {
            *out = total.get(k * lanes::<M, S>() + lane);
        }
    }
}

/// Adds one bag to the sums, one target a lane.
#[inline(always)]
fn bag_on_targets<M: Mode, S: Simd, const K: usize, const MASKED: bool>(
    simd: S,
    item: &Item<'_, M, K>,
    bag: usize,
    target: &Lanes<M, S>,
    own: &[u32; MAX_LANES],
    sums: &mut Sums<M, S, K>,
) {
    let (width, columns) = (<M::Real as Real>::WIDTH, columns::<M, K>());
    let lane = bag % width;
    let slots = &item.sources[bag / width * BAG * columns * width..][..BAG * columns * width];
    let in_bag = (item.len - bag * BAG).min(BAG);
    // Place of each target in this bag, or −1: small numbers, exact in f32 too.
    let mut places = [M::Real::from_f64(-1.0); MAX_LANES];
    if MASKED {
        for (place, &i) in places.iter_mut().zip(own) {
            if i as usize / BAG == bag {
                *place = M::Real::from_f64(f64::from(i % BAG as u32));
            }
        }
    }
    let places = load::<M, S>(&places);
    let slots = &slots[..in_bag * columns * width];
    // One source ahead, so that its root and quotient are computed while the previous pair is added to the sums. Modes
    // with fewer operations a pair gain 2 % at most (measured).
    if !MASKED && M::SPLIT {
        let (first, later) = slots.split_at(columns * width);
        let mut pair = approach::<M, S, K>(simd, target, &broadcast::<M, S, K>(simd, first, lane), None);
        for slot in later.chunks_exact(columns * width) {
            let next = approach::<M, S, K>(simd, target, &broadcast::<M, S, K>(simd, slot, lane), None);
            add_pair::<M, S, K>(simd, sums, target, &pair, None);
            pair = next;
        }
        add_pair::<M, S, K>(simd, sums, target, &pair, None);
        return;
    }
    for (t, slot) in slots.chunks_exact(columns * width).enumerate() {
        let source = broadcast::<M, S, K>(simd, slot, lane);
        let mask = if MASKED {
            Some(M::Real::equal(simd, places, M::Real::splat(simd, M::Real::from_f64(t as f64))))
        } else {
            None
        };
        let pair = approach::<M, S, K>(simd, target, &source, mask);
        add_pair::<M, S, K>(simd, sums, target, &pair, mask);
    }
}

/// Returns the columns of one source, broadcast to every lane.
#[inline(always)]
fn broadcast<M: Mode, S: Simd, const K: usize>(simd: S, slot: &[M::Real], lane: usize) -> [V<M, S>; 10] {
    let mut source = [M::Real::splat(simd, M::Real::from_f64(0.0)); 10];
    for c in 0..columns::<M, K>() {
        source[c] = M::Real::splat(simd, slot[c * <M::Real as Real>::WIDTH + lane]);
    }
    source
}

/// Returns the forces of the item's bags on target `k`, computed with one bag a lane.
#[inline(always)]
fn over_bags<M: Mode, S: Simd, const K: usize>(simd: S, item: &Item<'_, M, K>, k: usize) -> Partial<M, K> {
    let target = Lanes::<M, S>::new(simd, [item.state(k); MAX_LANES], item.eps2);
    let (width, lanes) = (<M::Real as Real>::WIDTH, lanes::<M, S>());
    let own = item.index[k] as usize;

    let mut tree = TreeSum::<Partial<M, K>, ITEM_DEPTH>::default();
    for first in (item.first_bag..item.first_bag + item.bags).step_by(width) {
        // Bags that do not exist hold exact zeros, which change nothing in the tree.
        let mut group = NodeRow::zero();
        for part in (0..width).step_by(lanes) {
            if first + part >= item.first_bag + item.bags {
                break;
            }
            let these = first + part..first + part + lanes;
            let incomplete = M::ZERO_COUNTS && these.end * BAG > item.len;
            let nodes = if these.contains(&(own / BAG)) || incomplete {
                bags_on_target::<M, S, K, true>(simd, item, first + part, &target, own)
            } else {
                bags_on_target::<M, S, K, false>(simd, item, first + part, &target, own)
            };
            for k in 0..K {
                for lane in 0..lanes {
                    group.put(k * width + part + lane, nodes.get(k * lanes + lane));
                }
            }
        }
        tree.push(width.trailing_zeros() as u8, merge_group::<M, K>(group));
    }
    tree.root()
}

/// Returns the sums over as many consecutive bags as there are lanes, for one target.
#[inline(always)]
fn bags_on_target<M: Mode, S: Simd, const K: usize, const MASKED: bool>(
    simd: S,
    item: &Item<'_, M, K>,
    first_bag: usize,
    target: &Lanes<M, S>,
    own: usize,
) -> NodeRow<M::Node, K> {
    let (width, columns, lanes) = (<M::Real as Real>::WIDTH, columns::<M, K>(), lanes::<M, S>());
    let part = first_bag % width / lanes;
    let slots = &item.sources[first_bag / width * BAG * columns * width..][..BAG * columns * width];
    let slots: &[V<M, S>] = bytemuck::cast_slice(slots);
    // Place of the target in the lane of its own bag. No place equals −1.
    let mut places = [M::Real::from_f64(-1.0); MAX_LANES];
    // Number of sources in each bag.
    let mut filled = [M::Real::from_f64(BAG as f64); MAX_LANES];
    if MASKED {
        for lane in 0..lanes {
            let bag = first_bag + lane;
            if bag == own / BAG {
                places[lane] = M::Real::from_f64((own % BAG) as f64);
            }
            filled[lane] = M::Real::from_f64(item.len.saturating_sub(bag * BAG).min(BAG) as f64);
        }
    }
    let (places, filled) = (load::<M, S>(&places), load::<M, S>(&filled));
    let mut sums = zero::<M, S, K>(simd);
    let mut source = [target.one; 10];
    for (t, slot) in slots.chunks_exact(columns * (width / lanes)).enumerate() {
        for c in 0..columns {
            source[c] = slot[c * (width / lanes) + part];
        }
        let now = M::Real::splat(simd, M::Real::from_f64(t as f64));
        let mask = if MASKED { Some(M::Real::equal(simd, places, now)) } else { None };
        let before = sums;
        let pair = approach::<M, S, K>(simd, target, &source, mask);
        add_pair::<M, S, K>(simd, &mut sums, target, &pair, mask);
        if MASKED && M::ZERO_COUNTS {
            restore::<M, S, K>(simd, &mut sums, &before, M::Real::at_least(simd, now, filled));
        }
    }
    finish::<M, S, K>(simd, &sums)
}

/// Returns the root of the canonical tree over the bags of a group.
#[inline(always)]
fn merge_group<M: Mode, const K: usize>(mut nodes: NodeRow<M::Node, K>) -> Partial<M, K> {
    let mut left = K * <M::Real as Real>::WIDTH;
    while left > K {
        left /= 2;
        let mut merged = NodeRow::zero();
        for k in 0..left {
            merged.put(k, nodes.get(2 * k).plus(&nodes.get(2 * k + 1)));
        }
        nodes = merged;
    }
    let mut sums = Partial::<M, K>::zero();
    for (k, sum) in sums.iter_mut().enumerate() {
        *sum = nodes.get(k);
    }
    sums
}
