//! What is fuzzed: a function for each kind of input, which takes any bytes and panics only if tisane is wrong. Each is
//! called by a fuzz target (`fuzz/fuzz_targets/`), which looks for new inputs, and by
//! `crates/cli/tests/input/fuzz_corpus.rs`, which replays the kept ones.

pub mod amuse;
pub mod convert;
pub mod hdf5_files;
mod hdf5_seeds;
pub mod laws;
#[allow(unsafe_code, reason = "calls of a C library")]
pub mod library;
pub mod particles;
pub mod requests;
pub mod settings;
pub mod tables;

use std::path::PathBuf;
use tempfile::TempDir;

/// Takes any bytes.
pub type Target = fn(&[u8]);

/// Every target: its name, which is also that of its folders of kept inputs, and its function.
pub const TARGETS: [(&str, Target); 13] = [
    ("amuse", amuse::messages),
    ("config", settings::config),
    ("convert", convert::convert),
    ("hdf5", hdf5_files::changed),
    ("hdf5_damaged", hdf5_files::damaged),
    ("laws", laws::laws),
    ("library", library::library),
    ("numbers", settings::numbers),
    ("particles", particles::particles),
    ("requests", requests::requests),
    ("results", tables::results),
    ("settings", settings::settings),
    ("tables", tables::tables),
];

/// A new folder with one file in it.
fn file(name: &str, bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("a small file");
    (folder, path)
}

/// An error that input causes is the input's: exit code 2, and a text that says something.
fn is_told<T>(result: tisane::Result<T>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            assert_eq!(error.exit_code(), 2, "{error}");
            assert!(!error.to_string().is_empty());
            None
        }
    }
}
