//! The loop body of the CPU engine, generic over vector width and precision mode, and the two ways of filling its
//! lanes.
//!
//! *Lanes over targets*: each lane is a target, each source is broadcast. *Lanes over bags*: each lane is a bag of the
//! same target, and the lanes are then merged as the lowest levels of the canonical tree. Both give the bits of
//! [`crate::gravity::pair`] summed canonically, so the choice is a matter of speed alone.
//!
//! `K` is the number of sums: all [`SUMS`](crate::force::mode::SUMS) of a force, or only the [`ACC_SUMS`](crate::force::mode::ACC_SUMS) of an
//! acceleration, which have the same bits.
//!
//! No closures around vector operations: a closure is a function of its own, compiled without the wider instructions,
//! and every operation in it would become a call (measured: ten times slower).

use super::bag::Bag;
use super::interaction::{Interaction, Newton};
use super::inverse_sqrt::{Fma, Ieee};
use super::pair::{Lanes, finish, lanes, load, zero};
use super::sources::columns;
use crate::force::canonical::{BAG, TreeSum, bags};
use crate::force::mode::{MAX_LANES, Mode, NodeRow, Order, Sum, is_whole};
use crate::force::real::Real;
use pulp::{Simd, WithSimd, x86::V4};

/// Partial sums of one target.
pub type Partial<M, const K: usize> = [<M as Mode>::Node; K];

/// Depth of the tree over the bags of one work item.
const ITEM_DEPTH: usize = 8;
/// Largest number of bags in a work item of a mode that sums by the tree.
pub const MAX_ITEM_BAGS: usize = 1 << (ITEM_DEPTH - 2);

/// Work item: forces of consecutive bags on a tile of targets, computed by one thread. With `FAR` each target leaves out
/// the sources within its limit.
pub struct Item<'a, M: Mode, const K: usize, const FAR: bool> {
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
    /// Square of the softened distance below which a source is left out, one entry a target; empty without `FAR`.
    pub limits: &'a [f64],
    /// Vector unit on which divisions in f64 are computed by fused multiply-adds; [`None`] for those of the machine.
    pub divide_on: Option<V4>,
    /// Output: partial sums over the bags, one entry a target.
    pub out: &'a mut [Partial<M, K>],
    /// Output: places of the sources within the limits, 64 bits a bag, one row of bags a target; empty without `FAR`. The
    /// target itself may be among them.
    pub near: &'a mut [u64],
}

impl<M: Mode, const K: usize, const FAR: bool> Item<'_, M, K, FAR> {
    /// Returns position and velocity of target `k`.
    #[inline(always)]
    fn state(&self, k: usize) -> ([f64; 3], [f64; 3]) {
        (self.pos[k], if is_whole(K) { self.vel[k] } else { [0.0; 3] })
    }

    /// Returns the lanes for targets by their index in each.
    #[inline(always)]
    fn targets<S: Simd>(&self, simd: S, index: [usize; MAX_LANES]) -> Lanes<M, S> {
        let (mut state, mut limits) = ([([0.0; 3], [0.0; 3]); MAX_LANES], [0.0; MAX_LANES]);
        for lane in 0..MAX_LANES {
            state[lane] = self.state(index[lane]);
            if FAR {
                limits[lane] = self.limits[index[lane]];
            }
        }
        let lanes = Lanes::<M, S>::new(simd, state, self.eps2);
        if FAR { lanes.with_limits(limits) } else { lanes }
    }

    /// Stores the neighbours of target `k` in a bag.
    #[inline(always)]
    fn set_near(&mut self, k: usize, bag: usize, word: u64) {
        self.near[k * self.bags + bag - self.first_bag] = word;
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

impl<M: Mode, const K: usize, const FAR: bool> WithSimd for Item<'_, M, K, FAR> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if Fma::computes::<M::Real, S>()
            && let Some(unit) = self.divide_on
        {
            return self.sum(simd, Newton(Fma(unit)));
        }
        self.sum(simd, Newton(Ieee));
    }
}

impl<M: Mode, const K: usize, const FAR: bool> Item<'_, M, K, FAR> {
    /// Computes the sums of an interaction.
    #[inline(always)]
    pub fn sum<S: Simd, I: Interaction<M, S, K, FAR>>(mut self, simd: S, mut pairs: I) {
        self.bags = self.bags.min(bags(self.len) - self.first_bag);
        let lanes = lanes::<M, S>();
        let in_lanes = match M::ORDER {
            Order::Tree => split(self.index.len(), self.bags, lanes),
            Order::InOrder | Order::Running => self.index.len(),
        };
        for first in (0..in_lanes).step_by(lanes) {
            over_targets(simd, &mut pairs, &mut self, first, in_lanes.min(first + lanes));
        }
        for k in in_lanes..self.index.len() {
            self.out[k] = over_bags(simd, &mut pairs, &mut self, k);
        }
    }
}

