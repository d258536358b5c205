//! Which engine computes the forces of a run, and why that one.

use super::gpu::{Gpu, OnGpu, cuda, cuda_accelerations, gpu_name, gpus};
use super::width;
use crate::config::{Config, Engine};
use crate::simulation::Notes;
use tisane::auditor::Auditor;
use tisane::error::{Error, Result};
use tisane::force::precision::Precision;
use tisane::force::{AccelerationEngine, ForceEngine, cpu, reference};
use tisane::profile::Profiler;
use tisane::time::Clock;

/// How one session of a run computes: in place of what the configuration says, and not written into it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Session {
    /// Another engine.
    pub engine: Option<Engine>,
    /// Another GPU.
    pub device: Option<u32>,
    /// Measure where the time goes.
    pub profile: bool,
}

/// Number of particles from which a run is faster on a GPU than on the CPU's cores.
///
/// Measured with `tisane bench run` in f64 and mixed, on one NVIDIA H200 against a CPU with AVX-512 (docs: GPUs, Measured). The
/// leapfrog, whose blocks are all particles, breaks even between 512 and 1024 there against 16 cores.
/// Below it the CPU is through with a block before the copies, launches and waits of an evaluation are over.
#[must_use]
pub const fn gpu_wins_from(precision: Precision) -> usize {
    match precision {
        // One sum over all sources in order: a small block occupies few threads of a GPU.
        Precision::F32Direct => 8192,
        _ => 1024,
    }
}

/// What to do where there is no GPU to be used.
const FOR_A_GPU: &str = "to use a GPU, install NVIDIA's driver (580 or later) and look at nvidia-smi";

/// What an engine computes, and for how many.
#[derive(Clone, Copy)]
pub(super) struct Task {
    pub precision: Precision,
    pub epsilon: f64,
    pub clock: Clock,
    pub n: usize,
}

/// What makes the engines of a kind: of forces for Hermite schemes, of accelerations for the leapfrog.
pub(super) trait Kind {
    /// The engine that measures beside one of this kind: optional only where the kind itself can.
    type Meter;
    fn on_cpu(task: Task) -> Result<Box<Self>>;
    fn reference(task: Task) -> Box<Self>;
    /// With what to call it.
    fn on_gpu(task: Task, gpu: OnGpu) -> Result<(Box<Self>, String)>;
    /// With a stop watch around it.
    fn timed(profiler: &Profiler, engine: Box<Self>) -> Box<Self>;
    /// What measures beside the engine of that name.
    fn meter(name: &str, task: Task, gpu: OnGpu) -> Result<Self::Meter>;
}

impl Kind for dyn ForceEngine {
    type Meter = Option<Box<dyn ForceEngine>>;
    fn on_cpu(task: Task) -> Result<Box<Self>> {
        Ok(cpu::engine(task.precision, task.epsilon, task.clock, width()?))
    }
    fn reference(task: Task) -> Box<Self> {
        reference::engine(task.precision, task.epsilon, task.clock)
    }
    fn on_gpu(task: Task, gpu: OnGpu) -> Result<(Box<Self>, String)> {
        cuda(task.precision, task.epsilon, task.clock, gpu)
    }
    fn timed(profiler: &Profiler, engine: Box<Self>) -> Box<Self> {
        profiler.around(engine)
    }
    fn meter(name: &str, task: Task, gpu: OnGpu) -> Result<Self::Meter> {
        let measures_itself = match name {
            "cpu" => task.precision.in_f64(),
            "cuda" => task.precision == Precision::F64,
            _ => false,
        };
        if measures_itself { Ok(None) } else { meter_beside(name, task, gpu).map(Some) }
    }
}

impl Kind for dyn AccelerationEngine {
    type Meter = Box<dyn ForceEngine>;
    fn on_cpu(task: Task) -> Result<Box<Self>> {
        Ok(cpu::accelerations(task.precision, task.epsilon, width()?))
    }
    fn reference(task: Task) -> Box<Self> {
        reference::accelerations(task.precision, task.epsilon)
    }
    fn on_gpu(task: Task, gpu: OnGpu) -> Result<(Box<Self>, String)> {
        cuda_accelerations(task.precision, task.epsilon, gpu)
    }
    fn timed(profiler: &Profiler, engine: Box<Self>) -> Box<Self> {
        profiler.around_accelerations(engine)
    }
    fn meter(name: &str, task: Task, gpu: OnGpu) -> Result<Self::Meter> {
        meter_beside(name, task, gpu)
    }
}

