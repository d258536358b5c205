//! Engine with faults, for tests of what a run does about them.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::ops::Range;
use tisane::Result;
use tisane::error::Error;
use tisane::force::{Evaluation, ForceEngine, Targets};
use tisane::particles::Particles;
use tisane::time::Time;

/// One evaluation, as its fault sees it.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Number of the evaluation, from 1.
    pub number: u32,
    /// Moment of the evaluation.
    pub now: Time,
    /// True if the evaluation before was of the same moment. Steps evaluate a moment once; what follows is an output.
    pub repeated: bool,
}

type Fault<E> = Box<dyn FnMut(Call, &mut E) -> Result<()> + Send>;

/// Engine whose evaluations go through a fault, and whose masses may be wrong.
pub struct FaultyEngine<E> {
    /// Targets of the last evaluation.
    pub block: Vec<u32>,
    engine: Box<dyn ForceEngine<E>>,
    fault: Fault<E>,
    wrong_masses: (Range<usize>, f64),
    last: Call,
}

impl<E: Evaluation> FaultyEngine<E> {
    /// Engine whose `fault` may change what is evaluated, or fail.
    pub fn new(
        engine: Box<dyn ForceEngine<E>>,
        fault: impl FnMut(Call, &mut E) -> Result<()> + Send + 'static,
    ) -> Self {
        let last = Call { number: 0, now: Time::default(), repeated: false };
        Self { block: Vec::new(), engine, fault: Box::new(fault), wrong_masses: (0..0, 1.0), last }
    }

    /// Engine in which the masses of some sources are multiplied by a factor.
    pub fn with_wrong_masses(engine: Box<dyn ForceEngine<E>>, which: Range<usize>, factor: f64) -> Self {
        Self { wrong_masses: (which, factor), ..Self::new(engine, |_, _| Ok(())) }
    }
}

/// Error of a GPU that fails.
pub fn lost() -> Error {
    Error::Integration { problem: "the GPU failed (computing): it is gone".into(), help: None }
}

impl<E: Evaluation> ForceEngine<E> for FaultyEngine<E> {
    fn load(&mut self, all: &Particles) -> Result<()> {
        let (mut wrong, (which, factor)) = (all.clone(), self.wrong_masses.clone());
        wrong.mass[which].iter_mut().for_each(|mass| *mass *= factor);
        self.engine.load(&wrong)
    }

    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        self.engine.update(all, changed)
    }

    fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut E) -> Result<()> {
        self.engine.evaluate(now, targets, out)?;
        self.block = targets.index.to_vec();
        let Call { number, now: before, .. } = self.last;
        self.last = Call { number: number + 1, now, repeated: number > 0 && now == before };
        (self.fault)(self.last, out)
    }
}
