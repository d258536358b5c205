//! The kernels for forces and their launches.

use super::device::{Device, Memory};
use super::launch_shape::{self, LaunchShape};
use super::module::{Kernel, Module, VARIABLE};
use crate::error::{Error, Result};
use crate::force::canonical::BAG;
use crate::force::precision::Precision;
use std::marker::PhantomData;

/// What a kernel is handed: mirrors `Call` of kernels/call.cuh, which says what each array holds. Change both. The arrays
/// are borrowed for as long as the call is there.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Call<'a> {
    held: u64,
    ticks: u64,
    mass: u64,
    predicted: u64,
    partial: u64,
    arrived: u64,
    out: u64,
    changed_index: u64,
    changed_state: u64,
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
    arrays: PhantomData<&'a Memory>,
}

/// The arrays on the device.
pub struct Arrays {
    /// 12 columns of `slots` f64.
    pub held: Memory,
    /// `slots` u64.
    pub ticks: Memory,
    /// `slots` f64.
    pub mass: Memory,
    /// `slots` predicted sources.
    pub predicted: Memory,
    /// MemoryPlan for partial sums.
    pub partial: Memory,
    /// `slots` u32, 0 between evaluations.
    pub arrived: Memory,
    /// What the host sends: see [`super::staging`].
    pub upload: Memory,
}

/// The numbers of an evaluation that no kernel changes.
#[derive(Clone, Copy)]
pub struct Scalars {
    /// Ticks of the moment.
    pub now: u64,
    /// Length of a tick.
    pub tick: f64,
    /// ε².
    pub eps2: f64,
    /// Sources.
    pub sources: u32,
    /// Sources and padding.
    pub slots: u32,
    /// Corrected particles in the upload.
    pub changed: u32,
    /// Targets in the upload.
    pub targets: u32,
    /// Words of the upload at which each column starts.
    pub columns: Columns,
    /// Where it puts the forces: in the host's memory.
    pub out: u64,
}

/// Where the columns of the upload start, in words.
#[derive(Clone, Copy, Default)]
pub struct Columns {
    /// Corrected particles: places, records.
    pub changed: [usize; 2],
    /// Targets: places, records.
    pub targets: [usize; 2],
}

impl<'a> Call<'a> {
    /// A call on these arrays.
    pub fn new(arrays: &'a Arrays, scalars: &Scalars) -> Self {
        let column = |word: usize| arrays.upload.address() + 8 * word as u64;
        let ([changed_index, changed_state], [target_index, target_state]) =
            (scalars.columns.changed.map(column), scalars.columns.targets.map(column));
        Self {
            held: arrays.held.address(),
            ticks: arrays.ticks.address(),
            mass: arrays.mass.address(),
            predicted: arrays.predicted.address(),
            partial: arrays.partial.address(),
            arrived: arrays.arrived.address(),
            out: scalars.out,
            changed_index,
            changed_state,
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
            arrays: PhantomData,
        }
    }

    /// The same for a batch of targets, with the bags cut into spans.
    #[must_use]
    pub fn batch(mut self, (first, batch): (usize, usize), (span_bags, spans): (usize, usize)) -> Self {
        (self.first_target, self.batch) = (first as u32, batch as u32);
        (self.span_bags, self.spans) = (span_bags as u32, spans as u32);
        self
    }
}

/// The kernels of a precision mode, loaded on a device.
pub struct Kernels {
    // Dropped last: the others are good only as long as it is there.
    _module: Module,
    precision: Precision,
    predict: Kernel<Call<'static>>,
    /// By targets a lane.
    whole: Vec<(usize, Kernel<Call<'static>>)>,
    /// By targets a thread.
    tiles: Vec<(usize, Kernel<Call<'static>>)>,
    reduce: Kernel<Call<'static>>,
}

/// Warps, that is bags, in a block of `predict`.
const PREDICT_WARPS: u32 = 4;
/// Threads in a block of `reduce`.
const REDUCE_THREADS: u32 = 128;

impl Kernels {
    /// Loads the kernels of a mode.
    ///
    /// # Errors
    /// [`Error::Input`] if they do not run on this device.
    pub fn load(device: &Device, precision: Precision) -> Result<Self> {
        let module = Module::load(device)?;
        let mode = precision.name().replace('-', "_");
        Ok(Self {
            precision,
            predict: module.kernel(&format!("predict_{mode}"))?,
            whole: module.by_targets(&format!("force_whole_{mode}"), LaunchShape::whole(precision)),
            tiles: module.by_targets(&format!("force_tiles_{mode}"), LaunchShape::tiles(precision)),
            reduce: module.kernel(&format!("reduce_{mode}"))?,
            _module: module,
        })
    }

    /// Scalars of targets a lane, and a thread, that there are kernels for.
    pub fn compiled_targets(&self) -> [Vec<usize>; 2] {
        [&self.whole, &self.tiles].map(|kernels| kernels.iter().map(|(t, _)| *t).collect())
    }

    /// Takes over corrected particles and predicts all sources, for [`LaunchShape::Tiles`].
    ///
    /// # Errors
    /// If the driver refuses the launch.
    pub fn predict(&self, device: &Device, call: &Call<'_>) -> Result<()> {
        let bags = call.slots / BAG as u32;
        self.predict.launch(device, (bags.div_ceil(PREDICT_WARPS), 1), (32, PREDICT_WARPS), 0, call)
    }

    /// Sums the forces on a batch over every span of bags; [`LaunchShape::Whole`] does everything else too.
    ///
    /// # Errors
    /// If the driver refuses the launch.
    pub fn force(&self, device: &Device, call: &Call<'_>, shape: LaunchShape) -> Result<()> {
        let bags = call.sources.div_ceil(BAG as u32);
        match shape {
            LaunchShape::Whole { targets, warps, .. } => {
                let tiles = call.batch.div_ceil(32 * targets as u32);
                let room = warps * launch_shape::shared_bytes(self.precision, targets);
                let grid = (bags.div_ceil(call.span_bags), tiles);
                find_kernel(&self.whole, targets, self.precision)?.launch(
                    device,
                    grid,
                    (32, warps as u32),
                    room as u32,
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
    /// If the driver refuses the launch.
    pub fn reduce(&self, device: &Device, call: &Call<'_>) -> Result<()> {
        self.reduce.launch(device, ((7 * call.batch).div_ceil(REDUCE_THREADS), 1), (REDUCE_THREADS, 1), 0, call)
    }
}

/// The kernel for so many targets a thread.
///
/// # Errors
/// [`Error::Input`] if there is none.
pub fn find_kernel<C>(kernels: &[(usize, Kernel<C>)], targets: usize, precision: Precision) -> Result<Kernel<C>> {
    kernels.iter().find(|(t, _)| *t == targets).map(|(_, kernel)| *kernel).ok_or_else(|| {
        let problem = format!("there is no kernel of {targets} targets a thread for {}", precision.name());
        Error::input("CUDA", problem).with_help(format!("{VARIABLE} names a file without it"))
    })
}
