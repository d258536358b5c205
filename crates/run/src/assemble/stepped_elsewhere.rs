//! Engines of a system whose block steps something else takes: a device that steps many systems together.

use super::engine::build::f64_engine;
use super::engine::task::Task;
use super::gpu::OnGpu;
use super::setup::Setup;
use crate::system::Engines;
use tisane::diagnostics::force_audit::Auditor;
use tisane::error::Result;
use tisane::force::block_steps::StepScheme;
use tisane::force::{EngineKind, ForceEngine};
use tisane::integrator::AnyIntegrator;
use tisane::propagator::Propagator;

/// Builds the engines of a system whose block steps something else takes, with the bits of a kind of engine: `engine`
/// computes forces where the host takes steps, and the CPU measures in f64. [`None`] with another scheme, in an external
/// field, by a law in place of Newton's, and where stars age: there each system needs an engine of its own.
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
    let task =
        Task { precision, epsilon: set.epsilon(), clock, scale, n, field: None, origin: None, law: None, team: None };
    let AnyIntegrator::Forces(integrator) = set.config.integrator(precision, set.clock) else {
        return Ok(None);
    };
    let is_plain = integrator.step_scheme().and_then(StepScheme::plain_nu).is_some();
    if !is_plain || !set.config.external.is_empty() || set.law.is_some() || set.config.stellar_evolution.is_some() {
        return Ok(None);
    }
    let f64_engine = f64_engine(EngineKind::Cpu, task, OnGpu::default())?;
    let (sample, limit) = (set.config.audit.sample as usize, set.config.audit.limit(precision));
    let auditor = (kind == EngineKind::Cuda).then_some(Auditor { engine: None, sample, limit });
    let propagator = Propagator::new(integrator, engine, f64_engine);
    let (epsilon, evolution) = (set.epsilon(), None);
    Ok(Some(Engines { kind, propagator, auditor, law: None, origin: None, tide: None, epsilon, evolution }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble;
    use crate::config::Config;
    use std::path::Path;
    use tisane::force::precision::Precision;

    #[test]
    fn the_host_takes_the_steps_by_a_law_of_ones_own() {
        for (law, is_left_to_host) in [("", false), ("force.law.potential = '-m_i*m_j/s^1.5'\n", true)] {
            let text = format!("run = {{ name = 'a', t_end = 1 }}\n{law}initial.plummer.n = 8\n");
            let set = assemble::prepare(Config::from_str("a", &text, Path::new(""), &[]).unwrap()).unwrap();
            let engine = EngineKind::Cpu.open(Precision::F64, 0.0, set.clock, 0).unwrap();
            let engines = engines_stepped_elsewhere(&set, EngineKind::Cpu, engine).unwrap();
            assert_eq!(engines.is_none(), is_left_to_host, "{law}");
        }
    }
}
