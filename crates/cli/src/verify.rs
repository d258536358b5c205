//! `tisane verify`: every engine on this machine against the reference, on a fixed problem, with a verdict.

use super::{on_threads, print};
use comfy_table::{Table, presets};
use indicatif::{ProgressBar, ProgressStyle};
use tisane::diagnostics::conserved::{Conserved, relative};
use tisane::error::{Error, Result};
use tisane::force::Accelerations;
use tisane::force::cpu::{self, Width};
use tisane::force::precision::Precision;
use tisane::force::range::Range;
use tisane::force::reference;
use tisane::force::{Field, ForceEngine, Forces, Targets};
use tisane::initial::{plummer, scaling};
use tisane::integrator::Integrator;
use tisane::integrator::hermite4::{Hermite4, OnFloor, Parameters};
use tisane::particles::{Particles, Vec3};
use tisane::time::{Clock, Level, Time};
use tisane_run::assemble::{self, Gpu, OnGpu};

const N: usize = 1000;
const EPSILON: f64 = 1.0 / 256.0;
const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.125 };
/// Largest relative energy error allowed over the short run.
const ENERGY_LIMIT: f64 = 1e-7;
/// The same for the modes below f64.
const COARSE_LIMIT: f64 = 1e-5;

/// How much further from the reference in the same mode than that is from f64 a GPU may be: its 1/√ is an approximation.
const GPU_FACTOR: f64 = 10.0;
/// Or by this: `f64-fast`, whose own error on the CPU is none, differs by some ulp.
const GPU_ROUNDING: f64 = 1e-12;

/// What one engine made of the problem.
struct Outcome {
    forces: Forces,
    /// What its engine of accelerations alone makes of it.
    acc: Vec<Vec3>,
    energy_error: f64,
    state: String,
}

/// An engine and how it ran.
struct Row {
    engine: String,
    precision: Precision,
    /// None for a GPU.
    threads: Option<usize>,
    it: Outcome,
}

/// What the engines of a mode are held against.
struct Expected<'a> {
    /// Forces of the reference in f64.
    exact: &'a Forces,
    /// Forces of the reference in the mode.
    reference: Forces,
    /// The state in which the first engine's run ended.
    state: String,
}

impl Row {
    /// A GPU has the CPU's bits in f64; in the other modes its 1/√ is rounded differently.
    fn is_exact(&self) -> bool {
        self.threads.is_some() || self.precision == Precision::F64
    }

