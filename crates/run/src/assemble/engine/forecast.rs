//! Engine that a new run would take on this machine, and descriptions of engines; nothing is built.

use super::auto::{decide, problem};
use super::scheme::{alone, takes_steps_by_lists};
use crate::assemble::gpu::{Gpu, gpu_name, gpus};
use crate::assemble::width::width;
use crate::config::{Config, Engine};
use crate::several::{self, Gpus};
use tisane::error::{Error, Result};
use tisane::force::EngineKind;
use tisane::force::precision::Precision;

/// Forecasts the engine that a new run of `n` particles would take on this machine: its name with the reason, and an
/// objection if there is one. Nothing is built.
#[must_use]
pub fn forecast(config: &Config, n: usize) -> (String, Option<String>) {
    let (asked, device) = (config.force.engine.kind(), config.force.device as usize);
    let lacking = |there: &[Gpu]| {
        (device >= there.len()).then(|| format!("force.device = {device}, but this machine has {} GPUs", there.len()))
    };
    match asked {
        Some(EngineKind::Cuda) => match gpus() {
            Err(e) => (format!("cuda, device {device}"), Some(format!("not on this machine: {}", problem(&e)))),
            Ok(there) => (describe_gpu(&there, device), lacking(&there)),
        },
        Some(kind) => {
            let unused = format!("force.device = {device} has no effect: the engine is {}", kind.name());
            (kind.name().into(), (device != 0).then_some(unused))
        }
        None => {
            let mut there = Vec::new();
            let (wins, why) = decide(config, n, || {
                there = gpus()?;
                Ok(there.clone())
            });
            let name = if wins { describe_gpu(&there, device) } else { EngineKind::Cpu.name().into() };
            (format!("auto: {name}: {why}"), lacking(&there).filter(|_| wins))
        }
    }
}

/// Forecasts the engine that a new run of `n` particles would take on this machine; nothing is built.
#[must_use]
pub fn forecast_engine(config: &Config, n: usize) -> Engine {
    match config.force.engine {
        Engine::Auto if decide(config, n, gpus).0 => Engine::Cuda,
        Engine::Auto => Engine::Cpu,
        asked => asked,
    }
}

/// Describes what several GPUs would bring to a run of `n` particles: those of `force.devices`, or all of this machine, where the
/// engine is on a GPU and there are others.
#[must_use]
pub fn forecast_several(config: &Config, n: usize) -> Option<String> {
    let there = gpus().map_or(0, |there| there.len());
    let gpus = config.force.devices.map_or(there, |devices| devices.numbers(there).len());
    let why = alone(config);
    if gpus < 2 || forecast_engine(config, n) != Engine::Cuda {
        return None;
    }
    Some(match why {
        Some(why) => format!("one is taken: {why}"),
        None if takes_steps_by_lists(config) => several::describe_by_lists(n),
        None => Gpus::h200(config.force.precision()).describe(gpus, n),
    })
}

/// Describes an engine with the instructions or the GPU that it computes on. The description identifies it in models of
/// the wall time and in studies, so it does not have the division that a trial found to be quicker.
///
/// # Errors
/// [`Error::Input`] or [`Error::Config`] if it is not there.
pub fn describe_engine(engine: Engine, device: u32) -> Result<String> {
    let kind = engine.kind().unwrap_or(EngineKind::Cpu);
    Ok(match kind {
        EngineKind::Cpu => format!("{} ({})", kind.name(), width(Precision::F64)?.instructions()),
        EngineKind::Reference => kind.name().into(),
        EngineKind::Cuda => {
            let there = gpus()?;
            let lacking = || Error::input("CUDA", format!("device {device}: this machine has {} GPUs", there.len()));
            gpu_name(&there.get(device as usize).ok_or_else(lacking)?.name, device as usize)
        }
    })
}

fn describe_gpu(there: &[Gpu], device: usize) -> String {
    there.get(device).map_or_else(|| format!("cuda, device {device}"), |gpu| gpu_name(&gpu.name, device))
}
