//! Gadget's binary snapshots, PeTar's snapshots, Tipsy in double precision, and files packed by gzip.

use crate::fixtures::{CSV, assert_says, complaint, complaint_about, file, read};
use crate::others::gadget;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use tisane::particles::Vec3;
use tisane_io::formats;

/// A snapshot of Gadget's: two of halo with a mass in the header, one star with its own.
#[derive(Clone)]
struct Gadget {
    format: u8,
    big_endian: bool,
    double: bool,
    long_ids: bool,
    redshift: f64,
    files: u32,
    totals: [u32; 6],
    h: f64,
}

const PLAIN: Gadget = Gadget {
    format: 1,
    big_endian: false,
    double: false,
    long_ids: false,
    redshift: 0.0,
    files: 1,
    totals: [0, 2, 0, 0, 1, 0],
    h: 1.0,
};

impl Gadget {
    fn int(&self, n: u32) -> [u8; 4] {
        if self.big_endian { n.to_be_bytes() } else { n.to_le_bytes() }
    }

    fn float8(&self, x: f64) -> [u8; 8] {
        if self.big_endian { x.to_be_bytes() } else { x.to_le_bytes() }
    }

    fn floats(&self, values: &[f64]) -> Vec<u8> {
        let single = |x: f64| self.int((x as f32).to_bits()).to_vec();
        let float = |x: &f64| if self.double { self.float8(*x).to_vec() } else { single(*x) };
        values.iter().flat_map(float).collect()
    }

    fn block(&self, into: &mut Vec<u8>, name: &[u8; 4], content: &[u8]) {
        let length = content.len() as u32;
        if self.format == 2 {
            let next = self.int(length + 8);
            into.extend([&self.int(8)[..], name, &next, &self.int(8)].concat());
        }
        into.extend([&self.int(length)[..], content, &self.int(length)].concat());
    }

    fn bytes(&self) -> Vec<u8> {
        let mut header: Vec<u8> = [0, 2, 0, 0, 1, 0].iter().flat_map(|n| self.int(*n)).collect();
        header.extend([0.0, 0.25, 0.0, 0.0, 0.0, 0.0, 1.5, self.redshift].iter().flat_map(|x| self.float8(*x)));
        header.extend([0, 0].iter().chain(&self.totals).chain(&[0, self.files]).flat_map(|n| self.int(*n)));
        header.extend([0.0, 0.0, 0.0, self.h].iter().flat_map(|x| self.float8(*x)));
        header.resize(256, 0);
        let mut bytes = Vec::new();
        self.block(&mut bytes, b"HEAD", &header);
        self.block(&mut bytes, b"POS ", &self.floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]));
        self.block(&mut bytes, b"VEL ", &self.floats(&[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, -1.0, 0.0, 1.0]));
        let id = |n: u32| match (self.long_ids, self.big_endian) {
            (false, _) => self.int(n).to_vec(),
            (true, false) => u64::from(n).to_le_bytes().to_vec(),
            (true, true) => u64::from(n).to_be_bytes().to_vec(),
        };
        self.block(&mut bytes, b"ID  ", &[3, 1, 2].into_iter().flat_map(id).collect::<Vec<u8>>());
        self.block(&mut bytes, b"MASS", &self.floats(&[2.0]));
        self.block(&mut bytes, b"POT ", &self.floats(&[-1.0; 3]));
        bytes
    }
}

#[test]
fn gadgets_binary_snapshots_are_read_as_its_hdf5() {
    let (_folder, path) = file("snapshot.hdf5", "");
    drop(gadget(&path));
    let expected = formats::read(&path, None).expect("a good file").particles;
    for k in 0..16 {
        let bit = |at: u32| k >> at & 1 == 1;
        let (format, big_endian, double, long_ids) = (if bit(0) { 2 } else { 1 }, bit(1), bit(2), bit(3));
        let state = read(Gadget { format, big_endian, double, long_ids, ..PLAIN }.bytes(), None).expect("a good file");
        assert_eq!((state.format, state.time, &state.particles), ("gadget-binary", Some(1.5), &expected));
        let order = if big_endian { "big" } else { "little" };
        assert_says(&state.guess, &[&format!("Gadget's SnapFormat {format} in {order}-endian order")]);
        assert_says(&state.notes.join("; "), &["2 halo (PartType1), 1 stars (PartType4) were merged", "usually 1e10"]);
    }
    let state = read(Gadget { h: 0.5, ..PLAIN }.bytes(), None).expect("a good file");
    assert_eq!((state.particles.mass[2], state.particles.pos[2][0], state.time), (4.0, 14.0, Some(3.0)));
}

