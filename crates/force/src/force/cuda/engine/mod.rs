//! The engine of one GPU.

pub(super) mod buffers;
mod field;
pub(super) mod group;
mod share;
mod two_parts;

use crate::error::{Error, Result};
use crate::force::block_steps::{NextStep, Pause, Span, StepField, StepRules, StepScheme, Taken};
use crate::force::canonical::{BAG, bags};
use crate::force::cpu::Width;
use crate::force::cpu::list_sums::ListSums;
use crate::force::cuda::driver::device::{Device, Stopwatch};
use crate::force::cuda::driver::memory::Pinned;
use crate::force::cuda::forces::launch::{Call, Kernels, Scalars};
use crate::force::cuda::forces::law;
use crate::force::cuda::shapes::choice::{self, Shapes};
use crate::force::cuda::shapes::launch_shape::LaunchShape;
use crate::force::cuda::shapes::memory_plan::MemoryPlan;
use crate::force::cuda::shapes::tuning_table::TuningTable;
use crate::force::cuda::steps::device_steps::{DeviceSteps, StepKernels};
use crate::force::cuda::steps::field_source::FieldKernel;
use crate::force::cuda::steps::followed_steps::FollowedSteps;
use crate::force::cuda::steps::launched_steps::Launcher;
use crate::force::cuda::steps::system::System;
use crate::force::engine::ForceEngine;
use crate::force::external::FieldParts;
use crate::force::forces::Forces;
use crate::force::neighbours::{NeighbourForces, NeighbourTargets, newton_only};
use crate::force::precision::Precision;
use crate::force::targets::Targets;
use crate::force::watch::Watch;
use crate::law::Law;
use crate::particles::Particles;
use crate::time::{Clock, Time};
use buffers::{Buffers, held};
use share::{Share, TwoParts};
use std::ops::Range;
use std::sync::Arc;

/// Names of the phases of [`CudaEngine::phases`] in profiles. For a small block all phases but the copy are one kernel
/// and count as `force`; for a block in batches, only the last batch's reduction counts as `reduce`.
const PHASE_NAMES: [&str; 4] = ["copy_up", "predict", "force", "reduce"];

/// Part of the particles, 1 / this number, for which there is room besides where rows have begun.
const MORE: usize = 64;

/// Engine of forces on one NVIDIA GPU.
pub struct CudaEngine {
    // Declared in the order in which they must be dropped: kernels and memory before the device.
    kernels: Kernels,
    held: Option<Buffers>,
    /// External field of whole block steps with its kernel, once there was one; none where it could not be compiled.
    field: Option<(Arc<FieldParts>, Option<FieldKernel>)>,
    watch: Option<Stopwatch<4>>,
    device: Device,
    precision: Precision,
    pub(super) eps2: f64,
    pub(super) clock: Clock,
    /// Law in place of Newton's.
    law: Option<Arc<Law>>,
    /// Number of derivatives by which sources are predicted besides acceleration and jerk.
    derivatives: usize,
    shapes: Shapes,
    shape: Option<LaunchShape>,
    stepping: bool,
    /// Kernels that take whole block steps, if they were asked for.
    step_kernels: Option<StepKernels>,
    /// Largest number of thread blocks of the resident one.
    step_blocks: usize,
    /// Irregular forces of the neighbour scheme that are the host's.
    lists: ListSums,
    /// Flag that an evaluation is in progress.
    begun: bool,
    /// Forces in two parts that are in progress.
    in_two_parts: Option<TwoParts>,
    /// Whether the device sums irregular forces, unless the engine chooses.
    lists_on_device: Option<bool>,
    /// Flag that the device had no part in the last evaluation.
    is_idle: bool,
}

impl CudaEngine {
    /// Creates an engine without sources on device number `device`. `epsilon` is the Plummer softening, `clock` the
    /// run's time axis (internal units).
    ///
    /// # Errors
    /// [`Error::Input`] with advice if there is no driver or no such device, if the kernels do not run on it, or if
    /// `TISANE_SHAPES` names a table of launch shapes that cannot be read.
    pub fn new(precision: Precision, epsilon: f64, clock: Clock, device: usize) -> Result<Self> {
        let device = Device::open(device)?;
        let kernels = Kernels::load(&device, precision)?;
        let shapes = Shapes::Measured(TuningTable::load(precision, &kernels.compiled_targets())?);
        Self::with_kernels(device, (kernels, shapes), precision, epsilon, clock)
    }

