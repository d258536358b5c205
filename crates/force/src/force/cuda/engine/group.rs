//! Several GPUs of one host that work as one engine.
//!
//! Each holds all sources, and evaluates a part of the targets of a block: the whole canonical sum on each of them, so that
//! the number of GPUs changes no bit. Of whole block steps on the devices each takes all, but the forces: these are sent to
//! the others, and nothing else is: by the resident kernel, whose devices write into each other's memory, or by kernels that the
//! host launches.

use super::CudaEngine;
use super::buffers::{Buffers, held};
use super::share::Share;
use crate::error::{Error, Result};
use crate::force::block_steps::{Pause, Span, StepRules, StepScheme, Taken};
use crate::force::cuda::driver::device::{Device, Signal};
use crate::force::cuda::driver::memory::Memory;
use crate::force::cuda::neighbours::call::MAX_SHARERS;
use crate::force::cuda::shapes::choice::choose;
use crate::force::cuda::shapes::layout::FORCE;
use crate::force::cuda::steps::device_steps::{DeviceSteps, StepKernels};
use crate::force::cuda::steps::launched_call::LaunchedCall;
use crate::force::cuda::steps::launched_span::LaunchedSpan;
use crate::force::cuda::steps::launched_steps::{LaunchedSteps, Launcher, PartCalls, at};
use crate::force::cuda::steps::resident::{ResidentMember, take_together};
use crate::force::cuda::steps::resident_memory::MAX_DEVICES;
use crate::force::cuda::steps::system::System;
use crate::force::engine::ForceEngine;
use crate::force::forces::Forces;
use crate::force::neighbours::{NeighbourForces, NeighbourTargets};
use crate::force::split::put_part;
use crate::force::targets::Targets;
use crate::particles::Particles;
use crate::time::Time;
use std::ops::Range;
use std::time::Duration;

/// Number of targets that are dealt together: a warp.
const TOGETHER: usize = 32;

/// Number of pairs of a block from which resident kernels share it: below it, to send the forces takes longer than to sum them.
const SHARED_PAIRS: usize = 1 << 20;

/// Engine of several GPUs.
pub struct CudaGroup {
    // Declared in the order in which they must be dropped: memory before the devices.
    exchange: Option<Exchange>,
    /// Given when the forces of a device are complete, and where the others read them.
    signals: Vec<Signal>,
    /// Flag that kernels of every device can read the memory of the others.
    direct: bool,
    engines: Vec<CudaEngine>,
    /// Kernels of whole block steps that were asked for.
    asked: Option<StepKernels>,
    /// Number of sources for which kernels were chosen.
    chosen_for: Option<usize>,
    /// Number of pairs of a block from which resident kernels share it.
    shared_pairs: usize,
    some: Forces,
    /// Flag that an evaluation is in progress.
    begun: bool,
}

/// Memory for whole block steps of the Hermite schemes, one entry a device.
struct Exchange {
    /// Forces on the targets, in turn: while they are read, those of the next evaluation may come.
    forces: Vec<[Memory; 2]>,
    slots: usize,
    /// Flag that kernels of every device can read the memory of the others.
    direct: bool,
}

