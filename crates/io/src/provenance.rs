//! Provenance of a file: program, machine, configuration, initial conditions, and the state from which it was written.

mod units;

use super::directory::names::SUMMARY;
use super::fields::Journal;
use super::formats::sniff::head;
use super::hdf::FileKind;
use super::hdf::read::{SIGNATURE, TisaneFile, TisaneGroup};
use super::hdf::write::{H5Result, put, put_text};
use super::machine;
use hdf5::Group;
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tisane::error::{Error, Result};

/// Maximum length of a `summary.json`, in bytes.
const LONGEST_SUMMARY: u64 = 1 << 24;
/// Help for a file without provenance.
const WHICH: &str = "give a snapshot, a checkpoint, diagnostics.hdf5 or summary.json of a run";

/// Record of the program, machine and input that produced a file, sufficient to reproduce it. Text is empty if unknown
/// or not applicable.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Provenance {
    /// Version of tisane.
    pub version: String,
    /// Git commit of the build, with `-dirty` if the sources were modified; `unknown` without git.
    pub git_commit: String,
    /// Version string of the compiler.
    pub build_rustc: String,
    /// Target triple of the build.
    pub build_target: String,
    /// Optimisation level of the build.
    pub build_opt_level: String,
    /// Features of the build, separated by commas.
    pub build_features: String,
    /// Name of the machine.
    pub host: String,
    /// Model of its CPU.
    pub cpu: String,
    /// Vector extensions of its CPU that tisane can use, separated by spaces.
    pub cpu_features: String,
    /// GPU that computed the forces, with its driver; empty without a GPU.
    pub gpu: String,
    /// Time of this record: UTC, RFC 3339.
    pub created: String,
    /// Force engine, with `auto` resolved.
    pub engine: String,
    /// Precision mode, as in the configuration.
    pub precision: String,
    /// Random seed of the initial model, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Configuration file of the user, byte for byte.
    pub config_as_written: String,
    /// Overrides of the command line, as a JSON array of `section.key=value`.
    pub config_overrides: String,
    /// Configuration with all defaults.
    pub config_resolved: String,
    /// Input files of particles, masses and fields: a JSON array of objects with `key`, `file` (an absolute path) and `sha256`.
    pub inputs: String,
    /// Settings that were changed when the run was resumed: a JSON array of [`Change`], in order; empty without changes.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub changes: String,
    /// SHA-256 of the initial state.
    pub initial_sha256: String,
    /// SHA-256 of the state from which the file was written.
    pub state_sha256: String,
    /// Number of block steps from the start of the run to that state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_block_steps: Option<u64>,
    /// Time of that state, in the user's unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_time: Option<f64>,
}

/// Input file of the initial conditions of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// Configuration key that names the file.
    pub key: String,
    /// Absolute path.
    pub file: String,
    /// SHA-256 of the file.
    pub sha256: String,
}

/// Setting that was changed when a run was resumed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Configuration key, as `section.key`.
    pub key: String,
    /// Value before, as in JSON; null where there was none.
    pub from: serde_json::Value,
    /// Value from then on.
    pub to: serde_json::Value,
    /// True if the trajectory depends on the key: the bits from then on are those of the new value.
    pub trajectory: bool,
    /// Number of block steps of the run before the change.
    pub block_steps: u64,
    /// Time of the change, in the user's unit.
    pub time: f64,
    /// Moment of the change: UTC, RFC 3339.
    pub made: String,
}

impl Provenance {
    /// Returns the provenance of this program: version, build, machine and the present time. The fields that describe
    /// the run are empty.
    #[must_use]
    pub fn current() -> Self {
        let build = build();
        Self {
            version: version().into(),
            git_commit: git_commit().into(),
            build_rustc: build.rustc.into(),
            build_target: build.target.into(),
            build_opt_level: build.opt_level.into(),
            build_features: build.features.into(),
            host: machine::host(),
            cpu: machine::cpu(),
            cpu_features: machine::cpu_features(),
            created: now_utc(),
            ..Self::default()
        }
    }

    /// Parses the overrides of the command line.
    ///
    /// # Errors
    /// A message if they are not a JSON array of strings.
    pub fn overrides(&self) -> std::result::Result<Vec<String>, String> {
        if self.config_overrides.is_empty() {
            return Ok(Vec::new());
        }
        serde_json::from_str(&self.config_overrides).map_err(|e| format!("config_overrides: {e}"))
    }

    /// Parses the input files.
    ///
    /// # Errors
    /// A message if they are not a JSON array of [`InputFile`].
    pub fn inputs(&self) -> std::result::Result<Vec<InputFile>, String> {
        if self.inputs.is_empty() {
            return Ok(Vec::new());
        }
        serde_json::from_str(&self.inputs).map_err(|e| format!("inputs: {e}"))
    }

