//! Verification of the engines on this machine: each against the reference, on a fixed problem, in every mode.

use tisane::diagnostics::conserved::{Conserved, relative};
use tisane::error::{Error, Result};
use tisane::force::Accelerations;
use tisane::force::cpu::{self, Width};
use tisane::force::precision::Precision;
use tisane::force::reference;
use tisane::force::{Field, ForceEngine, Forces, Targets};
use tisane::initial::{plummer, scaling};
use tisane::integrator::Integrator;
use tisane::integrator::hermite4::{Hermite4, Limits, Parameters};
use tisane::particles::{Particles, Vec3};
use tisane::spin_pool::on_threads;
use tisane::time::{Clock, Level, Time};
use tisane_run::assemble::{self, Gpu, OnGpu, Physics};

/// Number of particles of the problem: a Plummer sphere.
pub const N: usize = 1000;
const EPSILON: f64 = 1.0 / 256.0;
const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.125 };
/// Largest relative energy error allowed over the short run.
const ENERGY_LIMIT: f64 = 1e-7;
/// The same for the modes below f64.
const COARSE_LIMIT: f64 = 1e-5;

/// Factor by which a GPU may be further from the reference in the same mode than that is from f64: its 1/√ is an
/// approximation.
const GPU_FACTOR: f64 = 10.0;
/// Allowed difference in any case: `f64-fast`, whose own error on the CPU is none, differs by some ulp.
const GPU_ROUNDING: f64 = 1e-12;

/// Agreement of an engine's forces with the reference in the same mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Agreement {
    /// The bits have to be the same; the flag says that they are.
    Bits(bool),
    /// Largest relative difference, on a GPU in the modes whose 1/√ is rounded differently.
    Difference(f64),
}

/// Result of one engine in one mode.
#[derive(Clone, Debug)]
pub struct Row {
    /// Engine with what it computes on.
    pub engine: String,
    /// Precision mode.
    pub precision: Precision,
    /// Number of threads; [`None`] on a GPU.
    pub threads: Option<usize>,
    /// Largest relative error of a force against the reference in f64.
    pub force_error: f64,
    /// Agreement with the reference in the same mode.
    pub reference: Agreement,
    /// Flag that the engine that computes accelerations alone has the same bits.
    pub alone: bool,
    /// Relative energy error of a short run.
    pub energy_error: f64,
    /// Flag that the run ends in the state of the first engine of the mode; [`None`] where the bits differ.
    pub same_state: Option<bool>,
    /// Flag that everything is within its limits.
    pub passed: bool,
}

/// GPU of this machine, or its description with the reason why it was left out.
pub type FoundGpu = std::result::Result<Gpu, String>;

/// Results of all engines.
#[derive(Debug)]
pub struct Verification {
    /// Rows by mode.
    pub rows: Vec<Row>,
    /// GPUs in the order of their numbers.
    pub gpus: Vec<FoundGpu>,
    /// Reason why there are no GPUs.
    pub no_gpus: String,
}

impl Verification {
    /// Returns true if every engine passed.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.rows.iter().all(|row| row.passed)
    }
}

/// Verifies every engine of this machine in every mode; `begin` is called when a mode begins.
///
/// # Errors
/// As the engines.
pub fn verify(begin: &mut dyn FnMut(Precision)) -> Result<Verification> {
    let particles = problem();
    let exact = forces(&particles, &mut *reference::engine(Precision::F64, EPSILON, CLOCK))?;
    let (mut gpus, no_gpus) = match assemble::gpus() {
        Ok(gpus) => (gpus.into_iter().map(Ok).collect(), "the NVIDIA driver finds none".into()),
        Err(e) => (Vec::new(), one_line(&e)),
    };
    let mut rows = Vec::new();
    for precision in Precision::ALL {
        begin(precision);
        let reference = forces(&particles, &mut *reference::engine(precision, EPSILON, CLOCK))?;
        let mut runs = on_cpu(&particles, precision)?;
        runs.extend(on_gpus(&particles, precision, &mut gpus)?);
        let expected = Expected { exact: &exact, reference, state: runs[0].it.state.clone() };
        rows.extend(runs.iter().map(|run| run.check(&expected)));
    }
    Ok(Verification { rows, gpus, no_gpus })
}

/// Results of one engine on the problem.
struct Outcome {
    forces: Forces,
    /// Accelerations by the engine that computes them alone.
    acc: Vec<Vec3>,
    energy_error: f64,
    state: String,
}

/// Engine and its results.
struct Run {
    engine: String,
    precision: Precision,
    /// Number of threads; none for a GPU.
    threads: Option<usize>,
    it: Outcome,
}

