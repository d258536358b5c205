//! Where a file comes from: program, machine, configuration.

use super::hdf::read::Node;
use super::hdf::write::{H5Result, put, put_text};
use crate::error::Result;
use hdf5::Group;
use std::time::SystemTime;

/// Everything needed to say, years later, what made a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// tisane's version.
    pub version: String,
    /// Git commit that tisane was built from, with `-dirty` if the sources differed; `unknown` without git.
    pub git_commit: String,
    /// Name of the machine.
    pub host: String,
    /// When this was recorded: UTC, RFC 3339.
    pub created: String,
    /// Force engine, as in the configuration.
    pub engine: String,
    /// Precision mode, as in the configuration.
    pub precision: String,
    /// Seed of the initial model, where it has one.
    pub seed: Option<u64>,
    /// The configuration file, byte for byte as the user wrote it.
    pub config_as_written: String,
    /// The configuration with every default written out.
    pub config_resolved: String,
}

impl Provenance {
    /// Version, commit, host and the time now; the description of the run left empty for the caller.
    #[must_use]
    pub fn of_this_program() -> Self {
        Self {
            version: version().into(),
            git_commit: git_commit().into(),
            host: host(),
            created: now_utc(),
            ..Self::default()
        }
    }
}

type TextFields<'a> = [(&'static str, &'a mut String); 8];

/// The text fields by their names in the file: one list for writing and reading.
fn texts(p: &mut Provenance) -> TextFields<'_> {
    [
        ("version", &mut p.version),
        ("git_commit", &mut p.git_commit),
        ("host", &mut p.host),
        ("created", &mut p.created),
        ("engine", &mut p.engine),
        ("precision", &mut p.precision),
        ("config_as_written", &mut p.config_as_written),
        ("config_resolved", &mut p.config_resolved),
    ]
}

/// Writes a provenance as a group's attributes.
pub(super) fn write(provenance: &Provenance, group: &Group) -> H5Result {
    for (name, text) in texts(&mut provenance.clone()) {
        put_text(group, name, text)?;
    }
    provenance.seed.map_or(Ok(()), |seed| put(group, "seed", &seed))
}

/// Reads what [`write`] wrote.
pub(super) fn read(node: &Node<'_>) -> Result<Provenance> {
    let mut provenance = Provenance::default();
    for (name, text) in texts(&mut provenance) {
        *text = node.text(name)?;
    }
    provenance.seed = if node.has("seed") { Some(node.get("seed")?) } else { None };
    Ok(provenance)
}

/// tisane's version.
#[must_use]
pub const fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The git commit of the build, `unknown` without git.
#[must_use]
pub const fn git_commit() -> &'static str {
    match option_env!("TISANE_GIT_COMMIT") {
        Some(commit) => commit,
        None => "unknown",
    }
}

/// Name of this machine, `unknown` where the system does not say.
#[must_use]
pub fn host() -> String {
    hostname::get().map_or_else(|_| "unknown".into(), |name| name.to_string_lossy().into_owned())
}

/// The time now in UTC, as RFC 3339 text to the second.
#[must_use]
pub fn now_utc() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}
