//! Files of an ensemble.

use super::blueprint::{Blueprint, Written};
use super::rows::Tables;
use super::{Status, member};
use crate::config::Kept;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};
use tisane_io::atomic::write_atomically;
use tisane_io::checkpoint::{self, MemberState};
use tisane_io::directory::{self, IN_PROGRESS, MEMBERS, SERIES};
use tisane_io::regular_file;
use tisane_io::table::{GrowingTable, Numbers, Table, Values};

/// File of the configuration as it was written, with what belongs to it.
const WRITTEN: &str = directory::ENSEMBLE;

/// Returns true if a directory is that of an ensemble.
#[must_use]
pub fn is_ensemble(dir: &Path) -> bool {
    dir.join(WRITTEN).is_file()
}

impl Written {
    /// Reads it from the directory of an ensemble.
    ///
    /// # Errors
    /// [`Error::Input`] if it is not there or cannot be read.
    pub fn read(dir: &Path) -> Result<Self> {
        let path = dir.join(WRITTEN);
        let text = regular_file::read_to_string(&path).map_err(|e| Error::input(&path, e))?;
        serde_json::from_str(&text).map_err(|e| Error::input(&path, e))
    }

    fn write(&self, dir: &Path) -> Result<()> {
        let path = dir.join(WRITTEN);
        let text = serde_json::to_string_pretty(self).map_err(|e| Error::storage(&path, e))?;
        write_atomically(&path, |path| std::fs::write(path, format!("{text}\n")).map_err(|e| Error::storage(path, e)))
    }
}

/// Directory of an ensemble with its tables.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    members: GrowingTable,
    series: Option<GrowingTable>,
    ended: BTreeSet<u64>,
}

impl Directory {
    /// Creates the files of a new ensemble.
    pub(super) fn create(dir: &Path, blueprint: &Blueprint, tables: &Tables) -> Result<Self> {
        blueprint.written.write(dir)?;
        let keeps = blueprint.config.ensemble.as_ref().map(|ensemble| ensemble.snapshots);
        if keeps.is_some_and(|kept| kept != Kept::None) {
            directory::make_snapshots(dir)?;
        }
        Self::open(dir, tables.members.clone(), tables.series.clone())
    }

    fn open(dir: &Path, members: Table, series: Option<Table>) -> Result<Self> {
        let ended = counts(&members, "member").collect();
        let series = series.map(|table| GrowingTable::create(&dir.join(csv(SERIES)), table)).transpose()?;
        let members = GrowingTable::create(&dir.join(csv(MEMBERS)), members)?;
        Ok(Self { path: dir.to_owned(), members, series, ended })
    }

    /// Reads the files of an ensemble that was stopped or killed. Rows of members that are neither at their end nor in
    /// progress are left out, and those of members in progress after their state.
    pub(super) fn resume(dir: &Path, tables: &Tables) -> Result<(Self, BTreeMap<u64, MemberState>)> {
        // A kill in its first moments leaves a directory without them.
        let read = |name: &str, columns: &Table| {
            let path = dir.join(csv(name));
            if path.is_file() { GrowingTable::read(&path, columns) } else { Ok(columns.clone()) }
        };
        let mut members = read(MEMBERS, &tables.members)?;
        let path = dir.join(IN_PROGRESS);
        let states = if path.is_file() { checkpoint::read_members(&path) } else { Ok(Vec::new()) };
        let begin_anew = "without this file the members in progress begin anew, and those that have ended stay";
        let states = states.map_err(|error| error.with_help(begin_anew))?;
        let mut states: BTreeMap<u64, MemberState> = states.into_iter().map(|state| (state.member, state)).collect();
        let series = match &tables.series {
            None => None,
            Some(columns) => Some(read(SERIES, columns)?),
        };
        let mut ends: BTreeMap<u64, f64> = counts(&members, "member").zip(floats(&members, "time")).collect();
        if let Some(series) = &series {
            // After a power cut the series may lack what the table of the members has.
            let last: BTreeMap<u64, f64> = counts(series, "member").zip(floats(series, "time")).collect();
            let failed = failed_members(&members);
            ends.retain(|member, time| failed.contains(member) || last.get(member).is_some_and(|last| last >= time));
        }
        let rows: Vec<u64> = counts(&members, "member").collect();
        members.arrange(|row| ends.contains_key(&rows[row]), |row| row);
        states.retain(|member, _| !ends.contains_key(member));
        let series = series.map(|mut series| {
            let rows: Vec<(u64, f64)> = counts(&series, "member").zip(floats(&series, "time")).collect();
            let of_state =
                |(member, time): &(u64, f64)| states.get(member).is_some_and(|state| *time <= state.run.time());
            series.arrange(|row| ends.contains_key(&rows[row].0) || of_state(&rows[row]), |row| row);
            series
        });
        Ok((Self::open(dir, members, series)?, states))
    }

