//! `tisane verify`: every engine on this machine against the reference, on a fixed problem, with a verdict.

use super::{on_threads, print};
use crate::diagnostics::conserved::{Conserved, relative};
use crate::error::Result;
use crate::force::cpu::{self, Width};
use crate::force::precision::Precision;
use crate::force::reference;
use crate::force::{Field, ForceEngine, Forces, Targets};
use crate::initial::{plummer, scaling};
use crate::integrator::Integrator;
use crate::integrator::hermite4::{Hermite4, OnFloor, Parameters};
use crate::integrator::timestep::norm;
use crate::particles::{Particles, Vec3};
use crate::time::{Clock, Level, Time};
use comfy_table::{Table, presets};
use indicatif::{ProgressBar, ProgressStyle};

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

/// An engine and how it ran.
struct Row {
    engine: String,
    precision: Precision,
    threads: usize,
    it: Outcome,
}

pub fn verify() -> Result<u8> {
    let particles = problem();
    let exact = forces(&particles, &mut *reference::engine(Precision::F64, EPSILON, CLOCK))?;
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        "engine",
        "precision",
        "threads",
        "force error",
        "as reference",
        "dE/E",
        "as each other",
        "verdict",
    ]);
    let mut all_good = true;
    let bar = ProgressBar::new(Precision::ALL.len() as u64).with_style(
        ProgressStyle::with_template("{bar:28} {pos}/{len} modes  {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    for precision in Precision::ALL {
        bar.set_message(precision.name());
        let reference = forces(&particles, &mut *reference::engine(precision, EPSILON, CLOCK))?;
        let rows = rows(&particles, precision)?;
        for row in &rows {
            let error = force_error(&row.it.forces, &exact);
            let (same_bits, same_run) = (same_bits(&row.it.forces, &reference), row.it.state == rows[0].it.state);
            let good = same_bits
                && same_run
                && error <= precision.audit_limit()
                && (!precision.in_f64() || row.it.energy_error.abs() < ENERGY_LIMIT);
            all_good &= good;
            let yes = |x: bool| if x { "yes" } else { "NO" }.to_owned();
            table.add_row([
                row.engine.clone(),
                row.precision.name().into(),
                row.threads.to_string(),
                format!("{error:.1e}"),
                yes(same_bits),
                format!("{:+.1e}", row.it.energy_error),
                yes(same_run),
                if good { "pass" } else { "FAIL" }.into(),
            ]);
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let verdict =
        if all_good { "every engine agrees with the reference" } else { "AN ENGINE IS WRONG on this machine" };
    print(&format!(
        "Plummer sphere, N = {N}, softening 1/256: forces on all particles, then a run to t = 0.25 with nu = 0.01.\n\
         force error: largest relative error against the reference in f64; as reference: the bits of the reference in the\n\
         same mode; as each other: the same final state on every instruction set and number of threads.\n\n{table}\n\n\
         {verdict}\n"
    ))?;
    Ok(if all_good { 0 } else { 4 })
}

/// Every way of running a mode on this machine; in f64 the reference runs too.
fn rows(particles: &Particles, precision: Precision) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    if precision == Precision::F64 {
        let it = outcome(particles, &mut *reference::engine(precision, EPSILON, CLOCK))?;
        rows.push(Row { engine: "reference".into(), precision, threads: 1, it });
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for (k, width) in Width::available().into_iter().enumerate() {
        // One thread too for the instructions that runs will use; the others are there to be compared.
        let mut counts = if k == 0 { vec![1, cores] } else { vec![cores] };
        counts.dedup();
        for &threads in &counts {
            let run = || outcome(particles, &mut *cpu::engine(precision, EPSILON, CLOCK, width));
            let it = on_threads(threads, run)?;
            rows.push(Row { engine: format!("cpu ({})", width.name()), precision, threads, it });
        }
    }
    Ok(rows)
}

fn problem() -> Particles {
    let mut p = plummer::sample(N, 1, 0.999);
    scaling::to_centre_of_mass(&mut p);
    p
}

fn forces(p: &Particles, engine: &mut dyn ForceEngine) -> Result<Forces> {
    let mut forces = Forces::default();
    engine.load(p)?;
    let everyone = Targets { index: (0..p.len() as u32).collect(), pos: p.pos.clone(), vel: p.vel.clone() };
    engine.evaluate(Time::default(), &everyone, &mut forces)?;
    Ok(forces)
}

/// Total energy in f64, whatever moved the particles.
fn energy(p: &Particles) -> Result<f64> {
    let mut meter = cpu::engine(Precision::F64, EPSILON, CLOCK, Width::Baseline(pulp::Scalar));
    meter.load(p)?;
    let now = p.time.first().copied().unwrap_or_default();
    Ok(Conserved::of(p, &Field::of(p, &mut *meter, now)?.pot).energy())
}

fn outcome(start: &Particles, engine: &mut dyn ForceEngine) -> Result<Outcome> {
    let mut p = start.clone();
    let forces = forces(&p, engine)?;
    let energy_start = energy(&p)?;
    let parameters =
        Parameters { nu: 0.01, nu_start: 0.01, iterations: 1, floor: Level::DEEPEST, on_floor: OnFloor::Stop };
    let mut integrator = Hermite4::new(parameters, CLOCK);
    integrator.start(&mut p, engine)?;
    let mut now = Time::default();
    while now < Time::from_dt_max(2) {
        now = integrator.step(&mut p, engine)?.now;
    }
    Ok(Outcome { forces, energy_error: relative(energy(&p)?, energy_start), state: p.state_sha256(&CLOCK) })
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
