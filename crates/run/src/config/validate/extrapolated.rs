//! Validation of what goes with a scheme that computes the forces itself.

use crate::config::configuration::Config;
use crate::config::error::Problem;
use crate::config::law::SECTION;
use crate::config::sections::Engine;
use tisane::force::precision::Precision;

/// Refuses, with such a scheme, everything that acts besides softened Newtonian gravity, and engines that are not the CPU.
pub(super) fn validate(config: &Config, found: &mut Vec<Problem>) {
    let (scheme, info) = (config.integrator.scheme(), config.integrator.info());
    if scheme.max_particles().is_none() {
        return;
    }
    let field = config.external.sections().next().map(|(section, _)| section.to_string());
    let by_mode = config.force.precision() != Precision::F64;
    let by_engine = matches!(config.force.engine, Engine::Cuda | Engine::Reference);
    let refused = [
        (by_mode.then(|| "force.precision".to_owned()), "expected \"f64\", in which energies are measured"),
        (by_engine.then(|| "force.engine".to_owned()), "expected auto or cpu"),
        (config.law_section().is_some().then(|| SECTION.to_owned()), "expected Newton's law"),
        (field, "expected no external field"),
        (config.orbit.is_some().then(|| "orbit".to_owned()), "expected no orbit in a field"),
        (config.stellar_evolution.is_some().then(|| "stellar_evolution".to_owned()), "expected stars that do not age"),
    ];
    for (key, problem) in refused {
        let Some(key) = key else { continue };
        let problem = format!("{problem}: {} has its own forces, by Newton's law on the CPU", info.title);
        found.push(Problem::new(key, problem).against(info.section));
    }
}
