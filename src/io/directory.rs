//! The output directory of a run: which files it holds, and when it may be used.

use super::atomic::{remove_if_present, write_atomically};
use super::{checkpoint, series};
use crate::error::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// The resolved configuration.
pub const CONFIG: &str = "config.toml";
/// The log.
pub const LOG: &str = "run.log";
/// The result in short.
pub const SUMMARY: &str = "summary.json";
/// The folder of the snapshots.
pub const SNAPSHOTS: &str = "snapshots";

/// Path of snapshot number `number` in a run's directory.
#[must_use]
pub fn snapshot(dir: &Path, number: u64) -> PathBuf {
    dir.join(SNAPSHOTS).join(format!("snapshot_{number:04}.hdf5"))
}

/// The numbers of the snapshots in a run's directory, in order; none if there is no folder of them yet.
///
/// # Errors
/// [`Error::Input`] if the folder cannot be read.
pub fn snapshot_numbers(dir: &Path) -> Result<Vec<u64>> {
    let folder = dir.join(SNAPSHOTS);
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut numbers = Vec::new();
    for entry in fs::read_dir(&folder).map_err(|e| Error::input(&folder, e))? {
        let name = entry.map_err(|e| Error::input(&folder, e))?.file_name();
        // Only under the name that a run gives: no other file is taken for it.
        let number = name.to_str().and_then(number_of);
        numbers.extend(number.filter(|&number| snapshot(dir, number).file_name() == Some(&name)));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// True if a process is at work in a run's directory: it holds the log locked. To see that, the lock is taken and given back
/// at once, so whoever needs it must try for longer than an instant.
#[must_use]
pub fn in_use(dir: &Path) -> bool {
    let log = fs::File::open(dir.join(LOG));
    log.is_ok_and(|log| matches!(log.try_lock_shared(), Err(fs::TryLockError::WouldBlock)))
}

/// Makes the directory of a new run and writes `config` into it, once it is clear that `needed` bytes will fit. An existing
/// run is only replaced if `overwrite` is set, and then only the files that a run writes are removed.
///
/// # Errors
/// [`Error::Input`] if the directory holds anything, cannot be written, or has too little space.
pub fn create(dir: &Path, config: &str, needed: u64, overwrite: bool) -> Result<()> {
    if dir.exists() {
        if !dir.is_dir() {
            return Err(Error::input(dir, "the output directory is a file"));
        }
        let mut entries = fs::read_dir(dir).map_err(|e| Error::input(dir, e))?;
        if entries.next().is_some() && !overwrite {
            return Err(Error::input(dir, "the output directory already holds files").with_help(
                "give another with --output, continue it with `tisane resume`, or replace it with --overwrite",
            ));
        }
    }
    check_space(dir, needed)?;
    if overwrite {
        remove_run(dir).map_err(|e| Error::input(dir, format!("cannot remove the old run: {e}")))?;
    }
    fs::create_dir_all(dir.join(SNAPSHOTS))
        .map_err(|e| Error::input(dir, format!("cannot make the output directory: {e}")))?;
    write_config(dir, config)
}

/// Writes the resolved configuration.
///
/// # Errors
/// [`Error::Input`] if the directory cannot be written.
pub fn write_config(dir: &Path, config: &str) -> Result<()> {
    let write = |path: &Path| fs::write(path, config).map_err(|e| Error::storage(path, e));
    write_atomically(&dir.join(CONFIG), write)
        .map_err(|e| Error::input(dir, format!("cannot write into the output directory: {e}")))
}

/// Bytes free for the user in the file system that holds `dir` (or will hold it).
#[must_use]
pub fn free_space(dir: &Path) -> Option<u64> {
    let here = std::path::absolute(dir).ok()?;
    let existing = here.ancestors().find(|path| path.exists())?;
    fs4::available_space(existing).ok()
}

fn check_space(dir: &Path, needed: u64) -> Result<()> {
    match free_space(dir) {
        Some(free) if free < needed => Err(Error::input(
            dir,
            format!("only {} are free, but a snapshot and two checkpoints take {}", bytes(free), bytes(needed)),
        )),
        _ => Ok(()),
    }
}

/// A number of bytes for people.
#[must_use]
pub fn bytes(n: u64) -> String {
    indicatif::HumanBytes(n).to_string()
}

/// Removes what a run writes and nothing else.
fn remove_run(dir: &Path) -> Result<()> {
    for name in [CONFIG, LOG, SUMMARY, series::CSV, series::HDF5, checkpoint::NEWEST, checkpoint::PREVIOUS] {
        let path = dir.join(name);
        remove_if_present(&path).map_err(|e| Error::storage(&path, e))?;
    }
    remove_snapshots(dir, 0)
}

/// Removes the snapshots of a run from number `first` on, and what a kill left of unfinished ones.
///
/// # Errors
/// [`Error::Storage`] if their folder cannot be read or a file not removed.
pub fn remove_snapshots(dir: &Path, first: u64) -> Result<()> {
    let folder = dir.join(SNAPSHOTS);
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(&folder).map_err(|e| Error::storage(&folder, e))? {
        let path = entry.map_err(|e| Error::storage(&folder, e))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let unfinished = name.strip_prefix('.').and_then(|name| name.strip_suffix(".partial"));
        let number = number_of(unfinished.unwrap_or(&name));
        if number.is_some_and(|number| number >= first || unfinished.is_some()) {
            remove_if_present(&path).map_err(|e| Error::storage(&path, e))?;
        }
    }
    Ok(())
}

/// The number in a snapshot's name, as [`snapshot`] writes it.
fn number_of(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("snapshot_")?.strip_suffix(".hdf5")?;
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
}
