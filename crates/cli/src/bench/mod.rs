//! `tisane bench`: speed of the force, and of the papers' timed workload; and which launch shapes are the fastest.

mod force;
mod kernels;
mod run;
#[cfg(feature = "cuda")]
mod tune;

use super::{Verbosity, a_device, a_precision, on_threads, one_of, print};
use clap::Subcommand;
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use std::path::PathBuf;
use tisane::diagnostics::conserved::Conserved;
use tisane::error::{Error, Result};
use tisane::force::cpu::{self, Width};
use tisane::force::precision::Precision;
use tisane::force::{Block, EngineKind};
use tisane::force::{Field, ForceEngine};
use tisane::initial::{plummer, scaling};
use tisane::particles::Particles;
use tisane::spin_pool;
use tisane::time::{Clock, Time};
use tisane_io::atomic::check_output_path;
use tisane_run::assemble::{self, OnGpu};

const EPSILON: f64 = 1.0 / 256.0;
const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.125 };

/// What to measure.
#[derive(Debug, Subcommand)]
pub enum What {
    /// Pairs per second (acceleration, jerk and potential) by number of sources and size of the block.
    Force {
        /// Numbers of sources [default: 1024,8192,65536; with --tune a grid up to 1048576].
        #[arg(long, value_delimiter = ',')]
        n: Option<Vec<usize>>,
        /// Block sizes; all N sources are always measured too, but not with --tune [default: 1,8,64,512; with --tune a grid
        /// up to 262144].
        #[arg(long, value_delimiter = ',')]
        targets: Option<Vec<usize>>,
        /// Find the fastest launch shapes on a GPU, in every mode unless --precision names one, and write them to FILE (CSV):
        /// a table for the variable TISANE_SHAPES.
        #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "repeat", "threads"])]
        tune: Option<PathBuf>,
        #[command(flatten)]
        how: How,
    },
    /// Accelerations alone: pairs per second of one kernel or another, and their errors against f64, in a Plummer model with
    /// softening 1/256. Ours are in f32-direct and f32-chamomile, those of the CPU in f32 and f64, unless --precision names a
    /// mode; the papers' on a GPU are in f32.
    Kernels(Box<kernels::Kernels>),
    /// The timed Plummer workload of Portegies Zwart et al. (2007): seconds from t = 0.25 to 0.5, softening 1/256,
    /// dt_max 1/8, dt_min 2^-26, with block statistics beside the paper's fits (eqs 14 and 17).
    Run {
        /// Numbers of particles.
        #[arg(long, value_delimiter = ',', default_value = "256,1024,4096")]
        n: Vec<usize>,
        /// Accuracy of the time step, one or more values.
        #[arg(long, value_delimiter = ',', default_value = "0.01")]
        nu: Vec<f64>,
        /// Seed of the Plummer model.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Measure where the time goes, phase by phase, which itself takes time.
        #[arg(long)]
        profile: bool,
        #[command(flatten)]
        how: How,
    },
}

/// How to measure.
#[derive(Clone, Debug, clap::Args)]
pub struct How {
    /// Threads [default: one a core].
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    threads: usize,
    /// Engine: cpu or cuda.
    #[arg(long, default_value = "cpu", value_parser = one_of([EngineKind::Cpu, EngineKind::Cuda], EngineKind::name))]
    engine: EngineKind,
    /// GPU that the engine cuda computes on.
    #[arg(long, value_name = "K", default_value_t = 0, value_parser = a_device())]
    device: u32,
    /// Precision mode [default: f64].
    #[arg(long, value_parser = a_precision())]
    precision: Option<Precision>,
    /// Repetitions; the fastest counts.
    #[arg(long, default_value_t = 3)]
    repeat: usize,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

impl How {
    /// Does `work` as a run does: on all threads, or on a crew beside a GPU.
    fn on_threads<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        on_threads(self.threads, || match self.engine {
            EngineKind::Cuda => spin_pool::run(rayon::current_num_threads().min(spin_pool::MAX_SIZE), work)?,
            EngineKind::Cpu | EngineKind::Reference => work(),
        })
    }

    fn precision(&self) -> Precision {
        self.precision.unwrap_or(Precision::F64)
    }

    fn engine(&self, precision: Precision, epsilon: f64, width: Width, phases: bool) -> Result<Box<dyn ForceEngine>> {
        if self.engine == EngineKind::Cuda {
            let on = OnGpu { device: self.device, room_for: 0, phases };
            return Ok(assemble::cuda(precision, epsilon, CLOCK, on)?.0);
        }
        Ok(cpu::engine(precision, epsilon, CLOCK, width))
    }

