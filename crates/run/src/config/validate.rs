//! Validation of the values of a configuration: ranges, and settings that depend on each other.

mod collisions;
mod ensemble;
mod extrapolated;
mod initial;
mod law;
mod orbit;
mod stellar_evolution;

use super::bounds::{Span, WHOLE_TOLERANCE_STEPS, above, at_least, whole_multiple};
use super::configuration::Config;
use super::error::Problem;
use super::external;
use super::initial::Model;
use tisane::integrator::{IntegratorSettings, InvalidSetting, SchemeInfo};
use tisane::time::MAX_DT_MAX_STEPS;
use tisane::units::{Real, shortest_decimal, twelve_digits};
use tisane_io::fields::TideColumns;

/// Greatest length of the name of a run, which is the name of a directory.
const MAX_NAME: usize = 128;

/// Returns all mistakes in the values of a configuration.
pub(super) fn validate(config: &Config) -> Vec<Problem> {
    let mut found = Vec::new();
    name(config, &mut found);
    units(config, &mut found);
    initial::initial(&config.initial, physical(config), &mut found);
    if config.tide_columns() == TideColumns::None {
        found.extend(config.initial.tidal_fillings("initial").into_iter().map(|key| {
            let problem = "there is no tide: the ratio to the tidal radius needs [orbit], or one [external.tide]";
            Problem::new(key, problem).with_help("[external.point-mass]\nmass = 1e11\n[orbit]\ncircular = 8000.0")
        }));
    }
    at_least(&mut found, "softening.epsilon", Some(config.softening.epsilon), 0.0);
    at_least(&mut found, "cluster.binary_hardness", Some(config.cluster.binary_hardness), 0.0);
    above(&mut found, "cluster.escape_radius", Some(config.cluster.escape_radius), 0.0);
    at_least(&mut found, "cluster.encounter_radius", Some(config.cluster.encounter_radius), 0.0);
    above(&mut found, "limits.energy_error", config.limits.energy_error, 0.0);
    dissolution(config, &mut found);
    found.extend(config.external.mistakes(&config.units()).into_iter().map(external::problem));
    orbit::validate(config, &mut found);
    encounters(config, &mut found);
    collisions::validate(config, &mut found);
    law::validate(config, &mut found);
    stellar_evolution::validate(config, &mut found);
    extrapolated::validate(config, &mut found);
    if let Some(settings) = &config.ensemble {
        ensemble::validate(settings, config, &mut found);
    }
    if scheme(config, &mut found) {
        times(config, &mut found);
    }
    if config.force.devices.is_some() && config.force.device != 0 {
        found.push(Problem::new("force.devices", "expected either devices or device, found both"));
    }
    if config.output.directory.as_ref().is_some_and(String::is_empty) {
        found.push(Problem::new("output.directory", "expected a path, found empty text"));
    }
    found
}

/// Checks the limit at which a dissolved cluster stops.
fn dissolution(config: &Config, found: &mut Vec<Problem>) {
    let Some(fraction) = config.limits.bound_fraction else { return };
    let key = "limits.bound_fraction";
    if !(fraction.get() > 0.0 && fraction.get() < 1.0) {
        found.push(Problem::new(key, format!("expected a share above 0 and below 1, found {fraction}")));
    }
    if config.tide_columns() == TideColumns::None {
        let problem = "there is no tide: the mass within the tidal radius needs [orbit], or one [external.tide]";
        found.push(
            Problem::new(key, problem).with_help("[external.point-mass]\nmass = 1e11\n[orbit]\ncircular = 8000.0"),
        );
    } else if !config.cluster.enabled {
        let problem = "the mass within the tidal radius is not measured without the diagnostics of the cluster";
        found.push(Problem::new(key, problem).against("cluster.enabled"));
    }
}

fn physical(config: &Config) -> bool {
    !config.units().is_henon()
}

