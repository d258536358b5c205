//! Rows of an ensemble that is resumed, compared with the hashes that were kept with the states of its members.
//!
//! The rows of a member that are not those that were written are taken from the tables in HDF5 where these have them;
//! otherwise the member is computed again, which gives the same bits. Rows that were written after the last states have no
//! hash: they count where they are whole.

use super::columns::{counts, ended_between_outputs, floats};
use super::hashes::{Hashes, link, link_all};
use super::journals::counted_by;
use super::table_set::TableSet;
use std::collections::{BTreeMap, BTreeSet};
use tisane_io::checkpoint::{MemberState, Signed};
use tisane_io::checksum::Digest;
use tisane_io::fields::Journal;
use tisane_io::table::{Table, Value};

/// Most members that a message lists.
const MAX_LISTED: usize = 8;

/// Tables of an ensemble, and where the rows of each member stand in them.
pub(super) struct Rows {
    pub tables: TableSet<Table>,
    places: BTreeMap<u64, Places>,
    /// Members that ended between two outputs.
    between: BTreeSet<u64>,
    ends: Vec<f64>,
    times: Vec<f64>,
    /// Numbers of rows in each journal that the members which have ended have.
    counted: BTreeMap<Journal, Vec<f64>>,
}

/// Rows of one member, in the order of the files.
#[derive(Clone, Default)]
struct Places {
    members: Vec<usize>,
    series: Vec<usize>,
    journals: BTreeMap<Journal, Vec<usize>>,
    /// True if a row stands there twice, of which one is counted.
    doubled: bool,
}

impl Rows {
    pub fn new(tables: TableSet<Table>) -> Self {
        let TableSet { members, series, journals } = &tables;
        let mut places = BTreeMap::<u64, Places>::new();
        for (row, member) in counts(members, "member").enumerate() {
            places.entry(member).or_default().members.push(row);
        }
        for (row, member) in series.iter().flat_map(|series| counts(series, "member")).enumerate() {
            places.entry(member).or_default().series.push(row);
        }
        for (&journal, table) in journals {
            for (row, member) in counts(table, "member").enumerate() {
                places.entry(member).or_default().journals.entry(journal).or_default().push(row);
            }
        }
        let times: Vec<f64> = series.iter().flat_map(|series| floats(series, "time")).collect();
        for of_member in places.values_mut() {
            let Places { members: ends, series: outputs, journals: of_journals, doubled } = of_member;
            *doubled |= drop_doubled(members, ends);
            if let Some(series) = series
                && !ascend(outputs, &times)
            {
                *doubled |= drop_doubled(series, outputs);
            }
            for (journal, rows) in of_journals {
                *doubled |= drop_doubled(&journals[journal], rows);
            }
        }
        let (between, ends) = (ended_between_outputs(members), floats(members, "time").collect());
        let counted = journals.keys().map(|journal| (*journal, summed(members, counted_by(*journal)))).collect();
        Self { between, ends, times, counted, tables, places }
    }

    fn of(&self, member: u64) -> Places {
        self.places.get(&member).cloned().unwrap_or_default()
    }

    fn series_hash(&self, rows: &[usize]) -> Option<Digest> {
        hash_of(self.tables.series.as_ref()?, rows)
    }

    /// Returns the rows of a member that had ended, if they are those with a hash.
    fn signed_end(&self, member: u64, hash: u64) -> Option<Places> {
        let places = self.of(member);
        let [end] = places.members[..] else { return None };
        let journals =
            places.journals.iter().filter_map(|(journal, rows)| hash_of(&self.tables.journals[journal], rows));
        let found = link_all(self.series_hash(&places.series), journals, &self.tables.members.row(end));
        (found.short() == hash).then_some(places)
    }

    /// Returns the rows of a member in progress up to its state, if they are those that the state counts.
    fn signed_progress(&self, state: &MemberState) -> Option<Places> {
        let mut places = self.of(state.member);
        let (time, written) = (state.run.time(), &state.run.written);
        places.series.retain(|row| self.times[*row] <= time);
        // States of version 0.2 count nothing.
        let is_signed = self.tables.series.is_some() && written.diagnostics_rows > 0;
        let same = places.series.len() as u64 == written.diagnostics_rows
            && self.series_hash(&places.series) == written.diagnostics_sha256;
        let mut written = *written;
        let same_journals = self.tables.journals.iter().all(|(&journal, table)| {
            let rows = places.journals.entry(journal).or_default();
            let (count, signed) = written.journal_mut(journal);
            rows.truncate(usize::try_from(*count).unwrap_or(usize::MAX));
            rows.len() as u64 == *count && hash_of(table, rows) == *signed
        });
        ((!is_signed || same) && same_journals).then_some(places)
    }

