//! Settings of a run that explain its end or its speed, from its resolved configuration.

use tisane::time::Level;
use tisane::units::names::{LengthUnit, MassUnit, TimeUnit, VelocityUnit};
use tisane::units::{Rates, Real, Units};
use toml::{Table, Value};

/// Settings of a run, in the user's units; [`None`] where the configuration does not have them.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Name of the run.
    pub name: Option<String>,
    /// Sections of the initial conditions, as in `king, masses, binaries`.
    pub initial: Option<String>,
    /// Units of the user.
    pub units: Units,
    /// Time of the end.
    pub t_end: Option<f64>,
    /// Softening length.
    pub epsilon: f64,
    /// Integrator.
    pub scheme: Option<Scheme>,
    /// True if close pairs may become subsystems: the forces are Newton's, and there are none yet.
    pub may_have_subsystems: bool,
    /// Smallest perturbation that a subsystem feels, in a run with subsystems.
    pub perturbation: Option<f64>,
    /// Time between rows of diagnostics.
    pub diagnostics_interval: Option<f64>,
    /// Time between snapshots.
    pub snapshot_interval: Option<f64>,
    /// True if the run records events: binaries, escapes and encounters.
    pub records_events: bool,
    /// Error of a force at which the run stops.
    pub audit_limit: Option<f64>,
    /// Limit of block steps of a session.
    pub block_steps: Option<u64>,
    /// Distance of the Sun from the centre of the galaxy and its height above the midplane, if the configuration has it.
    pub sun: Option<[f64; 2]>,
}

/// Integrator with the settings of its steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheme {
    /// Name, as in the configuration.
    pub name: String,
    /// Key and value of the setting of its accuracy, if the steps follow from one.
    pub accuracy: Option<(&'static str, f64)>,
    /// Longest step, or the step of all particles.
    pub dt_max: Option<f64>,
    /// Shortest step as configured.
    pub dt_min: Option<f64>,
}

/// Keys of the accuracy of a step.
const ACCURACIES: [&str; 2] = ["nu", "eta"];

impl Default for Settings {
    /// Returns the settings of an empty configuration.
    fn default() -> Self {
        Self::new(&Table::new())
    }
}

impl Settings {
    /// Parses a resolved configuration; [`None`] if it is not TOML.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        text.parse().ok().map(|config| Self::new(&config))
    }

    fn new(config: &Table) -> Self {
        let at = |section: &str, key: &str| config.get(section)?.get(key);
        let real = |section: &str, key: &str| at(section, key).and_then(number);
        let interval = |key: &str| real("output", key).or_else(|| real("output", "interval"));
        Self {
            units: config.get("units").and_then(named_units).unwrap_or_else(Units::henon),
            initial: config.get("initial").and_then(Value::as_table).map(|initial| {
                let sections = initial.iter().filter(|(_, value)| value.is_table() || value.is_array());
                sections.map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
            }),
            name: at("run", "name").and_then(Value::as_str).map(str::to_owned),
            t_end: real("run", "t_end"),
            epsilon: real("softening", "epsilon").unwrap_or(0.0),
            may_have_subsystems: real("encounters", "perturbation").is_none_or(|it| it == 0.0)
                && config.get("encounters").is_none_or(|it| it.get("perturbation").is_some())
                && at("force", "law").is_none(),
            perturbation: real("encounters", "perturbation").filter(|it| *it > 0.0),
            scheme: config.get("integrator").and_then(Value::as_table).and_then(Scheme::new),
            diagnostics_interval: interval("diagnostics_interval"),
            snapshot_interval: interval("snapshot_interval"),
            records_events: at("cluster", "enabled").and_then(Value::as_bool).unwrap_or(true),
            audit_limit: real("audit", "limit"),
            block_steps: at("limits", "block_steps").and_then(Value::as_integer).and_then(|n| n.try_into().ok()),
            sun: at("orbit", "sun").and_then(|sun| {
                let real = |key: &str| sun.get(key).and_then(number);
                Some([real("radius")?, real("height")?])
            }),
        }
    }
}

impl Scheme {
    fn new(integrator: &Table) -> Option<Self> {
        let (name, settings) = integrator.iter().next()?;
        let real = |key: &str| settings.get(key).and_then(number);
        Some(Self {
            name: name.clone(),
            accuracy: ACCURACIES.into_iter().find_map(|key| Some((key, real(key)?))),
            dt_max: real("dt_max").or_else(|| real("dt")),
            dt_min: real("dt_min"),
        })
    }

