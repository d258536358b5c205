//! Choice of the engine that computes the forces of a run, with the reason for it.

mod auto;
pub(crate) mod build;
mod forecast;
mod scheme;
pub(super) mod task;

pub use forecast::{describe_engine, forecast, forecast_engine, forecast_several};
pub use scheme::scheme_on_device;
pub(super) use task::Task;

use super::gpu::{OnGpu, gpus};
use super::session::Session;
use super::tide;
use crate::config::{Config, DeviceSet, Engine, Stepping};
use crate::evolution::Evolution;
use crate::several::{self, Gpus};
use crate::simulation::SessionInfo;
use crate::system::Engines;
#[cfg(feature = "mpi")]
use crate::team::Order;
use auto::{decide, problem};
use build::{Build, build};
use scheme::{alone, takes_steps_by_lists};
use std::sync::Arc;
use tisane::diagnostics::force_audit::Auditor;
use tisane::error::{Error, Result};
use tisane::force::block_steps::StepScheme;
use tisane::force::precision::Precision;
use tisane::force::profile::Profiler;
use tisane::force::{EngineKind, ForceEngine, reference};
use tisane::integrator::Integrator;
use tisane::law::Law;
use tisane::time::Clock;
use tisane::units::Scale;

/// Returns the device of a rank that follows, number `host_rank` of its host.
///
/// # Errors
/// As [`gpus`].
#[cfg(feature = "mpi")]
pub(crate) fn device_of_rank(host_rank: usize) -> Result<u32> {
    Ok((host_rank % gpus()?.len().max(1)) as u32)
}

/// Opens the engine of a rank that follows, number `host_rank` of its host: each takes another GPU, as far as there are
/// enough.
///
/// # Errors
/// As [`choose`].
#[cfg(feature = "mpi")]
pub(crate) fn engine_of_rank<E: Build>(order: &Order, host_rank: usize) -> Result<Box<dyn ForceEngine<E>>> {
    let unknown = || Error::Integration { problem: "rank 0 asked for an unknown engine".into(), help: None };
    let kind = EngineKind::from_name(&order.kind).ok_or_else(unknown)?;
    let precision = Precision::ALL.into_iter().find(|it| it.name() == order.precision).ok_or_else(unknown)?;
    let clock = Clock { start: order.start, dt_max: order.dt_max };
    let (epsilon, n) = (order.epsilon, order.n);
    let device = match kind {
        EngineKind::Cuda => device_of_rank(host_rank)?,
        EngineKind::Cpu | EngineKind::Reference => 0,
    };
    let task = Task {
        precision,
        epsilon,
        clock,
        scale: &Scale::IDENTITY,
        n,
        field: None,
        origin: None,
        law: None,
        team: None,
    };
    Ok(build(kind, task, OnGpu { device, room_for: n, ..OnGpu::default() })?.0)
}

/// Engine that a session takes, and the reason in one line.
struct Choice<E> {
    kind: EngineKind,
    engine: Box<dyn ForceEngine<E>>,
    reason: String,
}

/// Takes the engine of a kind; `reason` makes the reason from the engine's name.
fn take<E: Build>(kind: EngineKind, task: Task<'_>, gpu: OnGpu, reason: impl Fn(&str) -> String) -> Result<Choice<E>> {
    let (engine, name) = build(kind, task, gpu)?;
    Ok(Choice { kind, engine, reason: reason(&name) })
}

/// Returns the set of devices that a session is asked to take, with their numbers; [`None`] if it takes one.
///
/// # Errors
/// [`Error::Input`] if one of them is not there.
pub(crate) fn several_devices(config: &Config, session: Session) -> Result<Option<(DeviceSet, Vec<u32>)>> {
    let of_config = config.force.devices.filter(|_| session.device.is_none());
    let Some(set) = session.devices.or(of_config) else { return Ok(None) };
    // Without a GPU the engine says so, if it is one.
    let Ok(there) = gpus() else { return Ok(None) };
    let numbers = set.numbers(there.len());
    if let Some(missing) = numbers.iter().find(|&&number| number as usize >= there.len()) {
        let problem = format!("no device {missing} of devices {set}: this machine has {} GPUs", there.len());
        return Err(Error::input("CUDA", problem).with_help("`tisane verify` lists them"));
    }
    Ok(Some((set, numbers)))
}

