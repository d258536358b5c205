//! The kernels of the papers, in f32, to be measured beside ours: simple pairwise, tiles of one dimension (Nyland,
//! Harris and Prins 2007, GPU Gems 3, chapter 31), tiles of two (the report "GPU-accelerated simulation of the
//! gravitational N-body problem"). They take a particle's pair with itself into the sum, so they need softening, and
//! they are not a mode of runs.

use super::cublas::Cublas;
use super::kernel::{MAX, Paper};
use std::marker::PhantomData;
use tisane::error::{Error, Result};
use tisane::force::cuda::driver::{Device, Image, Kernel, KernelArgument, Memory, Module, Pinned, Stopwatch};
use tisane::force::{Accelerations, ForceEngine, Targets};
use tisane::particles::Particles;
use tisane::particles::Vec3;
use tisane::time::Time;

/// The compiled kernels.
static IMAGE: &Image<[u8]> = &Image(*include_bytes!("../../../force/kernels/papers.fatbin"));

/// Threads in a block of the sum over spans.
const SUM_THREADS: u32 = 256;
/// Least softening: below it the cube of its square, which the kernels take the root of, nears the end of f32.
pub const MIN_SOFTENING: f64 = 1e-6;
/// Phases of an evaluation.
const PHASE_NAMES: [&str; 4] = ["copy_up", "force", "reduce", "copy_down"];

/// Argument of a kernel; mirrors `PaperCall` of crates/force/kernels/papers.cu. Change both.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct PaperCall<'a> {
    bodies: u64,
    partial: u64,
    out: u64,
    eps2: f32,
    bodies_count: u32,
    slots: u32,
    luf: u32,
    spans: u32,
    arrays: PhantomData<&'a Memory>,
}

// SAFETY: has the layout of `PaperCall` in crates/force/kernels/papers.cu; the arrays that it points to are those that `PaperKernel`
// holds, with room for every index that the kernels take from it.
unsafe impl KernelArgument for PaperCall<'static> {
    type For<'a> = PaperCall<'a>;
}

/// Buffers for a number of bodies.
struct Buffers {
    bodies: Memory,
    partial: Memory,
    out: Memory,
    up: Pinned,
    down: Pinned,
    mass: Vec<f32>,
    slots: usize,
}

/// One of the papers' kernels on an NVIDIA GPU.
pub struct PaperKernel {
    // Declared in the order in which they must be dropped: kernels and memory before the device.
    force: Kernel<PaperCall<'static>>,
    sum: Kernel<PaperCall<'static>>,
    cublas: Option<Cublas>,
    _module: Module,
    held: Option<Buffers>,
    watch: Stopwatch<4>,
    device: Device,
    paper: Paper,
    eps2: f32,
}

impl PaperKernel {
    /// The kernel without bodies on device number `device`.
    ///
    /// # Errors
    /// [`Error::Input`] if the parameters do not fit, the softening is below [`MIN_SOFTENING`], there is no such
    /// device, or cuBLAS is needed and not on this machine.
    pub fn new(paper: Paper, epsilon: f64, device: usize) -> Result<Self> {
        paper.check().map_err(|problem| Error::input("a kernel of the papers", problem))?;
        if epsilon < MIN_SOFTENING {
            let problem = format!("expected softening of at least {MIN_SOFTENING}, found {epsilon}");
            let help = "the papers' kernels take each particle's pair with itself, which only softening makes a zero";
            return Err(Error::input("a kernel of the papers", problem).with_help(help));
        }
        let device = Device::open(device)?;
        let module = Module::from_image(&device, IMAGE)?;
        let needs_cublas = matches!(paper, Paper::Grid { stage, .. } if stage.needs_cublas());
        Ok(Self {
            force: module.kernel(&paper.kernel_name())?,
            sum: module.kernel("paper_sum")?,
            cublas: if needs_cublas { Some(Cublas::new(&device)?) } else { None },
            _module: module,
            held: None,
            watch: device.stopwatch()?,
            device,
            paper,
            eps2: (epsilon * epsilon) as f32,
        })
    }
}

