//! Validation of the law of the force, and of what goes with it.

use crate::config::configuration::Config;
use crate::config::ensemble::StopAt;
use crate::config::error::Problem;
use crate::config::law::SECTION;
use tisane::integrator::SchemeInfo;
use tisane::units::Scale;

/// Checks the law, and that the rest of the configuration goes with it.
pub(super) fn validate(config: &Config, found: &mut Vec<Problem>) {
    // The scale of the particles is not known yet: mistakes do not depend on it but for jumps and derivatives.
    found.extend(config.law(&Scale::choose(&config.units(), 1.0, 1.0)).err());
    if config.law_section().is_none() {
        return;
    }
    let scheme = config.integrator.scheme();
    let refused = [
        (config.subsystems().is_some(), "encounters", "close encounters are computed with Newton's law"),
        (scheme.needs_lists(), config.integrator.info().section, "the neighbour scheme knows Newton's law only"),
    ];
    for (_, key, problem) in refused.into_iter().filter(|(refuse, ..)| *refuse) {
        found.push(Problem::new(key, format!("{problem}: expected none with [force.law]")).against(SECTION));
    }
    // Which stars are bound to a cluster or to each other is told by their energies, of pairs that attract as 1/r.
    let stop = config.ensemble.as_ref().map(|ensemble| ensemble.stop);
    if let Some(name @ ("dissolution" | "escape")) = stop.map(StopAt::name) {
        let problem =
            format!("\"{name}\" is told by binding energies of Newton's law: expected \"end\" with [force.law]");
        found.push(Problem::new("ensemble.stop", problem).against(SECTION));
    }
    if !config.has_steps() {
        let SchemeInfo { dt_max_key: key, section, .. } = config.integrator.info();
        let problem =
            format!("missing key `{key}` in [{section}]: with [force.law] steps do not follow from the particles");
        found.push(Problem::new(format!("{section}.{key}"), problem));
    }
}