/// Returns the device of a session, the devices where it has several, and otherwise the reason if it was asked for several.
///
/// # Errors
/// As [`several_devices`].
fn devices(config: &Config, session: Session, task: Task<'_>) -> Result<(u32, Option<DeviceSet>, Option<String>)> {
    let one = session.device.unwrap_or(config.force.device);
    let Some((set, numbers)) = several_devices(config, session)? else { return Ok((one, None, None)) };
    let min = match takes_steps_by_lists(config) {
        true => several::MIN_BY_LISTS,
        false => Gpus::h200(task.precision).min(numbers.len()),
    };
    let why = if session.team.is_some() {
        "each rank takes one".into()
    } else if let Some(why) = alone(config) {
        why.into()
    } else if numbers.len() < 2 {
        "no other is there".into()
    } else if task.n < min && !session.always_several {
        format!("N = {} is less than {min}, from which {} are quicker", task.n, numbers.len())
    } else {
        return Ok((numbers[0], Some(set), None));
    };
    Ok((numbers.first().copied().unwrap_or(one), None, Some(why)))
}

/// Chooses the engine of a session, reserves its memory, and couples it with the integrator. `of_run` is the
/// kind of engine that computed the run so far.
///
/// # Errors
/// [`Error::Input`] or [`Error::Config`] if the engine is not there or has too little memory.
pub(super) fn choose<E: Build>(
    integrator: Box<dyn Integrator<Evaluation = E>>,
    config: &Config,
    session: Session,
    of_run: Option<EngineKind>,
    task: Task<'_>,
) -> Result<(Engines, SessionInfo)> {
    let asked = session.engine.unwrap_or(config.force.engine).kind();
    let (device, devices, alone) = devices(config, session, task)?;
    let stepping = config.force.stepping;
    let gpu =
        OnGpu { device, devices, room_for: task.n, phases: session.profile, stepping: stepping != Stepping::Host };
    let mut warnings = Vec::new();
    let Choice { kind, mut engine, reason: mut choice } = match asked {
        Some(kind) => take(kind, task, gpu, |name| format!("{name}, as asked for"))?,
        None => auto(config, task, gpu, of_run, &mut warnings)?,
    };
    if device != 0 && asked.is_some_and(|kind| kind != EngineKind::Cuda) {
        let key =
            if session.device.is_some() { format!("--device {device}") } else { format!("force.device = {device}") };
        warnings.push(format!("{key} has no effect: the engine is {}", kind.name()));
    }
    let in_field = task.field.is_some() || task.origin.is_some();
    let by_device = |scheme| !(in_field && matches!(scheme, StepScheme::AhmadCohen { .. }));
    let steps_on_device = integrator.step_scheme().is_some_and(by_device) && engine.can_take_steps()?;
    if kind == EngineKind::Cuda {
        choice += if steps_on_device { "; whole block steps on the device" } else { "; block steps by the host" };
        if in_field && !steps_on_device && integrator.step_scheme().is_some_and(by_device) {
            choice += " (whole ones in a field need NVRTC, and a field of at most 24 parts)";
        }
    }
    if let Some(why) = alone.filter(|_| kind == EngineKind::Cuda) {
        choice += &format!("; on one GPU: {why}");
    }
    if let Some(team) = session.team {
        choice += &format!("; {}", team.describe());
    }
    if stepping == Stepping::Device && !steps_on_device {
        let for_these = "whole block steps are for the engine cuda on an A100 or a later GPU, with hermite4, multipoint \
                         or ahmad_cohen and no law of one's own; in an external field on one GPU, with hermite4 or \
                         multipoint, if the field has at most 24 parts, neither tables, nor moving centres, nor a variation, \
                         and if NVRTC (libnvrtc) is there to compile it";
        warnings.push(format!("force.stepping = \"device\" has no effect: {for_these}"));
    }
    if kind == EngineKind::Cuda && device != config.force.device {
        choice += &format!("; device {device} in place of {} for this session", config.force.device);
    }
    if let Some(before) = of_run.filter(|before| *before != kind) {
        match describe_change(before, kind, task.precision) {
            Ok(same) => choice += &same,
            Err(other) => warnings.push(other),
        }
    }
    let profiler = session.profile.then(Profiler::default);
    let propagator = Build::couple(integrator, (kind, engine), task, gpu)?;
    let propagator = match &profiler {
        Some(profiler) => propagator.timed(profiler),
        None => propagator,
    };
    let auditor = auditor(config, kind, task)?;
    let gpu = match kind {
        EngineKind::Cuda => gpus()?.get(device as usize).map(|gpu| gpu.about.clone()),
        EngineKind::Cpu | EngineKind::Reference => None,
    };
    let info = SessionInfo {
        engine_choice: choice,
        gpu: gpu.unwrap_or_default(),
        warnings,
        terms: None,
        profiler,
        steps_on_device,
    };
    let (law, origin, tide, epsilon) =
        (task.law.cloned(), task.origin.cloned(), tide::of_task(config, &task), task.epsilon);
    let evolution = Evolution::of(config, task.scale).map_err(|error| Error::input("stellar_evolution", error))?;
    Ok((Engines { kind, propagator, auditor, law, origin, tide, epsilon, evolution }, info))
}

