//! Accelerations alone, of all particles on each other, for schemes with a shared step (leapfrog).
//!
//! Each evaluation reads the positions and writes the accelerations in the host's pinned memory, which the kernels
//! access directly; masses are copied once. The sums are those of [`crate::force::cuda::CudaEngine`] in the same mode, bit for bit.

use super::launch::find_kernel;
use super::law;
use crate::error::{Error, Result};
use crate::force::canonical::{BAG, bags};
use crate::force::cuda::driver::device::{Device, Stopwatch};
use crate::force::cuda::driver::memory::{Memory, Pinned};
use crate::force::cuda::driver::module::{Kernel, KernelArgument, Module};
use crate::force::cuda::shapes::acceleration_shape::AccelerationShape;
use crate::force::cuda::shapes::launch_shape::node_bytes;
use crate::force::engine::ForceEngine;
use crate::force::forces::Accelerations;
use crate::force::mode::{Arithmetic, Order};
use crate::force::precision::Precision;
use crate::force::targets::Targets;
use crate::law::Law;
use crate::particles::{Particles, Vec3};
use crate::time::Time;
use rayon::prelude::*;
use std::marker::PhantomData;
use std::sync::Arc;

/// Number of sums in an acceleration.
pub const COMPONENTS: usize = 3;
/// Number of threads in a block of `place`, one a source, and of `reduce_accelerations`, one a sum.
pub const THREADS: u32 = 128;
/// Minimum number of words that a host thread copies.
const SHARE: usize = 1 << 14;
/// Names of the phases of an evaluation in profiles: the first reads the positions, the last writes the accelerations.
const PHASE_NAMES: [&str; 3] = ["copy_up", "force", "reduce"];

/// Argument of the kernels, with the layout of `AccelerationCall` in kernels/acceleration.cuh, which describes the
/// arrays. Both must be changed together. The arrays are borrowed for the lifetime of the call.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct AccelerationCall<'a> {
    pos: u64,
    mass: u64,
    placed: u64,
    partial: u64,
    out: u64,
    eps2: f64,
    eps2_f32: f32,
    sources: u32,
    slots: u32,
    span_bags: u32,
    spans: u32,
    arrays: PhantomData<&'a Memory>,
}

// SAFETY: has the layout of `AccelerationCall` in kernels/acceleration.cuh; the engine checks what it points to.
#[allow(unsafe_code, reason = "what a kernel is given")]
unsafe impl KernelArgument for AccelerationCall<'static> {
    type For<'a> = AccelerationCall<'a>;
}

/// Returns the number of units of 16 bytes of a source (`Place::UNITS` of kernels/acceleration.cuh).
const fn units(precision: Precision) -> usize {
    match precision.arithmetic() {
        Arithmetic { real_bytes: 4, split: false, .. } => 1,
        _ => 2,
    }
}

/// Kernels of a mode.
struct Kernels {
    place: Kernel<AccelerationCall<'static>>,
    /// Kernels by number of targets a thread.
    accelerate: Vec<(usize, Kernel<AccelerationCall<'static>>)>,
    reduce: Kernel<AccelerationCall<'static>>,
    // Keeps the kernels above loaded.
    _module: Arc<Module>,
}

impl Kernels {
    /// Finds the kernels of a mode in a module, for these numbers of targets a thread.
    fn of(module: Arc<Module>, mode: &str, targets: &[usize]) -> Result<Self> {
        Ok(Self {
            place: module.kernel(&format!("place_{mode}"))?,
            accelerate: module.by_targets(&format!("accelerate_{mode}"), targets)?,
            reduce: module.kernel(&format!("reduce_accelerations_{mode}"))?,
            _module: module,
        })
    }
}

/// Memory for a number of particles.
struct Buffers {
    /// Masses, and behind them the columns that a law reads.
    mass: Memory,
    placed: Memory,
    up: Pinned,
    down: Pinned,
    sources: usize,
    slots: usize,
}

/// Engine on one NVIDIA GPU that evaluates accelerations alone.
pub struct CudaAccelerations {
    // Declared in the order in which they must be dropped: kernels and memory before the device.
    kernels: Kernels,
    held: Option<Buffers>,
    /// Memory for the sums over spans, and its size in bytes.
    partial: Option<(Memory, usize)>,
    watch: Option<Stopwatch<3>>,
    device: Device,
    precision: Precision,
    eps2: f64,
    /// Law in place of Newton's.
    law: Option<Arc<Law>>,
    shape: Option<AccelerationShape>,
}

impl CudaAccelerations {
    /// Creates an engine without particles on device number `device`. `epsilon` is the Plummer softening (internal
    /// units).
    ///
    /// # Errors
    /// [`Error::Input`] with advice if there is no driver or no such device, or if the kernels do not run on it.
    pub fn new(precision: Precision, epsilon: f64, device: usize) -> Result<Self> {
        let device = Device::open(device)?;
        let (mode, targets) = (precision.name().replace('-', "_"), AccelerationShape::targets(precision));
        let kernels = Kernels::of(Module::forces(&device)?, &mode, targets)?;
        Ok(Self::with_kernels(kernels, (precision, epsilon), device))
    }

