//! States of the members of an ensemble that are in progress, in one file, with the hashes of what its tables held then.

use super::attributes::{FromFile, ToFile};
use super::numbers::{RunState, unread, visit};
use super::particles;
use super::states::check_times;
use crate::checksum::Digest;
use crate::hdf::FileKind;
use crate::hdf::read::TisaneFile;
use crate::hdf::write::{self as hdf, new_group, put_dataset, put_text};
use crate::history;
use std::collections::BTreeMap;
use std::path::Path;
use tisane::diagnostics::runaways::Runaways;
use tisane::error::{Error, Result};
use tisane::particles::Particles;

/// State of a member of an ensemble after a block step.
#[derive(Clone, Debug, PartialEq)]
pub struct MemberState {
    /// Number of the member.
    pub member: u64,
    /// All particles, each at its own time, in internal units.
    pub particles: Particles,
    /// Numbers of its run. `diagnostics_rows` counts its outputs, and `diagnostics_sha256` is the hash of its rows of the
    /// series. Numbers and hashes of journals are of its rows in those tables of the ensemble.
    pub run: RunState,
    /// Stars that have left its cluster, whose errors are not its own.
    pub runaways: Runaways,
}

/// Hashes of an ensemble at the moment of the states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    /// SHA-256 of the configuration with what belongs to it.
    pub configuration: Digest,
    /// Members that had ended, each with [`Digest::short`] of the hash of its rows.
    pub ended: BTreeMap<u64, u64>,
}

const RUN: &str = "Run_";
const PARTICLES: &str = "Particles_";
/// Group of the hashes; files of version 0.2 and states between ranks do not have it.
const ENDED: &str = "Ended";

/// Writes the states of some members, atomically, with the hashes of the ensemble if they are given.
///
/// # Errors
/// [`tisane::Error::Storage`] if it cannot be written; a file of that name is kept.
pub fn write_members<'a>(
    path: &Path,
    states: impl Iterator<Item = &'a MemberState>,
    signed: Option<&Signed>,
) -> Result<()> {
    let write = |root: &hdf5::Group| {
        put_text(
            root,
            "note",
            "internal units: G = 1; user units = internal units times the scale_* attributes of /Run_*",
        )?;
        if let Some(Signed { configuration, ended }) = signed {
            let group = new_group(root, ENDED)?;
            put_text(&group, "configuration_sha256", &configuration.to_string())?;
            put_dataset(&group, "member", 1, &ended.keys().copied().collect::<Vec<u64>>())?;
            put_dataset(&group, "rows_sha256", 1, &ended.values().copied().collect::<Vec<u64>>())?;
        }
        for MemberState { member, particles, run, runaways } in states {
            let group = new_group(root, &format!("{RUN}{member}"))?;
            visit(&mut { *run }, &mut ToFile(&group))?;
            history::write_runaways(runaways, &group)?;
            particles::fill(&new_group(root, &format!("{PARTICLES}{member}"))?, particles)?;
        }
        Ok(())
    };
    hdf::write_pending(path, FileKind::Members, write)?.commit()
}

/// Reads the states that [`write_members`] wrote, in no particular order, and the hashes if the file has them.
///
/// # Errors
/// [`tisane::Error::Input`] if the file is missing, truncated, damaged, of another kind, or has values that no run
/// produces.
pub fn read_members(path: &Path) -> Result<(Vec<MemberState>, Option<Signed>)> {
    let tree = TisaneFile::open(path, &[FileKind::Members], true)?;
    let states = numbers(&tree)?.into_iter().map(|member| {
        let mut run = unread();
        let group = tree.group(&format!("{RUN}{member}"))?;
        let runaways = history::read_runaways(&group)?;
        visit(&mut run, &mut FromFile(group, tree.version))?;
        let particles = particles::read(&tree.group(&format!("{PARTICLES}{member}"))?)?;
        check_times(path, &particles, run.now)?;
        Ok::<_, Error>(MemberState { member, particles, run, runaways })
    });
    Ok((states.collect::<Result<_>>()?, read_signed(&tree)?))
}

fn read_signed(tree: &TisaneFile) -> Result<Option<Signed>> {
    if !tree.root().members()?.iter().any(|name| name == ENDED) {
        return Ok(None);
    }
    let group = tree.group(ENDED)?;
    let configuration = Digest::parse(&group.text("configuration_sha256")?)
        .ok_or_else(|| group.error("configuration_sha256", "not a SHA-256 in hexadecimal"))?;
    let members: Vec<u64> = group.column("member", None, 1)?;
    let hashes: Vec<u64> = group.column("rows_sha256", Some(members.len()), 1)?;
    Ok(Some(Signed { configuration, ended: members.into_iter().zip(hashes).collect() }))
}

/// Returns the numbers of the members whose states a file has.
pub(crate) fn numbers(tree: &TisaneFile) -> Result<Vec<u64>> {
    let groups = tree.root().members()?;
    Ok(groups.iter().filter_map(|name| name.strip_prefix(RUN)?.parse().ok()).collect())
}

/// Returns the number of members in progress in a file that [`write_members`] wrote. Does not verify its checksum.
///
/// # Errors
/// [`tisane::Error::Input`] if it is missing, truncated or of another kind.
pub fn count_members(path: &Path) -> Result<usize> {
    numbers(&TisaneFile::open_header(path, FileKind::Members)?).map(|numbers| numbers.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_read_as_they_are_written_and_files_without_them_too() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("in_progress.hdf5");
        let configuration = Digest::of("a");
        for ended in [BTreeMap::new(), BTreeMap::from([(3, u64::MAX), (70, 0)])] {
            let signed = Signed { configuration, ended };
            write_members(&path, std::iter::empty(), Some(&signed)).unwrap();
            assert_eq!(read_members(&path).unwrap(), (Vec::new(), Some(signed)));
            assert_eq!(count_members(&path).unwrap(), 0);
        }
        write_members(&path, std::iter::empty(), None).unwrap();
        assert_eq!(read_members(&path).unwrap(), (Vec::new(), None));
    }
}
