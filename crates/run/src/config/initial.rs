//! Section `[initial]`: exactly one `[initial.<model>]`, and the sections that describe the stars of a sampled model.

mod models;
mod population;
mod scattering;

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document::item_path;
use super::error::Problem;
use super::file;
use super::format::Format;
use tisane::real;
use tisane::units::Real;
use tisane_io::formats::Datasets;

pub(crate) use models::TIDAL_FILLING;
pub use models::{Eff, Fractal, Hernquist, King, Plummer, Sampled, Sampling, Size, UniformSphere};
pub use population::{
    Binaries, Central, Eccentricity, MassFunction, Masses, Pairing, Rotation, Segregation, SemiMajorAxis,
};
pub use scattering::BinarySingle;

/// Initial conditions: exactly one model, and the properties of the stars of a sampled one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Initial {
    /// Model of the particles.
    #[serde(flatten)]
    pub model: Model,
    /// Masses of the stars of a sampled model. Default: equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub masses: Option<Masses>,
    /// Primordial binaries of a sampled model. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binaries: Option<Binaries>,
    /// Primordial mass segregation of a sampled model (Baumgardt, De Marchi & Kroupa 2008). Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segregation: Option<Segregation>,
    /// Rotation of a sampled model about the z axis. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotation: Option<Rotation>,
    /// Massive body at rest in the centre of a sampled model. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub central: Option<Central>,
    /// Orbit of two clusters about each other, in place of their positions and velocities. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orbit: Option<Encounter>,
}

/// Model: the particles, or the density and velocities from which they are drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// Plummer (1911) sphere.
    Plummer(Plummer),
    /// King (1966) model.
    King(King),
    /// Hernquist (1990) model.
    Hernquist(Hernquist),
    /// Profile of Elson, Fall & Freeman (1987), or a Nuker profile (Lauer et al. 1995).
    Eff(Eff),
    /// Sphere of constant density, cold or at a virial ratio.
    UniformSphere(UniformSphere),
    /// Fractal clumps (Goodwin & Whitworth 2004).
    Fractal(Fractal),
    /// Several systems: a list of sections, each with its own model.
    Clusters(Vec<Cluster>),
    /// Particles from a file.
    File(FileModel),
    /// Bodies on Kepler orbits about a central one, from a table of orbital elements.
    Elements(Elements),
    /// Two bodies on a Kepler orbit.
    TwoBody(TwoBody),
    /// Binary and a single star that approaches it from infinity: binary-single scattering (Hut & Bahcall 1983).
    BinarySingle(BinarySingle),
    /// Three equal masses on the figure-eight orbit (Chenciner & Montgomery 2000); N-body units.
    FigureEight {},
    /// Masses 3, 4, 5 at rest in the corners of a right triangle (Burrau 1913); N-body units.
    Pythagorean {},
    /// Sun and planets at J2000 from published elements; units by name.
    SolarSystem {},
    /// Particles that a program adds through the library; not for the program tisane.
    Memory {},
}

/// One of several systems: model, properties of the stars, position and velocity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Cluster {
    /// Position of the centre; unit: length. Default: the origin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) position: Option<[Real; 3]>,
    /// Velocity of the centre; unit: velocity. Default: at rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) velocity: Option<[Real; 3]>,
    /// Model and properties of the stars.
    #[serde(flatten)]
    pub initial: Initial,
}

/// Default position and velocity of a system.
pub(super) const ORIGIN: [Real; 3] = [real!(0.0); 3];

impl Cluster {
    /// Returns the position of the centre; unit: length.
    #[must_use]
    pub fn position(&self) -> [f64; 3] {
        self.position.unwrap_or(ORIGIN).map(Real::get)
    }

    /// Returns the velocity of the centre; unit: velocity.
    #[must_use]
    pub fn velocity(&self) -> [f64; 3] {
        self.velocity.unwrap_or(ORIGIN).map(Real::get)
    }
}

/// Orbit of two clusters about each other, computed as that of two point masses, in the x-y plane: the second starts on
/// the +x side of the first and approaches it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Encounter {
    /// Smallest distance on the orbit, above 0; unit: length.
    pub pericentre: Real,
    /// Eccentricity, 0 or more: below 1 bound, 1 a parabola, above 1 a hyperbola.
    #[serde(default = "parabola")]
    pub eccentricity: Real,
    /// Distance at the start, from the pericentre to the apocentre; unit: length.
    pub separation: Real,
}

