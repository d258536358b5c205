//! Advice after a lost energy: the snapshot from which to begin anew.

use super::Simulation;
use crate::help;
use std::path::PathBuf;
use tisane::error::Error;
use tisane::units::{Dimension, digits};
use tisane_io::fields::Journal;
use tisane_io::{directory, snapshot, table};

/// Part of the present energy error up to which an earlier state counts as good.
const GOOD: f64 = 0.01;

impl Simulation {
    /// Adds to an error about a lost energy where the error arose, and the snapshot before it: to continue from the
    /// checkpoint would keep the error.
    pub(super) fn advise_to_begin_anew(&self, error: Error, lost: f64) -> Error {
        let advice = help::advice(&error).unwrap_or_default();
        let Some((path, time, kept)) = self.last_good_snapshot(lost) else { return error.with_help(advice) };
        let time = self.units.units.readable(time, Dimension::TIME);
        error.with_help(format!(
            "to continue from the checkpoint would keep this error: begin anew from {}, at t = {time}, where the energy \
             was off by {}: [initial.file] path = \"{}\"\n{advice}",
            path.display(),
            digits(kept),
            path.display()
        ))
    }

    /// Returns the last snapshot at whose time the energy error was a small part of `lost`, with its time, in the user's
    /// unit, and the error there; [`None`] without such a snapshot, and where the files cannot be read.
    fn last_good_snapshot(&self, lost: f64) -> Option<(PathBuf, f64, f64)> {
        let dir = &self.plan.directory;
        let [csv, hdf5] = [Journal::Diagnostics.csv(), Journal::Diagnostics.hdf5()].map(|name| dir.join(name));
        let rows = table::read_journal(&csv, &hdf5).ok()?;
        let (times, errors) = (rows.numbers("time")?, rows.numbers("relative_energy_error")?);
        let good = |row: &usize| errors.at(*row).abs() <= GOOD * lost.abs();
        let last = (0..rows.rows()).take_while(good).last()?;
        let numbers = directory::snapshot_numbers(dir).ok()?;
        numbers.into_iter().rev().find_map(|number| {
            let path = directory::snapshot(dir, number);
            let time = snapshot::read_header(&path).ok()?.time;
            let row = (0..=last).rev().find(|&row| times.at(row) <= time)?;
            (time <= times.at(last)).then(|| (path, time, errors.at(row)))
        })
    }
}
