//! Files of an ensemble.

use super::blueprint::{Blueprint, Written};
use super::columns::{counts, failed_members, floats};
use super::hashes::Hashes;
use super::rows::Tables;
use super::status::Status;
use super::table_set::TableSet;
use super::verify::{Rows, verify};
use crate::assemble;
use crate::config::{Config, Kept};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};
use tisane_io::atomic::write_atomically;
use tisane_io::checkpoint::{self, MemberState, Signed};
use tisane_io::checksum::Digest;
use tisane_io::directory::{self, IN_PROGRESS, MEMBERS};
use tisane_io::fields::Journal;
use tisane_io::regular_file;
use tisane_io::table::{self, GrowingTable, Table, Value};

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
    /// [`Error::Input`] if it is not there, cannot be read, or was changed since it was written.
    pub fn read(dir: &Path) -> Result<Self> {
        let path = dir.join(WRITTEN);
        let text = regular_file::read_to_string(&path).map_err(|e| Error::input(&path, e))?;
        let written: Self = serde_json::from_str(&text).map_err(|e| Error::input(&path, e))?;
        if written.sha256.as_ref().is_some_and(|hash| *hash != written.digest().to_string()) {
            return Err(changed(&path, "it is not what its sha256 says"));
        }
        Ok(written)
    }

    fn write(&self, dir: &Path) -> Result<()> {
        let path = dir.join(WRITTEN);
        let whole = Self { sha256: Some(self.digest().to_string()), ..self.clone() };
        let text = serde_json::to_string_pretty(&whole).map_err(|e| Error::storage(&path, e))?;
        write_atomically(&path, |path| std::fs::write(path, format!("{text}\n")).map_err(|e| Error::storage(path, e)))
    }

    /// Returns the SHA-256 of all that the members follow from.
    fn digest(&self) -> Digest {
        let Self { config, overrides, base, files, version: _, journals: _, more_of_clusters: _, sha256: _ } = self;
        // In quotes: where one part ends is part of the text.
        Digest::of(format!("{config:?}{overrides:?}{base:?}{files:?}"))
    }
}

/// Returns the error for a file of the configuration that was changed.
fn changed(path: &Path, how: &str) -> Error {
    Error::input(path, format!("this file was changed since the ensemble began: {how}")).with_help(
        "restore it: an ensemble goes on with the members that it began with; other members are another ensemble, in a \
         directory of its own",
    )
}

/// Directory of an ensemble with its tables.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    tables: TableSet<GrowingTable>,
    ended: BTreeSet<u64>,
    configuration: Digest,
    hashes: Hashes,
}

/// Directory of an ensemble that is resumed.
pub(super) struct Resumed {
    pub directory: Directory,
    /// Members in progress.
    pub states: BTreeMap<u64, MemberState>,
    /// What was not as it was written.
    pub warnings: Vec<String>,
}

impl Directory {
    /// Creates the files of a new ensemble.
    pub(super) fn create(dir: &Path, blueprint: &Blueprint, tables: &Tables) -> Result<Self> {
        blueprint.written.write(dir)?;
        let keeps = blueprint.config.ensemble.as_ref().map(|ensemble| ensemble.snapshots);
        if keeps.is_some_and(|kept| kept != Kept::None) {
            directory::make_snapshots(dir)?;
        }
        Self::open(dir, tables.empty.clone(), blueprint.written.digest(), Hashes::default())
    }

    /// Opens the tables with the rows that they have.
    fn open(dir: &Path, tables: TableSet<Table>, configuration: Digest, hashes: Hashes) -> Result<Self> {
        let ended = counts(&tables.members, "member").collect();
        let tables = tables.try_map(|name, table| GrowingTable::create(&dir.join(csv(name)), table))?;
        Ok(Self { path: dir.to_owned(), tables, ended, configuration, hashes })
    }

