//! The output directory of a run: which files it holds, and when it may be used.

use super::atomic::{make_directory, remove_durably, remove_if_present, write_atomically};
use super::checkpoint;
use super::fields::Journal;
use super::lock::{self, Lock};
use std::fs;
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};

/// The resolved configuration.
pub const CONFIG: &str = "config.toml";
/// The log.
pub const LOG: &str = "run.log";
/// The result in short.
pub const SUMMARY: &str = "summary.json";
/// The folder of the snapshots.
pub const SNAPSHOTS: &str = "snapshots";
/// The folder of what `tisane analyze` makes of the snapshots.
pub const ANALYSIS: &str = "analysis";
/// The folder of the figures.
pub const PLOTS: &str = "plots";
/// The folder of the film.
pub const MOVIE: &str = "movie";

/// The file by which a directory is seen to be that of a run, if it is one: a folder of results of `tisane analyze` has none
/// of these.
#[must_use]
pub fn run_marker(dir: &Path) -> Option<&'static str> {
    let diagnostics = [Journal::Diagnostics.csv(), Journal::Diagnostics.hdf5()];
    let signs = [LOG, CONFIG, SUMMARY, checkpoint::NEWEST, checkpoint::PREVIOUS];
    signs.into_iter().chain(diagnostics).find(|name| dir.join(name).exists())
}

/// Path of snapshot number `number` in a run's directory.
#[must_use]
pub fn snapshot(dir: &Path, number: u64) -> PathBuf {
    dir.join(SNAPSHOTS).join(format!("snapshot_{number:04}.hdf5"))
}

/// The snapshots of a run, in the order of their numbers: in its directory, or in a folder that holds them itself.
///
/// # Errors
/// [`Error::Input`] if there are none.
pub fn snapshots(dir: &Path) -> Result<Vec<PathBuf>> {
    if !dir.is_dir() {
        let what = if dir.exists() { "this is a file" } else { "there is no such directory" };
        return Err(Error::input(dir, what).with_help("give the output directory of a run"));
    }
    let of_run = dir.join(SNAPSHOTS);
    let found = numbered(if of_run.is_dir() { &of_run } else { dir })?;
    if found.is_empty() {
        let problem = match dir.join(CONFIG).is_file() {
            true => "a run without snapshots: there is no snapshots/snapshot_0000.hdf5",
            false => "not the output directory of a run: neither snapshots/snapshot_0000.hdf5 nor config.toml",
        };
        return Err(Error::input(dir, problem).with_help("`tisane run` makes one; its name is runs/<name>/ by default"));
    }
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// Says which numbers are missing among snapshots in order, if any: a run counts its own from 0.
#[must_use]
pub fn describe_missing(paths: &[PathBuf]) -> Option<String> {
    let numbers: Vec<u64> = paths.iter().filter_map(|path| number_of(path.file_name()?.to_str()?)).collect();
    let before = std::iter::once(None).chain(numbers.iter().copied().map(Some));
    let gaps = before.zip(&numbers).map(|(before, &next)| (before.map_or(0, |number| number + 1), next));
    let missing = gaps.filter(|(from, next)| from < next).map(|(from, next)| match next - from {
        1 => from.to_string(),
        _ => format!("{from} to {}", next - 1),
    });
    let missing = missing.collect::<Vec<_>>().join(", ");
    (!missing.is_empty()).then(|| format!("snapshots are missing: {missing}"))
}

/// The numbers of the snapshots in a run's directory, in order; none if there is no folder of them yet.
///
/// # Errors
/// [`Error::Input`] if the folder cannot be read.
pub fn snapshot_numbers(dir: &Path) -> Result<Vec<u64>> {
    let folder = dir.join(SNAPSHOTS);
    let found = if folder.is_dir() { numbered(&folder)? } else { Vec::new() };
    Ok(found.into_iter().map(|(number, _)| number).collect())
}

/// The snapshots in a folder with their numbers, in order. Only what has a name that a run gives is taken for one.
fn numbered(folder: &Path) -> Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(|e| Error::input(folder, e))? {
        let path = entry.map_err(|e| Error::input(folder, e))?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if let Some(number) = name.and_then(number_of).filter(|&n| snapshot(folder, n).file_name() == path.file_name())
        {
            found.push((number, path));
        }
    }
    found.sort();
    Ok(found)
}

/// Makes the directory of a new run, takes the lock on it and writes `config` into it, once it is clear that `needed` bytes
/// will fit. An existing run is only replaced if `overwrite` is set, and then only the files that a run writes are removed.
///
/// # Errors
/// [`Error::Input`] if the directory holds anything, is another process's, cannot be made, or has too little space;
/// [`Error::Storage`] if it cannot be written.
pub fn create(dir: &Path, config: &str, needed: u64, overwrite: bool) -> Result<Lock> {
    check_free(dir, overwrite)?;
    check_space(dir, needed)?;
    let cannot = |e| Error::input(dir, format!("cannot make the output directory: {e}"));
    make_directory(dir).map_err(cannot)?;
    let lock = Lock::take(dir)?;
    // Another process may have come first, and be gone.
    check_free(dir, overwrite)?;
    if overwrite {
        check_removable(dir)?;
        remove_run(dir).map_err(|e| Error::input(dir, format!("cannot remove the old run: {e}")))?;
    }
    make_directory(&dir.join(SNAPSHOTS)).map_err(cannot)?;
    // Before the configuration: it tells that a run wrote that.
    fs::OpenOptions::new().create(true).append(true).open(dir.join(LOG)).map_err(cannot)?;
    write_config(dir, config)?;
    Ok(lock)
}