impl CudaGroup {
    /// Makes one engine of several, one a device.
    ///
    /// # Errors
    /// [`Error::Input`] if there is none, or if their bits are not the same: in modes whose kernels take the hardware's
    /// approximation of 1/√, they must have the same compute capability.
    pub fn new(mut engines: Vec<CudaEngine>) -> Result<Self> {
        let Some(first) = engines.first() else { return Err(Error::input("CUDA", "no device for a group of them")) };
        let (precision, capability) = (first.precision, first.device.capability()?);
        for engine in &engines[1..] {
            let other = engine.device.capability()?;
            if !precision.in_f64() && other != capability {
                let [a, b] = [(first, capability), (engine, other)]
                    .map(|(it, (major, minor))| format!("{} ({major}.{minor})", it.device.name()));
                let problem = format!(
                    "{a} and {b} have other compute capabilities, and their bits in {} are not the same",
                    precision.name()
                );
                return Err(Error::input("CUDA", problem).with_help("choose devices of one kind, or the mode f64"));
            }
        }
        let mut direct = true;
        for engine in &engines {
            for other in &engines {
                direct &= engine.device.reach(&other.device)?;
            }
        }
        let room_for = engines[0].held.as_ref().map(|held| held.sources);
        // Resident kernels on one device, as in tests, run side by side.
        let ordinals: Vec<_> = engines.iter().map(|engine| engine.device.ordinal).collect();
        for engine in &mut engines {
            let beside = ordinals.iter().filter(|&&ordinal| ordinal == engine.device.ordinal).count();
            engine.set_step_blocks(engine.device.multiprocessors() / beside);
        }
        let signals = engines.iter().map(|engine| engine.device.signal()).collect::<Result<_>>()?;
        let mut group = Self {
            exchange: None,
            signals,
            direct,
            engines,
            asked: None,
            chosen_for: None,
            shared_pairs: SHARED_PAIRS,
            some: Forces::default(),
            begun: false,
        };
        if let Some(n) = room_for {
            group.reserve(n)?;
        }
        Ok(group)
    }

    /// Allocates memory for `n` sources on each device, or keeps that of the same size.
    ///
    /// # Errors
    /// See [`CudaEngine::reserve`].
    pub fn reserve(&mut self, n: usize) -> Result<()> {
        if self.chosen_for == Some(n) {
            return Ok(());
        }
        let chosen =
            self.asked.unwrap_or_else(|| StepKernels::choose(self.engines[0].precision, n, self.engines.len()));
        let resident = chosen == StepKernels::Resident && self.direct && self.engines.len() <= MAX_DEVICES;
        for kernels in resident.then_some(StepKernels::Resident).into_iter().chain([StepKernels::Launched]) {
            for engine in &mut self.engines {
                engine.set_step_kernels(Some(kernels));
                engine.reserve(n)?;
            }
            if self.can_take_steps()? && self.join()? {
                break;
            }
        }
        self.chosen_for = Some(n);
        Ok(())
    }

    /// Prepares resident kernels for steps with the other devices. Returns false if a device has none.
    fn join(&mut self) -> Result<bool> {
        for CudaEngine { device, held, .. } in &mut self.engines {
            let Some(Buffers { steps: Some(Some(DeviceSteps::Resident(steps))), .. }) = held else { continue };
            device.bind()?;
            if !steps.join(device)? {
                return Ok(false);
            }
            // Its mailbox is cleared before another device writes to it.
            device.wait()?;
        }
        Ok(true)
    }

    /// Sets the kernels that take whole block steps, where the devices have them, or with [`None`] leaves the choice to the
    /// group: for tests that they change no bit.
    pub fn set_step_kernels(&mut self, kernels: Option<StepKernels>) {
        if self.asked != kernels {
            (self.asked, self.chosen_for) = (kernels, None);
        }
    }

    /// Sets the number of pairs of a block from which resident kernels share it: for tests that it changes no bit.
    pub fn set_shared_pairs(&mut self, pairs: usize) {
        self.shared_pairs = pairs;
    }

    /// Returns the engines.
    #[must_use]
    pub fn engines(&self) -> &[CudaEngine] {
        &self.engines
    }

    /// Starts or stops measuring the time of each phase on the first device.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn set_profile(&mut self, on: bool) -> Result<()> {
        self.engines[0].set_profile(on)
    }

    /// Takes steps by the resident kernel of each device.
    fn take_resident_steps(
        &mut self,
        p: &mut Particles,
        rules: &StepRules,
        span: Span,
        pause: Option<&Pause>,
    ) -> Result<Option<Taken>> {
        let (clock, eps2) = (self.engines[0].clock, self.engines[0].eps2);
        let mut members = Vec::with_capacity(self.engines.len());
        for CudaEngine { device, held, .. } in &mut self.engines {
            let Some(Buffers { arrays, staging, steps: Some(Some(DeviceSteps::Resident(steps))), .. }) = held else {
                return Ok(None);
            };
            members.push(ResidentMember { device, arrays, steps, through: staging.free_words() });
        }
        take_together(&mut members, System { p, clock, eps2, field: None }, rules, span, (pause, self.shared_pairs))
    }

    /// Returns the number of multiprocessors of each device, by which targets are dealt.
    fn weights(&self) -> Vec<usize> {
        self.engines.iter().map(|engine| engine.device.multiprocessors()).collect()
    }
}

