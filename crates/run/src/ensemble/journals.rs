//! Journals of runs that an ensemble keeps of its members: one table for all of them, with the rows of the runs alone.

use super::members::Members;
use crate::config::Config;
use std::collections::BTreeMap;
use tisane::units::{Scale, Units};
use tisane_io::fields::{ColumnSpec, EncounterRow, Journal, JournalRow, StarRow, StellarRow};
use tisane_io::table::{Column, Value};

/// Journals of runs that ensembles keep of their members.
pub(super) const KEPT: [Journal; 3] = [Journal::Encounters, Journal::Stars, Journal::Stellar];

/// New rows by journal, in the order of block steps for each member.
pub(super) type JournalRows = BTreeMap<Journal, Vec<Vec<Value>>>;

/// Returns true if a run of this configuration has a journal that ensembles keep.
pub(super) fn is_of_run(journal: Journal, config: &Config) -> bool {
    match journal {
        Journal::Encounters => config.subsystems().is_some(),
        Journal::Stars => config.has_star_events(),
        Journal::Stellar => config.stellar_evolution.is_some(),
        Journal::Diagnostics | Journal::Cluster | Journal::Binaries | Journal::Events => false,
    }
}

/// Returns true if a run of some member has a journal: by the configuration, or by a key in which members differ.
pub(super) fn is_of_members(journal: Journal, config: &Config, members: &Members) -> bool {
    let sections: &[&str] = match journal {
        Journal::Encounters => &["encounters"],
        Journal::Stars => &["collisions", "escapers"],
        Journal::Stellar => &["stellar_evolution"],
        Journal::Diagnostics | Journal::Cluster | Journal::Binaries | Journal::Events => &[],
    };
    let is_of = |key: &str| key.split('.').next().is_some_and(|section| sections.contains(&section));
    is_of_run(journal, config) || members.keys().any(is_of)
}

/// Returns what a journal is about, as the title of its table.
pub(super) const fn title(journal: Journal) -> &'static str {
    match journal {
        Journal::Encounters => "Changes of subsystems",
        Journal::Stars => "Contacts and escapers of stars",
        Journal::Stellar => "Changes of type of stars",
        Journal::Diagnostics | Journal::Cluster | Journal::Binaries | Journal::Events => "",
    }
}

/// Returns the columns of the table of the members whose sum is the number of rows that a member has in a journal.
pub(super) const fn counted_by(journal: Journal) -> &'static [&'static str] {
    match journal {
        Journal::Encounters => &["encounters_rows"],
        Journal::Stars => &["contacts", "escapes"],
        Journal::Stellar => &["stellar_rows"],
        Journal::Diagnostics | Journal::Cluster | Journal::Binaries | Journal::Events => &[],
    }
}

/// Returns the columns of a journal, without that of the member.
pub(super) fn columns(journal: Journal, units: &Units) -> Vec<Column> {
    let columns: Vec<ColumnSpec> = match journal {
        Journal::Encounters => EncounterRow::columns(),
        Journal::Stars => StarRow::columns(),
        Journal::Stellar => StellarRow::columns(),
        Journal::Diagnostics | Journal::Cluster | Journal::Binaries | Journal::Events => Vec::new(),
    };
    columns.iter().map(|column| column.column(units)).collect()
}

/// Returns the row of a journal of a member.
pub(super) fn cells<R: JournalRow>(member: u64, row: &R, scale: &Scale) -> Vec<Value> {
    std::iter::once(Value::Count(member)).chain(row.values(scale)).collect()
}
