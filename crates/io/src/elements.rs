//! Tables of orbital elements: CSV, or the HDF5 file of AMUSE with the stars about the Galactic centre.

use super::formats;
use super::hdf::read::SIGNATURE;
use super::table;
use std::path::Path;
use tisane::error::{Error, Result};

/// Orbital elements, one column each and one row an orbit. Angles are in degrees.
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
    /// Position on the orbit.
    pub phase: Phase,
    /// Masses of the bodies; empty if the table has none.
    pub mass: Vec<f64>,
    /// Unit of length in cm and unit of time in s, if the file states them.
    pub units: [Option<f64>; 2],
}

/// Position of bodies on their orbits.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// Times of pericentre passage.
    TimeOfPericentre(Vec<f64>),
    /// Mean anomalies, in degrees.
    MeanAnomaly(Vec<f64>),
}

impl Default for Phase {
    fn default() -> Self {
        Self::MeanAnomaly(Vec::new())
    }
}

/// Reads a table: HDF5 of AMUSE, or CSV with the columns `a`, `e`, `i`, `node`, `pericentre`, one of `t_pericentre` and
/// `mean_anomaly`, and optionally `m`; also packed by gzip.
///
/// # Errors
/// [`Error::Input`] with the column and row if a column is missing or a value is not a finite number.
pub fn read(path: &Path) -> Result<ElementTable> {
    formats::unpacked(path, read_plain)
}

/// Reads a table that is not packed.
fn read_plain(path: &Path) -> Result<ElementTable> {
    if formats::head(path)?.starts_with(SIGNATURE) {
        return formats::amuse_elements(path);
    }
    let file = table::read(path)?;
    let names: Vec<&str> = file.names().collect();
    let column = |name: &str| -> Result<Vec<f64>> {
        let values = file.numbers(name).ok_or_else(|| {
            let problem = format!("no column of numbers '{name}'; found {}", names.join(", "));
            let help = "expected a, e, i, node, pericentre, t_pericentre or mean_anomaly, and optionally m";
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
