//! Validation of the sections on collisions of stars and on escapers.

use crate::config::bounds::{above, at_least};
use crate::config::collisions::{CollisionSettings, Escapers, Radii};
use crate::config::configuration::Config;
use crate::config::ensemble::StopAt;
use crate::config::error::Problem;
use tisane_io::fields::TideColumns;

/// Adds the mistakes of the two sections to `found`.
pub(super) fn validate(config: &Config, found: &mut Vec<Problem>) {
    // Where the configuration leaves it open, the particles decide.
    if !config.leaves_subsystems_open() {
        found.extend(config.missing_subsystems());
    }
    if let Some(CollisionSettings { radii, radius, .. }) = &config.collisions {
        above(found, "collisions.radius", *radius, 0.0);
        match (radii, radius) {
            (Radii::Fixed, None) => {
                let problem = "missing key `radius` in [collisions]: radii = \"fixed\" needs it";
                found.push(Problem::new("collisions.radius", problem));
            }
            (Radii::Input | Radii::MainSequence | Radii::Evolution, Some(_)) => {
                let problem = "a radius of all stars goes with radii = \"fixed\" only";
                found.push(Problem::new("collisions.radius", problem).against("collisions.radii"));
            }
            (Radii::MainSequence, _) if config.units().is_henon() => {
                let problem = "\"main-sequence\" needs units by name: the radii follow from masses in solar masses";
                let help = "[units] mass = \"Msun\", length = \"pc\", velocity = \"km/s\"; or radii = \"fixed\"";
                found.push(Problem::new("collisions.radii", problem).with_help(help));
            }
            (Radii::Evolution, _) if config.stellar_evolution.is_none() => {
                let problem = "\"evolution\" needs [stellar_evolution], by which stars have radii";
                found.push(
                    Problem::new("collisions.radii", problem).with_help("[stellar_evolution]\nmetallicity = 0.02"),
                );
            }
            _ => {}
        }
    }
    if let Some(escapers) = &config.escapers {
        validate_escapers(config, escapers, found);
    }
    for section in [config.collisions.as_ref().map(|_| "collisions"), config.escapers.as_ref().map(|_| "escapers")] {
        let follows_three = config.ensemble.as_ref().is_some_and(|ensemble| ensemble.stop == StopAt::Escape);
        if let Some(section) = section.filter(|_| follows_three) {
            let problem =
                format!("stop = \"escape\" follows three stars to the end, of which [{section}] may take some");
            found.push(Problem::new(section, problem).against("ensemble.stop"));
        }
    }
}

fn validate_escapers(config: &Config, escapers: &Escapers, found: &mut Vec<Problem>) {
    let Escapers { radius, half_mass_radii, tidal_radii, .. } = escapers;
    above(found, "escapers.radius", *radius, 0.0);
    above(found, "escapers.half_mass_radii", *half_mass_radii, 0.0);
    at_least(found, "escapers.tidal_radii", *tidal_radii, 1.0);
    if config.tide_columns() != TideColumns::None {
        let alone =
            [("radius", radius), ("half_mass_radii", half_mass_radii)].into_iter().filter(|(_, it)| it.is_some());
        found.extend(alone.map(|(key, _)| {
            let problem = format!("`{key}` is for a system alone: in a tide stars escape beyond `tidal_radii`");
            Problem::new(format!("escapers.{key}"), problem).with_help("[escapers]\ntidal_radii = 2.0")
        }));
        return;
    }
    if tidal_radii.is_some() {
        let problem = "there is no tide: `tidal_radii` needs [orbit], or one [external.tide]";
        found.push(Problem::new("escapers.tidal_radii", problem).with_help("[escapers]\nhalf_mass_radii = 20.0"));
        return;
    }
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
        let problem = "in an external field at rest no energy tells whether a star escapes: [escapers] needs a system alone, [orbit], or \
                       one [external.tide]";
        found.push(Problem::new("escapers", problem).against("external"));
    }
}