    /// Creates an engine of a [law](crate::law) in place of Newton's: its kernels are compiled for the device.
    ///
    /// # Errors
    /// As [`Self::new`], and if there is no NVRTC.
    pub fn with_law(law: &Arc<Law>, precision: Precision, epsilon: f64, clock: Clock, device: usize) -> Result<Self> {
        let device = Device::open(device)?;
        let kernels = Kernels::of_law(&device, precision, law)?;
        let newton = [LaunchShape::whole(precision), LaunchShape::tiles(precision)].map(<[_]>::to_vec);
        let shapes = Shapes::OfLaw {
            newton: TuningTable::load(precision, &newton)?,
            precision,
            columns: law.program().columns.len(),
            choices: law::targets(law, precision),
            multiprocessors: device.multiprocessors(),
        };
        let engine = Self::with_kernels(device, (kernels, shapes), precision, epsilon, clock)?;
        Ok(Self { law: Some(Arc::clone(law)), ..engine })
    }

    fn with_kernels(
        device: Device,
        (kernels, shapes): (Kernels, Shapes),
        precision: Precision,
        epsilon: f64,
        clock: Clock,
    ) -> Result<Self> {
        let step_blocks = device.multiprocessors();
        let width = Width::choose().map_err(|problem| Error::input(Width::VARIABLE, problem))?;
        Ok(Self {
            kernels,
            held: None,
            field: None,
            watch: None,
            device,
            precision,
            eps2: epsilon * epsilon,
            clock,
            law: None,
            derivatives: 0,
            shapes,
            shape: None,
            stepping: true,
            step_kernels: None,
            step_blocks,
            lists: ListSums::new(width),
            begun: false,
            in_two_parts: None,
            lists_on_device: None,
            is_idle: false,
        })
    }

    /// Returns the name of the device.
    #[must_use]
    pub fn device_name(&self) -> String {
        self.device.name()
    }

    /// Forces a launch shape, or with [`None`] leaves the choice to the engine: for tuning, and for tests that no shape
    /// changes a bit.
    pub fn set_shape(&mut self, shape: Option<LaunchShape>) {
        self.shape = shape;
    }

    /// Allows or forbids that the device takes whole block steps. This changes no bit.
    pub fn set_stepping(&mut self, on: bool) {
        self.stepping = on;
    }

    /// Sets the kernels that take whole block steps, or with [`None`] leaves the choice to the engine: for tests that they
    /// change no bit.
    pub fn set_step_kernels(&mut self, kernels: Option<StepKernels>) {
        if self.step_kernels != kernels {
            self.step_kernels = kernels;
            self.held = None;
        }
    }

    /// Sets the largest number of thread blocks of whole block steps; all of them run at the same time. It changes no bit.
    pub(super) fn set_step_blocks(&mut self, blocks: usize) {
        if self.step_blocks != blocks {
            self.step_blocks = blocks;
            self.held = None;
        }
    }

    /// Returns the shape that the engine chooses for a block of `targets` among `sources`.
    #[must_use]
    pub fn shape_for(&self, sources: usize, targets: usize) -> LaunchShape {
        self.shapes.choose(sources, targets)
    }

