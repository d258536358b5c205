//! Current content of the directory of a run: snapshots with their times, and rows of the journals.

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tisane::error::{Error, Result};
use tisane_io::directory::{self, CONFIG, SUMMARY};
use tisane_io::journal::tail::JournalTail;
use tisane_io::lock;
use tisane_io::regular_file;
use tisane_io::snapshot::{self, SnapshotHeader};

/// Journals that the page can request.
pub const SERIES: [&str; 2] = ["diagnostics", "cluster"];

/// Content of a directory; refreshed before each response.
#[derive(Debug)]
pub struct RunDirectory {
    dir: PathBuf,
    snapshots: Vec<SnapshotEntry>,
    generation: u64,
    newest: Option<SnapshotHeader>,
    journals: Vec<JournalTail>,
}

/// Snapshot whose metadata was read.
#[derive(Clone, Debug, PartialEq)]
struct SnapshotEntry {
    number: u64,
    /// Time in the user's unit; [`None`] if the snapshot cannot be read.
    time: Option<f64>,
    /// Length and modification time, to notice a replaced file.
    stamp: Option<(u64, SystemTime)>,
}

impl RunDirectory {
    /// Opens the directory of a run.
    ///
    /// # Errors
    /// [`Error::Input`] if it is not the directory of a run.
    pub fn open(dir: &Path) -> Result<Self> {
        if !dir.is_dir() {
            return Err(directory::no_such_run(dir));
        }
        if !dir.join(CONFIG).is_file() {
            return Err(Error::input(dir, format!("not the output directory of a run: there is no {CONFIG}"))
                .with_help("`tisane run` creates one, by default runs/<name>/"));
        }
        let journals = SERIES.iter().map(|name| JournalTail::new(dir.join(name).with_extension("csv"))).collect();
        Ok(Self { dir: dir.to_owned(), snapshots: Vec::new(), generation: 0, newest: None, journals })
    }

    /// Returns the path of a snapshot, if it exists.
    #[must_use]
    pub fn snapshot(&self, number: u64) -> Option<PathBuf> {
        let known = self.snapshots.binary_search_by_key(&number, |known| known.number).is_ok();
        known.then(|| directory::snapshot(&self.dir, number))
    }

    /// Returns the journal of a series, read to its end; [`None`] if there is no such series.
    ///
    /// # Errors
    /// [`Error::Input`] if its file cannot be read.
    pub fn journal(&mut self, series: &str) -> Result<Option<&JournalTail>> {
        let at = SERIES.iter().position(|name| *name == series);
        let Some(journal) = at.and_then(|at| self.journals.get_mut(at)) else { return Ok(None) };
        journal.refresh()?;
        Ok(Some(journal))
    }

    /// Updates the list of snapshots.
    ///
    /// # Errors
    /// [`Error::Input`] if their directory cannot be read.
    pub fn refresh(&mut self) -> Result<()> {
        let numbers = directory::snapshot_numbers(&self.dir)?;
        let same = self.snapshots.iter().zip(&numbers).take_while(|(known, number)| known.number == **number).count();
        // A new run replaces the first snapshot, a resumed one those after its checkpoint.
        let ends = [self.snapshots.first(), self.snapshots.last()];
        let replaced = ends.into_iter().flatten().any(|known| known.stamp != stamp(&self.path(known.number)));
        if same < self.snapshots.len() || replaced {
            self.snapshots.clear();
            self.generation += 1;
            self.newest = None;
        }
        for &number in numbers.iter().skip(self.snapshots.len()) {
            let path = self.path(number);
            let stamp = stamp(&path);
            let heading = snapshot::read_header(&path).ok();
            self.snapshots.push(SnapshotEntry { number, time: heading.as_ref().map(|heading| heading.time), stamp });
            self.newest = heading.or(self.newest.take());
        }
        Ok(())
    }

    fn path(&self, number: u64) -> PathBuf {
        directory::snapshot(&self.dir, number)
    }

    /// Returns the state that the page polls: properties of the run, its progress, and the snapshots from index `from`
    /// on.
    ///
    /// # Errors
    /// As [`refresh`](Self::refresh).
    pub fn state(&mut self, from: usize) -> Result<Value> {
        self.refresh()?;
        let running = lock::in_use(&self.dir);
        let new = self.snapshots.iter().skip(from);
        let mut rows = serde_json::Map::new();
        for (name, journal) in SERIES.iter().zip(&mut self.journals) {
            journal.refresh()?;
            rows.insert((*name).to_owned(), json!([journal.generation(), journal.rows()]));
        }
        let (name, end) = self.name_and_end();
        // A running simulation may still have the summary of its previous session.
        let ended = if running { None } else { self.exit_reason() };
        Ok(json!({
            "name": name,
            "end": end,
            "running": running,
            "exit_reason": ended,
            "generation": self.generation,
            "from": from.min(self.snapshots.len()),
            "snapshots": new.map(|known| json!([known.number, known.time])).collect::<Vec<_>>(),
            "rows": rows,
            "run": self.newest.as_ref().map(run_info),
        }))
    }

    /// Returns the name and the end time of the run from its configuration.
    fn name_and_end(&self) -> (String, Option<f64>) {
        let config = regular_file::read_to_string(&self.dir.join(CONFIG)).unwrap_or_default();
        let config: toml::Table = toml::from_str(&config).unwrap_or_default();
        let run = config.get("run").and_then(toml::Value::as_table);
        let name = run.and_then(|run| run.get("name")?.as_str()).unwrap_or("run").to_owned();
        (name, run.and_then(|run| run.get("t_end")?.as_float()))
    }

    /// Returns the reason for the end of the run from its summary.
    fn exit_reason(&self) -> Option<String> {
        let summary: Value = serde_json::from_slice(&regular_file::read(&self.dir.join(SUMMARY)).ok()?).ok()?;
        summary.get("exit_reason")?.as_str().map(str::to_owned)
    }
}

/// Returns the length and modification time of a file.
fn stamp(path: &Path) -> Option<(u64, SystemTime)> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

/// Returns the properties of the run from its newest snapshot.
fn run_info(heading: &SnapshotHeader) -> Value {
    let units = &heading.units.units;
    let scale = &heading.units.scale;
    json!({
        "n": heading.n,
        "engine": heading.engine,
        "precision": heading.precision,
        "units": {
            "mass": units.mass.name,
            "length": units.length.name,
            "velocity": units.velocity.name,
            "time": units.time.name,
            "henon": units.is_henon(),
        },
        // Distance that a particle of velocity 1 moves in a time of 1, in the units of the run.
        "length_of_velocity_time": scale.length / (scale.velocity * scale.time),
    })
}
