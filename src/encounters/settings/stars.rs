//! Treatment of stars that touch and of those that leave the system.

use crate::encounters::cube_root::cube_root;
use crate::stellar::main_sequence_radius;

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
    pub(crate) fn merged(self, mass: f64, [a, b]: [f64; 2]) -> f64 {
        self.radius(mass).unwrap_or_else(|| cube_root(a * a * a + b * b * b))
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

/// Distance from the centre beyond which stars escape that have the energy to leave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EscapeRadius {
    /// Length, in internal units.
    Length(f64),
    /// Number of half-mass radii at that moment, of those that have not escaped; a subsystem counts as one body.
    HalfMassRadii(f64),
    /// Number of tidal radii at that moment, at least 1, of the mass within the tidal radius; in a tide only.
    TidalRadii(f64),
}

/// Treatment of stars and subsystems that leave: far from the centre of mass and with positive energy in its frame, or in a tide far
/// from the density centre and with more than the critical Jacobi energy. They are looked for at multiples of dt_max.
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
