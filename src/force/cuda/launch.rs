//! The kernels and their launches. `unsafe` stands here, in [`super::device`] and in [`super::nvrtc`] alone.

use super::device::{Device, Memory, failed};
use super::nvrtc;
use super::shape::{self, Shape};
use crate::error::{Error, Result};
use crate::force::canonical::BAG;
use crate::force::precision::Precision;
use cudarc::driver::result::{self, module};
use cudarc::driver::sys::{CUfunction, CUmodule};
use std::ffi::{CString, c_void};
use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::Arc;

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
    /// Room for partial sums.
    pub partial: Memory,
    /// `slots` u32, 0 between evaluations.
    pub arrived: Memory,
    /// What the host sends: see [`super::staging`].
    pub upload: Memory,
}

/// The numbers of an evaluation that no kernel changes.
#[derive(Clone, Copy)]
pub struct Numbers {
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
    pub fn new(arrays: &'a Arrays, numbers: &Numbers) -> Self {
        let column = |word: usize| arrays.upload.address() + 8 * word as u64;
        let ([changed_index, changed_state], [target_index, target_state]) =
            (numbers.columns.changed.map(column), numbers.columns.targets.map(column));
        Self {
            held: arrays.held.address(),
            ticks: arrays.ticks.address(),
            mass: arrays.mass.address(),
            predicted: arrays.predicted.address(),
            partial: arrays.partial.address(),
            arrived: arrays.arrived.address(),
            out: numbers.out,
            changed_index,
            changed_state,
            target_index,
            target_state,
            now: numbers.now,
            tick: numbers.tick,
            eps2: numbers.eps2,
            sources: numbers.sources,
            slots: numbers.slots,
            changed: numbers.changed,
            targets: numbers.targets,
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
    module: CUmodule,
    precision: Precision,
    predict: CUfunction,
    /// By targets a lane.
    whole: Vec<(usize, CUfunction)>,
    /// By targets a thread.
    tiles: Vec<(usize, CUfunction)>,
    reduce: CUfunction,
}

// SAFETY: handles into the context, good in every thread that is bound to it.
unsafe impl Send for Kernels {}

/// The compiled kernels, aligned as the driver wants them.
#[repr(C, align(16))]
struct Image<T: ?Sized>(T);

static IMAGE: &Image<[u8]> = &Image(*include_bytes!("../../../kernels/tisane.fatbin"));

/// Environment variable that names a file with other kernels, compiled or (`.cu`) in source: for development.
const VARIABLE: &str = "TISANE_KERNELS";

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
        device.bind()?;
        let from_file = match std::env::var_os(VARIABLE).map(PathBuf::from) {
            None => None,
            Some(path) if path.extension().is_some_and(|kind| kind == "cu") => {
                Some(nvrtc::compile(&path, device.capability()?)?)
            }
            Some(path) => Some(Arc::new(std::fs::read(&path).map_err(|e| Error::input(&path, e))?)),
        };
        let image = from_file.as_ref().map_or(&IMAGE.0, |file| file.as_slice());
        // SAFETY: the image is a whole fatbin or cubin in memory; the driver copies it.
        let module = unsafe { module::load_data(image.as_ptr().cast()) }.map_err(|e| {
            let help = r#"take force.engine = "cpu"; the kernels need compute capability 7.5 and driver 580 or later"#;
            Error::input("CUDA", format!("the kernels do not load on {}: {e}", device.name())).with_help(help)
        })?;
        let mode = precision.name().replace('-', "_");
        let function = |name: String| {
            let name = CString::new(name).expect("a name without NUL");
            // SAFETY: the module was just loaded and is unloaded only when the kernels are dropped.
            unsafe { module::get_function(module, name) }
        };
        let by_targets = |kind: &str, choices: &[usize]| {
            let load = |t: usize| function(format!("{kind}_{mode}_{t}")).ok().map(|f| (t, f));
            // A file of one's own may hold more of them.
            if from_file.is_some() {
                (1..=8).filter_map(load).collect()
            } else {
                choices.iter().copied().filter_map(load).collect::<Vec<_>>()
            }
        };
        let one = |name: String| function(name).map_err(failed("finding a kernel"));
        Ok(Self {
            module,
            precision,
            predict: one(format!("predict_{mode}"))?,
            whole: by_targets("force_whole", Shape::whole(precision)),
            tiles: by_targets("force_tiles", Shape::tiles(precision)),
            reduce: one(format!("reduce_{mode}"))?,
        })
    }

