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
use pulp::{Simd, WithSimd};
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
                    self.width.run(Listing { list, own: self.targets.index[first + k], k, division, near });
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

/// Vectorised work: lists the sources whose bits are set in the words of target `k` of a batch, without `own`.
struct Listing<'a> {
    list: &'a mut Vec<u32>,
    own: u32,
    k: usize,
    division: Division,
    near: &'a [u64],
}

impl WithSimd for Listing<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { list, own, k, division: Division { per_item, spans, sources }, near } = self;
        let (tile, row) = (k / TILE, k % TILE);
        list.clear();
        for span in 0..spans {
            let first_bag = span * per_item;
            let in_item = per_item.min(bags(sources) - first_bag);
            let words = &near[(tile * spans + span) * TILE * per_item + row * in_item..][..in_item];
            for (first_bag, words) in (first_bag..).step_by(AT_ONCE).zip(words.chunks(AT_ONCE)) {
                add_bits(list, first_bag as u32 * BAG as u32, words);
            }
        }
        // Places without a source are within a limit of infinity.
        while list.last().is_some_and(|&source| source as usize >= sources) {
            list.pop();
        }
        if let Ok(place) = list.binary_search(&own) {
            list.remove(place);
        }
    }
}

/// Number of words whose bits are listed at a time.
const AT_ONCE: usize = 64;

/// Adds the places of the set bits of up to [`AT_ONCE`] words to a list, counted from `first` on. Words have few bits each, or
/// none, in no order that could be predicted: so no branch depends on a word that has up to [`USUAL`] bits.
#[inline(always)]
fn add_bits(list: &mut Vec<u32>, first: u32, words: &[u64]) {
    /// Number of bits that are listed in any case.
    const USUAL: usize = 4;
    let (mut some, mut number, mut bits) = ([0; AT_ONCE], 0, 0);
    for (word, &value) in words.iter().enumerate() {
        some[number] = word;
        number += usize::from(value != 0);
        bits += value.count_ones() as usize;
    }
    let mut end = list.len();
    list.resize(end + bits + USUAL, 0);
    for &word in &some[..number] {
        let (mut left, base) = (words[word], first + word as u32 * u64::BITS);
        let next = end + left.count_ones() as usize;
        for place in &mut list[end..end + USUAL] {
            *place = base + left.trailing_zeros();
            left &= left.wrapping_sub(1);
        }
        for place in &mut list[(end + USUAL).min(next)..next] {
            *place = base + left.trailing_zeros();
            left &= left - 1;
        }
        end = next;
    }
    list.truncate(end);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_listed_in_order_however_many() {
        let words: Vec<u64> =
            (0..AT_ONCE as u64).map(|k| [0, 1 << 63, u64::MAX, k * k * k, 0b1111][k as usize % 5]).collect();
        for n in [0, 1, 7, AT_ONCE] {
            let mut list = vec![3];
            add_bits(&mut list, 128, &words[..n]);
            let is_set = |bit: &usize| words[bit / 64] >> (bit % 64) & 1 == 1;
            let expected: Vec<u32> = (0..n * 64).filter(is_set).map(|bit| 128 + bit as u32).collect();
            assert_eq!((list[0], &list[1..]), (3, &expected[..]));
        }
    }
}
