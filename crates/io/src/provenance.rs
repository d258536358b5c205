//! Where a file comes from: program, machine, configuration, initial conditions, and the state it was written from.

mod from_file;

pub use from_file::{from_file, initial_sha256};

use super::hdf::read::TisaneGroup;
use super::hdf::write::{H5Result, put, put_text};
use super::machine;
use hdf5::Group;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;
use std::time::SystemTime;
use tisane::error::Result;

/// Everything needed to say, years later, what made a file, and to make it again. Text that is empty was not known, or does
/// not apply.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Provenance {
    /// tisane's version.
    pub version: String,
    /// Git commit that tisane was built from, with `-dirty` if the sources differed; `unknown` without git.
    pub git_commit: String,
    /// The compiler that built it, as it names itself.
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
    /// Vector extensions of its CPU that tisane asks for, separated by spaces.
    pub cpu_features: String,
    /// The GPU that computed the forces, with its driver; empty where none did.
    pub gpu: String,
    /// When this was recorded: UTC, RFC 3339.
    pub created: String,
    /// Force engine that computed, `auto` resolved.
    pub engine: String,
    /// Precision mode, as in the configuration.
    pub precision: String,
    /// Seed of the initial model, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The configuration file, byte for byte as the user wrote it.
    pub config_as_written: String,
    /// What the command line put on top, as a JSON array of `section.key=value`.
    pub config_overrides: String,
    /// The configuration with every default written out.
    pub config_resolved: String,
    /// The files that particles and masses came from: a JSON array of objects with `key`, `file` (an absolute path) and `sha256`.
    pub inputs: String,
    /// SHA-256 of the initial conditions: the hash of the state at the start.
    pub initial_sha256: String,
    /// SHA-256 of the state that the file was written from.
    pub state_sha256: String,
    /// Block steps from the start of the run to that state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_block_steps: Option<u64>,
    /// Time of that state, in the user's unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_time: Option<f64>,
}

/// A file that a run read its initial conditions from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// Key of the configuration that names it.
    pub key: String,
    /// Its absolute path.
    pub file: String,
    /// Its SHA-256.
    pub sha256: String,
}

impl Provenance {
    /// Version, build, machine and the time now; the description of the run left empty for the caller.
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

    /// The overrides of the command line, one by one.
    ///
    /// # Errors
    /// They are not a JSON array of texts.
    pub fn overrides(&self) -> std::result::Result<Vec<String>, String> {
        if self.config_overrides.is_empty() {
            return Ok(Vec::new());
        }
        serde_json::from_str(&self.config_overrides).map_err(|e| format!("config_overrides: {e}"))
    }

    /// The files of initial conditions, one by one.
    ///
    /// # Errors
    /// They are not a JSON array of [`InputFile`].
    pub fn inputs(&self) -> std::result::Result<Vec<InputFile>, String> {
        if self.inputs.is_empty() {
            return Ok(Vec::new());
        }
        serde_json::from_str(&self.inputs).map_err(|e| format!("inputs: {e}"))
    }

    /// The same with the overrides of the command line.
    #[must_use]
    pub fn with_overrides(self, sets: &[String]) -> Self {
        Self { config_overrides: serde_json::json!(sets).to_string(), ..self }
    }
}

/// A text by its name in the file, with the format version that it came with.
type TextField<'a> = (u64, &'static str, &'a mut String);

/// The text fields: one list for writing and reading.
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

/// Writes a provenance as a group's attributes.
pub(super) fn write(provenance: &Provenance, group: &Group) -> H5Result {
    for (_, name, text) in texts(&mut provenance.clone()) {
        put_text(group, name, text)?;
    }
    provenance.state_block_steps.map_or(Ok(()), |steps| put(group, "state_block_steps", &steps))?;
    provenance.state_time.map_or(Ok(()), |time| put(group, "state_time", &time))?;
    provenance.seed.map_or(Ok(()), |seed| put(group, "seed", &seed))
}

/// Reads what [`write()`] wrote in a file of a format version.
pub(super) fn read(node: &TisaneGroup<'_>, format_version: u64) -> Result<Provenance> {
    let mut provenance = Provenance::default();
    for (since, name, text) in texts(&mut provenance) {
        if since <= format_version {
            *text = node.text(name)?;
        }
    }
    provenance.seed = optional(node, "seed")?;
    provenance.state_block_steps = optional(node, "state_block_steps")?;
    provenance.state_time = optional(node, "state_time")?;
    Ok(provenance)
}

fn optional<T: hdf5::H5Type>(node: &TisaneGroup<'_>, name: &str) -> Result<Option<T>> {
    if node.has(name) { node.get(name).map(Some) } else { Ok(None) }
}

/// tisane's version.
#[must_use]
pub const fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// How a program was built, as its files say.
#[derive(Clone, Copy, Debug)]
pub struct Build {
    /// The git commit, with `-dirty` if the sources differed; `unknown` without git.
    pub git_commit: &'static str,
    /// The compiler, as it names itself.
    pub rustc: &'static str,
    /// Target triple.
    pub target: &'static str,
    /// Optimisation level.
    pub opt_level: &'static str,
    /// Features, separated by commas.
    pub features: &'static str,
}

static BUILD: OnceLock<Build> = OnceLock::new();

/// Declares how the program was built; called once, at its start. What is written before says that it is not known.
pub fn declare_build(build: Build) {
    let _ = BUILD.set(build);
}

fn build() -> Build {
    let unknown = Build { git_commit: "unknown", rustc: "", target: "", opt_level: "", features: "" };
    *BUILD.get().unwrap_or(&unknown)
}

/// Returns the git commit of the build, `unknown` without git.
#[must_use]
pub fn git_commit() -> &'static str {
    build().git_commit
}

/// The time now in UTC, as RFC 3339 text to the second.
#[must_use]
pub fn now_utc() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}
