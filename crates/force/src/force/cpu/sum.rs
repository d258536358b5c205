//! Sums over all sources on many targets: divided into work items for threads, and combined by the canonical tree.

use super::lanes::{Item, MAX_ITEM_BAGS, Partial};
use super::law::LawSources;
use super::law_item::LawItem;
use super::sources::Slots;
use super::width::Width;
use crate::force::canonical::{BAG, FULL_DEPTH, TreeSum, bags};
use crate::force::mode::{Mode, Node, Order, Sum as _};
use crate::force::real::Real;
use crate::force::targets::Targets;
use rayon::prelude::*;

/// Number of targets in a work item.
const TILE: usize = 64;
/// Number of work items kept at a time, which bounds the memory for partial sums: 8 bytes × sums × [`TILE`] each.
const MAX_ITEMS: usize = 512;
/// Number of pairs below which the calling thread computes the sums alone: waking another thread costs more.
const SERIAL_PAIRS: usize = 1 << 15;

/// Task of `K` sums over all sources on each target; with `FAR` over those beyond its limit.
pub struct Summation<'a, M: Mode, const K: usize, const FAR: bool = false> {
    /// Sources.
    pub sources: &'a Slots<M, K>,
    /// Targets; without velocities for an acceleration alone.
    pub targets: Targets<'a>,
    /// ε².
    pub eps2: f64,
    /// Square of the softened distance below which a source is left out, one entry a target; empty without `FAR`.
    pub limits: &'a [f64],
    /// Vector instructions.
    pub width: Width,
    /// Law in place of Newton's.
    pub law: Option<&'a LawSources<M>>,
}

/// Returns the number of bags in one work item: as many as fit the cache, fewer if that would leave threads idle. A
/// power of two, so that items are whole subtrees of the canonical tree.
fn bags_per_item<M: Mode>(targets: usize, all_bags: usize, threads: usize) -> usize {
    if M::ORDER != Order::Tree {
        return all_bags.next_power_of_two();
    }
    let mut per_item = MAX_ITEM_BAGS;
    while threads > 1
        && per_item > <M::Real as Real>::WIDTH
        && targets.div_ceil(TILE) * all_bags.div_ceil(per_item) < 4 * threads
    {
        per_item /= 2;
    }
    per_item
}

/// Working memory of a summation.
pub struct Partials<M: Mode, const K: usize> {
    sums: Vec<Partial<M, K>>,
    near: Vec<u64>,
}

impl<M: Mode, const K: usize> Default for Partials<M, K> {
    fn default() -> Self {
        Self { sums: Vec::new(), near: Vec::new() }
    }
}

/// Division of the sources among work items.
#[derive(Clone, Copy)]
struct Division {
    /// Number of bags in a work item.
    per_item: usize,
    /// Number of work items for each tile of targets.
    spans: usize,
    /// Number of sources.
    sources: usize,
}

impl<M: Mode, const K: usize> Summation<'_, M, K> {
    /// Computes the sums on the threads of the pool that this is called in, and passes them to `done` with the index of
    /// the target, in order.
    pub fn run(&self, partials: &mut Partials<M, K>, done: impl FnMut(usize, [f64; K])) {
        self.run_batches(partials, &mut [], done);
    }
}

impl<M: Mode, const K: usize> Summation<'_, M, K, true> {
    /// As [`Self::run`]; stores the sources within the limit of each target in `lists`, ascending.
    pub fn run_far(&self, partials: &mut Partials<M, K>, lists: &mut [Vec<u32>], done: impl FnMut(usize, [f64; K])) {
        self.run_batches(partials, lists, done);
    }
}