#[test]
fn gadgets_binary_snapshots_that_are_no_whole_isolated_system_are_told() {
    let with = |change: fn(&mut Gadget)| {
        let mut snapshot = Gadget { format: 2, ..PLAIN };
        change(&mut snapshot);
        snapshot.bytes()
    };
    assert_says(&complaint(with(|g| g.redshift = 0.5), None), &["redshift is 0.5 (and its time 1.5)", "comoving"]);
    let (_folder, path) = file("snap_003.1", with(|g| (g.files, g.totals[1]) = (4, 10)));
    let said = complaint_about(&path, formats::read(&path, None));
    assert_says(&said, &["one of 4 files", "3 of 11 particles, snap_003.0 to snap_003.3", "join them"]);
    let state = read(with(|g| g.totals[1] = 64), None).expect("a good file");
    let said = "contradicts itself: NumPart_Total has 64 halo, this file, the only one, 2";
    assert_says(&state.notes.join("; "), &[said]);
    assert_says(&complaint(with(|g| g.h = -1.0), None), &["a positive number as HubbleParam"]);
    let good = PLAIN.bytes();
    for (cut, expected) in [(300, "beyond the end of the file"), (264 + 44, "the block of the velocities is missing")] {
        assert_says(&complaint(&good[..cut], None), &[expected]);
    }
    let mut longer = good.clone();
    longer[4 + 4..4 + 8].copy_from_slice(&5u32.to_le_bytes());
    assert_says(&complaint(longer, None), &["the positions: expected 72 bytes (4-byte values) or 144", "found 36"]);
    let mut marker = good;
    marker[264..268].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_says(&complaint(marker, None), &["a block of 4294967295 bytes at byte 264 is beyond the end"]);
}

/// A snapshot of PeTar's with `more` columns of stellar evolution, in the order of the ids 5, 9.
fn petar(header: &str, more: usize, last: usize) -> String {
    let evolution = " 0.125".repeat(more);
    let rest = " 0".repeat(last - 2);
    let star = |m: f64, x: f64, id: u64| format!("{m} {x} 0 0 0 {m} 0 0{evolution} 0.25 {id}{rest}\n");
    format!("{header}\n{}{}", star(1.0, 0.5, 5), star(0.5, -1.0, 9))
}

#[test]
fn snapshots_of_petar_are_read_with_time_units_and_ids() {
    for (header, more, last) in
        [("3 2 1.5", 0, 12), ("0 2 1.5", 0, 13), ("7 2 1.5D0", 4, 12), ("7 2 1.5 8000 0 0 0 220 0", 17, 13)]
    {
        let state = read(petar(header, more, last), None).expect("a good file");
        assert_eq!((state.format, state.time, state.particles.len()), ("petar-snapshot", Some(1.5), 2), "{header}");
        assert_eq!(state.units.map(|units| units.describe()).as_deref(), Some("Msun, pc, pc/Myr, Myr"));
        let p = state.particles;
        assert_eq!((p.mass, p.pos[1], p.vel[0]), (vec![1.0, 0.5], Vec3::new(-1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0)));
        assert_eq!(p.id, [5, 9], "{header}, {more}, {last}");
        let centre = state.notes.iter().any(|note| note.contains("centre of the system is at (8000, 0, 0)"));
        assert_eq!(centre, header.contains("8000"));
    }
    assert_says(&complaint(petar("0 3 0", 0, 12), None), &["the header announces 3 stars, found 2", "truncated"]);
    let uneven = petar("0 2 0", 0, 12).replace(" 0 0.25 9", " 0 9");
    assert_says(&complaint(uneven, None), &["line 3: expected 20 columns, found 19"]);
    let same = petar("0 2 0", 0, 12).replace(" 9 ", " 5 ");
    assert_says(&read(same, None).expect("a good file").notes.join("; "), &["no column of ids is known"]);
}

/// A Tipsy file of one gas, two dark and one star particle in double precision.
fn tipsy_double(big_endian: bool, padding: usize) -> Vec<u8> {
    let int = |n: u32| if big_endian { n.to_be_bytes() } else { n.to_le_bytes() };
    let float = |x: f64| if big_endian { x.to_be_bytes() } else { x.to_le_bytes() };
    let mut bytes = float(2.5).to_vec();
    bytes.extend([4, 3, 1, 2, 1].into_iter().flat_map(int));
    bytes.extend(vec![0; padding]);
    for (k, floats) in [(1.0, 12), (2.0, 9), (3.0, 9), (4.0, 11)] {
        let mut record = vec![k, k + 0.5, -k, 0.0, 0.25, 1.0 / 3.0, -k];
        record.resize(floats, 0.125);
        bytes.extend(record.into_iter().flat_map(float));
    }
    bytes
}

