//! Whole block steps on the device by kernels that the host launches one after the other (kernels/launched_steps.cu), for
//! systems that are too large for the kernel of [`super::resident`], or quicker so. The state stays on the device; the host
//! learns the next moment and the number of its targets, and launches the forces in the shape for them.

use super::field_call::FieldCall;
use super::field_memory::FieldMemory;
use super::field_source::FieldKernel;
use super::launched_call::LaunchedCall;
use super::launched_span::LaunchedSpan;
use super::step_memory::{CHUNK, Report, StepMemory};
use super::step_state::StepState;
use super::system::System;
use crate::error::Result;
use crate::force::block_steps::{Pause, Span, StepField, StepRules, Taken, is_on_schedule};
use crate::force::canonical::bags;
use crate::force::cuda::driver::device::Device;
use crate::force::cuda::driver::memory::Pinned;
use crate::force::cuda::driver::module::{Kernel, Module};
use crate::force::cuda::forces::launch::{Arrays, Kernels};
use crate::force::cuda::shapes::launch_shape::{LaunchShape, in_order};
use crate::force::precision::Precision;
use crate::particles::Particles;
use crate::time::{Clock, Time};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Number of threads of a thread block of `correct` (`CORRECT_THREADS`).
pub const CORRECT_THREADS: usize = 256;
/// Number of threads of a thread block of `weigh` and of `judge` (`WEIGH_THREADS`, `JUDGE_THREADS` of kernels/watch.cu).
pub const WEIGH_THREADS: usize = 128;
/// See [`WEIGH_THREADS`].
pub const JUDGE_THREADS: usize = 256;
/// Least number of sources of a slice (`MIN_SLICE` of the same file).
pub const MIN_SLICE: usize = 64;
/// Number of spans that a thread reads at a time (`CHUNK` of kernels/reduce.cuh).
const SPANS: usize = 32;
/// Largest number of threads that share the spans of a sum: then a thread block has one target.
const MAX_PARTS: usize = CORRECT_THREADS / 8;

/// Kernels of block steps with their memory, for a number of sources.
pub struct LaunchedSteps {
    // Keeps the kernels loaded.
    _module: Arc<Module>,
    count: Kernel<LaunchedCall<'static>>,
    advance: Kernel<LaunchedCall<'static>>,
    correct: Kernel<LaunchedCall<'static>>,
    put: Kernel<LaunchedCall<'static>>,
    weigh: Kernel<LaunchedCall<'static>>,
    judge: Kernel<LaunchedCall<'static>>,
    gather: Kernel<LaunchedCall<'static>>,
    scatter: Kernel<LaunchedCall<'static>>,
    precision: Precision,
    memory: StepMemory,
    /// External field, once there was one.
    field: Option<FieldMemory>,
}

/// Returns the number of threads that share the spans of a sum: as many as there are spans to read at a time, as long as
/// all thread blocks run at once.
fn parts_for(targets: usize, spans: usize, multiprocessors: usize) -> usize {
    let max = 2 * multiprocessors * (CORRECT_THREADS / 8) / targets.max(1);
    let at_once = 1 << max.checked_ilog2().unwrap_or_default();
    spans.div_ceil(SPANS).next_power_of_two().min(at_once).min(MAX_PARTS)
}

/// What a call of [`LaunchedSteps::take`] works with.
#[derive(Clone, Copy)]
pub struct Launcher<'a> {
    /// Device, and its arrays.
    pub device: &'a Device,
    /// Arrays of the forces.
    pub arrays: &'a Arrays,
    /// Kernels of the forces.
    pub kernels: &'a Kernels,
    /// Kernel of the external field, if there is one.
    pub field: Option<&'a FieldKernel>,
    /// Shape of the launch for a number of targets.
    pub shape: &'a dyn Fn(usize) -> LaunchShape,
}

