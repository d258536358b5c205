//! Engine with faults, for tests of what a run does about them.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::ops::Range;
use tisane::Result;
use tisane::error::Error;
use tisane::force::neighbours::{NeighbourForces, NeighbourTargets};
use tisane::force::{Block, Evaluation, ForceEngine, Targets};
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
    shortens_lists: bool,
    last: Call,
}

impl<E: Evaluation> FaultyEngine<E> {
    /// Engine whose `fault` may change what is evaluated, or fail.
    pub fn new(
        engine: Box<dyn ForceEngine<E>>,
        fault: impl FnMut(Call, &mut E) -> Result<()> + Send + 'static,
    ) -> Self {
        let last = Call { number: 0, now: Time::default(), repeated: false };
        let (fault, wrong_masses) = (Box::new(fault), (0..0, 1.0));
        Self { block: Vec::new(), engine, fault, wrong_masses, shortens_lists: false, last }
    }

    /// Engine in which the masses of some sources are multiplied by a factor.
    pub fn with_wrong_masses(engine: Box<dyn ForceEngine<E>>, which: Range<usize>, factor: f64) -> Self {
        Self { wrong_masses: (which, factor), ..Self::new(engine, |_, _| Ok(())) }
    }

    /// Engine in whose new lists the last neighbour is missing, though it is not in the regular force either.
    pub fn with_short_lists(engine: Box<dyn ForceEngine<E>>) -> Self {
        Self { shortens_lists: true, ..Self::new(engine, |_, _| Ok(())) }
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

    fn derivatives(&self) -> usize {
        self.engine.derivatives()
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

    fn evaluate_neighbours(&mut self, task: &NeighbourTargets<'_>, out: &mut NeighbourForces<E>) -> Result<()> {
        self.engine.evaluate_neighbours(task, out)?;
        if !self.shortens_lists {
            return Ok(());
        }
        let n = task.regular.len();
        out.lists[..n].iter_mut().for_each(|list| list.truncate(list.len().saturating_sub(1)));
        let lists: Vec<&[u32]> = out.lists[..n].iter().map(Vec::as_slice).collect();
        let targets = Block::of_places(task.targets, task.regular);
        let short = NeighbourTargets { targets: targets.view(), lists: &lists, regular: &[], radius: &[], ..*task };
        let mut found = NeighbourForces::default();
        self.engine.evaluate_neighbours(&short, &mut found)?;
        out.renewed = found.irregular;
        Ok(())
    }
}
