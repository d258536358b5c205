//! The names that a formula may contain.

use super::dimension::GravityDimension;
use super::mistake::{At, Checked};
use super::syntax::{Expression, Function};
use crate::error::nearest;
use std::collections::HashMap;
use std::ops::Range;

/// What a name stands for, with its dimension.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Quantity<I> {
    /// Number.
    Number(f64, GravityDimension),
    /// Variable, times its unit.
    Input(I, f64, GravityDimension),
    /// Another formula.
    Expression(Expression),
}

/// Most names that a message lists.
const MAX_LISTED: usize = 32;

/// Names of a formula.
pub(crate) struct Symbols<I> {
    names: HashMap<String, Quantity<I>>,
}

impl<I: Copy> Symbols<I> {
    /// Creates the names that mean the same in every formula, and G, which is 1 in internal units, and π.
    pub fn new(fixed: &[(&str, Quantity<I>)]) -> Self {
        let number = |value| Quantity::Number(value, GravityDimension::NONE);
        let always = [("G", number(1.0)), ("pi", number(std::f64::consts::PI))];
        Self { names: fixed.iter().chain(&always).map(|(name, it)| ((*name).to_owned(), it.clone())).collect() }
    }

    /// Adds a name; `whole` is the place of the formula.
    pub fn add(&mut self, name: String, quantity: Quantity<I>, whole: &Range<usize>) -> Checked<()> {
        valid(&name).map_err(|problem| At::new(whole, problem))?;
        if self.names.contains_key(&name) {
            let problem = format!("the name `{name}` has two meanings: give the other one another name");
            return Err(At::new(whole, problem));
        }
        self.names.insert(name, quantity);
        Ok(())
    }

    /// Returns what a name stands for.
    pub fn find(&self, name: &str, span: &Range<usize>) -> Checked<&Quantity<I>> {
        if let Some(quantity) = self.names.get(name) {
            return Ok(quantity);
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
