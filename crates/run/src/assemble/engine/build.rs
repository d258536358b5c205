//! Engines of every kind, by what they evaluate.

use super::super::gpu::{OnGpu, Physics, cuda, cuda_accelerations, cuda_group, gpus};
use super::super::width::width;
use super::task::Task;
use crate::team::Order;
use std::sync::Arc;
use tisane::error::{Error, Result};
use tisane::force::external::WithExternal;
use tisane::force::precision::Precision;
use tisane::force::{Accelerations, EngineKind, Evaluation, ForceEngine, Forces, cpu, reference};
use tisane::integrator::Integrator;
use tisane::law::Law;
use tisane::propagator::Propagator;

/// Quantities for which there are engines of every kind.
pub(crate) trait Build: Evaluation {
    /// Flag that these are forces with jerk and potential: what other ranks open.
    const WHOLE: bool;

    /// Builds the CPU engine.
    fn on_cpu(task: Task<'_>) -> Result<Box<dyn ForceEngine<Self>>>;
    /// Builds the CPU engine of a law in place of Newton's.
    fn law_on_cpu(law: &Arc<Law>, task: Task<'_>) -> Result<Box<dyn ForceEngine<Self>>>;
    /// Builds the reference engine of a law.
    fn law_reference(law: &Arc<Law>, task: Task<'_>) -> Box<dyn ForceEngine<Self>>;
    /// Builds the reference engine.
    fn reference(task: Task<'_>) -> Box<dyn ForceEngine<Self>>;
    /// Builds the engine on a GPU, of the task's law if there is one; returns it with its name, which says the device.
    fn on_gpu(task: Task<'_>, gpu: OnGpu) -> Result<(Box<dyn ForceEngine<Self>>, String)>;

    /// Builds an engine of the task's law; returns it with its name.
    fn by_law(
        law: &Arc<Law>,
        (kind, gpu): (EngineKind, OnGpu),
        task: Task<'_>,
    ) -> Result<(Box<dyn ForceEngine<Self>>, String)> {
        if task.team.is_some() {
            let problem = "ranks of MPI know Newton's law only";
            return Err(Error::input("[force.law]", problem).with_help("take one process"));
        }
        let name = kind.name().to_owned();
        match kind {
            EngineKind::Cpu => Ok((Self::law_on_cpu(law, task)?, name)),
            EngineKind::Cuda => Self::on_gpu(task, gpu),
            EngineKind::Reference => Ok((Self::law_reference(law, task), name)),
        }
    }

    /// Couples an integrator with its engine, and with one that measures in f64 if that does not.
    fn couple(
        integrator: Box<dyn Integrator<Evaluation = Self>>,
        engine: (EngineKind, Box<dyn ForceEngine<Self>>),
        task: Task<'_>,
        gpu: OnGpu,
    ) -> Result<Propagator>;
}

impl Build for Forces {
    const WHOLE: bool = true;

    fn on_cpu(task: Task<'_>) -> Result<Box<dyn ForceEngine>> {
        Ok(cpu::engine(task.precision, task.epsilon, task.clock, width(task.precision)?))
    }

    fn law_on_cpu(law: &Arc<Law>, task: Task<'_>) -> Result<Box<dyn ForceEngine>> {
        Ok(cpu::law_engine(law, task.precision, task.epsilon, task.clock, width(task.precision)?))
    }

    fn law_reference(law: &Arc<Law>, task: Task<'_>) -> Box<dyn ForceEngine> {
        reference::law_engine(law, task.precision, task.epsilon, task.clock)
    }

    fn reference(task: Task<'_>) -> Box<dyn ForceEngine> {
        reference::engine(task.precision, task.epsilon, task.clock)
    }

    fn on_gpu(task: Task<'_>, gpu: OnGpu) -> Result<(Box<dyn ForceEngine>, String)> {
        if let Some(devices) = gpu.devices.map(|devices| devices.numbers(gpus().map_or(0, |there| there.len()))) {
            return cuda_group(task.law, physics(task), (gpu, &devices));
        }
        let (engine, name) = cuda(task.law, physics(task), gpu)?;
        Ok((engine, name))
    }

    fn couple(
        integrator: Box<dyn Integrator<Evaluation = Self>>,
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
    const WHOLE: bool = false;

    fn on_cpu(task: Task<'_>) -> Result<Box<dyn ForceEngine<Self>>> {
        Ok(cpu::accelerations(task.precision, task.epsilon, width(task.precision)?))
    }

    fn law_on_cpu(law: &Arc<Law>, task: Task<'_>) -> Result<Box<dyn ForceEngine<Self>>> {
        Ok(cpu::law_accelerations(law, task.precision, task.epsilon, width(task.precision)?))
    }

    fn law_reference(law: &Arc<Law>, task: Task<'_>) -> Box<dyn ForceEngine<Self>> {
        reference::law_accelerations(law, task.precision, task.epsilon)
    }

    fn reference(task: Task<'_>) -> Box<dyn ForceEngine<Self>> {
        reference::accelerations(task.precision, task.epsilon)
    }

    fn on_gpu(task: Task<'_>, gpu: OnGpu) -> Result<(Box<dyn ForceEngine<Self>>, String)> {
        cuda_accelerations(task.law, (task.precision, task.epsilon), gpu)
    }

    fn couple(
        integrator: Box<dyn Integrator<Evaluation = Self>>,
        (kind, engine): (EngineKind, Box<dyn ForceEngine<Self>>),
        task: Task<'_>,
        gpu: OnGpu,
    ) -> Result<Propagator> {
        Ok(Propagator::of_accelerations(integrator, engine, f64_engine(kind, task, gpu)?))
    }
}

/// Builds an engine of a kind, with the external field; returns it with its name, which for a GPU says the device.
pub(super) fn build<E: Build>(
    kind: EngineKind,
    task: Task<'_>,
    gpu: OnGpu,
) -> Result<(Box<dyn ForceEngine<E>>, String)> {
    let named = |engine| (engine, kind.name().to_owned());
    let (engine, name) = match (task.law, kind) {
        (Some(law), _) => E::by_law(law, (kind, gpu), task)?,
        (None, EngineKind::Cpu) => named(E::on_cpu(task)?),
        (None, EngineKind::Cuda) => E::on_gpu(task, gpu)?,
        (None, EngineKind::Reference) => named(E::reference(task)),
    };
    let engine = match task.team {
        Some(team) => team.share(order::<E>(kind, task, team.asked()), engine)?,
        None => engine,
    };
    Ok(match (task.origin, task.field) {
        (Some(origin), _) => (Box::new(WithExternal::about(engine, origin.clone(), task.clock)), name),
        (None, Some(field)) => (Box::new(WithExternal::new(engine, field.clone(), task.clock)), name),
        (None, None) => (engine, name),
    })
}

fn physics(Task { precision, epsilon, clock, .. }: Task<'_>) -> Physics {
    Physics { precision, epsilon, clock }
}

/// Returns what the other ranks need to open an engine.
fn order<E: Build>(kind: EngineKind, task: Task<'_>, threads: usize) -> Order {
    let Task { precision, epsilon, clock, n, .. } = task;
    let (kind, precision) = (kind.name().into(), precision.name().into());
    Order { kind, precision, epsilon, start: clock.start, dt_max: clock.dt_max, n, threads, whole: E::WHOLE }
}

/// Builds the engine that measures next to one of a kind: the CPU in f64, or next to a GPU that GPU in f64, which has
/// the same bits.
pub(crate) fn f64_engine(kind: EngineKind, task: Task<'_>, gpu: OnGpu) -> Result<Box<dyn ForceEngine>> {
    let task = Task { precision: Precision::F64, ..task };
    let kind = if kind == EngineKind::Cuda { kind } else { EngineKind::Cpu };
    Ok(build(kind, task, OnGpu { phases: false, stepping: false, ..gpu })?.0)
}
