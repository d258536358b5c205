//! Dimensions of quantities with G = 1.
//!
//! With G = 1 a time is a length^(3/2) mass^(−1/2), so that every quantity is a power of mass times a power of length:
//! an energy is M² / L, an acceleration M / L², a velocity √(M / L).

use std::fmt;

/// Power of mass and power of length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GravityDimension {
    /// Power of mass.
    pub mass: f64,
    /// Power of length.
    pub length: f64,
}

impl GravityDimension {
    /// Dimension of a pure number.
    pub const NONE: Self = Self::new(0.0, 0.0);
    /// Dimension of a mass.
    pub const MASS: Self = Self::new(1.0, 0.0);
    /// Dimension of a length.
    pub const LENGTH: Self = Self::new(0.0, 1.0);
    /// Dimension of an energy.
    pub const ENERGY: Self = Self::new(2.0, -1.0);
    /// Dimension of a potential per unit mass, a velocity squared.
    pub const POTENTIAL: Self = Self::new(1.0, -1.0);
    /// Dimension of a velocity.
    pub const VELOCITY: Self = Self::new(0.5, -0.5);
    /// Dimension of a time.
    pub const TIME: Self = Self::new(-0.5, 1.5);
    /// Dimension of an acceleration.
    pub const ACCELERATION: Self = Self::new(1.0, -2.0);

    /// Creates a dimension from powers of mass and length.
    #[must_use]
    pub const fn new(mass: f64, length: f64) -> Self {
        Self { mass, length }
    }

    /// Creates a dimension from powers of mass, length and time.
    #[must_use]
    pub fn with_time(mass: f64, length: f64, time: f64) -> Self {
        Self::new(mass - 0.5 * time, length + 1.5 * time)
    }

    pub(crate) fn times(self, other: Self, power: f64) -> Self {
        Self::new(self.mass + power * other.mass, self.length + power * other.length)
    }

    pub(crate) fn same(self, other: Self) -> bool {
        (self.mass - other.mass).abs() < 1e-9 && (self.length - other.length).abs() < 1e-9
    }
}

impl fmt::Display for GravityDimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (Self::NONE, "a pure number"),
            (Self::MASS, "a mass"),
            (Self::LENGTH, "a length"),
            (Self::ENERGY, "an energy"),
            (Self::ACCELERATION, "an acceleration"),
            (Self::VELOCITY, "a velocity"),
            (Self::POTENTIAL, "a velocity² (an energy per mass)"),
            (Self::TIME, "a time"),
        ];
        if let Some((_, name)) = names.iter().find(|(dimension, _)| dimension.same(*self)) {
            return f.write_str(name);
        }
        write!(f, "mass^{} length^{} (with G = 1)", self.mass, self.length)
    }
}
