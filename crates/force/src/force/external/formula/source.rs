//! What a field is compiled from.

use super::variable::FieldVariable;
use crate::formula::Parameter;
use crate::formula::dimension::GravityDimension;
use crate::formula::mistake::Checked;
use crate::formula::parse::parse;
use crate::formula::symbols::{Quantity, Symbols};

/// What a field is compiled from. Its names: the place `x`, `y`, `z` relative to the centre, the time `t`, the distances
/// `r` = √(x² + y² + z²) and `R` = √(x² + y²), `G`, `pi`, the parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldSource {
    /// Formula of the potential per unit mass.
    pub potential: String,
    /// Names of parts of the formula with their formulas, each of names before it.
    pub parts: Vec<(String, String)>,
    /// Parameters.
    pub parameters: Vec<Parameter>,
    /// Flag that units are checked: numbers in the formula are pure numbers then. In units without names, where G = 1,
    /// everything is a number.
    pub has_units: bool,
}

/// Distances, by their formulas.
const DISTANCES: [(&str, &str); 2] = [("r", "sqrt(x^2 + y^2 + z^2)"), ("R", "sqrt(x^2 + y^2)")];

impl FieldSource {
    /// Creates the source of a field from a formula and its parameters, in units without names, where G = 1.
    #[must_use]
    pub fn new(potential: &str, parameters: &[(&str, f64)]) -> Self {
        let parameter =
            |&(name, value): &(&str, f64)| Parameter { name: name.into(), value, dimension: GravityDimension::NONE };
        Self {
            potential: potential.into(),
            parts: Vec::new(),
            parameters: parameters.iter().map(parameter).collect(),
            has_units: false,
        }
    }

    /// Returns the source with names for parts of the formula.
    #[must_use]
    pub fn with_parts(self, parts: &[(&str, &str)]) -> Self {
        let parts = parts.iter().map(|(name, formula)| ((*name).to_owned(), (*formula).to_owned())).collect();
        Self { parts, ..self }
    }

    /// Collects the names of the formula.
    pub(super) fn names(&self) -> Checked<Symbols<FieldVariable>> {
        use GravityDimension as Of;
        let place = |axis, name| (name, Quantity::Input(FieldVariable::Place(axis), 1.0, Of::LENGTH));
        let mut symbols = Symbols::new(&[
            place(0, "x"),
            place(1, "y"),
            place(2, "z"),
            ("t", Quantity::Input(FieldVariable::Time, 1.0, Of::TIME)),
        ]);
        let whole = 0..self.potential.len();
        for (name, formula) in DISTANCES {
            symbols.add(name.into(), Quantity::Expression(parse(formula)?), &whole)?;
        }
        for parameter in &self.parameters {
            symbols.add(parameter.name.clone(), Quantity::Number(parameter.value, parameter.dimension), &whole)?;
        }
        for (name, formula) in &self.parts {
            symbols.add(name.clone(), Quantity::Expression(parse(formula)?), &whole)?;
        }
        Ok(symbols)
    }
}
