//! Tables of orbital elements: CSV, or an HDF5 file that AMUSE wrote of stars about the Galactic centre.

use super::formats;
use super::hdf::read::SIGNATURE;
use super::table;
use std::path::Path;
use tisane::error::{Error, Result};

/// Orbital elements as a table has them, a column each and a row an orbit. Angles in degrees.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ElementTable {
    /// Semi-major axis: a length, or an angle in arc seconds.
    pub semi_major_axis: Vec<f64>,
    /// Eccentricity.
    pub eccentricity: Vec<f64>,
    /// Inclination.
    pub inclination: Vec<f64>,
    /// Longitude of the ascending node.
    pub node: Vec<f64>,
    /// Argument of the pericentre.
    pub pericentre: Vec<f64>,
    /// Where on the orbit.
    pub phase: Phase,
    /// Masses of the bodies; none where the table has none.
    pub mass: Vec<f64>,
    /// The file's unit of length in cm and of time in s, where it says them.
    pub units: [Option<f64>; 2],
}

/// Where on its orbit a body is.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// Times at which bodies pass the pericentre.
    TimeOfPericentre(Vec<f64>),
    /// Mean anomalies, in degrees.
    MeanAnomaly(Vec<f64>),
}

impl Default for Phase {
    fn default() -> Self {
        Self::MeanAnomaly(Vec::new())
    }
}

/// Reads a table: HDF5 of AMUSE, or else CSV with the columns `a`, `e`, `i`, `node`, `pericentre`, `t_pericentre` or
/// `mean_anomaly`, and perhaps `m`.
///
/// # Errors
/// [`Error::Input`] with what is missing or wrong, and where.
pub fn read(path: &Path) -> Result<ElementTable> {
    if formats::head(path)?.starts_with(SIGNATURE) {
        return formats::amuse_elements(path);
    }
    let file = table::read(path)?;
    let names: Vec<&str> = file.names().collect();
    let column = |name: &str| -> Result<Vec<f64>> {
        let values = file.numbers(name).ok_or_else(|| {
            let problem = format!("no column of numbers '{name}'; found {}", names.join(", "));
            let help = "expected a, e, i, node, pericentre, then t_pericentre or mean_anomaly, and perhaps m";
            Error::input(path, problem).with_help(help)
        })?;
        if let Some(row) = values.iter().position(|x| !x.is_finite()) {
            return Err(Error::input(path, format!("row {} of '{name}': expected a finite number", row + 1)));
        }
        Ok(values.iter().collect())
    };
    let phase = match names.contains(&"mean_anomaly") {
        true => Phase::MeanAnomaly(column("mean_anomaly")?),
        false => Phase::TimeOfPericentre(column("t_pericentre")?),
    };
    Ok(ElementTable {
        semi_major_axis: column("a")?,
        eccentricity: column("e")?,
        inclination: column("i")?,
        node: column("node")?,
        pericentre: column("pericentre")?,
        phase,
        mass: if names.contains(&"m") { column("m")? } else { Vec::new() },
        units: [None; 2],
    })
}
