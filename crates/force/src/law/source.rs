//! What a law is compiled from.

use crate::formula::Parameter;
use crate::formula::dimension::GravityDimension;

/// Formula of a law.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula {
    /// Potential energy U of a pair.
    Potential(String),
    /// Acceleration of the target i towards the source j. Such a law has no potential, and no energy.
    Acceleration(String),
}

impl Formula {
    /// Returns the text of the formula.
    #[must_use]
    pub fn text(&self) -> &str {
        let (Self::Potential(text) | Self::Acceleration(text)) = self;
        text
    }

    /// Returns what the formula gives, as configurations call it.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Potential(_) => "potential",
            Self::Acceleration(_) => "acceleration",
        }
    }
}

/// Column of particles that a law reads: `NAME_i` and `NAME_j` in the formula.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name.
    pub name: String,
    /// Value in internal units of 1 in the column.
    pub unit: f64,
    /// Dimension.
    pub dimension: GravityDimension,
}

/// What a law is compiled from.
#[derive(Clone, Debug, PartialEq)]
pub struct LawSource {
    /// Formula.
    pub formula: Formula,
    /// Parameters.
    pub parameters: Vec<Parameter>,
    /// Columns, at most 256.
    pub columns: Vec<Column>,
    /// Flag that units are checked: numbers in the formula are pure numbers then. In units without names, where G = 1,
    /// everything is a number.
    pub has_units: bool,
}

impl LawSource {
    /// Creates the source of a law without columns, in units without names, where G = 1.
    #[must_use]
    pub fn new(formula: Formula, parameters: &[(&str, f64)]) -> Self {
        let parameter =
            |&(name, value): &(&str, f64)| Parameter { name: name.into(), value, dimension: GravityDimension::NONE };
        Self { formula, parameters: parameters.iter().map(parameter).collect(), columns: Vec::new(), has_units: false }
    }

    /// Returns the source with columns of pure numbers.
    #[must_use]
    pub fn with_columns(self, names: &[&str]) -> Self {
        let column = |name: &&str| Column { name: (*name).into(), unit: 1.0, dimension: GravityDimension::NONE };
        Self { columns: names.iter().map(column).collect(), ..self }
    }
}
