//! `tisane bench run`: the timed Plummer workload.

use super::{CLOCK, EPSILON, How, particles, report};
use crate::diagnostics::conserved::{Conserved, relative};
use crate::error::{Error, Result};
use crate::force::cpu::Width;
use crate::force::precision::Precision;
use crate::force::{Field, ForceEngine, Forces, Targets};
use crate::integrator::Integrator;
use crate::integrator::hermite4::{Hermite4, OnFloor, Parameters};
use crate::io::summary::Profile;
use crate::particles::Particles;
use crate::profile::Profiler;
use crate::time::{Level, Time};
use serde::Serialize;
use std::time::{Duration, Instant};

/// The workload is timed from t = 1/4 to 1/2: from step 2 to step 4 of dt_max.
const TIMED: [u64; 2] = [2, 4];

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
    let rows = how.on_threads(|| {
        let mut rows = Vec::new();
        for &n in n {
            for &nu in nu {
                rows.push(workload(n, nu, (seed, profile), width, how)?);
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
fn energy(p: &Particles, width: Width, how: &How) -> Result<f64> {
    let mut engine = how.engine(Precision::F64, EPSILON, width, false)?;
    engine.load(p)?;
    let now = p.time.first().copied().unwrap_or_default();
    Ok(Conserved::of(p, &Field::of(p, &mut *engine, now)?.pot).energy())
}

fn workload(n: usize, nu: f64, (seed, profile): (u64, bool), width: Width, how: &How) -> Result<RunRow> {
    let start = particles(n, seed, width, how)?;
    let floor = Level::not_shorter_than(2f64.powi(-26) / CLOCK.dt_max);
    let parameters =
        Parameters { nu, nu_start: nu, iterations: 1, floor, on_floor: OnFloor::Stop, noise: how.precision().noise() };
    let [from, to] = TIMED.map(Time::from_dt_max);
    let span = CLOCK.between(from, to);
    let mut best: Option<RunRow> = None;
    for _ in 0..how.repeat.max(1) {
        let mut p = start.clone();
        let profiler = profile.then(Profiler::default);
        let engine = how.engine(how.precision(), EPSILON, width, profile)?;
        let engine = profiler.iter().fold(engine, |engine, profiler| profiler.around(engine));
        let mut engine = Timed { engine, spent: Duration::ZERO };
        let mut integrator = Hermite4::new(parameters, CLOCK);
        let mut now = integrator.start(&mut p, &mut engine)?.now;
        while now < from {
            now = integrator.step(&mut p, &mut engine)?.now;
        }
        let energy_before = energy(&p, width, how)?;
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
            relative_energy_error: relative(energy(&p, width, how)?, energy_before),
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
