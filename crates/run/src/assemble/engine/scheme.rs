//! What of a GPU the scheme of a configuration can have.

use crate::config::{Config, Stepping};
use tisane::force::block_steps::StepScheme;
use tisane::integrator::AnyIntegrator;
use tisane::time::Clock;

/// Returns why the scheme of a configuration takes one GPU, if it does.
pub(super) fn alone(config: &Config) -> Option<&'static str> {
    config.integrator.scheme().shared_step().map(|_| "the leapfrog takes one")
}

/// Returns true if a device may take whole steps of the neighbour scheme for a configuration. By steps of the host, as with subsystems,
/// several share the regular forces.
pub(super) fn takes_steps_by_lists(config: &Config) -> bool {
    config.integrator.scheme().needs_lists() && config.subsystems().is_none() && scheme_on_device(config).is_some()
}

/// Returns the scheme of a configuration if a device may take its whole block steps.
#[must_use]
pub fn scheme_on_device(config: &Config) -> Option<StepScheme> {
    let clock = Clock { start: 0.0, dt_max: 1.0 };
    let scheme = match config.integrator(config.force.precision(), clock) {
        AnyIntegrator::Forces(integrator) => integrator.step_scheme(),
        AnyIntegrator::Accelerations(_) => None,
    };
    let plain = config.external.is_empty() && config.law_section().is_none();
    scheme.filter(|_| plain && config.force.stepping != Stepping::Host)
}
