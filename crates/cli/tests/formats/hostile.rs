//! Bad files: each an input error that names the place, what was expected and what was found.

use crate::fixtures::{
    CSV, NBODY6, assert_says, complaint, complaint_about, file, read, replace, small_tipsy, snapshot, tamper, tipsy,
    two,
};
use crate::hdf;
use crate::others::{MCLUSTER, nemo};
use proptest::prelude::*;
use std::path::Path;
use tisane::particles::Particles;
use tisane_io::formats::{self, FORMATS};

/// The complaint about a snapshot made by `make` at the path it is given.
fn snapshot_complaint(make: impl Fn(&Path)) -> String {
    let (_folder, path) = file("snapshot.hdf5", "");
    make(&path);
    complaint_about(&path, formats::read(&path, None))
}

#[test]
fn what_is_not_a_file_of_particles_is_said_to_be_so() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let missing = folder.path().join("nowhere.csv");
    assert_says(&complaint_about(&missing, formats::read(&missing, None)), &["no such file"]);
    let folder = folder.path();
    assert_says(&complaint_about(folder, formats::read(folder, Some("csv"))), &["found a directory"]);
    assert_says(&complaint("", None), &["empty"]);
    for garbage in
        [&b"\x00\x01\x02\xff\xfe garbage"[..], &[0; 5000], b"[list]\nname = 1\n", b"# only a comment\n", b"\n\n"]
    {
        assert_says(
            &complaint(garbage, None),
            &["not in a format that tisane reads", "tipsy", "nbody6", "csv", "tisane"],
        );
    }
}

#[test]
fn a_named_format_that_does_not_fit_is_told_what_was_found() {
    assert_says(&complaint(small_tipsy(true, 4), Some("csv")), &["expected csv", "looks like tipsy"]);
    assert_says(&complaint(CSV, Some("nbody6")), &["expected nbody6", "looks like csv", "format = \"csv\""]);
    // Columns of numbers could be several formats: the named one says why it is none of them.
    assert_says(&complaint(NBODY6, Some("tipsy")), &["expected a Tipsy header"]);
    assert_says(&complaint(NBODY6, Some("mcluster")), &["line 1", "expected the header #Mass_[Msun]"]);
    assert_says(&complaint(NBODY6, Some("nemo")), &["expected an item of NEMO's structured binary"]);
    assert_says(&complaint("garbage", Some("gadget")), &["not an HDF5 file"]);
    assert_says(&complaint("garbage", Some("amuse")), &["not an HDF5 file"]);
    assert_says(&complaint(NBODY6, Some("nbdy6")), &["no file format \"nbdy6\"", "did you mean \"nbody6\""]);
    // Where nothing else fits, the named format's own reader says why.
    assert_says(&complaint("not a table", Some("nbody6")), &["line 1", "expected 7 columns", "found 3"]);
    assert_says(&complaint("garbage", Some("tipsy")), &["Tipsy header", "7 bytes"]);
    assert_says(&complaint("garbage", Some("tisane")), &["HDF5"]);
    assert_says(&complaint("garbage", Some("csv")), &["line 1, header", "\"garbage\""]);
}

#[test]
fn malformed_csv_is_told_with_line_and_column() {
    let with = |rows: &str| complaint(format!("m,x,y,z,vx,vy,vz,id\n1,2,3,4,5,6,7,1\n{rows}"), None);
    for (rows, expected) in [
        ("1,2,3,4,5,6,7", &["line 3", "expected 8 columns", "found 7"][..]),
        ("1,2,3,4,5,6,7,8,9", &["line 3", "found 9"]),
        ("# c\n\n1,2,3,4,five,6,7,2", &["line 5, column vx", "expected a number", "five"]),
        ("1,2,,4,5,6,7,2", &["line 3, column y", "\"\""]),
        ("1,2,3,4,5,6,7,1.5", &["line 3, column id", "whole number", "1.5"]),
        ("1,2,3,4,5,6,7,-1", &["line 3, column id", "-1"]),
        ("1,2,3,4,5,6,7,1", &["line 3", "id 1 was used before", "line 2"]),
        ("1,2,NaN,4,5,6,7,2", &["line 3", "position is NaN"]),
        ("1,2,3,4,5,6,1e999,2", &["line 3", "velocity is inf"]),
        ("-1,2,3,4,5,6,7,2", &["line 3", "mass is -1", "zero or more"]),
    ] {
        assert_says(&with(rows), expected);
    }
    assert_says(&complaint(b"m,x,y,z,vx,vy,vz\n1,2,3,4,5,6,\xff\xfe\n", None), &["line 2", "UTF-8"]);
    assert_says(&complaint("m,x,y,z,vx,vy,vz\n", None), &["at least one particle"]);
}

