//! The figures of an ensemble: many runs of one configuration, its members.

mod bands;
mod errors;
mod groups;
mod outcomes;
mod survival;
mod sweep;

use super::run::{Gallery, name};
use super::{Figure, Panel};
use groups::Groups;
use std::path::Path;
use tisane::error::{Error, Result};
use tisane_io::directory::{ENSEMBLE, MEMBERS, SERIES};
use tisane_io::table::{self, Table, Values};

/// Outcome of a member that an error ended.
const FAILED: &str = "failed";
/// Outcome of a cluster that dissolved.
const DISSOLVED: &str = "dissolved";

/// Returns true if a directory is that of an ensemble.
#[must_use]
pub fn is_ensemble(dir: &Path) -> bool {
    dir.join(ENSEMBLE).is_file()
}

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

/// Members that have ended.
struct Members<'a> {
    table: &'a Table,
    numbers: Vec<u64>,
    outcomes: Vec<String>,
    times: Vec<f64>,
}

impl<'a> Members<'a> {
    /// Returns [`None`] for a table that lacks columns.
    fn new(table: &'a Table) -> Option<Self> {
        let numbers = table.numbers("member")?.iter().map(|number| number as u64).collect();
        let outcomes = match &table.column("outcome")?.values {
            Values::Text(outcomes) => outcomes.clone(),
            // Without rows its kind is not known.
            _ => Vec::new(),
        };
        let times = table.numbers("time")?.iter().collect();
        Some(Self { table, numbers, outcomes, times })
    }

    /// Returns the rows of members that did not fail.
    fn sound(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.outcomes.len()).filter(|row| self.outcomes[*row] != FAILED)
    }

    fn count(&self, outcome: &str) -> usize {
        self.outcomes.iter().filter(|how| *how == outcome).count()
    }

    /// Describes how many members there are, and how many of them failed with what is done about these.
    fn caption(&self, failed: &str) -> String {
        let all = self.table.remarks.iter().find(|(name, _)| name == "members").map(|(_, count)| count.as_str());
        let ended = self.outcomes.len().to_string();
        let mut text = match all.filter(|all| *all != ended) {
            Some(all) => format!("{ended} of {all} members, which have ended"),
            None => format!("{ended} members"),
        };
        match self.count(FAILED) {
            0 => {}
            count => text += &format!("; {count} failed, {failed}"),
        }
        text
    }

    /// Returns the groups of members that figures with one curve each tell apart.
    fn groups(&self) -> Groups {
        Groups::of_all_keys(self.table)
    }
}

fn page(dir: &Path, panels: Vec<Panel>, caption: String) -> Figure {
    let columns = if panels.len() > 1 { 2 } else { 1 };
    Figure { title: name(dir), caption, panels, columns }
}

/// Numbers with three digits, for legends.
fn short(x: f64) -> String {
    tisane::units::digits(x)
}

#[cfg(test)]
mod tests;
