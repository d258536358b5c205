//! Promise: a new run from a snapshot begins with the orbits that the snapshot has in `/Subsystems`, wherever the stars are, in
//! any units, on any number of threads. What was changed by other programs is used as it stands, with a word.

use crate::hdf;
use crate::program::{Folder, Said, summary};
use hdf5::types::FixedUnicode;
use std::collections::BTreeMap;
use std::path::Path;
use tisane_run::in_memory::InMemory;

const UNITS: &str = "[units]\nmass = 'Msun'\nlength = 'pc'\nvelocity = 'km/s'\ntime = 'Myr'\n";
const FIELD: &str = "[external.point-mass]\nmass = 9.565e10\n[encounters]\n";
const PLACE: &str = "position = [8500.0, -20.0, 3.0]\nvelocity = [10.0, 220.0, -7.0]\n";
const SNAPSHOT: &str = "old/snapshots/snapshot_0001.hdf5";
/// A pair 1e-5 pc wide, with a third star 2e-3 pc away: a stable triple beside the cluster.
const TRIPLE: &str = "m,x,y,z,vx,vy,vz\n1.0,4.0,0.0,0.0,0.0,14.66,0.0\n1.0,4.00001,0.0,0.0,0.0,-14.66,0.0\n\
    1.0,4.0,0.002,0.0,2.5,0.0,0.3\n";
const TOO_FAR: &str = "positions are too far from the origin for the closest pairs";

/// A cluster with close binaries, and a triple, on an orbit at 8.5 kpc.
fn old() -> Folder {
    let folder = Folder::new(&format!(
        "[run]\nname = 'old'\nt_end = 0.5\n{UNITS}[[initial.clusters]]\n{PLACE}\
         [initial.clusters.king]\nn = 60\nw0 = 5.0\nhalf_mass_radius = 1.0\n[initial.clusters.masses]\nfunction = 'kroupa'\n\
         [initial.clusters.binaries]\nfraction = 0.5\nsemi_major_axis = 'opik'\na_min = 1e-6\na_max = 1e-2\n\
         [[initial.clusters]]\n{PLACE}[initial.clusters.file]\npath = 'triple.csv'\n{FIELD}"
    ));
    folder.write("triple.csv", TRIPLE);
    folder.tisane(&["run", "run.toml", "-q", "--output", "old"]).exits(0);
    folder
}

/// Runs from the snapshot, with other settings.
fn new(folder: &Folder, output: &str, units: &str, initial: &str, more: &[&str]) -> Said {
    folder.write("run.toml", format!("[run]\nname = 'new'\nt_end = 0.75\n{units}{initial}{FIELD}"));
    folder.tisane(&[&["run", "run.toml", "--output", output], more].concat())
}

fn file(path: &str) -> String {
    format!("[initial.file]\npath = '{path}'\n")
}

/// Flag of a pair that is followed in the mean, and its semi-major axis, eccentricity and binding energy.
type Orbit = (bool, [f64; 3]);

/// Orbit of each bound pair, by its stars.
fn pairs(path: &Path) -> BTreeMap<String, Orbit> {
    let group = hdf::open(path).group("Subsystems").unwrap();
    let read = |name: &str| group.dataset(name).unwrap().read_raw::<f64>().unwrap();
    let members = group.dataset("Members").unwrap().read_raw::<FixedUnicode<256>>().unwrap();
    let [a, e, energy] = ["SemiMajorAxis", "Eccentricity", "BindingEnergy"].map(read);
    let averaged = group.dataset("Averaged").unwrap().read_raw::<u64>().unwrap();
    let all = members.iter().enumerate().map(|(k, of)| (of.to_string(), (averaged[k] == 1, [a[k], e[k], energy[k]])));
    all.filter(|(_, (_, orbit))| orbit[0] > 0.0).collect()
}

fn first(folder: &Folder, output: &str) -> BTreeMap<String, Orbit> {
    pairs(&folder.path(&format!("{output}/snapshots/snapshot_0000.hdf5")))
}

/// Differences of the semi-major axis and the energy, relative, and of the eccentricity of each pair from those of the same pair
/// in `expected`, the largest of them; lengths are in units of `length`.
fn differences<'a>(
    found: &'a BTreeMap<String, Orbit>,
    expected: &'a BTreeMap<String, Orbit>,
    length: f64,
) -> impl Iterator<Item = (&'a str, bool, f64)> {
    // A wide pair near the limit may be one only in the run that formed it.
    assert!(found.len() + 1 >= expected.len() && found.len() > 20, "{found:?}");
    found.iter().map(move |(stars, (is_averaged, [a, e, energy]))| {
        let [b, f, want] = expected.get(stars).unwrap_or_else(|| panic!("{stars} is no pair of {expected:?}")).1;
        let largest = [a * length / b - 1.0, e - f, energy / want - 1.0].into_iter().map(f64::abs).fold(0.0, f64::max);
        (stars.as_str(), *is_averaged, largest)
    })
}

/// Asserts that the orbits are those of the old run, to rounding; those in the mean as far as the mean is that of the same orbit.
#[track_caller]
fn assert_same(found: &BTreeMap<String, Orbit>, expected: &BTreeMap<String, Orbit>, length: f64) {
    for (stars, is_averaged, difference) in differences(found, expected, length) {
        let max = if is_averaged { 1e-8 } else { 1e-12 };
        assert!(difference < max, "{stars}, averaged: {is_averaged}: {difference:e}");
    }
}

