//! Promise: HDF5 numbers of any size and byte order are read, tables by their columns, and where values are packed by a
//! filter that is not there, the filter is named with a way.

use crate::fixtures::{assert_says, complaint_about, file};
use crate::hdf;
use hdf5::file::LibraryVersion;
use hdf5::{File, H5Type};
use std::path::Path;
use tisane::particles::Vec3;
use tisane::{Error, Result};
use tisane_io::formats::{self, Datasets, FileState};
use tisane_run::config::parse_datasets;

/// HDF5's type of 8-byte integers in a file: class, size, offset, precision.
const INT64: [u8; 12] = [0x10, 0, 0, 0, 8, 0, 0, 0, 0, 0, 64, 0];
/// HDF5's type of 8-byte floats in a file: class and places, size, offset, precision, exponent, mantissa, bias.
const FLOAT64: [u8; 20] = [0x11, 0x20, 0x3f, 0, 8, 0, 0, 0, 0, 0, 64, 0, 0x34, 0x0b, 0, 0x34, 0xff, 3, 0, 0];
const ALL: &str = r#"{ mass = "mass", position = "pos", velocity = "vel", id = "id" }"#;

fn put<T: H5Type>(at: &File, name: &str, shape: &[usize], values: &[T]) {
    at.new_dataset::<T>().shape(shape).create(name).and_then(|d| d.write_raw(values)).expect("a dataset");
}

fn named(text: &str) -> Datasets {
    parse_datasets(text).expect("good datasets")
}

fn read(path: &Path, text: &str) -> Result<FileState> {
    Ok(formats::read_datasets(path, &named(text))?)
}

fn refused(path: &Path, text: &str) -> String {
    match read(path, text) {
        Err(error @ Error::Input { .. }) => format!("{error} | {}", error.advice().unwrap_or_default()),
        other => panic!("expected an input error, found {other:?}"),
    }
}

/// Creates a file with headers of the first version, which have no checksums: their bytes can be changed.
fn create_to_change(path: &Path) -> File {
    let mut options = hdf::options();
    options.with_fapl(|access| access.libver_bounds(LibraryVersion::Earliest, LibraryVersion::V110));
    options.create(path).expect("a file")
}

