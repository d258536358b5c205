//! Fields as sums of parts that a device evaluates by itself, in block steps that it takes by itself.

use super::formula::force_program::ForceProgram;
use crate::particles::Vec3;
use std::sync::Arc;

/// Largest number of parts: a thread block has a warp for each.
const MAX_PARTS: usize = 24;

/// Field that a device can evaluate, with its part in a sum.
#[derive(Clone, Debug, PartialEq)]
pub enum Summand {
    /// One part.
    Part(FieldPart),
    /// Sum in this order.
    Sum(Vec<Summand>),
}

impl Summand {
    /// Returns the number of parts.
    fn parts(&self) -> usize {
        match self {
            Self::Part(_) => 1,
            Self::Sum(all) => all.iter().map(Self::parts).sum(),
        }
    }
}

/// Part of a field, in internal units.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldPart {
    /// Program of a formula.
    Formula {
        /// Place to which the program's is relative.
        position: Vec3,
        /// Program.
        program: Arc<ForceProgram>,
    },
    /// Plummer sphere.
    Sphere {
        /// Mass.
        mass: f64,
        /// Centre.
        position: Vec3,
        /// Square of the scale radius.
        eps2: f64,
    },
}

/// Field of block steps on a device.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldParts {
    /// What acts on the origin of coordinates too.
    pub field: Summand,
    /// What moves with the origin.
    pub carried: Option<Summand>,
}

impl FieldParts {
    /// Returns the parts of a field that acts on the origin of coordinates too, and of one that moves with the origin; [`None`] for more
    /// than a device can sum.
    #[must_use]
    pub fn new(field: Summand, carried: Option<Summand>) -> Option<Self> {
        let found = Self { field, carried };
        (1..=MAX_PARTS).contains(&found.number()).then_some(found)
    }

    /// Returns the number of parts.
    #[must_use]
    pub fn number(&self) -> usize {
        self.field.parts() + self.carried.as_ref().map_or(0, Summand::parts)
    }
}

#[cfg(test)]
mod tests;
