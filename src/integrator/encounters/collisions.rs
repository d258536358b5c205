//! Collisions of stars and escapes: treatment, and the data of their events.

use crate::stellar::main_sequence_radius;
use std::ops::AddAssign;
use tisane_force::particles::Vec3;

/// What happens where two stars touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum CollisionAction {
    /// The integration ends after the block step.
    Stop,
    /// The contact is recorded; the stars go on as point masses.
    Record,
    /// The two become one star.
    Merge,
}

/// Radius of the star that two become.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RadiusLaw {
    /// Volumes add up: R³ = R₁³ + R₂³.
    Volume,
    /// That of the zero-age main sequence for the sum of the masses, with the internal units of mass and length in solar masses
    /// and radii.
    MainSequence {
        /// Unit of mass.
        mass: f64,
        /// Unit of length.
        length: f64,
    },
}

impl RadiusLaw {
    /// Returns the radius of a star of this mass on the main sequence; [`None`] with volumes.
    #[must_use]
    pub fn radius(self, mass: f64) -> Option<f64> {
        match self {
            Self::Volume => None,
            Self::MainSequence { mass: of_mass, length } => Some(main_sequence_radius(mass * of_mass) / length),
        }
    }

    /// Returns the radius of the star that two with these radii become.
    pub(super) fn merged(self, mass: f64, [a, b]: [f64; 2]) -> f64 {
        self.radius(mass).unwrap_or_else(|| super::surroundings::cube_root(a * a * a + b * b * b))
    }
}

/// Treatment of stars that touch: whose distance falls below the sum of their radii.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collisions {
    /// What happens.
    pub action: CollisionAction,
    /// Radius of the star that two become.
    pub law: RadiusLaw,
}

/// What happens with a star that escapes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum EscapeAction {
    /// It is taken out.
    #[default]
    Remove,
    /// The escape is recorded; the star goes on.
    Record,
}

/// Distance from the centre of mass beyond which stars of positive energy escape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EscapeRadius {
    /// Length, in internal units.
    Length(f64),
    /// Number of half-mass radii at that moment, of those that have not escaped; a subsystem counts as one body.
    HalfMassRadii(f64),
}

/// Treatment of stars and subsystems of positive energy, in the frame of the centre of mass, far from it. They are looked for at
/// multiples of dt_max.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Escapes {
    /// What happens.
    pub action: EscapeAction,
    /// Distance.
    pub radius: EscapeRadius,
}

/// Treatment of stars that touch and of those that leave.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StarEvents {
    /// Collisions, if they are looked for; the particles have radii then.
    pub collisions: Option<Collisions>,
    /// Escapes, if they are looked for.
    pub escapes: Option<Escapes>,
}

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
    /// Energy per unit mass of the motion of their centre of mass in the frame of that of the system, which is positive.
    pub energy: f64,
    /// What the escape takes out of the system: nothing if it is only recorded.
    pub removed: Removed,
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
