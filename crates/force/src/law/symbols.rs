//! The names that a formula may contain.

use super::dimension::PairDimension;
use super::mistake::{At, Checked};
use super::program::Input;
use super::source::LawSource;
use super::syntax::Function;
use crate::error::nearest;
use std::collections::HashMap;
use std::ops::Range;

/// What a name stands for, with its dimension.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Quantity {
    /// Number.
    Number(f64, PairDimension),
    /// Quantity of the pair, times its unit.
    Input(Input, f64, PairDimension),
}

/// Names that mean the same in every formula. G is 1 in internal units.
const FIXED: [(&str, Quantity); 5] = [
    ("s", Quantity::Input(Input::S, 1.0, PairDimension::LENGTH)),
    ("m_i", Quantity::Input(Input::TargetMass, 1.0, PairDimension::MASS)),
    ("m_j", Quantity::Input(Input::SourceMass, 1.0, PairDimension::MASS)),
    ("G", Quantity::Number(1.0, PairDimension::NONE)),
    ("pi", Quantity::Number(std::f64::consts::PI, PairDimension::NONE)),
];
/// Most names that a message lists.
const MAX_LISTED: usize = 32;
/// Largest number of columns.
const MAX_COLUMNS: usize = 256;

/// Names of a law.
pub(super) struct Symbols {
    names: HashMap<String, Quantity>,
}

impl Symbols {
    /// Collects the names of a law.
    pub fn new(source: &LawSource) -> Checked<Self> {
        let mut names: HashMap<_, _> = FIXED.iter().map(|(name, quantity)| ((*name).to_owned(), *quantity)).collect();
        let whole = 0..source.formula.text().len();
        let mut add = |name: String, quantity| match valid(&name) {
            Err(problem) => Err(At::new(&whole, problem)),
            Ok(()) if names.contains_key(&name) => {
                Err(At::new(&whole, format!("the name `{name}` has two meanings: give the other one another name")))
            }
            Ok(()) => {
                names.insert(name, quantity);
                Ok(())
            }
        };
        for parameter in &source.parameters {
            add(parameter.name.clone(), Quantity::Number(parameter.value, parameter.dimension))?;
        }
        for (place, column) in source.columns.iter().enumerate() {
            let Ok(place) = u8::try_from(place) else {
                return Err(At::new(&(0..0), format!("expected at most {MAX_COLUMNS} columns")));
            };
            add(format!("{}_i", column.name), Quantity::Input(Input::Target(place), column.unit, column.dimension))?;
            add(format!("{}_j", column.name), Quantity::Input(Input::Source(place), column.unit, column.dimension))?;
        }
        Ok(Self { names })
    }

    /// Returns what a name stands for.
    pub fn find(&self, name: &str, span: &Range<usize>) -> Checked<Quantity> {
        if let Some(quantity) = self.names.get(name) {
            return Ok(*quantity);
        }
        let mut names: Vec<&str> = self.names.keys().map(String::as_str).collect();
        names.sort_unstable();
        let help = match nearest(name, &names) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None if names.len() > MAX_LISTED => format!("there are {} others", names.len()),
            None => format!("there are {}", names.join(", ")),
        };
        Err(At::new(span, format!("unknown name `{name}`: {help}")))
    }
}

/// Checks the name of a parameter or column.
fn valid(name: &str) -> Result<(), String> {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    let good = name.starts_with(letter) && name.chars().all(|c| letter(c) || c.is_ascii_digit());
    if !good {
        return Err(format!("`{name}` cannot be a name: expected letters, digits and _, not beginning with a digit"));
    }
    if name == "if" || Function::ALL.into_iter().any(|function| function.name() == name) {
        return Err(format!("`{name}` is a function: give the parameter another name"));
    }
    Ok(())
}
