//! Columns of the table of members.

use super::member::FAILED;
use std::collections::BTreeSet;
use tisane_io::table::{Numbers, Table, Values};

/// Returns the members that failed.
pub(super) fn failed_members(members: &Table) -> BTreeSet<u64> {
    let Some(Values::Text(outcomes)) = members.column("outcome").map(|column| &column.values) else {
        return BTreeSet::new();
    };
    counts(members, "member").zip(outcomes).filter(|(_, how)| *how == FAILED).map(|(member, _)| member).collect()
}

pub(super) fn counts<'a>(table: &'a Table, name: &str) -> impl Iterator<Item = u64> + use<'a> {
    match table.numbers(name) {
        Some(Numbers::Counts(counts)) => counts,
        _ => &[],
    }
    .iter()
    .copied()
}

pub(super) fn floats<'a>(table: &'a Table, name: &str) -> impl Iterator<Item = f64> + use<'a> {
    table.numbers(name).into_iter().flat_map(Numbers::iter)
}
