//! Sums over all sources on many targets: divided into work items for threads, and combined by the canonical tree.

use super::Width;
use super::lanes::{Item, MAX_ITEM_BAGS, Partial};
use super::sources::Slots;
use crate::force::Targets;
use crate::force::canonical::{FULL_DEPTH, TreeSum, bags};
use crate::force::mode::{Mode, Node, Order, Sum as _};
use crate::force::real::Real;
use rayon::prelude::*;

/// Number of targets in a work item.
const TILE: usize = 64;
/// Number of work items kept at a time, which bounds the memory for partial sums: 8 bytes × sums × [`TILE`] each.
const MAX_ITEMS: usize = 512;
/// Number of pairs below which the calling thread computes the sums alone: waking another thread costs more.
const SERIAL_PAIRS: usize = 1 << 15;

/// Task of `K` sums over all sources on each target.
pub struct Summation<'a, M: Mode, const K: usize> {
    /// Sources.
    pub sources: &'a Slots<M, K>,
    /// Targets; without velocities for an acceleration alone.
    pub targets: Targets<'a>,
    /// ε².
    pub eps2: f64,
    /// Vector instructions.
    pub width: Width,
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

impl<M: Mode, const K: usize> Summation<'_, M, K> {
    /// Computes the sums on the threads of the pool that this is called in, and passes them to `done` with the index of
    /// the target, in order. `partial` is working memory.
    pub fn run(&self, partial: &mut Vec<Partial<M, K>>, mut done: impl FnMut(usize, [f64; K])) {
        let (targets, n) = (self.targets.index.len(), self.sources.len());
        let serial = targets * n < SERIAL_PAIRS;
        let threads = if serial { 1 } else { rayon::current_num_threads() };
        let per_item = bags_per_item::<M>(targets, bags(n), threads);
        let spans = bags(n).div_ceil(per_item);
        let batch = (MAX_ITEMS / spans).max(1) * TILE;
        for first in (0..targets).step_by(batch) {
            let last = targets.min(first + batch);
            let items = (last - first).div_ceil(TILE) * spans;
            partial.resize(items * TILE, Partial::<M, K>::zero());
            let compute = |(item, out): (usize, &mut [Partial<M, K>])| {
                let tile = first + item / spans * TILE;
                self.item(tile..last.min(tile + TILE), item % spans * per_item, per_item, out);
            };
            if threads == 1 {
                partial.chunks_mut(TILE).enumerate().for_each(compute);
            } else {
                partial.par_chunks_mut(TILE).enumerate().for_each(compute);
            }
            let mut tree = TreeSum::<Partial<M, K>, FULL_DEPTH>::default();
            for k in first..last {
                let (tile, lane) = ((k - first) / TILE, (k - first) % TILE);
                tree.clear();
                for span in 0..spans {
                    tree.push(per_item.trailing_zeros() as u8, partial[(tile * spans + span) * TILE + lane]);
                }
                done(k, tree.root().map(|sum| sum.value()));
            }
        }
    }

    /// Computes the partial sums over `bags` bags from `first_bag` on the targets `tile`.
    fn item(&self, tile: std::ops::Range<usize>, first_bag: usize, bags: usize, out: &mut [Partial<M, K>]) {
        let Targets { index, pos, vel } = self.targets;
        self.width.run(Item::<M, K> {
            sources: self.sources.numbers(),
            len: self.sources.len(),
            first_bag,
            bags,
            index: &index[tile.clone()],
            pos: bytemuck::cast_slice(&pos[tile.clone()]),
            vel: bytemuck::cast_slice(vel.get(tile.clone()).unwrap_or_default()),
            eps2: self.eps2,
            divide_on: self.width.divides_on(),
            out: &mut out[..tile.len()],
        });
    }
}
