//! Forces in two parts, and block steps by these, of the CUDA engine.

use super::CudaEngine;
use super::buffers::{Buffers, held};
use super::share::{Share, TwoParts};
use crate::error::Result;
use crate::force::block_steps::{Pause, Span, StepRules, StepScheme, Taken};
use crate::force::cuda::driver::device::Signal;
use crate::force::cuda::forces::launch::Call;
use crate::force::cuda::neighbours::forces::HostNeighbours;
use crate::force::cuda::neighbours::irregular::is_worth_sending;
use crate::force::cuda::neighbours::kernels::NeighbourKernels;
use crate::force::cuda::neighbours::steps::{NeighbourMember, NeighbourSteps, take_together};
use crate::force::cuda::steps::system::System;
use crate::force::forces::Forces;
use crate::force::neighbours::{NeighbourForces, NeighbourTargets, not_here};
use crate::force::targets::Block;
use crate::particles::Particles;
use std::ops::Range;

impl CudaEngine {
    /// Starts forces in two parts: each of the engines its share of the regular forces, and of the irregular ones if there are many; see
    /// [`crate::force::ForceEngine::begin_neighbours`].
    ///
    /// # Errors
    /// If a device fails.
    pub(super) fn begin_two_parts(engines: &mut [Self], shares: &[Share], task: &NeighbourTargets<'_>) -> Result<()> {
        let is_listed = engines[0].sums_lists(task);
        for (engine, Share { regular, targets }) in engines.iter_mut().zip(shares.iter().cloned()) {
            let listed = if is_listed { Some(targets) } else { None };
            engine.in_two_parts = Some(engine.begin_share(&task.renewing(regular), listed)?);
        }
        Ok(())
    }

    /// Evaluates forces in two parts, which may have been started; see [`crate::force::ForceEngine::evaluate_neighbours`]. The threads of
    /// the host sum the irregular forces that no device does.
    ///
    /// # Errors
    /// If a device fails.
    pub(super) fn sum_two_parts(
        engines: &mut [Self],
        shares: &[Share],
        task: &NeighbourTargets<'_>,
        out: &mut NeighbourForces<Forces>,
    ) -> Result<()> {
        if engines[0].in_two_parts.is_none() {
            Self::begin_two_parts(engines, shares, task)?;
        }
        let NeighbourTargets { now, targets, regular, .. } = *task;
        let is_listed = engines[0].in_two_parts.as_ref().is_some_and(|begun| begun.is_listed);
        out.eps2 = engines[0].eps2;
        out.resize(regular.len());
        out.regular.resize(regular.len());
        if is_listed {
            out.irregular.resize(targets.len());
            out.renewed.resize(regular.len());
        } else {
            // While the devices are at work.
            engines[0].sum_lists(task, &mut out.irregular)?;
        }
        for (engine, share) in engines.iter_mut().zip(shares) {
            engine.end_share(&task.renewing(share.regular.clone()), out, share)?;
        }
        if !is_listed {
            let some = Block::of_places(targets, regular);
            let renewed: Vec<&[u32]> = out.lists[..regular.len()].iter().map(Vec::as_slice).collect();
            let Self { lists: sums, clock, eps2, .. } = &mut engines[0];
            sums.predict_more((now, clock.tick()), &renewed);
            sums.sum(some.view(), &renewed, *eps2, &mut out.renewed);
        }
        Ok(())
    }

    /// Returns true if the device sums the irregular forces of a task.
    fn sums_lists(&self, task: &NeighbourTargets<'_>) -> bool {
        let sources = self.held.as_ref().map_or(0, |held| held.sources);
        self.lists_on_device.unwrap_or_else(|| is_worth_sending(task.lists, sources))
    }

    /// Lets the device sum irregular forces, or the host, or with [`None`] the engine choose: for tests that it changes no bit.
    pub fn set_lists_on_device(&mut self, on: Option<bool>) {
        self.lists_on_device = on;
    }

    /// Sums the irregular forces by the lists of a task.
    fn sum_lists(&mut self, task: &NeighbourTargets<'_>, out: &mut Forces) -> Result<()> {
        self.lists.predict(task, self.clock.tick())?;
        self.lists.sum(task.targets, task.lists, self.eps2, out);
        Ok(())
    }

    /// Starts the device's forces of a task, if it has any.
    fn begin_share(&mut self, task: &NeighbourTargets<'_>, listed: Option<Range<usize>>) -> Result<TwoParts> {
        let is_listed = listed.is_some();
        self.is_idle = task.regular.is_empty() && !is_listed;
        if self.is_idle {
            return Ok(TwoParts::default());
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
        of.begin(&self.device, call, task, listed)?;
        // The kernels of this force reduce their own sums.
        self.device.mark(self.watch.as_ref(), 3)?;
        self.device.mark(self.watch.as_ref(), 4)?;
        Ok(TwoParts { scalars, is_listed })
    }

    /// Completes what [`Self::begin_share`] started, and stores it in its places.
    fn end_share(
        &mut self,
        task: &NeighbourTargets<'_>,
        out: &mut NeighbourForces<Forces>,
        share: &Share,
    ) -> Result<()> {
        let Some(TwoParts { scalars, is_listed }) = self.in_two_parts.take() else { return Ok(()) };
        if task.regular.is_empty() && !is_listed {
            return Ok(());
        }
        self.device.bind()?;
        let Buffers { arrays, neighbours: Some(of), .. } = held(&mut self.held)? else { return Err(not_here()) };
        of.end(&self.device, Call::new(arrays, &scalars), task, (out, share.regular.start, &share.targets))
    }

    /// Takes block steps of the neighbour scheme with several engines, or one, each with a signal for the others; see
    /// [`crate::force::ForceEngine::take_steps`].
    pub(super) fn take_neighbour_steps(
        engines: &mut [Self],
        signals: &[Signal],
        p: &mut Particles,
        rules: &StepRules,
        (span, pause): (Span, Option<&Pause>),
    ) -> Result<Option<Taken>> {
        let StepScheme::AhmadCohen { wanted, max, .. } = rules.scheme else { return Ok(None) };
        let (clock, eps2, number) = (engines[0].clock, engines[0].eps2, engines.len());
        let mut members = Vec::with_capacity(number);
        for (k, engine) in engines.iter_mut().enumerate() {
            let (precision, device, made_for) = (engine.precision, &engine.device, (wanted, max, [number, k]));
            device.bind()?;
            let Buffers { arrays, staging, neighbour_steps, sources, slots, .. } = held(&mut engine.held)?;
            if neighbour_steps.as_ref().is_none_or(|steps| steps.as_ref().is_some_and(|it| it.made_for != made_for)) {
                *neighbour_steps = None;
                let steps = NeighbourSteps::new(device, precision, (*sources, *slots), made_for)?;
                *neighbour_steps = Some(steps.map(Box::new));
            }
            let Some(Some(steps)) = neighbour_steps else { return Ok(None) };
            members.push(NeighbourMember { device, arrays, steps, through: staging.free_words() });
        }
        let system = System { p: &mut *p, clock, eps2, field: None };
        let taken = take_together(&mut members, signals, system, rules, (span, pause))?;
        if taken.is_some_and(|taken| taken.block_steps > 0) {
            // The first one sums what is the host's.
            engines[0].lists.load(p);
        }
        Ok(taken)
    }
}
