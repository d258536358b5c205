//! What a report begins with: the system, its units and scales, and how it was integrated.

use serde_json::Value;
use std::path::Path;
use tisane::units::{Dimension, digits, twelve_digits};
use tisane_io::directory::CONFIG;
use tisane_io::fields::Journal;
use tisane_io::findings::{Scheme, Settings};
use tisane_io::{regular_file, table};

/// Quantities of the cluster at its first look: what they are called, their columns.
const AT_THE_START: [(&str, &str, Dimension); 6] = [
    ("Mass that is bound", "bound_mass", Dimension::MASS),
    ("Half-mass radius", "lagrangian_radius_0500", Dimension::LENGTH),
    ("Virial radius", "virial_radius", Dimension::LENGTH),
    ("Virial ratio", "virial_ratio", Dimension::NONE),
    ("Crossing time", "crossing_time", Dimension::TIME),
    ("Half-mass relaxation time", "relaxation_time", Dimension::TIME),
];

/// Returns the physics of a run in `dir`, as far as its files tell: what it is called, and what it is.
pub(super) fn facts(dir: &Path, summary: Option<&Value>) -> Vec<(String, String)> {
    let config = regular_file::read_to_string(&dir.join(CONFIG)).ok();
    let settings = config.and_then(|text| Settings::parse(&text)).unwrap_or_default();
    let number = |key: &str| summary?.get(key)?.as_f64();
    let with_unit = |value: f64, d: Dimension| {
        if d == Dimension::NONE { digits(value) } else { settings.units.readable(value, d) }
    };
    let mut found = Vec::new();
    let mut add = |what: &str, value: Option<String>| found.extend(value.map(|value| (what.to_owned(), value)));
    add("Initial conditions", settings.initial.clone());
    add("Particles", number("n").map(|n| n.to_string()));
    add("Units", Some(settings.units.describe()));
    if let Some((start, reached)) = number("time_start").zip(number("time")) {
        let [start, reached] = [start, reached].map(twelve_digits);
        add("Time", Some(format!("{start} to {reached} {}", settings.units.time.name)));
    }
    let journal = table::read_journal(&dir.join(Journal::Cluster.csv()), &dir.join(Journal::Cluster.hdf5())).ok();
    let first = |column: &str| journal.as_ref()?.numbers(column)?.first().filter(|value| value.is_finite());
    for (what, column, dimension) in AT_THE_START {
        add(&format!("{what}, at first"), first(column).map(|value| with_unit(value, dimension)));
    }
    let softening = match settings.epsilon {
        0.0 => "none".to_owned(),
        epsilon => settings.units.readable(epsilon, Dimension::LENGTH),
    };
    add("Softening", Some(softening));
    add("Integrator", settings.scheme.as_ref().map(|scheme| integrator(scheme, &settings)));
    found
}

/// Describes an integrator with its accuracy and its steps.
fn integrator(scheme: &Scheme, settings: &Settings) -> String {
    let accuracy = scheme.accuracy.map(|(key, value)| format!(", {key} = {value}")).unwrap_or_default();
    let step = |name: &str, step: Option<f64>| {
        step.map(|step| format!(", {name} = {}", settings.units.readable(step, Dimension::TIME))).unwrap_or_default()
    };
    format!("{}{accuracy}{}{}", scheme.name, step("dt_max", scheme.dt_max), step("dt_min", scheme.dt_min))
}
