//! Output directory of a run: names of its files, creation, replacement, checks.

pub(crate) mod names;

pub use names::{
    ANALYSIS, CONFIG, ENSEMBLE, FAILED, IN_PROGRESS, LOG, MEMBERS, MOVIE, PLOTS, SERIES, SNAPSHOTS, SUMMARY,
};

use super::atomic::{make_directory, remove_durably, remove_if_present, write_atomically};
use super::checkpoint;
use super::fields::Journal;
use super::lock::{self, Lock};
use super::regular_file;
use std::fs;
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};

/// Returns the name of a file that identifies a directory as that of a run. Results of `tisane analyze` alone have no
/// such file.
#[must_use]
pub fn run_marker(dir: &Path) -> Option<&'static str> {
    let diagnostics = [Journal::Diagnostics.csv(), Journal::Diagnostics.hdf5()];
    let markers = [LOG, CONFIG, SUMMARY, checkpoint::NEWEST, checkpoint::PREVIOUS];
    markers.into_iter().chain(diagnostics).find(|name| dir.join(name).exists())
}

/// Largest number of runs that a message names.
const MAX_NAMED: usize = 8;

/// Returns the error for the directory of a run that does not exist, with the runs beside it.
#[must_use]
pub fn no_such_run(dir: &Path) -> Error {
    let help = "give the output directory of a run, by default runs/<name>/";
    if dir.exists() {
        return Error::input(dir, "this is a file").with_help(help);
    }
    let above = dir.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let runs = runs_in(above);
    let more = if runs.len() > MAX_NAMED { ", …" } else { "" };
    let beside = match runs.len() {
        0 => String::new(),
        n => format!(". In {}/: {}{more}", above.display(), runs[..n.min(MAX_NAMED)].join(", ")),
    };
    Error::input(dir, format!("there is no such run{beside}")).with_help(help)
}

/// Returns the names of the directories of runs and ensembles in a directory, sorted.
#[must_use]
pub fn runs_in(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().filter_map(std::result::Result::ok);
    let is_run = |path: &PathBuf| path.is_dir() && (run_marker(path).is_some() || path.join(ENSEMBLE).is_file());
    let runs = entries.map(|entry| entry.path()).filter(is_run);
    let mut names: Vec<String> =
        runs.filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())).collect();
    names.sort();
    names
}

/// Returns the path of a snapshot in the directory of a run.
#[must_use]
pub fn snapshot(dir: &Path, number: u64) -> PathBuf {
    dir.join(SNAPSHOTS).join(format!("snapshot_{number:04}.hdf5"))
}