/// Deals `n` targets by weight, whole groups of [`TOGETHER`] as far as there are enough.
fn deal(n: usize, weights: &[usize]) -> Vec<Range<usize>> {
    let (all, groups): (usize, _) = (weights.iter().sum(), n.div_ceil(TOGETHER));
    let mut before = 0;
    let mut bound = |weight: usize| {
        before += weight;
        (groups * before / all.max(1) * TOGETHER).min(n)
    };
    let mut first = 0;
    weights
        .iter()
        .map(|&weight| {
            let last = bound(weight);
            std::mem::replace(&mut first, last)..last
        })
        .collect()
}

impl Exchange {
    fn new(engines: &[CudaEngine], slots: usize, direct: bool) -> Result<Self> {
        let forces = |engine: &CudaEngine| {
            let memory = || engine.device.memory(8 * FORCE * slots);
            Ok([memory()?, memory()?])
        };
        Ok(Self { forces: engines.iter().map(forces).collect::<Result<_>>()?, slots, direct })
    }

    /// Returns the memory from which device `k` reads the forces of device `other`.
    fn forces_of(&self, other: usize, k: usize, turn: usize) -> &Memory {
        &self.forces[if self.direct { other } else { k }][turn]
    }

    /// Sends the forces of device `k` on the targets `part` to the others, if they cannot read them where they are, and lets it
    /// say that they are there.
    fn send(&self, (k, device): (usize, &Device), turn: usize, part: &Range<usize>, signal: &Signal) -> Result<()> {
        let bytes = 8 * FORCE * part.start..8 * FORCE * part.end;
        for other in (0..self.forces.len()).filter(|&other| other != k && !self.direct && !part.is_empty()) {
            device.copy_to_peer(&self.forces[k][turn], bytes.clone(), &self.forces[other][turn])?;
        }
        device.give(signal)
    }
}

/// A device while it takes steps.
struct Member<'a> {
    launcher: Launcher<'a>,
    steps: &'a mut LaunchedSteps,
    call: LaunchedCall<'a>,
}

