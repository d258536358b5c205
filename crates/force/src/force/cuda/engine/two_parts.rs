//! Forces in two parts, and block steps by these, of the CUDA engine.

use super::CudaEngine;
use super::buffers::{Buffers, held};
use crate::error::Result;
use crate::force::block_steps::{Pause, Span, StepRules, Taken};
use crate::force::cuda::forces::launch::Call;
use crate::force::cuda::neighbours::forces::HostNeighbours;
use crate::force::cuda::neighbours::kernels::NeighbourKernels;
use crate::force::cuda::neighbours::steps::NeighbourSteps;
use crate::force::cuda::steps::system::System;
use crate::force::forces::Forces;
use crate::force::neighbours::{self, NeighbourForces, NeighbourTargets};
use crate::particles::Particles;

impl CudaEngine {
    /// Evaluates forces in two parts; see [`crate::force::ForceEngine::evaluate_neighbours`].
    pub(super) fn sum_two_parts(
        &mut self,
        task: &NeighbourTargets<'_>,
        out: &mut NeighbourForces<Forces>,
    ) -> Result<()> {
        let scalars = self.send(task.now, task.targets, true)?;
        let held = held(&mut self.held)?;
        let call = Call::new(&held.arrays, &scalars);
        self.kernels.predict(&self.device, &call)?;
        self.device.mark(self.watch.as_ref(), 2)?;
        if held.neighbours.is_none() {
            let kernels = NeighbourKernels::load(&self.device, self.precision)?.ok_or_else(neighbours::not_here)?;
            held.neighbours = Some(HostNeighbours::new(&self.device, kernels, (held.sources, held.slots))?);
        }
        let Some(two_parts) = &mut held.neighbours else { return Err(neighbours::not_here()) };
        two_parts.evaluate(&self.device, (call, self.eps2), task, out)?;
        // The kernels of this force reduce their own sums.
        self.device.mark(self.watch.as_ref(), 3)?;
        self.device.mark(self.watch.as_ref(), 4)?;
        self.device.wait()
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
