//! Errors of input that the fits do not cover.

use std::fmt;

/// Input outside of the range in which the fits hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Error {
    /// Name of the quantity, with its unit.
    pub quantity: &'static str,
    /// The value given.
    pub value: f64,
    /// Least valid value.
    pub least: f64,
    /// Greatest valid value.
    pub greatest: f64,
}

impl Error {
    /// Returns the value if it is a number within the bounds, and an error that names them if not.
    pub(crate) fn unless_within(quantity: &'static str, value: f64, bounds: (f64, f64)) -> Result<f64, Self> {
        let (least, greatest) = bounds;
        if value >= least && value <= greatest { Ok(value) } else { Err(Self { quantity, value, least, greatest }) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { quantity, value, least, greatest } = self;
        write!(f, "{quantity} is {value}, but must be ")?;
        if *greatest == f64::MAX { write!(f, "at least {least}") } else { write!(f, "from {least} to {greatest}") }
    }
}

impl std::error::Error for Error {}