    /// Numbers of targets a lane, and a thread, that there are kernels for.
    pub fn choices(&self) -> [Vec<usize>; 2] {
        [&self.whole, &self.tiles].map(|kernels| kernels.iter().map(|(t, _)| *t).collect())
    }

    /// Takes over corrected particles and predicts all sources, for [`Shape::Tiles`].
    ///
    /// # Errors
    /// If the driver refuses the launch.
    pub fn predict(&self, device: &Device, call: &Call<'_>) -> Result<()> {
        let bags = call.slots / BAG as u32;
        launch(device, self.predict, (bags.div_ceil(PREDICT_WARPS), 1), (32, PREDICT_WARPS), 0, call)
    }

    /// Sums the forces on a batch over every span of bags; [`Shape::Whole`] does everything else too.
    ///
    /// # Errors
    /// If the driver refuses the launch.
    pub fn force(&self, device: &Device, call: &Call<'_>, shape: Shape) -> Result<()> {
        let find = |kernels: &[(usize, CUfunction)], targets: usize| {
            let found = kernels.iter().find(|(t, _)| *t == targets);
            found.map(|(_, f)| *f).ok_or_else(|| {
                let problem = format!("there is no kernel of {targets} targets a thread for {}", self.precision.name());
                Error::input("CUDA", problem).with_help(format!("{VARIABLE} names a file without it"))
            })
        };
        let bags = call.sources.div_ceil(BAG as u32);
        match shape {
            Shape::Whole { targets, warps, .. } => {
                let tiles = call.batch.div_ceil(32 * targets as u32);
                let room = warps * shape::room(self.precision, targets);
                let grid = (bags.div_ceil(call.span_bags), tiles);
                launch(device, find(&self.whole, targets)?, grid, (32, warps as u32), room as u32, call)
            }
            Shape::Tiles { targets, threads, .. } => {
                let tiles = call.batch.div_ceil((targets * threads) as u32);
                launch(device, find(&self.tiles, targets)?, (tiles, call.spans), (threads as u32, 1), 0, call)
            }
        }
    }

    /// Adds up the spans.
    ///
    /// # Errors
    /// If the driver refuses the launch.
    pub fn reduce(&self, device: &Device, call: &Call<'_>) -> Result<()> {
        launch(device, self.reduce, ((7 * call.batch).div_ceil(REDUCE_THREADS), 1), (REDUCE_THREADS, 1), 0, call)
    }
}

impl Drop for Kernels {
    fn drop(&mut self) {
        // SAFETY: loaded once, unloaded once; no function of it is launched after this. An error means a lost device.
        let _ = unsafe { module::unload(self.module) };
    }
}

fn launch(
    device: &Device,
    kernel: CUfunction,
    (blocks, rows): (u32, u32),
    (threads, warps): (u32, u32),
    shared_bytes: u32,
    call: &Call<'_>,
) -> Result<()> {
    let mut parameters = [std::ptr::from_ref(call).cast_mut().cast::<c_void>()];
    // SAFETY: every kernel takes one `Call`, copied by the driver at once. Its arrays are borrowed from an `Arrays`, which
    // the engine keeps until the device is done, and every index into them is below `slots` or `targets` (`staging`
    // checks what the host sends).
    unsafe {
        result::launch_kernel(
            kernel,
            (blocks, rows, 1),
            (threads, warps, 1),
            shared_bytes,
            device.stream(),
            &mut parameters,
        )
    }
    .map_err(failed("launching a kernel"))
}
