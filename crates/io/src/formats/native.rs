//! Snapshots of tisane, as initial conditions.

use super::datasets::unrecognised;
use super::format::Format;
use super::sniff::{FileProbe, Guess};
use super::state::{FileState, Locations};
use crate::snapshot;
use crate::subsystem_stars::SUBSYSTEM_STARS;
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
    let mut close = s.close;
    let all = close.len();
    close.retain(|close| close.agree(&s.pos, &s.vel));
    let notes = changed(all - close.len(), all).into_iter().collect();
    let stars = s.id.iter().zip(&s.stars).map(|(id, star)| star.begun(*id)).collect();
    let particles = Particles {
        id: s.id,
        radius: s.radius,
        columns: s.columns,
        stars,
        close,
        ..Particles::new(s.mass, s.pos, s.vel)
    };
    let (time, units) = (Some(s.time), Some(s.units.units));
    Ok(FileState { time, units, notes, ..FileState::new("tisane", particles, Locations::Records) })
}

/// Returns what to say of subsystems, some of `all`, whose stars do not stand where they are relative to each other.
fn changed(some: usize, all: usize) -> Option<String> {
    (some > 0).then(|| {
        format!(
            "the relative positions and velocities in /{SUBSYSTEM_STARS} of {some} of {all} subsystems are not those of its \
             Coordinates and Velocities: Coordinates and Velocities are used for their stars"
        )
    })
}