impl<M: Mode, const K: usize, const FAR: bool> Summation<'_, M, K, FAR> {
    fn run_batches(
        &self,
        Partials { sums, near }: &mut Partials<M, K>,
        lists: &mut [Vec<u32>],
        mut done: impl FnMut(usize, [f64; K]),
    ) {
        let (targets, n) = (self.targets.index.len(), self.sources.len());
        let serial = targets * n < SERIAL_PAIRS;
        let threads = if serial { 1 } else { rayon::current_num_threads() };
        let per_item = bags_per_item::<M>(targets, bags(n), threads);
        let spans = bags(n).div_ceil(per_item);
        let division = Division { per_item, spans, sources: n };
        let batch = (MAX_ITEMS / spans).max(1) * TILE;
        let words = if FAR { TILE * per_item } else { 0 };
        for first in (0..targets).step_by(batch) {
            let last = targets.min(first + batch);
            let items = (last - first).div_ceil(TILE) * spans;
            sums.resize(items * TILE, Partial::<M, K>::zero());
            near.resize(items * words, 0);
            let compute = |item: usize, out: &mut [Partial<M, K>], near: &mut [u64]| {
                let tile = first + item / spans * TILE;
                self.item(tile..last.min(tile + TILE), item % spans * per_item, per_item, out, near);
            };
            let outputs = sums.par_chunks_mut(TILE).enumerate();
            match (threads, FAR) {
                (1, _) => {
                    let mut near = near.chunks_mut(words.max(1));
                    let mut next = || near.next().unwrap_or_default();
                    sums.chunks_mut(TILE).enumerate().for_each(|(item, out)| compute(item, out, next()));
                }
                (_, false) => outputs.for_each(|(item, out)| compute(item, out, &mut [])),
                (_, true) => {
                    let outputs = outputs.zip(near.par_chunks_mut(words));
                    outputs.for_each(|((item, out), near)| compute(item, out, near));
                }
            }
            if FAR {
                let list = |(k, list): (usize, &mut Vec<u32>)| {
                    fill(list, self.targets.index[first + k], k, division, near);
                };
                match threads {
                    1 => lists[first..last].iter_mut().enumerate().for_each(list),
                    _ => lists[first..last].par_iter_mut().enumerate().for_each(list),
                }
            }
            let mut tree = TreeSum::<Partial<M, K>, FULL_DEPTH>::default();
            for k in first..last {
                let (tile, lane) = ((k - first) / TILE, (k - first) % TILE);
                tree.clear();
                for span in 0..spans {
                    tree.push(per_item.trailing_zeros() as u8, sums[(tile * spans + span) * TILE + lane]);
                }
                done(k, tree.root().map(|sum| sum.value()));
            }
        }
    }

    /// Computes the partial sums over `bags` bags from `first_bag` on the targets `tile`.
    fn item(
        &self,
        tile: std::ops::Range<usize>,
        first_bag: usize,
        bags: usize,
        out: &mut [Partial<M, K>],
        near: &mut [u64],
    ) {
        let Targets { index, pos, vel } = self.targets;
        let item = Item::<M, K, FAR> {
            sources: self.sources.numbers(),
            len: self.sources.len(),
            first_bag,
            bags,
            index: &index[tile.clone()],
            pos: bytemuck::cast_slice(&pos[tile.clone()]),
            vel: bytemuck::cast_slice(vel.get(tile.clone()).unwrap_or_default()),
            eps2: self.eps2,
            limits: self.limits.get(tile.clone()).unwrap_or_default(),
            divide_on: self.width.divides_on(),
            out: &mut out[..tile.len()],
            near,
        };
        match self.law {
            None => self.width.run(item),
            Some(law) => self.width.run(LawItem { item, law }),
        }
    }
}

/// Lists the sources whose bits are set in the words of target `k` of a batch, without `own`.
fn fill(list: &mut Vec<u32>, own: u32, k: usize, division: Division, near: &[u64]) {
    let Division { per_item, spans, sources } = division;
    let (tile, row) = (k / TILE, k % TILE);
    list.clear();
    for span in 0..spans {
        let first_bag = span * per_item;
        let in_item = per_item.min(bags(sources) - first_bag);
        let words = &near[(tile * spans + span) * TILE * per_item + row * in_item..][..in_item];
        for (bag, &word) in (first_bag..).zip(words) {
            let mut left = word;
            while left != 0 {
                let source = bag as u32 * BAG as u32 + left.trailing_zeros();
                // Places without a source are within a limit of infinity.
                if source != own && (source as usize) < sources {
                    list.push(source);
                }
                left &= left - 1;
            }
        }
    }
}
