//! `tisane bench kernels`: accelerations alone, by one kernel or another.

use super::{EPSILON, How, report};
use crate::diagnostics::audit::{relative_errors, spread};
use crate::error::{Error, Result};
use crate::force::AccelerationEngine;
use crate::force::cpu::Width;
use crate::force::cuda::{AccelerationShape, CudaAccelerations};
use crate::force::precision::Precision;
use crate::initial::{plummer, scaling};
use crate::particles::{Particles, Vec3};
use serde::Serialize;
use std::time::{Duration, Instant};

/// Floating-point operations that the field counts for a pair's acceleration (Nyland et al. 2007, §31.4; Hamada & Iitaka count
/// 38).
const FLOPS: f64 = 20.0;
/// A GPU comes to its clock before its time is taken.
const WARM_UP: Duration = Duration::from_millis(50);
/// Evaluations are timed together, until so much has passed.
const SPAN: Duration = Duration::from_millis(20);

/// What to measure.
#[derive(Clone, Debug, clap::Args)]
pub struct Kernels {
    /// Numbers of particles.
    #[arg(long, value_delimiter = ',', default_value = "1024,4096,16384")]
    n: Vec<usize>,
    /// Threads in a block: for all kernels but 2-D tiles [default: the kernel's own choice].
    #[arg(long, value_delimiter = ',')]
    p: Vec<usize>,
    /// Targets a thread, of ours [default: the engine's choice].
    #[arg(long, value_delimiter = ',')]
    targets: Vec<usize>,
    /// Bags of sources in a span, of ours [default: the engine's choice].
    #[arg(long, value_delimiter = ',')]
    span: Vec<usize>,
    #[command(flatten)]
    how: How,
}

#[derive(Serialize)]
struct KernelRow {
    kernel: &'static str,
    parameters: String,
    n: usize,
    /// Milliseconds of the kernels that compute: pairs, and the sum of what they found apart.
    milliseconds: f64,
    /// Milliseconds of the whole evaluation from the host, copies included.
    call_milliseconds: f64,
    giga_pairs_per_second: f64,
    giga_flop_per_second: f64,
    /// Largest relative error of an acceleration against f64.
    largest_error: f64,
}

/// A kernel with its parameters.
struct Subject {
    kernel: &'static str,
    parameters: String,
    engine: Box<dyn AccelerationEngine>,
}

pub(super) fn bench(what: &Kernels, width: Width) -> Result<u8> {
    let how = &what.how;
    let rows = how.on_threads(|| {
        let mut rows = Vec::new();
        // Kept to the end: the first to use a GPU starts it and the last stops it.
        let mut exact = CudaAccelerations::new(Precision::F64, EPSILON, how.device as usize)?;
        for &n in &what.n {
            let mut p = plummer::sample(n, 1, 0.999);
            scaling::to_centre_of_mass(&mut p);
            let reference = accelerations(&mut exact, &p)?;
            for subject in ours(what, n)? {
                rows.push(measure(subject, &p, &reference, how.repeat)?);
            }
        }
        Ok((rows, rayon::current_num_threads()))
    })?;
    let header = ["kernel", "parameters", "N", "ms", "call ms", "Gpair/s", "Gflop/s", "largest error"];
    let cells = |r: &KernelRow| {
        vec![
            r.kernel.into(),
            r.parameters.clone(),
            r.n.to_string(),
            format!("{:.4}", r.milliseconds),
            format!("{:.4}", r.call_milliseconds),
            format!("{:.1}", r.giga_pairs_per_second),
            format!("{:.0}", r.giga_flop_per_second),
            format!("{:.1e}", r.largest_error),
        ]
    };
    report("kernels", width, how, rows, &header, cells, |_| String::new())
}

/// Ours in these modes, in the shapes asked for.
fn ours(what: &Kernels, n: usize) -> Result<Vec<Subject>> {
    let modes = what.how.precision.map_or(vec![Precision::F32Direct, Precision::F32Chamomile], |mode| vec![mode]);
    let mut found = Vec::new();
    for mode in modes {
        let own = AccelerationShape::choose(mode, n);
        let given = |list: &[usize], own: usize| if list.is_empty() { vec![own] } else { list.to_vec() };
        for targets in given(&what.targets, own.targets) {
            for threads in given(&what.p, own.threads) {
                for span_bags in given(&what.span, own.span_bags) {
                    let shape = AccelerationShape { targets, threads, span_bags };
                    let parameters = format!("{} {targets} targets, p {threads}, span {span_bags}", mode.name());
                    if !shape.fits(mode) {
                        let problem = format!("no kernel of ours can be launched so: {parameters}");
                        return Err(Error::input("bench kernels", problem));
                    }
                    let mut engine = CudaAccelerations::new(mode, EPSILON, what.how.device as usize)?;
                    engine.set_profile(true)?;
                    engine.set_shape(Some(shape));
                    found.push(Subject { kernel: "ours", parameters, engine: Box::new(engine) });
                }
            }
        }
    }
    Ok(found)
}

fn accelerations(engine: &mut dyn AccelerationEngine, p: &Particles) -> Result<Vec<Vec3>> {
    let mut acc = Vec::new();
    engine.load(&p.mass)?;
    engine.accelerate(&p.pos, &mut acc)?;
    Ok(acc)
}

/// Seconds of the phases that compute.
fn computing(engine: &dyn AccelerationEngine) -> Result<Option<f64>> {
    let phases = engine.spent()?;
    let sum = phases.iter().filter(|(name, _)| !name.starts_with("copy")).map(|(_, seconds)| seconds).sum();
    Ok((!phases.is_empty()).then_some(sum))
}

fn measure(mut subject: Subject, p: &Particles, reference: &[Vec3], repeat: usize) -> Result<KernelRow> {
    let engine = &mut *subject.engine;
    let mut acc = accelerations(engine, p)?;
    let [largest, ..] = spread(relative_errors(&acc, reference));
    let began = Instant::now();
    while began.elapsed() < WARM_UP {
        engine.accelerate(&p.pos, &mut acc)?;
    }
    let (mut call, mut kernels) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..repeat.max(1) {
        let (began, mut rounds, mut sum) = (Instant::now(), 0, 0.0);
        while rounds == 0 || began.elapsed() < SPAN {
            engine.accelerate(&p.pos, &mut acc)?;
            sum += computing(engine)?.unwrap_or(f64::INFINITY);
            rounds += 1;
        }
        call = call.min(began.elapsed().as_secs_f64() / f64::from(rounds));
        kernels = kernels.min(sum / f64::from(rounds));
    }
    // What has no phases of its own is all one.
    let kernels = kernels.min(call);
    let rate = (p.len() as f64).powi(2) / kernels / 1e9;
    Ok(KernelRow {
        kernel: subject.kernel,
        parameters: subject.parameters,
        n: p.len(),
        milliseconds: 1e3 * kernels,
        call_milliseconds: 1e3 * call,
        giga_pairs_per_second: rate,
        giga_flop_per_second: FLOPS * rate,
        largest_error: largest,
    })
}