    /// Returns the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder of the snapshots.
    pub(super) fn snapshots(&self) -> PathBuf {
        self.path.join(directory::SNAPSHOTS)
    }

    /// Returns the members of `count` that have not ended.
    pub(super) fn missing(&self, count: u64) -> Vec<u64> {
        (0..count).filter(|member| !self.ended.contains(member)).collect()
    }

    /// Counts the members that have ended.
    pub(super) fn count(&self, status: &mut Status) {
        let table = self.members.table();
        let failed = failed_members(table);
        status.ended = table.rows() as u64;
        status.done = status.ended as f64;
        status.failed = failed.len() as u64;
        let errors = counts(table, "member").zip(floats(table, "max_energy_error"));
        let errors = errors.filter(|(member, _)| !failed.contains(member));
        status.energy_error = errors.fold(0.0, |most, (_, error)| most.max(error));
    }

    pub(super) fn push_member(&mut self, row: Vec<tisane_io::table::Value>) {
        self.members.push(row);
    }

    pub(super) fn push_output(&mut self, row: Vec<tisane_io::table::Value>) {
        if let Some(series) = &mut self.series {
            series.push(row);
        }
    }

    /// Writes new rows: those of the series first, so that a member in the one table is whole in the other.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.series.as_mut().map_or(Ok(()), GrowingTable::flush)?;
        self.members.flush()
    }

    pub(super) fn sync(&mut self) -> Result<()> {
        self.series.as_mut().map_or(Ok(()), GrowingTable::sync)?;
        self.members.sync()
    }

    /// Keeps the states of the members in progress.
    pub(super) fn save(&self, states: &BTreeMap<u64, MemberState>) -> Result<()> {
        let path = self.path.join(IN_PROGRESS);
        if states.is_empty() {
            return match std::fs::remove_file(&path) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Error::storage(&path, e)),
                _ => Ok(()),
            };
        }
        checkpoint::write_members(&path, states.values())
    }

    /// Writes the tables whole, in the order of members and time, as CSV and HDF5.
    pub(super) fn complete(&mut self) -> Result<()> {
        let mut members = self.members.table().clone();
        let numbers: Vec<u64> = counts(&members, "member").collect();
        members.arrange(|_| true, |row| numbers[row]);
        members.write_hdf5(&self.path.join(hdf5(MEMBERS)))?;
        let series = self.series.as_ref().map(|series| {
            let mut series = series.table().clone();
            // Rows of one member are in the order of time already.
            let numbers: Vec<u64> = counts(&series, "member").collect();
            series.arrange(|_| true, |row| numbers[row]);
            series
        });
        if let Some(series) = &series {
            series.write_hdf5(&self.path.join(hdf5(SERIES)))?;
        }
        *self = Self::open(&self.path, members, series)?;
        Ok(())
    }

    /// Returns the table of the members that have ended.
    pub(super) fn members(&self) -> &Table {
        self.members.table()
    }

    /// Returns the table of the outputs, if they are kept.
    pub(super) fn series(&self) -> Option<&Table> {
        self.series.as_ref().map(GrowingTable::table)
    }
}

fn csv(name: &str) -> String {
    format!("{name}.csv")
}

fn hdf5(name: &str) -> String {
    format!("{name}.hdf5")
}

/// Returns the members that failed.
fn failed_members(members: &Table) -> BTreeSet<u64> {
    let Some(Values::Text(outcomes)) = members.column("outcome").map(|column| &column.values) else {
        return BTreeSet::new();
    };
    counts(members, "member")
        .zip(outcomes)
        .filter(|(_, how)| *how == member::FAILED)
        .map(|(member, _)| member)
        .collect()
}

fn counts<'a>(table: &'a Table, name: &str) -> impl Iterator<Item = u64> + use<'a> {
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
