//! The initial models as they are written: exactly one `[initial.<model>]` section.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::number::Real;

/// Where the particles come from: exactly one model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Initial {
    /// Plummer sphere with equal masses in virial equilibrium (Aarseth, Henon & Wielen 1974).
    Plummer(Plummer),
    /// Sphere of constant density with equal masses, cold or at a virial ratio.
    UniformSphere(UniformSphere),
    /// Particles from a file.
    File(FileModel),
    /// Two bodies on a Kepler orbit.
    TwoBody(TwoBody),
    /// Three equal masses on the figure-eight orbit (Chenciner & Montgomery 2000); Henon units.
    FigureEight {},
    /// Masses 3, 4, 5 at rest in the corners of a right triangle (Burrau 1913); Henon units.
    Pythagorean {},
    /// Sun and planets at J2000 from published elements; units by name.
    SolarSystem {},
}

/// Plummer sphere with equal masses in virial equilibrium (Aarseth, Henon & Wielen 1974).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plummer {
    /// Number of particles.
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    pub n: u32,
    /// Seed of the random numbers: the same seed gives the same particles on any machine.
    #[serde(default = "one")]
    pub seed: u64,
    /// Share of the model's mass inside the cut-off radius, above 0 and at most 1.
    #[serde(default = "mass_fraction")]
    pub mass_fraction: Real,
    /// Total mass; unit: mass. Default: 1 in Henon units, required otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mass: Option<Real>,
    /// Virial radius; unit: length. Default: 1 in Henon units, required otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) virial_radius: Option<Real>,
}

const fn one() -> u64 {
    1
}

const fn mass_fraction() -> Real {
    Real::new(0.999)
}

impl Initial {
    /// Number of particles, with the key that says it, and the seed of a sampled model; [`None`] for any other.
    #[must_use]
    pub fn sampled(&self) -> Option<(u32, &'static str, u64)> {
        match self {
            Self::Plummer(model) => Some((model.n, "initial.plummer.n", model.seed)),
            Self::UniformSphere(model) => Some((model.n, "initial.uniform-sphere.n", model.seed)),
            Self::File(_) | Self::TwoBody(_) | Self::FigureEight {} | Self::Pythagorean {} | Self::SolarSystem {} => {
                None
            }
        }
    }
}

impl Plummer {
    /// Total mass; unit: mass.
    #[must_use]
    pub fn mass(&self) -> f64 {
        self.mass.map_or(1.0, Real::get)
    }

    /// Virial radius; unit: length.
    #[must_use]
    pub fn virial_radius(&self) -> f64 {
        self.virial_radius.map_or(1.0, Real::get)
    }
}

/// Sphere of constant density with equal masses, cold or at a virial ratio.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniformSphere {
    /// Number of particles.
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    pub n: u32,
    /// Seed of the random numbers: the same seed gives the same particles on any machine.
    #[serde(default = "one")]
    pub seed: u64,
    /// Kinetic energy over |potential energy|, from 0 (all at rest) to below 1; 1/2 is virial equilibrium as a whole.
    #[serde(default = "cold")]
    pub virial_ratio: Real,
    /// Total mass; unit: mass. Default: 1 in Henon units, required otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mass: Option<Real>,
    /// Radius; unit: length. Default: 1 in Henon units, required otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) radius: Option<Real>,
}

const fn cold() -> Real {
    Real::new(0.0)
}

impl UniformSphere {
    /// Total mass; unit: mass.
    #[must_use]
    pub fn mass(&self) -> f64 {
        self.mass.map_or(1.0, Real::get)
    }

    /// Radius; unit: length.
    #[must_use]
    pub fn radius(&self) -> f64 {
        self.radius.map_or(1.0, Real::get)
    }
}

/// Particles from a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileModel {
    /// The file; a relative path starts at the directory of this configuration.
    pub(super) path: String,
    /// Format of the file.
    #[serde(default)]
    pub format: Format,
}

impl FileModel {
    /// The file: absolute once the configuration has been read.
    #[must_use]
    pub fn path(&self) -> &Path {
        Path::new(&self.path)
    }
}

/// A format of particle files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Recognised from the content.
    #[default]
    Auto,
    /// Snapshot written by tisane (HDF5).
    Tisane,
    /// Text with the columns m,x,y,z,vx,vy,vz and perhaps id.
    Csv,
    /// Text with 7 columns as McLuster writes it for NBODY6.
    Nbody6,
    /// McLuster's table with a header (-C 3).
    Mcluster,
    /// Text with PeTar's 7 columns, velocities in pc/Myr.
    Petar,
    /// Tipsy binary, either byte order.
    Tipsy,
    /// Gadget's HDF5: Gadget, AREPO, GIZMO, SWIFT.
    Gadget,
    /// AMUSE's HDF5.
    Amuse,
    /// NEMO's structured binary, either byte order.
    Nemo,
}

impl Format {
    /// Name of the format in [`crate::io::formats::FORMATS`]; [`None`] to recognise it.
    #[must_use]
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::Auto => None,
            Self::Tisane => Some("tisane"),
            Self::Csv => Some("csv"),
            Self::Nbody6 => Some("nbody6"),
            Self::Mcluster => Some("mcluster"),
            Self::Petar => Some("petar"),
            Self::Tipsy => Some("tipsy"),
            Self::Gadget => Some("gadget"),
            Self::Amuse => Some("amuse"),
            Self::Nemo => Some("nemo"),
        }
    }
}

/// Two bodies on a Kepler orbit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TwoBody {
    /// Mass of the first body; unit: mass. Default: 1/2 in Henon units, required otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) m1: Option<Real>,
    /// Mass of the second body; unit: mass. Default: 1/2 in Henon units, required otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) m2: Option<Real>,
    /// Semi-major axis; unit: length. Default: 1 in Henon units, required otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) semi_major_axis: Option<Real>,
    /// Eccentricity, from 0 to below 1.
    #[serde(default = "circular")]
    pub eccentricity: Real,
    /// Where on the orbit the bodies start.
    #[serde(default)]
    pub start: Apsis,
}

const fn circular() -> Real {
    Real::new(0.0)
}

impl TwoBody {
    /// Mass of the first body; unit: mass.
    #[must_use]
    pub fn m1(&self) -> f64 {
        self.m1.map_or(0.5, Real::get)
    }

    /// Mass of the second body; unit: mass.
    #[must_use]
    pub fn m2(&self) -> f64 {
        self.m2.map_or(0.5, Real::get)
    }

    /// Semi-major axis; unit: length.
    #[must_use]
    pub fn semi_major_axis(&self) -> f64 {
        self.semi_major_axis.map_or(1.0, Real::get)
    }
}

/// An end of the long axis of an orbit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Apsis {
    /// The point of greatest distance.
    #[default]
    Apocentre,
    /// The point of smallest distance.
    Pericentre,
}