    /// Starts or stops measuring the time of each phase.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn set_profile(&mut self, on: bool) -> Result<()> {
        self.watch = if on { Some(self.device.stopwatch()?) } else { None };
        Ok(())
    }

    /// Returns the microseconds of the last evaluation on the device: copy up, predict, force, reduce; [`None`] unless
    /// they are measured.
    ///
    /// # Errors
    /// If the driver fails, or nothing was evaluated since the measurement was started.
    pub fn phases(&self) -> Result<Option<[f64; 4]>> {
        self.watch.as_ref().map(Stopwatch::microseconds).transpose()
    }

    /// Returns the numbers of targets for which there are kernels of [`LaunchShape::Whole`] and [`LaunchShape::Tiles`]
    /// in this mode.
    #[must_use]
    pub fn compiled_targets(&self) -> [Vec<usize>; 2] {
        self.kernels.compiled_targets()
    }

    /// Allocates memory for `n` sources, or keeps that it has, if it has room for them and is not much too large. Called before a run
    /// starts, it reports early what would not fit.
    ///
    /// # Errors
    /// [`Error::Input`] with the needed and the free memory if there is too little.
    pub fn reserve(&mut self, n: usize) -> Result<()> {
        if let Some(held) = self.held.as_mut().filter(|held| (n..2 * n.max(BAG)).contains(&held.slots)) {
            held.set_sources(n);
            return Ok(());
        }
        self.held = None;
        let columns = self.law.as_ref().map_or(0, |law| law.program().columns.len());
        let plan = MemoryPlan::new(self.precision, n).with_columns(self.precision, columns);
        let plan = plan.with_derivatives(self.derivatives);
        let slots = plan.slots;
        if u32::try_from(slots).is_err() {
            return Err(Error::input("CUDA", format!("{n} particles are more than the GPU engine can index")));
        }
        self.device.require(plan.on_device(), n)?;
        self.held = Some(Buffers::new(&self.device, plan, n)?);
        Ok(())
    }

    /// Takes note of the derivatives by which particles are to be predicted. Returns true if there was memory for another
    /// number of them, which is given up.
    pub(super) fn note_derivatives(&mut self, all: &Particles) -> bool {
        self.derivatives = if self.precision.in_f64() { all.derivatives().len() } else { 0 };
        let other = self.held.as_ref().is_some_and(|held| held.staging.derivatives() != self.derivatives);
        if other {
            self.held = None;
        }
        other
    }

    /// Copies the staged particles and a block to the device, and returns the scalars for the kernels that follow. The
    /// sources that are targets stand at the targets' positions if `placed`.
    fn send(&mut self, now: Time, targets: Targets<'_>, placed: bool) -> Result<Scalars> {
        self.device.bind()?;
        let held = held(&mut self.held)?;
        held.drop_ahead();
        if held.staging.is_waiting() {
            held.staging.stage_changed();
        }
        let scalars = Scalars {
            now: now.0,
            tick: self.clock.tick(),
            eps2: self.eps2,
            sources: held.sources as u32,
            slots: held.slots as u32,
            changed: held.staging.changed() as u32,
            targets: if placed { targets.len() as u32 } else { 0 },
            columns: held.staging.columns(targets.len()),
            out: held.staging.out_address(),
        };
        held.staging.stage_block(targets);
        self.device.mark(self.watch.as_ref(), 0)?;
        held.staging.send(&self.device, targets.len(), &held.arrays.upload)?;
        self.device.mark(self.watch.as_ref(), 1)?;
        Ok(scalars)
    }

    /// Copies the staged particles alone to the device and stores them there.
    fn flush(&mut self) -> Result<()> {
        self.begin_flush()?;
        self.device.wait()
    }

    /// Starts to do so. The staged particles are in use until then.
    fn begin_flush(&mut self) -> Result<()> {
        let scalars = self.send(Time::default(), Targets::default(), true)?;
        let held = held(&mut self.held)?;
        self.kernels.predict(&self.device, &Call::new(&held.arrays, &scalars))
    }

    /// Sums the forces of all sources on the targets `part`, each without the source of its index, where those of all
    /// targets stand at these if `placed`.
    fn sum(
        &mut self,
        now: Time,
        (targets, part): (Targets<'_>, Range<usize>),
        placed: bool,
        out: &mut Forces,
    ) -> Result<()> {
        if part.is_empty() {
            out.resize(0);
            return Ok(());
        }
        self.begin_sum(now, (targets, part.clone()), placed)?;
        self.end_sum(part, out)
    }

    /// Starts the work of [`sum`](Self::sum), on at least one target.
    fn begin_sum(&mut self, now: Time, (targets, part): (Targets<'_>, Range<usize>), placed: bool) -> Result<()> {
        self.is_idle = false;
        let scalars = self.send(now, targets, placed)?;
        let shape = self.shape.unwrap_or_else(|| self.shape_for(scalars.sources as usize, part.len()));
        let (kernels, device, watch) = (&self.kernels, &self.device, self.watch.as_ref());
        let held = held(&mut self.held)?;
        let all_bags = bags(held.sources);
        let (span_bags, spans) = shape.spans(self.precision, all_bags);
        let max = shape.batch(self.precision, all_bags);
        let call = Call::new(&held.arrays, &scalars);
        let tiles = matches!(shape, LaunchShape::Tiles { .. });
        if tiles {
            kernels.predict(device, &call)?;
        }
        device.mark(watch, 2)?;
        for first in part.clone().step_by(max) {
            let call = call.batch((first, max.min(part.end - first)), (span_bags, spans));
            kernels.force(device, &call, shape)?;
            device.mark(watch, 3)?;
            if tiles {
                kernels.reduce(device, &call)?;
            }
        }
        device.mark(watch, 4)
    }

    fn check_targets(&self, targets: Targets<'_>) {
        let sources = self.held.as_ref().map_or(0, |held| held.sources);
        assert!(targets.index.last().is_none_or(|&i| (i as usize) < sources), "a target beyond the last particle");
    }

    /// Waits for what [`begin_sum`](Self::begin_sum) started, and reads the forces on the targets `part`.
    fn end_sum(&mut self, part: Range<usize>, out: &mut Forces) -> Result<()> {
        self.device.wait()?;
        out.resize(part.len());
        held(&mut self.held)?.staging.read_forces(part.start, out);
        Ok(())
    }
}

impl ForceEngine for CudaEngine {
    fn load(&mut self, all: &Particles) -> Result<()> {
        if all.is_empty() {
            self.held = None;
            return Ok(());
        }
        self.note_derivatives(all);
        self.reserve(all.len())?;
        self.lists.load(all);
        // Coordinate of padding: so far away that without mass it adds exact zeros, near enough that no square
        // overflows.
        let nowhere = if self.precision.in_f64() { 1e150 } else { 1e15 };
        let columns = self.law.as_ref().map_or(Ok(Vec::new()), |law| law.columns(all))?;
        let held = held(&mut self.held)?;
        held.outdate();
        held.staging.upload_all(&self.device, (all, &columns), nowhere, &held.arrays.mass)?;
        self.device.wait()?;
        self.flush()
    }

    fn derivatives(&self) -> usize {
        self.derivatives
    }

    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        if changed.is_empty() {
            return Ok(());
        }
        let held = held(&mut self.held)?;
        held.note_changed(changed);
        held.staging.note_changed(all, changed);
        self.lists.store(all, changed);
        Ok(())
    }

    fn replace(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        match &mut self.held {
            Some(held) if self.law.is_none() && all.len() <= held.slots => {
                self.device.bind()?;
                held.outdate();
                held.set_sources(all.len());
                held.staging.upload_masses(&self.device, (all, changed), &held.arrays.mass)?;
                held.staging.note_changed(all, changed);
                self.lists.store(all, changed);
                self.device.wait()
            }
            _ => {
                // With room for more rows that begin.
                self.reserve(all.len() + all.len() / MORE).or_else(|_| self.reserve(all.len()))?;
                self.load(all)
            }
        }
    }

    fn begin(&mut self, now: Time, targets: Targets<'_>) -> Result<()> {
        self.check_targets(targets);
        if !targets.is_empty() {
            self.begin_sum(now, (targets, 0..targets.len()), true)?;
            self.begun = true;
        }
        Ok(())
    }

    fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut Forces) -> Result<()> {
        if std::mem::take(&mut self.begun) {
            return self.end_sum(0..targets.len(), out);
        }
        self.check_targets(targets);
        self.sum(now, (targets, 0..targets.len()), true, out)
    }

    fn evaluate_part(&mut self, now: Time, targets: Targets<'_>, part: Range<usize>, out: &mut Forces) -> Result<()> {
        self.sum(now, (targets, part), true, out)
    }

    fn begin_neighbours(&mut self, task: &NeighbourTargets<'_>) -> Result<()> {
        if task.targets.is_empty() || self.law.is_some() {
            return Ok(());
        }
        Self::begin_two_parts(std::slice::from_mut(self), &[Share::all(task)], task)
    }

    fn evaluate_neighbours(&mut self, task: &NeighbourTargets<'_>, out: &mut NeighbourForces<Forces>) -> Result<()> {
        newton_only(self.law.is_some())?;
        if task.targets.is_empty() {
            *out = NeighbourForces::default();
            return Ok(());
        }
        Self::sum_two_parts(std::slice::from_mut(self), &[Share::all(task)], task, out)
    }

    fn law(&self) -> Option<(Arc<Law>, f64)> {
        self.law.as_ref().map(|law| (Arc::clone(law), self.eps2))
    }

    fn can_take_steps(&mut self) -> Result<bool> {
        let Some(held) = self.held.as_mut().filter(|_| self.stepping && self.law.is_none()) else { return Ok(false) };
        self.device.bind()?;
        if held.steps.is_none() {
            let sizes = (held.sources, held.slots);
            // In a field the launched ones.
            let in_field = self.field.is_some().then_some(StepKernels::Launched);
            let by = (self.step_kernels.or(in_field), self.step_blocks);
            held.steps = Some(DeviceSteps::new(&self.device, self.precision, sizes, by)?);
        }
        Ok(matches!(held.steps, Some(Some(_))))
    }

    fn take_steps(
        &mut self,
        p: &mut Particles,
        rules: &StepRules,
        span: Span,
        pause: Option<&Pause>,
    ) -> Result<Option<Taken>> {
        self.take(None, p, rules, (span, pause))
    }

    fn take_step(&mut self, p: &mut Particles, rules: &StepRules, next: NextStep<'_>) -> Result<Option<Taken>> {
        self.follow(p, rules, (None, next.from), |steps, launcher, system, through| {
            steps.take(launcher, system, rules, next, through)
        })
    }

    fn take_watched_steps(
        &mut self,
        p: &mut Particles,
        rules: &StepRules,
        span: Span,
        watch: &mut Watch<'_>,
        pause: Option<&Pause>,
    ) -> Result<Option<Taken>> {
        self.follow(p, rules, (None, span.from), |steps, launcher, system, through| {
            steps.take_watched(launcher, system, (rules, span), (watch, pause), through)
        })
    }

    fn reschedule(&mut self, changed: &[u32]) {
        self.held.iter_mut().for_each(|held| held.note_changed(changed));
    }

    /// The neighbour scheme's steps in a field are the host's, and all where there is no NVRTC to compile the field.
    fn can_take_steps_in(&mut self, field: &Arc<FieldParts>) -> Result<bool> {
        let is_possible = self.stepping && self.law.is_none() && self.held.is_some();
        Ok(is_possible && self.has_kernel_of(field) && self.can_take_steps()?)
    }

    fn take_steps_in(
        &mut self,
        field: StepField<'_>,
        p: &mut Particles,
        rules: &StepRules,
        span: Span,
        pause: Option<&Pause>,
    ) -> Result<Option<Taken>> {
        if matches!(rules.scheme, StepScheme::AhmadCohen { .. }) || !self.has_kernel_of(field.parts) {
            return Ok(None);
        }
        self.take(Some(field), p, rules, (span, pause))
    }

    fn take_step_in(
        &mut self,
        field: StepField<'_>,
        p: &mut Particles,
        rules: &StepRules,
        next: NextStep<'_>,
    ) -> Result<Option<Taken>> {
        if !self.has_kernel_of(field.parts) {
            return Ok(None);
        }
        self.follow(p, rules, (Some(field), next.from), |steps, launcher, system, through| {
            steps.take(launcher, system, rules, next, through)
        })
    }

    fn take_watched_steps_in(
        &mut self,
        field: StepField<'_>,
        p: &mut Particles,
        rules: &StepRules,
        span: Span,
        watch: &mut Watch<'_>,
        pause: Option<&Pause>,
    ) -> Result<Option<Taken>> {
        if !self.has_kernel_of(field.parts) {
            return Ok(None);
        }
        self.follow(p, rules, (Some(field), span.from), |steps, launcher, system, through| {
            steps.take_watched(launcher, system, (rules, span), (watch, pause), through)
        })
    }

    fn spent(&self) -> Result<Vec<(&'static str, f64)>> {
        if self.is_idle {
            return Ok(Vec::new());
        }
        let phases = self.phases()?.into_iter().flatten();
        Ok(PHASE_NAMES.into_iter().zip(phases).map(|(name, microseconds)| (name, 1e-6 * microseconds)).collect())
    }
}

