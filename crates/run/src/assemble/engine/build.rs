//! Engines of every kind, by what they evaluate.

use super::super::gpu::{OnGpu, cuda, cuda_accelerations, cuda_group, gpus};
use super::super::width;
use super::{Task, f64_engine};
use std::sync::Arc;
use tisane::error::{Error, Result};
use tisane::force::{Accelerations, EngineKind, Evaluation, ForceEngine, Forces, cpu, reference};
use tisane::integrator::Integrator;
use tisane::law::Law;
use tisane::propagator::Propagator;

/// Quantities for which there are engines of every kind.
pub(crate) trait Build: Evaluation {
    /// Flag that there is an engine of several GPUs.
    const SEVERAL_GPUS: bool;

    /// Builds the CPU engine.
    fn on_cpu(task: Task<'_>) -> Result<Box<dyn ForceEngine<Self>>>;
    /// Builds an engine of a law in place of Newton's.
    fn with_law(law: &Arc<Law>, kind: EngineKind, task: Task<'_>) -> Result<Box<dyn ForceEngine<Self>>>;
    /// Builds the reference engine.
    fn reference(task: Task<'_>) -> Box<dyn ForceEngine<Self>>;
    /// Builds the engine on a GPU; returns it with its name, which says the device.
    fn on_gpu(task: Task<'_>, gpu: OnGpu) -> Result<(Box<dyn ForceEngine<Self>>, String)>;

    /// Builds an engine of the task's law, where there is one of the kind; returns it with its name.
    fn by_law(kind: EngineKind, task: Task<'_>) -> Result<(Box<dyn ForceEngine<Self>>, String)> {
        match task.law {
            Some(law) if kind != EngineKind::Cuda && task.team.is_none() => {
                Ok((Self::with_law(law, kind, task)?, kind.name().into()))
            }
            _ => {
                let who = if task.team.is_some() { "ranks of MPI know" } else { "the engine cuda knows" };
                let help = "take the engine cpu in one process";
                Err(Error::input("[force.law]", format!("{who} Newton's law only")).with_help(help))
            }
        }
    }

    /// Couples an integrator with its engine, and with one that measures in f64 if that does not.
    fn couple<I: Integrator<Evaluation = Self> + 'static>(
        integrator: I,
        (kind, engine): (EngineKind, Box<dyn ForceEngine<Self>>),
        task: Task<'_>,
        gpu: OnGpu,
    ) -> Result<Propagator> {
        Ok(Propagator::new(integrator, engine, f64_engine(kind, task, gpu)?))
    }
}

impl Build for Forces {
    const SEVERAL_GPUS: bool = true;

    fn on_cpu(task: Task<'_>) -> Result<Box<dyn ForceEngine>> {
        Ok(cpu::engine(task.precision, task.epsilon, task.clock, width(task.precision)?))
    }

    fn with_law(law: &Arc<Law>, kind: EngineKind, task: Task<'_>) -> Result<Box<dyn ForceEngine>> {
        let Task { precision, epsilon, clock, .. } = task;
        Ok(match kind {
            EngineKind::Reference => reference::law_engine(law, precision, epsilon, clock),
            _ => cpu::law_engine(law, precision, epsilon, clock, width(precision)?),
        })
    }

    fn reference(task: Task<'_>) -> Box<dyn ForceEngine> {
        reference::engine(task.precision, task.epsilon, task.clock)
    }

    fn on_gpu(task: Task<'_>, gpu: OnGpu) -> Result<(Box<dyn ForceEngine>, String)> {
        if let Some(devices) = gpu.devices.map(|devices| devices.numbers(gpus().map_or(0, |there| there.len()))) {
            return cuda_group(task.precision, task.epsilon, task.clock, (gpu, &devices));
        }
        let (engine, name) = cuda(task.precision, task.epsilon, task.clock, gpu)?;
        Ok((engine, name))
    }

    fn couple<I: Integrator<Evaluation = Self> + 'static>(
        integrator: I,
        (kind, engine): (EngineKind, Box<dyn ForceEngine>),
        task: Task<'_>,
        gpu: OnGpu,
    ) -> Result<Propagator> {
        if kind.measures_energy(task.precision) {
            return Ok(Propagator::in_f64(integrator, engine));
        }
        Ok(Propagator::new(integrator, engine, f64_engine(kind, task, gpu)?))
    }
}

impl Build for Accelerations {
    const SEVERAL_GPUS: bool = false;

    fn on_cpu(task: Task<'_>) -> Result<Box<dyn ForceEngine<Self>>> {
        Ok(cpu::accelerations(task.precision, task.epsilon, width(task.precision)?))
    }

    fn with_law(law: &Arc<Law>, kind: EngineKind, task: Task<'_>) -> Result<Box<dyn ForceEngine<Self>>> {
        let Task { precision, epsilon, .. } = task;
        Ok(match kind {
            EngineKind::Reference => reference::law_accelerations(law, precision, epsilon),
            _ => cpu::law_accelerations(law, precision, epsilon, width(precision)?),
        })
    }

    fn reference(task: Task<'_>) -> Box<dyn ForceEngine<Self>> {
        reference::accelerations(task.precision, task.epsilon)
    }

    fn on_gpu(task: Task<'_>, gpu: OnGpu) -> Result<(Box<dyn ForceEngine<Self>>, String)> {
        cuda_accelerations(task.precision, task.epsilon, gpu)
    }
}
