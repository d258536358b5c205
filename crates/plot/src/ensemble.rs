//! The figures of an ensemble: many runs of one configuration, its members.

mod bands;
mod errors;
mod groups;
mod members;
mod outcomes;
mod survival;
mod sweep;

use super::gallery::Gallery;
pub use super::gallery::is_ensemble;
use members::Members;
use std::path::Path;
use tisane::error::{Error, Result};
use tisane_io::directory::{MEMBERS, SERIES};
use tisane_io::table;

/// The figures of an ensemble's directory, of the members that have ended. It may be under way.
///
/// # Errors
/// [`Error::Input`] if its tables cannot be read, or no member has ended.
pub fn figures(dir: &Path) -> Result<Gallery> {
    let read = |name: &str| table::read_journal(&dir.join(format!("{name}.csv")), &dir.join(format!("{name}.hdf5")));
    let table = read(MEMBERS)?;
    let members = Members::new(&table).ok_or_else(|| Error::input(dir, "members.csv lacks columns of an ensemble"))?;
    if members.outcomes.is_empty() {
        return Err(Error::input(dir, "no member of this ensemble has ended yet"));
    }
    let has_series = ["csv", "hdf5"].iter().any(|ending| dir.join(format!("{SERIES}.{ending}")).is_file());
    let series = has_series.then(|| read(SERIES)).transpose()?;
    let mut gallery = Gallery::default();
    gallery.add("errors", errors::figure(dir, &members));
    let swept = sweep::swept(&members);
    if !swept.is_empty() {
        gallery.add("sweep", sweep::figure(dir, &members, &swept));
    }
    gallery.add("bands", bands::figure(dir, &members, series.as_ref()));
    if table.column("bound_fraction").is_some() {
        gallery.add("dissolution", survival::figure(dir, &members, series.as_ref()));
    }
    if outcomes::has_encounters(&members) {
        gallery.add("outcomes", Ok(outcomes::figure(dir, &members)));
    }
    Ok(gallery)
}

#[cfg(test)]
mod tests;
