//! Checkpoints: the state of a run after a block step, from which it continues with the same bits.
//!
//! `checkpoint.hdf5` is the newest, `checkpoint.previous.hdf5` the one before. At any instant at least one of the two
//! is complete: see [`write()`].

mod attributes;
mod columns;
mod header;
mod members;
mod numbers;
mod particles;
mod stars;
mod states;

pub use header::{CheckpointHeader, read_header};
pub(super) use members::numbers as members_in_progress;
pub use members::{MemberState, Signed, count_members, read_members, write_members};
pub use numbers::{Counters, OrbitNumbers, OutputCounts, References, RunState};

use super::atomic::{remove_if_present, rename_durably, temporary_name};
use super::checksum::{self, ChecksumStatus};
use super::hdf::FileKind;
use super::hdf::read::TisaneFile;
use super::hdf::write::{self as hdf, H5Result, new_group, put_text};
use super::history::{self, History};
use super::provenance::{self, Provenance};
use attributes::{FromFile, ToFile};
use hdf5::Group;
use numbers::visit;
use std::fs;
use std::path::Path;
use tisane::error::{Error, Result};
use tisane::particles::Particles;
use tisane::time::TICKS_PER_DT_MAX;

/// Name of the newest checkpoint in an output directory.
pub const NEWEST: &str = "checkpoint.hdf5";
/// Name of the checkpoint before the newest.
pub const PREVIOUS: &str = "checkpoint.previous.hdf5";

/// State of a run after a block step.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// All particles, each at its own time, in internal units.
    pub particles: Particles,
    /// Numbers of the run.
    pub run: RunState,
    /// Events that were reported.
    pub history: History,
    /// Provenance of the file, with the resolved configuration.
    pub provenance: Provenance,
}

/// State of a run, borrowed for writing: a copy would be the largest allocation of the run.
#[derive(Clone, Copy, Debug)]
pub struct CheckpointRef<'a> {
    /// All particles, each at its own time, in internal units.
    pub particles: &'a Particles,
    /// Numbers of the run.
    pub run: &'a RunState,
    /// Events that were reported.
    pub history: &'a History,
    /// Provenance of the file, with the resolved configuration.
    pub provenance: &'a Provenance,
}

impl<'a> From<&'a Checkpoint> for CheckpointRef<'a> {
    fn from(checkpoint: &'a Checkpoint) -> Self {
        let Checkpoint { particles, run, history, provenance } = checkpoint;
        Self { particles, run, history, provenance }
    }
}

/// Writes `checkpoint.hdf5` in `dir` and keeps the previous one as `checkpoint.previous.hdf5`.
///
/// One of the two names holds a complete checkpoint at any instant: the new checkpoint is written and flushed under a
/// temporary name; the present `checkpoint.hdf5`, if it is intact, replaces the previous one by a hard link and a
/// rename; then the new one replaces `checkpoint.hdf5` by a rename. A damaged checkpoint never replaces an intact one.
///
/// # Errors
/// [`Error::Storage`] if it cannot be written; the existing checkpoints are kept.
pub fn write<'a>(dir: &Path, checkpoint: impl Into<CheckpointRef<'a>>) -> Result<()> {
    let newest = dir.join(NEWEST);
    let checkpoint = checkpoint.into();
    let pending = hdf::write_pending(&newest, FileKind::Checkpoint, |root| fill(root, checkpoint))?;
    if checksum::check(&newest).is_ok_and(|status| status == ChecksumStatus::Valid) {
        keep_as_previous(&newest, &dir.join(PREVIOUS))?;
    }
    pending.commit()
}

/// Writes a checkpoint as one file of any name, atomically: a file of that name is replaced, whole or not at all.
///
/// # Errors
/// [`Error::Storage`] if it cannot be written.
pub fn write_file<'a>(path: &Path, checkpoint: impl Into<CheckpointRef<'a>>) -> Result<()> {
    let checkpoint = checkpoint.into();
    hdf::write_pending(path, FileKind::Checkpoint, |root| fill(root, checkpoint))?.commit()
}

/// Gives the newest checkpoint the name of the previous one as well.
fn keep_as_previous(newest: &Path, previous: &Path) -> Result<()> {
    let link = temporary_name(previous)?;
    remove_if_present(&link).map_err(|e| Error::storage(&link, e))?;
    if fs::hard_link(newest, &link).is_err() {
        // The file system has no hard links: until the next rename only the previous checkpoint exists.
        return rename_durably(newest, previous);
    }
    rename_durably(&link, previous)?;
    // After a kill between the two renames both names were the same file; renaming one to the other then leaves both.
    remove_if_present(&link).map_err(|e| Error::storage(&link, e))
}

fn fill(root: &Group, c: CheckpointRef<'_>) -> H5Result {
    put_text(root, "note", "internal units: G = 1; user units = internal units times the scale_* attributes of /Run")?;
    visit(&mut { *c.run }, &mut ToFile(&new_group(root, "Run")?))?;
    particles::fill(&new_group(root, "Particles")?, c.particles)?;
    history::write(c.history, &new_group(root, "History")?)?;
    provenance::write(c.provenance, &new_group(root, "Provenance")?)
}

/// Reads a checkpoint and checks that it is complete and consistent.
///
/// # Errors
/// [`Error::Input`] if it is missing, truncated, damaged, of another kind or a newer version, or has values that no run
/// produces.
pub fn read(path: &Path) -> Result<Checkpoint> {
    let tree = TisaneFile::open(path, &[FileKind::Checkpoint], true)?;
    let mut run = numbers::unread();
    visit(&mut run, &mut FromFile(tree.group("Run")?, tree.version))?;
    let particles = particles::read(&tree.group("Particles")?)?;
    states::check_times(path, &particles, run.now)?;
    let step = run.now.0 / TICKS_PER_DT_MAX;
    if run.orbit.is_some_and(|orbit| orbit.tidal.until > run.now && orbit.tidal.until.0 / TICKS_PER_DT_MAX > step) {
        return Err(Error::input(path, "/Run/orbit_work_ticks is after the present dt_max"));
    }
    let history = if tree.version < 2 { History::default() } else { history::read(&tree.group("History")?)? };
    Ok(Checkpoint { particles, run, history, provenance: provenance::read(&tree.group("Provenance")?, tree.version)? })
}

/// Reads the newest valid checkpoint of an output directory: `checkpoint.hdf5`, or the previous one if that is missing
/// or damaged. The text then gives the reason.
///
/// # Errors
/// [`Error::Input`] with both reasons if neither is valid.
pub fn read_newest(dir: &Path) -> Result<(Checkpoint, Option<String>)> {
    let newest = match read(&dir.join(NEWEST)) {
        Ok(checkpoint) => return Ok((checkpoint, None)),
        Err(error) => error,
    };
    match read(&dir.join(PREVIOUS)) {
        Ok(checkpoint) => Ok((checkpoint, Some(format!("{newest}; using {PREVIOUS} instead")))),
        Err(previous) => {
            let problem = format!("no valid checkpoint here:\n  {newest}\n  {previous}");
            let began = dir.join(super::directory::names::LOG).is_file();
            Err(Error::input(dir, problem).with_help(match began {
                true => {
                    "if this run ended before its first checkpoint, nothing is lost: begin it anew with `tisane run \
                     --overwrite`"
                }
                false => "give the output directory of a run that wrote checkpoints",
            }))
        }
    }
}