/// Builds the auditor of an engine, which compares it with the CPU in f64; none if it is that itself, and its forces are
/// whole: those by lists of neighbours are compared in every mode.
fn auditor(config: &Config, kind: EngineKind, task: Task<'_>) -> Result<Option<Auditor>> {
    let is_own = kind == EngineKind::Cpu && kind.measures_energy(task.precision);
    if is_own && !config.integrator.scheme().needs_lists() {
        return Ok(None);
    }
    // Next to another engine of the CPU, the f64 engine is the CPU already.
    let on_cpu = || build(EngineKind::Cpu, Task { precision: Precision::F64, team: None, ..task }, OnGpu::default());
    let engine = if is_own || kind == EngineKind::Cuda { Some(on_cpu()?.0) } else { None };
    let (sample, limit) = (config.audit.sample as usize, config.audit.limit(task.precision));
    Ok(Some(Auditor { engine, sample, limit }))
}

/// Describes the effect of a change of engine within a run: a remark if the bits stay, otherwise a warning as the
/// error.
fn describe_change(before: EngineKind, now: EngineKind, precision: Precision) -> Result<String, String> {
    let same_bits = before.same_bits(now, precision);
    let (before, now) = (before.name(), now.name());
    if same_bits {
        return Ok(format!("; the run was computed by {before} so far, which has the same bits"));
    }
    Err(format!(
        "the run was computed by {before} so far, and {now} rounds differently in {}: from here on the result is not bit \
         for bit that of a run that was not stopped",
        precision.name()
    ))
}

/// Chooses the engine of a run that leaves the choice to the program. A run that goes on keeps its bits: where another
/// engine has others, it keeps its engine.
fn auto<E: Build>(
    config: &Config,
    task: Task<'_>,
    gpu: OnGpu,
    of_run: Option<EngineKind>,
    warnings: &mut Vec<String>,
) -> Result<Choice<E>> {
    let mode = task.precision.name();
    if let Some(before) = of_run.filter(|_| task.precision != Precision::F64) {
        let why =
            format!("the run was computed by {} so far, and in {mode} cpu and cuda have different bits", before.name());
        let reason = |name: &str| format!("auto: {name}: {why}");
        if before != EngineKind::Cuda {
            return take(EngineKind::Cpu, task, gpu, reason);
        }
        return take(before, task, gpu, reason).map_err(|e| {
            let help = "resume where that GPU is, or give --engine cpu: the result is then not bit for bit that of a run \
                        that was not stopped";
            Error::input("CUDA", format!("{}; {why}", problem(&e))).with_help(help)
        });
    }
    let mut there = Vec::new();
    let (wins, why) = decide(config, task.n, || {
        there = gpus()?;
        Ok(there.clone())
    });
    let kind = if wins { EngineKind::Cuda } else { EngineKind::Cpu };
    match take(kind, task, gpu, |name| format!("auto: {name}: {why}")) {
        // A number that no device has is a mistake; a device that cannot be used is not the user's.
        Err(e) if wins && there.len() > gpu.device as usize => {
            let problem = problem(&e);
            warnings.push(format!("the GPU is not used: {problem}"));
            take(EngineKind::Cpu, task, gpu, |name| format!("auto: {name}: {problem}"))
        }
        other => other,
    }
}

/// Builds an engine for studies, where `auto` is the CPU; of a law in place of Newton's where there is one.
///
/// # Errors
/// [`Error::Input`] or [`Error::Config`] if the engine is not there, or the kernels of the law cannot be compiled.
pub fn force_engine(
    law: Option<&Arc<Law>>,
    engine: Engine,
    precision: Precision,
    epsilon: f64,
    clock: Clock,
    gpu: OnGpu,
) -> Result<Box<dyn ForceEngine>> {
    let task = Task {
        precision,
        epsilon,
        clock,
        scale: &Scale::IDENTITY,
        n: gpu.room_for,
        field: None,
        origin: None,
        law,
        team: None,
    };
    Ok(build(engine.kind().unwrap_or(EngineKind::Cpu), task, gpu)?.0)
}

/// Builds the reference with bags of another size than the canonical one, to study the influence of bags on the error; of
/// a law in place of Newton's where there is one.
#[must_use]
pub fn force_engine_with_bags(
    law: Option<&Arc<Law>>,
    precision: Precision,
    epsilon: f64,
    clock: Clock,
    bag: usize,
) -> Box<dyn ForceEngine> {
    match law {
        Some(law) => reference::law_engine_with_bags(law, precision, epsilon, clock, bag),
        None => reference::engine_with_bags(precision, epsilon, clock, bag),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_change_that_changes_bits_is_warned_of() {
        use EngineKind::{Cpu, Cuda, Reference};
        for precision in Precision::ALL {
            assert!(describe_change(Cpu, Reference, precision).is_ok());
            let warned = describe_change(Cpu, Cuda, precision).is_err();
            assert_eq!(warned, precision != Precision::F64, "{}", precision.name());
        }
    }
}