    /// Returns true if the rows of a member that has ended are whole, as far as they tell by themselves.
    fn is_whole(&self, member: u64, places: &Places) -> bool {
        let [end] = places.members[..] else { return false };
        let last = places.series.last().map(|row| self.times[*row]);
        let reaches = self.between.contains(&member) || last.is_some_and(|last| last >= self.ends[end]);
        let has_outputs = self.tables.series.is_none() || (reaches && ascend(&places.series, &self.times));
        let rows = |journal: &Journal| places.journals.get(journal).map_or(0, Vec::len);
        has_outputs && self.counted.iter().all(|(journal, counted)| rows(journal) as f64 == counted[end])
    }
}

/// Returns the hash of some rows of a table; none if there are none.
fn hash_of(table: &Table, rows: &[usize]) -> Option<Digest> {
    rows.iter().fold(None, |before, row| Some(link(before, &table.row(*row))))
}

/// Returns the sum of some columns, row by row.
fn summed(table: &Table, names: &[&str]) -> Vec<f64> {
    let mut sums = vec![0.0; table.rows()];
    for name in names {
        sums.iter_mut().zip(floats(table, name)).for_each(|(sum, number)| *sum += number);
    }
    sums
}

/// Returns true if the times of rows ascend.
fn ascend(rows: &[usize], times: &[f64]) -> bool {
    rows.windows(2).all(|pair| times[pair[0]] < times[pair[1]])
}

/// Keeps one of the rows that are the same. Returns true if there were such.
fn drop_doubled(table: &Table, rows: &mut Vec<usize>) -> bool {
    let (before, mut seen) = (rows.len(), BTreeSet::new());
    if before > 1 {
        rows.retain(|row| seen.insert(table.row(*row).iter().map(Value::cell).collect::<Vec<_>>()));
    }
    rows.len() < before
}

/// What is kept of an ensemble.
pub(super) struct Kept {
    pub tables: TableSet<Table>,
    pub states: BTreeMap<u64, MemberState>,
    pub hashes: Hashes,
    pub warnings: Vec<String>,
}

/// Keeps the rows that were written: those of members that have ended, and those of members in progress up to their states.
/// `twins` returns the tables in HDF5, if they can be read; `count` is the number of members.
pub(super) fn verify(
    rows: Rows,
    twins: impl FnOnce() -> Option<Rows>,
    (states, signed): (BTreeMap<u64, MemberState>, Option<&Signed>),
    count: u64,
) -> Kept {
    let mut verifier = Verifier { rows, twins: None, states, found: Findings::default() };
    let ended = signed.map(|signed| signed.ended.clone()).unwrap_or_default();
    let all = verifier.rows.places.keys().chain(ended.keys()).chain(verifier.states.keys());
    let all: BTreeSet<u64> = all.copied().collect();
    let mut twins = Some(twins);
    let mut keeps = BTreeMap::new();
    for member in all {
        if member >= count {
            verifier.found.unknown.push(member);
            verifier.states.remove(&member);
            continue;
        }
        let hash = ended.get(&member).copied();
        if let Some(places) = verifier.of_csv(member, hash) {
            keeps.insert(member, (places, false));
            continue;
        }
        if let Some(twins) = twins.take() {
            verifier.twins = twins();
        }
        match verifier.of_twins(member, hash) {
            Some(places) => {
                keeps.insert(member, (places, true));
                verifier.found.restored.push(member);
            }
            None => {
                verifier.states.remove(&member);
                verifier.found.anew.push(member);
            }
        }
    }
    verifier.keep(&keeps)
}

struct Verifier {
    rows: Rows,
    twins: Option<Rows>,
    states: BTreeMap<u64, MemberState>,
    found: Findings,
}