/// Sums the forces of the item's bags on targets `first..last`, one target a lane.
#[inline(always)]
fn over_targets<M: Mode, S: Simd, I: Interaction<M, S, K, FAR>, const K: usize, const FAR: bool>(
    simd: S,
    pairs: &mut I,
    item: &mut Item<'_, M, K, FAR>,
    first: usize,
    last: usize,
) {
    // Lanes beyond the last target repeat that target.
    let (mut index, mut own) = ([0; MAX_LANES], [0u32; MAX_LANES]);
    for lane in 0..MAX_LANES {
        let k = (first + lane).min(last - 1);
        index[lane] = k;
        own[lane] = item.index[k];
    }
    let target = item.targets(simd, index);
    pairs.take_targets(&own);

    let mut tree = TreeSum::<NodeRow<M::Node, K>, ITEM_DEPTH>::default();
    let mut in_order = NodeRow::zero();
    let mut sums = zero::<M, S, K>(simd);
    for number in item.first_bag..item.first_bag + item.bags {
        if M::ORDER != Order::Running {
            sums = zero::<M, S, K>(simd);
        }
        let masked = item.index[first..last].iter().any(|&i| i as usize / BAG == number);
        let bag = bag_of_targets::<M, S, K, FAR>(item, number, masked.then_some(&own));
        let near = pairs.add_bag::<false>(simd, &target, &bag, &mut sums);
        if FAR {
            for k in first..last {
                item.set_near(k, number, near.of_lane(k - first));
            }
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

/// Returns a bag for all lanes. The target of each lane has the source index `own`, or none of them lies in the bag.
#[inline(always)]
fn bag_of_targets<'a, M: Mode, S: Simd, const K: usize, const FAR: bool>(
    item: &Item<'a, M, K, FAR>,
    bag: usize,
    own: Option<&[u32; MAX_LANES]>,
) -> Bag<'a, M, S> {
    let (width, columns) = (<M::Real as Real>::WIDTH, columns::<M, K>());
    let slots = &item.sources[bag / width * BAG * columns * width..][..BAG * columns * width];
    let in_bag = (item.len - bag * BAG).min(BAG);
    let mut absent = [M::Real::from_f64(-1.0); MAX_LANES];
    if let Some(own) = own {
        for (absent, &i) in absent.iter_mut().zip(own) {
            if i as usize / BAG == bag {
                *absent = M::Real::from_f64(f64::from(i % BAG as u32));
            }
        }
    }
    let filled = [M::Real::from_f64(BAG as f64); MAX_LANES];
    Bag {
        slots: &slots[..in_bag * columns * width],
        group: bag / width * BAG,
        first: bag % width,
        absent: load::<M, S>(&absent),
        filled: load::<M, S>(&filled),
        masked: own.is_some(),
    }
}

/// Returns the forces of the item's bags on target `k`, computed with one bag a lane.
#[inline(always)]
fn over_bags<M: Mode, S: Simd, I: Interaction<M, S, K, FAR>, const K: usize, const FAR: bool>(
    simd: S,
    pairs: &mut I,
    item: &mut Item<'_, M, K, FAR>,
    k: usize,
) -> Partial<M, K> {
    let target = item.targets(simd, [k; MAX_LANES]);
    pairs.take_targets(&[item.index[k]; MAX_LANES]);
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
            let incomplete = I::MASKS_PLACES && these.end * BAG > item.len;
            let masked = these.contains(&(own / BAG)) || incomplete;
            let bag = bags_of_target::<M, S, K, FAR>(item, first + part, masked.then_some(own));
            let mut sums = zero::<M, S, K>(simd);
            let near = pairs.add_bag::<true>(simd, &target, &bag, &mut sums);
            if FAR {
                for number in these.start..these.end.min(item.first_bag + item.bags) {
                    item.set_near(k, number, near.of_lane(number - these.start));
                }
            }
            let nodes = finish::<M, S, K>(simd, &sums);
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

/// Returns as many consecutive bags as there are lanes, one for each. The target has the source index `own`; without it
/// the target lies in none of them, and their sources are all there or do not count.
#[inline(always)]
fn bags_of_target<'a, M: Mode, S: Simd, const K: usize, const FAR: bool>(
    item: &Item<'a, M, K, FAR>,
    first_bag: usize,
    own: Option<usize>,
) -> Bag<'a, M, S> {
    let (width, columns, lanes) = (<M::Real as Real>::WIDTH, columns::<M, K>(), lanes::<M, S>());
    let slots = &item.sources[first_bag / width * BAG * columns * width..][..BAG * columns * width];
    let mut absent = [M::Real::from_f64(-1.0); MAX_LANES];
    let mut filled = [M::Real::from_f64(BAG as f64); MAX_LANES];
    if let Some(own) = own {
        for lane in 0..lanes {
            let bag = first_bag + lane;
            if bag == own / BAG {
                absent[lane] = M::Real::from_f64((own % BAG) as f64);
            }
            filled[lane] = M::Real::from_f64(item.len.saturating_sub(bag * BAG).min(BAG) as f64);
        }
    }
    let (absent, filled) = (load::<M, S>(&absent), load::<M, S>(&filled));
    let (group, first) = (first_bag / width * BAG, first_bag % width / lanes * lanes);
    Bag { slots, group, first, absent, filled, masked: own.is_some() }
}

/// Returns the root of the canonical tree over the bags of a group.
#[inline(always)]
pub fn merge_group<M: Mode, const K: usize>(mut nodes: NodeRow<M::Node, K>) -> Partial<M, K> {
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
