//! Reading of the provenance of any file of a run.

use super::{Provenance, read};
use crate::fields::Journal;
use crate::hdf::FileKind;
use crate::hdf::read::{SIGNATURE, TisaneFile};
use crate::{directory, formats};
use std::io::Read;
use std::path::Path;
use tisane::error::{Error, Result};

/// Maximum length of a `summary.json`, in bytes.
const LONGEST_SUMMARY: u64 = 1 << 24;
/// Help for a file without provenance.
const WHICH: &str = "give a snapshot, a checkpoint, diagnostics.hdf5 or summary.json of a run";

/// Reads the provenance of a snapshot, a checkpoint, the HDF5 file of a journal, or `summary.json`.
///
/// # Errors
/// [`Error::Input`] if the file is missing, damaged, without provenance, or from a version that did not record the
/// state.
pub fn from_file(path: &Path) -> Result<Provenance> {
    if path.is_dir() {
        return Err(Error::input(path, "this is a directory").with_help(WHICH));
    }
    let head = formats::head(path).map_err(|e| match e {
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
            Err(Error::input(path, format!("tisane {version} wrote this {} without provenance", directory::SUMMARY))
                .with_help(
                    "that version recorded provenance in snapshots and checkpoints only, without a hash of the state",
                ))
        }
        None => Err(Error::input(path, "JSON, but not the summary of a run").with_help(WHICH)),
    }
}
