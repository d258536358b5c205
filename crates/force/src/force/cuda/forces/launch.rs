//! Kernels for forces, and their launches.

use super::law;
use crate::error::{Error, Result};
use crate::force::canonical::BAG;
use crate::force::cuda::driver::device::Device;
use crate::force::cuda::driver::memory::Memory;
use crate::force::cuda::driver::module::{Kernel, KernelArgument, Module, VARIABLE};
use crate::force::cuda::shapes::launch_shape;
use crate::force::cuda::shapes::launch_shape::LaunchShape;
use crate::force::precision::Precision;
use crate::law::Law;
use std::marker::PhantomData;
use std::sync::Arc;

/// Argument of the kernels, with the layout of `Call` in kernels/call.cuh, which describes the arrays. Both must be
/// changed together. The arrays are borrowed for the lifetime of the call.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Call<'a> {
    held: u64,
    ticks: u64,
    mass: u64,
    more: u64,
    predicted: u64,
    partial: u64,
    arrived: u64,
    out: u64,
    changed_index: u64,
    changed_state: u64,
    changed_more: u64,
    target_index: u64,
    target_state: u64,
    now: u64,
    tick: f64,
    eps2: f64,
    sources: u32,
    slots: u32,
    changed: u32,
    targets: u32,
    first_target: u32,
    batch: u32,
    span_bags: u32,
    spans: u32,
    derivatives: u32,
    unused: u32,
    arrays: PhantomData<&'a Memory>,
}

// SAFETY: has the layout of `Call` in kernels/call.cuh; the engine checks what it points to.
#[allow(unsafe_code, reason = "what a kernel is given")]
unsafe impl KernelArgument for Call<'static> {
    type For<'a> = Call<'a>;
}

/// Arrays on the device.
pub struct Arrays {
    /// Position, velocity, acceleration and jerk of the sources: 12 columns of `slots` f64.
    pub held: Memory,
    /// Times of the sources in ticks: `slots` u64.
    pub ticks: Memory,
    /// Masses of the sources, and behind them the columns that a law reads: `slots` f64 each.
    pub mass: Memory,
    /// What a multi-point scheme keeps of the sources, where they are predicted by its derivatives.
    pub history: Option<SourceHistory>,
    /// Predicted sources: `slots` entries.
    pub predicted: Memory,
    /// Partial sums.
    pub partial: Memory,
    /// Counters of finished tiles: `slots` u32, 0 between evaluations.
    pub arrived: Memory,
    /// Upload from the host; see [`super::staging`].
    pub upload: Memory,
}

/// History of the sources on the device, of which the first columns are derivatives; see
/// [`StepHistory`](crate::force::cuda::steps::step_history::StepHistory), which has all of it while block steps are taken there.
#[derive(Clone)]
pub struct SourceHistory {
    /// Columns of `slots` f64.
    pub columns: Arc<Memory>,
    /// Number of derivatives.
    pub derivatives: usize,
}

/// Scalar arguments of an evaluation.
#[derive(Clone, Copy, Default)]
pub struct Scalars {
    /// Moment of the evaluation in ticks.
    pub now: u64,
    /// Length of a tick in internal units.
    pub tick: f64,
    /// ε².
    pub eps2: f64,
    /// Number of sources.
    pub sources: u32,
    /// Number of sources and padding.
    pub slots: u32,
    /// Number of corrected particles in the upload.
    pub changed: u32,
    /// Number of targets that are sources and stand at the positions in the upload.
    pub targets: u32,
    /// First words of the columns of the upload.
    pub columns: Columns,
    /// Address of the forces, in the host's pinned memory.
    pub out: u64,
}

/// First words of the columns of the upload.
#[derive(Clone, Copy, Default)]
pub struct Columns {
    /// Corrected particles: indices, records, records of further derivatives.
    pub changed: [usize; 3],
    /// Targets: indices, records.
    pub targets: [usize; 2],
}

impl Arrays {
    /// Returns the number of further derivatives by which sources are predicted.
    #[must_use]
    pub fn derivatives(&self) -> usize {
        self.history.as_ref().map_or(0, |history| history.derivatives)
    }
}

impl<'a> Call<'a> {
    /// Creates a call on these arrays.
    pub fn new(arrays: &'a Arrays, scalars: &Scalars) -> Self {
        let column = |word: usize| arrays.upload.address() + 8 * word as u64;
        let ([changed_index, changed_state, changed_more], [target_index, target_state]) =
            (scalars.columns.changed.map(column), scalars.columns.targets.map(column));
        Self {
            held: arrays.held.address(),
            ticks: arrays.ticks.address(),
            mass: arrays.mass.address(),
            more: arrays.history.as_ref().map_or(0, |history| history.columns.address()),
            predicted: arrays.predicted.address(),
            partial: arrays.partial.address(),
            arrived: arrays.arrived.address(),
            out: scalars.out,
            changed_index,
            changed_state,
            changed_more,
            target_index,
            target_state,
            now: scalars.now,
            tick: scalars.tick,
            eps2: scalars.eps2,
            sources: scalars.sources,
            slots: scalars.slots,
            changed: scalars.changed,
            targets: scalars.targets,
            first_target: 0,
            batch: 0,
            span_bags: 0,
            spans: 0,
            derivatives: arrays.derivatives() as u32,
            unused: 0,
            arrays: PhantomData,
        }
    }

    /// Returns the number of further derivatives by which sources are predicted.
    #[must_use]
    pub const fn derivatives(&self) -> usize {
        self.derivatives as usize
    }

    /// Returns the call for the moment `now`, in ticks, where the sources that are one of `placed` targets stand at its
    /// position.
    #[must_use]
    pub fn at(mut self, now: u64, placed: u32) -> Self {
        (self.now, self.targets) = (now, placed);
        self
    }

