//! Changes of the subsystems.

use crate::encounters::motion::touched::Touched;

/// Change of the subsystems.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Two units become one subsystem; those that are subsystems may stay one body each.
    Join([usize; 2], [bool; 2]),
    /// The subsystem of a unit splits in two; bodies of the first part, as places in its list.
    Split(usize, Vec<usize>),
    /// Members of the inner subsystem at a place become bodies of the subsystem of a unit.
    Open(usize, usize),
    /// Two bodies of the subsystem of a unit become one.
    Close(usize, [usize; 2]),
    /// The pair of a unit becomes one star.
    Merge(usize),
    /// Two stars of two units become one.
    Unite([usize; 2], Box<Touched>),
}

impl Change {
    /// Returns the split of the subsystem of a unit into some bodies and the others.
    pub(crate) fn split(body: usize, first: &[usize]) -> Self {
        let mut first = first.to_vec();
        first.sort_unstable();
        Self::Split(body, first)
    }

    /// Returns true if two stars become one.
    pub const fn is_merger(&self) -> bool {
        matches!(self, Self::Merge(_) | Self::Unite(..))
    }

    /// Returns the units that end.
    pub fn bodies(&self) -> &[usize] {
        match self {
            Self::Join(bodies, _) | Self::Unite(bodies, _) => bodies,
            Self::Split(body, _) | Self::Open(body, _) | Self::Close(body, _) | Self::Merge(body) => {
                std::slice::from_ref(body)
            }
        }
    }
}
