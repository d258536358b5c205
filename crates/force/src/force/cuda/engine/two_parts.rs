//! Forces in two parts, and block steps by these, of the CUDA engine.

use super::CudaEngine;
use super::buffers::{Buffers, held};
use crate::error::Result;
use crate::force::block_steps::{Pause, Span, StepRules, Taken};
use crate::force::cuda::forces::launch::{Call, Scalars};
use crate::force::cuda::neighbours::forces::HostNeighbours;
use crate::force::cuda::neighbours::kernels::NeighbourKernels;
use crate::force::cuda::neighbours::steps::NeighbourSteps;
use crate::force::cuda::steps::system::System;
use crate::force::forces::Forces;
use crate::force::neighbours::{NeighbourForces, NeighbourTargets, not_here};
use crate::force::targets::Block;
use crate::particles::Particles;
use std::ops::Range;

impl CudaEngine {
    /// Evaluates forces in two parts, each of the engines the regular forces on its part of the regular targets, and the threads of the
    /// host the irregular forces; see [`crate::force::ForceEngine::evaluate_neighbours`].
    ///
    /// # Errors
    /// If a device fails.
    pub(super) fn sum_two_parts(
        engines: &mut [Self],
        parts: &[Range<usize>],
        task: &NeighbourTargets<'_>,
        out: &mut NeighbourForces<Forces>,
    ) -> Result<()> {
        let NeighbourTargets { now, targets, regular, .. } = *task;
        let begun: Vec<Scalars> = engines
            .iter_mut()
            .zip(parts)
            .map(|(engine, part)| engine.begin_regular(&task.renewing(part.clone())))
            .collect::<Result<_>>()?;
        out.eps2 = engines[0].eps2;
        out.resize(regular.len());
        out.regular.resize(regular.len());
        // While the devices are at work.
        engines[0].sum_lists(task, &mut out.irregular)?;
        for ((engine, part), scalars) in engines.iter_mut().zip(parts).zip(begun) {
            engine.end_regular(&task.renewing(part.clone()), scalars, (out, part.start))?;
        }
        let some = Block::of_places(targets, regular);
        let renewed: Vec<&[u32]> = out.lists[..regular.len()].iter().map(Vec::as_slice).collect();
        let Self { lists: sums, clock, eps2, .. } = &mut engines[0];
        sums.predict_more((now, clock.tick()), &renewed);
        sums.sum(some.view(), &renewed, *eps2, &mut out.renewed);
        Ok(())
    }

    /// Sums the irregular forces by the lists of a task.
    fn sum_lists(&mut self, task: &NeighbourTargets<'_>, out: &mut Forces) -> Result<()> {
        self.lists.predict(task, self.clock.tick())?;
        self.lists.sum(task.targets, task.lists, self.eps2, out);
        Ok(())
    }

    /// Starts the regular forces of a task, if it has any. Returns what they are launched with.
    fn begin_regular(&mut self, task: &NeighbourTargets<'_>) -> Result<Scalars> {
        self.is_idle = task.regular.is_empty();
        if self.is_idle {
            return Ok(Scalars::default());
        }
        let scalars = self.send(task.now, task.targets, true)?;
        let held = held(&mut self.held)?;
        let call = Call::new(&held.arrays, &scalars);
        self.kernels.predict(&self.device, &call)?;
        self.device.mark(self.watch.as_ref(), 2)?;
        if held.neighbours.is_none() {
            let kernels = NeighbourKernels::load(&self.device, self.precision)?.ok_or_else(not_here)?;
            held.neighbours = Some(HostNeighbours::new(&self.device, kernels, (held.sources, held.slots))?);
        }
        let Some(of) = &mut held.neighbours else { return Err(not_here()) };
        of.begin(&self.device, call, task)?;
        // The kernels of this force reduce their own sums.
        self.device.mark(self.watch.as_ref(), 3)?;
        self.device.mark(self.watch.as_ref(), 4)?;
        Ok(scalars)
    }

    /// Completes what [`Self::begin_regular`] started, and stores it from a place on.
    fn end_regular(
        &mut self,
        task: &NeighbourTargets<'_>,
        scalars: Scalars,
        to: (&mut NeighbourForces<Forces>, usize),
    ) -> Result<()> {
        if task.regular.is_empty() {
            return Ok(());
        }
        self.device.bind()?;
        let Buffers { arrays, neighbours: Some(of), .. } = held(&mut self.held)? else { return Err(not_here()) };
        of.end(&self.device, Call::new(arrays, &scalars), task, to)
    }

    /// Takes block steps of the neighbour scheme; see [`crate::force::ForceEngine::take_steps`].
    pub(super) fn take_neighbour_steps(
        &mut self,
        lists: (f64, usize),
        p: &mut Particles,
        rules: &StepRules,
        span: Span,
        pause: Option<&Pause>,
    ) -> Result<Option<Taken>> {
        let (precision, clock, eps2) = (self.precision, self.clock, self.eps2);
        let Buffers { arrays, staging, neighbour_steps, sources, slots, .. } = held(&mut self.held)?;
        if neighbour_steps.as_ref().is_none_or(|steps| steps.as_ref().is_some_and(|it| it.made_for != lists)) {
            *neighbour_steps = None;
            let steps = NeighbourSteps::new(&self.device, precision, (*sources, *slots), lists)?;
            *neighbour_steps = Some(steps.map(Box::new));
        }
        let Some(Some(steps)) = neighbour_steps else { return Ok(None) };
        let way = (pause, staging.free_words());
        steps.take((&self.device, arrays), System { p, clock, eps2 }, rules, span, way)
    }
}
