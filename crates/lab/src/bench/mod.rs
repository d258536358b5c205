//! Benchmarks: rates of the forces and of the papers' timed workload, kernel by kernel where asked, and the fastest
//! launch shapes of a GPU. Each takes plain options and returns rows with everything that they depend on; nothing is
//! printed.

pub mod force;
pub mod kernels;
pub mod model;
pub mod run;
pub mod scaling;
pub mod scaling_model;
#[cfg(feature = "cuda")]
pub mod systems;
#[cfg(feature = "cuda")]
pub mod tune;

use serde::Serialize;
use std::sync::Arc;
use tisane::diagnostics::conserved::Conserved;
use tisane::error::Result;
use tisane::force::cpu::{self, Width};
use tisane::force::precision::Precision;
use tisane::force::{Block, EngineKind, Field, ForceEngine};
use tisane::initial::plummer;
use tisane::initial::scaling::{to_centre_of_mass, to_virial};
use tisane::law::Law;
use tisane::particles::Particles;
use tisane::spin_pool::{self, on_threads};
use tisane::time::{Clock, Time};
use tisane_io::{machine, provenance};
use tisane_run::assemble::{self, OnGpu};
use tisane_run::config::DeviceSet;

/// Softening length of all benchmarks.
const EPSILON: f64 = 1.0 / 256.0;
const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.125 };

/// Options that all benchmarks have.
#[derive(Clone, Debug)]
pub struct Options {
    /// Vector units of the CPU.
    pub width: Width,
    /// Number of threads; 0 for one per core.
    pub threads: usize,
    /// Engine that is measured.
    pub engine: EngineKind,
    /// Number of the GPU that the engine for CUDA computes on.
    pub device: u32,
    /// Numbers of several GPUs that compute together, instead of it.
    pub devices: Option<DeviceSet>,
    /// Precision mode, where the user names one.
    pub precision: Option<Precision>,
    /// Number of repetitions, of which the fastest counts.
    pub repeat: usize,
}

impl Options {
    /// Does `work` as a run does: on all threads, or with a spinning pool beside a GPU.
    fn on_threads<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        on_threads(self.threads, || match self.engine {
            EngineKind::Cuda => spin_pool::run(spin_pool::size_for(None), work)?,
            EngineKind::Cpu | EngineKind::Reference => work(),
        })
    }

    /// Precision mode: f64 unless another is named.
    fn precision(&self) -> Precision {
        self.precision.unwrap_or(Precision::F64)
    }

    fn engine(&self, precision: Precision, epsilon: f64, phases: bool) -> Result<Box<dyn ForceEngine>> {
        self.engine_by(None, precision, epsilon, phases)
    }

    /// Builds the engine, of a law in place of Newton's where there is one.
    fn engine_by(
        &self,
        law: Option<&Arc<Law>>,
        precision: Precision,
        epsilon: f64,
        phases: bool,
    ) -> Result<Box<dyn ForceEngine>> {
        if self.engine == EngineKind::Cuda {
            let on = OnGpu { device: self.device, phases, ..OnGpu::default() };
            return Ok(assemble::cuda(law, assemble::Physics { precision, epsilon, clock: CLOCK }, on)?.0);
        }
        Ok(match law {
            Some(law) => cpu::law_engine(law, precision, epsilon, CLOCK, self.width),
            None => cpu::engine(precision, epsilon, CLOCK, self.width),
        })
    }

    /// Engine with what it computes on.
    fn engine_name(&self) -> Result<String> {
        if self.engine != EngineKind::Cuda {
            return Ok(format!("cpu ({})", self.width.name()));
        }
        let there = assemble::gpus()?;
        let name = there.get(self.device as usize).map_or("", |gpu| &gpu.name);
        Ok(match self.devices {
            Some(devices) => format!("cuda (devices {devices})"),
            None => format!("cuda ({name}, device {})", self.device),
        })
    }
}

/// Rows of a benchmark with everything that their numbers depend on.
#[derive(Debug, Serialize)]
pub struct Report<T> {
    /// Name of the benchmark.
    pub benchmark: &'static str,
    /// Version of tisane.
    pub version: &'static str,
    /// Commit of tisane.
    pub git_commit: &'static str,
    /// Name of the machine.
    pub host: String,
    /// Engine with what it computes on.
    pub engine: String,
    /// Precision modes, separated by commas.
    pub precision: String,
    /// Number of threads.
    pub threads: usize,
    /// Number of repetitions, of which the fastest counts.
    pub repeat: usize,
    /// Measurements.
    pub rows: Vec<T>,
}

impl<T> Report<T> {
    fn new(
        benchmark: &'static str,
        precision: String,
        options: &Options,
        (rows, threads): (Vec<T>, usize),
    ) -> Result<Self> {
        Ok(Self {
            benchmark,
            version: provenance::version(),
            git_commit: provenance::git_commit(),
            host: machine::host(),
            engine: options.engine_name()?,
            precision,
            threads,
            repeat: options.repeat,
            rows,
        })
    }
}

/// Returns a Plummer sphere in exact N-body units, as `[initial.plummer]` makes it.
fn particles(n: usize, seed: u64, options: &Options) -> Result<Particles> {
    let mut p = plummer::sample(n, seed, 0.999);
    to_centre_of_mass(&mut p);
    let mut engine = options.engine(Precision::F64, 0.0, false)?;
    engine.load(&p)?;
    let potential =
        Conserved::from_particles(&p, &Field::from_engine(&p, &mut *engine, Time::default())?.pot).potential;
    if n > 1 && !to_virial(&mut p, potential, 0.5, -0.25) {
        tracing::warn!("the sampled model could not be scaled");
    }
    Ok(p)
}

/// Returns a block of `size` targets, spread over the whole range as the particles of a block are.
fn block(p: &Particles, size: usize) -> Block {
    Block::from_particles(p, (0..size).map(|k| (k * p.len() / size) as u32).collect())
}
