//! The points of a study that are finished: one line of JSON each, on the disk as soon as it is measured, so that a
//! study that is killed goes on where it was. The first line says what measured them; points of another program or
//! machine are refused.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};
use tisane_io::lock::{self, Lock};
use tisane_io::{machine, provenance, regular_file};

/// Name of the journal in the directory of a study.
pub const JOURNAL: &str = "points.jsonl";
/// Version of its layout.
const FORMAT: u64 = 1;
/// Variables that choose what computes.
const VARIABLES: [&str; 4] = ["TISANE_SIMD", "TISANE_KERNELS", "TISANE_NVRTC", "TISANE_SHAPES"];

/// Program and machine that measured the points of a study: points of others do not continue it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// Name of the study.
    pub study: String,
    /// Layout of the journal.
    pub format: u64,
    /// Version of tisane.
    pub version: String,
    /// Commit that tisane was built from.
    pub git_commit: String,
    /// Name of the machine.
    pub host: String,
    /// Its processor.
    pub processor: String,
    /// Settings by environment variables.
    pub settings: String,
    /// Time at which the study was begun: UTC, RFC 3339.
    pub created: String,
}

impl Stamp {
    /// Returns the stamp of this program on this machine, at the present time.
    #[must_use]
    pub fn now(study: &str) -> Self {
        let set = VARIABLES.iter().filter_map(|name| Some(format!("{name}={}", std::env::var(name).ok()?)));
        Self {
            study: study.into(),
            format: FORMAT,
            version: provenance::version().into(),
            git_commit: provenance::git_commit().into(),
            host: machine::host(),
            processor: processor(),
            settings: set.collect::<Vec<_>>().join(" "),
            created: provenance::now_utc(),
        }
    }

    /// Names and values, as they stand above a table.
    #[must_use]
    pub fn remarks(&self) -> Vec<(String, String)> {
        let remark = |(name, value): (&str, &String)| (name.to_owned(), value.clone());
        self.fields().into_iter().filter(|(_, value)| !value.is_empty()).map(remark).collect()
    }

    fn fields(&self) -> [(&'static str, &String); 7] {
        [
            ("study", &self.study),
            ("version", &self.version),
            ("git_commit", &self.git_commit),
            ("host", &self.host),
            ("processor", &self.processor),
            ("settings", &self.settings),
            ("created", &self.created),
        ]
    }

    /// Returns the differences from the stamp of older points, apart from the date.
    fn differences(&self, older: &Self) -> Vec<String> {
        let mut found = Vec::new();
        for ((name, now), (_, then)) in self.fields().into_iter().zip(older.fields()) {
            if now != then && name != "created" {
                found.push(format!("{name} was \"{then}\" and is \"{now}\""));
            }
        }
        if self.format != older.format {
            found.push(format!("its format is {}, and this tisane writes {}", older.format, self.format));
        }
        found
    }
}

/// The processor's name, `unknown` where the system does not say.
#[must_use]
pub fn processor() -> String {
    let about = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = about.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(|| "unknown".into(), |(_, name)| name.trim().into())
}

/// Result of a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome<R> {
    /// Measured.
    Done(R),
    /// Not measurable: the reason why the integration cannot go on with these parameters.
    Failed(String),
}

impl<R> Outcome<R> {
    /// Measurement, if there is one.
    pub fn done(&self) -> Option<&R> {
        match self {
            Self::Done(result) => Some(result),
            Self::Failed(_) => None,
        }
    }

