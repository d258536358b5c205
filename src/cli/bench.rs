//! `tisane bench`: speed of the force, and of the papers' timed workload.

use super::{a_device, a_precision, on_threads, print};
use crate::assemble::{self, OnGpu};
use crate::diagnostics::conserved::{Conserved, relative};
use crate::error::{Error, Result};
use crate::force::cpu::{self, Width};
use crate::force::precision::Precision;
use crate::force::{Field, ForceEngine, Forces, Targets};
use crate::initial::{plummer, scaling};
use crate::integrator::Integrator;
use crate::integrator::hermite4::{Hermite4, OnFloor, Parameters};
use crate::io::summary::Profile;
use crate::particles::Particles;
use crate::profile::Profiler;
use crate::time::{Clock, Level, Time};
use clap::Subcommand;
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use std::time::{Duration, Instant};

const EPSILON: f64 = 1.0 / 256.0;
const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.125 };
/// The workload is timed from t = 1/4 to 1/2: from step 2 to step 4 of dt_max.
const TIMED: [u64; 2] = [2, 4];

/// What to measure.
#[derive(Debug, Subcommand)]
pub enum What {
    /// Pairs per second (acceleration, jerk and potential) by number of sources and size of the block.
    Force {
        /// Numbers of sources.
        #[arg(long, value_delimiter = ',', default_value = "1024,8192,65536")]
        n: Vec<usize>,
        /// Block sizes; all N sources are always measured too.
        #[arg(long, value_delimiter = ',', default_value = "1,8,64,512")]
        targets: Vec<usize>,
        #[command(flatten)]
        how: How,
    },
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
    #[arg(long, default_value = "cpu", value_parser = ["cpu", "cuda"])]
    engine: String,
    /// GPU that the engine cuda computes on.
    #[arg(long, value_name = "K", default_value_t = 0, value_parser = a_device())]
    device: u32,
    /// Precision mode.
    #[arg(long, default_value = "f64", value_parser = a_precision())]
    precision: Precision,
    /// Repetitions; the fastest counts.
    #[arg(long, default_value_t = 3)]
    repeat: usize,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

impl How {
    fn engine(&self, width: Width, phases: bool) -> Result<Box<dyn ForceEngine>> {
        if self.engine == "cuda" {
            let on = OnGpu { device: self.device, room_for: 0, phases };
            return Ok(assemble::cuda(self.precision, EPSILON, CLOCK, on)?.0);
        }
        Ok(cpu::engine(self.precision, EPSILON, CLOCK, width))
    }

