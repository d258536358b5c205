//! Changes of the subsystems.

use crate::encounters::motion::evolved::Evolved;
use crate::encounters::motion::touched::Touched;

/// Change of the subsystems.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Two bodies become one subsystem; those that are subsystems may stay one member each.
    Join([usize; 2], [bool; 2]),
    /// The subsystem of a body splits in two; members of the first part, as places in its list.
    Split(usize, Vec<usize>),
    /// Members of the inner subsystem at a place become members of the subsystem of a body.
    Open(usize, usize),
    /// Two members of the subsystem of a body become one.
    Close(usize, [usize; 2]),
    /// The pair of a body becomes one star.
    Merge(usize),
    /// Two stars of two bodies become one.
    Unite([usize; 2], Box<Touched>),
    /// Stars of the subsystem of a body evolve.
    Evolve(usize, Box<Evolved>),
}

impl Change {
    /// Returns the split of the subsystem of a body into some members and the others.
    pub(crate) fn split(body: usize, first: &[usize]) -> Self {
        let mut first = first.to_vec();
        first.sort_unstable();
        Self::Split(body, first)
    }

    /// Returns true if two stars become one.
    pub const fn is_merger(&self) -> bool {
        matches!(self, Self::Merge(_) | Self::Unite(..))
    }

    /// Returns true if it changes stars, and not who is with whom.
    pub const fn is_of_stars(&self) -> bool {
        self.is_merger() || matches!(self, Self::Evolve(..))
    }

    /// Returns the bodies that end.
    pub fn bodies(&self) -> &[usize] {
        match self {
            Self::Join(bodies, _) | Self::Unite(bodies, _) => bodies,
            Self::Split(body, _)
            | Self::Open(body, _)
            | Self::Close(body, _)
            | Self::Merge(body)
            | Self::Evolve(body, _) => std::slice::from_ref(body),
        }
    }
}