/// Returns the paths of the snapshots of a run, in order of their numbers. `dir` is the directory of the run, or that
/// of its snapshots.
///
/// # Errors
/// [`Error::Input`] if there are none.
pub fn snapshots(dir: &Path) -> Result<Vec<PathBuf>> {
    if !dir.is_dir() {
        return Err(no_such_run(dir));
    }
    let of_run = dir.join(SNAPSHOTS);
    let found = numbered(if of_run.is_dir() { &of_run } else { dir })?;
    if found.is_empty() {
        let problem = match dir.join(CONFIG).is_file() {
            true => "a run without snapshots: there is no snapshots/snapshot_0000.hdf5",
            false => "not the output directory of a run: neither snapshots/snapshot_0000.hdf5 nor config.toml",
        };
        return Err(Error::input(dir, problem).with_help("`tisane run` creates one, by default runs/<name>/"));
    }
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// Describes the numbers that are missing among sorted snapshots, which a run counts from 0; [`None`] if all are there.
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

/// Returns the numbers of the snapshots in the directory of a run, in order; empty if it has no snapshots yet.
///
/// # Errors
/// [`Error::Input`] if the directory of the snapshots cannot be read.
pub fn snapshot_numbers(dir: &Path) -> Result<Vec<u64>> {
    let folder = dir.join(SNAPSHOTS);
    let found = if folder.is_dir() { numbered(&folder)? } else { Vec::new() };
    Ok(found.into_iter().map(|(number, _)| number).collect())
}

/// Returns the numbers and paths of the snapshots in a directory, in order. Files with other names are ignored.
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

/// Creates the directory of a new run, takes the lock on it and writes `config` into it, after checking that `needed`
/// bytes are free. An existing run is replaced only if `overwrite` is set; then only the files that a run writes are
/// removed.
///
/// # Errors
/// [`Error::Input`] if the directory is not empty, is used by another process, cannot be created, or has too little
/// space; [`Error::Storage`] if it cannot be written.
/// A run that an error ended before its first block step is replaced without it.
pub fn create(dir: &Path, config: &str, needed: u64, overwrite: bool) -> Result<Lock> {
    check_free(dir, overwrite)?;
    check_space(dir, needed)?;
    let cannot = |e| Error::input(dir, format!("cannot create the output directory: {e}"));
    make_directory(dir).map_err(cannot)?;
    let lock = Lock::take(dir)?;
    // Another process may have used the directory before the lock was taken.
    check_free(dir, overwrite)?;
    if overwrite || failed_at_its_start(dir) {
        check_removable(dir)?;
        remove_run(dir).map_err(|e| Error::input(dir, format!("cannot remove the old run: {e}")))?;
    }
    // Before the configuration: the log shows that a run wrote the directory.
    let log = dir.join(LOG);
    regular_file::append(&log).map_err(|e| Error::input(&log, e))?;
    write_config(dir, config)?;
    Ok(lock)
}

/// Returns true if a directory has a run that an error ended before its first block step: a new run may replace it, as
/// there is nothing to lose.
fn failed_at_its_start(dir: &Path) -> bool {
    let text = regular_file::read_to_string(&dir.join(SUMMARY)).unwrap_or_default();
    let summary: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    summary["exit_reason"] == FAILED && summary["block_steps"] == 0
}

/// Checks that a directory is empty or missing. With `overwrite`, checks instead that the files to be replaced are
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
    if failed_at_its_start(dir) {
        // Whether a process still uses it is seen by the lock.
        return check_log(dir);
    }
    lock::check(dir)?;
    let help = "give another with --output, continue it with `tisane resume`, or replace it with --overwrite";
    Err(Error::input(dir, "the output directory already holds files").with_help(help))
}

/// Checks that files with the names of a run's files come with a log, which a run creates first and removes last:
/// without it they may be the user's own.
fn check_log(dir: &Path) -> Result<()> {
    if dir.join(LOG).exists() {
        return Ok(());
    }
    let named = names().map(|name| dir.join(name)).find(|path| path.exists());
    match named.or(snapshot_numbers(dir)?.first().map(|&number| snapshot(dir, number))) {
        None => Ok(()),
        Some(path) => {
            let problem =
                format!("--overwrite would replace this file, which was not written by a run: there is no {LOG}");
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

/// Returns the bytes available to the user in the file system of `dir`, which need not exist yet; [`None`] if unknown.
#[must_use]
pub fn free_space(dir: &Path) -> Option<u64> {
    let here = std::path::absolute(dir).ok()?;
    let existing = here.ancestors().find(|path| path.exists())?;
    let system = rustix::fs::statvfs(existing).ok()?;
    Some(system.f_bavail.saturating_mul(system.f_frsize))
}

/// Checks that `needed` bytes are free.
fn check_space(dir: &Path, needed: u64) -> Result<()> {
    match free_space(dir) {
        Some(free) if free < needed => Err(Error::input(
            dir,
            format!("only {} are free, but a snapshot and two checkpoints take {}", bytes(free), bytes(needed)),
        )),
        _ => Ok(()),
    }
}

/// Formats a number of bytes with a binary prefix: `1.5 GiB`.
#[must_use]
pub fn bytes(n: u64) -> String {
    indicatif::HumanBytes(n).to_string()
}

/// Checks that the files of a run can be removed, by creating a temporary file in each of its directories.
fn check_removable(dir: &Path) -> Result<()> {
    check_folder(&dir.join(SNAPSHOTS))?;
    let folders = [dir.to_owned(), dir.join(SNAPSHOTS)].into_iter().chain(analysis(dir));
    for folder in folders.filter(|folder| folder.is_dir()) {
        tempfile::tempfile_in(&folder).map_err(|e| {
            Error::input(&folder, format!("cannot remove the old run: this directory is not writable: {e}"))
        })?;
    }
    Ok(())
}

/// Removes the summary of a run that is resumed, so that it does not look complete.
///
/// # Errors
/// [`Error::Storage`] if it cannot be removed.
pub fn remove_summary(dir: &Path) -> Result<()> {
    let path = dir.join(SUMMARY);
    remove_durably(&path).map_err(|e| Error::storage(&path, e))
}

/// Returns the names of the files that a run writes in its directory, except the log and the snapshots.
fn names() -> impl Iterator<Item = &'static str> {
    [CONFIG, SUMMARY, checkpoint::NEWEST, checkpoint::PREVIOUS].into_iter().chain(OF_ENSEMBLES).chain(journals())
}

/// Names of the files that an ensemble writes besides those.
const OF_ENSEMBLES: [&str; 6] = [ENSEMBLE, IN_PROGRESS, "members.csv", "members.hdf5", "series.csv", "series.hdf5"];

/// Returns the names of the files of all journals.
fn journals() -> impl Iterator<Item = &'static str> {
    Journal::ALL.into_iter().flat_map(|journal| [journal.csv(), journal.hdf5()])
}

/// Returns the directory of the journals derived from the snapshots, if it exists and is not a link.
fn analysis(dir: &Path) -> Option<PathBuf> {
    Some(dir.join(ANALYSIS)).filter(|folder| fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir()))
}