impl CudaEngine {
    /// Compiles the kernel of a field, unless that was tried before. Returns false if there is none.
    fn has_kernel_of(&mut self, field: &Arc<FieldParts>) -> bool {
        if !self.field.as_ref().is_some_and(|(of, _)| Arc::ptr_eq(of, field)) {
            self.field = Some((Arc::clone(field), FieldKernel::new(&self.device, field).ok()));
        }
        matches!(self.field, Some((_, Some(_))))
    }

    /// Takes block steps, in an external field if there is one.
    fn take(
        &mut self,
        field: Option<StepField<'_>>,
        p: &mut Particles,
        rules: &StepRules,
        (span, pause): (Span, Option<&Pause>),
    ) -> Result<Option<Taken>> {
        if !self.can_take_steps()? {
            return Ok(None);
        }
        if self.held.as_ref().is_some_and(|held| held.staging.is_waiting()) {
            self.flush()?;
        }
        if matches!(rules.scheme, StepScheme::AhmadCohen { .. }) {
            return Self::take_neighbour_steps(std::slice::from_mut(self), &[], p, rules, (span, pause));
        }
        if let Some(followed) = self.held.as_mut().and_then(|held| held.followed.as_mut()?.as_mut()) {
            followed.outdate();
        }
        let Some(Buffers { arrays, staging, steps: Some(Some(steps)), sources, .. }) = &mut self.held else {
            return Ok(None);
        };
        let (n, multiprocessors) = (*sources, self.device.multiprocessors());
        let (fixed, precision, shapes) = (self.shape, self.precision, &self.shapes);
        let shape = |targets| choice::choose(fixed, precision, (n, targets), multiprocessors, shapes);
        let of_field = self.field.as_ref().and_then(|(_, kernel)| kernel.as_ref());
        let launcher =
            Launcher { device: &self.device, arrays, kernels: &self.kernels, field: of_field, shape: &shape };
        let system = System { p, clock: self.clock, eps2: self.eps2, field };
        steps.take(launcher, system, rules, span, (pause, staging.free_words()))
    }

