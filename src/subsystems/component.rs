//! Stars and bodies of a subsystem by ids, and the orbit of a pair.

use std::fmt;

/// Star, or bodies that move about each other, by ids. Written as `7`, `(3+7)`, `((3+7)+12)`, `(3+7+12)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Component {
    /// Star.
    Star(u64),
    /// Two or more bodies, in the order of their smallest ids.
    Several(Vec<Component>),
}

impl Component {
    /// Returns the smallest id.
    #[must_use]
    pub fn first(&self) -> u64 {
        match self {
            Self::Star(id) => *id,
            Self::Several(parts) => parts.iter().map(Self::first).min().unwrap_or(u64::MAX),
        }
    }

    /// Returns the ids of all stars, in the order in which they are written.
    #[must_use]
    pub fn ids(&self) -> Vec<u64> {
        match self {
            Self::Star(id) => vec![*id],
            Self::Several(parts) => parts.iter().flat_map(Self::ids).collect(),
        }
    }

    /// Returns true for a star.
    #[must_use]
    pub const fn is_star(&self) -> bool {
        matches!(self, Self::Star(_))
    }
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Star(id) => write!(f, "{id}"),
            Self::Several(parts) => {
                for (k, part) in parts.iter().enumerate() {
                    write!(f, "{}{part}", if k == 0 { '(' } else { '+' })?;
                }
                write!(f, ")")
            }
        }
    }
}

/// Kepler orbit of two bodies, in internal units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairOrbit {
    /// Masses of the bodies, that with the smaller id first.
    pub mass: [f64; 2],
    /// Semi-major axis; negative where they are not bound.
    pub semi_major_axis: f64,
    /// Eccentricity.
    pub eccentricity: f64,
    /// Period; NaN where they are not bound.
    pub period: f64,
}