const fn parabola() -> Real {
    real!(1.0)
}

impl Initial {
    /// Returns every file that particles or masses are read from, with its key.
    #[must_use]
    pub fn inputs(&self) -> Vec<(String, &Path)> {
        let mut found = Vec::new();
        self.add_inputs("initial", &mut found);
        found
    }

    /// Returns the key of each size in a tide, in a list of each cluster.
    pub(crate) fn tidal_fillings(&self, at: &str) -> Vec<String> {
        if let Model::Clusters(clusters) = &self.model {
            let items = clusters.iter().enumerate();
            let keys = items.map(|(k, it)| it.initial.tidal_fillings(&item_path(&format!("{at}.clusters"), k)));
            return keys.flatten().collect();
        }
        let filled = self.model.sampled().filter(|of| of.sampling.tidal_filling.is_some());
        filled.map(|of| format!("{at}.{}.{TIDAL_FILLING}", of.name)).into_iter().collect()
    }

    fn add_inputs<'a>(&'a self, at: &str, found: &mut Vec<(String, &'a Path)>) {
        found.extend(self.masses.iter().filter_map(Masses::path).map(|path| (format!("{at}.masses.path"), path)));
        match &self.model {
            Model::File(file) => found.push((format!("{at}.file.path"), file.path())),
            Model::Elements(table) => found.push((format!("{at}.elements.path"), table.path())),
            Model::Clusters(clusters) => {
                for (number, cluster) in clusters.iter().enumerate() {
                    cluster.initial.add_inputs(&item_path(&format!("{at}.clusters"), number), found);
                }
            }
            _ => {}
        }
    }

    /// Returns the number of particles, if the configuration gives it, the key that gives it, and the seed of a model that
    /// is drawn at random (of the first of several); [`None`] for any other model.
    #[must_use]
    pub fn sampled(&self) -> Option<(Option<u64>, String, u64)> {
        if let Model::Clusters(clusters) = &self.model {
            let parts: Vec<_> = clusters.iter().map(|cluster| cluster.initial.sampled()).collect();
            let n = parts.iter().map(|part| part.as_ref()?.0).sum();
            let seed = parts.iter().flatten().next()?.2;
            return Some((n, "initial.clusters".to_owned(), seed));
        }
        if let Model::BinarySingle(model) = &self.model {
            return Some((Some(3), "initial.binary-single".to_owned(), model.seed()));
        }
        let of = self.model.sampled()?;
        let n = of.sampling.n.map(|n| u64::from(n) + u64::from(self.central.is_some()));
        Some((n, format!("initial.{}.n", of.name), of.sampling.seed()))
    }
}

/// Particles from a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileModel {
    /// Path of the file; a relative path starts at the directory of this configuration.
    pub(super) path: String,
    /// Format of the file.
    #[serde(default)]
    pub format: Format,
    /// Datasets of the particles, in an HDF5 file of a layout that tisane does not recognise. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datasets: Option<Datasets>,
}

impl FileModel {
    /// Returns the path of the file, which is absolute in a resolved configuration.
    #[must_use]
    pub fn path(&self) -> &Path {
        Path::new(&self.path)
    }
}

/// Reads the datasets of a file as a command line gives them: `{ mass = "m", position = "x", velocity = "v" }`, as in
/// the configuration.
///
/// # Errors
/// A message with every mistake that can be seen without the file.
pub fn parse_datasets(text: &str) -> std::result::Result<Datasets, String> {
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Named {
        /// Datasets of the particles.
        datasets: Datasets,
    }
    let mistakes = |named: &Named| {
        let located = |(key, problem)| Problem::new(format!("datasets.{key}"), problem);
        named.datasets.mistakes().into_iter().map(located).collect()
    };
    let read = file::read::<Named>(("--datasets", &format!("datasets = {text}")), &[], mistakes);
    read.map(|(named, _)| named.datasets).map_err(|error| match error.advice() {
        Some(help) => format!("{error}; {help}"),
        None => error.to_string(),
    })
}