    /// Parses the settings that were changed when the run was resumed.
    ///
    /// # Errors
    /// A message if they are not a JSON array of [`Change`].
    pub fn changes(&self) -> std::result::Result<Vec<Change>, String> {
        if self.changes.is_empty() {
            return Ok(Vec::new());
        }
        serde_json::from_str(&self.changes).map_err(|e| format!("changes: {e}"))
    }

    /// Returns the provenance with the overrides `sets` of the command line.
    #[must_use]
    pub fn with_overrides(self, sets: &[String]) -> Self {
        Self { config_overrides: serde_json::json!(sets).to_string(), ..self }
    }
}

/// Attribute with the settings that were changed when the run was resumed, if any.
const CHANGES: &str = "changes";

/// Text field: format version that introduced it, attribute name, value.
type TextField<'a> = (u64, &'static str, &'a mut String);

/// Returns the text fields, as one list for writing and reading.
fn texts(p: &mut Provenance) -> [TextField<'_>; 19] {
    [
        (1, "version", &mut p.version),
        (1, "git_commit", &mut p.git_commit),
        (2, "build_rustc", &mut p.build_rustc),
        (2, "build_target", &mut p.build_target),
        (2, "build_opt_level", &mut p.build_opt_level),
        (2, "build_features", &mut p.build_features),
        (1, "host", &mut p.host),
        (2, "cpu", &mut p.cpu),
        (2, "cpu_features", &mut p.cpu_features),
        (2, "gpu", &mut p.gpu),
        (1, "created", &mut p.created),
        (1, "engine", &mut p.engine),
        (1, "precision", &mut p.precision),
        (1, "config_as_written", &mut p.config_as_written),
        (2, "config_overrides", &mut p.config_overrides),
        (1, "config_resolved", &mut p.config_resolved),
        (2, "inputs", &mut p.inputs),
        (2, "initial_sha256", &mut p.initial_sha256),
        (2, "state_sha256", &mut p.state_sha256),
    ]
}

/// Writes a provenance as attributes of a group.
pub(super) fn write(provenance: &Provenance, group: &Group) -> H5Result {
    for (_, name, text) in texts(&mut provenance.clone()) {
        put_text(group, name, text)?;
    }
    if !provenance.changes.is_empty() {
        put_text(group, CHANGES, &provenance.changes)?;
    }
    provenance.state_block_steps.map_or(Ok(()), |steps| put(group, "state_block_steps", &steps))?;
    provenance.state_time.map_or(Ok(()), |time| put(group, "state_time", &time))?;
    provenance.seed.map_or(Ok(()), |seed| put(group, "seed", &seed))
}

/// Reads a provenance that [`write()`] wrote in a file of the given format version.
pub(super) fn read(node: &TisaneGroup<'_>, format_version: u64) -> Result<Provenance> {
    let mut provenance = Provenance::default();
    for (since, name, text) in texts(&mut provenance) {
        if since <= format_version {
            *text = node.text(name)?;
        }
    }
    if node.has(CHANGES) {
        provenance.changes = node.text(CHANGES)?;
    }
    provenance.seed = optional(node, "seed")?;
    provenance.state_block_steps = optional(node, "state_block_steps")?;
    provenance.state_time = optional(node, "state_time")?;
    Ok(provenance)
}

/// Reads an attribute if it exists.
fn optional<T: hdf5::H5Type>(node: &TisaneGroup<'_>, name: &str) -> Result<Option<T>> {
    if node.has(name) { node.get(name).map(Some) } else { Ok(None) }
}

/// Reads the provenance of a snapshot, a checkpoint, the HDF5 file of a journal, or `summary.json`.
///
/// # Errors
/// [`Error::Input`] if the file is missing, damaged, without provenance, or from a version that did not record the
/// state.
pub fn from_file(path: &Path) -> Result<Provenance> {
    if path.is_dir() {
        return Err(Error::input(path, "this is a directory").with_help(WHICH));
    }
    let head = head(path).map_err(|e| match e {
        Error::Input { path, problem, .. } => Error::input(path, problem).with_help(WHICH),
        other => other,
    })?;
    let provenance = if head.starts_with(SIGNATURE) {
        let tree = TisaneFile::open(path, &FileKind::ALL, false)?;
        let found = read(&tree.group("Provenance")?, tree.version)?;
        if found.state_sha256.is_empty() && tree.version < 2 {
            let problem =
                format!("format version {} (tisane {}) recorded no hash of the state", tree.version, found.version);
            return Err(Error::input(path, problem).with_help(
                "a reproduction could not be compared with it; its configuration is in the attributes of \
                 /Provenance, and `tisane resume` or a run from it writes files that can be reproduced",
            ));
        }
        found
    } else if head.first() == Some(&b'{') {
        from_summary(path)?
    } else if let Some(journal) = Journal::from_csv(&head) {
        return Err(Error::input(path, "a CSV file has no provenance")
            .with_help(format!("give {} instead, which has the same rows", journal.hdf5())));
    } else {
        return Err(Error::input(path, "not a file of a run of tisane, or a file without provenance").with_help(WHICH));
    };
    if provenance.state_sha256.is_empty() || provenance.state_block_steps.is_none() {
        return Err(Error::input(path, "its provenance does not identify a state to reproduce").with_help(WHICH));
    }
    Ok(provenance)
}

