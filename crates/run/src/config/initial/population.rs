//! Stars of a sampled model: masses, binaries, segregation, rotation, a central body.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use tisane::initial::binaries::Eccentricities;
use tisane::real;
use tisane::units::Real;

/// Masses of the stars.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Masses {
    /// Mass function.
    pub function: MassFunction,
    /// Smallest mass, above 0; unit: Msun, in any system of units. Default: salpeter 0.1, kroupa 0.08, maschberger
    /// 0.01.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) m_min: Option<Real>,
    /// Largest mass, above m_min; unit: Msun, in any system of units. Default: salpeter and kroupa 100, maschberger
    /// 150.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) m_max: Option<Real>,
    /// Slopes of a power law, from the smallest masses up: the a of dN/dm ~ m^(-a); with power-law only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slopes: Vec<Real>,
    /// Masses at which the slope changes, one fewer than slopes; unit: Msun.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub breaks: Vec<Real>,
    /// Path of a text file with one mass per line, relative to the directory of this configuration; unit: mass; with
    /// file only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
}

/// Mass function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MassFunction {
    /// Equal masses.
    Equal,
    /// Power law of slope 2.35 (Salpeter 1955).
    Salpeter,
    /// Slopes 0.3, 1.3 and 2.3 with breaks at 0.08 and 0.5 Msun (Kroupa 2001).
    Kroupa,
    /// Function L3 with alpha = 2.3, beta = 1.4, mu = 0.2 Msun (Maschberger 2013).
    Maschberger,
    /// Power law of one or more slopes.
    PowerLaw,
    /// Masses from a file.
    File,
}

impl Masses {
    /// Returns the smallest and largest mass in Msun; [`None`] for a function without limits.
    #[must_use]
    pub fn limits(&self) -> Option<(f64, f64)> {
        let (min, max) = self.default_limits()?;
        Some((self.m_min.unwrap_or(min).get(), self.m_max.unwrap_or(max).get()))
    }

    /// Returns the default limits in Msun; zeros for a power law, which has none.
    pub(crate) const fn default_limits(&self) -> Option<(Real, Real)> {
        match self.function {
            MassFunction::Equal | MassFunction::File => None,
            MassFunction::Salpeter => Some((real!(0.1), real!(100.0))),
            MassFunction::Kroupa => Some((real!(0.08), real!(100.0))),
            MassFunction::Maschberger => Some((real!(0.01), real!(150.0))),
            MassFunction::PowerLaw => Some((real!(0.0), real!(0.0))),
        }
    }

    /// Returns the path of the file of masses, which is absolute in a resolved configuration.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref().map(Path::new)
    }
}

/// Primordial binaries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Binaries {
    /// Share of the systems (single stars and binaries) that are binaries, from 0 to 1.
    pub fraction: Real,
    /// Rule by which stars are paired.
    #[serde(default)]
    pub pairing: Pairing,
    /// Mass above which pairing is ordered or by mass ratio; below it, it is random; unit: Msun, in any system of
    /// units.
    #[serde(default = "massive")]
    pub pairing_above: Real,
    /// Law of the semi-major axes.
    #[serde(default)]
    pub semi_major_axis: SemiMajorAxis,
    /// Smallest semi-major axis; unit: length. Required with opik and uniform, otherwise optional.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) a_min: Option<Real>,
    /// Largest semi-major axis; unit: length. Required with opik and uniform, otherwise optional.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) a_max: Option<Real>,
    /// Law of the eccentricities.
    #[serde(default)]
    pub eccentricity: Eccentricity,
    /// Eccentricity of all binaries, from 0 to below 1; with eccentricity = "fixed" only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) e: Option<Real>,
    /// Eigenevolution before the main sequence: close pairs become circular, and their secondaries gain mass (Kroupa 1995); units by
    /// name.
    #[serde(default)]
    pub eigenevolution: bool,
}

const fn massive() -> Real {
    real!(5.0)
}

impl Binaries {
    /// Returns the smallest and largest semi-major axis, if they are given; unit: length.
    #[must_use]
    pub fn axes(&self) -> (Option<f64>, Option<f64>) {
        (self.a_min.map(Real::get), self.a_max.map(Real::get))
    }

    /// Returns the eccentricity of all binaries, or 0 if it is not fixed.
    #[must_use]
    pub fn e(&self) -> f64 {
        self.e.map_or(0.0, Real::get)
    }
}

/// Rule by which stars are paired. Pairing never changes a mass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pairing {
    /// Random pairs.
    #[default]
    Random,
    /// Massive stars in the order of their masses: the first with the second, the third with the fourth (Oh, Kroupa &
    /// Pflamm-Altenburg 2015).
    Ordered,
    /// Massive stars with the star nearest to a mass ratio drawn uniformly from 0.1 to 1 (Sana et al. 2012).
    UniformRatio,
}

/// Law of the semi-major axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SemiMajorAxis {
    /// Uniform in log a (Opik 1924).
    #[default]
    Opik,
    /// Uniform in a.
    Uniform,
    /// Birth periods of Kroupa (1995), 10 to 10^8.43 days; units by name.
    Kroupa,
    /// Log-normal periods of Duquennoy & Mayor (1991), 1 to 10^10 days; units by name.
    DuquennoyMayor,
}

/// Law of the eccentricities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Eccentricity {
    /// Density 2e (Jeans 1919).
    #[default]
    Thermal,
    /// Uniform from 0 to 1.
    Uniform,
    /// Circular orbits.
    Circular,
    /// One eccentricity for all binaries, the key e.
    Fixed,
}

impl Eccentricity {
    /// Returns the distribution that a law stands for; `e` is the fixed eccentricity.
    #[must_use]
    pub const fn law(self, e: f64) -> Eccentricities {
        match self {
            Self::Thermal => Eccentricities::Thermal,
            Self::Uniform => Eccentricities::Uniform,
            Self::Circular => Eccentricities::Fixed(0.0),
            Self::Fixed => Eccentricities::Fixed(e),
        }
    }
}

/// Primordial mass segregation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Segregation {
    /// Degree of segregation, from 0 (none) to 1 (the order of masses is the order of binding energies).
    pub degree: Real,
}

/// Rotation about the z axis, in the positive sense.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rotation {
    /// Share of the stars with negative L_z whose azimuthal velocity is reversed, from 0 to 1 (Lynden-Bell 1960).
    #[serde(default = "none")]
    pub flip: Real,
    /// Share of the kinetic energy in solid-body rotation, from 0 to below 1.
    #[serde(default = "none")]
    pub solid_body: Real,
}

const fn none() -> Real {
    real!(0.0)
}

/// Massive body in the centre; the velocities of the stars are in equilibrium with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Central {
    /// Mass of the body, above 0, in addition to that of the stars; unit: mass.
    pub mass: Real,
}
