//! Members of an ensemble that have ended, and what their figures share.

use super::groups::Groups;
use crate::figure::{Figure, Panel};
use crate::gallery::name;
use std::path::Path;
use tisane::units::digits;
use tisane_io::table::{Table, Values};

/// Outcome of a member that an error ended.
pub(super) const FAILED: &str = "failed";
/// Outcome of a cluster that dissolved.
pub(super) const DISSOLVED: &str = "dissolved";

/// Members that have ended.
pub(super) struct Members<'a> {
    pub(super) table: &'a Table,
    pub(super) numbers: Vec<u64>,
    pub(super) outcomes: Vec<String>,
    pub(super) times: Vec<f64>,
}

impl<'a> Members<'a> {
    /// Returns [`None`] for a table that lacks columns.
    pub(super) fn new(table: &'a Table) -> Option<Self> {
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
    pub(super) fn sound(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.outcomes.len()).filter(|row| self.outcomes[*row] != FAILED)
    }

    pub(super) fn count(&self, outcome: &str) -> usize {
        self.outcomes.iter().filter(|how| *how == outcome).count()
    }

    /// Describes how many members there are, and how many of them failed with what is done about these.
    pub(super) fn caption(&self, failed: &str) -> String {
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
    pub(super) fn groups(&self) -> Groups {
        Groups::of_all_keys(self.table)
    }
}

pub(super) fn page(dir: &Path, panels: Vec<Panel>, caption: String) -> Figure {
    let columns = if panels.len() > 1 { 2 } else { 1 };
    Figure { title: name(dir), caption, panels, columns }
}

/// Numbers with three digits, for legends.
pub(super) fn short(x: f64) -> String {
    digits(x)
}
