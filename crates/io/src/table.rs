//! Tables: named columns of equal length, each with a unit and a description. Journals of runs, results of studies and
//! other CSV files are read as tables; results are written as tables, in CSV and HDF5.

pub(crate) mod columns;
mod csv_file;
mod growing;
pub(crate) mod hdf5_file;

pub use columns::{Column, ColumnKind, Numbers, Table, Value, Values};
pub use csv_file::read_csv;
pub use growing::GrowingTable;
pub use hdf5_file::read_hdf5;

use super::formats;
use super::hdf::read::SIGNATURE;
use std::path::Path;
use tisane::error::{Error, Result};

/// Reads a table: HDF5 written by tisane, or CSV. In a CSV file, lines that begin with `#` are the title and remarks
/// (`# name: value`); the first other line names the columns, with units in brackets (`time [Myr]`). A column holds
/// numbers if each of its cells is a number or empty, and text otherwise.
///
/// # Errors
/// [`Error::Input`] with the line or dataset if the file is missing, damaged or not a table.
pub fn read(path: &Path) -> Result<Table> {
    if formats::head(path)?.starts_with(SIGNATURE) { read_hdf5(path) } else { csv_file::read_any(path) }
}

/// Reads a journal of a run, which may be in progress: all whole lines of the file `csv`, with units, descriptions and
/// remarks from the file `hdf5` if it exists; only `hdf5` if there is no `csv`.
///
/// # Errors
/// As [`read`].
pub fn read_journal(csv: &Path, hdf5: &Path) -> Result<Table> {
    if !csv.is_file() {
        if !hdf5.is_file() {
            return Err(Error::input(csv, "no such file"));
        }
        return read_hdf5(hdf5);
    }
    let described = hdf5.is_file().then(|| hdf5_file::read_headings(hdf5)).transpose()?;
    let mut journal = csv_file::read_whole_lines(csv)?;
    if let Some(described) = described {
        for column in &mut journal.columns {
            let known = described.column(&column.name);
            (column.unit, column.description) =
                known.map_or_else(Default::default, |known| (known.unit.clone(), known.description.clone()));
        }
        journal.remarks = described.remarks;
    }
    Ok(journal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_row_is_left_out_of_journals_only() {
        let dir = tempfile::tempdir().unwrap();
        let (path, none) = (dir.path().join("d.csv"), dir.path().join("none"));
        let times = |table: Table| table.numbers("time").unwrap().iter().collect::<Vec<_>>();
        std::fs::write(&path, "time,energy\n0.0,-0.25\n1.0,-0.2").unwrap();
        assert_eq!(times(read_journal(&path, &none).unwrap()), [0.0]);
        assert_eq!(times(read(&path).unwrap()), [0.0, 1.0]);
        assert!(read_journal(&none, &none).is_err());
        // An unfinished row longer than the block that is searched at a time.
        std::fs::write(&path, format!("time,energy\n0.0,-0.25\n1.0,{}", "0".repeat(200_000))).unwrap();
        assert_eq!(times(read_journal(&path, &none).unwrap()), [0.0]);
    }
}
