//! Validation of the section `[orbit]`.

use super::super::bounds::above;
use super::super::configuration::Config;
use super::super::error::Problem;
use super::super::orbit::{OrbitSettings, without_a_field};

/// Checks the values of the section.
pub(super) fn validate(config: &Config, found: &mut Vec<Problem>) {
    let Some(orbit) = &config.orbit else { return };
    above(found, "orbit.circular", orbit.circular, 0.0);
    above(found, "orbit.back", orbit.back, 0.0);
    let OrbitSettings { position, velocity, circular, .. } = orbit;
    let given = [("position", position.is_some()), ("velocity", velocity.is_some())];
    let twice = given.iter().find(|(_, is_given)| *is_given && circular.is_some());
    let missing = given.iter().find(|(_, is_given)| !*is_given && circular.is_none());
    if let Some((key, _)) = twice {
        let problem = format!("expected either `circular` or `position` and `velocity` in [orbit], found `{key}` too");
        found.push(Problem::new(format!("orbit.{key}"), problem).against("orbit.circular"));
    } else if let Some((key, _)) = missing {
        let problem = format!("missing key `{key}` in [orbit]: expected `position` and `velocity`, or `circular`");
        found.push(Problem::new("orbit", problem));
    }
    // A program may bring a field of its own.
    if config.external.is_empty() && !config.is_of_a_program() {
        found.push(without_a_field());
    }
}