/// Bodies on Kepler orbits about a central one, from a table of orbital elements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Elements {
    /// Path of the table: CSV with the columns a, e, i, node, pericentre, t_pericentre or mean_anomaly, and optionally
    /// m; or AMUSE's HDF5 of the stars about the Galactic centre. A relative path starts at the directory of this
    /// configuration.
    pub(super) path: String,
    /// Mass of the central body, above 0; unit: mass.
    pub central_mass: Real,
    /// Distance of the observer in pc, for a table with semi-major axes in arc seconds; without it they are lengths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<Real>,
}

impl Elements {
    /// Returns the path of the table, which is absolute in a resolved configuration.
    #[must_use]
    pub fn path(&self) -> &Path {
        Path::new(&self.path)
    }
}

/// Two bodies on a Kepler orbit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TwoBody {
    /// Mass of the first body; unit: mass. Default: 1/2 in N-body units, required otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) m1: Option<Real>,
    /// Mass of the second body; unit: mass. Default: 1/2 in N-body units, required otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) m2: Option<Real>,
    /// Semi-major axis; unit: length. Default: 1 in N-body units, required otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) semi_major_axis: Option<Real>,
    /// Eccentricity, from 0 to below 1.
    #[serde(default = "circular")]
    pub eccentricity: Real,
    /// Point of the orbit at which the bodies start.
    #[serde(default)]
    pub start: Apsis,
}

const fn circular() -> Real {
    real!(0.0)
}

impl TwoBody {
    /// Default mass of each body.
    pub(super) const MASS: Real = real!(0.5);
    /// Default semi-major axis.
    pub(super) const SEMI_MAJOR_AXIS: Real = real!(1.0);

    /// Returns the mass of the first body; unit: mass.
    #[must_use]
    pub fn m1(&self) -> f64 {
        self.m1.unwrap_or(Self::MASS).get()
    }

    /// Returns the mass of the second body; unit: mass.
    #[must_use]
    pub fn m2(&self) -> f64 {
        self.m2.unwrap_or(Self::MASS).get()
    }

    /// Returns the semi-major axis; unit: length.
    #[must_use]
    pub fn semi_major_axis(&self) -> f64 {
        self.semi_major_axis.unwrap_or(Self::SEMI_MAJOR_AXIS).get()
    }
}

/// End of the long axis of an orbit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Apsis {
    /// Point of greatest distance.
    #[default]
    Apocentre,
    /// Point of smallest distance.
    Pericentre,
}

impl Model {
    /// Returns the sampled model; [`None`] for a model that is not drawn at random.
    #[must_use]
    pub fn sampled(&self) -> Option<Sampled<'_>> {
        let (name, sampling, lengths) = match self {
            Self::Plummer(m) => ("plummer", &m.sampling, vec![("scale_radius", m.scale_radius)]),
            Self::King(m) => {
                ("king", &m.sampling, vec![("core_radius", m.core_radius), ("tidal_radius", m.tidal_radius)])
            }
            Self::Hernquist(m) => ("hernquist", &m.sampling, vec![("scale_radius", m.scale_radius)]),
            Self::Eff(m) => ("eff", &m.sampling, vec![("scale_radius", m.scale_radius)]),
            Self::UniformSphere(m) => ("uniform-sphere", &m.sampling, vec![("radius", m.radius)]),
            Self::Fractal(m) => ("fractal", &m.sampling, vec![("radius", m.radius)]),
            _ => return None,
        };
        let (default_size, default_virial_ratio) = match self {
            Self::UniformSphere(_) => (Size::Own("radius", real!(1.0)), real!(0.0)),
            _ => (Size::Virial(real!(1.0)), real!(0.5)),
        };
        Some(Sampled { name, sampling, lengths, default_size, default_virial_ratio })
    }

    /// Returns the settings of a sampled model for modification.
    pub(crate) fn sampling_mut(&mut self) -> Option<&mut Sampling> {
        match self {
            Self::Plummer(m) => Some(&mut m.sampling),
            Self::King(m) => Some(&mut m.sampling),
            Self::Hernquist(m) => Some(&mut m.sampling),
            Self::Eff(m) => Some(&mut m.sampling),
            Self::UniformSphere(m) => Some(&mut m.sampling),
            Self::Fractal(m) => Some(&mut m.sampling),
            _ => None,
        }
    }
}
