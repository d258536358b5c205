//! Kernels of the neighbour scheme, and their launches.

use super::call::{MAX_CUT, NeighbourCall, THREADS};
use crate::error::{Error, Result};
use crate::force::canonical::bags;
use crate::force::cuda::driver::device::Device;
use crate::force::cuda::driver::module::{Kernel, Module};
use crate::force::cuda::shapes::launch_shape::{LaunchShape, MAX_SPAN_BAGS, in_order};
use crate::force::cuda::steps::step_memory::CHUNK;
use crate::force::precision::Precision;
use std::sync::Arc;

/// Kernel that takes a [`NeighbourCall`].
type NeighbourKernel = Kernel<NeighbourCall<'static>>;

/// Number of words of shared memory for the lists of a thread block of near_sort, if it has several warps.
const SORT_WORDS: usize = 12 << 10;
/// Number of threads of a thread block of near_correct.
const CORRECT_THREADS: usize = 128;
/// Number of thread blocks of near_regular for each multiprocessor at least, as far as spans allow.
const BLOCKS: usize = 16;
/// Smallest number of bags in a span.
const MIN_SPAN_BAGS: usize = 4;

/// Kernels of a precision mode.
pub struct NeighbourKernels {
    // Keeps the kernels below loaded.
    _module: Arc<Module>,
    precision: Precision,
    multiprocessors: usize,
    shared_bytes: usize,
    predict: NeighbourKernel,
    put: NeighbourKernel,
    irregular: NeighbourKernel,
    regular: NeighbourKernel,
    reduce: NeighbourKernel,
    cut: NeighbourKernel,
    cut_reduce: NeighbourKernel,
    sort: NeighbourKernel,
    exchange: NeighbourKernel,
    correct: NeighbourKernel,
    lengths: NeighbourKernel,
    pack: NeighbourKernel,
    hand_over: NeighbourKernel,
    count: NeighbourKernel,
    advance: NeighbourKernel,
}

/// Items of a kernel, such as targets.
struct Items {
    number: usize,
    /// Number of threads for each.
    threads: usize,
    /// Number of threads in a thread block.
    of_block: usize,
}

impl Items {
    /// Returns items in thread blocks of the usual size.
    const fn new(number: usize, threads: usize) -> Self {
        Self { number, threads, of_block: THREADS }
    }
}

/// Returns the number of targets a thread of near_regular (`TISANE_NEAR`).
const fn targets_of_thread(precision: Precision) -> usize {
    if precision.in_f64() { 1 } else { 2 }
}

