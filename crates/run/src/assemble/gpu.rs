//! The GPUs of this machine, and the engine on one of them.

#[cfg(feature = "cuda")]
use super::memory;
use super::session::Session;
#[cfg(not(feature = "cuda"))]
use crate::config::Problem;
use crate::config::{Config, DeviceSet};
use std::sync::Arc;
use tisane::error::{Error, Result};
use tisane::force::block_steps::SystemStepper;
use tisane::force::precision::Precision;
use tisane::force::{Accelerations, EngineKind, FieldEngine, ForceEngine};
use tisane::law::Law;
use tisane::time::Clock;

/// Device and options of an engine on a GPU.
#[derive(Clone, Copy, Debug, Default)]
pub struct OnGpu {
    /// Number of the device.
    pub device: u32,
    /// Devices that compute together, instead of it.
    pub devices: Option<DeviceSet>,
    /// Particles to reserve memory for at once; 0 leaves it to the first load.
    pub room_for: usize,
    /// Measure the phases of each evaluation.
    pub phases: bool,
    /// Let the device take whole block steps.
    pub stepping: bool,
}

/// A GPU of this machine.
#[derive(Clone, Debug)]
pub struct Gpu {
    /// Name that the driver gives.
    pub name: String,
    /// Name, compute capability, memory, and versions of driver and CUDA.
    pub about: String,
}

/// Returns the name of the engine on a GPU.
pub(super) fn gpu_name(name: &str, device: usize) -> String {
    format!("cuda ({name}, device {device})")
}

