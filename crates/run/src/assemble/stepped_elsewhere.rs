//! Engines of a system whose block steps something else takes: a device that steps many systems together.

use super::engine::{Task, f64_engine};
use super::{OnGpu, Setup};
use crate::system::Engines;
use tisane::diagnostics::force_audit::Auditor;
use tisane::error::Result;
use tisane::force::block_steps::StepScheme;
use tisane::force::{EngineKind, ForceEngine};
use tisane::integrator::{AnyIntegrator, Integrator};
use tisane::propagator::Propagator;

/// Builds the engines of a system whose block steps something else takes, with the bits of a kind of engine: `engine`
/// computes forces where the host takes steps, and the CPU measures in f64. [`None`] if the scheme or an external field
/// needs the host in each step.
///
/// # Errors
/// As [`super::engines`].
pub fn engines_stepped_elsewhere(
    set: &Setup,
    kind: EngineKind,
    engine: Box<dyn ForceEngine>,
) -> Result<Option<Engines>> {
    let (precision, n) = (set.config.force.precision(), set.particles.len());
    let (clock, scale) = (set.clock, &set.scale);
    let task = Task { precision, epsilon: set.epsilon(), clock, scale, n, field: None, law: None, team: None };
    let AnyIntegrator::Forces(integrator) = set.config.integrator(precision, set.clock) else {
        return Ok(None);
    };
    let is_plain = integrator.step_scheme().and_then(StepScheme::plain_nu).is_some();
    if !is_plain || !set.config.external.is_empty() {
        return Ok(None);
    }
    let f64_engine = f64_engine(EngineKind::Cpu, task, OnGpu::default())?;
    let (sample, limit) = (set.config.audit.sample as usize, set.config.audit.limit(precision));
    let auditor = (kind == EngineKind::Cuda).then_some(Auditor { engine: None, sample, limit });
    Ok(Some(Engines { kind, propagator: Propagator::new(integrator, engine, f64_engine), auditor, law: None }))
}
