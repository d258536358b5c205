//! Validation of the values of a configuration: ranges, and settings that depend on each other.

mod initial;

use super::collisions;
use super::error::Problem;
use super::law;
use super::{Config, Model};
use tisane::integrator::{IntegratorSettings, InvalidSetting, SchemeInfo};
use tisane::time::MAX_DT_MAX_STEPS;
use tisane::units::{Real, shortest_decimal, twelve_digits};

/// Relative error up to which the ratio of two times counts as a whole number: decimal ratios such as 0.3 / 0.1 are not
/// whole in binary.
const WHOLE_TOLERANCE: f64 = 1e-9;
/// Absolute error up to which the ratio counts as a whole number, so that the end of a very long run is not moved by a
/// step.
const WHOLE_TOLERANCE_STEPS: f64 = 1e-3;
/// Greatest length of the name of a run, which is the name of a directory.
const MAX_NAME: usize = 128;

/// Returns all mistakes in the values of a configuration.
pub(super) fn validate(config: &Config) -> Vec<Problem> {
    let mut found = Vec::new();
    name(config, &mut found);
    units(config, &mut found);
    initial::initial(&config.initial, physical(config), &mut found);
    at_least(&mut found, "softening.epsilon", Some(config.softening.epsilon), 0.0);
    at_least(&mut found, "cluster.binary_hardness", Some(config.cluster.binary_hardness), 0.0);
    above(&mut found, "cluster.escape_radius", Some(config.cluster.escape_radius), 0.0);
    at_least(&mut found, "cluster.encounter_radius", Some(config.cluster.encounter_radius), 0.0);
    above(&mut found, "limits.energy_error", config.limits.energy_error, 0.0);
    for field in config.external.iter() {
        let mut mistakes = Vec::new();
        field.check(&mut mistakes);
        let problem = |(key, problem)| Problem::new(format!("{}.{key}", field.section()), problem);
        found.extend(mistakes.into_iter().map(problem));
    }
    encounters(config, &mut found);
    collisions::validate(config, &mut found);
    law::validate(config, &mut found);
    if let Some(ensemble) = &config.ensemble {
        ensemble.validate(config, &mut found);
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

fn physical(config: &Config) -> bool {
    !config.units().is_henon()
}

/// Adds a problem to `found` if a value is not above a bound.
pub fn above(found: &mut Vec<Problem>, key: impl Into<String>, value: Option<Real>, bound: f64) {
    if let Some(value) = value.filter(|value| value.get() <= bound) {
        found.push(Problem::new(key, format!("expected a number above {bound}, found {value}")));
    }
}

/// Adds a problem to `found` if a value is below a bound.
pub fn at_least(found: &mut Vec<Problem>, key: impl Into<String>, value: Option<Real>, bound: f64) {
    if let Some(value) = value.filter(|value| value.get() < bound) {
        found.push(Problem::new(key, format!("expected a number of at least {bound}, found {value}")));
    }
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

/// Adds a problem for each missing key: in physical units, values with a unit have no default.
fn required(found: &mut Vec<Problem>, section: &str, keys: &[(&str, Option<Real>)]) {
    for (key, _) in keys.iter().filter(|(_, value)| value.is_none()) {
        let problem = format!("missing key `{key}` in [{section}]: it has a default in Hénon units only");
        found.push(Problem::new(format!("{section}.{key}"), problem));
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
            config.integrator.scheme().has_encounters(),
            section,
            "expected [integrator.hermite4], which alone can have [encounters], or encounters.perturbation = 0"
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

/// Returns the ratio of `length` to `unit`, if it is a whole number of at least 1 that the tick counter can hold.
#[must_use]
pub fn whole_multiple(length: f64, unit: f64) -> Option<u64> {
    Span::exact(length).in_steps(unit)
}

/// Length of time, in the user's unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span {
    /// The length.
    pub length: f64,
    /// Most by which it may be off, as the times that it lies between are rounded to numbers.
    pub rounding: f64,
}

impl Span {
    /// Returns a length that was given as such.
    pub(crate) const fn exact(length: f64) -> Self {
        Self { length, rounding: 0.0 }
    }

    /// Returns the length between two times.
    pub(crate) fn between(start: f64, end: f64) -> Self {
        if start == 0.0 {
            return Self::exact(end);
        }
        Self { length: end - start, rounding: start.abs().max(end.abs()) * f64::EPSILON }
    }

    /// Returns the shortest decimal that the length can be, for steps that people can read.
    pub(crate) fn as_decimal(self) -> Self {
        Self { length: shortest_decimal(self.length, self.rounding), ..self }
    }

    /// Returns the number of steps in it, if it is a whole number of at least 1 that the tick counter can hold. Of late times the
    /// rounding may be more than that of a quotient of decimals.
    pub(crate) fn in_steps(self, step: f64) -> Option<u64> {
        let ratio = self.length / step;
        let whole = ratio.round();
        let tolerance = (WHOLE_TOLERANCE * whole).max(self.rounding / step).min(WHOLE_TOLERANCE_STEPS);
        let close = (ratio - whole).abs() <= tolerance;
        (close && whole >= 1.0 && whole <= MAX_DT_MAX_STEPS as f64).then_some(whole as u64)
    }

    /// Returns the shortest step that the times around it can count.
    pub(crate) fn shortest_step(self) -> f64 {
        (self.rounding / WHOLE_TOLERANCE_STEPS).max(self.length / MAX_DT_MAX_STEPS as f64)
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn decimals_that_people_write_are_whole_multiples() {
        for (length, unit, times) in [(0.3, 0.1, 3), (1.0, 0.125, 8), (70.0, 0.01, 7000), (6.3, 6.3, 1)] {
            assert_eq!(whole_multiple(length, unit), Some(times), "{length} / {unit}");
        }
        for (length, unit) in [(0.3, 0.125), (0.05, 0.1), (0.0, 1.0), (-1.0, 1.0), (1e300, 1e-300), (1e9, 1.0)] {
            assert_eq!(whole_multiple(length, unit), None, "{length} / {unit}");
        }
    }

    #[test]
    fn late_times_are_whole_multiples_within_their_rounding() {
        for (start, end, step, times) in [
            (100.0, 100.000_001, 5e-8, 20),
            (2000.0, 2000.2, 1e-3, 200),
            (1e6, 1_000_000.003, 3e-6, 1000),
            (-100.0, -99.999_999, 5e-8, 20),
            (0.1, 0.4, 0.1, 3),
        ] {
            assert_eq!(Span::between(start, end).in_steps(step), Some(times), "{start} to {end} by {step}");
        }
        for (start, end, step) in [(100.0, 100.000_001_02, 5e-8), (100.0, 100.000_001, 3e-7), (0.0, 0.3, 0.125)] {
            assert_eq!(Span::between(start, end).in_steps(step), None, "{start} to {end} by {step}");
        }
        assert_eq!(Span::between(100.0, 100.000_001).as_decimal().length, 1e-6);
        assert!(Span::between(100.0, 100.000_001).shortest_step() < 5e-8);
    }

    proptest! {
        #[test]
        fn any_late_time_that_numbers_can_tell_is_accepted(start in 1e-3..1e9_f64, steps in 1_u32..1_000_000, fine in 1e-12..1e-2_f64) {
            // As people write it: the decimal of six digits.
            let dt_max: f64 = format!("{:.5e}", start * fine).parse().unwrap();
            let end: f64 = format!("{:?}", start + f64::from(steps) * dt_max).parse().unwrap();
            let spacing = end * f64::EPSILON;
            if spacing <= 1e-3 * dt_max {
                prop_assert_eq!(Span::between(start, end).in_steps(dt_max), Some(u64::from(steps)));
            }
        }

        #[test]
        fn values_that_a_message_names_are_valid(steps in 1_u32..100_000_000, dt_max in 1e-6..1e6_f64) {
            let named = twelve_digits(f64::from(steps) * dt_max);
            prop_assert_eq!(whole_multiple(named, dt_max), Some(u64::from(steps)));
        }
    }
}
