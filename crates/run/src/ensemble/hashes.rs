//! Hashes of the rows of members: what was written is known again when an ensemble is resumed.

use std::collections::BTreeMap;
use tisane_io::checksum::Digest;
use tisane_io::table::Value;

/// Returns the hash of some rows and one more, from the hash of those before it.
pub(super) fn link(before: Option<Digest>, row: &[Value]) -> Digest {
    let before = before.map(|before| before.to_string());
    let cells: Vec<String> = before.into_iter().chain(row.iter().map(Value::cell)).collect();
    Digest::of(cells.join("\n"))
}

/// Hashes of the rows that the tables of an ensemble have.
#[derive(Clone, Debug, Default)]
pub(super) struct Hashes {
    /// Members that have not ended, each with the hash of its rows of the series.
    pub series: BTreeMap<u64, Digest>,
    /// Members that have ended, each with the hash of its rows of both tables, shortened.
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

    /// Takes note of a row of the members.
    pub fn push_member(&mut self, row: &[Value]) {
        if let Some(member) = member_of(row) {
            let hash = link(self.series.remove(&member), row);
            self.ended.insert(member, hash.short());
        }
    }
}

/// Returns the number of the member that a row of either table is of.
fn member_of(row: &[Value]) -> Option<u64> {
    match row.first() {
        Some(Value::Count(member)) => Some(*member),
        _ => None,
    }
}
