//! Models whose particles are drawn at random.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use tisane::real;
use tisane::units::Real;

/// Settings of all sampled models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sampling {
    /// Number of stars, members of binaries counted one by one. Required unless a mass function fills a given total
    /// mass.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    pub n: Option<u32>,
    /// Seed of the random numbers: the same seed gives the same particles on any machine. Default: 1; in a list the
    /// number of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seed: Option<u64>,
    /// Total mass of the stars; unit: mass. Default: 1 in N-body units, required otherwise, unless a mass function gives
    /// it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mass: Option<Real>,
    /// Virial radius G M^2/(2|U|) of the sample; unit: length. Default: 1 in N-body units; otherwise one radius is required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) virial_radius: Option<Real>,
    /// Radius that holds half the mass of the sample, in place of another radius; unit: length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) half_mass_radius: Option<Real>,
    /// Size in the tide, above 0, in place of a radius: half-mass radius over the tidal radius of the mass at the start; king: the edge over
    /// it, 1 for a cluster that fills it. With `[orbit]` or one `[external.tide]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tidal_filling: Option<Real>,
    /// Virial ratio: kinetic energy over |potential energy|, from 0 (all at rest) to below 1. Default: 1/2,
    /// equilibrium; uniform-sphere: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) virial_ratio: Option<Real>,
}

impl Sampling {
    /// Returns the seed of the random numbers.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }

    /// Returns the total mass of the stars, if it is given; unit: mass.
    #[must_use]
    pub fn mass(&self) -> Option<f64> {
        self.mass.map(Real::get)
    }
}

/// Key of the size in the tide.
pub(crate) const TIDAL_FILLING: &str = "tidal_filling";

/// Plummer (1911) sphere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Plummer {
    /// Settings of all sampled models.
    #[serde(flatten)]
    pub sampling: Sampling,
    /// Plummer's length a of the density (1 + r^2/a^2)^(-5/2), in place of another radius; unit: length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) scale_radius: Option<Real>,
    /// Share of the model's mass inside the cut-off radius, above 0 and at most 1.
    #[serde(default = "plummer_share")]
    pub mass_fraction: Real,
}

const fn plummer_share() -> Real {
    real!(0.999)
}

/// King (1966) model: a Maxwellian lowered to zero at the tidal radius.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct King {
    /// Settings of all sampled models.
    #[serde(flatten)]
    pub sampling: Sampling,
    /// Central potential over the squared velocity parameter, 0.1 to 12.
    pub w0: Real,
    /// King's core radius (9 sigma^2/(4 pi G rho_0))^(1/2), in place of another radius; unit: length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) core_radius: Option<Real>,
    /// Radius at which the density falls to zero, in place of another radius; unit: length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tidal_radius: Option<Real>,
}

/// Hernquist (1990) model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Hernquist {
    /// Settings of all sampled models.
    #[serde(flatten)]
    pub sampling: Sampling,
    /// Hernquist's length a of the density 1/(r (r + a)^3), in place of another radius; unit: length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) scale_radius: Option<Real>,
    /// Share of the model's mass inside the cut-off radius, above 0 and at most 1.
    #[serde(default = "hernquist_share")]
    pub mass_fraction: Real,
}

const fn hernquist_share() -> Real {
    real!(0.99)
}

/// Profile of Elson, Fall & Freeman (1987), or with an inner slope a Nuker profile (Lauer et al. 1995).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Eff {
    /// Settings of all sampled models.
    #[serde(flatten)]
    pub sampling: Sampling,
    /// Length a of the surface density (1 + R^2/a^2)^(-outer_slope/2), in place of another radius; unit: length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) scale_radius: Option<Real>,
    /// Slope of the surface density at large radii, above 1 and at most 10: the gamma of Elson, Fall & Freeman.
    #[serde(default = "outer_slope")]
    pub outer_slope: Real,
    /// Slope of the surface density in the centre, from 0 to below 1.
    #[serde(default = "inner_slope")]
    pub inner_slope: Real,
    /// Sharpness of the transition between the slopes, from 1/2 to 10.
    #[serde(default = "sharpness")]
    pub sharpness: Real,
    /// Cut-off radius, in scale radii, from 1 to 10000.
    #[serde(default = "cut_off")]
    pub cut_off: Real,
}

const fn outer_slope() -> Real {
    real!(2.5)
}

const fn inner_slope() -> Real {
    real!(0.0)
}

const fn sharpness() -> Real {
    real!(2.0)
}

const fn cut_off() -> Real {
    real!(20.0)
}

/// Sphere of constant density, cold or at a virial ratio.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct UniformSphere {
    /// Settings of all sampled models.
    #[serde(flatten)]
    pub sampling: Sampling,
    /// Radius; unit: length. Default: 1 in N-body units; otherwise one radius is required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) radius: Option<Real>,
}

/// Fractal clumps inside a sphere (Goodwin & Whitworth 2004).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Fractal {
    /// Settings of all sampled models.
    #[serde(flatten)]
    pub sampling: Sampling,
    /// Radius of the sphere, in place of another radius; unit: length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) radius: Option<Real>,
    /// Fractal dimension, from 1 (stringy clumps) to 3 (a uniform sphere).
    pub dimension: Real,
}

/// Radius that sets the size of a sample; unit: length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// The virial radius.
    Virial(Real),
    /// The half-mass radius.
    HalfMass(Real),
    /// The length of the model with this key.
    Own(&'static str, Real),
}

/// Sampled model: its name, its settings, and its own lengths.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampled<'a> {
    /// Name of its section.
    pub name: &'static str,
    /// Settings of all sampled models.
    pub sampling: &'a Sampling,
    /// Lengths of the model by their keys.
    pub lengths: Vec<(&'static str, Option<Real>)>,
    pub(super) default_size: Size,
    pub(super) default_virial_ratio: Real,
}

impl Sampled<'_> {
    /// Returns what sets the size, by its key: the three of any sample, then the lengths of the model.
    pub(crate) fn radii(&self) -> Vec<(&'static str, Option<Real>)> {
        let of = self.sampling;
        let of_samples = [
            ("virial_radius", of.virial_radius),
            ("half_mass_radius", of.half_mass_radius),
            (TIDAL_FILLING, of.tidal_filling),
        ];
        of_samples.into_iter().chain(self.lengths.iter().copied()).collect()
    }

    /// Returns the radius that is given, or else the default in N-body units; [`None`] where the size follows from the tide.
    #[must_use]
    pub fn size(&self) -> Option<Size> {
        if self.sampling.tidal_filling.is_some() {
            return None;
        }
        let given = self.radii().into_iter().find_map(|(key, value)| Some((key, value?)));
        Some(match given {
            Some(("virial_radius", value)) => Size::Virial(value),
            Some(("half_mass_radius", value)) => Size::HalfMass(value),
            Some((key, value)) => Size::Own(key, value),
            None => self.default_size,
        })
    }

    /// Returns kinetic energy over |potential energy|.
    #[must_use]
    pub fn virial_ratio(&self) -> f64 {
        self.sampling.virial_ratio.unwrap_or(self.default_virial_ratio()).get()
    }

    /// Returns the default virial ratio of the model.
    pub(crate) const fn default_virial_ratio(&self) -> Real {
        self.default_virial_ratio
    }
}