#[test]
fn tipsy_in_double_precision_is_read_and_a_header_at_odds_named() {
    for (big_endian, padding) in [(false, 0), (false, 4), (true, 0), (true, 4)] {
        let state = read(tipsy_double(big_endian, padding), None).expect("a good file");
        assert_eq!((state.format, state.time), ("tipsy", Some(2.5)));
        let p = state.particles;
        assert_eq!((&p.mass, p.vel[3]), (&vec![1.0, 2.0, 3.0, 4.0], Vec3::new(0.25, 1.0 / 3.0, -4.0)));
        assert_says(&state.notes.join("; "), &["in double precision", "1 gas, 2 dark, 1 star"]);
        let kinds: Vec<_> = state.softening.iter().map(|(kind, range)| (*kind, *range)).collect();
        assert_eq!(kinds, [("gas", [0.125; 2]), ("dark", [0.125; 2]), ("star", [0.125; 2])]);
        let mut odd = tipsy_double(big_endian, padding);
        let set = |bytes: &mut Vec<u8>, at: usize, n: u32| {
            bytes[at..at + 4].copy_from_slice(&if big_endian { n.to_be_bytes() } else { n.to_le_bytes() });
        };
        set(&mut odd, 8, 40);
        assert_says(
            &complaint(&odd, None),
            &["contradicts itself", "40 particles in all, but 1 gas + 2 dark + 1 star = 4"],
        );
        set(&mut odd, 8, 4);
        set(&mut odd, 12, 2);
        assert_says(&complaint(&odd, None), &["the header has 2 dimensions: expected 3"]);
    }
}

fn packed(content: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(content).and_then(|()| packed.finish()).expect("packed bytes")
}

#[test]
fn files_packed_by_gzip_are_read_and_named_in_messages() {
    let plain = read(CSV, None).expect("a good file");
    let state = read(packed(CSV.as_bytes()), None).expect("a good file");
    assert_eq!((state.format, &state.particles), ("csv", &plain.particles));
    assert_says(&state.guess, &["packed by gzip; from the content: text with commas"]);
    let (head, rest) = CSV.split_at(20);
    let two_parts = [packed(head.as_bytes()), packed(rest.as_bytes())].concat();
    assert_eq!(read(two_parts, Some("csv")).expect("a good file").particles, plain.particles);
    let (_folder, path) = file("snapshot.hdf5", "");
    drop(gadget(&path));
    let whole = std::fs::read(&path).expect("the file");
    assert_eq!(read(packed(&whole), None).expect("a good file").format, "gadget");
    let (_folder, path) = file("stars.csv.gz", packed(CSV.as_bytes()));
    assert_says(&tisane_io::inspect::describe(&path).expect("a good file"), &["packed", "by gzip", "particles, csv"]);
    // `complaint` checks that the error names the file itself.
    let bad = packed(CSV.replace("1e-3", "five").as_bytes());
    assert_says(&complaint(bad, None), &["unpacked by gzip: line 6, column y", "five"]);
    let good = packed(CSV.as_bytes());
    assert_says(&complaint(&good[..good.len() - 9], None), &["packed by gzip, and damaged or truncated", "gzip -t"]);
    // Bytes made to fill a disk: 100 parts of a MiB each.
    let bomb = packed(&vec![0; 1 << 20]).repeat(100);
    assert!(bomb.len() < 1 << 18);
    assert_says(&complaint(bomb, None), &["bytes unpack to more than", "gunzip"]);
}

