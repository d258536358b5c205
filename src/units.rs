//! Units: what the user writes, and the internal scale (G = 1, values near 1).

use serde::{Deserialize, Serialize};

/// What a quantity is made of, as powers of the four units a user names. `time` is apart from `length / velocity`, because
/// people write velocities in km/s and times in Myr.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dimension {
    /// Power of mass.
    pub mass: i32,
    /// Power of length.
    pub length: i32,
    /// Power of velocity.
    pub velocity: i32,
    /// Power of time.
    pub time: i32,
}

impl Dimension {
    const fn new(mass: i32, length: i32, velocity: i32, time: i32) -> Self {
        Self { mass, length, velocity, time }
    }
    /// A pure number.
    pub const NONE: Self = Self::new(0, 0, 0, 0);
    /// Mass.
    pub const MASS: Self = Self::new(1, 0, 0, 0);
    /// Length.
    pub const LENGTH: Self = Self::new(0, 1, 0, 0);
    /// Velocity.
    pub const VELOCITY: Self = Self::new(0, 0, 1, 0);
    /// Time.
    pub const TIME: Self = Self::new(0, 0, 0, 1);
    /// Acceleration, velocity² / length.
    pub const ACCELERATION: Self = Self::new(0, -1, 2, 0);
    /// Potential per unit mass, velocity².
    pub const POTENTIAL: Self = Self::new(0, 0, 2, 0);
    /// Energy, mass · velocity².
    pub const ENERGY: Self = Self::new(1, 0, 2, 0);
    /// Momentum.
    pub const MOMENTUM: Self = Self::new(1, 0, 1, 0);
    /// Angular momentum, mass · length · velocity.
    pub const ANGULAR_MOMENTUM: Self = Self::new(1, 1, 1, 0);
}

/// The user's value of one internal unit (in which G = 1): `user = internal × scale`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
    /// The user works in units with G = 1 already: nothing is scaled.
    pub const IDENTITY: Self = Self { mass: 1.0, length: 1.0, velocity: 1.0, time: 1.0 };

    /// The user's value of one internal unit of a quantity.
    #[must_use]
    pub fn of(&self, d: Dimension) -> f64 {
        self.mass.powi(d.mass) * self.length.powi(d.length) * self.velocity.powi(d.velocity) * self.time.powi(d.time)
    }
}
