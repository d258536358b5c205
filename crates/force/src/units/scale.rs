//! Scale of the internal units (G = 1, values near 1).

use super::dimension::Dimension;
use super::system::Units;

/// User's value of one internal unit (in which G = 1): `user = internal × scale`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Scale {
    /// User masses in one internal mass unit.
    pub mass: f64,
    /// User lengths in one internal length unit.
    pub length: f64,
    /// User velocities in one internal velocity unit.
    pub velocity: f64,
    /// User times in one internal time unit.
    pub time: f64,
}

impl Scale {
    /// Scale of units that have G = 1 already: nothing is scaled.
    pub const IDENTITY: Self = Self { mass: 1.0, length: 1.0, velocity: 1.0, time: 1.0 };

    /// Returns the scale of the internal units for a system of `total_mass` and `typical_length` (user units). N-body
    /// units stay as they are. Otherwise mass and length units are the powers of two nearest to the arguments, so that
    /// scaling masses and positions is exact; the velocity unit makes G = 1. An argument that is not positive and
    /// finite counts as 1.
    #[must_use]
    pub fn choose(units: &Units, total_mass: f64, typical_length: f64) -> Self {
        if units.is_henon() {
            return Self::IDENTITY;
        }
        let (mass, length) = (nearest_power_of_two(total_mass), nearest_power_of_two(typical_length));
        let velocity = (units.g() * mass / length).sqrt();
        let time = length / velocity * units.dynamical_time();
        Self { mass, length, velocity, time }
    }

    /// Returns the user's value of one internal unit of a quantity: the factor from internal to user values.
    #[must_use]
    pub fn factor(&self, d: Dimension) -> f64 {
        self.mass.powi(d.mass) * self.length.powi(d.length) * self.velocity.powi(d.velocity) * self.time.powi(d.time)
    }
}

/// Returns the power of two nearest to a positive normal number on a logarithmic scale; 1 for anything else. Computed
/// from the bits and not by a logarithm, so that it is the same on every machine.
#[must_use]
pub fn nearest_power_of_two(x: f64) -> f64 {
    if !x.is_normal() || x < 0.0 {
        return 1.0;
    }
    let floor = f64::from_bits(x.to_bits() & (0x7ff << 52));
    if x / floor < std::f64::consts::SQRT_2 { floor } else { floor * 2.0 }
}
