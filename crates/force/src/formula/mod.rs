//! Formulas as users write them: read, checked, differentiated and compiled.
//!
//! [Laws of force](crate::law) and [external fields](crate::force::external) are such formulas. Each has its own
//! variables, an enumeration that implements `Variable`.
//!
//! The path of a formula: `tokens`, `parse` (a tree), `unit_check`, `derive` and `terms` (derivatives in a normal
//! form), `compile` (a straight-line program of [operations](op::Op)), `differences` (derivatives against differences). `functions` has the elementary functions, with
//! the same bits on every machine.

pub(crate) mod compile;
pub(crate) mod derive;
pub(crate) mod differences;
pub mod dimension;
pub mod functions;
pub(crate) mod gamma;
pub(crate) mod mistake;
pub mod op;
pub(crate) mod parse;
pub(crate) mod slots;
pub(crate) mod symbols;
pub(crate) mod syntax;
pub(crate) mod terms;
mod tokens;
pub(crate) mod unit_check;

pub use mistake::Mistake;

use dimension::GravityDimension;

/// Parameter of a formula.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Name in the formula.
    pub name: String,
    /// Value in internal units.
    pub value: f64,
    /// Dimension.
    pub dimension: GravityDimension,
}
