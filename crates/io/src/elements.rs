//! Tables of orbital elements: CSV, ECSV, or the HDF5 file of AMUSE with the stars about the Galactic centre.

pub(crate) mod element_table;

pub use element_table::{ElementTable, ElementUnits, Phase};

use super::formats::{self, ANGLE, EcsvHeader, LENGTH, MASS, TIME, TextUnit};
use super::hdf::read::SIGNATURE;
use super::table;
use std::path::Path;
use tisane::error::{Error, Result};

/// Reads a table: HDF5 of AMUSE, or CSV with the columns `a`, `e`, `i`, `node`, `pericentre`, one of `t_pericentre` and
/// `mean_anomaly`, and optionally `m`; with the header of ECSV in the units that this states; also packed by gzip.
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
    let header = EcsvHeader::read(path)?;
    let columns = match &header {
        Some(header) => header.columns(path)?.into_iter().map(|(name, values)| (name, Some(values))).collect(),
        None => columns(path)?,
    };
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    let column = |name: &str| -> Result<Vec<f64>> {
        let found = columns.iter().find(|(column, _)| column == name);
        let values = found.and_then(|(_, values)| values.as_ref()).ok_or_else(|| {
            let problem = format!("no column of numbers '{name}'; found {}", names.join(", "));
            let help = "expected a, e, i, node, pericentre, t_pericentre or mean_anomaly, and optionally m";
            Error::input(path, problem).with_help(help)
        })?;
        if let Some(row) = values.iter().position(|x| !x.is_finite()) {
            return Err(Error::input(path, format!("row {} of '{name}': expected a finite number", row + 1)));
        }
        Ok(values.clone())
    };
    let phase = match names.contains(&"mean_anomaly") {
        true => Phase::MeanAnomaly(column("mean_anomaly")?),
        false => Phase::TimeOfPericentre(column("t_pericentre")?),
    };
    let table = ElementTable {
        semi_major_axis: column("a")?,
        eccentricity: column("e")?,
        inclination: column("i")?,
        node: column("node")?,
        pericentre: column("pericentre")?,
        phase,
        mass: if names.contains(&"m") { column("m")? } else { Vec::new() },
        units: ElementUnits::default(),
    };
    header.map_or(Ok(table.clone()), |header| with_units(path, &header, table))
}

/// Reads the columns of a CSV file; [`None`] in place of values that are not numbers.
fn columns(path: &Path) -> Result<Vec<(String, Option<Vec<f64>>)>> {
    let file = table::read(path)?;
    let column = |name: &str| (name.to_owned(), file.numbers(name).map(|values| values.iter().collect()));
    Ok(file.names().map(column).collect())
}

/// Brings the angles of a table to degrees and arc seconds, and adds the other units that its header states.
fn with_units(path: &Path, header: &EcsvHeader, mut table: ElementTable) -> Result<ElementTable> {
    let scale = |values: &mut [f64], by: f64| values.iter_mut().for_each(|x| *x *= by);
    let degree = 1f64.to_radians();
    let in_degrees = |name: &str, values: &mut [f64]| -> Result<()> {
        if let Some(unit) = header.unit(path, name, &[ANGLE])?.filter(|unit| unit.size != degree) {
            scale(values, unit.size / degree);
        }
        Ok(())
    };
    in_degrees("i", &mut table.inclination[..])?;
    in_degrees("node", &mut table.node[..])?;
    in_degrees("pericentre", &mut table.pericentre[..])?;
    let size = |unit: Option<TextUnit>| unit.map(|unit| unit.size);
    if let Phase::MeanAnomaly(angles) = &mut table.phase {
        in_degrees("mean_anomaly", &mut angles[..])?;
    } else {
        table.units.time = size(header.unit(path, "t_pericentre", &[TIME])?);
    }
    match header.unit(path, "a", &[LENGTH, ANGLE])? {
        Some(unit) if unit.powers == ANGLE => {
            scale(&mut table.semi_major_axis[..], unit.size / (degree / 3600.0));
            table.units.angle = true;
        }
        unit => table.units.length = size(unit),
    }
    let named = [("t_pericentre", matches!(table.phase, Phase::TimeOfPericentre(_))), ("m", !table.mass.is_empty())];
    let named: Vec<&str> = named.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name).collect();
    header.states_all(path, &[&["a"][..], &named[..]].concat())?;
    if !table.mass.is_empty() {
        table.units.mass = size(header.unit(path, "m", &[MASS])?);
    }
    Ok(table)
}
