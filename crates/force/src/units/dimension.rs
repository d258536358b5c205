//! Dimensions of quantities.

/// Dimension of a quantity, as powers of the four units that a user names. `time` is separate from `length / velocity`,
/// because velocities are commonly in km/s and times in Myr.
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
    /// Dimension of a pure number.
    pub const NONE: Self = Self::new(0, 0, 0, 0);
    /// Dimension of a mass.
    pub const MASS: Self = Self::new(1, 0, 0, 0);
    /// Dimension of a length.
    pub const LENGTH: Self = Self::new(0, 1, 0, 0);
    /// Dimension of a velocity.
    pub const VELOCITY: Self = Self::new(0, 0, 1, 0);
    /// Dimension of a time.
    pub const TIME: Self = Self::new(0, 0, 0, 1);
    /// Dimension of a density, mass / length³.
    pub const DENSITY: Self = Self::new(1, -3, 0, 0);
    /// Dimension of an acceleration, velocity² / length.
    pub const ACCELERATION: Self = Self::new(0, -1, 2, 0);
    /// Dimension of the derivative of an acceleration of this order, velocity² / length and, for each order, velocity / length.
    #[must_use]
    pub const fn of_derivative(order: i32) -> Self {
        Self::new(0, -1 - order, 2 + order, 0)
    }
    /// Dimension of a potential per unit mass, velocity².
    pub const POTENTIAL: Self = Self::new(0, 0, 2, 0);
    /// Dimension of an energy, mass · velocity².
    pub const ENERGY: Self = Self::new(1, 0, 2, 0);
    /// Dimension of a momentum, mass · velocity.
    pub const MOMENTUM: Self = Self::new(1, 0, 1, 0);
    /// Dimension of an angular momentum, mass · length · velocity.
    pub const ANGULAR_MOMENTUM: Self = Self::new(1, 1, 1, 0);
}
