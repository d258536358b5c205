//! The one lane body of the CPU engine, generic over the vector width, and the two ways of filling its lanes.
//!
//! *Lanes over targets*: each lane is a target, each source is broadcast. *Lanes over bags*: each lane is a bag of the same
//! target, and the lanes then merge as the lowest levels of the canonical tree. Both give the bits of
//! [`Pull::add_pair`] summed canonically, so which one runs is a matter of speed alone.
//!
//! No closures around vector operations: a closure is a function of its own, compiled without the wider instructions, and
//! every operation in it would become a call (ten times slower, measured).

use super::sources::{GROUP_BAGS, SLOT_COLUMNS, Slot};
use crate::force::canonical::{BAG, TreeSum, bags};
use crate::gravity::Pull;
use crate::particles::Vec3;
use pulp::{Simd, WithSimd};

/// [`Pull`] in lanes: acc, jerk, pot.
type PullLanes<S> = [<S as Simd>::f64s; SLOT_COLUMNS];

/// Depth of the tree over the bags of one work item.
const ITEM_DEPTH: usize = 8;
/// Most bags in a work item.
pub const MAX_ITEM_BAGS: usize = 1 << (ITEM_DEPTH - 2);
/// log₂ of [`GROUP_BAGS`]: the level of a group's node.
const GROUP_LEVEL: u8 = GROUP_BAGS.trailing_zeros() as u8;

/// Forces of a run of consecutive bags on a tile of targets: what one worker computes at a time.
pub struct Item<'a> {
    /// All predicted slots.
    pub sources: &'a [Slot],
    /// Number of sources.
    pub len: usize,
    /// First bag, a multiple of [`GROUP_BAGS`].
    pub first_bag: usize,
    /// Bags, at most [`MAX_ITEM_BAGS`].
    pub bags: usize,
    /// Source index of each target.
    pub index: &'a [u32],
    /// Position of each target.
    pub pos: &'a [Vec3],
    /// Velocity of each target.
    pub vel: &'a [Vec3],
    /// ε².
    pub eps2: f64,
    /// Out: the tree node over the bags, one a target.
    pub out: &'a mut [Pull],
}

/// Targets that run with lanes over targets; the others run with lanes over bags. Counts vector iterations: a vector of
/// targets costs one a source, a target alone one for every `lanes` bags and some for merging the lanes.
fn split(targets: usize, bags: usize, lanes: usize) -> usize {
    let rest = targets % lanes;
    let merging_percent = 110;
    if rest * bags.div_ceil(lanes) * merging_percent < bags * 100 { targets - rest } else { targets }
}

impl WithSimd for Item<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let mut item = self;
        item.bags = item.bags.min(bags(item.len) - item.first_bag);
        let in_lanes = split(item.index.len(), item.bags, S::F64_LANES);
        for first in (0..in_lanes).step_by(S::F64_LANES) {
            over_targets(simd, &mut item, first, in_lanes.min(first + S::F64_LANES));
        }
        for k in in_lanes..item.index.len() {
            item.out[k] = over_bags(simd, &item, k);
        }
    }
}

/// What the lane body needs of the targets in its lanes.
#[derive(Clone, Copy)]
struct Lanes<S: Simd> {
    pos: [S::f64s; 3],
    vel: [S::f64s; 3],
    eps2: S::f64s,
    one: S::f64s,
    minus_three: S::f64s,
    infinity: S::f64s,
}

impl<S: Simd> Lanes<S> {
    #[inline(always)]
    fn new(simd: S, pos: [S::f64s; 3], vel: [S::f64s; 3], eps2: f64) -> Self {
        Self {
            pos,
            vel,
            eps2: simd.splat_f64s(eps2),
            one: simd.splat_f64s(1.0),
            minus_three: simd.splat_f64s(-3.0),
            infinity: simd.splat_f64s(f64::INFINITY),
        }
    }
}

