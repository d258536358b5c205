//! Validation of the sections on collisions of stars and on escapers.

use crate::config::bounds::above;
use crate::config::collisions::{CollisionSettings, Escapers, Radii};
use crate::config::configuration::Config;
use crate::config::error::Problem;

/// Adds the mistakes of the two sections to `found`.
pub(super) fn validate(config: &Config, found: &mut Vec<Problem>) {
    let has_subsystems = config.subsystems().is_some();
    let needs = |section: &str| {
        let (key, problem) = match config.encounters {
            None => (section, format!("[{section}] needs [encounters], which resolves close encounters")),
            Some(_) => ("encounters.perturbation", format!("expected a number above 0, which [{section}] needs")),
        };
        Problem::new(key, problem).with_help("[encounters]\nperturbation = 1e-5")
    };
    if let Some(CollisionSettings { radii, radius, .. }) = &config.collisions {
        if !has_subsystems {
            found.push(needs("collisions"));
        }
        above(found, "collisions.radius", *radius, 0.0);
        match (radii, radius) {
            (Radii::Fixed, None) => {
                let problem = "missing key `radius` in [collisions]: radii = \"fixed\" needs it";
                found.push(Problem::new("collisions.radius", problem));
            }
            (Radii::Input | Radii::MainSequence, Some(_)) => {
                let problem = "a radius of all stars goes with radii = \"fixed\" only";
                found.push(Problem::new("collisions.radius", problem).against("collisions.radii"));
            }
            (Radii::MainSequence, _) if config.units().is_henon() => {
                let problem = "\"main-sequence\" needs units by name: the radii follow from masses in solar masses";
                let help = "[units] mass = \"Msun\", length = \"pc\", velocity = \"km/s\"; or radii = \"fixed\"";
                found.push(Problem::new("collisions.radii", problem).with_help(help));
            }
            _ => {}
        }
    }
    if let Some(escapers) = &config.escapers {
        if !has_subsystems {
            found.push(needs("escapers"));
        }
        validate_escapers(config, escapers, found);
    }
    for section in [config.collisions.as_ref().map(|_| "collisions"), config.escapers.as_ref().map(|_| "escapers")] {
        if let Some(section) = section.filter(|_| config.ensemble.is_some()) {
            let problem = format!("members of an ensemble cannot have [{section}] yet: it changes the number of stars");
            found.push(Problem::new(section, problem).against("ensemble"));
        }
    }
}

fn validate_escapers(config: &Config, escapers: &Escapers, found: &mut Vec<Problem>) {
    let Escapers { radius, half_mass_radii, .. } = escapers;
    above(found, "escapers.radius", *radius, 0.0);
    above(found, "escapers.half_mass_radii", *half_mass_radii, 0.0);
    let wrong = match (radius, half_mass_radii) {
        (Some(_), Some(_)) => Some(("escapers.half_mass_radii", "both")),
        (None, None) => Some(("escapers", "neither")),
        _ => None,
    };
    found.extend(wrong.map(|(key, number)| {
        let problem = format!("expected either `radius` or `half_mass_radii` in [escapers], found {number}");
        Problem::new(key, problem).with_help("[escapers]\nhalf_mass_radii = 20.0")
    }));
    if !config.external.is_empty() {
        let problem = "stars in an external field have no energy by which they escape: [escapers] needs a system alone";
        found.push(Problem::new("escapers", problem).against("external"));
    }
}