#[test]
fn malformed_csv_headers_are_told_by_name() {
    for (header, expected) in [
        ("m,x,y,z,vx,vy,vz,radii", &["column 8 is \"radii\"", "nearest: radius"][..]),
        ("mass,x,y,z,vx,vy,vz", &["column 1 is \"mass\"", "nearest: m"]),
        ("m,x,y,z,vx,vy", &["expected a column vz", "found m,x,y,z,vx,vy"]),
        ("m,x,y,z,vx,vy,vz,x", &["column x occurs twice"]),
        ("1,2,3,4,5,6", &["column 1 is \"1\"", "the header is m,x,y,z,vx,vy,vz[,id][,radius]"]),
    ] {
        assert_says(&complaint(format!("{header}\n"), None), expected);
    }
    assert_says(&complaint(b"m,x,\xff,z,vx,vy,vz\n", None), &["line 1", "UTF-8"]);
}

#[test]
fn malformed_nbody6_is_told_with_line_and_column() {
    let with = |rows: &[u8]| complaint([b"1 2 3 4 5 6 7\n", rows].concat(), None);
    for (rows, expected) in [
        (&b"1 2 3 4 5 6"[..], &["line 2", "expected 7 columns", "found 6"][..]),
        (b"1 2 3 4 5 6 7 8", &["line 2", "found 8"]),
        (b"\n1 2 3 x 5 6 7", &["line 3, column z", "expected a number", "\"x\""]),
        (b"1 2 3 4 5 6 nan", &["line 2", "velocity is NaN"]),
        (b"-0.5 2 3 4 5 6 7", &["line 2", "mass is -0.5"]),
        (b"inf 2 3 4 5 6 7", &["line 2", "mass is inf"]),
        (b"1 2 3 4 5 6 \xff", &["line 2", "UTF-8"]),
        (&b"9".repeat(5000), &["line 2", "more than 4096 bytes"]),
    ] {
        assert_says(&with(rows), expected);
    }
    assert_says(&complaint("1 2 3 4 5 6\n", None), &["line 1", "found 6"]);
}

#[test]
fn a_tipsy_file_of_the_wrong_size_is_refused_before_anything_is_allocated() {
    let good = small_tipsy(false, 4);
    for cut in [29, 31, 32, 100, good.len() - 5, good.len() - 1] {
        assert_says(&complaint(&good[..cut], None), &["announces 4 (1 gas, 2 dark, 1 star)", "truncated"]);
    }
    let long = [&good[..], &[0]].concat();
    assert_says(&complaint(long, None), &["expected 192 bytes (or 196 with a padded header", "found 197"]);
    assert_says(&complaint(&good[..20], Some("tipsy")), &["Tipsy header", "20 bytes"]);
    // Headers that claim 2^31 and almost 2^32 particles.
    for claim in [1u32 << 31, u32::MAX] {
        let mut huge = good.clone();
        huge[8..12].copy_from_slice(&claim.to_le_bytes());
        huge[16..28].copy_from_slice(&[[0; 4], claim.to_le_bytes(), [0; 4]].concat());
        assert_says(&complaint(huge, None), &[&format!("announces {claim}"), "found 196"]);
    }
}

#[test]
fn unphysical_values_in_tipsy_are_told_with_the_particle() {
    let good = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    for (k, value, expected) in [
        (0, -1.0, "particle 1 (from 0): mass is -1"),
        (2, f32::NAN, "particle 1 (from 0): position is NaN"),
        (6, f32::INFINITY, "particle 1 (from 0): velocity is inf"),
    ] {
        let mut bad = good;
        bad[k] = value;
        assert_says(&complaint(tipsy(0.0, &[(1, good, 0.1), (2, bad, 0.1)], true, 4), None), &[expected]);
    }
    assert_says(&complaint(tipsy(f64::NAN, &[(1, good, 0.1)], false, 0), None), &["time of the file is NaN"]);
    assert_says(&complaint(tipsy(0.0, &[], false, 0), None), &["at least one particle"]);
}

