//! Hashes of the rows of members: what was written is known again when an ensemble is resumed.

use std::collections::BTreeMap;
use tisane_io::checksum::Digest;
use tisane_io::fields::Journal;
use tisane_io::table::Value;

/// Returns the hash of some rows and one more, from the hash of those before it.
pub(super) fn link(before: Option<Digest>, row: &[Value]) -> Digest {
    let before = before.map(|before| before.to_string());
    let cells: Vec<String> = before.into_iter().chain(row.iter().map(Value::cell)).collect();
    Digest::of(cells.join("\n"))
}

/// Returns the hash of all rows of a member that has ended: of the one in the table of the members, and from the hashes of the others.
/// A journal in which the member has no row has no hash.
pub(super) fn link_all(series: Option<Digest>, journals: impl Iterator<Item = Digest>, row: &[Value]) -> Digest {
    // Without journals as in ensembles of version 0.3.0, which have none.
    let before = journals.fold(series, |before, journal| Some(link(before, &[Value::Text(journal.to_string())])));
    link(before, row)
}

/// Hashes of the rows that the tables of an ensemble have.
#[derive(Clone, Debug, Default)]
pub(super) struct Hashes {
    /// Members that have not ended, each with the hash of its rows of the series.
    pub series: BTreeMap<u64, Digest>,
    /// The same of its rows of each journal; none of a member without such rows.
    journals: BTreeMap<Journal, BTreeMap<u64, Digest>>,
    /// Members that have ended, each with the hash of its rows of all tables, shortened.
    pub ended: BTreeMap<u64, u64>,
}

impl Hashes {
    /// Takes note of a row of the series.
    pub fn push_output(&mut self, row: &[Value]) {
        if let Some(member) = member_of(row) {
            let hash = link(self.series.get(&member).copied(), row);
            self.series.insert(member, hash);
        }
    }

    /// Takes note of a row of a journal.
    pub fn push_event(&mut self, journal: Journal, row: &[Value]) {
        if let Some(member) = member_of(row) {
            let hashes = self.journals.entry(journal).or_default();
            let hash = link(hashes.get(&member).copied(), row);
            hashes.insert(member, hash);
        }
    }

    /// Returns the hash of the rows of a journal of a member that has not ended; none if it has no rows.
    pub fn of_journal(&self, journal: Journal, member: u64) -> Option<Digest> {
        self.journals.get(&journal)?.get(&member).copied()
    }

    /// Takes note of a row of the members.
    pub fn push_member(&mut self, row: &[Value]) {
        if let Some(member) = member_of(row) {
            let journals = self.journals.values_mut().filter_map(|hashes| hashes.remove(&member));
            let hash = link_all(self.series.remove(&member), journals, row);
            self.ended.insert(member, hash.short());
        }
    }
}

/// Returns the number of the member that a row of any table is of.
fn member_of(row: &[Value]) -> Option<u64> {
    match row.first() {
        Some(Value::Count(member)) => Some(*member),
        _ => None,
    }
}