/// Checks that the name of the run is a valid name of a directory on any system.
fn name(config: &Config, found: &mut Vec<Problem>) {
    let name = &config.run.name;
    let inside = name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    let starts = name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    if !inside || !starts {
        let expected = "expected letters, digits and . _ - only, starting with a letter, a digit or _";
        found.push(Problem::new("run.name", format!("\"{name}\" cannot name a directory: {expected}")));
    } else if name.len() > MAX_NAME {
        found.push(Problem::new("run.name", format!("expected at most {MAX_NAME} characters, found {}", name.len())));
    }
}

/// Checks that units are either a system or names, and that the names are complete.
fn units(config: &Config, found: &mut Vec<Problem>) {
    let units = &config.units;
    let names = [
        ("mass", units.mass.is_some()),
        ("length", units.length.is_some()),
        ("velocity", units.velocity.is_some()),
        ("time", units.time.is_some()),
    ];
    let given = names.iter().find(|(_, is_given)| *is_given);
    match (units.system, given) {
        (Some(_), Some((key, _))) => {
            let problem = "units by name are not possible together with a system of units";
            found.push(Problem::new(format!("units.{key}"), problem).against("units.system"));
        }
        (None, Some(_)) if units.named().is_none() => {
            let missing = match (units.mass, units.length) {
                (None, _) => "mass",
                (_, None) => "length",
                _ => "velocity",
            };
            let or_time = if missing == "velocity" { " (or `time`)" } else { "" };
            let problem = format!("missing key `{missing}`{or_time} in [units]: names are needed for all units");
            found.push(Problem::new(format!("units.{missing}"), problem).with_help(
                "a cluster: mass = \"Msun\", length = \"pc\", velocity = \"km/s\"; planets: mass = \"Msun\", \
                 length = \"au\", time = \"yr\"",
            ));
        }
        (None, None) if has_file(config) => {
            let problem = Problem::new("units", "missing section [units]: a file's numbers have no unit without it");
            found.push(problem.with_help(
                "a McLuster file: mass = \"Msun\", length = \"pc\", velocity = \"km/s\"; N-body units: \
                 system = \"henon\"",
            ));
        }
        _ => {}
    }
}

/// Returns true if particles come from a file, alone or as one of several clusters.
fn has_file(config: &Config) -> bool {
    match &config.initial.model {
        Model::File(_) | Model::Elements(_) => true,
        Model::Clusters(clusters) => {
            clusters.iter().any(|cluster| matches!(cluster.initial.model, Model::File(_) | Model::Elements(_)))
        }
        _ => false,
    }
}

/// Checks the settings of the integrator; returns true if its longest step is valid.
fn scheme(config: &Config, found: &mut Vec<Problem>) -> bool {
    let section = config.integrator.info().section;
    let mut mistakes = Vec::new();
    let sound = config.integrator.scheme().check(physical(config), config.force.precision(), &mut mistakes);
    found.extend(mistakes.into_iter().map(|mistake| invalid(section, mistake)));
    sound
}

/// Checks that a run with subsystems has what they need.
fn encounters(config: &Config, found: &mut Vec<Problem>) {
    let Some(settings) = &config.encounters else { return };
    let mut mistakes = Vec::new();
    settings.check(&mut mistakes);
    mistakes.into_iter().for_each(|mistake| found.push(invalid("encounters", mistake)));
    if config.subsystems().is_none() {
        return;
    }
    let section = config.integrator.info().section;
    let needs = [
        (
            config.softening.epsilon.get() == 0.0,
            "softening.epsilon",
            "expected 0: softened pairs need no [encounters], or encounters.perturbation = 0".to_owned(),
        ),
        (
            config.integrator.scheme().block_steps().is_some(),
            section,
            "expected a scheme with block steps, as [integrator.hermite4], for [encounters], or encounters.perturbation = 0"
                .to_owned(),
        ),
    ];
    found.extend(needs.into_iter().filter(|need| !need.0).map(|(_, key, problem)| Problem::new(key, problem)));
}

