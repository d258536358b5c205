//! `tisane bench kernels`: accelerations alone, by our kernels and those of the papers.

mod subjects;

use super::{EPSILON, How, report};
use crate::one_of;
use serde::Serialize;
use std::time::{Duration, Instant};
use subjects::{Name, Subject};
use tisane::diagnostics::relative_error::{Spread, relative_errors};
use tisane::error::Result;
use tisane::force::cpu::{self, Width};
use tisane::force::precision::Precision;
use tisane::force::{Accelerations, ForceEngine, Targets};
use tisane::initial::{plummer, scaling};
use tisane::particles::{Particles, Vec3};
use tisane::time::Time;
use tisane_lab::literature::kernel::{Root, Stage};

/// Floating-point operations that the field counts for a pair's acceleration (Nyland, Harris and Prins 2007, §31.4).
const FLOP: f64 = 20.0;
/// A GPU comes to its clock before its time is taken.
const WARM_UP: Duration = Duration::from_millis(50);
/// Evaluations are timed together, until so much has passed.
const SPAN: Duration = Duration::from_millis(20);

/// What to measure.
#[derive(Clone, Debug, clap::Args)]
pub struct Kernels {
    /// Kernels. On a GPU: ours; simple (pairwise); tiles (GPU Gems 3, chapter 31); tiles-2d (the 2-D tiling report). On the
    /// CPU: basic (all pairs) and edges (each pair once) [default: all of the engine's].
    #[arg(long, value_delimiter = ',', value_parser = one_of(Name::ALL, Name::name))]
    kernel: Vec<Name>,
    /// Numbers of particles [default: 1024,4096,16384; on the CPU 1024,4096].
    #[arg(long, value_delimiter = ',')]
    n: Vec<usize>,
    /// Threads in a block; for tiles also targets of a block and sources of a tile [default: ours as the engine chooses, 128 for
    /// simple, 256 for tiles].
    #[arg(long, value_delimiter = ',')]
    p: Vec<usize>,
    /// Of ours: targets a thread [default: as the engine chooses].
    #[arg(long, value_delimiter = ',')]
    targets: Vec<usize>,
    /// Of ours: bags of sources in a span [default: as the engine chooses].
    #[arg(long, value_delimiter = ',')]
    span: Vec<usize>,
    /// Of simple and tiles: how 1/s³ is taken, by sqrt and division or by the hardware's rsqrt.
    #[arg(long, value_delimiter = ',', default_value = "rsqrt", value_parser = one_of(Root::ALL, Root::name))]
    root: Vec<Root>,
    /// Of tiles: how often the loop is unrolled.
    #[arg(long, value_delimiter = ',', default_value = "1,4,32")]
    unroll: Vec<usize>,
    /// Of tiles: threads a body.
    #[arg(long, value_delimiter = ',', default_value = "1,4")]
    q: Vec<usize>,
    /// Of tiles-2d: the report's stages GPU2 to GPU8 by name [default: shared, banks, and with cuBLAS cublas and fixed].
    #[arg(long, value_delimiter = ',', value_parser = one_of(Stage::ALL, Stage::name))]
    stage: Vec<Stage>,
    /// Of tiles-2d: threads a target in a block (the report's blockDim.x, or len).
    #[arg(long, value_delimiter = ',', default_value = "1")]
    block_x: Vec<usize>,
    /// Of tiles-2d: targets of a block (the report's blockDim.y, or wid).
    #[arg(long, value_delimiter = ',', default_value = "256")]
    block_y: Vec<usize>,
    /// Of tiles-2d: sources of a thread.
    #[arg(long, value_delimiter = ',', default_value = "1024")]
    luf: Vec<usize>,
    /// Leave out the shapes that a kernel cannot be launched in, where a sweep has some.
    #[arg(long)]
    skip_unfit: bool,
    #[command(flatten)]
    how: How,
}

#[derive(Serialize)]
struct KernelRow {
    kernel: &'static str,
    precision: &'static str,
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

pub(super) fn bench(what: &Kernels, width: Width) -> Result<u8> {
    let how = &what.how;
    let rows = how.on_threads(|| {
        let mut rows = Vec::new();
        // Kept to the end: the first to use a GPU starts it, which takes long, and the last stops it.
        let _open = subjects::open(how)?;
        // What the rest is held to shares no kernel with it.
        let mut exact = cpu::accelerations(Precision::F64, EPSILON, width);
        for n in what.numbers() {
            let mut p = plummer::sample(n, 1, 0.999);
            scaling::to_centre_of_mass(&mut p);
            let reference = accelerations(&mut *exact, &p)?;
            for build in what.subjects(n)? {
                rows.push(measure(build()?, &p, &reference, how.repeat)?);
            }
        }
        Ok((rows, rayon::current_num_threads()))
    })?;
    let mut precisions: Vec<&str> = rows.0.iter().map(|row: &KernelRow| row.precision).collect();
    precisions.sort_unstable();
    precisions.dedup();
    let header =
        ["kernel", "precision", "parameters", "N", "ms", "call ms", "Gpair/s", "Gflop/s (20/pair)", "largest error"];
    let cells = |r: &KernelRow| {
        vec![
            r.kernel.into(),
            r.precision.into(),
            r.parameters.clone(),
            r.n.to_string(),
            format!("{:.4}", r.milliseconds),
            format!("{:.4}", r.call_milliseconds),
            format!("{:.3}", r.giga_pairs_per_second),
            format!("{:.1}", r.giga_flop_per_second),
            format!("{:.1e}", r.largest_error),
        ]
    };
    report(("kernels", &precisions.join(", ")), width, how, rows, &header, cells, |_| String::new())
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

/// Seconds of the phases that compute, where there are phases.
fn computing(engine: &dyn ForceEngine<Accelerations>) -> Result<Option<f64>> {
    let phases = engine.spent()?;
    let sum = phases.iter().filter(|(name, _)| !name.starts_with("copy")).map(|(_, seconds)| seconds).sum();
    Ok((!phases.is_empty()).then_some(sum))
}

fn measure(mut subject: Subject, p: &Particles, reference: &[Vec3], repeat: usize) -> Result<KernelRow> {
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
    // What has no phases is all one.
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
