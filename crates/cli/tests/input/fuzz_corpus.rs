//! Promise: an input that fuzzing found is tested from then on. Every file in `fuzz/seeds` and `fuzz/regressions` goes
//! through the function that the fuzzer calls (`scripts/fuzz` looks for new ones).

#[path = "../../../../fuzz/src/lib.rs"]
mod fuzz;

use fuzz::{TARGETS, Target};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Most bytes of a kept input, and of all of a target.
const MAX: [u64; 2] = [8 << 10, 48 << 10];

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The files of a folder in order; none where it is missing.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn replay(name: &str, target: Target) {
    let fuzz = repository().join("fuzz");
    let seeds = files(&fuzz.join("seeds").join(name));
    assert!(seeds.len() > 2, "{name}: only {} seeds", seeds.len());
    let inputs = [seeds, files(&fuzz.join("regressions").join(name))].concat();
    let mut all = 0;
    for path in &inputs {
        let bytes = fs::read(path).unwrap();
        all += bytes.len() as u64;
        assert!(bytes.len() as u64 <= MAX[0], "{} is large", path.display());
        println!("{}", path.display());
        target(&bytes);
        // Cut off: as a reader meets a file that is being copied.
        target(&bytes[..bytes.len() / 2]);
    }
    assert!(all <= MAX[1], "{name}: {all} bytes of inputs");
}

macro_rules! replays {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            let (name, target) = TARGETS.iter().find(|(name, _)| *name == stringify!($name)).expect("a target");
            replay(name, *target);
        })*

        #[test]
        fn every_target_is_replayed_and_has_its_program() {
            let named = |names: Vec<String>| names.into_iter().collect::<BTreeSet<_>>();
            let replayed = named(vec![$(stringify!($name).to_owned()),*]);
            assert_eq!(named(TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect()), replayed);
            let programs = files(&repository().join("fuzz/fuzz_targets")).into_iter();
            let stem = |path: PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
            assert_eq!(named(programs.map(stem).collect()), replayed);
        }
    };
}

replays! { amuse config convert hdf5 hdf5_damaged laws library numbers particles requests results settings tables }
