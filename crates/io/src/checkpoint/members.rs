//! States of the members of an ensemble that are in progress, in one file.

use super::{FromFile, RunState, ToFile, check_times, fill_particles, header, read_particles, visit};
use crate::hdf::FileKind;
use crate::hdf::read::TisaneFile;
use crate::hdf::write::{self as hdf, new_group, put_text};
use std::path::Path;
use tisane::error::Result;
use tisane::particles::Particles;

/// State of a member of an ensemble after a block step.
#[derive(Clone, Debug, PartialEq)]
pub struct MemberState {
    /// Number of the member.
    pub member: u64,
    /// All particles, each at its own time, in internal units.
    pub particles: Particles,
    /// Numbers of its run.
    pub run: RunState,
}

const RUN: &str = "Run_";
const PARTICLES: &str = "Particles_";

/// Writes the states of some members, atomically.
///
/// # Errors
/// [`tisane::Error::Storage`] if it cannot be written; a file of that name is kept.
pub fn write_members<'a>(path: &Path, states: impl Iterator<Item = &'a MemberState>) -> Result<()> {
    let write = |root: &hdf5::Group| {
        put_text(
            root,
            "note",
            "internal units: G = 1; user units = internal units times the scale_* attributes of /Run_*",
        )?;
        for MemberState { member, particles, run } in states {
            visit(&mut { *run }, &mut ToFile(&new_group(root, &format!("{RUN}{member}"))?))?;
            fill_particles(&new_group(root, &format!("{PARTICLES}{member}"))?, particles)?;
        }
        Ok(())
    };
    hdf::write_pending(path, FileKind::Members, write)?.commit()
}

/// Reads the states that [`write_members`] wrote, in no particular order.
///
/// # Errors
/// [`tisane::Error::Input`] if the file is missing, truncated, damaged, of another kind, or has values that no run
/// produces.
pub fn read_members(path: &Path) -> Result<Vec<MemberState>> {
    let tree = TisaneFile::open(path, &[FileKind::Members], true)?;
    let groups = tree.root().members()?;
    let numbers = groups.iter().filter_map(|name| name.strip_prefix(RUN)?.parse::<u64>().ok());
    let read = |member: u64| {
        let mut run = header::unread();
        visit(&mut run, &mut FromFile(tree.group(&format!("{RUN}{member}"))?, tree.version))?;
        let particles = read_particles(&tree.group(&format!("{PARTICLES}{member}"))?)?;
        check_times(path, &particles, run.now)?;
        Ok(MemberState { member, particles, run })
    };
    numbers.map(read).collect()
}
