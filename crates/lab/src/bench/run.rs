//! The timed Plummer workload of Portegies Zwart et al. (2007), one measurement after the other; the study of the cost
//! sweeps over it.

use super::{EPSILON, Options, Report};
use crate::literature::tables::{BLOCK_STEPS, MEAN_BLOCK};
use crate::study::config::TimeSpan;
use crate::study::integrators::Integrator;
use crate::study::plummer::{self, Sphere};
use crate::study::trial::{self, Measured};
use serde::Serialize;
use tisane::error::{Error, Result};
use tisane::force::EngineKind;
use tisane::force::profile::Profile;
use tisane::spin_pool::on_threads;
use tisane_run::assemble::Session;
use tisane_run::config::Engine;

/// Spheres to measure.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Numbers of particles.
    pub n: Vec<usize>,
    /// Accuracies ν of the time step.
    pub nu: Vec<f64>,
    /// Seed of the spheres.
    pub seed: u64,
    /// Flag that the phases of a block step are timed, which itself takes time.
    pub profile: bool,
}

/// Speed of the workload for one number of particles and ν, with the paper's fits.
#[derive(Clone, Debug, Serialize)]
pub struct RunRow {
    /// Number of particles.
    pub n: usize,
    /// Accuracy ν of the time step.
    pub nu: f64,
    /// Wall time from t = 0.25 to 0.5, in s.
    pub seconds: f64,
    /// Block steps per time unit.
    pub block_steps_per_time_unit: f64,
    /// Block steps per time unit by the paper's eq. 17.
    pub block_steps_paper: f64,
    /// Mean number of particles in a block.
    pub mean_block: f64,
    /// Mean number of particles in a block by the paper's eq. 14.
    pub mean_block_paper: f64,
    /// Relative energy error.
    pub relative_energy_error: f64,
    /// Rate, in 10⁶ pairs per second.
    pub mega_pairs_per_second: f64,
    /// Share of the host in the wall time.
    pub host_fraction: f64,
    /// Time by phases, where asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
}

/// Measures the workload for every number of particles with every ν.
///
/// # Errors
/// As a run.
pub fn measure(work: &Workload, options: &Options) -> Result<Report<RunRow>> {
    let rows = on_threads(options.threads, || {
        let mut rows = Vec::new();
        for &n in &work.n {
            for &nu in &work.nu {
                rows.push(workload(n, nu, work, options)?);
            }
        }
        Ok((rows, rayon::current_num_threads()))
    })?;
    Report::new("run", options.precision().name().into(), options, rows)
}

/// Measures one sphere.
fn workload(n: usize, nu: f64, work: &Workload, options: &Options) -> Result<RunRow> {
    let engine = if options.engine == EngineKind::Cuda { Engine::Cuda } else { Engine::Cpu };
    let sphere = Sphere { n: u32::try_from(n).unwrap_or(u32::MAX), seed: work.seed, epsilon: EPSILON };
    let span = TimeSpan::default();
    let set = plummer::setup(sphere, &span, (Integrator::default(), nu), (engine, options.precision()))?;
    let device = options.devices.is_none().then_some(options.device);
    let session = Session { device, devices: options.devices, profile: work.profile, ..Session::default() };
    let mut best: Option<Measured> = None;
    for _ in 0..options.repeat.max(1) {
        let measured = trial::run(&set, session, plummer::steps(&span), None)?;
        best = [best, measured].into_iter().flatten().min_by(|a, b| a.seconds.total_cmp(&b.seconds));
    }
    let it = best.ok_or_else(|| Error::Integration { problem: "nothing was measured".into(), help: None })?;
    Ok(RunRow {
        n,
        nu,
        seconds: it.seconds,
        block_steps_per_time_unit: it.block_steps_per_time_unit(),
        block_steps_paper: BLOCK_STEPS.at(n as f64),
        mean_block: it.mean_block(),
        mean_block_paper: MEAN_BLOCK.at(n as f64),
        relative_energy_error: it.energy_error,
        mega_pairs_per_second: it.pairs as f64 / it.seconds / 1e6,
        host_fraction: it.host_seconds / it.seconds,
        profile: it.profile,
    })
}
