//! The kernels that there are, and those that a sweep asks for with their parameters.

use crate::bench::{EPSILON, Options};
use crate::literature::cpu_kernels::{Basic, Edges};
#[cfg(feature = "cuda")]
use crate::literature::kernel::Paper;
use crate::literature::kernel::{Root, Stage};
#[cfg(feature = "cuda")]
use crate::literature::{PaperKernel, has_cublas};
use tisane::error::{Error, Result};
#[cfg(feature = "cuda")]
use tisane::force::cuda::{AccelerationShape, CudaAccelerations};
use tisane::force::precision::Precision;
use tisane::force::{Accelerations, EngineKind, ForceEngine};

/// Kernel of accelerations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelName {
    /// tisane's on a GPU.
    Ours,
    /// One thread per body, without tiles, on a GPU.
    Simple,
    /// Tiles of sources in shared memory on a GPU (GPU Gems 3, chapter 31).
    Tiles,
    /// Two-dimensional tiles on a GPU (the tiling report).
    Tiles2d,
    /// All pairs, on the CPU.
    Basic,
    /// Each pair once, on the CPU.
    Edges,
}

impl KernelName {
    /// All kernels.
    pub const ALL: [Self; 6] = [Self::Ours, Self::Simple, Self::Tiles, Self::Tiles2d, Self::Basic, Self::Edges];
    const ON_GPU: [Self; 4] = [Self::Ours, Self::Simple, Self::Tiles, Self::Tiles2d];
    const ON_CPU: [Self; 2] = [Self::Basic, Self::Edges];

    /// Returns the name that users write.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Simple => "simple",
            Self::Tiles => "tiles",
            Self::Tiles2d => "tiles-2d",
            Self::Basic => "basic",
            Self::Edges => "edges",
        }
    }
}

/// Kernels to measure and their launch parameters: every combination that a kernel has. Empty lists stand for the
/// defaults.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// Kernels; by default all of the engine's.
    pub kernel: Vec<KernelName>,
    /// Numbers of particles; by default 1024 and 4096, on a GPU 16384 too.
    pub n: Vec<usize>,
    /// Numbers of threads in a block; for tiles also of targets of a block and sources of a tile.
    pub p: Vec<usize>,
    /// Targets per thread of tisane's kernels; by default as the engine chooses.
    pub targets: Vec<usize>,
    /// Bags of sources in a span of tisane's kernels; by default as the engine chooses.
    pub span: Vec<usize>,
    /// Methods by which simple kernels and tiles compute 1/s³.
    pub root: Vec<Root>,
    /// Numbers of times the loop of tiles is unrolled.
    pub unroll: Vec<usize>,
    /// Threads per body of tiles.
    pub q: Vec<usize>,
    /// Stages of two-dimensional tiles.
    pub stage: Vec<Stage>,
    /// Threads per target in a block of two-dimensional tiles.
    pub block_x: Vec<usize>,
    /// Targets in a block of two-dimensional tiles.
    pub block_y: Vec<usize>,
    /// Sources per thread of two-dimensional tiles.
    pub luf: Vec<usize>,
    /// Flag that shapes in which a kernel cannot be launched are left out; otherwise they are an error.
    pub skip_unfit: bool,
}

/// Kernel with its parameters, ready to compute.
pub(super) struct Subject {
    pub(super) kernel: KernelName,
    /// Precision mode, or the numbers that a paper's kernel computes in.
    pub(super) precision: &'static str,
    pub(super) parameters: String,
    pub(super) engine: Box<dyn ForceEngine<Accelerations>>,
}

/// Builder of a subject. Subjects are built one by one, because they do not all fit a GPU together.
pub(super) type Build<'a> = Box<dyn Fn() -> Result<Subject> + 'a>;

/// Opens the GPU, where one is measured, until the result is dropped.
pub(super) fn open(options: &Options) -> Result<Option<Box<dyn ForceEngine<Accelerations>>>> {
    (options.engine == EngineKind::Cuda).then(|| open_gpu(options)).transpose()
}

fn or<T: Copy>(list: &[T], default: &[T]) -> Vec<T> {
    if list.is_empty() { default.to_vec() } else { list.to_vec() }
}

impl Sweep {
    /// Returns the numbers of particles.
    pub(super) fn numbers(&self, options: &Options) -> Vec<usize> {
        or(&self.n, if options.engine == EngineKind::Cuda { &[1024, 4096, 16384] } else { &[1024, 4096] })
    }

    /// Returns everything asked for, for `n` particles.
    pub(super) fn subjects<'a>(&'a self, n: usize, options: &'a Options) -> Result<Vec<Build<'a>>> {
        let there: &[KernelName] =
            if options.engine == EngineKind::Cuda { &KernelName::ON_GPU } else { &KernelName::ON_CPU };
        let mut found = Vec::new();
        for name in or(&self.kernel, there) {
            if !there.contains(&name) {
                let names: Vec<_> = there.iter().map(|name| name.name()).collect();
                let problem = format!(
                    "{} is no kernel of the engine {}: it has {}",
                    name.name(),
                    options.engine.name(),
                    names.join(", ")
                );
                return Err(Error::input("--kernel", problem));
            }
            found.extend(if options.engine == EngineKind::Cuda {
                self.on_gpu(name, n, options)?
            } else {
                Self::on_cpu(name, options)?
            });
        }
        Ok(found)
    }