impl NeighbourKernels {
    /// Loads the kernels; [`None`] if there are none for this device.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn load(device: &Device, precision: Precision) -> Result<Option<Self>> {
        let Some(module) = Module::neighbours(device)? else { return Ok(None) };
        let mode = precision.name().replace('-', "_");
        let of_mode = |name: &str| module.kernel(&format!("{name}_{mode}"));
        let kernels = Self {
            precision,
            multiprocessors: device.multiprocessors(),
            shared_bytes: device.max_shared_bytes()?,
            predict: module.kernel("near_predict")?,
            put: module.kernel("near_put")?,
            irregular: module.kernel("near_irregular")?,
            regular: of_mode("near_regular")?,
            reduce: of_mode("near_reduce")?,
            cut: of_mode("near_cut")?,
            cut_reduce: of_mode("near_cut_reduce")?,
            sort: module.kernel("near_sort")?,
            exchange: module.kernel("near_exchange")?,
            correct: module.kernel("near_correct")?,
            lengths: module.kernel("near_lengths")?,
            pack: module.kernel("near_pack")?,
            hand_over: module.kernel("near_hand_over")?,
            count: module.kernel("near_count")?,
            advance: of_mode("near_advance")?,
            _module: module,
        };
        kernels.sort.allow_shared_memory(device)?;
        Ok(Some(kernels))
    }

    /// Launches a kernel for all of some items.
    fn each(kernel: NeighbourKernel, device: &Device, items: Items, call: &NeighbourCall<'_>) -> Result<()> {
        let Items { number, threads, of_block } = items;
        if number == 0 {
            return Ok(());
        }
        let blocks = (number * threads).div_ceil(of_block) as u32;
        kernel.launch(device, (blocks, 1), (of_block as u32, 1), 0, call)
    }

    /// Predicts all `sources` in f64, and puts those that are one of `targets` where these are.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn predict(&self, device: &Device, (sources, targets): (usize, usize), call: &NeighbourCall<'_>) -> Result<()> {
        Self::each(self.predict, device, Items::new(sources, 1), call)?;
        Self::each(self.put, device, Items::new(targets, 1), &call.of(0, targets, false))
    }

    /// Computes the irregular forces on targets from number `first` on, or on those of as many that the device owns: by their lists, or
    /// the new ones of regular targets.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn irregular(
        &self,
        device: &Device,
        (first, number): (usize, usize),
        renewed: bool,
        call: &NeighbourCall<'_>,
    ) -> Result<()> {
        Self::each(self.irregular, device, Items::new(number, 8), &call.of(first, number, renewed))
    }

    /// Computes the regular forces on regular targets from number `first` on among `sources` sources, or on those of as many that the
    /// device owns, and their new lists.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn regular(
        &self,
        device: &Device,
        sources: usize,
        (first, number): (usize, usize),
        call: &NeighbourCall<'_>,
    ) -> Result<()> {
        // Of several devices each has about its part.
        let shape = self.shape(sources, number.div_ceil(call.devices[0] as usize));
        let (span_bags, spans) = shape.spans(self.precision, bags(sources));
        let max = if in_order(self.precision) { number } else { shape.batch(self.precision, bags(sources)) };
        for begin in (first..first + number).step_by(max) {
            let batch = max.min(first + number - begin);
            let mut call = call.of(begin, batch, true);
            call.launched.force = call.launched.force.batch((begin, batch), (span_bags, spans));
            Self::launch_tiles(self.regular, device, shape, (batch, spans), &call)?;
            Self::each(self.reduce, device, Items::new(batch, 7), &call)?;
        }
        Ok(())
    }

    /// Computes the regular forces on the regular targets whose lists would be too long, by all sources. The device knows
    /// their number.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn cut(&self, device: &Device, sources: usize, call: &NeighbourCall<'_>) -> Result<()> {
        let shape = self.shape(sources, MAX_CUT / 8);
        let (span_bags, spans) = shape.spans(self.precision, bags(sources));
        let mut call = call.of(0, MAX_CUT, true);
        call.launched.force = call.launched.force.batch((0, MAX_CUT), (span_bags, spans));
        Self::launch_tiles(self.cut, device, shape, (MAX_CUT, spans), &call)?;
        Self::each(self.cut_reduce, device, Items::new(MAX_CUT, 7), &call)
    }

    /// Returns the shape of regular forces on a number of targets.
    fn shape(&self, sources: usize, targets: usize) -> LaunchShape {
        let of_thread = targets_of_thread(self.precision);
        let threads = targets.div_ceil(of_thread).next_power_of_two().clamp(32, 128);
        let tiles = targets.div_ceil(of_thread * threads);
        let spans = (self.multiprocessors * BLOCKS).div_ceil(tiles).next_power_of_two();
        let span_bags = (bags(sources).next_power_of_two() / spans).clamp(MIN_SPAN_BAGS, MAX_SPAN_BAGS);
        LaunchShape::Tiles { targets: of_thread, threads, span_bags }
    }

    /// Launches a kernel on tiles of targets and spans of bags.
    fn launch_tiles(
        kernel: NeighbourKernel,
        device: &Device,
        shape: LaunchShape,
        (batch, spans): (usize, usize),
        call: &NeighbourCall<'_>,
    ) -> Result<()> {
        let LaunchShape::Tiles { targets, threads, .. } = shape else { return Ok(()) };
        let blocks = (batch.div_ceil(targets * threads) as u32, spans as u32);
        kernel.launch(device, blocks, (threads as u32, 1), 0, call)
    }

    /// Returns true if rows of `capacity` entries can be sorted.
    #[must_use]
    pub const fn can_sort(&self, capacity: usize) -> bool {
        4 * capacity <= self.shared_bytes
    }

    /// Sorts the new lists of regular targets from number `first` on.
    ///
    /// # Errors
    /// [`Error::Input`] if a list may be too long for the device.
    pub fn sort(&self, device: &Device, (first, number): (usize, usize), call: &NeighbourCall<'_>) -> Result<()> {
        let capacity = call.capacity as usize;
        if !self.can_sort(capacity) {
            let problem = format!("lists of {capacity} neighbours are too long for the GPU");
            return Err(Error::input("CUDA", problem).with_help("take fewer neighbours, or the engine cpu"));
        }
        let warps = (SORT_WORDS / capacity.max(1)).clamp(1, THREADS / 32);
        let blocks = number.div_ceil(warps) as u32;
        let shared = (4 * capacity * warps) as u32;
        self.sort.launch(device, (blocks, 1), (32 * warps as u32, 1), shared, &call.of(first, number, true))
    }

    /// Computes what the parts of the force on `number` regular targets exchange.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn exchange(&self, device: &Device, number: usize, call: &NeighbourCall<'_>) -> Result<()> {
        Self::each(self.exchange, device, Items::new(number, 32), &call.of(0, number, true))
    }

    /// Counts the particles by their levels before the first step of a call, or advances to the next moment, for a number of
    /// chunks of particles.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn schedule(&self, device: &Device, chunks: u32, first: bool, call: &NeighbourCall<'_>) -> Result<()> {
        let kernel = if first { self.count } else { self.advance };
        kernel.launch(device, (chunks, 1), (CHUNK as u32, 1), 0, call)
    }

    /// Stores the lengths of the lists of `number` particles for the host.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn lengths(&self, device: &Device, number: usize, call: &NeighbourCall<'_>) -> Result<()> {
        Self::each(self.lengths, device, Items::new(number, 1), &call.of(0, number, false))
    }

    /// Packs the lists of `number` particles from `first` on for the host, or unpacks those that came from it.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn pack(
        &self,
        device: &Device,
        (first, number): (usize, usize),
        unpacks: bool,
        call: &NeighbourCall<'_>,
    ) -> Result<()> {
        Self::each(self.pack, device, Items::new(number, 32), &call.of(first, number, unpacks))
    }

    /// Copies the new lists of regular targets from number `first` on to the host's memory, one after the other.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn hand_over(&self, device: &Device, (first, number): (usize, usize), call: &NeighbourCall<'_>) -> Result<()> {
        Self::each(self.hand_over, device, Items::new(number, 32), &call.of(first, number, true))
    }

    /// Corrects `targets` targets.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn correct(&self, device: &Device, targets: usize, call: &NeighbourCall<'_>) -> Result<()> {
        Self::each(
            self.correct,
            device,
            Items { of_block: CORRECT_THREADS, ..Items::new(targets, 4) },
            &call.of(0, targets, false),
        )
    }
}