impl LaunchedSteps {
    /// Prepares the steps of `sources` sources; [`None`] if there are no kernels for this device, or too little memory.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn new(device: &Device, precision: Precision, (sources, slots): (usize, usize)) -> Result<Option<Self>> {
        let Some(module) = Module::block_steps(device)? else { return Ok(None) };
        let mode = precision.name().replace('-', "_");
        let kernel = |name: &str| module.kernel(&format!("{name}_{mode}"));
        let Some(count) = module.find("count_levels")? else { return Ok(None) };
        let (advance, correct, put) = (kernel("advance")?, kernel("correct")?, kernel("put")?);
        let [weigh, judge, gather, scatter] = ["weigh", "judge", "gather", "scatter"].map(|name| module.kernel(name));
        let (weigh, judge, gather, scatter) = (weigh?, judge?, gather?, scatter?);
        let Some(memory) = StepMemory::new(device, (sources, slots))? else { return Ok(None) };
        let _module = module;
        Ok(Some(Self {
            _module,
            count,
            advance,
            correct,
            put,
            weigh,
            judge,
            gather,
            scatter,
            precision,
            memory,
            field: None,
        }))
    }

    /// Notes that the host changed particles.
    pub fn outdate(&mut self) {
        self.memory.state.current = false;
    }

    /// Sets the number of sources, for which there are slots. To be called with particles that are sent anew.
    pub fn set_sources(&mut self, sources: usize) {
        self.memory.sources = sources;
        self.memory.state.set_sources(sources);
    }

    /// Sets the number of copies of particles with which thread blocks work: where a scheme keeps a history there is memory for theirs.
    /// To be called before the first step.
    pub fn keep_besides(&mut self, working: usize) {
        self.memory.working = self.memory.working.max(working);
    }

    /// Returns what the device keeps of the particles.
    #[must_use]
    pub const fn state(&self) -> &StepState {
        &self.memory.state
    }

    /// Returns true if the device has the state of the particles.
    #[must_use]
    pub const fn is_current(&self) -> bool {
        self.memory.state.current
    }

    /// Takes steps with the particles that the arrays of `launcher` hold, and stores the new state in `p`, which passes
    /// `through` pinned memory; [`None`] if they are not on schedule, or there is too little memory for their history.
    ///
    /// # Errors
    /// If the device fails.
    pub fn take(
        &mut self,
        launcher: Launcher<'_>,
        System { p, clock, eps2, field }: System<'_>,
        rules: &StepRules,
        span: Span,
        (pause, through): (Option<&Pause>, &mut Pinned),
    ) -> Result<Option<Taken>> {
        if !self.send(launcher, p, (rules, span), through)? {
            return Ok(None);
        }
        let Some(field) = self.field_call(launcher.device, field)? else { return Ok(None) };
        let call = LaunchedCall { field, ..self.begin(launcher, (clock, eps2), rules, span)? };
        let taken = self.take_up_to(launcher, call, rules, span, pause)?;
        self.hand_over(launcher, (p, taken), through)?;
        Ok(Some(taken))
    }

    /// Sends the state of the particles, `through` pinned memory, unless the device has it. Returns false if they are not on
    /// schedule, or there is too little memory for their history.
    ///
    /// # Errors
    /// If the device fails.
    pub fn send(
        &mut self,
        Launcher { device, arrays, .. }: Launcher<'_>,
        p: &Particles,
        (rules, span): (&StepRules, Span),
        through: &mut Pinned,
    ) -> Result<bool> {
        let StepMemory { state, sources, working, .. } = &mut self.memory;
        if !state.prepare(device, rules, (*sources, *working), arrays.history.as_ref())? {
            return Ok(false);
        }
        if !state.current {
            if !is_on_schedule(p, span.from) {
                return Ok(false);
            }
            state.send(device, p, through)?;
        }
        Ok(true)
    }

    /// Stores the state after steps in `p`, `through` pinned memory.
    ///
    /// # Errors
    /// If the device fails.
    pub fn hand_over(
        &mut self,
        launcher: Launcher<'_>,
        (p, taken): (&mut Particles, Taken),
        through: &mut Pinned,
    ) -> Result<()> {
        if taken.block_steps > 0 {
            self.memory.state.read(launcher.device, launcher.arrays, (p, taken.now), through)
        } else {
            launcher.device.wait()
        }
    }

    /// Returns what the kernels are given of an external field; [`None`] if there is too little memory for it.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn field_call(&mut self, device: &Device, field: Option<StepField<'_>>) -> Result<Option<FieldCall>> {
        let Some(field) = field else { return Ok(Some(FieldCall::default())) };
        if self.field.is_none() {
            self.field = FieldMemory::new(device, self.memory.slots)?;
        }
        self.field.as_mut().map(|memory| memory.call(device, field)).transpose()
    }

    /// Takes steps with the particles on the device, by the call that [`begin`](Self::begin) returned. Where that looks for pairs, they
    /// end with the first after which one may form.
    ///
    /// # Errors
    /// If the device fails.
    pub fn take_up_to(
        &self,
        launcher: Launcher<'_>,
        call: LaunchedCall<'_>,
        rules: &StepRules,
        span: Span,
        pause: Option<&Pause>,
    ) -> Result<Taken> {
        let mut steps = LaunchedSpan::new(rules, span, (pause, Duration::ZERO));
        loop {
            // It is at work, with the moment from the device, while the host hears of it.
            self.advance(launcher, &call)?;
            let report = self.next(launcher, &mut steps, &[])?;
            if steps.to_look_at() > 0 {
                self.look(launcher, &call, steps.to_look_at())?;
            }
            let Some(report) = report else { return Ok(steps.taken()) };
            self.take_one(launcher, call, rules, &report)?;
        }
    }

    /// Launches the forces on the targets of one step, and their corrections. `report` has their number and the moment.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn take_one(
        &self,
        launcher: Launcher<'_>,
        call: LaunchedCall<'_>,
        rules: &StepRules,
        report: &Report,
    ) -> Result<()> {
        let targets = report.targets as usize;
        let call = at(call, rules, report);
        for _ in 1..rules.scheme.iterations() {
            self.evaluate_and_correct(launcher, &LaunchedCall { last: 0, ..call }, targets)?;
            self.put(launcher, &call, targets)?;
        }
        self.evaluate_and_correct(launcher, &call, targets)
    }

    /// Launches the search for pairs among the targets of the last step whose update is due.
    fn look(&self, Launcher { device, .. }: Launcher<'_>, call: &LaunchedCall<'_>, looked: usize) -> Result<()> {
        let (groups, most) = (looked.div_ceil(32), self.memory.sources.div_ceil(MIN_SLICE));
        let slices = (call.watch.warps as usize / groups).min(most).max(1);
        let blocks = (groups * slices).div_ceil(WEIGH_THREADS / 32) as u32;
        self.weigh.launch(device, (blocks, 1), (WEIGH_THREADS as u32, 1), 0, call)?;
        let blocks = looked.div_ceil(JUDGE_THREADS / 32) as u32;
        self.judge.launch(device, (blocks, 1), (JUDGE_THREADS as u32, 1), 0, call)
    }

    /// Starts to take what the host has given some `rows` besides states and times from its memory at `call.arrays.followed`.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn scatter(&self, Launcher { device, .. }: Launcher<'_>, call: &LaunchedCall<'_>, rows: usize) -> Result<()> {
        let blocks = rows.div_ceil(JUDGE_THREADS) as u32;
        self.scatter.launch(device, (blocks, 1), (JUDGE_THREADS as u32, 1), 0, call)
    }

    /// Starts to write the state of all particles that have moved since a moment to the host's memory at `call.arrays.followed`.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn gather(&self, Launcher { device, .. }: Launcher<'_>, call: &LaunchedCall<'_>, since: Time) -> Result<()> {
        let mut call = *call;
        call.watch.since = since.0;
        self.gather.launch(device, (call.chunks, 1), (CHUNK as u32, 1), 0, &call)
    }

    /// Waits for the report after step `number` of a span.
    ///
    /// # Errors
    /// If the device fails.
    pub fn report(&self, device: &Device, number: u64) -> Result<Report> {
        self.memory.wait_for(device, number, &[])
    }

    /// Returns the call of the kernels, without a moment and a field.
    #[must_use]
    pub fn call<'a>(
        &self,
        Launcher { arrays, .. }: Launcher<'a>,
        physics: (Clock, f64),
        rules: &StepRules,
    ) -> LaunchedCall<'a> {
        self.memory.call(arrays, physics, rules)
    }

    /// Waits for the next report; see [`LaunchedSpan::next`].
    ///
    /// # Errors
    /// If a device fails.
    pub fn next(
        &self,
        launcher: Launcher<'_>,
        steps: &mut LaunchedSpan<'_>,
        with: &[&Device],
    ) -> Result<Option<Report>> {
        steps.next(launcher.device, &self.memory, with)
    }

    /// Prepares the device for a span of steps by other kernels.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn clear(&mut self, device: &Device) -> Result<()> {
        self.memory.clear(device)
    }

    /// Prepares the device for a span of steps. Returns the call of its kernels.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn begin<'a>(
        &mut self,
        Launcher { device, arrays, .. }: Launcher<'a>,
        physics: (Clock, f64),
        rules: &StepRules,
        span: Span,
    ) -> Result<LaunchedCall<'a>> {
        self.memory.clear(device)?;
        let call = self.memory.call(arrays, physics, rules);
        self.count.launch(device, (call.chunks, 1), (CHUNK as u32, 1), 0, &call.at(span.from, 0))?;
        Ok(call)
    }

    /// Launches the kernel that stores the last step and lists the next targets.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn advance(&self, launcher: Launcher<'_>, call: &LaunchedCall<'_>) -> Result<()> {
        self.advance.launch(launcher.device, (call.chunks, 1), (CHUNK as u32, 1), 0, call)
    }

    /// Launches the kernel that puts the targets, and the sources that they are, to their corrected positions.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn put(&self, launcher: Launcher<'_>, call: &LaunchedCall<'_>, targets: usize) -> Result<()> {
        let blocks = targets.div_ceil(CORRECT_THREADS) as u32;
        self.put.launch(launcher.device, (blocks, 1), (CORRECT_THREADS as u32, 1), 0, call)
    }

    /// Launches the forces on the targets of a step, and their correction.
    fn evaluate_and_correct(&self, launcher: Launcher<'_>, call: &LaunchedCall<'_>, targets: usize) -> Result<()> {
        let Launcher { device, kernels, .. } = launcher;
        let shape = (launcher.shape)(targets);
        let mut field = launcher.field.filter(|_| call.field.is_there != 0);
        field.map_or(Ok(()), |field| field.follow(device))?;
        for batch in self.batches(call, shape, 0..targets) {
            let parts = match shape {
                LaunchShape::Whole { .. } => 0,
                LaunchShape::Tiles { .. } if in_order(self.precision) => 1,
                LaunchShape::Tiles { .. } => parts_for(targets, batch.force.spans(), device.multiprocessors()),
            };
            kernels.force(device, &batch.force, shape)?;
            // Beside the first forces, which the device has by now.
            field.take().map_or(Ok(()), |field| field.launch(device, call, targets))?;
            self.correct(launcher, &LaunchedCall { parts: parts as u32, ..batch })?;
        }
        Ok(())
    }

    /// Returns the calls of the forces on the targets `part`: their sums are complete after [`sum`](Self::sum) and
    /// [`complete`](Self::complete), one call after the other.
    #[must_use]
    pub fn calls<'a>(&self, launcher: Launcher<'_>, call: &LaunchedCall<'a>, part: Range<usize>) -> PartCalls<'a> {
        // Of few targets a device may have none; there is no shape for that.
        let shape = (launcher.shape)(part.len().max(1));
        PartCalls { shape, calls: self.batches(call, shape, part).collect() }
    }

    /// Launches the sums of call `number`, if there are so many.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn sum(&self, Launcher { device, kernels, .. }: Launcher<'_>, of: &PartCalls<'_>, number: usize) -> Result<()> {
        of.calls.get(number).map_or(Ok(()), |call| kernels.force(device, &call.force, of.shape))
    }

    /// Launches what completes the sums of call `number`, if there are so many.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn complete(
        &self,
        Launcher { device, kernels, .. }: Launcher<'_>,
        of: &PartCalls<'_>,
        number: usize,
    ) -> Result<()> {
        match of.calls.get(number) {
            Some(call) if matches!(of.shape, LaunchShape::Tiles { .. }) => kernels.reduce(device, &call.force),
            _ => Ok(()),
        }
    }

    /// Launches the correction of the targets `part` by complete forces.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn correct_part(&self, launcher: Launcher<'_>, call: &LaunchedCall<'_>, part: &Range<usize>) -> Result<()> {
        if part.is_empty() {
            return Ok(());
        }
        let force = call.force.batch((part.start, part.len()), (0, 0));
        self.correct(launcher, &LaunchedCall { force, parts: 0, ..*call })
    }

    /// Launches the correction of the targets of a batch.
    fn correct(&self, launcher: Launcher<'_>, call: &LaunchedCall<'_>) -> Result<()> {
        let of_block = CORRECT_THREADS / 8 / (call.parts as usize).max(1);
        let blocks = call.force.targets_of_batch().div_ceil(of_block) as u32;
        self.correct.launch(launcher.device, (blocks, 1), (CORRECT_THREADS as u32, 1), 0, call)
    }

    /// Returns the calls for the targets `part`, as many at a time as there is memory for partial sums.
    fn batches<'a>(
        &self,
        call: &LaunchedCall<'a>,
        shape: LaunchShape,
        part: Range<usize>,
    ) -> impl Iterator<Item = LaunchedCall<'a>> {
        let (call, all_bags, end) = (*call, bags(self.memory.sources), part.end);
        let (spans, max) = (shape.spans(self.precision, all_bags), shape.batch(self.precision, all_bags));
        part.step_by(max)
            .map(move |first| LaunchedCall { force: call.force.batch((first, max.min(end - first)), spans), ..call })
    }
}

/// Calls of the forces on a part of the targets.
pub struct PartCalls<'a> {
    shape: LaunchShape,
    calls: Vec<LaunchedCall<'a>>,
}

impl PartCalls<'_> {
    /// Returns the number of calls.
    #[must_use]
    pub fn len(&self) -> usize {
        self.calls.len()
    }
}

/// Returns the call for the step of a report.
#[must_use]
pub fn at<'a>(call: LaunchedCall<'a>, rules: &StepRules, report: &Report) -> LaunchedCall<'a> {
    // In other schemes the targets do not stand where kernels that predict sources by themselves would put them.
    let alike = rules.scheme.plain_nu().is_some() || call.force.derivatives() > 0;
    let placed = if alike { 0 } else { report.targets as usize };
    call.at(report.moment, placed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_targets_have_more_threads_for_their_spans() {
        let of = |targets, spans| parts_for(targets, spans, 132);
        assert_eq!([of(1, 1), of(1, 32), of(1, 33), of(1, 512), of(1, 1 << 20)], [1, 1, 2, 16, 32]);
        assert_eq!([of(968, 512), of(3904, 256), of(9000, 512), of(1 << 20, 512)], [8, 2, 1, 1]);
    }
}