impl ForceEngine<Accelerations> for PaperKernel {
    fn load(&mut self, all: &Particles) -> Result<()> {
        let mass = &all.mass;
        self.held = None;
        if mass.is_empty() {
            return Ok(());
        }
        let slots = mass.len().next_multiple_of(MAX);
        let spans = self.paper.spans(slots);
        let (bodies, partial, out) = (16 * slots, 12 * slots * spans, 12 * slots);
        self.device.require(bodies + partial + out, mass.len())?;
        if u32::try_from(16 * slots).is_err() || slots / MAX > 1 << 13 {
            return Err(Error::input(
                "CUDA",
                format!("{} bodies are more than the papers' kernels can number", mass.len()),
            ));
        }
        let memory = |bytes| self.device.memory(bytes);
        self.held = Some(Buffers {
            bodies: memory(bodies)?,
            partial: memory(partial)?,
            out: memory(out)?,
            up: self.device.pinned(bodies / 8)?,
            down: self.device.pinned(out.div_ceil(8))?,
            mass: mass.iter().map(|&m| m as f32).collect(),
            slots,
        });
        if let Some(cublas) = &mut self.cublas {
            cublas.reserve(&self.device, spans)?;
        }
        Ok(())
    }

    fn update(&mut self, _: &Particles, _: &[u32]) -> Result<()> {
        Ok(())
    }

    fn evaluate(&mut self, _: Time, targets: Targets<'_>, out: &mut Accelerations) -> Result<()> {
        targets.check_all(self.held.as_ref().map_or(0, |held| held.mass.len()))?;
        let n = targets.len();
        out.acc.resize(n, Vec3::zeros());
        let Some(held) = &mut self.held else { return Ok(()) };
        self.device.bind()?;
        // Padding stays what the memory came as: zeros, without mass.
        let bodies: &mut [[f32; 4]] = bytemuck::cast_slice_mut(held.up.words_mut());
        for ((body, pos), mass) in bodies.iter_mut().zip(targets.pos).zip(&held.mass) {
            *body = [pos[0] as f32, pos[1] as f32, pos[2] as f32, *mass];
        }
        let (device, slots) = (&self.device, held.slots);
        let spans = self.paper.spans(slots);
        let call = PaperCall {
            bodies: held.bodies.address(),
            partial: held.partial.address(),
            out: held.out.address(),
            eps2: self.eps2,
            bodies_count: n as u32,
            slots: slots as u32,
            luf: if let Paper::Grid { luf, .. } = self.paper { luf as u32 } else { 0 },
            spans: spans as u32,
            arrays: PhantomData,
        };
        let watch = Some(&self.watch);
        device.mark(watch, 0)?;
        device.copy_up(&held.up, 0..2 * slots, &held.bodies)?;
        device.mark(watch, 1)?;
        let (grid, block, shared) = self.paper.launch(slots);
        self.force.launch(device, grid, block, shared, &call)?;
        device.mark(watch, 2)?;
        if let Some(cublas) = &self.cublas {
            cublas.sum_columns(&held.partial, 3 * slots, spans, &held.out)?;
        } else if spans > 0 {
            self.sum.launch(device, ((3 * slots as u32).div_ceil(SUM_THREADS), 1), (SUM_THREADS, 1), 0, &call)?;
        }
        device.mark(watch, 3)?;
        device.copy_down(&held.out, &mut held.down, 0)?;
        device.mark(watch, 4)?;
        device.wait()?;
        let found: &[f32] = bytemuck::cast_slice(held.down.words());
        for (i, acc) in out.acc.iter_mut().enumerate() {
            *acc = Vec3::from_fn(|c, _| f64::from(found[c * slots + i]));
        }
        Ok(())
    }

    fn spent(&self) -> Result<Vec<(&'static str, f64)>> {
        let phases = self.watch.microseconds()?;
        Ok(PHASE_NAMES.into_iter().zip(phases.map(|microseconds| 1e-6 * microseconds)).collect())
    }
}
