//! `tisane verify`: every engine on this machine against the reference, on a fixed problem, with a verdict.

use super::{on_threads, print};
use crate::diagnostics::conserved::{Conserved, relative};
use crate::error::Result;
use crate::force::cpu::{CpuEngine, Width};
use crate::force::precision::Precision;
use crate::force::reference::ReferenceEngine;
use crate::force::{Field, ForceEngine, Forces, Targets};
use crate::initial::{plummer, scaling};
use crate::integrator::Integrator;
use crate::integrator::hermite4::{Hermite4, OnFloor, Parameters};
use crate::integrator::timestep::norm;
use crate::particles::{Particles, Vec3};
use crate::time::{Clock, Level, Time};
use comfy_table::{Table, presets};

const N: usize = 1000;
const EPSILON: f64 = 1.0 / 256.0;
const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.125 };
/// Largest relative energy error allowed over the short run.
const ENERGY_LIMIT: f64 = 1e-7;

/// What one engine made of the problem.
struct Outcome {
    forces: Forces,
    energy_error: f64,
    state: String,
}

pub fn verify() -> Result<u8> {
    let particles = problem();
    let reference = outcome(&particles, &mut ReferenceEngine::new(EPSILON, CLOCK))?;
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["engine", "precision", "threads", "force error", "same bits", "dE/E", "same run", "verdict"]);
    let mut all_good = true;
    let mut add = |name: &str, threads: usize, it: &Outcome| {
        let error = force_error(&it.forces, &reference.forces);
        let (same_bits, same_run) = (same_bits(&it.forces, &reference.forces), it.state == reference.state);
        let good = same_bits && same_run && it.energy_error.abs() < ENERGY_LIMIT;
        all_good &= good;
        let yes = |x: bool| if x { "yes" } else { "NO" }.to_owned();
        table.add_row([
            name.to_owned(),
            Precision::F64.name().into(),
            threads.to_string(),
            format!("{error:.1e}"),
            yes(same_bits),
            format!("{:+.1e}", it.energy_error),
            yes(same_run),
            if good { "pass" } else { "FAIL" }.into(),
        ]);
    };
    add("reference", 1, &reference);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut counts = vec![1, cores];
    counts.dedup();
    for width in Width::available() {
        for &threads in &counts {
            let it = on_threads(threads, || outcome(&particles, &mut CpuEngine::new(EPSILON, CLOCK, width)))?;
            add(&format!("cpu ({})", width.name()), threads, &it);
        }
    }
    let verdict =
        if all_good { "every engine agrees with the reference" } else { "AN ENGINE IS WRONG on this machine" };
    print(&format!(
        "Plummer sphere, N = {N}, softening 1/256: forces on all particles, then a run to t = 0.25 with nu = 0.01\n\n{table}\n\n\
         {verdict}\n"
    ))?;
    Ok(if all_good { 0 } else { 4 })
}

fn problem() -> Particles {
    let mut p = plummer::sample(N, 1, 0.999);
    scaling::to_centre_of_mass(&mut p);
    p
}

fn outcome(start: &Particles, engine: &mut dyn ForceEngine) -> Result<Outcome> {
    let mut p = start.clone();
    let mut forces = Forces::default();
    engine.load(&p)?;
    let everyone = Targets { index: (0..p.len() as u32).collect(), pos: p.pos.clone(), vel: p.vel.clone() };
    engine.evaluate(Time::default(), &everyone, &mut forces)?;
    let energy_start = Conserved::of(&p, &forces.pot).energy();

    let parameters =
        Parameters { nu: 0.01, nu_start: 0.01, iterations: 1, floor: Level::DEEPEST, on_floor: OnFloor::Stop };
    let mut integrator = Hermite4::new(parameters, CLOCK);
    integrator.start(&mut p, engine)?;
    let mut now = Time::default();
    while now < Time::from_dt_max(2) {
        now = integrator.step(&mut p, engine)?.now;
    }
    let energy_end = Conserved::of(&p, &Field::of(&p, engine, now)?.pot).energy();
    let energy_error = relative(energy_end, energy_start);
    Ok(Outcome { forces, energy_error, state: p.state_sha256(&CLOCK) })
}

/// Largest |Δ| / |reference| over acceleration, jerk and potential of all particles.
fn force_error(got: &Forces, want: &Forces) -> f64 {
    let vectors = |a: &[Vec3], b: &[Vec3]| {
        let error = |(x, y): (&Vec3, &Vec3)| norm([0, 1, 2].map(|k| x[k] - y[k])) / norm(*y);
        a.iter().zip(b).map(error).fold(0.0, f64::max)
    };
    let pot = got.pot.iter().zip(&want.pot).map(|(x, y)| relative(*x, *y).abs()).fold(0.0, f64::max);
    vectors(&got.acc, &want.acc).max(vectors(&got.jerk, &want.jerk)).max(pot)
}

fn same_bits(got: &Forces, want: &Forces) -> bool {
    let bits =
        |f: &Forces| -> Vec<u64> { f.acc.iter().chain(&f.jerk).flatten().chain(&f.pot).map(|x| x.to_bits()).collect() };
    bits(got) == bits(want)
}