/// [`Pull::add_pair`], operation by operation, in lanes. Where `mask` is set the pair is left out: at an infinite distance
/// every term is an exact zero.
#[inline(always)]
fn add_pair<S: Simd>(
    simd: S,
    pull: &mut PullLanes<S>,
    target: &Lanes<S>,
    source: &[S::f64s; SLOT_COLUMNS],
    mask: Option<S::m64s>,
) {
    let (mut r, mut v) = (target.pos, target.vel);
    for k in 0..3 {
        r[k] = simd.sub_f64s(source[k], r[k]);
        v[k] = simd.sub_f64s(source[3 + k], v[k]);
    }
    let ([x, y, z], [vx, vy, vz], mass) = (r, v, source[6]);
    let mut s2 = simd.mul_add_f64s(x, x, simd.mul_add_f64s(y, y, simd.mul_add_f64s(z, z, target.eps2)));
    if let Some(mask) = mask {
        s2 = simd.select_f64s(mask, target.infinity, s2);
    }
    let s_inv = simd.div_f64s(target.one, simd.sqrt_f64s(s2));
    let s_inv2 = simd.mul_f64s(s_inv, s_inv);
    let m_s = simd.mul_f64s(mass, s_inv);
    let m_s3 = simd.mul_f64s(m_s, s_inv2);
    let rv = simd.mul_add_f64s(x, vx, simd.mul_add_f64s(y, vy, simd.mul_f64s(z, vz)));
    let alpha = simd.mul_f64s(target.minus_three, simd.mul_f64s(rv, s_inv2));
    for k in 0..3 {
        pull[k] = simd.mul_add_f64s(m_s3, r[k], pull[k]);
        pull[3 + k] = simd.mul_add_f64s(m_s3, simd.mul_add_f64s(alpha, r[k], v[k]), pull[3 + k]);
    }
    pull[6] = simd.sub_f64s(pull[6], m_s);
}

#[inline(always)]
fn plus<S: Simd>(simd: S, left: &PullLanes<S>, right: &PullLanes<S>) -> PullLanes<S> {
    let mut sum = *left;
    for c in 0..SLOT_COLUMNS {
        sum[c] = simd.add_f64s(left[c], right[c]);
    }
    sum
}

#[inline(always)]
fn load<S: Simd>(values: &[f64; GROUP_BAGS]) -> S::f64s {
    bytemuck::pod_read_unaligned(bytemuck::cast_slice(&values[..S::F64_LANES]))
}

/// Forces of the item's bags on targets `first..last`, one a lane.
#[inline(always)]
fn over_targets<S: Simd>(simd: S, item: &mut Item<'_>, first: usize, last: usize) {
    // Lanes beyond the last target repeat it.
    let target = |lane: usize| (first + lane).min(last - 1);
    let pos = [0, 1, 2].map(|k| load::<S>(&std::array::from_fn(|lane| item.pos[target(lane)][k])));
    let vel = [0, 1, 2].map(|k| load::<S>(&std::array::from_fn(|lane| item.vel[target(lane)][k])));
    let own = load::<S>(&std::array::from_fn(|lane| f64::from(item.index[target(lane)])));
    let lanes = Lanes::new(simd, pos, vel, item.eps2);

    let mut stack = [[simd.splat_f64s(0.0); SLOT_COLUMNS]; ITEM_DEPTH];
    let mut height = 0;
    for bag in item.first_bag..item.first_bag + item.bags {
        let holds_a_target = item.index[first..last].iter().any(|&i| i as usize / BAG == bag);
        let mut node = if holds_a_target {
            bag_on_targets::<S, true>(simd, item, bag, &lanes, own)
        } else {
            bag_on_targets::<S, false>(simd, item, bag, &lanes, own)
        };
        // The binary counter of `TreeSum`, in lanes: one merge for every trailing 1 of the bag's number.
        for _ in 0..(bag - item.first_bag).trailing_ones() {
            height -= 1;
            node = plus(simd, &stack[height], &node);
        }
        stack[height] = node;
        height += 1;
    }
    let mut root = stack[height - 1];
    for left in stack[..height - 1].iter().rev() {
        root = plus(simd, left, &root);
    }
    let columns: [[f64; GROUP_BAGS]; SLOT_COLUMNS] = root.map(|v| spread::<S>(v));
    for (lane, out) in item.out[first..last].iter_mut().enumerate() {
        *out = pull_of(|c| columns[c][lane]);
    }
}

/// The sum over one bag, one target a lane.
#[inline(always)]
fn bag_on_targets<S: Simd, const MASKED: bool>(
    simd: S,
    item: &Item<'_>,
    bag: usize,
    lanes: &Lanes<S>,
    own: S::f64s,
) -> PullLanes<S> {
    let lane = bag % GROUP_BAGS;
    let slots = &item.sources[bag / GROUP_BAGS * BAG..][..BAG];
    let sources = (item.len - bag * BAG).min(BAG);
    let mut pull = [simd.splat_f64s(0.0); SLOT_COLUMNS];
    for (t, slot) in slots[..sources].iter().enumerate() {
        let slot: &[[f64; GROUP_BAGS]; SLOT_COLUMNS] = bytemuck::cast_ref(slot);
        let mut source = pull;
        for (value, octet) in source.iter_mut().zip(slot) {
            *value = simd.splat_f64s(octet[lane]);
        }
        let mask = if MASKED { Some(simd.equal_f64s(own, simd.splat_f64s((bag * BAG + t) as f64))) } else { None };
        add_pair(simd, &mut pull, lanes, &source, mask);
    }
    pull
}