    /// Creates an engine of a [law](crate::law) in place of Newton's: its kernels are compiled for the device.
    ///
    /// # Errors
    /// As [`Self::new`], and if there is no NVRTC.
    pub fn with_law(law: &Arc<Law>, precision: Precision, epsilon: f64, device: usize) -> Result<Self> {
        let device = Device::open(device)?;
        let kernels = Kernels::of(law::load(&device, precision, law)?, "law", &[1])?;
        Ok(Self { law: Some(Arc::clone(law)), ..Self::with_kernels(kernels, (precision, epsilon), device) })
    }

    fn with_kernels(kernels: Kernels, (precision, epsilon): (Precision, f64), device: Device) -> Self {
        let eps2 = epsilon * epsilon;
        Self { kernels, held: None, partial: None, watch: None, device, precision, eps2, law: None, shape: None }
    }

    /// Returns the number of columns that the law reads.
    fn columns(&self) -> usize {
        self.law.as_ref().map_or(0, |law| law.program().columns.len())
    }

    /// Returns the name of the device.
    #[must_use]
    pub fn device_name(&self) -> String {
        self.device.name()
    }

    /// Forces a launch shape, or with [`None`] leaves the choice to the engine: for tuning, and for tests that no shape
    /// changes a bit.
    pub fn set_shape(&mut self, shape: Option<AccelerationShape>) {
        self.shape = shape;
    }

    /// Returns the shape of an evaluation of `n` particles.
    #[must_use]
    pub fn shape(&self, n: usize) -> AccelerationShape {
        let chosen = || AccelerationShape::choose(self.precision, n, self.device.multiprocessors());
        let shape = self.shape.unwrap_or_else(chosen);
        // The kernels of a law are for one target a thread.
        if self.law.is_some() { AccelerationShape { targets: 1, ..shape } } else { shape }
    }

    /// Returns the numbers of targets a thread for which there are kernels in this mode.
    #[must_use]
    pub fn compiled_targets(&self) -> Vec<usize> {
        self.kernels.accelerate.iter().map(|(t, _)| *t).collect()
    }

    /// Starts or stops measuring the time of each phase.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn set_profile(&mut self, on: bool) -> Result<()> {
        self.watch = if on { Some(self.device.stopwatch()?) } else { None };
        Ok(())
    }

    /// Allocates memory for `n` particles, or keeps that of the same size.
    ///
    /// # Errors
    /// [`Error::Input`] with the needed and the free memory if there is too little.
    pub fn reserve(&mut self, n: usize) -> Result<()> {
        if self.held.as_ref().is_some_and(|held| held.sources == n) {
            return Ok(());
        }
        (self.held, self.partial) = (None, None);
        let slots = n.next_multiple_of(BAG);
        if u32::try_from(COMPONENTS * slots).is_err() {
            return Err(Error::input("CUDA", format!("{n} particles are more than the GPU engine can index")));
        }
        let columns = self.columns();
        let of_columns = (columns * self.precision.arithmetic().real_bytes).div_ceil(16);
        let (mass, placed) = (8 * slots * (1 + columns), 16 * (units(self.precision) + of_columns) * slots);
        self.device.require(mass + placed + self.partial_bytes(n), n)?;
        let words = COMPONENTS * n;
        self.held = Some(Buffers {
            mass: self.device.memory(mass)?,
            placed: self.device.memory(placed)?,
            up: self.device.pinned(words.max(slots * (1 + columns)))?,
            down: self.device.pinned(words)?,
            sources: n,
            slots,
        });
        Ok(())
    }

    /// Returns the number of spans of bags, or of bags where the sums of each bag are passed on.
    fn spans(&self, n: usize) -> usize {
        let (all, span_bags) = (bags(n), self.shape(n).span_bags);
        match self.precision.arithmetic().order {
            Order::Running => 1,
            Order::InOrder if span_bags < all => all,
            _ => all.div_ceil(span_bags),
        }
    }

    fn partial_bytes(&self, n: usize) -> usize {
        self.spans(n) * COMPONENTS * n.next_multiple_of(BAG) * node_bytes(self.precision)
    }