    /// The cells of the table, and whether all is good.
    fn judged(&self, expected: &Expected<'_>) -> ([String; 9], bool) {
        let yes = |x: bool| if x { "yes" } else { "NO" }.to_owned();
        let error = force_error(&self.it.forces, expected.exact);
        let mut good = error <= self.precision.audit_limit();
        let (as_reference, as_each_other) = if self.is_exact() {
            let same = (same_bits(&self.it.forces, &expected.reference), self.it.state == expected.state);
            good &= same.0 && same.1;
            (yes(same.0), yes(same.1))
        } else {
            let off = force_error(&self.it.forces, &expected.reference);
            good &= off <= (GPU_FACTOR * force_error(&expected.reference, expected.exact)).max(GPU_ROUNDING);
            (format!("{off:.1e} off"), "-".into())
        };
        let alone = same_accelerations(&self.it.acc, &self.it.forces.acc);
        good &= alone;
        // Rounding in the coarse modes costs what it costs; a wrong force costs far more.
        good &= self.it.energy_error.abs() < if self.precision.in_f64() { ENERGY_LIMIT } else { COARSE_LIMIT };
        let cells = [
            self.engine.clone(),
            self.precision.name().into(),
            self.threads.map_or_else(|| "-".into(), |threads| threads.to_string()),
            format!("{error:.1e}"),
            as_reference,
            yes(alone),
            format!("{:+.1e}", self.it.energy_error),
            as_each_other,
            if good { "pass" } else { "FAIL" }.into(),
        ];
        (cells, good)
    }
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
        "alone",
        "dE/E",
        "as each other",
        "verdict",
    ]);
    let mut all_good = true;
    let (mut gpus, none) = match assemble::gpus() {
        Ok(gpus) => (gpus.into_iter().map(Ok).collect(), "the NVIDIA driver finds none".into()),
        Err(e) => (Vec::new(), one_line(&e)),
    };
    let bar = ProgressBar::new(Precision::ALL.len() as u64).with_style(
        ProgressStyle::with_template("{bar:28} {pos}/{len} modes  {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    for precision in Precision::ALL {
        bar.set_message(precision.name());
        let reference = forces(&particles, &mut *reference::engine(precision, EPSILON, CLOCK))?;
        let mut rows = rows(&particles, precision)?;
        rows.extend(on_gpus(&particles, precision, &mut gpus)?);
        let expected = Expected { exact: &exact, reference, state: rows[0].it.state.clone() };
        for row in &rows {
            let (cells, good) = row.judged(&expected);
            all_good &= good;
            table.add_row(cells);
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let verdict =
        if all_good { "every engine agrees with the reference" } else { "AN ENGINE IS WRONG on this machine" };
    print(&format!(
        "Plummer sphere, N = {N}, softening 1/256: forces on all particles, then a run to t = 0.25 with nu = 0.01.\n\
         force error: largest relative error against the reference in f64; as reference: the bits of the reference in the\n\
         same mode; alone: the engine that computes accelerations alone, the leapfrog's, has their bits; as each other: the\n\
         same final state on every instruction set and number of threads. A GPU has the bits of the reference in f64; in the\n\
         other modes it may be off by the rounding of its 1/sqrt.\n\n{table}\n\n{}{verdict}\n",
        told(&gpus, &none)
    ))?;
    Ok(if all_good { 0 } else { 4 })
}

/// Every way of running a mode on this machine; in f64 the reference runs too.
fn rows(particles: &Particles, precision: Precision) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    if precision == Precision::F64 {
        let it = outcome(
            particles,
            reference::engine(precision, EPSILON, CLOCK),
            reference::accelerations(precision, EPSILON),
        )?;
        rows.push(Row { engine: "reference".into(), precision, threads: Some(1), it });
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for (k, width) in Width::available().into_iter().enumerate() {
        // One thread too for the instructions that runs will use; the others are there to be compared.
        let mut counts = if k == 0 { vec![1, cores] } else { vec![cores] };
        counts.dedup();
        for &threads in &counts {
            let run = || {
                let alone = cpu::accelerations(precision, EPSILON, width);
                outcome(particles, cpu::engine(precision, EPSILON, CLOCK, width), alone)
            };
            let it = on_threads(threads, run)?;
            rows.push(Row { engine: format!("cpu ({})", width.name()), precision, threads: Some(threads), it });
        }
    }
    Ok(rows)
}

/// A GPU of this machine, or its line and why it was left out.
type Found = std::result::Result<Gpu, String>;

/// What every GPU makes of the problem. One on which the engine does not start is left out from then on.
fn on_gpus(p: &Particles, precision: Precision, gpus: &mut [Found]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (device, found) in gpus.iter_mut().enumerate() {
        let Ok(gpu) = found else { continue };
        let on = OnGpu { device: device as u32, room_for: p.len(), phases: false };
        let both = assemble::cuda(precision, EPSILON, CLOCK, on)
            .and_then(|(engine, _)| Ok((engine, assemble::cuda_accelerations(precision, EPSILON, on)?.0)));
        match both {
            Ok((engine, alone)) => rows.push(Row {
                engine: format!("cuda {device} ({})", gpu.name),
                precision,
                threads: None,
                it: outcome(p, engine, alone)?,
            }),
            Err(e) => *found = Err(format!("{}: not used: {}", gpu.about, one_line(&e))),
        }
    }
    Ok(rows)
}

/// The GPUs, a line each, or why there are none.
fn told(gpus: &[Found], none: &str) -> String {
    if gpus.is_empty() {
        return format!("GPUs: none used: {none}\n");
    }
    let line = |(device, found): (usize, &Found)| {
        format!("GPU {device}: {}\n", found.as_ref().map_or_else(Clone::clone, |gpu| gpu.about.clone()))
    };
    gpus.iter().enumerate().map(line).collect()
}

/// An error and what to do about it, in one line.
fn one_line(error: &Error) -> String {
    let help = miette::Diagnostic::help(error).map(|help| format!("; {help}")).unwrap_or_default();
    format!("{error}{help}").replace('\n', " ")
}

fn problem() -> Particles {
    let mut p = plummer::sample(N, 1, 0.999);
    scaling::to_centre_of_mass(&mut p);
    p
}

fn forces(p: &Particles, engine: &mut dyn ForceEngine) -> Result<Forces> {
    let mut forces = Forces::default();
    engine.load(p)?;
    let everyone: Vec<u32> = (0..p.len() as u32).collect();
    engine.evaluate(Time::default(), Targets::all(p, &everyone), &mut forces)?;
    Ok(forces)
}

fn accelerations(p: &Particles, mut engine: Box<dyn ForceEngine<Accelerations>>) -> Result<Vec<Vec3>> {
    let mut found = Accelerations::default();
    let everyone: Vec<u32> = (0..p.len() as u32).collect();
    engine.load(p)?;
    engine.evaluate(Time::default(), Targets::all(p, &everyone), &mut found)?;
    Ok(found.acc)
}

/// Total energy in f64, whatever moved the particles.
fn energy(p: &Particles) -> Result<f64> {
    let mut engine = cpu::engine(Precision::F64, EPSILON, CLOCK, Width::Baseline(pulp::Scalar));
    engine.load(p)?;
    let now = p.time.first().copied().unwrap_or_default();
    Ok(Conserved::from_particles(p, &Field::from_engine(p, &mut *engine, now)?.pot).energy())
}

fn outcome(
    start: &Particles,
    mut engine: Box<dyn ForceEngine>,
    alone: Box<dyn ForceEngine<Accelerations>>,
) -> Result<Outcome> {
    let mut p = start.clone();
    let forces = forces(&p, &mut *engine)?;
    let acc = accelerations(&p, alone)?;
    let energy_start = energy(&p)?;
    let parameters = Parameters {
        nu: 0.01,
        nu_start: 0.01,
        iterations: 1,
        floor: Level::DEEPEST,
        on_floor: OnFloor::Stop,
        noise: 0.0,
        range: Range::F64,
    };
    let mut integrator = Hermite4::new(parameters, CLOCK);
    integrator.start(&mut p, &mut *engine)?;
    integrator.advance(&mut p, &mut *engine, Time::from_dt_max(2), u64::MAX)?;
    Ok(Outcome { forces, acc, energy_error: relative(energy(&p)?, energy_start), state: p.state_sha256(&CLOCK) })
}

/// Largest |Δ| / |reference| over acceleration, jerk and potential of all particles.
fn force_error(got: &Forces, want: &Forces) -> f64 {
    let vectors = |a: &[Vec3], b: &[Vec3]| {
        let error = |(x, y): (&Vec3, &Vec3)| (x - y).norm() / y.norm();
        a.iter().zip(b).map(error).fold(0.0, f64::max)
    };
    let pot = got.pot.iter().zip(&want.pot).map(|(x, y)| relative(*x, *y).abs()).fold(0.0, f64::max);
    vectors(&got.acc, &want.acc).max(vectors(&got.jerk, &want.jerk)).max(pot)
}

fn same_accelerations(got: &[Vec3], want: &[Vec3]) -> bool {
    got.iter().flatten().map(|x| x.to_bits()).eq(want.iter().flatten().map(|x| x.to_bits()))
}

fn same_bits(got: &Forces, want: &Forces) -> bool {
    let bits =
        |f: &Forces| -> Vec<u64> { f.acc.iter().chain(&f.jerk).flatten().chain(&f.pot).map(|x| x.to_bits()).collect() };
    bits(got) == bits(want)
}