/// Returns the SHA-256 of the initial conditions from an HDF5 file of a run; [`None`] if the file is missing, damaged,
/// or of a version that did not record it.
#[must_use]
pub fn initial_sha256(path: &Path) -> Option<String> {
    let tree = TisaneFile::open(path, &FileKind::ALL, false).ok()?;
    let found = read(&tree.group("Provenance").ok()?, tree.version).ok()?;
    Some(found.initial_sha256).filter(|hash| !hash.is_empty())
}

/// Reads the provenance from a `summary.json`.
fn from_summary(path: &Path) -> Result<Provenance> {
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(|e| Error::input(path, e))?;
    file.take(LONGEST_SUMMARY).read_to_string(&mut text).map_err(|e| Error::input(path, e))?;
    let summary: serde_json::Value =
        serde_json::from_str(&text).map_err(|e| Error::input(path, format!("not JSON: {e}")))?;
    match summary.get("provenance") {
        Some(found) => serde_json::from_value(found.clone())
            .map_err(|e| Error::input(path, format!("provenance: {e}")).with_help(WHICH)),
        None if summary.get("state_sha256").is_some() => {
            let version = summary.get("version").and_then(serde_json::Value::as_str).unwrap_or("of an unknown version");
            Err(Error::input(path, format!("tisane {version} wrote this {} without provenance", SUMMARY)).with_help(
                "that version recorded provenance in snapshots and checkpoints only, without a hash of the state",
            ))
        }
        None => Err(Error::input(path, "JSON, but not the summary of a run").with_help(WHICH)),
    }
}

/// Returns the version of tisane.
#[must_use]
pub const fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Build of the program, as recorded in its files.
#[derive(Clone, Copy, Debug)]
pub struct Build {
    /// Git commit, with `-dirty` if the sources were modified; `unknown` without git.
    pub git_commit: &'static str,
    /// Version string of the compiler.
    pub rustc: &'static str,
    /// Target triple.
    pub target: &'static str,
    /// Optimisation level.
    pub opt_level: &'static str,
    /// Features, separated by commas.
    pub features: &'static str,
}

/// Last second of the year 9999, from 1970 on.
const LAST_SECOND: u64 = 253_402_300_799;

static BUILD: OnceLock<Build> = OnceLock::new();

/// Sets the build of the program. Called once at its start; files written before record an unknown build.
pub fn declare_build(build: Build) {
    let _ = BUILD.set(build);
}

/// Returns the build set by [`declare_build`].
fn build() -> Build {
    let unknown = Build { git_commit: "unknown", rustc: "", target: "", opt_level: "", features: "" };
    *BUILD.get().unwrap_or(&unknown)
}

/// Returns the git commit of the build, `unknown` without git.
#[must_use]
pub fn git_commit() -> &'static str {
    build().git_commit
}

/// Returns the present time in UTC, as RFC 3339 text with a resolution of 1 s.
#[must_use]
pub fn now_utc() -> String {
    utc(SystemTime::now())
}

/// Returns a time as [`now_utc`]. A clock that stands before 1970 or after 9999 is taken as at the nearer end of these
/// years, which is all that such a text can say.
fn utc(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs().min(LAST_SECOND));
    humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(seconds)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_clock_has_a_text() {
        let after = |seconds: u64| UNIX_EPOCH + Duration::from_secs(seconds);
        for (time, text) in [
            (after(1_500_000_000), "2017-07-14T02:40:00Z"),
            (UNIX_EPOCH - Duration::from_millis(1), "1970-01-01T00:00:00Z"),
            (UNIX_EPOCH - Duration::from_secs(1 << 40), "1970-01-01T00:00:00Z"),
            (after(LAST_SECOND), "9999-12-31T23:59:59Z"),
            (after(LAST_SECOND + 1), "9999-12-31T23:59:59Z"),
            (after(1 << 50), "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(utc(time), text);
        }
    }
}
