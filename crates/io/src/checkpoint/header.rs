//! Numbers of a checkpoint without its particles.

use super::attributes::FromFile;
use super::numbers::{RunState, unread, visit};
use crate::hdf::FileKind;
use crate::hdf::read::TisaneFile;
use crate::provenance::{self, Provenance};
use std::path::Path;
use tisane::error::Result;

/// Metadata of a checkpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckpointHeader {
    /// Number of particles.
    pub n: u64,
    /// Numbers of the run.
    pub run: RunState,
    /// Provenance of the file, with the resolved configuration.
    pub provenance: Provenance,
}

impl CheckpointHeader {
    /// Returns the time of the checkpoint, in the user's unit.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.run.time()
    }
}

/// Reads the metadata of a checkpoint, at a cost independent of the number of particles. Does not verify its checksum.
///
/// # Errors
/// [`Error::Input`](tisane::Error::Input) if it is missing, truncated or of another kind.
pub fn read_header(path: &Path) -> Result<CheckpointHeader> {
    let tree = TisaneFile::open_header(path, FileKind::Checkpoint)?;
    let mut run = unread();
    visit(&mut run, &mut FromFile(tree.group("Run")?, tree.version))?;
    let provenance = provenance::read(&tree.group("Provenance")?, tree.version)?;
    Ok(CheckpointHeader { n: tree.group("Particles")?.get("n")?, run, provenance })
}