    /// Reads the files of an ensemble that was stopped or killed. Rows of members that are neither at their end nor in
    /// progress are left out, and those of members in progress after their state; so are those that were changed.
    pub(super) fn resume(dir: &Path, blueprint: &Blueprint, tables: &Tables) -> Result<Resumed> {
        directory::check_folder(&dir.join(directory::SNAPSHOTS))?;
        let kept = dir.join(IN_PROGRESS);
        let saved = if kept.is_file() { checkpoint::read_members(&kept) } else { Ok((Vec::new(), None)) };
        let begin_anew = "without this file the members in progress begin anew, and those that have ended stay";
        let (states, signed) = saved.map_err(|error| error.with_help(begin_anew))?;
        let configuration = blueprint.written.digest();
        if signed.as_ref().is_some_and(|signed| signed.configuration != configuration) {
            return Err(changed(&dir.join(WRITTEN), &format!("{IN_PROGRESS} is of another configuration")));
        }
        let mut warnings: Vec<String> = check_config(dir, blueprint)?.into_iter().collect();
        // A kill in its first moments leaves a directory without them.
        let read = |name: &str, columns: &Table| {
            let path = dir.join(csv(name));
            let found = if path.is_file() { GrowingTable::read(&path, columns) } else { Ok(columns.clone()) };
            found.map_err(|error| error.with_help("without this row its member is computed again, to the same bits"))
        };
        let rows = Rows::new(tables.empty.as_ref().try_map(read)?);
        let there = rows.tables.members.rows() > 0;
        if signed.is_none() && (there || dir.join(hdf5(MEMBERS)).is_file()) {
            warnings.push(match there {
                true => format!(
                    "{}: no hashes of the rows, as in ensembles of version 0.2: they are taken as they are",
                    kept.display()
                ),
                false => format!("{}: no rows: all members are computed again", dir.join(csv(MEMBERS)).display()),
            });
        }
        let twins = || {
            let read = |name: &str, columns: &Table| {
                let twin = table::read_hdf5(&dir.join(hdf5(name))).ok()?;
                twin.contents().map(|(name, _)| name).eq(columns.names()).then_some(twin)
            };
            tables.empty.as_ref().try_map(|name, columns| read(name, columns).ok_or(())).ok().map(Rows::new)
        };
        let states = states.into_iter().map(|state| (state.member, state)).collect();
        let kept = verify(rows, twins, (states, signed.as_ref()), blueprint.members.count());
        warnings.extend(kept.warnings);
        let directory = Self::open(dir, kept.tables, configuration, kept.hashes)?;
        Ok(Resumed { directory, states: kept.states, warnings })
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
        let table = self.members();
        let failed = failed_members(table);
        status.ended = table.rows() as u64;
        status.done = status.ended as f64;
        status.failed = failed.len() as u64;
        let errors = counts(table, "member").zip(floats(table, "max_energy_error"));
        let errors = errors.filter(|(member, _)| !failed.contains(member));
        status.energy_error = errors.fold(0.0, |max, (_, error)| max.max(error));
    }

    pub(super) fn push_member(&mut self, row: Vec<Value>) {
        self.hashes.push_member(&row);
        self.tables.members.push(row);
    }

    pub(super) fn push_output(&mut self, row: Vec<Value>) {
        if let Some(series) = &mut self.tables.series {
            self.hashes.push_output(&row);
            series.push(row);
        }
    }

    pub(super) fn push_event(&mut self, journal: Journal, row: Vec<Value>) {
        if let Some(table) = self.tables.journals.get_mut(&journal) {
            self.hashes.push_event(journal, &row);
            table.push(row);
        }
    }

    /// Writes new rows: those of the members last, so that a member in this table is whole in the others.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.tables.as_mut().try_map(|_, table| table.flush()).map(drop)
    }

    pub(super) fn sync(&mut self) -> Result<()> {
        self.tables.as_mut().try_map(|_, table| table.sync()).map(drop)
    }

    /// Keeps the states of the members in progress, and the hashes of the rows of those that have ended. The rows must be
    /// on the disk before.
    pub(super) fn save(&self, states: &BTreeMap<u64, MemberState>) -> Result<()> {
        let signed = Signed { configuration: self.configuration, ended: self.hashes.ended.clone() };
        checkpoint::write_members(&self.path.join(IN_PROGRESS), states.values(), Some(&signed))
    }

    /// Writes the tables whole, in the order of members and time, as CSV and HDF5.
    pub(super) fn complete(&mut self) -> Result<()> {
        let tables = self.tables.as_ref().try_map(|name, table| {
            let mut table = table.table().clone();
            // Rows of one member are in the order of time already.
            let numbers: Vec<u64> = counts(&table, "member").collect();
            table.arrange(|_| true, |row| numbers[row]);
            table.write_hdf5(&self.path.join(hdf5(name)))?;
            Ok::<_, Error>(table)
        })?;
        let hashes = std::mem::take(&mut self.hashes);
        *self = Self::open(&self.path, tables, self.configuration, hashes)?;
        Ok(())
    }

    /// Returns the table of the members that have ended.
    pub(super) fn members(&self) -> &Table {
        self.tables.members.table()
    }

    /// Returns the table of the outputs, if they are kept.
    pub(super) fn series(&self) -> Option<&Table> {
        self.tables.series.as_ref().map(GrowingTable::table)
    }
}

/// Checks that the configuration in the directory is that of the ensemble. Writes it where it is missing, and returns a
/// warning of that.
fn check_config(dir: &Path, blueprint: &Blueprint) -> Result<Option<String>> {
    let path = dir.join(directory::CONFIG);
    if std::fs::symlink_metadata(&path).is_err() {
        let mut config = blueprint.config.clone();
        config.output.directory = dir.to_str().map(str::to_owned);
        directory::write_config(dir, &config.resolved_toml()?)?;
        return Ok(Some(format!("{}: it was missing, and is written anew", path.display())));
    }
    let remedy = "an ensemble cannot be changed: begin another for other members, or remove this file, which is then \
                  written anew";
    let refused = |problem: String| Error::input(&path, problem).with_help(remedy);
    let found = Config::from_file(&path, &[]).map_err(|error| refused(format!("it was changed: {error}")))?;
    match assemble::first_difference(&blueprint.config, &found.config) {
        None => Ok(None),
        Some((key, ours, here)) => {
            let problem = format!("it was changed: it has {key} = {here}, and the ensemble has {ours}");
            Err(refused(problem))
        }
    }
}

fn csv(name: &str) -> String {
    format!("{name}.csv")
}

fn hdf5(name: &str) -> String {
    format!("{name}.hdf5")
}
