//! Snapshots of tisane, as initial conditions.

use super::Format;
use super::datasets::unrecognised;
use super::sniff::{FileProbe, Guess};
use super::state::{FileState, Locations};
use crate::snapshot;
use std::path::Path;
use tisane::Result;
use tisane::particles::Particles;

/// Entry of the format in [`super::FORMATS`].
pub(super) const FORMAT: Format = Format {
    name: "tisane",
    description: "tisane's HDF5 snapshot",
    schema_text: "Snapshot written by tisane (HDF5).",
    schema_order: 1,
    detect,
    read,
    writer: None,
};

/// Recognises the root attribute `format`. Also matches any other HDF5 file, so that the error message can say what it
/// is.
fn detect(probe: &FileProbe) -> Option<Guess> {
    if probe.is_from_tisane() {
        Guess::sure("HDF5 with tisane's root attribute `format`")
    } else if probe.is_hdf5() {
        Guess::unsure("HDF5")
    } else {
        None
    }
}

/// Reads the file as [`snapshot::read`] does, with all of its checks.
fn read(path: &Path, _: &[String]) -> Result<FileState> {
    if let Some(error) = unrecognised(path, &FileProbe::open(path)?) {
        return Err(error);
    }
    let s = snapshot::read(path)?;
    let particles =
        Particles { id: s.id, radius: s.radius, columns: s.columns, ..Particles::new(s.mass, s.pos, s.vel) };
    let (time, units) = (Some(s.time), Some(s.units.units));
    Ok(FileState { time, units, ..FileState::new("tisane", particles, Locations::Records) })
}
