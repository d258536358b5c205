//! Space that the files of a run take, and the space that is left for it.

use super::settings::Settings;
use crate::checkpoint::{NEWEST, PREVIOUS};
use crate::directory::{self, ANALYSIS, LOG, MOVIE, PLOTS, SNAPSHOTS};
use crate::fields::Journal;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// Deepest folder below the directory of a run whose files are counted.
const DEEPEST: u32 = 4;

/// Space of the files of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Disk {
    /// Kinds of files with their numbers and bytes, without kinds that there are none of.
    pub kinds: Vec<(&'static str, u64, u64)>,
    /// Bytes that the user may still write; [`None`] if unknown.
    pub free: Option<u64>,
    /// Bytes that the run still needs to reach its end; [`None`] if unknown.
    pub needed: Option<u64>,
    /// Bytes that it writes in a second of wall time; [`None`] if unknown.
    pub bytes_per_second: Option<f64>,
    /// Checkpoints that there are: name, bytes, seconds since it was written.
    pub checkpoints: Vec<(&'static str, u64, f64)>,
    /// Seconds since the last row of diagnostics was written.
    pub last_row: Option<f64>,
}

/// Progress of a run, from which the space that it needs follows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Course {
    /// Time of the first row.
    pub start: f64,
    /// Time of the last row.
    pub reached: f64,
    /// Wall time until then, in s.
    pub wall_seconds: f64,
}

const SNAPSHOT_FILES: &str = "snapshots";
const JOURNAL_FILES: &str = "journals";
/// Kinds of files in their order.
const KINDS: [&str; 6] = [SNAPSHOT_FILES, "checkpoints", JOURNAL_FILES, "pictures", "analysis", "others"];

impl Disk {
    /// Measures the files below the directory of a run. Links are not followed.
    #[must_use]
    pub fn measure(dir: &Path, settings: &Settings, course: Option<Course>) -> Self {
        let mut counts = [(0, 0); KINDS.len()];
        count(dir, dir, 0, &mut counts);
        let mut disk = Self {
            kinds: KINDS.iter().zip(counts).filter(|(_, (n, _))| *n > 0).map(|(kind, (n, b))| (*kind, n, b)).collect(),
            free: directory::free_space(dir),
            checkpoints: [NEWEST, PREVIOUS]
                .into_iter()
                .filter_map(|name| Some((name, fs::metadata(dir.join(name)).ok()?.len(), age(&dir.join(name))?)))
                .collect(),
            last_row: age(&dir.join(Journal::Diagnostics.csv())),
            ..Self::default()
        };
        if let Some(course) = course {
            let written = disk.bytes(SNAPSHOT_FILES) + disk.bytes(JOURNAL_FILES);
            disk.bytes_per_second = Some(written as f64 / course.wall_seconds).filter(|rate| rate.is_finite());
            disk.needed = disk.needed(settings, course);
        }
        disk
    }

    /// Returns the bytes of a kind.
    #[must_use]
    pub fn bytes(&self, kind: &str) -> u64 {
        self.kinds.iter().find(|(name, ..)| *name == kind).map_or(0, |(_, _, bytes)| *bytes)
    }

    /// Returns the bytes of all kinds.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.kinds.iter().map(|(_, _, bytes)| bytes).sum()
    }

    /// Returns the size of a snapshot.
    fn snapshot(&self) -> Option<f64> {
        let (_, number, bytes) = self.kinds.iter().find(|(name, ..)| *name == SNAPSHOT_FILES)?;
        Some(*bytes as f64 / *number as f64)
    }

    /// Estimates the space of the snapshots that are still to come, and of the journals, which grow with time.
    fn needed(&self, settings: &Settings, course: Course) -> Option<u64> {
        let left = (settings.t_end? - course.reached).max(0.0);
        let snapshots = (left / settings.snapshot_interval?).ceil() * self.snapshot()?;
        let done = course.reached - course.start;
        let journals = if done > 0.0 { self.bytes(JOURNAL_FILES) as f64 / done * left } else { 0.0 };
        Some((snapshots + journals) as u64)
    }

    /// Returns true if the space that is left does not hold what the run still writes.
    #[must_use]
    pub fn is_short(&self) -> bool {
        self.free.zip(self.needed).is_some_and(|(free, needed)| free < needed)
    }
}

/// Adds the files below a folder.
fn count(top: &Path, folder: &Path, depth: u32, counts: &mut [(u64, u64); KINDS.len()]) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_dir() && depth < DEEPEST {
            count(top, &entry.path(), depth + 1, counts);
        } else if metadata.is_file() {
            let path = entry.path();
            let (files, bytes) = &mut counts[kind(path.strip_prefix(top).unwrap_or(&path))];
            *files += 1;
            *bytes += metadata.len();
        }
    }
}

/// Returns the index of the kind of a file, by its path in the directory of a run.
fn kind(path: &Path) -> usize {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let folder = path.iter().next().and_then(|first| first.to_str()).filter(|_| path.iter().count() > 1);
    let is_journal = |journal: &Journal| [journal.csv(), journal.hdf5()].contains(&name);
    match folder {
        Some(SNAPSHOTS) => 0,
        Some(PLOTS | MOVIE) => 3,
        Some(ANALYSIS) => 4,
        Some(_) => 5,
        None if [NEWEST, PREVIOUS].contains(&name) => 1,
        None if name == LOG || Journal::ALL.iter().any(is_journal) => 2,
        None => 5,
    }
}

/// Returns the seconds since a file was written; 0 if its time is ahead of the clock.
fn age(path: &Path) -> Option<f64> {
    let written = fs::metadata(path).and_then(|metadata| metadata.modified()).ok()?;
    Some(SystemTime::now().duration_since(written).map_or(0.0, |age| age.as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_by_kind_and_the_rest_of_the_run_is_estimated() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: usize| {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, vec![0; bytes]).unwrap();
        };
        for number in 0..3 {
            write(&format!("snapshots/snapshot_000{number}.hdf5"), 1000);
        }
        write("checkpoint.hdf5", 300);
        write("diagnostics.csv", 40);
        write("events.hdf5", 50);
        write("run.log", 10);
        write("plots/a.svg", 7);
        write("analysis/cluster.csv", 5);
        write("config.toml", 3);
        std::os::unix::fs::symlink(dir.path(), dir.path().join("plots/loop")).unwrap();
        let settings = Settings::parse("[run]\nt_end = 10\n[output]\ninterval = 0.5\nsnapshot_interval = 1").unwrap();
        let course = Course { start: 0.0, reached: 2.0, wall_seconds: 10.0 };
        let disk = Disk::measure(dir.path(), &settings, Some(course));
        let expected = [
            ("snapshots", 3, 3000),
            ("checkpoints", 1, 300),
            ("journals", 3, 100),
            ("pictures", 1, 7),
            ("analysis", 1, 5),
            ("others", 1, 3),
        ];
        assert_eq!((disk.kinds.as_slice(), disk.total()), (&expected[..], 3415));
        assert_eq!((disk.needed, disk.bytes_per_second), (Some(8000 + 400), Some(310.0)));
        assert!(disk.free.is_some() && disk.last_row.is_some() && !disk.is_short());
        let names: Vec<_> = disk.checkpoints.iter().map(|(name, bytes, _)| (*name, *bytes)).collect();
        assert_eq!(names, [("checkpoint.hdf5", 300)]);
        assert!(Disk { free: Some(8000), ..disk }.is_short());
        let nothing = Disk::measure(&dir.path().join("none"), &settings, None);
        assert_eq!((nothing.total(), nothing.needed, nothing.is_short()), (0, None, false));
    }
}
