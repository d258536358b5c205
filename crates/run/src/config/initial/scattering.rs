//! Encounters of a binary with a single star.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::population::Eccentricity;
use tisane::initial::binaries::Eccentricities;
use tisane::initial::binary_single::largest_impact_parameter;
use tisane::real;
use tisane::units::Real;

/// Binary and a single star that approaches it from infinity. The seed draws impact parameter, orientation and phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BinarySingle {
    /// Mass of the first star of the binary; unit: mass. Default: 1/2 in N-body units, required otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) m1: Option<Real>,
    /// Mass of the second star of the binary; unit: mass. Default: 1/2 in N-body units, required otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) m2: Option<Real>,
    /// Mass of the single star; unit: mass. Default: 1/2 in N-body units, required otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) m3: Option<Real>,
    /// Semi-major axis of the binary; unit: length. Default: 1 in N-body units, required otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) semi_major_axis: Option<Real>,
    /// Law of the binary's eccentricity.
    #[serde(default = "circular")]
    pub eccentricity: Eccentricity,
    /// Eccentricity of the binary, from 0 to below 1; with eccentricity = "fixed" only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) e: Option<Real>,
    /// Relative velocity at infinity over the critical velocity, at which the total energy is zero; above 0.
    pub velocity: Real,
    /// Largest impact parameter, in semi-major axes, above 0; squares are uniform up to its square. Default: 4/velocity +
    /// 0.6 (1 + e), with e = 1 for a law (Hut & Bahcall 1983).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) impact_parameter: Option<Real>,
    /// Tidal force on the binary at the start, relative to the force between its stars at apocentre; above 0 and below 1.
    #[serde(default = "tidal_tolerance")]
    pub tidal_tolerance: Real,
    /// Seed of the random numbers: the same seed gives the same encounter on any machine. Default: 1; in a list the number
    /// of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seed: Option<u64>,
}

const fn circular() -> Eccentricity {
    Eccentricity::Circular
}

const fn tidal_tolerance() -> Real {
    real!(1e-5)
}

impl BinarySingle {
    /// Default mass of each star.
    pub(crate) const MASS: Real = real!(0.5);
    /// Default semi-major axis.
    pub(crate) const SEMI_MAJOR_AXIS: Real = real!(1.0);

    /// Returns the masses of the binary's stars and of the single star; unit: mass.
    #[must_use]
    pub fn masses(&self) -> [f64; 3] {
        [self.m1, self.m2, self.m3].map(|m| m.unwrap_or(Self::MASS).get())
    }

    /// Returns the semi-major axis of the binary; unit: length.
    #[must_use]
    pub fn semi_major_axis(&self) -> f64 {
        self.semi_major_axis.unwrap_or(Self::SEMI_MAJOR_AXIS).get()
    }

    /// Returns the distribution of the binary's eccentricity.
    #[must_use]
    pub fn eccentricities(&self) -> Eccentricities {
        self.eccentricity.law(self.e.map_or(0.0, Real::get))
    }

    /// Returns the largest impact parameter, in semi-major axes. Its default is that of the largest eccentricity: it is the same
    /// for every seed, as a cross section needs it.
    #[must_use]
    pub fn impact_parameter(&self) -> f64 {
        let largest = match self.eccentricities() {
            Eccentricities::Fixed(e) => e,
            Eccentricities::Thermal | Eccentricities::Uniform => 1.0,
        };
        self.impact_parameter.map_or_else(|| largest_impact_parameter(self.velocity.get(), largest), Real::get)
    }

    /// Returns the seed of the random numbers.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }
}