    /// Returns the shortest step that the scheme takes: the shortest block step that is not below `dt_min`.
    #[must_use]
    pub fn floor(&self) -> Option<f64> {
        let (dt_min, dt_max) = (self.dt_min?, self.dt_max?);
        Some(Level::not_shorter_than(dt_min / dt_max).step(dt_max))
    }

    /// Returns the shortest `dt_min` that a configuration may have.
    #[must_use]
    pub fn min_dt_min(&self) -> Option<f64> {
        self.dt_max.map(|dt_max| Level::DEEPEST.step(dt_max))
    }

    /// Returns the key of a setting, as `--set` takes it.
    #[must_use]
    pub fn key(&self, setting: &str) -> String {
        format!("integrator.{}.{setting}", self.name)
    }
}

/// Returns the units that are given by name; [`None`] for N-body units.
fn named_units(section: &Value) -> Option<Units> {
    fn unit<'de, T: serde::Deserialize<'de>>(section: &Value, key: &str) -> Option<T> {
        section.get(key)?.clone().try_into().ok()
    }
    let (velocity, time) = (unit::<VelocityUnit>(section, "velocity"), unit::<TimeUnit>(section, "time"));
    let rates = match (velocity, time) {
        (Some(velocity), Some(time)) => Rates::Both(velocity, time),
        (Some(velocity), None) => Rates::Velocity(velocity),
        (None, time) => Rates::Time(time?),
    };
    Some(Units::named(unit::<MassUnit>(section, "mass")?, unit::<LengthUnit>(section, "length")?, rates))
}

/// Returns a number, as configurations hold them: also a text such as `1/64`.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Float(x) => Some(*x),
        Value::Integer(n) => Some(*n as f64),
        Value::String(text) => Real::parse(text).ok().map(Real::get),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_however_they_are_written() {
        let text = "[run]\nname = \"x\"\nt_end = 10\n[softening]\nepsilon = \"1/64\"\n[integrator.multipoint]\neta = 0.35\n\
                    dt_max = \"1/8\"\ndt_min = \"2^-26\"\n[output]\ninterval = 0.5\nsnapshot_interval = 1.0\n[cluster]\n\
                    enabled = false\n[audit]\nlimit = 1e-5\n[limits]\nblock_steps = 7\n";
        let found = Settings::parse(text).unwrap();
        let scheme = found.scheme.clone().unwrap();
        assert_eq!((found.name.as_deref(), found.t_end, found.epsilon), (Some("x"), Some(10.0), 1.0 / 64.0));
        assert_eq!((found.diagnostics_interval, found.snapshot_interval), (Some(0.5), Some(1.0)));
        assert_eq!((found.records_events, found.audit_limit, found.block_steps), (false, Some(1e-5), Some(7)));
        assert_eq!(
            (scheme.accuracy, scheme.dt_max, scheme.floor()),
            (Some(("eta", 0.35)), Some(0.125), Some(2f64.powi(-26)))
        );
        assert_eq!(scheme.key("dt_min"), "integrator.multipoint.dt_min");
        assert_eq!(scheme.min_dt_min(), Some(0.125 * 2f64.powi(-36)));
    }

    #[test]
    fn a_floor_is_a_block_step_and_a_single_step_has_none() {
        let scheme = |text: &str| Settings::parse(text).unwrap().scheme.unwrap();
        // Not a power-of-two fraction of dt_max: the next longer one is the floor.
        assert_eq!(scheme("[integrator.hermite4]\ndt_max = 1.0\ndt_min = 0.1").floor(), Some(0.125));
        let leapfrog = scheme("[integrator.leapfrog]\ndt = 0.01");
        assert_eq!((leapfrog.dt_max, leapfrog.floor(), leapfrog.accuracy), (Some(0.01), None, None));
        assert_eq!(Settings::parse("not toml"), None);
        let empty = Settings::parse("").unwrap();
        assert!(empty.records_events && empty.units.is_henon() && empty.t_end.is_none() && empty.scheme.is_none());
    }

    #[test]
    fn units_have_their_names() {
        let time = |rest: &str| {
            let text = format!("[units]\nmass = \"Msun\"\nlength = \"pc\"\n{rest}");
            Settings::parse(&text).unwrap().units.time.name
        };
        assert_eq!(time("velocity = \"km/s\"\ntime = \"Myr\""), "Myr");
        assert_eq!(time("velocity = \"km/s\""), "pc/(km/s)");
        assert_eq!(time("time = \"day\""), "day");
        assert!(Settings::parse("[units]\nsystem = \"henon\"").unwrap().units.is_henon());
    }
}
