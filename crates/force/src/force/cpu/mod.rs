//! The CPU engine: vector units through one generic loop body, all cores through rayon, the bits of the reference
//! engine in every mode.

mod accelerations;
mod arithmetic;
mod bag;
mod choice;
#[cfg(feature = "compiled-laws")]
mod compiled;
#[cfg(not(feature = "compiled-laws"))]
#[path = "uncompiled.rs"]
mod compiled;
mod interaction;
mod inverse_sqrt;
mod irregular;
mod lanes;
mod law;
mod law_blocks;
mod law_item;
mod law_pairs;
pub(super) mod list_sums;
mod near;
mod pair;
mod plan;
mod records;
mod sources;
mod sum;
mod trial;
mod width;

pub use accelerations::{CpuAccelerations, accelerations, law_accelerations};
pub use width::Width;

use super::engine::ForceEngine;
use super::forces::Forces;
use super::mode::{Mode, SUMS, with_mode};
use super::neighbours::{NeighbourForces, NeighbourTargets, limit, newton_only};
use super::points::{FieldEngine, Points};
use super::precision::Precision;
use super::targets::{Block, Targets};
use crate::error::Result;
use crate::gravity::Force;
use crate::law::Law;
use crate::particles::Particles;
use crate::time::{Clock, Time};
use law::LawSources;
use list_sums::ListSums;
use rayon::prelude::*;
use sources::{Predict, SlotChunk, Sources};
use std::ops::Range;
use std::sync::Arc;
use sum::{Partials, Summation};

/// Number of groups of sources that one thread predicts at a time.
const PREDICT_GROUPS: usize = 32;

/// Vectorised engine for the precision mode `M`. Uses the threads of the rayon pool it is called in; neither their
/// number nor the vector width changes a bit of the result.
pub struct CpuEngine<M: Mode> {
    eps2: f64,
    clock: Clock,
    width: Width,
    sources: Sources<M>,
    lists: ListSums,
    partials: Partials<M, SUMS>,
    /// Law in place of Newton's.
    law: Option<LawSources<M>>,
}

/// Creates the CPU engine for a precision mode. `epsilon` is the Plummer softening, `clock` the run's time axis
/// (internal units).
#[must_use]
pub fn engine(precision: Precision, epsilon: f64, clock: Clock, width: Width) -> Box<dyn FieldEngine> {
    with_mode!(precision, M => Box::new(CpuEngine::<M>::new(epsilon, clock, width)))
}

/// Creates the CPU engine of a [law](crate::law) in place of Newton's.
#[must_use]
pub fn law_engine(
    law: &Arc<Law>,
    precision: Precision,
    epsilon: f64,
    clock: Clock,
    width: Width,
) -> Box<dyn FieldEngine> {
    with_mode!(precision, M => {
        let law = Some(LawSources::new::<SUMS>(law));
        Box::new(CpuEngine::<M> { law, ..CpuEngine::new(epsilon, clock, width) })
    })
}

impl<M: Mode> CpuEngine<M> {
    /// Creates an engine without sources. `epsilon` is the Plummer softening, `clock` the run's time axis (internal
    /// units).
    #[must_use]
    pub fn new(epsilon: f64, clock: Clock, width: Width) -> Self {
        Self {
            eps2: epsilon * epsilon,
            clock,
            width,
            sources: Sources::default(),
            lists: ListSums::new(width),
            partials: Partials::default(),
            law: None,
        }
    }

    fn predict_sources(&mut self, now: Time) {
        let (width, tick) = (self.width, self.clock.tick());
        let predict = |chunk: SlotChunk<'_, M>| width.run(Predict { chunk, now, tick });
        if self.sources.predicted().groups() <= PREDICT_GROUPS || rayon::current_num_threads() == 1 {
            predict(self.sources.filled_slots());
        } else {
            self.sources.chunks(PREDICT_GROUPS).for_each(predict);
        }
    }

    /// Sums the forces of the predicted sources on targets, each without the source of its index.
    fn sum(&mut self, targets: Targets<'_>, out: &mut Forces) {
        if self.sources.predicted().len() == 0 {
            *out = Forces::default();
            return out.resize(targets.len());
        }
        out.resize(targets.len());
        let (sources, eps2, width) = (self.sources.predicted(), self.eps2, self.width);
        let sum = Summation::<M, SUMS> { sources, targets, eps2, limits: &[], width, law: self.law.as_ref() };
        sum.run(&mut self.partials, |k, sums| out.set(k, &Force::from_sums(sums)));
    }