    /// Returns the call for a batch of targets, with the bags divided into spans.
    #[must_use]
    pub fn batch(mut self, (first, batch): (usize, usize), (span_bags, spans): (usize, usize)) -> Self {
        (self.first_target, self.batch) = (first as u32, batch as u32);
        (self.span_bags, self.spans) = (span_bags as u32, spans as u32);
        self
    }

    /// Returns the number of targets of the batch.
    #[must_use]
    pub const fn targets_of_batch(&self) -> usize {
        self.batch as usize
    }

    /// Returns the number of spans.
    #[must_use]
    pub const fn spans(&self) -> usize {
        self.spans as usize
    }

    /// Returns the call whose forces go to other memory.
    #[must_use]
    pub fn with_out(mut self, out: &Memory) -> Self {
        self.out = out.address();
        self
    }
}

/// Kernels of a precision mode, loaded on a device.
pub struct Kernels {
    // Keeps the kernels below loaded.
    _module: Arc<Module>,
    precision: Precision,
    predict: Kernel<Call<'static>>,
    /// Kernels of [`LaunchShape::Whole`] by number of targets a lane.
    whole: Vec<(usize, Kernel<Call<'static>>)>,
    /// Kernels of [`LaunchShape::Tiles`] by number of targets a thread.
    tiles: Vec<(usize, Kernel<Call<'static>>)>,
    reduce: Kernel<Call<'static>>,
    /// Number of columns that a law reads.
    columns: usize,
}

/// Number of warps, that is of bags, in a block of `predict`.
const PREDICT_WARPS: u32 = 4;
/// Number of threads in a block of `reduce`.
const REDUCE_THREADS: u32 = 128;

impl Kernels {
    /// Loads the kernels of a mode.
    ///
    /// # Errors
    /// [`Error::Input`] if they do not run on this device.
    pub fn load(device: &Device, precision: Precision) -> Result<Self> {
        let shapes = [LaunchShape::whole(precision), LaunchShape::tiles(precision)];
        Self::of(Module::forces(device)?, precision, &precision.name().replace('-', "_"), shapes)
    }

    /// Compiles the kernels of a law in a mode, and loads them.
    ///
    /// # Errors
    /// [`Error::Input`] if there is no NVRTC, or they do not run on this device.
    pub fn of_law(device: &Device, precision: Precision, law: &Law) -> Result<Self> {
        let kernels = Self::of(law::load(device, precision, law)?, precision, "law", law::targets(law, precision))?;
        Ok(Self { columns: law.program().columns.len(), ..kernels })
    }

    fn of(module: Arc<Module>, precision: Precision, mode: &str, [whole, tiles]: [&[usize]; 2]) -> Result<Self> {
        Ok(Self {
            precision,
            predict: module.kernel(&format!("predict_{mode}"))?,
            whole: module.by_targets(&format!("force_whole_{mode}"), whole)?,
            tiles: module.by_targets(&format!("force_tiles_{mode}"), tiles)?,
            reduce: module.kernel(&format!("reduce_{mode}"))?,
            columns: 0,
            _module: module,
        })
    }

    /// Returns the numbers of targets a lane, and a thread, for which there are kernels.
    pub fn compiled_targets(&self) -> [Vec<usize>; 2] {
        [&self.whole, &self.tiles].map(|kernels| kernels.iter().map(|(t, _)| *t).collect())
    }

    /// Stores corrected particles and predicts all sources, for [`LaunchShape::Tiles`].
    ///
    /// # Errors
    /// If the driver fails.
    pub fn predict(&self, device: &Device, call: &Call<'_>) -> Result<()> {
        let bags = call.slots / BAG as u32;
        self.predict.launch(device, (bags.div_ceil(PREDICT_WARPS), 1), (32, PREDICT_WARPS), 0, call)
    }

    /// Sums the forces on a batch over every span of bags; [`LaunchShape::Whole`] also predicts and reduces.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn force(&self, device: &Device, call: &Call<'_>, shape: LaunchShape) -> Result<()> {
        let bags = call.sources.div_ceil(BAG as u32);
        match shape {
            LaunchShape::Whole { targets, warps, .. } => {
                let tiles = call.batch.div_ceil(32 * targets as u32);
                let shared = warps * launch_shape::shared_bytes(self.precision, self.columns, targets);
                let grid = (bags.div_ceil(call.span_bags), tiles);
                find_kernel(&self.whole, targets, self.precision)?.launch(
                    device,
                    grid,
                    (32, warps as u32),
                    shared as u32,
                    call,
                )
            }
            LaunchShape::Tiles { targets, threads, .. } => {
                let tiles = call.batch.div_ceil((targets * threads) as u32);
                let kernel = find_kernel(&self.tiles, targets, self.precision)?;
                kernel.launch(device, (tiles, call.spans), (threads as u32, 1), 0, call)
            }
        }
    }

    /// Adds up the spans.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn reduce(&self, device: &Device, call: &Call<'_>) -> Result<()> {
        self.reduce.launch(device, ((7 * call.batch).div_ceil(REDUCE_THREADS), 1), (REDUCE_THREADS, 1), 0, call)
    }
}

/// Returns the kernel for `targets` targets a thread.
///
/// # Errors
/// [`Error::Input`] if there is none.
pub fn find_kernel<C>(kernels: &[(usize, Kernel<C>)], targets: usize, precision: Precision) -> Result<Kernel<C>> {
    kernels.iter().find(|(t, _)| *t == targets).map(|(_, kernel)| *kernel).ok_or_else(|| {
        let problem = format!("there is no kernel for {targets} targets a thread in {}", precision.name());
        Error::input("CUDA", problem).with_help(format!("{VARIABLE} names a file without this kernel"))
    })
}