/// Removes the files that a run writes and the journals derived from its snapshots, and nothing else.
fn remove_run(dir: &Path) -> Result<()> {
    for path in names().map(|name| dir.join(name)) {
        remove_if_present(&path).map_err(|e| Error::storage(&path, e))?;
    }
    remove_snapshots(dir, 0)?;
    if let Some(analysis) = analysis(dir) {
        for path in journals().map(|name| analysis.join(name)) {
            remove_if_present(&path).map_err(|e| Error::storage(&path, e))?;
        }
        // Fails if the user has other files in it; then it stays.
        let _ = fs::remove_dir(&analysis);
    }
    let log = dir.join(LOG);
    remove_if_present(&log).map_err(|e| Error::storage(&log, e))
}

/// Returns the directories of figures and films in the directory of a run.
#[must_use]
pub fn pictures(dir: &Path) -> Vec<PathBuf> {
    [PLOTS, MOVIE].map(|name| dir.join(name)).into_iter().filter(|folder| folder.is_dir()).collect()
}

/// Checks that a folder in the directory of a run is no link: files are written, and removed, in the directory itself.
///
/// # Errors
/// [`Error::Input`] if it is a link.
pub fn check_folder(folder: &Path) -> Result<()> {
    if !fs::symlink_metadata(folder).is_ok_and(|found| found.is_symlink()) {
        return Ok(());
    }
    let target = fs::read_link(folder).unwrap_or_default();
    let problem =
        format!("this is a link to {}: nothing is written, or removed, where a link leads to", target.display());
    let help = "put a folder in its place; to write to another disk, give a directory there with --output, \
                which may be a link";
    Err(Error::input(folder, problem).with_help(help))
}

/// Creates the directory of the snapshots of a run, if it does not exist.
///
/// # Errors
/// [`Error::Storage`] if it cannot be created; [`Error::Input`] if it is a link.
pub fn make_snapshots(dir: &Path) -> Result<()> {
    let folder = dir.join(SNAPSHOTS);
    check_folder(&folder)?;
    make_directory(&folder).map_err(|e| Error::storage(&folder, e))
}

/// Removes the snapshots of a run from number `first` on, and temporary files of snapshots left by a killed process.
///
/// # Errors
/// [`Error::Storage`] if the directory cannot be read or a file cannot be removed.
pub fn remove_snapshots(dir: &Path, first: u64) -> Result<()> {
    let folder = dir.join(SNAPSHOTS);
    check_folder(&folder)?;
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(&folder).map_err(|e| Error::storage(&folder, e))? {
        let path = entry.map_err(|e| Error::storage(&folder, e))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let unfinished = name.strip_prefix('.').and_then(|name| name.strip_suffix(".partial"));
        let name = unfinished.unwrap_or(&name);
        let number = number_of(name).or_else(|| (first == 0 && is_of_member(name)).then_some(0));
        if number.is_some_and(|number| number >= first || unfinished.is_some()) {
            remove_if_present(&path).map_err(|e| Error::storage(&path, e))?;
        }
    }
    Ok(())
}

/// Returns true for the file name of a snapshot of a member of an ensemble.
fn is_of_member(name: &str) -> bool {
    name.strip_prefix("member_").is_some_and(|rest| rest.ends_with(".hdf5"))
}

/// Parses the number in the file name of a snapshot.
fn number_of(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("snapshot_")?.strip_suffix(".hdf5")?;
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
}
