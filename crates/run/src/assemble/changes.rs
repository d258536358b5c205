//! Settings that differ between a run and its resumption: which may change, and the record of those that did.

use crate::config::{Config, real};
use serde_json::Value;
use tisane::encounters::EncounterSettings;
use tisane::integrator::{IntegratorKind, SchemeInfo};
use tisane_io::provenance::Change;

/// Freedom of a setting when a run is resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freedom {
    /// The trajectory does not depend on it: it may be changed in the file as well.
    Free,
    /// The trajectory depends on it from then on: it is changed by `--set` only.
    BySet,
    /// The state of the run is that of this value.
    Fixed,
}

/// Sections and keys on which the trajectory does not depend.
const FREE: [&str; 12] = [
    "run.name",
    "run.t_end",
    "output",
    "cluster",
    "checkpoint",
    "limits",
    "audit",
    "force.engine",
    "force.device",
    "force.devices",
    "force.stepping",
    "force.threads",
];
/// Sections and keys that a run can go on with.
const BY_SET: [&str; 7] = [
    "integrator",
    "force.precision",
    "collisions.action",
    "escapers.action",
    "escapers.radius",
    "escapers.half_mass_radii",
    "escapers.tidal_radii",
];
/// Returns the freedom of a setting.
pub(super) fn freedom(key: &str) -> Freedom {
    let within = |name: &str| key.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    if FREE.into_iter().any(within) {
        Freedom::Free
    } else if BY_SET.into_iter().any(within) && !is_of_the_state(key) {
        Freedom::BySet
    } else {
        Freedom::Fixed
    }
}

/// Returns true for a key of a scheme on which its columns of the particles depend.
fn is_of_the_state(key: &str) -> bool {
    let is_of = |info: SchemeInfo| {
        let name = key.strip_prefix(info.section).and_then(|rest| rest.strip_prefix('.'));
        name.is_some_and(|name| info.state_keys.contains(&name))
    };
    IntegratorKind::ALL.iter().any(|kind| is_of(kind.info()))
}

/// Setting with another value in two configurations; `null` where it has none.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Difference {
    pub key: String,
    pub from: Value,
    pub to: Value,
}

impl Difference {
    /// Returns the record of the change, made now at a time of the run after a number of block steps.
    pub fn record(&self, time: f64, block_steps: u64) -> Change {
        Change {
            key: self.key.clone(),
            from: self.from.clone(),
            to: self.to.clone(),
            trajectory: freedom(&self.key) == Freedom::BySet,
            block_steps,
            time,
            made: tisane_io::provenance::now_utc(),
        }
    }
}

/// Returns the settings in which two resolved configurations differ, in the order of their keys. The output directory
/// is not a setting of the run: it may be moved. A start time that is only in one of them is that of an input file.
pub(super) fn differences(from: &Config, to: &Config) -> Vec<Difference> {
    // No section is a perturbation of 0.
    let json = |config: &Config| {
        let encounters = config
            .encounters
            .clone()
            .unwrap_or(EncounterSettings { perturbation: real!(0.0), ..EncounterSettings::default() });
        serde_json::to_value(Config { encounters: Some(encounters), ..config.clone() }).unwrap_or_default()
    };
    let mut found = Vec::new();
    compare(String::new(), &json(from), &json(to), &mut found);
    found.retain(|it| it.key != "output.directory");
    found
}

/// Returns the first section in which two resolved configurations differ in a setting that the trajectory depends on. The
/// start time is not compared: a resolved configuration has it from its input file.
pub(crate) fn differing_section(one: &Config, other: &Config) -> Option<String> {
    let all = differences(one, other).into_iter();
    let mut keys = all.map(|it| it.key).filter(|key| freedom(key) != Freedom::Free && key != "run.t_start");
    keys.next().map(|key| key.split('.').next().unwrap_or_default().to_owned())
}

/// Returns the first setting in which two resolved configurations differ, with its value in each, for people.
pub(crate) fn first_difference(one: &Config, other: &Config) -> Option<(String, String, String)> {
    let text = |value: &Value| if value.is_null() { "none".to_owned() } else { value.to_string() };
    differences(one, other).into_iter().next().map(|it| (it.key, text(&it.from), text(&it.to)))
}

fn compare(key: String, from: &Value, to: &Value, found: &mut Vec<Difference>) {
    let (Value::Object(before), Value::Object(after)) = (from, to) else {
        if from != to {
            found.push(Difference { key, from: from.clone(), to: to.clone() });
        }
        return;
    };
    let names: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for name in names {
        let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
        let of = |table: &serde_json::Map<String, Value>| table.get(name).cloned().unwrap_or_default();
        compare(key, &of(before), &of(after), found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn config(sets: &[&str]) -> Config {
        let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
        let text = "[run]\nname = \"a\"\nt_end = 1\n[initial.plummer]\nn = 8\n";
        Config::from_str("a", text, Path::new(""), &sets).unwrap().config
    }

    #[test]
    fn settings_that_differ_are_found_by_their_keys() {
        let base = config(&[]);
        assert_eq!(differences(&base, &base), []);
        let other = config(&["integrator.hermite4.dt_min=1e-9", "limits.wall_time=\"1h\"", "output.directory=b"]);
        let found = differences(&base, &other);
        let keys: Vec<&str> = found.iter().map(|it| &*it.key).collect();
        assert_eq!(keys, ["integrator.hermite4.dt_min", "limits.wall_time"]);
        assert_eq!((&found[0].to, &found[1].from), (&1e-9.into(), &Value::Null));
        let scheme = differences(&base, &config(&["integrator={ multipoint = {} }"]));
        assert!(scheme.iter().any(|it| it.key == "integrator.multipoint"), "{scheme:?}");
    }

    #[test]
    fn sections_that_differ_are_those_of_the_trajectory() {
        let base = config(&[]);
        for (set, section) in [
            ("run.t_end=2", None),
            ("run.t_start=0.5", None),
            ("limits.wall_time=1h", None),
            ("force.engine=reference", None),
            ("force.precision=mixed", Some("force")),
            ("initial.plummer.n=9", Some("initial")),
            ("integrator.hermite4.nu=0.02", Some("integrator")),
            ("softening.epsilon=0.1", Some("softening")),
        ] {
            assert_eq!(differing_section(&base, &config(&[set])).as_deref(), section, "{set}");
        }
    }

    #[test]
    fn every_section_has_its_freedom() {
        for (key, expected) in [
            ("integrator.hermite4.dt_min", Freedom::BySet),
            ("integrator.multipoint.eta", Freedom::BySet),
            ("integrator.multipoint.order", Freedom::Fixed),
            ("force.precision", Freedom::BySet),
            ("force.engine", Freedom::Free),
            ("output.interval", Freedom::Free),
            ("outputs", Freedom::Fixed),
            ("run.t_end", Freedom::Free),
            ("run.t_start", Freedom::Fixed),
            ("initial.plummer.n", Freedom::Fixed),
            ("softening.epsilon", Freedom::Fixed),
            ("units", Freedom::Fixed),
        ] {
            assert_eq!(freedom(key), expected, "{key}");
        }
    }
}
