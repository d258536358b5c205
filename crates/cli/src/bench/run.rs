//! `tisane bench run`: the timed Plummer workload, one measurement after the other; `tisane study cost` sweeps over it.

use super::{EPSILON, How, on_threads, report};
use serde::Serialize;
use tisane::error::{Error, Result};
use tisane::force::EngineKind;
use tisane::force::cpu::Width;
use tisane::force::profile::Profile;
use tisane_lab::literature::tables::{BLOCK_STEPS, MEAN_BLOCK};
use tisane_lab::study::config::ParticleSlices;
use tisane_lab::study::plummer::{self, Sphere};
use tisane_lab::study::trial::{self, Measured};
use tisane_run::assemble::Session;
use tisane_run::config::Engine;

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

pub(super) fn bench(n: &[usize], nu: &[f64], (seed, profile): (u64, bool), width: Width, how: &How) -> Result<u8> {
    let rows = on_threads(how.threads, || {
        let mut rows = Vec::new();
        for &n in n {
            for &nu in nu {
                rows.push(workload(n, nu, (seed, profile), how)?);
            }
        }
        Ok((rows, rayon::current_num_threads()))
    })?;
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
    report(("run", how.precision().name()), width, how, rows, &header, cells, profile)
}

fn workload(n: usize, nu: f64, (seed, profile): (u64, bool), how: &How) -> Result<RunRow> {
    let engine = if how.engine == EngineKind::Cuda { Engine::Cuda } else { Engine::Cpu };
    let sphere = Sphere { n: u32::try_from(n).unwrap_or(u32::MAX), seed, epsilon: EPSILON };
    let stretch = ParticleSlices::default();
    let set = plummer::setup(sphere, &stretch, nu, (engine, how.precision()))?;
    let session = Session { device: Some(how.device), profile, ..Session::default() };
    let mut best: Option<Measured> = None;
    for _ in 0..how.repeat.max(1) {
        let measured = trial::run(&set, session, plummer::steps(&stretch), None)?;
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