    /// Takes block steps from a moment on, in an external field if there is one, of a system that changes between them: by `take`.
    fn follow(
        &mut self,
        p: &mut Particles,
        rules: &StepRules,
        (field, from): (Option<StepField<'_>>, Time),
        take: impl FnOnce(&mut FollowedSteps, Launcher<'_>, System<'_>, &mut Pinned) -> Result<Option<Taken>>,
    ) -> Result<Option<Taken>> {
        let is_possible = self.stepping && self.law.is_none() && !matches!(rules.scheme, StepScheme::AhmadCohen { .. });
        let Some(held) = self.held.as_mut().filter(|_| is_possible) else { return Ok(None) };
        self.device.bind()?;
        if held.followed.is_none() {
            let by = (self.step_kernels, self.step_blocks);
            let steps = FollowedSteps::new(&self.device, self.precision, (held.sources, held.slots), by)?;
            held.followed = Some(steps.map(Box::new));
        }
        // Before anything is sent.
        if !matches!(&held.followed, Some(Some(steps)) if steps.can_follow(p, from)) {
            return Ok(None);
        }
        if held.staging.is_waiting() {
            // Where all is sent anew that passes the same memory.
            if held.followed.iter().flatten().any(|steps| steps.is_current(rules)) {
                self.begin_flush()?;
            } else {
                self.flush()?;
            }
        }
        let Some(Buffers { arrays, staging, steps, followed: Some(Some(followed)), sources, .. }) = &mut self.held
        else {
            return Ok(None);
        };
        steps.iter_mut().flatten().for_each(DeviceSteps::outdate);
        let (n, multiprocessors) = (*sources, self.device.multiprocessors());
        let (fixed, precision, shapes) = (self.shape, self.precision, &self.shapes);
        let shape = |targets| choice::choose(fixed, precision, (n, targets), multiprocessors, shapes);
        let of_field = self.field.as_ref().and_then(|(_, kernel)| kernel.as_ref());
        let launcher =
            Launcher { device: &self.device, arrays, kernels: &self.kernels, field: of_field, shape: &shape };
        let system = System { p, clock: self.clock, eps2: self.eps2, field };
        let taken = take(followed, launcher, system, staging.free_words())?;
        if taken.is_none() {
            // It has not waited for what was sent.
            self.device.wait()?;
        }
        Ok(taken)
    }
}
