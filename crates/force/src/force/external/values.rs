//! Values of the settings of fields: mistakes in them, their internal units, how they are described.

use super::tables::Tables;
use crate::formula;
use crate::particles::Vec3;
use crate::real;
use crate::units::{Real, Scale, Units};

/// Mistake in the settings of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Mistake {
    /// Key below the section.
    pub key: String,
    /// The problem: what was expected, what was found.
    pub problem: String,
    /// Place of the mistake in a formula, if it is in one.
    pub formula: Option<formula::Mistake>,
}

impl Mistake {
    /// Creates a mistake of a value.
    pub(super) fn new(key: &str, problem: impl Into<String>) -> Self {
        Self { key: key.into(), problem: problem.into(), formula: None }
    }

    /// Returns the mistake with its key below a section.
    pub(super) fn below(self, section: &str) -> Self {
        let key = if self.key.is_empty() { section.to_owned() } else { format!("{section}.{}", self.key) };
        Self { key, ..self }
    }

    /// Creates a mistake in a formula.
    pub(super) fn in_formula(key: &str, mistake: formula::Mistake) -> Self {
        Self { key: key.into(), problem: mistake.problem.clone(), formula: Some(mistake) }
    }
}

/// Units of a configuration, and the size of the internal units in them.
#[derive(Clone, Copy, Debug)]
pub struct FieldUnits<'a> {
    /// Units of the user.
    pub units: &'a Units,
    /// User units in one internal unit.
    pub scale: &'a Scale,
    /// Source of the tables that settings name.
    pub tables: &'a dyn Tables,
}

/// Values in internal units.
impl FieldUnits<'_> {
    pub(super) fn mass(&self, value: Real) -> f64 {
        value.get() / self.scale.mass
    }

    pub(super) fn length(&self, value: Real) -> f64 {
        value.get() / self.scale.length
    }

    pub(super) fn velocity(&self, value: Real) -> f64 {
        value.get() / self.scale.velocity
    }

    pub(super) fn time(&self, value: Real) -> f64 {
        value.get() / self.scale.time
    }

    /// Returns a velocity / length, such as an angular velocity.
    pub(super) fn frequency(&self, value: Real) -> f64 {
        value.get() * (self.scale.length / self.scale.velocity)
    }

    /// Returns a density.
    pub(super) fn density(&self, value: Real) -> f64 {
        let length = self.scale.length;
        value.get() * (length * length * length / self.scale.mass)
    }

    pub(super) fn place(&self, position: [Real; 3]) -> Vec3 {
        Vec3::from(position.map(|x| x.get() / self.scale.length))
    }
}

/// The origin, the place of a field where the user does not say.
#[cfg_attr(not(feature = "serde"), allow(dead_code, reason = "defaults are for files"))]
pub(super) const fn origin() -> [Real; 3] {
    [real!(0.0); 3]
}

/// Zero, where the user does not say.
#[cfg(feature = "serde")]
pub(super) const fn zero() -> Real {
    real!(0.0)
}

/// Returns the name of the unit of velocity / length.
pub(super) fn frequency_unit(units: &Units) -> String {
    format!("{}/{}", units.velocity.name, units.length.name)
}

/// Adds a mistake for a value that is not above zero.
pub(super) fn positive(found: &mut Vec<Mistake>, key: &str, value: Real) {
    if value.get() <= 0.0 {
        found.push(Mistake::new(key, format!("expected a number above 0, found {value}")));
    }
}

/// Adds a mistake for a value below zero.
pub(super) fn not_negative(found: &mut Vec<Mistake>, key: &str, value: Real) {
    if value.get() < 0.0 {
        found.push(Mistake::new(key, format!("expected a number of at least 0, found {value}")));
    }
}

/// Describes a mass at a place with its lengths.
pub(super) fn describe(mass: Real, place: &str, lengths: &[(&str, Real)], units: &Units) -> String {
    let mass_unit = &units.mass.name;
    format!("{mass} {mass_unit} {place}{}", list(lengths, &units.length.name))
}

/// Describes a place.
pub(super) fn at(position: [Real; 3], units: &Units) -> String {
    let [x, y, z] = position.map(Real::get);
    format!("at ({x}, {y}, {z}) {}", units.length.name)
}

/// Lists values with their names and unit, each after a comma.
pub(super) fn list(values: &[(&str, Real)], unit: &str) -> String {
    values.iter().map(|(name, value)| format!(", {name} {value} {unit}")).collect()
}
