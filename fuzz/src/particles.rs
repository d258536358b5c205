//! Particles as text and as the binary files that tisane parses itself: csv, mcluster, nbody6, petar, petar-snapshot,
//! nemo, gadget-binary, tipsy; also packed by gzip.

use super::{file, is_told};
use std::path::Path;
use tisane::particles::components;
use tisane_io::formats::{self, FileState};

/// Formats that are not HDF5.
const FORMATS: [&str; 8] = ["csv", "mcluster", "nbody6", "petar", "petar-snapshot", "nemo", "gadget-binary", "tipsy"];
/// Formats that lose no bit of a particle, but perhaps its id.
const EXACT: [&str; 3] = ["csv", "nbody6", "nemo"];

/// A file of particles, its format told by its content and by name. What was read comes back from a file written of it.
pub fn particles(bytes: &[u8]) {
    let (folder, path) = file("particles", bytes);
    for format in FORMATS.map(Some).into_iter().chain([None]) {
        if let Some(state) = is_told(formats::read(&path, format)) {
            come_back(folder.path(), &state);
        }
    }
    let _ = is_told(tisane_io::inspect::describe(&path));
}

fn come_back(folder: &Path, state: &FileState) {
    for format in EXACT {
        let path = folder.join(format);
        formats::write(&path, format, state).expect("a file");
        let again = formats::read(&path, Some(format)).unwrap_or_else(|error| panic!("{format}: {error}"));
        let bits = |state: &FileState| {
            let p = &state.particles;
            let numbers = p.mass.iter().chain(components(&p.pos)).chain(components(&p.vel));
            numbers.map(|x| x.to_bits()).collect::<Vec<_>>()
        };
        assert_eq!(bits(&again), bits(state), "{format}");
        if format == "csv" {
            assert_eq!(again.particles.id, state.particles.id);
        }
    }
}