impl Verifier {
    /// Returns the rows of a member that are kept: none of one that was not kept before; [`None`] if they are not those
    /// that were written. A member that has ended has no state afterwards.
    fn of_csv(&mut self, member: u64, hash: Option<u64>) -> Option<Places> {
        let all = self.rows.of(member);
        if let Some(hash) = hash {
            let places = self.rows.signed_end(member, hash)?;
            self.states.remove(&member);
            self.found.doubled.extend(places.doubled.then_some(member));
            return Some(places);
        }
        let of_state = match self.states.get(&member) {
            Some(state) => Some(self.rows.signed_progress(state)?),
            None => None,
        };
        self.found.doubled.extend(all.doubled.then_some(member));
        if self.rows.is_whole(member, &all) {
            self.states.remove(&member);
            return Some(all);
        }
        self.found.cut.extend((!all.members.is_empty()).then_some(member));
        Some(Places { members: Vec::new(), ..of_state.unwrap_or_default() })
    }

    /// Returns the rows of a member in the tables in HDF5, if they are those that were written.
    fn of_twins(&mut self, member: u64, hash: Option<u64>) -> Option<Places> {
        let twins = self.twins.as_ref()?;
        match (hash, self.states.get(&member)) {
            (Some(hash), _) => {
                let places = twins.signed_end(member, hash)?;
                self.states.remove(&member);
                Some(places)
            }
            (None, state) => twins.signed_progress(state?).map(|places| Places { members: Vec::new(), ..places }),
        }
    }

    /// Leaves the other rows out.
    fn keep(self, keeps: &BTreeMap<u64, (Places, bool)>) -> Kept {
        let Self { rows: Rows { mut tables, .. }, twins, mut states, found } = self;
        let twins = twins.as_ref().map(|twins| &twins.tables);
        let of = |restored: bool| keeps.values().filter(move |(_, it)| *it == restored).map(|(places, _)| places);
        let keep = |table: &mut Table, twin: Option<&Table>, rows_of: &dyn Fn(&Places) -> &[usize]| {
            let mut kept = vec![false; table.rows()];
            of(false).flat_map(rows_of).for_each(|row| kept[*row] = true);
            table.arrange(|row| kept[row], |row| row);
            if let Some(twin) = twin {
                of(true).flat_map(rows_of).for_each(|row| table.push(twin.row(*row)));
            }
        };
        let mut hashes = Hashes::default();
        if let Some(series) = &mut tables.series {
            keep(series, twins.and_then(|twins| twins.series.as_ref()), &|places| &places.series);
            (0..series.rows()).for_each(|row| hashes.push_output(&series.row(row)));
        }
        for (journal, table) in &mut tables.journals {
            let twin = twins.and_then(|twins| twins.journals.get(journal));
            keep(table, twin, &|places| places.journals.get(journal).map_or(&[], Vec::as_slice));
            (0..table.rows()).for_each(|row| hashes.push_event(*journal, &table.row(row)));
        }
        keep(&mut tables.members, twins.map(|twins| &twins.members), &|places| &places.members);
        (0..tables.members.rows()).for_each(|row| hashes.push_member(&tables.members.row(row)));
        for (member, state) in &mut states {
            let written = &mut state.run.written;
            written.diagnostics_sha256 = hashes.series.get(member).copied();
            for &journal in tables.journals.keys() {
                *written.journal_mut(journal).1 = hashes.of_journal(journal, *member);
            }
        }
        Kept { tables, states, hashes, warnings: found.warnings() }
    }
}

/// Members whose rows were not as they were written.
#[derive(Default)]
struct Findings {
    doubled: Vec<u64>,
    unknown: Vec<u64>,
    cut: Vec<u64>,
    restored: Vec<u64>,
    anew: Vec<u64>,
}

impl Findings {
    fn warnings(&self) -> Vec<String> {
        let changed = "were changed, lost or doubled since they were written";
        let all = [
            (&self.doubled, "stood there twice: one of each was left out".to_owned()),
            (&self.unknown, "are of members that this ensemble does not have: they were left out".to_owned()),
            (&self.cut, "are not whole, as after a power cut: the members go on or begin anew".to_owned()),
            (&self.restored, format!("{changed}: restored from the tables in HDF5")),
            (&self.anew, format!("{changed}: the members are computed again, to the same bits")),
        ];
        let listed = |members: &[u64]| {
            let mut listed: Vec<String> = members.iter().take(MAX_LISTED).map(u64::to_string).collect();
            listed.extend((members.len() > MAX_LISTED).then(|| "…".to_owned()));
            listed.join(", ")
        };
        let some = all.iter().filter(|(members, _)| !members.is_empty());
        some.map(|(members, what)| {
            format!("rows of {} of the members ({}) in its tables {what}", members.len(), listed(members))
        })
        .collect()
    }
}
