//! Stars that touch, merge or leave the system.

use std::ops::AddAssign;
use tisane_force::particles::Vec3;

/// What an event takes out of the energy, the momentum and the angular momentum of a system, in internal units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Removed {
    /// Energy before less that after: negative for two bound stars that become one.
    pub energy: f64,
    /// Momentum.
    pub momentum: Vec3,
    /// Angular momentum about the origin.
    pub angular_momentum: Vec3,
    /// Mass.
    pub mass: f64,
    /// Sum of mass times position, moved back to the start of the run with the velocity.
    pub moment: Vec3,
}

impl Removed {
    /// Returns all numbers, for a checkpoint.
    #[must_use]
    pub fn numbers(&self) -> [f64; 11] {
        let ([px, py, pz], [lx, ly, lz]) = (self.momentum.into(), self.angular_momentum.into());
        let [x, y, z] = self.moment.into();
        [self.energy, px, py, pz, lx, ly, lz, self.mass, x, y, z]
    }

    /// Returns what has these numbers.
    #[must_use]
    pub fn from_numbers([energy, px, py, pz, lx, ly, lz, mass, x, y, z]: [f64; 11]) -> Self {
        let (momentum, angular_momentum) = (Vec3::new(px, py, pz), Vec3::new(lx, ly, lz));
        Self { energy, momentum, angular_momentum, mass, moment: Vec3::new(x, y, z) }
    }

    /// Returns the difference to another.
    #[must_use]
    pub(crate) fn less(&self, other: &Self) -> Self {
        let (own, other) = (self.numbers(), other.numbers());
        Self::from_numbers(std::array::from_fn(|k| own[k] - other[k]))
    }
}

impl AddAssign for Removed {
    fn add_assign(&mut self, other: Self) {
        self.energy += other.energy;
        self.momentum += other.momentum;
        self.angular_momentum += other.angular_momentum;
        self.mass += other.mass;
        self.moment += other.moment;
    }
}

/// Star that two became.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Merged {
    /// Id: that of the more massive one, of equal ones the lower.
    pub id: u64,
    /// Radius.
    pub radius: f64,
    /// What the merger takes out of the system.
    pub removed: Removed,
}

/// Contact of two stars, in internal units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collision {
    /// Ids, the star that stands first among the particles first.
    pub id: [u64; 2],
    /// Time of the contact, on the axis of the run.
    pub time: f64,
    /// Masses.
    pub mass: [f64; 2],
    /// Radii.
    pub radius: [f64; 2],
    /// Position and velocity of the centre of mass of the two.
    pub centre: [Vec3; 2],
    /// Position and velocity of the second relative to the first.
    pub relative: [Vec3; 2],
    /// Pericentre distance of their orbit about each other.
    pub pericentre: f64,
    /// The star that they became.
    pub merged: Option<Merged>,
}

/// Star, or stars of one subsystem, that left the system, in internal units.
#[derive(Clone, Debug, PartialEq)]
pub struct Escape {
    /// The stars, in the order of their ids.
    pub stars: Vec<Escaper>,
    /// Energy per unit mass of the motion of their centre of mass in the frame of that of the system, in a tide the Jacobi energy
    /// less the critical one: positive.
    pub energy: f64,
    /// What the escape takes out of the system: nothing if it is only recorded.
    pub removed: Removed,
}

/// Centre of mass of what left the system together, in internal units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TakenOut {
    /// Mass.
    pub mass: f64,
    /// Position.
    pub pos: Vec3,
    /// Velocity.
    pub vel: Vec3,
}

/// Star that left the system, in internal units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Escaper {
    /// Id.
    pub id: u64,
    /// Mass.
    pub mass: f64,
    /// Position.
    pub pos: Vec3,
    /// Velocity.
    pub vel: Vec3,
}
