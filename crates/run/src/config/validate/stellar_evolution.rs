//! Validation of the section on stars that evolve.

use crate::config::configuration::Config;
use crate::config::error::Problem;
use crate::config::stellar_evolution::StellarEvolution;
use tisane::units::Real;
use tisane_stellar::{Metallicity, Star};

/// Range of factors and steps: key, value, least and greatest.
type Ranged = (&'static str, Real, f64, f64);

/// Adds the mistakes of the section to `found`.
pub(super) fn validate(config: &Config, found: &mut Vec<Problem>) {
    let Some(settings) = &config.stellar_evolution else { return };
    let ranges: [Ranged; 5] = [
        ("metallicity", settings.metallicity, Metallicity::RANGE.0, Metallicity::RANGE.1),
        ("reimers", settings.reimers, 0.0, 100.0),
        ("kick_dispersion", settings.kick_dispersion, 0.0, 1e5),
        ("electron_capture_kick_dispersion", settings.electron_capture_kick_dispersion, 0.0, 1e5),
        ("mass_step", settings.mass_step, 0.0, 0.1),
    ];
    for (key, value, least, greatest) in ranges {
        if !(least..=greatest).contains(&value.get()) {
            let problem = format!("expected a number from {least} to {greatest}, found {value}");
            found.push(Problem::new(format!("stellar_evolution.{key}"), problem));
        }
    }
    if config.units().is_henon() {
        let problem = "stars age by masses in solar masses and times in Myr: [stellar_evolution] needs units by name";
        let help = "[units]\nmass = \"Msun\"\nlength = \"pc\"\nvelocity = \"km/s\"";
        found.push(Problem::new("stellar_evolution", problem).with_help(help));
        return;
    }
    let latest = StellarEvolution::latest(&config.units());
    let times =
        [("stellar_evolution.start_age", Some(settings.start_age), 0.0), ("run.t_start", config.run.t_start, -latest)];
    for (key, value, least) in times {
        if let Some(value) = value.filter(|value| !(least..=latest).contains(&value.get())) {
            let least = if least < 0.0 { -Star::LATEST } else { 0.0 };
            let problem = format!("expected a time from {least} to {} Myr, found {value}", Star::LATEST);
            found.push(Problem::new(key, problem));
        }
    }
}
