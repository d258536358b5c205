//! Sections on collisions of stars and on escapers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tisane::encounters::{CollisionAction, EscapeAction};
use tisane::units::Real;

/// Collisions of stars, in runs with encounters: what happens where the distance of two falls below the sum of their radii.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Collisions")]
pub struct CollisionSettings {
    /// What happens where two stars touch.
    pub action: CollisionAction,
    /// Source of the radii.
    pub radii: Radii,
    /// With fixed: the radius of all stars, above 0; unit: length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius: Option<Real>,
}

/// Source of the radii of the stars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Radii {
    /// The file of the particles.
    Input,
    /// Zero-age main sequence of solar metallicity, by the masses (Tout et al. 1996); in units by name.
    MainSequence,
    /// The stars that evolve, by `[stellar_evolution]`.
    Evolution,
    /// One radius for all.
    Fixed,
}

/// Escapers, in runs with encounters: stars of positive energy far from the centre of mass; in a tide, with `[orbit]` or
/// `[external.tide]`, stars beyond the tidal radius with the energy to leave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Escapers {
    /// What happens with a star that escapes; default: remove, in a tide record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<EscapeAction>,
    /// Distance from the centre of mass beyond which a star of positive energy escapes, above 0; unit: length. Either this or
    /// `half_mass_radii`; not in a tide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius: Option<Real>,
    /// That distance in half-mass radii of the moment, above 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_mass_radii: Option<Real>,
    /// In a tide: distance from the density centre, in tidal radii of the moment, beyond which a star escapes whose Jacobi energy is
    /// above the critical one, at least 1; default: 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tidal_radii: Option<Real>,
}
