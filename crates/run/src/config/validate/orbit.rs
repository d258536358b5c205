//! Validation of the section `[orbit]`.

use super::super::bounds::above;
use super::super::configuration::Config;
use super::super::error::Problem;
use super::super::orbit::{OrbitSettings, without_a_field};

/// Checks the values of the section, and that fields which move with the origin have one that moves.
pub(super) fn validate(config: &Config, found: &mut Vec<Problem>) {
    let Some(orbit) = &config.orbit else {
        for (section, _) in config.external.sections().filter(|(_, field)| field.is_carried()) {
            let problem = "a field that moves with the cluster needs the section [orbit], which is not there";
            let help = "without [orbit] the origin of coordinates rests: leave out `motion`";
            found.push(Problem::new(format!("{section}.motion.orbit"), problem).with_help(help));
        }
        return;
    };
    above(found, "orbit.circular", orbit.circular, 0.0);
    above(found, "orbit.back", orbit.back, 0.0);
    let OrbitSettings { position, velocity, circular, sky, sun, .. } = orbit;
    if let Some(sky) = sky {
        sky.check(&config.units(), found);
    }
    if let Some(sun) = sun {
        sun.check(&config.units(), found);
    }
    let given = [
        ("circular", circular.is_some()),
        ("sky", sky.is_some()),
        ("position", position.is_some()),
        ("velocity", velocity.is_some()),
    ];
    let mut written = given.into_iter().filter(|(_, is_given)| *is_given).map(|(key, _)| key);
    match (written.next(), written.next()) {
        (Some("position"), Some(_)) => {}
        (Some(one @ ("circular" | "sky")), Some(other)) => {
            let problem = format!(
                "expected one of `circular`, `sky`, and `position` with `velocity` in [orbit], found `{one}` and `{other}`"
            );
            found.push(Problem::new(format!("orbit.{other}"), problem).against(format!("orbit.{one}")));
        }
        (Some("circular" | "sky"), None) => {}
        (first, _) => {
            let key = if first == Some("position") { "velocity" } else { "position" };
            let problem =
                format!("missing key `{key}` in [orbit]: expected `position` and `velocity`, `circular`, or `sky`");
            found.push(Problem::new("orbit", problem));
        }
    }
    // A program may bring a field of its own.
    if config.external.is_empty() && !config.is_of_a_program() {
        found.push(without_a_field());
    }
}