/// Values that the engines of a mode are compared with.
struct Expected<'a> {
    /// Forces of the reference in f64.
    exact: &'a Forces,
    /// Forces of the reference in the mode.
    reference: Forces,
    /// State in which the first engine's run ended.
    state: String,
}

impl Run {
    /// Returns true where the bits have to agree. In f64 a GPU has the CPU's bits; in the other modes its 1/√ is
    /// rounded differently.
    fn is_exact(&self) -> bool {
        self.threads.is_some() || self.precision == Precision::F64
    }

    fn check(&self, expected: &Expected<'_>) -> Row {
        let force_error = force_error(&self.it.forces, expected.exact);
        let mut passed = force_error <= self.precision.audit_limit();
        let (reference, same_state) = if self.is_exact() {
            let same = (same_bits(&self.it.forces, &expected.reference), self.it.state == expected.state);
            passed &= same.0 && same.1;
            (Agreement::Bits(same.0), Some(same.1))
        } else {
            let off = self::force_error(&self.it.forces, &expected.reference);
            passed &= off <= (GPU_FACTOR * self::force_error(&expected.reference, expected.exact)).max(GPU_ROUNDING);
            (Agreement::Difference(off), None)
        };
        let alone = same_accelerations(&self.it.acc, &self.it.forces.acc);
        passed &= alone;
        // Rounding in the coarse modes costs some energy; a wrong force costs far more.
        passed &= self.it.energy_error.abs() < if self.precision.in_f64() { ENERGY_LIMIT } else { COARSE_LIMIT };
        Row {
            engine: self.engine.clone(),
            precision: self.precision,
            threads: self.threads,
            force_error,
            reference,
            alone,
            energy_error: self.it.energy_error,
            same_state,
            passed,
        }
    }
}

/// Runs a mode in every way that the CPU has; in f64 the reference runs too.
fn on_cpu(particles: &Particles, precision: Precision) -> Result<Vec<Run>> {
    let mut rows = Vec::new();
    if precision == Precision::F64 {
        let it = outcome(
            particles,
            reference::engine(precision, EPSILON, CLOCK),
            reference::accelerations(precision, EPSILON),
        )?;
        rows.push(Run { engine: "reference".into(), precision, threads: Some(1), it });
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let in_runs = Width::widest().name();
    for width in Width::available() {
        // One thread too for the instructions that runs will use; the others are there to be compared.
        let mut counts = if width.name() == in_runs { vec![1, cores] } else { vec![cores] };
        counts.dedup();
        for &threads in &counts {
            let run = || {
                let alone = cpu::accelerations(precision, EPSILON, width);
                outcome(particles, cpu::engine(precision, EPSILON, CLOCK, width), alone)
            };
            let it = on_threads(threads, run)?;
            rows.push(Run { engine: format!("cpu ({})", width.name()), precision, threads: Some(threads), it });
        }
    }
    Ok(rows)
}

/// Runs a mode on every GPU. One on which the engine does not start is left out from then on.
fn on_gpus(p: &Particles, precision: Precision, gpus: &mut [FoundGpu]) -> Result<Vec<Run>> {
    let mut rows = Vec::new();
    for (device, found) in gpus.iter_mut().enumerate() {
        let Ok(gpu) = found else { continue };
        let on = OnGpu { device: device as u32, room_for: p.len(), ..OnGpu::default() };
        let both = assemble::cuda(None, Physics { precision, epsilon: EPSILON, clock: CLOCK }, on)
            .and_then(|(engine, _)| Ok((engine, assemble::cuda_accelerations(None, (precision, EPSILON), on)?.0)));
        match both {
            Ok((engine, alone)) => rows.push(Run {
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

/// Returns an error and its advice in one line.
fn one_line(error: &Error) -> String {
    let help = tisane_run::help::advice(error).map(|help| format!("; {help}")).unwrap_or_default();
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

/// Returns the instructions that every machine has: the energy does not rest on those under test.
fn baseline() -> Width {
    Width::from_name("baseline").unwrap_or_else(Width::widest)
}

/// Returns the total energy in f64, independent of the engine that moved the particles.
fn energy(p: &Particles) -> Result<f64> {
    let mut engine = cpu::engine(Precision::F64, EPSILON, CLOCK, baseline());
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
        limits: Limits { floor: Level::DEEPEST, ..Limits::new(Precision::F64) },
    };
    let mut integrator = Hermite4::new(parameters, CLOCK);
    integrator.start(&mut p, &mut *engine)?;
    integrator.advance(&mut p, &mut *engine, Time::from_dt_max(2), u64::MAX)?;
    Ok(Outcome { forces, acc, energy_error: relative(energy(&p)?, energy_start), state: p.state_sha256(&CLOCK) })
}

/// Returns the largest |Δ| / |reference| over acceleration, jerk and potential of all particles.
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
