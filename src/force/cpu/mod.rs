//! The CPU engine: vector units through one lane body, all cores through rayon, the reference's bits in every mode.

mod lanes;
mod sources;
mod width;

pub use width::Width;

use super::canonical::{FULL_DEPTH, TreeSum, bags};
use super::mode::{DoubleFloat, F32Chamomile, F32Direct, F32Kahan, F64, Mixed, Mode, Node, Order};
use super::precision::Precision;
use super::real::Real;
use super::{ForceEngine, Forces, Targets};
use crate::error::Result;
use crate::gravity::Pull;
use crate::particles::Particles;
use crate::time::{Clock, Time};
use lanes::{Item, MAX_ITEM_BAGS, Partial};
use rayon::prelude::*;
use sources::{Piece, Predict, Sources};

/// Targets in a work item.
const TILE: usize = 64;
/// Work items kept at a time (bounds the memory for partial sums: 56 bytes × [`TILE`] each).
const MAX_ITEMS: usize = 512;
/// Below so many pairs a block is computed by the calling thread: waking another costs more.
const SERIAL_PAIRS: usize = 1 << 15;
/// Groups of sources that one thread predicts at a time.
const PREDICT_GROUPS: usize = 32;

/// Vectorised engine for the precision mode `M`. Uses the threads of the rayon pool it is called in; neither their number nor the vector width
/// changes a bit of the result.
pub struct CpuEngine<M: Mode> {
    eps2: f64,
    clock: Clock,
    width: Width,
    sources: Sources<M>,
    partial: Vec<Partial<M>>,
}

/// The CPU engine for a precision mode.
#[must_use]
pub fn engine(precision: Precision, epsilon: f64, clock: Clock, width: Width) -> Box<dyn ForceEngine> {
    match precision {
        Precision::F32Direct => Box::new(CpuEngine::<F32Direct>::new(epsilon, clock, width)),
        Precision::F32Chamomile => Box::new(CpuEngine::<F32Chamomile>::new(epsilon, clock, width)),
        Precision::F32Kahan => Box::new(CpuEngine::<F32Kahan>::new(epsilon, clock, width)),
        Precision::Mixed => Box::new(CpuEngine::<Mixed>::new(epsilon, clock, width)),
        Precision::DoubleFloat => Box::new(CpuEngine::<DoubleFloat>::new(epsilon, clock, width)),
        Precision::F64Fast | Precision::F64 => Box::new(CpuEngine::<F64>::new(epsilon, clock, width)),
    }
}

impl<M: Mode> CpuEngine<M> {
    /// An engine without sources. `epsilon` is the Plummer softening, `clock` the run's time axis (internal units).
    #[must_use]
    pub fn new(epsilon: f64, clock: Clock, width: Width) -> Self {
        Self { eps2: epsilon * epsilon, clock, width, sources: Sources::default(), partial: Vec::new() }
    }

    fn predict_sources(&mut self, now: Time, targets: &Targets) {
        let (width, tick) = (self.width, self.clock.tick());
        let predict = |piece: Piece<'_, M>| width.run(Predict { piece, now, tick });
        if self.sources.groups() <= PREDICT_GROUPS || rayon::current_num_threads() == 1 {
            predict(self.sources.piece());
        } else {
            self.sources.pieces(PREDICT_GROUPS).for_each(predict);
        }
        for (k, &i) in targets.index.iter().enumerate() {
            self.sources.put(i as usize, targets.pos[k], targets.vel[k]);
        }
    }
}

/// Bags in one work item: as many as fit the cache, fewer if that would leave threads idle. A power of two, so that items
/// are whole subtrees of the canonical tree.
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

impl<M: Mode> ForceEngine for CpuEngine<M> {
    fn load(&mut self, all: &Particles) -> Result<()> {
        self.sources.load(all);
        Ok(())
    }

    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        for &i in changed {
            self.sources.store(all, i as usize);
        }
        Ok(())
    }

    fn evaluate(&mut self, now: Time, targets: &Targets, out: &mut Forces) -> Result<()> {
        self.predict_sources(now, targets);
        out.resize(targets.len());
        let n = self.sources.len();
        let serial = targets.len() * n < SERIAL_PAIRS;
        let threads = if serial { 1 } else { rayon::current_num_threads() };
        let per_item = bags_per_item::<M>(targets.len(), bags(n), threads);
        let spans = bags(n).div_ceil(per_item);
        let batch = (MAX_ITEMS / spans).max(1) * TILE;

        let (sources, width, eps2) = (&self.sources, self.width, self.eps2);
        for first in (0..targets.len()).step_by(batch) {
            let last = targets.len().min(first + batch);
            let items = (last - first).div_ceil(TILE) * spans;
            self.partial.resize(items * TILE, Partial::<M>::default());
            let compute = |(item, out): (usize, &mut [Partial<M>])| {
                let tile = first + item / spans * TILE;
                let tile = tile..last.min(tile + TILE);
                width.run(Item::<M> {
                    sources: sources.predicted(),
                    len: n,
                    first_bag: item % spans * per_item,
                    bags: per_item,
                    index: &targets.index[tile.clone()],
                    pos: &targets.pos[tile.clone()],
                    vel: &targets.vel[tile.clone()],
                    eps2,
                    out: &mut out[..tile.len()],
                });
            };
            if threads == 1 {
                self.partial.chunks_mut(TILE).enumerate().for_each(compute);
            } else {
                self.partial.par_chunks_mut(TILE).enumerate().for_each(compute);
            }
            let mut tree = TreeSum::<Partial<M>, FULL_DEPTH>::default();
            for k in first..last {
                let (tile, lane) = ((k - first) / TILE, (k - first) % TILE);
                tree.clear();
                for span in 0..spans {
                    tree.push(per_item.trailing_zeros() as u8, self.partial[(tile * spans + span) * TILE + lane]);
                }
                out.set(k, &Pull::from_sums(tree.root().map(|sum| sum.value())));
            }
        }
        Ok(())
    }
}
