//! Units of a run, for files that do not state them.

use super::Provenance;
use serde::Deserialize;
use tisane::units::names::{LengthUnit, MassUnit, TimeUnit, VelocityUnit};
use tisane::units::{Rates, Units};

/// Part of a configuration that has the units.
#[derive(Deserialize)]
struct WithUnits {
    units: Names,
}

/// Units by name; none of them for N-body units.
#[derive(Deserialize)]
struct Names {
    mass: Option<MassUnit>,
    length: Option<LengthUnit>,
    velocity: Option<VelocityUnit>,
    time: Option<TimeUnit>,
}

impl Provenance {
    /// Returns the units of the run, from its resolved configuration; [`None`] if that does not name them.
    #[must_use]
    pub fn units(&self) -> Option<Units> {
        let table: toml::Table = self.config_resolved.parse().ok()?;
        if table.get("units")?.get("system").and_then(toml::Value::as_str) == Some("henon") {
            return Some(Units::henon());
        }
        let WithUnits { units } = table.try_into().ok()?;
        Some(Units::named(units.mass?, units.length?, Rates::from_names(units.velocity, units.time)?))
    }
}