    /// Reason why there is none.
    pub fn failure(&self) -> Option<&str> {
        match self {
            Self::Done(_) => None,
            Self::Failed(why) => Some(why),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<K, R> {
    key: K,
    result: Outcome<R>,
}

/// The journal of a study under way. It holds the lock on its directory: two processes would measure each other.
#[derive(Debug)]
pub struct Journal<K, R> {
    path: PathBuf,
    file: File,
    stamp: Stamp,
    points: Vec<(K, Outcome<R>)>,
    lock: Lock,
}

impl<K, R> Journal<K, R>
where
    K: PartialEq + Serialize + DeserializeOwned,
    R: Serialize + DeserializeOwned,
{
    /// Opens the journal in `dir`, which is made where it is missing, with the points that are there; `afresh` drops
    /// them.
    ///
    /// # Errors
    /// [`Error::Input`] if the directory holds other files, another process is at work in it, the journal cannot be
    /// read, or its points were measured by another program, study or machine.
    pub fn open(dir: &Path, stamp: Stamp, afresh: bool) -> Result<Self> {
        let path = dir.join(JOURNAL);
        if !path.exists() && lock::is_empty(dir).is_ok_and(|empty| !empty) {
            let help = "give another directory with --output";
            let problem = format!("holds files, and none is the journal of a study ({JOURNAL})");
            return Err(Error::input(dir, problem).with_help(help));
        }
        let cannot = |e: std::io::Error| Error::input(dir, format!("cannot be used for a study: {e}"));
        fs::create_dir_all(dir).map_err(cannot)?;
        let lock = Lock::take(dir)?;
        let file = regular_file::append(&path).map_err(|e| Error::input(&path, e))?;
        if afresh {
            file.set_len(0).map_err(cannot)?;
        }
        let bytes = fs::read(&path).map_err(cannot)?;
        // A line that a kill cut off has no end: its point is measured again.
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        file.set_len(whole as u64).map_err(cannot)?;
        let mut journal = Self { path, file, stamp, points: Vec::new(), lock };
        journal.take_over(&bytes[..whole])?;
        Ok(journal)
    }

    fn take_over(&mut self, bytes: &[u8]) -> Result<()> {
        let wrong = |line: usize, problem: &dyn std::fmt::Display| {
            let help = "repair or remove that line, or measure everything again with --overwrite";
            Error::input(&self.path, format!("line {line}: {problem}")).with_help(help)
        };
        let text = str::from_utf8(bytes).map_err(|e| {
            let line = 1 + bytes[..e.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
            wrong(line, &"not UTF-8 text")
        })?;
        let mut lines = text.lines();
        let Some(head) = lines.next() else {
            let head = serde_json::to_string(&self.stamp).map_err(|e| Error::storage(&self.path, e))?;
            return self.append(&head);
        };
        let head: Stamp = serde_json::from_str(head)
            .map_err(|e| wrong(1, &format!("expected what measured the points of a study: {e}")))?;
        let differences = self.stamp.differences(&head);
        if !differences.is_empty() {
            let problem = format!("its points cannot be gone on with: {}", differences.join("; "));
            let help = "give another directory with --output, or measure everything again with --overwrite";
            return Err(Error::input(&self.path, problem).with_help(help));
        }
        let mut points = Vec::new();
        for (k, line) in lines.enumerate() {
            let Line { key, result } = serde_json::from_str(line)
                .map_err(|e| wrong(k + 2, &format!("expected a point of the study \"{}\": {e}", head.study)))?;
            points.push((key, result));
        }
        (self.stamp, self.points) = (head, points);
        Ok(())
    }

    /// Returns what the user needs to know about the lock on the directory, as [`Lock::warning`].
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        self.lock.warning()
    }

    /// Program and machine that measured the points.
    #[must_use]
    pub fn stamp(&self) -> &Stamp {
        &self.stamp
    }

    /// Returns the result of a point, if it is finished.
    #[must_use]
    pub fn get(&self, key: &K) -> Option<&Outcome<R>> {
        self.points.iter().rev().find(|(of, _)| of == key).map(|(_, result)| result)
    }

    /// Stores a finished point, which is on the disk when this returns.
    ///
    /// # Errors
    /// [`Error::Storage`] if it cannot be written, or would not be read back as it is (a number that is not finite).
    pub fn keep(&mut self, key: K, result: Outcome<R>) -> Result<()> {
        let line = Line { key, result };
        let text = serde_json::to_string(&line).map_err(|e| Error::storage(&self.path, e))?;
        let again: Line<K, R> = serde_json::from_str(&text)
            .map_err(|e| Error::storage(&self.path, format!("a point that cannot be kept: {e}: {text}")))?;
        self.append(&text)?;
        self.points.push((again.key, again.result));
        Ok(())
    }

    fn append(&mut self, line: &str) -> Result<()> {
        let written = self.file.write_all(format!("{line}\n").as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|e| Error::storage(&self.path, e))
    }
}
