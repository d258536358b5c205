//! Columns of the table of members.

use super::member::{COLLISION, FAILED};
use std::collections::BTreeSet;
use tisane_io::table::{Numbers, Table, Values};

/// Returns the members that failed.
pub(super) fn failed_members(members: &Table) -> BTreeSet<u64> {
    with_outcome(members, &[FAILED])
}

/// Returns the members that ended between two outputs: by an error, or by a contact of two stars.
pub(super) fn ended_between_outputs(members: &Table) -> BTreeSet<u64> {
    with_outcome(members, &[FAILED, COLLISION])
}

fn with_outcome(members: &Table, wanted: &[&str]) -> BTreeSet<u64> {
    let Some(Values::Text(outcomes)) = members.column("outcome").map(|column| &column.values) else {
        return BTreeSet::new();
    };
    let ends = counts(members, "member").zip(outcomes);
    ends.filter(|(_, how)| wanted.contains(&how.as_str())).map(|(member, _)| member).collect()
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