#[test]
fn well_known_kinds_that_are_not_read_are_named_in_one_line_with_a_way() {
    let zip = |name: &[u8]| [b"PK\x03\x04\x14\0\0\0", name].concat();
    let tar = [&[b'a'; 257][..], b"ustar\0"].concat();
    for (content, what, way) in [
        (b"BZh91AY&SY".to_vec(), "packed by bzip2", "bunzip2 -k "),
        (b"\xfd7zXZ\0\0\x04".to_vec(), "packed by xz", "xz -dk "),
        (b"\x28\xb5\x2f\xfd\0".to_vec(), "packed by Zstandard", "zstd -d "),
        (zip(b"mass.npy"), "an archive of NumPy (NPZ)", "numpy.load"),
        (zip(b"[Content_Types].xml"), "a spreadsheet", "as csv"),
        (zip(b"stars.dat"), "a zip archive", "unzip "),
        (tar, "a tar archive", "tar -xf "),
        (b"REBOUND Binary File. Version: 5.2.2\0".to_vec(), "an archive of REBOUND", "rebound.Simulation"),
        (b"SIMPLE  =                    T / as written, by a program".to_vec(), "a FITS file", "astropy"),
        (b"\x93NUMPY\x01\0v\0{'descr': '<f8'".to_vec(), "an array of NumPy (NPY)", "numpy.savetxt"),
        (b"PAR1\x15\x04".to_vec(), "a Parquet file", "read_parquet"),
        (b"CDF\x01\0\0".to_vec(), "a classic netCDF file", "nccopy"),
        (b"\x80\x04\x95\0\0".to_vec(), "Python's pickle", "as csv"),
        (b"\xff\xfem\0,\0".to_vec(), "text in UTF-16", "iconv"),
        (b"<!DOCTYPE html>\n<html>".to_vec(), "a page of the web", "download"),
        (b"{\"m\": [1, 2], \"x\": [0, 1]}".to_vec(), "JSON", "as csv"),
        (b"[run]\nname = \"x\"\n".to_vec(), "a configuration of a run", "tisane run "),
        (
            [&16u32.to_le_bytes()[..], &[0; 16], &16u32.to_le_bytes()].concat(),
            "Fortran's unformatted records",
            "as text",
        ),
        ([&vec![0; 512][..], b"\x89HDF\r\n\x1a\n"].concat(), "an HDF5 file behind a user block", "h5unjam"),
    ] {
        let said = complaint(&content, None);
        assert_says(&said, &[what, ", which tisane does not read | ", way]);
        assert!(said.lines().count() == 1 && !said.contains("mcluster"), "{said}");
        let (_folder, path) = file("it's here", &content);
        let said = complaint_about(&path, formats::read(&path, None));
        assert!(!said.contains('@'), "{said}");
        assert!(tisane_io::inspect::describe(&path).expect_err("no format").to_string().contains(what), "{what}");
    }
}

#[test]
fn text_in_another_layout_is_told_the_difference_with_a_way() {
    for (content, format, expected) in [
        ("m;x;y;z;vx;vy;vz\n1;2;3;4;5;6;7\n", None, ["separated by semicolons", "tr ';' ','"]),
        ("m;x;y;z;vx;vy;vz\n1;2;3;4;5;6;7\n", Some("csv"), ["separated by semicolons", "tr ';' ','"]),
        ("m x y z vx vy vz\n1 2 3 4 5 6 7\n", None, ["a header without commas", "awk"]),
        ("0,5 1,5 2,5 3,5 4,5 5,5 6,5\n", None, ["commas in place of points", "tr ',' '.'"]),
        ("#m,x,y,z,vx,vy,vz\n1,2,3,4,5,6,7\n", None, ["the header is behind a #", "sed '1s/"]),
        ("1\n1 2 3 4 5 6 7\n", None, ["a number alone", "tail -n +2"]),
        ("1 2 3 4 5 6 7 1\n", None, ["8th column", "m,x,y,z,vx,vy,vz,id"]),
    ] {
        assert_says(&complaint(content, format), &expected);
    }
    for (header, expected) in [
        ("M,X,Y,Z,VX,VY,VZ", "\"M\": not a column of this format (nearest: m)"),
        ("m,x,y,z,vx,vy,vz,ID", "\"ID\": not a column of this format (nearest: id)"),
        ("m,pos_x,y,z,vx,vy,vz", "(nearest: x)"),
        ("m,x,y,z,vx,vy,vz,density", "not a column of this format |"),
    ] {
        assert_says(&complaint(format!("{header}\n"), None), &[expected]);
    }
}

#[test]
fn numbers_of_fortran_are_read_and_numbers_that_vanish_told() {
    let p = read("1.0D+00 1.0-100 -2.5+101 .5d0 1.d0 0.25E+00 1.5Q+01\n", None).expect("a good file").particles;
    assert_eq!((p.pos[0], p.vel[0]), (Vec3::new(1e-100, -2.5e101, 0.5), Vec3::new(1.0, 0.25, 15.0)));
    let csv = |row: &str| format!("m,x,y,z,vx,vy,vz,id\n{row}\n");
    assert_eq!(read(csv("1,1.0-100,0,0,0,0,0,7"), None).expect("a good file").particles.pos[0][0], 1e-100);
    for row in ["1,1e-400,0,0,0,0,0,7", "1,-2.5D-999,0,0,0,0,0,7"] {
        assert_says(&complaint(csv(row), None), &["line 2, column x", "too small for an 8-byte float", "write 0"]);
    }
    assert_says(&complaint(csv("1,********,0,0,0,0,0,7"), None), &["expected a number", "Fortran writes stars"]);
    for id in ["+0", "+7", "-0", "7.0", "1e3", ""] {
        assert_says(&complaint(csv(&format!("1,0,0,0,0,0,0,{id}")), None), &["column id: expected a whole number"]);
    }
}
