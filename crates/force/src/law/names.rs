//! The names that the formula of a law may contain.

use super::program::Input;
use super::source::LawSource;
use crate::formula::dimension::GravityDimension;
use crate::formula::mistake::{At, Checked};
use crate::formula::symbols::{Quantity, Symbols};

/// Largest number of columns.
const MAX_COLUMNS: usize = 256;

/// Collects the names of a law.
pub(super) fn names(source: &LawSource) -> Checked<Symbols<Input>> {
    let mut symbols = Symbols::new(&[
        ("s", Quantity::Input(Input::S, 1.0, GravityDimension::LENGTH)),
        ("m_i", Quantity::Input(Input::TargetMass, 1.0, GravityDimension::MASS)),
        ("m_j", Quantity::Input(Input::SourceMass, 1.0, GravityDimension::MASS)),
    ]);
    let whole = 0..source.formula.text().len();
    for parameter in &source.parameters {
        symbols.add(parameter.name.clone(), Quantity::Number(parameter.value, parameter.dimension), &whole)?;
    }
    for (place, column) in source.columns.iter().enumerate() {
        let Ok(place) = u8::try_from(place) else {
            return Err(At::new(&(0..0), format!("expected at most {MAX_COLUMNS} columns")));
        };
        for (name, input) in [("i", Input::Target(place)), ("j", Input::Source(place))] {
            let quantity = Quantity::Input(input, column.unit, column.dimension);
            symbols.add(format!("{}_{name}", column.name), quantity, &whole)?;
        }
    }
    Ok(symbols)
}