/// A file of three particles whose masses and ids alone have 8 bytes.
fn three(path: &Path) {
    let file = create_to_change(path);
    put(&file, "mass", &[3], &[1.0f64, 0.5, 0.25]);
    put(&file, "id", &[3], &[30i64, 10, 20]);
    put(&file, "pos", &[3, 3], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    put(&file, "vel", &[3, 3], &[0.0f32; 9]);
}

/// Gives a dataset another type, as programs that know more types write it, and other values.
fn retype(path: &Path, dataset: &str, (old, new): (&[u8], &[u8]), values: &[u8]) {
    let place = hdf::open(path).dataset(dataset).expect("a dataset").offset().expect("a place") as usize;
    let mut bytes = std::fs::read(path).expect("the file");
    let of = bytes.windows(old.len()).position(|window| window == old).expect("the type");
    assert!(bytes[of + 1..].windows(old.len()).all(|window| window != old), "one such type");
    bytes[of..of + new.len()].copy_from_slice(new);
    bytes[place..place + values.len()].copy_from_slice(values);
    std::fs::write(path, bytes).expect("a file");
}

/// Integers of `size` bytes.
fn integers(values: &[i64], size: usize, big_endian: bool) -> Vec<u8> {
    let of = |value: &i64| {
        let mut bytes = value.to_le_bytes()[..size].to_vec();
        if big_endian {
            bytes.reverse();
        }
        bytes
    };
    values.iter().flat_map(of).collect()
}

#[test]
fn integers_of_one_to_eight_bytes_are_read() {
    for size in 1..=8u8 {
        for (signed, big_endian) in [(false, false), (false, true), (true, false), (true, true)] {
            let (_folder, path) = file("particles.hdf5", "");
            three(&path);
            // Signed numbers have bit 3 of their flags set.
            let flags = u8::from(big_endian) | if signed { 8 } else { 0 };
            let new = [0x10, flags, 0, 0, size, 0, 0, 0, 0, 0, 8 * size, 0];
            let max = 1i64 << (8 * i64::from(size) - 2).min(62);
            let old = [&INT64[..1], &[8], &INT64[2..]].concat();
            retype(&path, "id", (&old, &new), &integers(&[max, 1, 2], size.into(), big_endian));
            let state = read(&path, ALL).unwrap_or_else(|e| panic!("{size} bytes, {signed}, {big_endian}: {e}"));
            assert_eq!(state.particles.id, [max as u64, 1, 2], "{size} bytes, {signed}, {big_endian}");
            if signed {
                retype(&path, "id", (&new, &new), &integers(&[max, -1, 2], size.into(), big_endian));
                assert_says(&refused(&path, ALL), &["/id: expected no negative id, found -1"]);
            }
            // As masses they are numbers like others.
            retype(&path, "id", (&new, &new), &integers(&[3, 1, 2], size.into(), big_endian));
            let masses = r#"{ mass = "id", position = "pos", velocity = "vel" }"#;
            assert_eq!(read(&path, masses).expect("a good file").particles.mass, [3.0, 1.0, 2.0]);
        }
    }
}

#[test]
fn floats_of_two_to_eight_bytes_are_read() {
    // Sign, size, precision, place and size of the exponent, size of the mantissa, bias.
    let float = |[sign, size, exponent, of, mantissa]: [u8; 5], bias: u16, big_endian: bool| {
        let [low, high] = bias.to_le_bytes();
        let flags = 0x20 | u8::from(big_endian);
        [&[0x11, flags, sign, 0, size, 0, 0, 0, 0, 0, 8 * size, 0, exponent, of, 0, mantissa, low, high, 0, 0][..]]
            .concat()
    };
    let half = |big_endian| float([15, 2, 10, 5, 10], 15, big_endian);
    let brain = |big_endian| float([15, 2, 7, 8, 7], 127, big_endian);
    let words = |values: [u16; 3], big_endian: bool| {
        values.map(|word| if big_endian { word.to_be_bytes() } else { word.to_le_bytes() }).concat()
    };
    for big_endian in [false, true] {
        let single = [1.0f32, 0.5, 0.25].map(|x| if big_endian { x.to_be_bytes() } else { x.to_le_bytes() }).concat();
        let double = [1.0f64, 0.5, 0.25].map(|x| if big_endian { x.to_be_bytes() } else { x.to_le_bytes() }).concat();
        for (new, values) in [
            (half(big_endian), words([0x3c00, 0x3800, 0x3400], big_endian)),
            (brain(big_endian), words([0x3f80, 0x3f00, 0x3e80], big_endian)),
            (float([31, 4, 23, 8, 23], 127, big_endian), single),
            (float([63, 8, 52, 11, 52], 1023, big_endian), double),
        ] {
            let (_folder, path) = file("particles.hdf5", "");
            three(&path);
            retype(&path, "mass", (&FLOAT64, &new), &values);
            assert_eq!(read(&path, ALL).expect("a good file").particles.mass, [1.0, 0.5, 0.25], "{new:?}");
        }
    }
    // The list of a file names types without a name by their size.
    let (_folder, path) = file("particles.hdf5", "");
    three(&path);
    retype(&path, "mass", (&FLOAT64, &half(false)), &[]);
    assert_says(&complaint_about(&path, formats::read(&path, None)), &["mass  3      float of 2 bytes", "--datasets"]);
}

#[derive(Clone, Copy, H5Type)]
#[repr(C)]
struct Star {
    mass: f64,
    pos: [f64; 3],
    vel: [f32; 3],
    id: i32,
    flag: bool,
}

#[test]
fn compound_tables_are_read_by_column_plain_and_packed() {
    let star = |k: i32| {
        let x = f64::from(k);
        Star { mass: x + 1.0, pos: [x, 2.0 * x, -x], vel: [0.5, 0.0, x as f32], id: 10 - k, flag: k == 1 }
    };
    let stars: Vec<Star> = (0..5).map(star).collect();
    let columns =
        r#"{ mass = "g/stars:mass", position = "g/stars:pos", velocity = "/g/stars:vel", id = "g/stars:id" }"#;
    for packing in 0..4 {
        let (_folder, path) = file("stars.hdf5", "");
        let group = hdf::create(&path).create_group("g").expect("a group");
        let builder = group.new_dataset::<Star>();
        let builder = match packing {
            0 => builder,
            1 => builder.chunk(2),
            2 => builder.chunk(2).deflate(6),
            _ => builder.chunk(2).shuffle().deflate(6),
        };
        builder.shape(stars.len()).create("stars").and_then(|d| d.write_raw(&stars)).expect("a table");
        drop(group);
        let p = read(&path, columns).expect("a good file").particles;
        assert_eq!((&p.mass, &p.id), (&vec![1.0, 2.0, 3.0, 4.0, 5.0], &vec![10, 9, 8, 7, 6]), "{packing}");
        assert_eq!((p.pos[3], p.vel[4]), (Vec3::new(3.0, 6.0, -3.0), Vec3::new(0.5, 0.0, 4.0)), "{packing}");
        // Without names the file is refused with its columns, and with lines that do what they say.
        let said = complaint_about(&path, formats::read(&path, None));
        assert_says(&said, &["  g/stars:mass  5      float64\n", "  g/stars:pos   5 x 3  float64\n"]);
        let option = said.split_once("--datasets '").and_then(|(_, rest)| rest.split_once('\'')).expect("the option").0;
        assert_eq!(read(&path, option).expect("a good file").particles, p);
        for (from, to, expected) in [
            (
                "g/stars:mass",
                "g/stars:mas",
                "/g/stars:mas: no such column; those of the table are mass, pos, vel, id, flag",
            ),
            ("g/stars:mass", "g/stars", "expected numbers, found compound (5 fields)"),
            ("g/stars:mass", "g/stars", "name one of its columns: stars:mass, stars:pos"),
            ("g/stars:pos", "g/stars:flag", "/g/stars:flag: expected numbers, found bool"),
            ("g/stars:pos", "g/stars:id", "/g/stars:id: expected 3 numbers a row, found 1"),
            ("g/stars:id", "g/stars:mass", "named for mass already"),
        ] {
            let without_ids = columns.replace(", id = \"g/stars:id\"", "");
            let columns = if to.ends_with(":id") { &without_ids } else { columns };
            let changed = columns.replace(&format!("{from}\""), &format!("{to}\""));
            match parse_datasets(&changed) {
                Ok(_) => assert_says(&refused(&path, &changed), &[expected]),
                Err(said) => assert_says(&said, &[expected]),
            }
        }
    }
}

#[test]
fn columns_of_a_table_of_numbers_are_read_by_their_places() {
    let (_folder, path) = file("phase.hdf5", "");
    let rows: Vec<f64> = (0..14).map(f64::from).collect();
    put(&hdf::create(&path), "phase", &[2, 7], &rows);
    let said = complaint_about(&path, formats::read(&path, None));
    assert_says(&said, &["phase  2 x 7  float64", "if the columns are m x y z vx vy vz"]);
    let option = said.split_once("--datasets '").and_then(|(_, rest)| rest.split_once('\'')).expect("the option").0;
    let p = read(&path, option).expect("a good file").particles;
    assert_eq!((&p.mass, p.pos[1], p.vel[0]), (&vec![0.0, 7.0], Vec3::new(8.0, 9.0, 10.0), Vec3::new(4.0, 5.0, 6.0)));
    assert_says(&refused(&path, &option.replace("phase:6", "phase:7")), &["the number of a column, from 0 to 6"]);
    let whole = r#"{ mass = "phase", position = "phase:1", velocity = "phase:2" }"#;
    assert_says(&refused(&path, whole), &["expected 2 rows of 1, found shape [2, 7]", "\"phase:0\""]);
    let twice = r#"{ mass = "phase", position = "phase", velocity = "phase" }"#;
    assert_says(&parse_datasets(twice).expect_err("twice"), &["named for mass already", "as \"phase:0\""]);
}

#[test]
fn values_packed_by_a_filter_that_is_not_there_are_named_with_a_way() {
    // HDF5's own deflate with a parameter to be found by; the number of the filter is changed afterwards.
    const MARK: u32 = 0x5ad1_7e5b;
    for (number, expected) in [
        (32_000u16, ["packed by LZF", "h5py alone has this filter", "import h5py"]),
        (32_001, ["packed by Blosc", "pip install h5py hdf5plugin", "import h5py, hdf5plugin"]),
        (4, ["packed by SZIP", "h5repack with SZIP", "h5repack -f NONE IN OUT"]),
        (32_999, ["packed by filter 32999 (deflate)", "hdf5plugin", "h5py"]),
    ] {
        let (_folder, path) = file("packed.hdf5", "");
        let file = create_to_change(&path);
        for (name, shape) in [("mass", &[4][..]), ("pos", &[4, 3]), ("vel", &[4, 3])] {
            let builder = file.new_dataset::<f64>().chunk(shape.to_vec()).add_filter(1, &[9, MARK]);
            let n = shape.iter().product();
            builder.shape(shape).create(name).and_then(|d| d.write_raw(&vec![1.0; n])).expect("a dataset");
        }
        drop(file);
        let mut bytes = std::fs::read(&path).expect("the file");
        let places = bytes.windows(4).enumerate().filter(|(_, four)| *four == MARK.to_le_bytes());
        let places: Vec<usize> = places.map(|(at, _)| at - 4 - 8 - 8).collect();
        assert_eq!(places.len(), 3);
        for at in places {
            bytes[at..at + 2].copy_from_slice(&number.to_le_bytes());
        }
        std::fs::write(&path, bytes).expect("a file");
        assert_says(&complaint_about(&path, formats::read(&path, None)), &expected);
        assert_says(&complaint_about(&path, formats::read(&path, None)), &["  mass  4      float64, packed by", "pos"]);
        let all = r#"{ mass = "mass", position = "pos", velocity = "vel" }"#;
        assert_says(&refused(&path, all), &expected);
        assert_says(&refused(&path, all), &["/mass: its values are packed by"]);
    }
}