    /// What to call it in reports.
    fn engine_name(&self, width: Width) -> Result<String> {
        if self.engine != EngineKind::Cuda {
            return Ok(format!("cpu ({})", width.name()));
        }
        let there = assemble::gpus()?;
        let name = there.get(self.device as usize).map_or("", |gpu| &gpu.name);
        Ok(format!("cuda ({name}, device {})", self.device))
    }
}

/// Everything that a number of a benchmark depends on.
#[derive(Serialize)]
struct Report<'a, T> {
    benchmark: &'static str,
    version: &'static str,
    git_commit: &'static str,
    host: String,
    engine: String,
    precision: &'a str,
    threads: usize,
    repeat: usize,
    rows: Vec<T>,
}

pub fn bench(what: What, talk: Verbosity) -> Result<u8> {
    let width = Width::choose().map_err(|problem| Error::input(Width::VARIABLE, problem))?;
    match what {
        What::Force { n, targets, tune: Some(file), how } => {
            if how.engine != EngineKind::Cuda {
                let problem = "finds launch shapes of a GPU: give --engine cuda too";
                return Err(Error::input("--tune", problem));
            }
            check_output_path(&file, None)?;
            tune(&file, (n, targets), &how, talk)
        }
        What::Force { n, targets, tune: None, how } => {
            let n = n.unwrap_or_else(|| vec![1024, 8192, 65536]);
            force::bench(&n, &targets.unwrap_or_else(|| vec![1, 8, 64, 512]), width, &how)
        }
        What::Kernels(what) => kernels::bench(&what, width),
        What::Run { n, nu, seed, profile, how } => run::bench(&n, &nu, (seed, profile), width, &how),
    }
}

/// Numbers of sources and of targets, where they are given.
type Given = (Option<Vec<usize>>, Option<Vec<usize>>);

#[cfg(feature = "cuda")]
fn tune(file: &std::path::Path, (sources, targets): Given, how: &How, talk: Verbosity) -> Result<u8> {
    tune::Grid::new(sources, targets, how.precision).tune(file, how.device, talk)
}

#[cfg(not(feature = "cuda"))]
fn tune(_: &std::path::Path, _: Given, _: &How, _: Verbosity) -> Result<u8> {
    assemble::gpus().map(|_| 0)
}

/// Prints what the benchmark of a name found, in a precision or several.
fn report<T: Serialize>(
    (benchmark, precision): (&'static str, &str),
    width: Width,
    how: &How,
    (rows, threads): (Vec<T>, usize),
    header: &[&str],
    cells: impl Fn(&T) -> Vec<String>,
    more: impl Fn(&T) -> String,
) -> Result<u8> {
    use tisane_io::{machine, provenance};
    let report = Report {
        benchmark,
        version: provenance::version(),
        git_commit: provenance::git_commit(),
        host: machine::host(),
        engine: how.engine_name(width)?,
        precision,
        threads,
        repeat: how.repeat,
        rows,
    };
    if how.json {
        let text = serde_json::to_string_pretty(&report).map_err(|e| Error::storage("standard output", e))?;
        return print(&(text + "\n"));
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    for row in &report.rows {
        table.add_row(cells(row));
    }
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
    }
    print(&format!(
        "{benchmark}: {}, {}, {threads} threads, tisane {} ({}), best of {}\n{table}\n{}",
        report.engine,
        report.precision,
        report.version,
        report.git_commit,
        how.repeat,
        report.rows.iter().map(more).collect::<String>()
    ))
}

/// A Plummer sphere in exact Hénon units, as `[initial.plummer]` makes it.
fn particles(n: usize, seed: u64, width: Width, how: &How) -> Result<Particles> {
    let mut p = plummer::sample(n, seed, 0.999);
    scaling::to_centre_of_mass(&mut p);
    let mut engine = how.engine(Precision::F64, 0.0, width, false)?;
    engine.load(&p)?;
    let potential =
        Conserved::from_particles(&p, &Field::from_engine(&p, &mut *engine, Time::default())?.pot).potential;
    if n > 1 && !scaling::to_virial(&mut p, potential, 0.5, -0.25) {
        tracing::warn!("the sampled model could not be scaled");
    }
    Ok(p)
}

/// A block of `size` targets, spread over the whole range, as the particles of a block are.
fn block(p: &Particles, size: usize) -> Block {
    Block::from_particles(p, (0..size).map(|k| (k * p.len() / size) as u32).collect())
}