/// What measures beside an engine: the CPU in f64, or beside one on a GPU that GPU in f64, which has the same bits.
fn meter_beside(name: &str, task: Task, gpu: OnGpu) -> Result<Box<dyn ForceEngine>> {
    let task = Task { precision: Precision::F64, ..task };
    if name == "cuda" {
        return Ok(<dyn ForceEngine>::on_gpu(task, OnGpu { phases: false, ..gpu })?.0);
    }
    <dyn ForceEngine>::on_cpu(task)
}

/// The engines of a run, and what to call the first in reports.
pub(super) struct Chosen<K: Kind + ?Sized> {
    pub engine: Box<K>,
    pub name: &'static str,
    /// What measures beside it.
    pub meter: K::Meter,
    /// Holds the forces against the f64 CPU path, where they do not come from there.
    pub auditor: Option<Auditor>,
    pub notes: Notes,
}

/// An engine, its name, and which and why in one line.
type Named<K> = (Box<K>, &'static str, String);

/// Chooses the engine of a session, and has it reserve what it needs. `of_run` is the engine that computed the run so far.
///
/// # Errors
/// [`Error::Input`] or [`Error::Config`] if the engine is not there or has too little memory.
pub(super) fn choose<K: Kind + ?Sized>(
    config: &Config,
    session: Session,
    of_run: Option<&str>,
    task: Task,
) -> Result<Chosen<K>> {
    let asked = session.engine.unwrap_or(config.force.engine);
    let device = session.device.unwrap_or(config.force.device);
    let gpu = OnGpu { device, room_for: task.n, phases: session.profile };
    let mut warnings = Vec::new();
    let (engine, name, mut choice) = match asked {
        Engine::Auto => auto(task, gpu, of_run, &mut warnings)?,
        Engine::Cpu => on_cpu(task, "cpu, as asked for".into())?,
        Engine::Cuda => on_gpu(task, gpu, |name| format!("{name}, as asked for"))?,
        Engine::Reference => (K::reference(task), "reference", "reference, as asked for".into()),
    };
    if device != 0 && matches!(asked, Engine::Cpu | Engine::Reference) {
        let key =
            if session.device.is_some() { format!("--device {device}") } else { format!("force.device = {device}") };
        warnings.push(format!("{key} has no effect: the engine is {name}"));
    }
    if name == "cuda" && device != config.force.device {
        choice += &format!("; device {device} in place of {} for this session", config.force.device);
    }
    if let Some(before) = of_run.filter(|before| *before != name) {
        match told_change(before, name, task.precision) {
            Ok(same) => choice += &same,
            Err(other) => warnings.push(other),
        }
    }
    let profiler = session.profile.then(Profiler::default);
    let engine = match &profiler {
        Some(profiler) => K::timed(profiler, engine),
        None => engine,
    };
    let (meter, auditor) = (K::meter(name, task, gpu)?, auditor(config, name, task)?);
    let gpu = if name == "cuda" { gpus()?.get(device as usize).map(|gpu| gpu.about.clone()) } else { None };
    let notes = Notes { choice, gpu: gpu.unwrap_or_default(), warnings, profiler };
    Ok(Chosen { engine, name, meter, auditor, notes })
}

/// What audits an engine: the CPU in f64, if it is not that itself.
fn auditor(config: &Config, name: &str, task: Task) -> Result<Option<Auditor>> {
    if name == "cpu" && task.precision.in_f64() {
        return Ok(None);
    }
    // Beside an engine of the CPU that is what measures.
    let on_cpu = || <dyn ForceEngine>::on_cpu(Task { precision: Precision::F64, ..task });
    let engine = if name == "cuda" { Some(on_cpu()?) } else { None };
    let (sample, limit) = (config.audit.sample as usize, config.audit.limit(task.precision));
    Ok(Some(Auditor { engine, sample, limit }))
}

/// True if both engines have the same bits: all have in f64, and only CUDA's 1/√ differs in the other modes.
fn same_bits(one: &str, other: &str, precision: Precision) -> bool {
    precision == Precision::F64 || (one == "cuda") == (other == "cuda")
}

/// What a change of engine within a run means: a remark, or as the error a warning.
fn told_change(before: &str, now: &str, precision: Precision) -> Result<String, String> {
    if same_bits(before, now, precision) {
        return Ok(format!("; the run was computed by {before} so far, which has the same bits"));
    }
    Err(format!(
        "the run was computed by {before} so far, and {now} rounds differently in {}: from here on the result is not bit for \
         bit that of a run that was not stopped",
        precision.name()
    ))
}

/// What `auto` comes to in a new run: true for the GPU, and why.
fn weigh(precision: Precision, n: usize, gpus: impl FnOnce() -> Result<Vec<Gpu>>) -> (bool, String) {
    let (from, mode) = (gpu_wins_from(precision), precision.name());
    if n < from {
        return (false, format!("N = {n} is below {from}, from where a GPU wins in {mode}"));
    }
    match gpus() {
        Err(Error::Config(e)) => (false, e.problem),
        Err(e) => (false, format!("{}; {FOR_A_GPU}", problem(&e))),
        Ok(gpus) if gpus.is_empty() => (false, format!("the NVIDIA driver finds no GPU; {FOR_A_GPU}")),
        Ok(_) => (true, format!("N = {n} is at least {from}, from where a GPU wins in {mode}")),
    }
}

/// The engine of a run that leaves the choice to the program. A run that goes on keeps its bits: where another engine has
/// others, it keeps its engine.
fn auto<K: Kind + ?Sized>(
    task: Task,
    gpu: OnGpu,
    of_run: Option<&str>,
    warnings: &mut Vec<String>,
) -> Result<Named<K>> {
    let mode = task.precision.name();
    if let Some(before) = of_run.filter(|_| task.precision != Precision::F64) {
        let why = format!("the run was computed by {before} so far, and in {mode} cpu and cuda have different bits");
        if before != "cuda" {
            return on_cpu(task, format!("auto: cpu: {why}"));
        }
        return on_gpu(task, gpu, |name| format!("auto: {name}: {why}")).map_err(|e| {
            let help = "resume where that GPU is, or give --engine cpu: the result is then not bit for bit that of a run that \
                        was not stopped";
            Error::input("CUDA", format!("{}; {why}", problem(&e))).with_help(help)
        });
    }
    let mut there = Vec::new();
    let (wins, why) = weigh(task.precision, task.n, || {
        there = gpus()?;
        Ok(there.clone())
    });
    if !wins {
        return on_cpu(task, format!("auto: cpu: {why}"));
    }
    match on_gpu(task, gpu, |name| format!("auto: {name}: {why}")) {
        // A number that no device has is a mistake; a device that cannot be used is not the user's.
        Err(e) if there.len() > gpu.device as usize => {
            let problem = problem(&e);
            warnings.push(format!("the GPU is not used: {problem}"));
            on_cpu(task, format!("auto: cpu: {problem}"))
        }
        other => other,
    }
}

/// Which engine a new run of `n` particles would take on this machine, and why, and what speaks against it. Nothing is built.
#[must_use]
pub fn forecast(config: &Config, n: usize) -> (String, Option<String>) {
    let (asked, device) = (config.force.engine, config.force.device as usize);
    let lacking = |there: &[Gpu]| {
        (device >= there.len()).then(|| format!("force.device = {device}, but this machine has {} GPUs", there.len()))
    };
    match asked {
        Engine::Cpu | Engine::Reference => {
            let unused = format!("force.device = {device} has no effect: the engine is {}", asked.name());
            (asked.name().into(), (device != 0).then_some(unused))
        }
        Engine::Cuda => match gpus() {
            Err(e) => (format!("cuda, device {device}"), Some(format!("not on this machine: {}", problem(&e)))),
            Ok(there) => (told_gpu(&there, device), lacking(&there)),
        },
        Engine::Auto => {
            let mut there = Vec::new();
            let (wins, why) = weigh(config.force.precision(), n, || {
                there = gpus()?;
                Ok(there.clone())
            });
            let name = if wins { told_gpu(&there, device) } else { "cpu".into() };
            (format!("auto: {name}: {why}"), lacking(&there).filter(|_| wins))
        }
    }
}

/// The engine that a new run of `n` particles would take on this machine; nothing is built.
#[must_use]
pub fn forecast_engine(config: &Config, n: usize) -> Engine {
    match config.force.engine {
        Engine::Auto if weigh(config.force.precision(), n, gpus).0 => Engine::Cuda,
        Engine::Auto => Engine::Cpu,
        asked => asked,
    }
}

/// An engine for studies: `auto` is the CPU.
///
/// # Errors
/// [`Error::Input`] or [`Error::Config`] if the engine is not there.
pub fn force_engine(
    engine: Engine,
    precision: Precision,
    epsilon: f64,
    clock: Clock,
    gpu: OnGpu,
) -> Result<Box<dyn ForceEngine>> {
    Ok(match engine {
        Engine::Auto | Engine::Cpu => cpu::engine(precision, epsilon, clock, width()?),
        Engine::Cuda => cuda(precision, epsilon, clock, gpu)?.0,
        Engine::Reference => reference::engine(precision, epsilon, clock),
    })
}

/// The reference with bags of another size than the canonical one: to study what bags do to the error.
#[must_use]
pub fn force_engine_with_bags(precision: Precision, epsilon: f64, clock: Clock, bag: usize) -> Box<dyn ForceEngine> {
    reference::engine_with_bags(precision, epsilon, clock, bag)
}

/// An engine with what it computes on: instructions, or the GPU.
///
/// # Errors
/// [`Error::Input`] or [`Error::Config`] if it is not there.
pub fn described(engine: Engine, device: u32) -> Result<String> {
    Ok(match engine {
        Engine::Auto | Engine::Cpu => format!("cpu ({})", width()?.name()),
        Engine::Reference => "reference".into(),
        Engine::Cuda => {
            let there = gpus()?;
            let lacking = || Error::input("CUDA", format!("device {device}: this machine has {} GPUs", there.len()));
            gpu_name(&there.get(device as usize).ok_or_else(lacking)?.name, device as usize)
        }
    })
}

fn told_gpu(there: &[Gpu], device: usize) -> String {
    there.get(device).map_or_else(|| format!("cuda, device {device}"), |gpu| gpu_name(&gpu.name, device))
}

/// What is wrong, without its place and advice.
fn problem(error: &Error) -> String {
    match error {
        Error::Input { problem, .. } | Error::Integration { problem, .. } => problem.clone(),
        Error::Config(e) => e.problem.clone(),
        other => other.to_string(),
    }
}

fn on_cpu<K: Kind + ?Sized>(task: Task, choice: String) -> Result<Named<K>> {
    Ok((K::on_cpu(task)?, "cpu", choice))
}

fn on_gpu<K: Kind + ?Sized>(task: Task, gpu: OnGpu, told: impl FnOnce(&str) -> String) -> Result<Named<K>> {
    let (engine, name) = K::on_gpu(task, gpu)?;
    Ok((engine, "cuda", told(&name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gpu() -> Gpu {
        Gpu { name: "a GPU".into(), about: "a GPU of a test".into() }
    }

    #[test]
    fn auto_takes_the_gpu_from_where_it_wins_and_says_why() {
        for precision in Precision::ALL {
            let from = gpu_wins_from(precision);
            let (wins, why) = weigh(precision, from - 1, || panic!("too few particles to ask the driver"));
            assert!(!wins && why.starts_with(&format!("N = {} is below {from}", from - 1)), "{why}");
            let (wins, why) = weigh(precision, from, || Ok(vec![gpu()]));
            assert!(wins && why.starts_with(&format!("N = {from} is at least {from}")), "{why}");
            let (wins, why) = weigh(precision, from, || Ok(Vec::new()));
            assert!(!wins && why.contains("finds no GPU") && why.contains("580"), "{why}");
            let (wins, why) = weigh(precision, from, || Err(Error::input("CUDA", "no NVIDIA driver")));
            assert!(!wins && why.starts_with("no NVIDIA driver; to use a GPU"), "{why}");
        }
    }

    #[test]
    fn only_a_change_that_changes_bits_is_warned_of() {
        for precision in Precision::ALL {
            let exact = precision == Precision::F64;
            assert!(told_change("cpu", "reference", precision).is_ok());
            for (before, now) in [("cpu", "cuda"), ("cuda", "cpu"), ("cuda", "reference")] {
                assert_eq!(told_change(before, now, precision).is_ok(), exact, "{before} {now} {}", precision.name());
            }
        }
    }
}