    /// Returns the device address of the memory for sums over spans, enlarged if a forced shape needs more.
    fn partial(&mut self, n: usize) -> Result<u64> {
        let needed = self.partial_bytes(n);
        if self.partial.as_ref().is_none_or(|(_, there)| *there < needed) {
            self.partial = None;
            self.device.require(needed, n)?;
            self.partial = Some((self.device.memory(needed)?, needed));
        }
        Ok(self.partial.as_ref().map_or(0, |(memory, _)| memory.address()))
    }
}

/// Copies on all threads if there are enough words.
fn copy(to: &mut [u64], from: &[u64]) {
    if to.len() < 2 * SHARE {
        to.copy_from_slice(from);
    } else {
        to.par_chunks_mut(SHARE).zip(from.par_chunks(SHARE)).for_each(|(to, from)| to.copy_from_slice(from));
    }
}

fn not_loaded(when: &str) -> Error {
    let problem = format!("the CUDA engine was asked for accelerations {when}");
    Error::Integration { problem, help: None }
}

impl ForceEngine<Accelerations> for CudaAccelerations {
    fn load(&mut self, all: &Particles) -> Result<()> {
        let mass = &all.mass;
        if mass.is_empty() {
            self.held = None;
            return Ok(());
        }
        self.reserve(mass.len())?;
        self.partial(mass.len())?;
        let columns = self.law.as_ref().map_or(Ok(Vec::new()), |law| law.columns(all))?;
        let held = self.held.as_mut().ok_or_else(|| not_loaded("before memory was allocated"))?;
        let words = held.slots * (1 + columns.len());
        let values = std::iter::once(&mass[..]).chain(columns);
        for (to, values) in held.up.words_mut()[..words].chunks_exact_mut(held.slots).zip(values) {
            // Padding has no mass.
            let (to, padding) = to.split_at_mut(values.len());
            copy(to, bytemuck::cast_slice(values));
            padding.fill(0);
        }
        self.device.bind()?;
        self.device.copy_up(&held.up, 0..words, &held.mass)?;
        self.device.wait()
    }

    fn update(&mut self, _: &Particles, _: &[u32]) -> Result<()> {
        Ok(())
    }

    fn evaluate(&mut self, _: Time, targets: Targets<'_>, out: &mut Accelerations) -> Result<()> {
        targets.check_all(self.held.as_ref().map_or(0, |held| held.sources))?;
        let n = targets.len();
        out.acc.resize(n, Vec3::zeros());
        if n == 0 {
            return Ok(());
        }
        self.device.bind()?;
        let (partial, spans, shape) = (self.partial(n)?, self.spans(n), self.shape(n));
        let held = self.held.as_mut().ok_or_else(|| not_loaded("before masses were loaded"))?;
        let words = COMPONENTS * n;
        copy(&mut held.up.words_mut()[..words], bytemuck::cast_slice(targets.pos));
        let all = bags(n);
        let span_bags = if spans == 1 { all } else { shape.span_bags };
        let call = AccelerationCall {
            pos: held.up.address(),
            mass: held.mass.address(),
            placed: held.placed.address(),
            partial,
            out: held.down.address(),
            eps2: self.eps2,
            eps2_f32: self.eps2 as f32,
            sources: n as u32,
            slots: held.slots as u32,
            span_bags: span_bags as u32,
            spans: spans as u32,
            arrays: PhantomData,
        };
        let (kernels, device, watch) = (&self.kernels, &self.device, self.watch.as_ref());
        device.mark(watch, 0)?;
        kernels.place.launch(device, (call.slots.div_ceil(THREADS), 1), (THREADS, 1), 0, &call)?;
        device.mark(watch, 1)?;
        let kernel = find_kernel(&kernels.accelerate, shape.targets, self.precision)?;
        let grid = (n.div_ceil(shape.targets * shape.threads) as u32, all.div_ceil(span_bags) as u32);
        let block = (shape.threads as u32, shape.groups(self.precision) as u32);
        kernel.launch(device, grid, block, 0, &call)?;
        device.mark(watch, 2)?;
        kernels.reduce.launch(device, ((words as u32).div_ceil(THREADS), 1), (THREADS, 1), 0, &call)?;
        device.mark(watch, 3)?;
        device.wait()?;
        copy(bytemuck::cast_slice_mut(&mut out.acc), &held.down.words()[..words]);
        Ok(())
    }

    fn spent(&self) -> Result<Vec<(&'static str, f64)>> {
        let Some(watch) = &self.watch else { return Ok(Vec::new()) };
        Ok(PHASE_NAMES.into_iter().zip(watch.microseconds()?.map(|microseconds| 1e-6 * microseconds)).collect())
    }
}
