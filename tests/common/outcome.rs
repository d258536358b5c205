//! What a run leaves, for comparing two runs to the bit.

#![allow(dead_code, reason = "each test file uses its own part")]

use crate::hdf;
use crate::program::{diagnostics, summary};
use hdf5::types::FixedUnicode;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use tisane_io::fields::Journal;
use tisane_io::table;

/// All that a run leaves which must not depend on how it was run.
#[derive(PartialEq)]
pub struct Outcome {
    pub state: String,
    pub counters: Vec<String>,
    /// Bits of every dataset of every snapshot, by file and name.
    pub snapshots: BTreeMap<String, Vec<u64>>,
    pub diagnostics: BTreeMap<String, Vec<String>>,
    /// What is said of the cluster, byte for byte.
    pub cluster: [String; 3],
    /// Changes of subsystems, byte for byte, in runs that have them.
    pub encounters: Option<String>,
    /// Collisions and escapers, likewise.
    pub stars: Option<String>,
}

impl Outcome {
    /// Reads the results of a finished run from its directory.
    pub fn read(dir: &Path) -> Self {
        let summary = summary(dir);
        let names = ["time", "energy_final", "max_relative_energy_error", "block_steps", "pair_interactions"];
        Self {
            state: summary["state_sha256"].as_str().unwrap().to_owned(),
            counters: names.iter().map(|name| format!("{name} {}", summary[name])).collect(),
            snapshots: snapshots(dir),
            diagnostics: diagnostics(dir),
            cluster: [Journal::Cluster, Journal::Binaries, Journal::Events].map(|journal| text(dir, journal)),
            encounters: if_any(dir, Journal::Encounters),
            stars: if_any(dir, Journal::Stars),
        }
    }

    #[track_caller]
    pub fn assert_same(&self, other: &Self, what: &str) {
        assert_eq!(self.state, other.state, "{what}: state");
        assert_eq!(self.counters, other.counters, "{what}: summary");
        assert_eq!(self.diagnostics, other.diagnostics, "{what}: diagnostics");
        assert_eq!(self.cluster, other.cluster, "{what}: cluster, binaries, events");
        assert_eq!(self.encounters, other.encounters, "{what}: encounters");
        assert_eq!(self.stars, other.stars, "{what}: stars");
        assert!(self.snapshots.keys().eq(other.snapshots.keys()), "{what}: snapshots");
        for (name, bits) in &self.snapshots {
            assert!(other.snapshots[name] == *bits, "{what}: {name}");
        }
    }
}

/// The text of a journal that not all runs have.
fn if_any(dir: &Path, journal: Journal) -> Option<String> {
    dir.join(journal.csv()).exists().then(|| text(dir, journal))
}

/// The text of a journal. Asserts that its HDF5 file holds the same values.
fn text(dir: &Path, journal: Journal) -> String {
    let csv = table::read_csv(&dir.join(journal.csv())).unwrap();
    let hdf5 = table::read_hdf5(&dir.join(journal.hdf5())).unwrap();
    // As text, because NaN does not equal NaN.
    let [csv, hdf5] = [&csv, &hdf5].map(|table| format!("{:?}", table.contents().collect::<Vec<_>>()));
    assert_eq!(csv, hdf5, "{journal:?}");
    fs::read_to_string(dir.join(journal.csv())).unwrap()
}

fn snapshots(dir: &Path) -> BTreeMap<String, Vec<u64>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(dir.join("snapshots")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(name.ends_with(".hdf5"), "a file left over: {name}");
        let file = hdf::open(&path);
        let of = |name: &str| file.group(name).map_or(Vec::new(), |group| group.datasets().unwrap());
        let subsystems = of("Subsystems").into_iter().chain(of("SubsystemStars"));
        for dataset in file.group("PartType4").unwrap().datasets().unwrap().into_iter().chain(subsystems) {
            let field = dataset.name();
            let kind = dataset.dtype().unwrap();
            let bits: Vec<u64> = if kind.is::<u64>() {
                dataset.read_raw::<u64>().unwrap()
            } else if kind.is::<f64>() {
                dataset.read_raw::<f64>().unwrap().into_iter().map(f64::to_bits).collect()
            } else {
                let texts = dataset.read_raw::<FixedUnicode<256>>().unwrap();
                texts.iter().flat_map(|text| text.as_str().bytes().chain([0]).map(u64::from)).collect()
            };
            all.insert(format!("{name}{field}"), bits);
        }
    }
    assert!(!all.is_empty());
    all
}

/// Length of the checksum at the end of a file, in bytes.
const TRAILER: usize = 80;
/// Length of a time in a file, as in `2026-11-21T22:10:05Z`.
const TIME: usize = 20;

/// Asserts that two HDF5 files are the same byte for byte, but for the time at which they were written and what follows
/// from it: HDF5's own checksums of the blocks that hold it, of four bytes each, and the checksum at the end.
#[track_caller]
pub fn assert_same_bytes_but_for_the_time(one: &Path, other: &Path) {
    let [mut a, mut b] = [one, other].map(|path| fs::read(path).unwrap());
    assert_eq!(a.len(), b.len(), "{} and {}", one.display(), other.display());
    for bytes in [&mut a, &mut b] {
        bytes.truncate(bytes.len() - TRAILER);
        assert_eq!(without_times(bytes), 1, "the times in {}", one.display());
    }
    let differ: Vec<usize> = (0..a.len()).filter(|&i| a[i] != b[i]).collect();
    let mut checksums = 0;
    let mut covered = 0;
    for i in differ {
        if i >= covered {
            (checksums, covered) = (checksums + 1, i + 4);
        }
    }
    // Of the block itself and of the one that points to it.
    assert!(checksums <= 3, "{} and {}: {checksums} places differ", one.display(), other.display());
}

/// Blanks times in UTC; returns their number.
fn without_times(bytes: &mut [u8]) -> usize {
    const SHAPE: &[u8; TIME] = b"0000-00-00T00:00:00Z";
    let is_time = |window: &[u8]| {
        window.iter().zip(SHAPE).all(|(byte, shape)| if *shape == b'0' { byte.is_ascii_digit() } else { byte == shape })
    };
    let found: Vec<usize> = (0..bytes.len().saturating_sub(TIME)).filter(|&i| is_time(&bytes[i..i + TIME])).collect();
    found.iter().for_each(|&i| bytes[i..i + TIME].fill(b'0'));
    found.len()
}