#[test]
fn malformed_snapshots_are_told_with_the_dataset() {
    let message = snapshot_complaint(|path| drop(hdf::create(path)));
    assert_says(&message, &["HDF5 in a layout that tisane does not recognise", "tisane's HDF5 snapshot", "csv"]);
    for (change, expected) in [
        ((|f| drop(f.create_group("PartType1"))) as fn(&hdf5::File), &["PartType4 only", "PartType1"][..]),
        (|f| f.unlink("PartType4").expect("the particles"), &["/PartType4", "no such group"]),
        (|f| f.unlink("PartType4/Coordinates").expect("a dataset"), &["/PartType4/Coordinates", "no such dataset"]),
        (|f| replace(f, "ParticleIDs", &[3], &[1u64, 2, 3]), &["/PartType4/ParticleIDs", "2 rows", "[3]"]),
        (|f| replace(f, "ParticleIDs", &[1, 2], &[1u64, 2]), &["/PartType4/ParticleIDs", "[1, 2]"]),
        (|f| replace(f, "ParticleIDs", &[2], &[1.0, 2.0]), &["/PartType4/ParticleIDs"]),
        (|f| replace(f, "ParticleIDs", &[2], &[1i64, -2]), &["/PartType4/ParticleIDs"]),
        (|f| replace(f, "Masses", &[2], &[1u8, 2]), &["/PartType4/Masses"]),
        (|f| replace(f, "Masses", &[2], &[1.0, 2.0]), &["content_sha256", "do not match"]),
        (|f| set(&f.group("Units").expect("units"), "time_in_s", 0.0), &["/Units", "positive, finite"]),
        (|f| set(f, "time", 1.0), &["content_sha256", "do not match"]),
    ] {
        let message = snapshot_complaint(|path| {
            snapshot(path, &two());
            tamper(path, change);
        });
        assert_says(&message, expected);
    }
}

/// Changes a number in an attribute.
fn set(at: &hdf5::Location, name: &str, value: f64) {
    at.attr(name).and_then(|attribute| attribute.write_scalar(&value)).expect("an attribute");
}

type Spoil = fn(&mut Particles);

#[test]
fn snapshots_with_unphysical_values_are_refused() {
    for (spoil, expected) in [
        ((|p| p.mass[1] = -2.0) as Spoil, "particle 1 (from 0): mass is -1024"),
        (|p| p.pos[1][2] = f64::NAN, "particle 1 (from 0): position is NaN"),
        (|p| p.id = vec![5, 5], "particle 1 (from 0): id 5 was used before at particle 0"),
        (|p| *p = Particles::default(), "at least one particle"),
    ] {
        let mut bad = two();
        spoil(&mut bad);
        assert_says(&snapshot_complaint(|path| snapshot(path, &bad)), &[expected]);
    }
}

#[test]
fn a_snapshot_that_claims_what_it_does_not_store_is_refused() {
    // 2^31 particles in a chunked dataset of which nothing was ever written: a few kB of file, 48 GiB to allocate.
    let message = snapshot_complaint(|path| {
        snapshot(path, &two());
        tamper(path, |file| {
            file.unlink("PartType4/Coordinates").expect("the old dataset");
            let claim = file.new_dataset::<f64>().chunk([1024, 3]).shape([1 << 31, 3]);
            claim.create("PartType4/Coordinates").expect("an unwritten dataset");
        });
    });
    assert_says(&message, &["/PartType4/Coordinates", "expected 51539607552 bytes", "only 0 are stored"]);
}

#[test]
fn a_snapshot_cut_off_or_overwritten_anywhere_never_panics() {
    const TRAILER: usize = 80;
    let (_folder, path) = file("snapshot.hdf5", "");
    snapshot(&path, &two());
    let whole = std::fs::read(&path).expect("the snapshot");
    // Without the checksum, so that the damage reaches the reader.
    let good = &whole[..whole.len() - TRAILER];
    read(good, None).expect("the checksum may be missing");
    for cut in (8..good.len()).step_by(211) {
        assert_says(&complaint(&good[..cut], None), &["HDF5"]);
    }
    // Overwritten metadata may or may not be noticed; reading must come back either way.
    for at in (8..good.len() - 8).step_by(97) {
        let mut bad = good.to_vec();
        bad[at..at + 8].fill(0xff);
        let _ = read(&bad, None);
        let mut bad = whole.clone();
        bad[at] ^= 1;
        assert_says(&complaint(&bad, None), &["damaged", "SHA-256"]);
    }
}

proptest! {
    #[test]
    fn text_tipsy_and_nemo_files_with_any_bytes_anywhere_never_panic(
        which in 0..6usize,
        at in any::<prop::sample::Index>(),
        bytes in prop::collection::vec(any::<u8>(), 0..24),
        cut in any::<bool>(),
    ) {
        let text = |text: &str| text.as_bytes().to_vec();
        let binary = [small_tipsy(true, 0), nemo(false, true).bytes, nemo(true, false).bytes];
        let mut content = [text(CSV), text(NBODY6), text(MCLUSTER)].into_iter().chain(binary).nth(which).expect("one of them");
        let start = at.index(content.len());
        let end = if cut { content.len() } else { (start + bytes.len()).min(content.len()) };
        content.splice(start..end, bytes);
        for format in FORMATS.iter().map(|format| Some(format.name)).chain([None]) {
            if let Err(error) = read(&content, format) {
                prop_assert_eq!(error.exit_code(), 2);
            }
        }
    }
}