    /// Sums the forces of the predicted sources beyond the radius of each target, and lists those within it.
    fn sum_far(&mut self, targets: Targets<'_>, radius: &[f64], out: &mut NeighbourForces<Forces>) {
        let NeighbourForces { regular, lists, .. } = out;
        regular.resize(targets.len());
        if targets.is_empty() {
            return;
        }
        let limits: Vec<f64> = radius.iter().map(|radius| limit(*radius, self.eps2)).collect();
        let (sources, eps2, width) = (self.sources.predicted(), self.eps2, self.width);
        let sum = Summation::<M, SUMS, true> { sources, targets, eps2, limits: &limits, width, law: None };
        sum.run_far(&mut self.partials, lists, |k, sums| regular.set(k, &Force::from_sums(sums)));
    }
}

impl<M: Mode> ForceEngine for CpuEngine<M> {
    fn load(&mut self, all: &Particles) -> Result<()> {
        self.sources.load(all);
        self.lists.load(all);
        self.law.as_mut().map_or(Ok(()), |law| law.load(all))
    }

    fn law(&self) -> Option<(Arc<Law>, f64)> {
        self.law.as_ref().map(|of| (of.law().clone(), self.eps2))
    }

    fn derivatives(&self) -> usize {
        self.sources.derivatives()
    }

    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        changed.iter().for_each(|&i| self.sources.store(all, i as usize));
        self.lists.store(all, changed);
        Ok(())
    }

    fn replace(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        if self.law.is_some() {
            return self.load(all);
        }
        self.sources.grow(all.len());
        changed.iter().for_each(|&i| self.sources.replace(all, i as usize));
        self.lists.store(all, changed);
        Ok(())
    }

    fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut Forces) -> Result<()> {
        self.evaluate_part(now, targets, 0..targets.len(), out)
    }

    fn evaluate_part(&mut self, now: Time, targets: Targets<'_>, part: Range<usize>, out: &mut Forces) -> Result<()> {
        self.predict_sources(now);
        for (k, &i) in targets.index.iter().enumerate() {
            self.sources.put(i as usize, targets.pos[k], targets.vel[k]);
        }
        self.sum(targets.part(part), out);
        Ok(())
    }

    fn evaluate_neighbours(&mut self, task: &NeighbourTargets<'_>, out: &mut NeighbourForces<Forces>) -> Result<()> {
        newton_only(self.law.is_some())?;
        let NeighbourTargets { now, targets, lists, regular, .. } = *task;
        out.eps2 = self.eps2;
        self.lists.predict(task, self.clock.tick())?;
        self.lists.sum(targets, lists, self.eps2, &mut out.irregular);
        out.resize(regular.len());
        let some = Block::of_places(targets, regular);
        if !regular.is_empty() {
            self.predict_sources(now);
            for (k, &i) in targets.index.iter().enumerate() {
                self.sources.put(i as usize, targets.pos[k], targets.vel[k]);
            }
        }
        self.sum_far(some.view(), task.radius, out);
        let cut = out.cut(regular.len(), task.max);
        if !cut.is_empty() {
            let mut whole = Forces::default();
            self.sum(Block::of_places(some.view(), &cut).view(), &mut whole);
            out.regular.replace(&cut, &whole);
        }
        let renewed: Vec<&[u32]> = out.lists[..regular.len()].iter().map(Vec::as_slice).collect();
        self.lists.predict_more((now, self.clock.tick()), &renewed);
        self.lists.sum(some.view(), &renewed, self.eps2, &mut out.renewed);
        Ok(())
    }
}

impl<M: Mode> FieldEngine for CpuEngine<M> {
    fn evaluate_at(&mut self, now: Time, points: Points<'_>, out: &mut Forces) -> Result<()> {
        points.check()?;
        self.law.as_ref().map_or(Ok(()), |law| points.check_for(law.law()))?;
        self.predict_sources(now);
        self.sum(Targets { index: points.exclude, pos: points.pos, vel: points.vel }, out);
        Ok(())
    }

    fn set_softening(&mut self, eps2: f64) {
        self.eps2 = eps2;
    }
}