/// Forces of the item's bags on target `k`, one bag a lane.
#[inline(always)]
fn over_bags<S: Simd>(simd: S, item: &Item<'_>, k: usize) -> Pull {
    let [x, y, z] = item.pos[k];
    let [vx, vy, vz] = item.vel[k];
    let pos = [simd.splat_f64s(x), simd.splat_f64s(y), simd.splat_f64s(z)];
    let vel = [simd.splat_f64s(vx), simd.splat_f64s(vy), simd.splat_f64s(vz)];
    let lanes = Lanes::new(simd, pos, vel, item.eps2);
    let own = item.index[k] as usize;

    let mut tree = TreeSum::<ITEM_DEPTH>::default();
    for first in (item.first_bag..item.first_bag + item.bags).step_by(GROUP_BAGS) {
        let mut columns = [[0.0; GROUP_BAGS]; SLOT_COLUMNS];
        for part in (0..GROUP_BAGS).step_by(S::F64_LANES) {
            if first + part >= item.first_bag + item.bags {
                break;
            }
            let held = (first + part..first + part + S::F64_LANES).contains(&(own / BAG));
            let sums = if held {
                bags_on_target::<S, true>(simd, item, first + part, &lanes, own)
            } else {
                bags_on_target::<S, false>(simd, item, first + part, &lanes, own)
            };
            for (column, sum) in columns.iter_mut().zip(sums) {
                column[part..part + S::F64_LANES].copy_from_slice(&spread::<S>(sum)[..S::F64_LANES]);
            }
        }
        tree.push(GROUP_LEVEL, pull_of(|c| merge_group(&columns[c])));
    }
    tree.root()
}

/// The sums over as many neighbouring bags as there are lanes, for one target.
#[inline(always)]
fn bags_on_target<S: Simd, const MASKED: bool>(
    simd: S,
    item: &Item<'_>,
    first_bag: usize,
    lanes: &Lanes<S>,
    own: usize,
) -> PullLanes<S> {
    let part = first_bag % GROUP_BAGS;
    let slots = &item.sources[first_bag / GROUP_BAGS * BAG..][..BAG];
    // In the lane of the target's own bag: its place in the bag. No place equals −1.
    let own_place = load::<S>(&std::array::from_fn(|lane| {
        if MASKED && first_bag + lane == own / BAG { (own % BAG) as f64 } else { -1.0 }
    }));
    let mut pull = [simd.splat_f64s(0.0); SLOT_COLUMNS];
    for (t, slot) in slots.iter().enumerate() {
        let slot: &[S::f64s] = bytemuck::cast_slice(std::slice::from_ref(slot));
        let vectors = GROUP_BAGS / S::F64_LANES;
        let mut source = pull;
        for (c, value) in source.iter_mut().enumerate() {
            *value = slot[c * vectors + part / S::F64_LANES];
        }
        let mask = if MASKED { Some(simd.equal_f64s(own_place, simd.splat_f64s(t as f64))) } else { None };
        add_pair(simd, &mut pull, lanes, &source, mask);
    }
    pull
}

/// The canonical tree over the eight bags of a group. Bags that do not exist hold exact zeros, which change nothing.
#[inline(always)]
fn merge_group(bag: &[f64; GROUP_BAGS]) -> f64 {
    let [a, b, c, d] = [0, 2, 4, 6].map(|k| bag[k] + bag[k + 1]);
    (a + b) + (c + d)
}

#[inline(always)]
fn spread<S: Simd>(v: S::f64s) -> [f64; GROUP_BAGS] {
    let mut values = [0.0; GROUP_BAGS];
    values[..S::F64_LANES].copy_from_slice(bytemuck::cast_slice(&[v]));
    values
}

#[inline(always)]
fn pull_of(column: impl Fn(usize) -> f64) -> Pull {
    Pull { acc: [0, 1, 2].map(&column), jerk: [3, 4, 5].map(&column), pot: column(6) }
}
