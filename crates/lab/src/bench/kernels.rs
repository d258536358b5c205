//! Accelerations alone, by tisane's kernels and those of the papers, with their errors against f64.

mod subjects;

pub use subjects::{KernelName, Sweep};

use super::{EPSILON, Options, Report};
use serde::Serialize;
use std::time::{Duration, Instant};
use subjects::Subject;
use tisane::diagnostics::relative_error::{Spread, relative_errors};
use tisane::error::Result;
use tisane::force::cpu;
use tisane::force::precision::Precision;
use tisane::force::{Accelerations, ForceEngine, Targets};
use tisane::initial::{plummer, scaling};
use tisane::particles::{Particles, Vec3};
use tisane::time::Time;

/// Floating-point operations that the field counts for a pair's acceleration (Nyland, Harris and Prins 2007, §31.4).
const FLOP: f64 = 20.0;
/// Time for which a GPU is kept busy before a measurement, to come to its clock.
const WARM_UP: Duration = Duration::from_millis(50);
/// Time over which evaluations are timed together.
const SPAN: Duration = Duration::from_millis(20);

/// Speed and error of a kernel with its parameters.
#[derive(Clone, Debug, Serialize)]
pub struct KernelRow {
    /// Name of the kernel.
    pub kernel: &'static str,
    /// Precision mode, or the numbers that a paper's kernel computes in.
    pub precision: &'static str,
    /// Launch parameters.
    pub parameters: String,
    /// Number of particles.
    pub n: usize,
    /// Milliseconds of the kernels that compute: pairs, and the sum of what they found apart.
    pub milliseconds: f64,
    /// Milliseconds of the whole evaluation from the host, copies included.
    pub call_milliseconds: f64,
    /// Rate, in 10⁹ pairs per second.
    pub giga_pairs_per_second: f64,
    /// Rate, in 10⁹ floating-point operations per second, at 20 per pair.
    pub giga_flop_per_second: f64,
    /// Largest relative error of an acceleration against f64.
    pub largest_error: f64,
}

/// Measures every kernel of a sweep on Plummer spheres.
///
/// # Errors
/// As the engines; [`Error::Input`](tisane::error::Error::Input) for a kernel that the engine lacks, a mode that the
/// kernel lacks, and a shape that does not fit.
pub fn measure(sweep: &Sweep, options: &Options) -> Result<Report<KernelRow>> {
    let (rows, threads) = options.on_threads(|| {
        let mut rows = Vec::new();
        // Kept to the end: the first to use a GPU starts it, which takes long, and the last stops it.
        let _open = subjects::open(options)?;
        // The reference for the errors shares no kernel with the rest.
        let mut exact = cpu::accelerations(Precision::F64, EPSILON, options.width);
        for n in sweep.numbers(options) {
            let mut p = plummer::sample(n, 1, 0.999);
            scaling::to_centre_of_mass(&mut p);
            let reference = accelerations(&mut *exact, &p)?;
            for build in sweep.subjects(n, options)? {
                rows.push(time(build()?, &p, &reference, options.repeat)?);
            }
        }
        Ok((rows, rayon::current_num_threads()))
    })?;
    let mut precisions: Vec<&str> = rows.iter().map(|row: &KernelRow| row.precision).collect();
    precisions.sort_unstable();
    precisions.dedup();
    Report::new("kernels", precisions.join(", "), options, (rows, threads))
}

fn accelerations(engine: &mut dyn ForceEngine<Accelerations>, p: &Particles) -> Result<Vec<Vec3>> {
    let (mut found, everyone) = (Accelerations::default(), everyone(p));
    engine.load(p)?;
    engine.evaluate(Time::default(), Targets::all(p, &everyone), &mut found)?;
    Ok(found.acc)
}

fn everyone(p: &Particles) -> Vec<u32> {
    (0..p.len() as u32).collect()
}

/// Returns the seconds of the phases that compute; [`None`] for an engine without phases.
fn computing(engine: &dyn ForceEngine<Accelerations>) -> Result<Option<f64>> {
    let phases = engine.spent()?;
    let sum = phases.iter().filter(|(name, _)| !name.starts_with("copy")).map(|(_, seconds)| seconds).sum();
    Ok((!phases.is_empty()).then_some(sum))
}

fn time(mut subject: Subject, p: &Particles, reference: &[Vec3], repeat: usize) -> Result<KernelRow> {
    let engine = &mut *subject.engine;
    let mut found = Accelerations { acc: accelerations(engine, p)? };
    let largest = Spread::from_errors(relative_errors(&found.acc, reference)).max;
    let everyone = everyone(p);
    let targets = Targets::all(p, &everyone);
    let began = Instant::now();
    while began.elapsed() < WARM_UP {
        engine.evaluate(Time::default(), targets, &mut found)?;
    }
    let (mut call, mut kernels) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..repeat.max(1) {
        let (began, mut rounds, mut sum) = (Instant::now(), 0, 0.0);
        while rounds == 0 || began.elapsed() < SPAN {
            engine.evaluate(Time::default(), targets, &mut found)?;
            sum += computing(engine)?.unwrap_or(f64::INFINITY);
            rounds += 1;
        }
        call = call.min(began.elapsed().as_secs_f64() / f64::from(rounds));
        kernels = kernels.min(sum / f64::from(rounds));
    }
    // An engine without phases is timed as a whole.
    let kernels = kernels.min(call);
    let rate = (p.len() as f64).powi(2) / kernels / 1e9;
    Ok(KernelRow {
        kernel: subject.kernel.name(),
        precision: subject.precision,
        parameters: subject.parameters,
        n: p.len(),
        milliseconds: 1e3 * kernels,
        call_milliseconds: 1e3 * call,
        giga_pairs_per_second: rate,
        giga_flop_per_second: FLOP * rate,
        largest_error: largest,
    })
}