/// Lists the GPUs of this machine.
///
/// # Errors
/// [`Error::Input`] if there is no usable driver.
#[cfg(feature = "cuda")]
pub fn gpus() -> Result<Vec<Gpu>> {
    const GIB: f64 = (1_u64 << 30) as f64;
    // First line of the file: "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06 …".
    let module = std::fs::read_to_string("/proc/driver/nvidia/version").unwrap_or_default();
    let version = |word: &&str| word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    let driver = module.split_whitespace().find(version).map_or(String::new(), |version| format!("driver {version}, "));
    let describe = |about: tisane::force::cuda::DeviceInfo| Gpu {
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
    Ok(tisane::force::cuda::list()?.into_iter().map(describe).collect())
}

/// Checks that a device exists and that its total memory can hold `n` particles, if their number is known. This comes
/// before the particles are made, which may take long; the memory that is free is known only later.
///
/// # Errors
/// [`Error::Input`] if there is no such device, or with the numbers if it is too small.
#[cfg(feature = "cuda")]
fn check_device(device: u32, precision: Precision, n: Option<usize>) -> Result<()> {
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
fn check_device(_: u32, _: Precision, _: Option<usize>) -> Result<()> {
    gpus().map(|_| ())
}

/// Checks that the GPU that a new run asks for exists and has enough memory; passes if it asks for another engine.
///
/// # Errors
/// [`Error::Input`] or [`Error::Config`] if not.
pub fn check_gpu(config: &Config, session: Session) -> Result<()> {
    if session.engine.unwrap_or(config.force.engine).kind() != Some(EngineKind::Cuda) {
        return Ok(());
    }
    let n = config.initial.sampled().and_then(|(n, ..)| Some(n? as usize));
    let devices = session.devices.or(config.force.devices.filter(|_| session.device.is_none()));
    let devices = match devices {
        Some(devices) => devices.numbers(gpus()?.len()),
        None => vec![session.device.unwrap_or(config.force.device)],
    };
    devices.into_iter().try_for_each(|device| check_device(device, config.force.precision(), n))
}

/// Turns an integration error into an input error: before a run starts, the machine is at fault.
#[cfg(feature = "cuda")]
fn at_start(e: Error) -> Error {
    match e {
        Error::Integration { problem, .. } => {
            Error::input("CUDA", problem).with_help(r#"look at nvidia-smi, or take force.engine = "cpu""#)
        }
        e => e,
    }
}

/// What an engine computes with, besides its law.
#[derive(Clone, Copy, Debug)]
pub struct Physics {
    /// Precision mode.
    pub precision: Precision,
    /// Plummer softening, in internal units.
    pub epsilon: f64,
    /// Time axis.
    pub clock: Clock,
}

/// Builds the engine on a GPU, of a law in place of Newton's where there is one; returns it with its name, which
/// includes the device.
///
/// # Errors
/// [`Error::Input`] if there is no such GPU, if it cannot be used, with the numbers if its memory is too small, and if
/// the kernels of the law cannot be compiled.
#[cfg(feature = "cuda")]
pub fn cuda(law: Option<&Arc<Law>>, physics: Physics, on: OnGpu) -> Result<(Box<dyn FieldEngine>, String)> {
    let engine = cuda_engine(law, physics, on)?;
    let name = gpu_name(&engine.device_name(), on.device as usize);
    Ok((Box::new(engine), name))
}

/// Builds the engine of several GPUs; returns it with its name, which includes the devices.
///
/// # Errors
/// As [`cuda`], and if their bits are not the same.
#[cfg(feature = "cuda")]
pub(super) fn cuda_group(
    law: Option<&Arc<Law>>,
    physics: Physics,
    (on, devices): (OnGpu, &[u32]),
) -> Result<(Box<dyn ForceEngine>, String)> {
    let one = |device: &u32| cuda_engine(law, physics, OnGpu { device: *device, phases: false, ..on });
    let engines: Vec<_> = devices.iter().map(one).collect::<Result<_>>()?;
    let names: Vec<String> = engines.iter().map(|engine| engine.device_name()).collect();
    let mut group = tisane::force::cuda::CudaGroup::new(engines).map_err(at_start)?;
    if on.phases {
        group.set_profile(true).map_err(at_start)?;
    }
    let numbers: Vec<String> = devices.iter().map(u32::to_string).collect();
    let kind = if names.iter().all(|name| *name == names[0]) {
        format!("{} × {}", names.len(), names[0])
    } else {
        names.join(", ")
    };
    Ok((Box::new(group), format!("cuda ({kind}, devices {})", numbers.join(", "))))
}

/// Returns the error of a build without the GPU engine.
///
/// # Errors
/// Always.
#[cfg(not(feature = "cuda"))]
pub(super) fn cuda_group(
    _: Option<&Arc<Law>>,
    _: Physics,
    _: (OnGpu, &[u32]),
) -> Result<(Box<dyn ForceEngine>, String)> {
    Err(gpus().err().unwrap_or_else(|| Error::input("CUDA", "not in this build")))
}

/// Builds the engine on one device.
#[cfg(feature = "cuda")]
fn cuda_engine(
    law: Option<&Arc<Law>>,
    Physics { precision, epsilon, clock }: Physics,
    on: OnGpu,
) -> Result<tisane::force::cuda::CudaEngine> {
    use tisane::force::cuda::{CudaEngine, MemoryPlan};
    let engine = match law {
        None => CudaEngine::new(precision, epsilon, clock, on.device as usize),
        Some(law) => CudaEngine::with_law(law, precision, epsilon, clock, on.device as usize),
    };
    let mut engine = engine.map_err(at_start)?;
    if on.room_for > 0 {
        let pinned = MemoryPlan::new(precision, on.room_for).pinned() as u64;
        if let Some(there) = memory::of_this_machine("MemAvailable").filter(|there| pinned > *there) {
            let problem = format!(
                "{} particles need {} MiB of pinned host memory, and this machine has {} MiB available",
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
    engine.set_stepping(on.stepping);
    Ok(engine)
}

/// Returns the error of a build without the GPU engine.
///
/// # Errors
/// Always.
#[cfg(not(feature = "cuda"))]
pub fn gpus() -> Result<Vec<Gpu>> {
    let problem = Problem::new("force.engine", "this tisane was built without its CUDA engine");
    Err(problem.with_help(r#"take "auto" or "cpu", or build with the feature "cuda""#).into())
}

/// Returns the error of a build without the GPU engine.
///
/// # Errors
/// Always.
#[cfg(not(feature = "cuda"))]
pub fn cuda(_: Option<&Arc<Law>>, _: Physics, _: OnGpu) -> Result<(Box<dyn FieldEngine>, String)> {
    Err(gpus().err().unwrap_or_else(|| Error::input("CUDA", "not in this build")))
}

/// Builds the engine of accelerations on a GPU, of a law in place of Newton's where there is one; returns it with its
/// name, which includes the device.
///
/// # Errors
/// As [`cuda`].
#[cfg(feature = "cuda")]
pub fn cuda_accelerations(
    law: Option<&Arc<Law>>,
    (precision, epsilon): (Precision, f64),
    on: OnGpu,
) -> Result<(Box<dyn ForceEngine<Accelerations>>, String)> {
    use tisane::force::cuda::CudaAccelerations;
    let engine = match law {
        None => CudaAccelerations::new(precision, epsilon, on.device as usize),
        Some(law) => CudaAccelerations::with_law(law, precision, epsilon, on.device as usize),
    };
    let mut engine = engine.map_err(at_start)?;
    if on.room_for > 0 {
        engine.reserve(on.room_for).map_err(at_start)?;
    }
    if on.phases {
        engine.set_profile(true).map_err(at_start)?;
    }
    let name = gpu_name(&engine.device_name(), on.device as usize);
    Ok((Box::new(engine), name))
}

/// Returns the error of a build without the GPU engine.
///
/// # Errors
/// Always.
#[cfg(not(feature = "cuda"))]
pub fn cuda_accelerations(
    _: Option<&Arc<Law>>,
    _: (Precision, f64),
    _: OnGpu,
) -> Result<(Box<dyn ForceEngine<Accelerations>>, String)> {
    Err(gpus().err().unwrap_or_else(|| Error::input("CUDA", "not in this build")))
}

/// GPU that is opened while the program does something else, and stays open as long as this exists.
#[cfg(feature = "cuda")]
pub type OpenAhead = tisane::force::cuda::OpenAhead;

/// Nothing, in a build without the GPU engine.
#[cfg(not(feature = "cuda"))]
pub struct OpenAhead;

/// Begins to open a GPU, if there is one of this number.
#[cfg(feature = "cuda")]
#[must_use]
pub fn open_ahead(device: u32) -> OpenAhead {
    OpenAhead::new(device as usize)
}

/// Does nothing, in a build without the GPU engine.
#[cfg(not(feature = "cuda"))]
#[must_use]
pub fn open_ahead(_: u32) -> OpenAhead {
    OpenAhead
}

/// Returns what takes the block steps of many systems of up to `largest` particles on a GPU at a time; [`None`] if that
/// device cannot.
///
/// # Errors
/// As [`cuda`].
#[cfg(feature = "cuda")]
pub fn system_stepper(precision: Precision, device: u32, largest: usize) -> Result<Option<Box<dyn SystemStepper>>> {
    let made = tisane::force::cuda::SystemsOnDevice::new(device as usize, precision, largest).map_err(at_start)?;
    Ok(made.map(|made| Box::new(made) as Box<dyn SystemStepper>))
}

/// Returns the error of a build without the GPU engine.
///
/// # Errors
/// Always.
#[cfg(not(feature = "cuda"))]
pub fn system_stepper(_: Precision, _: u32, _: usize) -> Result<Option<Box<dyn SystemStepper>>> {
    Err(gpus().err().unwrap_or_else(|| Error::input("CUDA", "not in this build")))
}