/// Takes steps by all members, as [`LaunchedSteps`] does by one.
fn take_up_to(
    members: &mut [Member<'_>],
    (exchange, signals): (&Exchange, &[Signal]),
    weights: &[usize],
    rules: &StepRules,
    (span, pause): (Span, Option<&Pause>),
) -> Result<Taken> {
    let devices: Vec<&Device> = members.iter().map(|member| member.launcher.device).collect();
    let mut steps = LaunchedSpan::new(rules, span, (pause, Duration::ZERO));
    let mut turn = 0;
    loop {
        for member in members.iter() {
            member.launcher.device.bind()?;
            member.steps.advance(member.launcher, &member.call)?;
        }
        // All devices come to the same report.
        let Some(report) = members[0].steps.next(members[0].launcher, &mut steps, &devices[1..])? else { break };
        let targets = report.targets as usize;
        let parts = deal(targets, weights);
        for left in (0..rules.scheme.iterations()).rev() {
            let call = |k: usize, out: &Memory| {
                let call = at(members[k].call, rules, &report);
                LaunchedCall { force: call.force.with_out(out), last: u32::from(left == 0), ..call }
            };
            let calls: Vec<_> = members
                .iter()
                .enumerate()
                .map(|(k, it)| it.steps.calls(it.launcher, &call(k, &exchange.forces[k][turn]), parts[k].clone()))
                .collect();
            // All devices are at work before anything waits for them.
            for number in 0..calls.iter().map(PartCalls::len).max().unwrap_or_default() {
                for (member, calls) in members.iter().zip(&calls) {
                    member.launcher.device.bind()?;
                    member.steps.sum(member.launcher, calls, number)?;
                }
                for (member, calls) in members.iter().zip(&calls) {
                    member.launcher.device.bind()?;
                    member.steps.complete(member.launcher, calls, number)?;
                }
            }
            for (k, part) in parts.iter().enumerate() {
                devices[k].bind()?;
                exchange.send((k, devices[k]), turn, part, &signals[k])?;
            }
            for (k, member) in members.iter().enumerate() {
                member.launcher.device.bind()?;
                // Its own forces are there before those of the others.
                for other in (k..parts.len()).chain(0..k) {
                    if other != k {
                        devices[k].wait_for_signal(&signals[other])?;
                    }
                    let call = call(k, exchange.forces_of(other, k, turn));
                    member.steps.correct_part(member.launcher, &call, &parts[other])?;
                }
                if left > 0 {
                    member.steps.put(member.launcher, &call(k, &exchange.forces[k][turn]), targets)?;
                }
            }
            turn = 1 - turn;
        }
    }
    for device in &devices[1..] {
        device.bind()?;
        device.wait()?;
    }
    devices[0].bind()?;
    Ok(steps.taken())
}

impl CudaGroup {
    /// Starts the forces on the targets `part`, each engine with its own share.
    fn begin_part(&mut self, now: Time, targets: Targets<'_>, part: Range<usize>) -> Result<()> {
        let parts = deal(part.len(), &self.weights());
        self.engines.iter_mut().zip(&parts).filter(|(_, own)| !own.is_empty()).try_for_each(|(engine, own)| {
            engine.begin_sum(now, (targets, part.start + own.start..part.start + own.end), true)
        })
    }

    /// Returns the share of each engine in forces in two parts.
    fn shares(&self, task: &NeighbourTargets<'_>) -> Vec<Share> {
        let [regular, targets] = [task.regular.len(), task.targets.len()].map(|n| deal(n, &self.weights()));
        regular.into_iter().zip(targets).map(|(regular, targets)| Share { regular, targets }).collect()
    }

    /// Waits for the forces on the targets `part`, and reads them.
    fn end_part(&mut self, part: Range<usize>, out: &mut Forces) -> Result<()> {
        let n = part.len();
        let parts = deal(n, &self.weights());
        for (engine, own) in self.engines.iter_mut().zip(&parts).filter(|(_, own)| !own.is_empty()) {
            engine.end_sum(part.start + own.start..part.start + own.end, &mut self.some)?;
            put_part(out, n, own, &self.some);
        }
        out.resize(n);
        Ok(())
    }
}

impl ForceEngine for CudaGroup {
    fn load(&mut self, all: &Particles) -> Result<()> {
        if !all.is_empty() {
            for engine in &mut self.engines {
                if engine.note_derivatives(all) {
                    self.chosen_for = None;
                }
            }
            self.reserve(all.len())?;
        }
        self.engines.iter_mut().try_for_each(|engine| engine.load(all))
    }

    fn derivatives(&self) -> usize {
        self.engines[0].derivatives()
    }

    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        self.engines.iter_mut().try_for_each(|engine| engine.update(all, changed))
    }

    fn replace(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        if self.chosen_for != Some(all.len()) {
            self.chosen_for = None;
        }
        self.engines.iter_mut().try_for_each(|engine| engine.replace(all, changed))
    }

    fn begin(&mut self, now: Time, targets: Targets<'_>) -> Result<()> {
        self.begin_part(now, targets, 0..targets.len())?;
        self.begun = true;
        Ok(())
    }

    fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut Forces) -> Result<()> {
        let part = 0..targets.len();
        if std::mem::take(&mut self.begun) {
            self.end_part(part, out)
        } else {
            self.evaluate_part(now, targets, part, out)
        }
    }

    fn evaluate_part(&mut self, now: Time, targets: Targets<'_>, part: Range<usize>, out: &mut Forces) -> Result<()> {
        // All are at work before the host waits for the first.
        let begun = self.begin_part(now, targets, part.clone());
        self.end_part(part, out)?;
        begun
    }

    fn begin_neighbours(&mut self, task: &NeighbourTargets<'_>) -> Result<()> {
        if task.targets.is_empty() {
            return Ok(());
        }
        let shares = self.shares(task);
        CudaEngine::begin_two_parts(&mut self.engines, &shares, task)
    }

    fn evaluate_neighbours(&mut self, task: &NeighbourTargets<'_>, out: &mut NeighbourForces<Forces>) -> Result<()> {
        let shares = self.shares(task);
        CudaEngine::sum_two_parts(&mut self.engines, &shares, task, out)
    }

    fn can_take_steps(&mut self) -> Result<bool> {
        for engine in &mut self.engines {
            if !engine.can_take_steps()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn take_steps(
        &mut self,
        p: &mut Particles,
        rules: &StepRules,
        span: Span,
        pause: Option<&Pause>,
    ) -> Result<Option<Taken>> {
        if !self.can_take_steps()? {
            return Ok(None);
        }
        let weights = self.weights();
        for engine in &mut self.engines {
            if held(&mut engine.held)?.staging.is_waiting() {
                engine.flush()?;
            }
        }
        if matches!(rules.scheme, StepScheme::AhmadCohen { .. }) {
            if !self.direct || self.engines.len() > MAX_SHARERS {
                return Ok(None);
            }
            return CudaEngine::take_neighbour_steps(&mut self.engines, &self.signals, p, rules, (span, pause));
        }
        if let Some(Buffers { steps: Some(Some(DeviceSteps::Resident(_))), .. }) = self.engines[0].held {
            return self.take_resident_steps(p, rules, span, pause);
        }
        let slots = held(&mut self.engines[0].held)?.slots;
        if self.exchange.as_ref().is_none_or(|exchange| exchange.slots != slots) {
            self.exchange = None;
            self.exchange = Some(Exchange::new(&self.engines, slots, self.direct)?);
        }
        let Some(exchange) = &self.exchange else { return Ok(None) };
        let first = &self.engines[0];
        let (precision, physics) = (first.precision, (first.clock, first.eps2));
        // Shapes are apart from the rest, since members borrow them.
        let (mut shapes, mut engines) = (Vec::new(), Vec::new());
        for CudaEngine { kernels, device, held, shape, shapes: table, .. } in &mut self.engines {
            let (kernels, device, fixed, table) = (&*kernels, &*device, *shape, &*table);
            let n = held.as_ref().map_or(0, |held| held.sources);
            shapes.push(move |targets| choose(fixed, precision, (n, targets), device.multiprocessors(), table));
            engines.push((kernels, device, held));
        }
        let mut members = Vec::with_capacity(engines.len());
        for ((kernels, device, held), shape) in engines.into_iter().zip(&shapes) {
            let Some(Buffers { arrays, staging, steps: Some(Some(DeviceSteps::Launched(steps))), .. }) = held else {
                return Ok(None);
            };
            let launcher = Launcher { device, arrays, kernels, field: None, shape };
            device.bind()?;
            if !steps.send(launcher, p, (rules, span), staging.free_words())? {
                return Ok(None);
            }
            let call = steps.begin(launcher, physics, rules, span)?;
            members.push((Member { launcher, steps, call }, staging));
        }
        let (mut members, mut stagings): (Vec<_>, Vec<_>) = members.into_iter().unzip();
        let taken = take_up_to(&mut members, (exchange, &self.signals), &weights, rules, (span, pause))?;
        let Member { launcher, steps, .. } = &mut members[0];
        steps.hand_over(*launcher, (p, taken), stagings[0].free_words())?;
        Ok(Some(taken))
    }

    fn spent(&self) -> Result<Vec<(&'static str, f64)>> {
        self.engines[0].spent()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_targets_are_dealt_in_order(n in 0_usize..100_000, weights in prop::collection::vec(1_usize..200, 1..9)) {
            let parts = deal(n, &weights);
            prop_assert_eq!(parts.len(), weights.len());
            prop_assert_eq!((parts[0].start, parts[parts.len() - 1].end), (0, n));
            prop_assert!(parts.windows(2).all(|two| two[0].end == two[1].start));
        }
    }
}
