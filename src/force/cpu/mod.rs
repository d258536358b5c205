//! The CPU engine: vector units through one generic loop body, all cores through rayon, the bits of the reference
//! engine in every mode.

mod accelerations;
mod inverse_sqrt;
mod lanes;
mod pair;
mod sources;
mod sum;
mod trial;
mod width;

pub use accelerations::{CpuAccelerations, accelerations};
pub use width::Width;

use super::mode::{Mode, SUMS, with_mode};
use super::precision::Precision;
use super::{FieldEngine, ForceEngine, Forces, Points, Targets};
use crate::error::Result;
use crate::gravity::Force;
use crate::particles::Particles;
use crate::time::{Clock, Time};
use lanes::Partial;
use rayon::prelude::*;
use sources::{Predict, SlotChunk, Sources};
use sum::Summation;

/// Number of groups of sources that one thread predicts at a time.
const PREDICT_GROUPS: usize = 32;

/// Vectorised engine for the precision mode `M`. Uses the threads of the rayon pool it is called in; neither their
/// number nor the vector width changes a bit of the result.
pub struct CpuEngine<M: Mode> {
    eps2: f64,
    clock: Clock,
    width: Width,
    sources: Sources<M>,
    partial: Vec<Partial<M, SUMS>>,
}

/// Creates the CPU engine for a precision mode. `epsilon` is the Plummer softening, `clock` the run's time axis
/// (internal units).
#[must_use]
pub fn engine(precision: Precision, epsilon: f64, clock: Clock, width: Width) -> Box<dyn FieldEngine> {
    with_mode!(precision, M => Box::new(CpuEngine::<M>::new(epsilon, clock, width)))
}

impl<M: Mode> CpuEngine<M> {
    /// Creates an engine without sources. `epsilon` is the Plummer softening, `clock` the run's time axis (internal
    /// units).
    #[must_use]
    pub fn new(epsilon: f64, clock: Clock, width: Width) -> Self {
        Self { eps2: epsilon * epsilon, clock, width, sources: Sources::default(), partial: Vec::new() }
    }

    fn predict_sources(&mut self, now: Time) {
        let (width, tick) = (self.width, self.clock.tick());
        let predict = |chunk: SlotChunk<'_, M>| width.run(Predict { chunk, now, tick });
        if self.sources.predicted().groups() <= PREDICT_GROUPS || rayon::current_num_threads() == 1 {
            predict(self.sources.all_slots());
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
        let sum = Summation { sources: self.sources.predicted(), targets, eps2: self.eps2, width: self.width };
        sum.run(&mut self.partial, |k, sums| out.set(k, &Force::from_sums(sums)));
    }
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

    fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut Forces) -> Result<()> {
        self.predict_sources(now);
        for (k, &i) in targets.index.iter().enumerate() {
            self.sources.put(i as usize, targets.pos[k], targets.vel[k]);
        }
        self.sum(targets, out);
        Ok(())
    }
}

impl<M: Mode> FieldEngine for CpuEngine<M> {
    fn evaluate_at(&mut self, now: Time, points: Points<'_>, out: &mut Forces) -> Result<()> {
        points.check()?;
        self.predict_sources(now);
        self.sum(Targets { index: points.exclude, pos: points.pos, vel: points.vel }, out);
        Ok(())
    }

    fn set_softening(&mut self, eps2: f64) {
        self.eps2 = eps2;
    }
}
