//! Columns of a row for each particle, with checks of their values.

use crate::hdf::read::TisaneGroup;
use tisane::Result;
use tisane::time::{Level, Time};

/// Reads a column of finite numbers, `width` of them a row.
pub fn floats(g: &TisaneGroup<'_>, name: &str, n: usize, width: usize) -> Result<Vec<f64>> {
    let values: Vec<f64> = g.column(name, Some(n), width)?;
    if values.iter().all(|v| v.is_finite()) { Ok(values) } else { Err(g.error(name, "a value is not a finite number")) }
}

/// Reads a column of levels.
pub fn levels(g: &TisaneGroup<'_>, name: &str, n: usize) -> Result<Vec<Level>> {
    let levels: Vec<u8> = g.column(name, Some(n), 1)?;
    if levels.iter().any(|&level| level > Level::DEEPEST.0) {
        return Err(g.error(name, format!("a level is above {}", Level::DEEPEST.0)));
    }
    Ok(levels.into_iter().map(Level).collect())
}

/// Reads a column of times.
pub fn ticks(g: &TisaneGroup<'_>, name: &str, n: usize) -> Result<Vec<Time>> {
    Ok(g.column::<u64>(name, Some(n), 1)?.into_iter().map(Time).collect())
}
