//! The GPUs of this machine, and the engine on one of them.

use super::engine::Session;
#[cfg(feature = "cuda")]
use super::memory_of_this_machine;
use crate::config::Config;
#[cfg(not(feature = "cuda"))]
use crate::config::Problem;
use tisane::error::{Error, Result};
use tisane::force::precision::Precision;
use tisane::force::{Accelerations, EngineKind, ForceEngine};
use tisane::time::Clock;

/// Where and how on a GPU.
#[derive(Clone, Copy, Debug, Default)]
pub struct OnGpu {
    /// Number of the device.
    pub device: u32,
    /// Particles to reserve memory for at once; 0 leaves it to the first load.
    pub room_for: usize,
    /// Measure the phases of each evaluation.
    pub phases: bool,
}

/// A GPU of this machine.
#[derive(Clone, Debug)]
pub struct Gpu {
    /// What it calls itself.
    pub name: String,
    /// That, with what it can do and its driver.
    pub about: String,
}

/// What to call the engine on a GPU.
pub(super) fn gpu_name(name: &str, device: usize) -> String {
    format!("cuda ({name}, device {device})")
}

/// The GPUs of this machine.
///
/// # Errors
/// [`Error::Input`] if there is no driver that can be used.
#[cfg(feature = "cuda")]
pub fn gpus() -> Result<Vec<Gpu>> {
    const GIB: f64 = (1_u64 << 30) as f64;
    // What the kernel module says of itself: "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06 …".
    let module = std::fs::read_to_string("/proc/driver/nvidia/version").unwrap_or_default();
    let version = |word: &&str| word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    let driver = module.split_whitespace().find(version).map_or(String::new(), |version| format!("driver {version}, "));
    let told = |about: tisane::force::cuda::DeviceInfo| Gpu {
        about: format!(
            "{}, compute capability {}.{}, {:.1} GiB, {driver}CUDA {}.{}",
            about.name,
            about.capability.0,
            about.capability.1,
            about.memory as f64 / GIB,
            about.cuda / 1000,
            about.cuda % 1000 / 10
        ),
        name: about.name,
    };
    Ok(tisane::force::cuda::list()?.into_iter().map(told).collect())
}

/// Looks whether a GPU that a new run asks for is there and can hold `n` particles, where their number is known: before
/// they are made, which may take long. What is free on it shows only later.
///
/// # Errors
/// [`Error::Input`] if it is not there or too small, with the numbers.
#[cfg(feature = "cuda")]
fn look_for(device: u32, precision: Precision, n: Option<usize>) -> Result<()> {
    let about = tisane::force::cuda::find(device as usize)?;
    let needed = n.map_or(0, |n| tisane::force::cuda::MemoryPlan::new(precision, n).on_device());
    if needed <= about.memory {
        return Ok(());
    }
    let problem = format!(
        "{} particles need {} MiB of GPU memory, and device {device} ({}) has {} MiB",
        n.unwrap_or_default(),
        needed.div_ceil(1 << 20),
        about.name,
        about.memory >> 20
    );
    Err(Error::input("CUDA", problem).with_help("take fewer particles, another device or force.engine = \"cpu\""))
}

#[cfg(not(feature = "cuda"))]
fn look_for(_: u32, _: Precision, _: Option<usize>) -> Result<()> {
    gpus().map(|_| ())
}

/// Looks whether the GPU that a new run asks for, if it does, is there and large enough, as far as that shows at once.
///
/// # Errors
/// [`Error::Input`] or [`Error::Config`] if not.
pub fn check_gpu(config: &Config, session: Session) -> Result<()> {
    if session.engine.unwrap_or(config.force.engine).kind() != Some(EngineKind::Cuda) {
        return Ok(());
    }
    let n = config.initial.sampled().and_then(|(n, ..)| Some(n? as usize));
    look_for(session.device.unwrap_or(config.force.device), config.force.precision(), n)
}

/// Nothing has begun yet: what fails here is the machine's state, not a run's.
#[cfg(feature = "cuda")]
fn at_start(e: Error) -> Error {
    match e {
        Error::Integration { problem, .. } => {
            Error::input("CUDA", problem).with_help(r#"look at nvidia-smi, or take force.engine = "cpu""#)
        }
        e => e,
    }
}

/// The engine on a GPU, and what to call it with its device.
///
/// # Errors
/// [`Error::Input`] if there is no such GPU or it cannot be used, with what to do; with the numbers if memory is too small.
#[cfg(feature = "cuda")]
pub fn cuda(precision: Precision, epsilon: f64, clock: Clock, on: OnGpu) -> Result<(Box<dyn ForceEngine>, String)> {
    use tisane::force::cuda::{CudaEngine, MemoryPlan};
    let mut engine = CudaEngine::new(precision, epsilon, clock, on.device as usize).map_err(at_start)?;
    if on.room_for > 0 {
        let pinned = MemoryPlan::new(precision, on.room_for).pinned() as u64;
        if let Some(there) = memory_of_this_machine("MemAvailable").filter(|there| pinned > *there) {
            let problem = format!(
                "{} particles need {} MiB of pinned memory beside the GPU's, and this machine has {} MiB available",
                on.room_for,
                pinned.div_ceil(1 << 20),
                there >> 20
            );
            return Err(Error::input("CUDA", problem).with_help("take fewer particles, or free memory"));
        }
        engine.reserve(on.room_for).map_err(at_start)?;
    }
    if on.phases {
        engine.set_profile(true).map_err(at_start)?;
    }
    let name = gpu_name(&engine.device_name(), on.device as usize);
    Ok((Box::new(engine), name))
}

/// No GPU engine in this build.
///
/// # Errors
/// Always.
#[cfg(not(feature = "cuda"))]
pub fn gpus() -> Result<Vec<Gpu>> {
    let problem = Problem::new("force.engine", "this tisane was built without its CUDA engine");
    Err(problem.with_help(r#"take "auto" or "cpu", or build with the feature "cuda""#).into())
}

/// No GPU engine in this build.
///
/// # Errors
/// Always.
#[cfg(not(feature = "cuda"))]
pub fn cuda(_: Precision, _: f64, _: Clock, _: OnGpu) -> Result<(Box<dyn ForceEngine>, String)> {
    Err(gpus().err().unwrap_or_else(|| Error::input("CUDA", "not in this build")))
}

/// The engine of accelerations on a GPU, and what to call it with its device.
///
/// # Errors
/// As [`cuda`].
#[cfg(feature = "cuda")]
pub fn cuda_accelerations(
    precision: Precision,
    epsilon: f64,
    on: OnGpu,
) -> Result<(Box<dyn ForceEngine<Accelerations>>, String)> {
    let mut engine =
        tisane::force::cuda::CudaAccelerations::new(precision, epsilon, on.device as usize).map_err(at_start)?;
    if on.room_for > 0 {
        engine.reserve(on.room_for).map_err(at_start)?;
    }
    if on.phases {
        engine.set_profile(true).map_err(at_start)?;
    }
    let name = gpu_name(&engine.device_name(), on.device as usize);
    Ok((Box::new(engine), name))
}

/// No GPU engine in this build.
///
/// # Errors
/// Always.
#[cfg(not(feature = "cuda"))]
pub fn cuda_accelerations(_: Precision, _: f64, _: OnGpu) -> Result<(Box<dyn ForceEngine<Accelerations>>, String)> {
    Err(gpus().err().unwrap_or_else(|| Error::input("CUDA", "not in this build")))
}
