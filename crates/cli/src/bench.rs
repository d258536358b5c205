//! `tisane bench`: speed of the forces and of the papers' workload, launch shapes, the performance model.

mod how;
mod kernels;
mod model;
mod report;
mod scaling;
mod systems;
#[cfg(feature = "cuda")]
mod tune;

use super::arguments::Verbosity;
use super::ranks::with_team;
use clap::Subcommand;
use how::How;
use report::report;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tisane::error::{Error, Result};
use tisane::force::EngineKind;
use tisane::law::{Formula, Law, LawSource};
use tisane_io::atomic::check_output_path;
use tisane_lab::bench::force::ForceRow;
use tisane_lab::bench::run::{RunRow, Workload};
use tisane_lab::bench::{Report, force, run};

/// Benchmark.
#[derive(Debug, Subcommand)]
pub enum What {
    /// Rate of acceleration, jerk and potential by number of sources and block size.
    Force {
        /// Numbers of sources [default: 1024,8192,65536; with --tune a grid up to 1048576].
        #[arg(long, value_delimiter = ',')]
        n: Option<Vec<usize>>,
        /// Block sizes; without --tune a block of all N sources is measured too [default: 1,8,64,512; with --tune a
        /// grid up to 262144].
        #[arg(long, value_delimiter = ',')]
        targets: Option<Vec<usize>>,
        /// Find the fastest launch shapes on a GPU, in every mode unless --precision names one, and write them to FILE
        /// (CSV), a table for the variable TISANE_SHAPES.
        #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "repeat", "threads"])]
        tune: Option<PathBuf>,
        /// Potential of a pair in place of Newton's, as in [force.law], with numbers for parameters:
        /// "-m_i*m_j*exp(-s/0.3)/s".
        #[arg(long, value_name = "FORMULA", allow_hyphen_values = true, conflicts_with = "tune")]
        law: Option<String>,
        #[command(flatten)]
        how: How,
    },
    /// Rates and errors of the kernels of accelerations.
    ///
    /// Pairs per second of accelerations alone, and errors against f64, in a Plummer model with softening 1/256.
    /// tisane's kernels are in f32-direct and f32-chamomile, those of the CPU in f32 and f64, unless --precision names
    /// a mode; the papers' kernels on a GPU are in f32.
    Kernels(Box<kernels::KernelArgs>),
    /// The timed Plummer workload of Portegies Zwart et al. (2007).
    ///
    /// Seconds from t = 0.25 to 0.5 with softening 1/256, dt_max 1/8 and dt_min 2^-26, and block statistics with the
    /// paper's fits (eqs 14 and 17).
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
        /// Time the phases of the block steps, which itself takes time.
        #[arg(long)]
        profile: bool,
        #[command(flatten)]
        how: How,
    },
    /// Block steps of many independent systems on one GPU.
    ///
    /// Block steps per second of all systems together, Plummer spheres from t = 0.25 to 0.5 with dt_max 1/8 and nu 0.01.
    Systems(systems::SystemsArgs),
    /// Scaling of the timed workload over threads, GPUs or ranks.
    ///
    /// Seconds from t = 0.25 to 0.5 of Plummer spheres with softening 1/256 on growing numbers of parts, speed-up, efficiency,
    /// and whether the state is the same: of the same sphere, and of one with as many particles a part. Under mpirun the
    /// first rank alone is compared with all.
    Scaling(Box<scaling::ScalingArgs>),
    /// Fit, show and use the performance model of this machine.
    ///
    /// The model is kept in the file named by the variable TISANE_MODEL, otherwise in tisane/model.toml in
    /// XDG_CONFIG_HOME or ~/.config. `tisane check` estimates the wall time of a run from it.
    Model(model::ModelArgs),
}

pub fn bench(what: What, verbosity: Verbosity) -> Result<u8> {
    match what {
        What::Force { n, targets, tune: Some(file), how, law: _ } => {
            if how.engine != EngineKind::Cuda {
                let problem = "finds launch shapes of a GPU: give --engine cuda too";
                return Err(Error::input("--tune", problem));
            }
            check_output_path(&file, None)?;
            tune(&file, (n, targets), &how, verbosity)
        }
        What::Force { n, targets, tune: None, law, how } => {
            let n = n.unwrap_or_else(|| vec![1024, 8192, 65536]);
            let targets = targets.unwrap_or_else(|| vec![1, 8, 64, 512]);
            let law = law.map(|formula| Law::new(LawSource::new(Formula::Potential(formula), &[])));
            let law = law.transpose().map_err(|mistake| Error::input("--law", mistake.to_string()))?.map(Arc::new);
            forces(&force::measure(&n, &targets, law.as_ref(), &how.options()?)?, how.json)
        }
        What::Kernels(args) => kernels::bench(*args),
        What::Run { n, nu, seed, profile, how } => {
            workload(&run::measure(&Workload { n, nu, seed, profile }, &how.options()?)?, how.json)
        }
        What::Systems(args) => systems::bench(&args),
        What::Scaling(args) => with_team(|team| scaling::bench(&args, team)),
        What::Model(args) => model::model(args, verbosity),
    }
}

/// Numbers of sources and of targets, where they are given.
type Given = (Option<Vec<usize>>, Option<Vec<usize>>);

#[cfg(feature = "cuda")]
fn tune(file: &Path, (sources, targets): Given, how: &How, verbosity: Verbosity) -> Result<u8> {
    let grid = tisane_lab::bench::tune::Grid::new(sources, targets, how.precision);
    tune::tune(&grid, file, how.device, verbosity)
}

#[cfg(not(feature = "cuda"))]
fn tune(_: &Path, _: Given, _: &How, _: Verbosity) -> Result<u8> {
    tisane_run::assemble::gpus().map(|_| 0)
}

fn forces(found: &Report<ForceRow>, json: bool) -> Result<u8> {
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
    report(found, json, &header, cells, |_| String::new())
}

fn workload(found: &Report<RunRow>, json: bool) -> Result<u8> {
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
        let line = r.profile.as_ref().map(|profile| format!("N = {}, nu = {:.4e}: {profile}", r.n, r.nu));
        line.unwrap_or_default()
    };
    report(found, json, &header, cells, profile)
}
