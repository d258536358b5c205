//! Variables of the formulas of fields.

use crate::formula::terms::Variable;

/// Variable of the formula of a field, or of its derivatives along a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FieldVariable {
    /// Coordinate relative to the centre, by its axis.
    Place(u8),
    /// Time.
    Time,
    /// Component of the velocity of a particle, by its axis.
    Velocity(u8),
}

impl FieldVariable {
    /// Returns the place among the variables that a program is given.
    pub fn index(self) -> usize {
        match self {
            Self::Place(axis) => usize::from(axis),
            Self::Time => 3,
            Self::Velocity(axis) => 4 + usize::from(axis),
        }
    }
}

impl Variable for FieldVariable {}
