//! tisane's own snapshots, as initial conditions.

use super::{FileState, Places};
use crate::Result;
use crate::io::hdf::read::SIGNATURE;
use crate::io::snapshot;
use crate::particles::Particles;
use std::path::Path;

/// The HDF5 signature: any HDF5 file, so that the message about another program's file can say what it is.
pub(super) fn detect(head: &[u8], _length: u64) -> bool {
    head.starts_with(SIGNATURE)
}

/// Reads the file as [`snapshot::read`] does, with all of its checks.
pub(super) fn read(path: &Path) -> Result<FileState> {
    let s = snapshot::read(path)?;
    Ok(FileState {
        particles: Particles { id: s.id, ..Particles::new(s.mass, s.pos, s.vel) },
        time: Some(s.time),
        format: "tisane",
        softening: None,
        units: Some(s.units.units),
        places: Places::Records,
    })
}