    /// What to call it in reports.
    fn engine_name(&self, width: Width) -> Result<String> {
        if self.engine != "cuda" {
            return Ok(format!("cpu ({})", width.name()));
        }
        let there = assemble::gpus()?;
        let name = there.get(self.device as usize).map_or("", |gpu| &gpu.name);
        Ok(format!("cuda ({name}, device {})", self.device))
    }
}

/// Everything that a number of a benchmark depends on.
#[derive(Serialize)]
struct Report<T> {
    benchmark: &'static str,
    version: &'static str,
    git_commit: &'static str,
    host: String,
    engine: String,
    precision: &'static str,
    threads: usize,
    repeat: usize,
    rows: Vec<T>,
}

#[derive(Serialize)]
struct ForceRow {
    n: usize,
    targets: usize,
    microseconds: f64,
    mega_pairs_per_second: f64,
    fraction_of_all_pairs: f64,
}

#[derive(Serialize)]
struct RunRow {
    n: usize,
    nu: f64,
    seconds: f64,
    block_steps_per_time_unit: f64,
    block_steps_paper: f64,
    mean_block: f64,
    mean_block_paper: f64,
    relative_energy_error: f64,
    mega_pairs_per_second: f64,
    host_fraction: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<Profile>,
}

pub fn bench(what: What) -> Result<u8> {
    let width = Width::choose().map_err(|problem| Error::input(Width::VARIABLE, problem))?;
    match what {
        What::Force { n, targets, how } => {
            let rows = on_threads(how.threads, || {
                let mut rows = Vec::new();
                for n in n {
                    rows.extend(force(n, &targets, width, &how)?);
                }
                Ok((rows, rayon::current_num_threads()))
            })?;
            let header = ["N", "targets", "µs", "Mpairs/s", "of all pairs"];
            let cells = |r: &ForceRow| {
                vec![
                    r.n.to_string(),
                    r.targets.to_string(),
                    format!("{:.2}", r.microseconds),
                    format!("{:.1}", r.mega_pairs_per_second),
                    format!("{:.0} %", 100.0 * r.fraction_of_all_pairs),
                ]
            };
            report("force", width, &how, rows, &header, cells, |_| String::new())
        }
        What::Run { n, nu, seed, profile, how } => {
            let crew = std::env::var("TISANE_CREW").ok().and_then(|x| x.parse().ok()).unwrap_or(4);
            let rows = crate::crew::awake(crew, || {
                let mut rows = Vec::new();
                for n in n {
                    for &nu in &nu {
                        rows.push(workload(n, nu, (seed, profile), width, &how)?);
                    }
                }
                Ok::<_, Error>((rows, rayon::current_num_threads()))
            })??;
            let header = [
                "N",
                "nu",
                "seconds",
                "block steps/unit",
                "247 N^0.35",
                "mean block",
                "0.20 N^0.81",
                "dE/E",
                "Mpairs/s",
                "host",
            ];
            let cells = |r: &RunRow| {
                vec![
                    r.n.to_string(),
                    format!("{:.4e}", r.nu),
                    format!("{:.6}", r.seconds),
                    format!("{:.0}", r.block_steps_per_time_unit),
                    format!("{:.0}", r.block_steps_paper),
                    format!("{:.1}", r.mean_block),
                    format!("{:.1}", r.mean_block_paper),
                    format!("{:+.2e}", r.relative_energy_error),
                    format!("{:.0}", r.mega_pairs_per_second),
                    format!("{:.1} %", 100.0 * r.host_fraction),
                ]
            };
            let profile = |r: &RunRow| {
                let told = r.profile.as_ref().map(|profile| format!("N = {}, nu = {:.4e}: {profile}", r.n, r.nu));
                told.unwrap_or_default()
            };
            report("run", width, &how, rows, &header, cells, profile)
        }
    }
}

fn report<T: Serialize>(
    benchmark: &'static str,
    width: Width,
    how: &How,
    (rows, threads): (Vec<T>, usize),
    header: &[&str],
    cells: impl Fn(&T) -> Vec<String>,
    more: impl Fn(&T) -> String,
) -> Result<u8> {
    use crate::io::provenance;
    let report = Report {
        benchmark,
        version: provenance::version(),
        git_commit: provenance::git_commit(),
        host: provenance::host(),
        engine: how.engine_name(width)?,
        precision: how.precision.name(),
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
fn particles(n: usize, seed: u64) -> Result<Particles> {
    let mut p = plummer::sample(n, seed, 0.999);
    scaling::to_centre_of_mass(&mut p);
    let potential = assemble::potential_energy(&p, 0.0)?;
    if n > 1 && !scaling::to_virial(&mut p, potential, 0.5, -0.25) {
        tracing::warn!("the sampled model could not be scaled");
    }
    Ok(p)
}

fn force(n: usize, sizes: &[usize], width: Width, how: &How) -> Result<Vec<ForceRow>> {
    let p = particles(n, 1)?;
    let mut engine = how.engine(width, false)?;
    engine.load(&p)?;
    let mut rows = Vec::new();
    for size in sizes.iter().copied().filter(|&size| size < n && size > 0).chain([n]) {
        // Spread over the whole range, as the particles of a block are.
        let index: Vec<u32> = (0..size).map(|k| (k * n / size) as u32).collect();
        let targets = Targets {
            pos: index.iter().map(|&i| p.pos[i as usize]).collect(),
            vel: index.iter().map(|&i| p.vel[i as usize]).collect(),
            index,
        };
        let mut forces = Forces::default();
        // At a moment when every source has to be predicted.
        let now = Time::default().after(Level(20));
        let rounds = (20_000_000 / (size * n)).clamp(1, 5000);
        let mut best = f64::INFINITY;
        for _ in 0..=how.repeat {
            let began = Instant::now();
            for _ in 0..rounds {
                engine.evaluate(now, &targets, &mut forces)?;
            }
            best = best.min(began.elapsed().as_secs_f64() / rounds as f64);
        }
        let rate = (size * n) as f64 / best / 1e6;
        rows.push(ForceRow {
            n,
            targets: size,
            microseconds: best * 1e6,
            mega_pairs_per_second: rate,
            fraction_of_all_pairs: 0.0,
        });
    }
    let full = rows.last().map_or(1.0, |row| row.mega_pairs_per_second);
    for row in &mut rows {
        row.fraction_of_all_pairs = row.mega_pairs_per_second / full;
    }
    Ok(rows)
}

/// An engine with a stop watch.
struct Timed {
    engine: Box<dyn ForceEngine>,
    spent: Duration,
}

impl Timed {
    fn time<T>(&mut self, work: impl FnOnce(&mut dyn ForceEngine) -> T) -> T {
        let began = Instant::now();
        let result = work(&mut *self.engine);
        self.spent += began.elapsed();
        result
    }
}

impl ForceEngine for Timed {
    fn load(&mut self, all: &Particles) -> Result<()> {
        self.time(|engine| engine.load(all))
    }
    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        self.time(|engine| engine.update(all, changed))
    }
    fn evaluate(&mut self, now: Time, targets: &Targets, out: &mut Forces) -> Result<()> {
        self.time(|engine| engine.evaluate(now, targets, out))
    }
}

/// Total energy of a synchronised system, in f64 whatever the mode.
fn energy(p: &Particles, width: Width) -> Result<f64> {
    let mut engine = cpu::engine(Precision::F64, EPSILON, CLOCK, width);
    engine.load(p)?;
    let now = p.time.first().copied().unwrap_or_default();
    Ok(Conserved::of(p, &Field::of(p, &mut *engine, now)?.pot).energy())
}

fn workload(n: usize, nu: f64, (seed, profile): (u64, bool), width: Width, how: &How) -> Result<RunRow> {
    let start = particles(n, seed)?;
    let floor = Level::not_shorter_than(2f64.powi(-26) / CLOCK.dt_max);
    let parameters = Parameters { nu, nu_start: nu, iterations: 1, floor, on_floor: OnFloor::Stop };
    let [from, to] = TIMED.map(Time::from_dt_max);
    let span = CLOCK.between(from, to);
    let mut best: Option<RunRow> = None;
    for _ in 0..how.repeat.max(1) {
        let mut p = start.clone();
        let profiler = profile.then(Profiler::default);
        let engine = how.engine(width, profile)?;
        let engine = profiler.iter().fold(engine, |engine, profiler| profiler.around(engine));
        let mut engine = Timed { engine, spent: Duration::ZERO };
        let mut integrator = Hermite4::new(parameters, CLOCK);
        let mut now = integrator.start(&mut p, &mut engine)?.now;
        while now < from {
            now = integrator.step(&mut p, &mut engine)?.now;
        }
        let energy_before = energy(&p, width)?;
        engine.spent = Duration::ZERO;
        let (mut blocks, mut steps, mut pairs) = (0u64, 0u64, 0u64);
        let began = Instant::now();
        while now < to {
            let watch = profiler.as_ref().map(Profiler::begin);
            let report = integrator.step(&mut p, &mut engine)?;
            if let Some(watch) = watch {
                watch.end(report.block);
            }
            now = report.now;
            (blocks, steps, pairs) = (blocks + 1, steps + report.block, pairs + report.pairs);
        }
        let seconds = began.elapsed().as_secs_f64();
        let host = seconds - engine.spent.as_secs_f64();
        let row = RunRow {
            n,
            nu,
            seconds,
            block_steps_per_time_unit: blocks as f64 / span,
            block_steps_paper: 247.0 * (n as f64).powf(0.35),
            mean_block: steps as f64 / blocks as f64,
            mean_block_paper: 0.20 * (n as f64).powf(0.81),
            relative_energy_error: relative(energy(&p, width)?, energy_before),
            mega_pairs_per_second: pairs as f64 / seconds / 1e6,
            host_fraction: host / seconds,
            profile: profiler.as_ref().map(Profiler::profile),
        };
        if best.as_ref().is_none_or(|best| row.seconds < best.seconds) {
            best = Some(row);
        }
    }
    best.ok_or_else(|| Error::Integration { problem: "nothing was measured".into(), help: None })
}
