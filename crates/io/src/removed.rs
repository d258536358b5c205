//! What mergers, escapes and the evolution of stars have taken out of a run, from its journal `stars` and the sum.

use super::fields::Journal;
use super::journal::cells::{for_each_row, number};
use serde::{Deserialize, Serialize};
use std::path::Path;
use tisane::error::Result;

/// What the events of one kind took out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Removed {
    /// Kind of the events: merge, escape, evolution.
    pub event: String,
    /// Number of the events.
    pub number: u64,
    /// Energy before them less that after them, in the user's unit.
    pub energy: f64,
}

impl Removed {
    /// Describes it, as in `by 4 mergers: -6.947113e3`.
    #[must_use]
    pub fn describe(&self) -> String {
        let what = match (&*self.event, self.number) {
            ("merge", 1) => "merger",
            ("merge", _) => "mergers",
            ("escape", 1) => "escape",
            ("escape", _) => "escapes",
            (EVOLUTION, _) => return format!("by the evolution of stars: {:.6e}", self.energy),
            (other, _) => other,
        };
        format!("by {} {what}: {:.6e}", self.number, self.energy)
    }
}

/// Name of what stars that evolve have taken out.
const EVOLUTION: &str = "evolution";

/// Returns what was taken out up to a time, of the sum `total` in the user's units: by the events, and what is left by the evolution of
/// stars, in a run in which they do.
///
/// # Errors
/// As [`read`].
pub fn read_all(dir: &Path, until: f64, total: f64) -> Result<Vec<Removed>> {
    let is_there = |journal: Journal| dir.join(journal.csv()).is_file();
    if !is_there(Journal::Stellar) {
        return read(dir, until);
    }
    let mut found = if is_there(Journal::Stars) { read(dir, until)? } else { Vec::new() };
    let energy = total - found.iter().map(|part| part.energy).sum::<f64>();
    found.push(Removed { event: EVOLUTION.into(), number: 1, energy });
    Ok(found)
}

/// Returns what the events up to a time in the user's unit took out, by their kinds in order of appearance. Events that
/// took nothing out, such as contacts, do not count. The rows are read one by one: there may be many.
///
/// # Errors
/// [`tisane::Error::Input`] if the journal is missing or is none of its kind.
pub fn read(dir: &Path, until: f64) -> Result<Vec<Removed>> {
    let mut found: Vec<Removed> = Vec::new();
    for_each_row((dir, Journal::Stars), ["time", "event", "removed_energy"], |[time, event, energy]| {
        let taken = number(energy);
        if number(time) > until || taken == 0.0 || taken.is_nan() {
            return;
        }
        match found.iter_mut().find(|it| it.event == event) {
            Some(it) => (it.number, it.energy) = (it.number + 1, it.energy + taken),
            None => found.push(Removed { event: event.to_owned(), number: 1, energy: taken }),
        }
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_events_took_out_is_added_by_their_kinds() {
        let dir = tempfile::tempdir().unwrap();
        let write = |text: &str| std::fs::write(dir.path().join(Journal::Stars.csv()), text).unwrap();
        write(
            "time,event,id,removed_energy\n0.5,touch,1,0e0\n0.5,merge,1,-2.5e0\n1,escape,2,2.5e-1\n1,escape,3,0e0\n\
             2,merge,4,-1e0\n2.5,merge,5,-7e0\n",
        );
        let found = read(dir.path(), 2.0).unwrap();
        let said: Vec<String> = found.iter().map(Removed::describe).collect();
        assert_eq!(said, ["by 2 mergers: -3.500000e0", "by 1 escape: 2.500000e-1"]);
        write("time,event\n");
        assert!(read(dir.path(), 2.0).unwrap_err().to_string().contains("no column 'removed_energy'"));
    }
}