    fn on_cpu<'a>(name: KernelName, options: &Options) -> Result<Vec<Build<'a>>> {
        let modes = options.precision.map_or(vec![Precision::F32Direct, Precision::F64], |mode| vec![mode]);
        let build = |mode: Precision| -> Result<Build<'a>> {
            let (precision, single) = match mode {
                Precision::F32Direct => ("f32", true),
                Precision::F64 => ("f64", false),
                _ => {
                    let problem = format!("the CPU's kernels are in f32-direct or f64, not {}", mode.name());
                    return Err(Error::input("--precision", problem));
                }
            };
            Ok(Box::new(move || {
                let engine: Box<dyn ForceEngine<Accelerations>> = match (name, single) {
                    (KernelName::Edges, true) => Box::new(Edges::<f32>::new(EPSILON)),
                    (KernelName::Edges, false) => Box::new(Edges::<f64>::new(EPSILON)),
                    (_, true) => Box::new(Basic::<f32>::new(EPSILON)),
                    (_, false) => Box::new(Basic::<f64>::new(EPSILON)),
                };
                Ok(Subject { kernel: name, precision, parameters: String::new(), engine })
            }))
        };
        modes.into_iter().map(build).collect()
    }
}

#[cfg(feature = "cuda")]
fn open_gpu(options: &Options) -> Result<Box<dyn ForceEngine<Accelerations>>> {
    Ok(Box::new(CudaAccelerations::new(Precision::F64, EPSILON, options.device as usize)?))
}

#[cfg(feature = "cuda")]
impl Sweep {
    fn on_gpu<'a>(&'a self, name: KernelName, n: usize, options: &'a Options) -> Result<Vec<Build<'a>>> {
        if name == KernelName::Ours {
            return self.ours(n, options);
        }
        let mut found: Vec<Build<'a>> = Vec::new();
        for paper in self.papers(name) {
            match paper.check() {
                Err(_) if self.skip_unfit => continue,
                Err(problem) => {
                    let help = "give --skip-unfit to leave such shapes out of a sweep";
                    return Err(Error::input(name.name(), format!("{paper}: {problem}")).with_help(help));
                }
                Ok(()) => {}
            }
            found.push(Box::new(move || {
                let engine = Box::new(PaperKernel::new(paper, EPSILON, options.device as usize)?);
                Ok(Subject { kernel: name, precision: "f32", parameters: paper.to_string(), engine })
            }));
        }
        Ok(found)
    }

    /// Returns the kernels of the papers by a name.
    fn papers(&self, name: KernelName) -> Vec<Paper> {
        let mut found = Vec::new();
        match name {
            KernelName::Simple => {
                for &root in &self.root {
                    found.extend(or(&self.p, &[128]).into_iter().map(|p| Paper::Simple { root, p }));
                }
            }
            KernelName::Tiles => {
                for (&root, p) in
                    self.root.iter().flat_map(|root| or(&self.p, &[256]).into_iter().map(move |p| (root, p)))
                {
                    for &unroll in &self.unroll {
                        found.extend(self.q.iter().map(|&q| Paper::Tiles { root, p, unroll, q }));
                    }
                }
            }
            _ => {
                let stages = [Stage::Shared, Stage::Banks, Stage::Cublas, Stage::Fixed];
                for stage in or(&self.stage, if has_cublas() { &stages } else { &stages[..2] }) {
                    for (&x, &y) in self.block_x.iter().flat_map(|x| self.block_y.iter().map(move |y| (x, y))) {
                        found.extend(self.luf.iter().map(|&luf| Paper::Grid { stage, x, y, luf }));
                    }
                }
            }
        }
        found
    }

    /// Returns tisane's kernel in one mode or more, in the shapes asked for.
    fn ours<'a>(&'a self, n: usize, options: &'a Options) -> Result<Vec<Build<'a>>> {
        let modes = options.precision.map_or(vec![Precision::F32Direct, Precision::F32Chamomile], |mode| vec![mode]);
        let multiprocessors = tisane::force::cuda::find(options.device as usize)?.multiprocessors;
        let mut found: Vec<Build<'a>> = Vec::new();
        for mode in modes {
            let own = AccelerationShape::choose(mode, n, multiprocessors);
            for targets in or(&self.targets, &[own.targets]) {
                for threads in or(&self.p, &[own.threads]) {
                    for span_bags in or(&self.span, &[own.span_bags]) {
                        let shape = AccelerationShape { targets, threads, span_bags };
                        if shape.is_valid(mode) {
                            found.push(Box::new(move || our_kernel(mode, shape, options.device)));
                        } else if !self.skip_unfit {
                            let problem = format!("{} cannot be launched as {shape:?}", mode.name());
                            return Err(Error::input("ours", problem));
                        }
                    }
                }
            }
        }
        Ok(found)
    }
}

#[cfg(feature = "cuda")]
fn our_kernel(mode: Precision, shape: AccelerationShape, device: u32) -> Result<Subject> {
    let mut engine = CudaAccelerations::new(mode, EPSILON, device as usize)?;
    engine.set_profile(true)?;
    engine.set_shape(Some(shape));
    let AccelerationShape { targets, threads, span_bags } = shape;
    let parameters = format!("{targets} targets, p {threads}, span {span_bags}");
    Ok(Subject { kernel: KernelName::Ours, precision: mode.name(), parameters, engine: Box::new(engine) })
}

#[cfg(not(feature = "cuda"))]
fn open_gpu(_: &Options) -> Result<Box<dyn ForceEngine<Accelerations>>> {
    Err(tisane_run::assemble::gpus().err().unwrap_or_else(|| Error::input("CUDA", "not in this build")))
}

#[cfg(not(feature = "cuda"))]
impl Sweep {
    fn on_gpu(&self, _: KernelName, _: usize, _: &Options) -> Result<Vec<Build<'_>>> {
        Ok(Vec::new())
    }
}