/// Returns the problem of an invalid setting of a section.
fn invalid(section: &str, mistake: InvalidSetting) -> Problem {
    let (key, problem) = match mistake {
        InvalidSetting::NotPositive(key, value) => (key, format!("expected a number above 0, found {value}")),
        InvalidSetting::Wrong(key, problem) => (key, problem),
    };
    Problem::new(format!("{section}.{key}"), problem)
}

/// Checks that the end and the intervals are whole multiples of `dt_max`, if it is known.
fn times(config: &Config, found: &mut Vec<Problem>) {
    let dt_max = config.dt_max();
    let output = &config.output;
    let intervals = [
        ("output.interval", output.interval),
        ("output.snapshot_interval", output.snapshot_interval),
        ("output.diagnostics_interval", output.diagnostics_interval),
        ("cluster.interval", config.cluster.interval),
        ("ensemble.check_interval", config.ensemble.as_ref().and_then(|ensemble| ensemble.check_interval)),
    ];
    for (key, interval) in intervals {
        let Some(interval) = interval.map(Real::get) else { continue };
        if interval <= 0.0 {
            found.push(Problem::new(key, format!("expected a number above 0, found {interval}")));
        } else if config.has_steps() && whole_multiple(interval, dt_max).is_none() {
            found.push(not_whole(key, interval, 0.0, &config.integrator));
        }
    }
    let from_file = matches!(config.initial.model, Model::File(_));
    if let Some(start) = config.t_start().or((!from_file).then_some(0.0)) {
        let checked = if config.has_steps() { steps_to_end(config, start).map(|_| ()) } else { end(config, start) };
        found.extend(checked.err());
    }
}

fn not_whole(key: &str, value: f64, start: f64, integrator: &IntegratorSettings) -> Problem {
    let (dt_max, info) = (integrator.scheme().dt_max(), integrator.info());
    let name = info.dt_max_key;
    let ratio = (value - start) / dt_max;
    if ratio > MAX_DT_MAX_STEPS as f64 {
        let problem = format!("{value} is more than {MAX_DT_MAX_STEPS} steps of {name} = {dt_max} away");
        let help = format!("choose a longer {}.{name}", info.section);
        return Problem::new(key, problem).with_help(help);
    }
    let multiple = |times: f64| {
        let time = start + times * dt_max;
        if start == 0.0 { twelve_digits(time) } else { shortest_decimal(time, Span::between(start, time).rounding) }
    };
    let (below, next) = (ratio.floor(), ratio.floor() + 1.0);
    let nearest = if below < 1.0 {
        format!("nearest valid value: {}", multiple(1.0))
    } else {
        format!("nearest valid values: {} and {}", multiple(below), multiple(next))
    };
    let from = if start == 0.0 { String::new() } else { format!(" from t = {start}") };
    Problem::new(key, format!("{value} is not a whole multiple of {name} = {dt_max}{from}; {nearest}"))
}

/// Checks that the end is after the start.
pub(super) fn end(config: &Config, start: f64) -> Result<(), Problem> {
    let end = config.t_end();
    if end > start {
        return Ok(());
    }
    Err(Problem::new("run.t_end", format!("expected a time after the start at t = {start}, found {end}")))
}

pub(super) fn steps_to_end(config: &Config, start: f64) -> Result<u64, Problem> {
    self::end(config, start)?;
    let (key, end, dt_max) = ("run.t_end", config.t_end(), config.dt_max());
    let spacing = start.abs().max(end.abs()) * f64::EPSILON;
    let is_countable = spacing <= dt_max * WHOLE_TOLERANCE_STEPS;
    let steps = Span::between(start, end).in_steps(dt_max).filter(|_| is_countable);
    if !is_countable {
        let SchemeInfo { dt_max_key: name, section, .. } = config.integrator.info();
        let problem =
            format!("times from {start} to {end} are numbers {spacing:.1e} apart, too coarse for {name} = {dt_max}");
        let help = format!("let run.t_start be nearer to 0, or choose a longer {section}.{name}");
        return Err(Problem::new(key, problem).with_help(help));
    }
    steps.ok_or_else(|| not_whole(key, end, start, &config.integrator))
}
