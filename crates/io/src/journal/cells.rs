//! Cells of some columns of a journal, row by row: there may be many rows.

use crate::fields::Journal;
use crate::regular_file;
use std::path::Path;
use tisane::error::{Error, Result};

/// Calls `row` with the cells of the columns `names` of each row of a journal of the run in `dir`.
///
/// # Errors
/// [`Error::Input`] if the journal is missing, lacks a column, or cannot be read.
pub(crate) fn for_each_row<const N: usize>(
    (dir, journal): (&Path, Journal),
    names: [&str; N],
    mut row: impl FnMut([&str; N]),
) -> Result<()> {
    let path = dir.join(journal.csv());
    let file = regular_file::open(&path).map_err(|e| Error::input(&path, e))?;
    let mut rows = csv::Reader::from_reader(file);
    let wrong = |e: csv::Error| Error::input(&path, e);
    let there = rows.headers().map_err(wrong)?.clone();
    let mut places = [0; N];
    for (place, name) in places.iter_mut().zip(names) {
        let found = there.iter().position(|it| it == name);
        *place = found.ok_or_else(|| Error::input(&path, format!("there is no column '{name}'")))?;
    }
    for record in rows.records() {
        let record = record.map_err(wrong)?;
        row(places.map(|at| record.get(at).unwrap_or_default()));
    }
    Ok(())
}

/// Returns the number in a cell; NaN for anything else.
pub(crate) fn number(cell: &str) -> f64 {
    cell.parse().unwrap_or(f64::NAN)
}