/// Refuses a directory that holds anything, unless it is to be overwritten; then one in which the files that would go are not
/// those of a run.
fn check_free(dir: &Path, overwrite: bool) -> Result<()> {
    if !dir.exists() {
        return Ok(());
    }
    if !dir.is_dir() {
        return Err(Error::input(dir, "the output directory is a file"));
    }
    if lock::is_empty(dir).map_err(|e| Error::input(dir, e))? {
        return Ok(());
    }
    if overwrite {
        lock::check(&dir.join(ANALYSIS))?;
        return check_log(dir);
    }
    lock::check(dir)?;
    let help = "give another with --output, continue it with `tisane resume`, or replace it with --overwrite";
    Err(Error::input(dir, "the output directory already holds files").with_help(help))
}

/// Refuses a directory with files of the names that a run gives, but without the log, which a run begins with and which is the
/// last to be removed: they are the user's.
fn check_log(dir: &Path) -> Result<()> {
    if dir.join(LOG).exists() {
        return Ok(());
    }
    let named = names().map(|name| dir.join(name)).find(|path| path.exists());
    match named.or(snapshot_numbers(dir)?.first().map(|&number| snapshot(dir, number))) {
        None => Ok(()),
        Some(path) => {
            let problem = format!("--overwrite would replace this file, which no run wrote: there is no {LOG}");
            Err(Error::input(path, problem).with_help("give another directory with --output"))
        }
    }
}

/// Writes the resolved configuration.
///
/// # Errors
/// [`Error::Storage`] if it cannot be written.
pub fn write_config(dir: &Path, config: &str) -> Result<()> {
    write_atomically(&dir.join(CONFIG), |path| fs::write(path, config).map_err(|e| Error::storage(path, e)))
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

/// Sees that a run can be removed, before the first of its files goes: files can be removed where they can be made.
fn check_removable(dir: &Path) -> Result<()> {
    let folders = [dir.to_owned(), dir.join(SNAPSHOTS)].into_iter().chain(analysis(dir));
    for folder in folders.filter(|folder| folder.is_dir()) {
        tempfile::tempfile_in(&folder).map_err(|e| {
            Error::input(&folder, format!("the old run cannot be removed: nothing can be written here: {e}"))
        })?;
    }
    Ok(())
}

/// Removes the summary of a run that goes on, so that nobody takes it for one that has ended.
///
/// # Errors
/// [`Error::Storage`] if it cannot be removed.
pub fn remove_summary(dir: &Path) -> Result<()> {
    let path = dir.join(SUMMARY);
    remove_durably(&path).map_err(|e| Error::storage(&path, e))
}

/// The names of what a run writes in its directory, but for the log.
fn names() -> impl Iterator<Item = &'static str> {
    [CONFIG, SUMMARY, checkpoint::NEWEST, checkpoint::PREVIOUS].into_iter().chain(journals())
}

fn journals() -> impl Iterator<Item = &'static str> {
    Journal::ALL.into_iter().flat_map(|journal| [journal.csv(), journal.hdf5()])
}

/// The folder of the journals made of a run's snapshots, if there is one. A link leads to what is not the run's.
fn analysis(dir: &Path) -> Option<PathBuf> {
    Some(dir.join(ANALYSIS)).filter(|folder| fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir()))
}

/// Removes what a run writes, and the journals made of its snapshots, which would be taken for the new run's; nothing else.
fn remove_run(dir: &Path) -> Result<()> {
    for path in names().map(|name| dir.join(name)) {
        remove_if_present(&path).map_err(|e| Error::storage(&path, e))?;
    }
    remove_snapshots(dir, 0)?;
    if let Some(analysis) = analysis(dir) {
        for path in journals().map(|name| analysis.join(name)) {
            remove_if_present(&path).map_err(|e| Error::storage(&path, e))?;
        }
        // Where the user has put something into it, it stays.
        let _ = fs::remove_dir(&analysis);
    }
    let log = dir.join(LOG);
    remove_if_present(&log).map_err(|e| Error::storage(&log, e))
}

/// The folders in a run's directory with pictures that were made of its files.
#[must_use]
pub fn pictures(dir: &Path) -> Vec<PathBuf> {
    [PLOTS, MOVIE].map(|name| dir.join(name)).into_iter().filter(|folder| folder.is_dir()).collect()
}

/// Makes the folder of a run's snapshots, if it is not there.
///
/// # Errors
/// [`Error::Storage`] if that fails.
pub fn make_snapshots(dir: &Path) -> Result<()> {
    let folder = dir.join(SNAPSHOTS);
    make_directory(&folder).map_err(|e| Error::storage(&folder, e))
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