#[test]
fn a_new_run_begins_with_the_orbits_of_the_snapshot() {
    let folder = old();
    let expected = pairs(&folder.path(SNAPSHOT));
    assert!(expected.keys().any(|stars| stars.matches('+').count() == 2), "no triple in {expected:?}");
    new(&folder, "same", UNITS, &file(SNAPSHOT), &["--threads", "1"]).exits(0);
    folder.tisane(&["check", "run.toml"]).exits(0).says(&["21 subsystems with relative positions of their stars"]);
    assert_same(&first(&folder, "same"), &expected, 1.0);
    // The next file has the same again, and on more threads.
    new(&folder, "threads", UNITS, &file(SNAPSHOT), &["--threads", "3"]).exits(0);
    let hash = |output: &str| summary(&folder.path(output))["state_sha256"].as_str().unwrap().to_owned();
    assert_eq!(hash("threads"), hash("same"));
    assert_eq!(first(&folder, "threads"), first(&folder, "same"));
    let text = std::fs::read_to_string(folder.path("run.toml")).unwrap();
    let mut memory = InMemory::new(&text, &folder.path(""), &[]).unwrap();
    assert!(memory.integrate(0.75, &mut |_| u64::MAX).unwrap());
    assert_eq!(memory.state_sha256().unwrap(), hash("same"));
    new(&folder, "again", UNITS, &file("same/snapshots/snapshot_0000.hdf5"), &[]).exits(0);
    assert_same(&first(&folder, "again"), &expected, 1.0);
    // In other units, and back at the origin.
    let au = UNITS.replace("'pc'", "'au'");
    new(&folder, "units", &au, &file(SNAPSHOT), &[]).exits(0);
    assert_same(&first(&folder, "units"), &expected, std::f64::consts::PI / 648_000.0);
    let moved = "[[initial.clusters]]\nposition = [-8500.0, 20.0, -3.0]\nvelocity = [-10.0, -220.0, 7.0]\n\
                 [initial.clusters.file]\npath = 'old/snapshots/snapshot_0001.hdf5'\n";
    let without_field = FIELD.replace("[external.point-mass]\nmass = 9.565e10\n", "");
    folder.write("run.toml", format!("[run]\nname = 'new'\nt_end = 0.75\n{UNITS}{moved}{without_field}"));
    folder.tisane(&["run", "run.toml", "-q", "--output", "moved"]).exits(0);
    // Ids are numbered anew, in the same order: those of the old run are consecutive too.
    assert_same(&first(&folder, "moved"), &expected, 1.0);
}

#[test]
fn files_without_relative_states_are_used_as_they_stand() {
    let folder = old();
    let expected = pairs(&folder.path(SNAPSHOT));
    let copy = |name: &str, change: &dyn Fn(&hdf5::File)| {
        std::fs::copy(folder.path(SNAPSHOT), folder.path(name)).unwrap();
        change(&hdf::change(folder.path(name)));
    };
    copy("older.hdf5", &|file| file.unlink("SubsystemStars").unwrap());
    new(&folder, "older", UNITS, &file("older.hdf5"), &[]).exits(0).says(&[TOO_FAR]);
    let worse = |output: &str| -> Vec<String> {
        let found = first(&folder, output);
        let worse = differences(&found, &expected, 1.0).filter(|(.., difference)| *difference > 1e-8);
        worse.map(|(stars, ..)| stars.to_owned()).collect()
    };
    assert!(worse("older").len() > 10, "{:?}", worse("older"));
    // Stars of one pair elsewhere: only that pair is not as the file says.
    let moved = |file: &hdf5::File| {
        let dataset = file.dataset("SubsystemStars/RelativePosition").unwrap();
        let mut values = dataset.read_raw::<f64>().unwrap();
        values[0] += 1e-7;
        dataset.write_raw(&values).unwrap();
    };
    copy("moved.hdf5", &moved);
    new(&folder, "moved", UNITS, &file("moved.hdf5"), &[])
        .exits(0)
        .says(&["/SubsystemStars of 1 of", "Coordinates and Velocities are used"]);
    assert_eq!(worse("moved"), ["(0+1)"]);
    // A star that is none, and positions that the hash of the values does not know.
    let unknown = |file: &hdf5::File| {
        let dataset = file.dataset("SubsystemStars/ParticleIDs").unwrap();
        let mut values = dataset.read_raw::<u64>().unwrap();
        values[1] = 12_345;
        dataset.write_raw(&values).unwrap();
    };
    copy("unknown.hdf5", &unknown);
    new(&folder, "x", UNITS, &file("unknown.hdf5"), &[]).exits(2).says(&[
        "unknown.hdf5",
        "/SubsystemStars/ParticleIDs",
        "12345",
    ]);
    let edited = |file: &hdf5::File| {
        let dataset = file.dataset("PartType4/Coordinates").unwrap();
        let mut values = dataset.read_raw::<f64>().unwrap();
        values[0] += 1e-6;
        dataset.write_raw(&values).unwrap();
    };
    copy("edited.hdf5", &edited);
    new(&folder, "x", UNITS, &file("edited.hdf5"), &[]).exits(2).says(&["edited.hdf5", "content_sha256"]);
}
