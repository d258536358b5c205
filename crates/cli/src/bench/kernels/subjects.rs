//! The kernels with their parameters, of which `tisane bench kernels` measures those asked for.

use super::{EPSILON, How, Kernels};
use tisane::error::{Error, Result};
#[cfg(feature = "cuda")]
use tisane::force::cuda::{AccelerationShape, CudaAccelerations};
use tisane::force::precision::Precision;
use tisane::force::{Accelerations, EngineKind, ForceEngine};
use tisane_lab::literature::cpu_kernels::{Basic, Edges};
#[cfg(feature = "cuda")]
use tisane_lab::literature::kernel::{Paper, Stage};
#[cfg(feature = "cuda")]
use tisane_lab::literature::{PaperKernel, has_cublas};

/// A kernel's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Ours,
    Simple,
    Tiles,
    Tiles2d,
    Basic,
    Edges,
}

impl Name {
    pub(super) const ALL: [Self; 6] = [Self::Ours, Self::Simple, Self::Tiles, Self::Tiles2d, Self::Basic, Self::Edges];
    const ON_GPU: [Self; 4] = [Self::Ours, Self::Simple, Self::Tiles, Self::Tiles2d];
    const ON_CPU: [Self; 2] = [Self::Basic, Self::Edges];

    pub(super) const fn name(self) -> &'static str {
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

/// A kernel with its parameters, ready to compute.
pub(super) struct Subject {
    pub kernel: Name,
    /// A mode, or of the papers' kernels the numbers that they compute in.
    pub precision: &'static str,
    pub parameters: String,
    pub engine: Box<dyn ForceEngine<Accelerations>>,
}

/// Makes a subject when its turn comes: they do not all fit a GPU together.
pub(super) type Build<'a> = Box<dyn Fn() -> Result<Subject> + 'a>;

/// A GPU, where one is measured, and what keeps it open.
pub(super) fn open(how: &How) -> Result<Option<Box<dyn ForceEngine<Accelerations>>>> {
    (how.engine == EngineKind::Cuda).then(|| on_gpu::open(how)).transpose()
}

fn or<T: Copy>(list: &[T], default: &[T]) -> Vec<T> {
    if list.is_empty() { default.to_vec() } else { list.to_vec() }
}

impl Kernels {
    /// Numbers of particles.
    pub(super) fn numbers(&self) -> Vec<usize> {
        or(&self.n, if self.how.engine == EngineKind::Cuda { &[1024, 4096, 16384] } else { &[1024, 4096] })
    }

    /// Everything asked for, for `n` particles.
    pub(super) fn subjects(&self, n: usize) -> Result<Vec<Build<'_>>> {
        let there: &[Name] = if self.how.engine == EngineKind::Cuda { &Name::ON_GPU } else { &Name::ON_CPU };
        let mut found = Vec::new();
        for name in or(&self.kernel, there) {
            if !there.contains(&name) {
                let names: Vec<_> = there.iter().map(|name| name.name()).collect();
                let problem = format!(
                    "{} is no kernel of the engine {}: it has {}",
                    name.name(),
                    self.how.engine.name(),
                    names.join(", ")
                );
                return Err(Error::input("--kernel", problem));
            }
            found.extend(if self.how.engine == EngineKind::Cuda { self.on_gpu(name, n)? } else { self.on_cpu(name)? });
        }
        Ok(found)
    }

    fn on_cpu(&self, name: Name) -> Result<Vec<Build<'_>>> {
        let modes = self.how.precision.map_or(vec![Precision::F32Direct, Precision::F64], |mode| vec![mode]);
        let build = |mode: Precision| -> Result<Build<'_>> {
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
                    (Name::Edges, true) => Box::new(Edges::<f32>::new(EPSILON)),
                    (Name::Edges, false) => Box::new(Edges::<f64>::new(EPSILON)),
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
mod on_gpu {
    use super::*;

    pub fn open(how: &How) -> Result<Box<dyn ForceEngine<Accelerations>>> {
        Ok(Box::new(CudaAccelerations::new(Precision::F64, EPSILON, how.device as usize)?))
    }

    impl Kernels {
        pub(in super::super) fn on_gpu(&self, name: Name, n: usize) -> Result<Vec<Build<'_>>> {
            if name == Name::Ours {
                return self.ours(n);
            }
            let mut found: Vec<Build<'_>> = Vec::new();
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
                    let engine = Box::new(PaperKernel::new(paper, EPSILON, self.how.device as usize)?);
                    Ok(Subject { kernel: name, precision: "f32", parameters: paper.to_string(), engine })
                }));
            }
            Ok(found)
        }

        /// The kernels of the papers by a name.
        fn papers(&self, name: Name) -> Vec<Paper> {
            let mut found = Vec::new();
            match name {
                Name::Simple => {
                    for &root in &self.root {
                        found.extend(or(&self.p, &[128]).into_iter().map(|p| Paper::Simple { root, p }));
                    }
                }
                Name::Tiles => {
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

        /// Ours in one mode or more, in the shapes asked for.
        fn ours(&self, n: usize) -> Result<Vec<Build<'_>>> {
            let modes =
                self.how.precision.map_or(vec![Precision::F32Direct, Precision::F32Chamomile], |mode| vec![mode]);
            let multiprocessors = tisane::force::cuda::find(self.how.device as usize)?.multiprocessors;
            let mut found: Vec<Build<'_>> = Vec::new();
            for mode in modes {
                let own = AccelerationShape::choose(mode, n, multiprocessors);
                for targets in or(&self.targets, &[own.targets]) {
                    for threads in or(&self.p, &[own.threads]) {
                        for span_bags in or(&self.span, &[own.span_bags]) {
                            let shape = AccelerationShape { targets, threads, span_bags };
                            if shape.is_valid(mode) {
                                found.push(Box::new(move || self.our_kernel(mode, shape)));
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

        fn our_kernel(&self, mode: Precision, shape: AccelerationShape) -> Result<Subject> {
            let mut engine = CudaAccelerations::new(mode, EPSILON, self.how.device as usize)?;
            engine.set_profile(true)?;
            engine.set_shape(Some(shape));
            let AccelerationShape { targets, threads, span_bags } = shape;
            let parameters = format!("{targets} targets, p {threads}, span {span_bags}");
            Ok(Subject { kernel: Name::Ours, precision: mode.name(), parameters, engine: Box::new(engine) })
        }
    }
}

#[cfg(not(feature = "cuda"))]
mod on_gpu {
    use super::*;

    pub fn open(_: &How) -> Result<Box<dyn ForceEngine<Accelerations>>> {
        Err(tisane_run::assemble::gpus().err().unwrap_or_else(|| Error::input("CUDA", "not in this build")))
    }

    impl Kernels {
        pub(in super::super) fn on_gpu(&self, _: Name, _: usize) -> Result<Vec<Build<'_>>> {
            Ok(Vec::new())
        }
    }
}
