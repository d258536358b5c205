//! Good files, made here and by the real programs.

use crate::fixtures::{
    CSV, NBODY6, POS, TIME, VEL, assert_says, complaint_about, file, read, small_tipsy, snapshot, tamper, two, units,
};
use std::path::{Path, PathBuf};
use tisane::particles::{Particles, Vec3};
use tisane_io::formats::{self, FORMATS};

#[test]
fn csv_is_read_with_comments_and_ids() {
    let state = read(CSV, None).expect("a good file");
    assert_eq!((state.format, state.time), ("csv", None));
    let p = state.particles;
    assert_eq!((p.mass, p.pos, p.vel, p.id), (vec![1.0, 0.0], POS.to_vec(), VEL.to_vec(), vec![7, 3]));
}

#[test]
fn csv_columns_come_in_any_order_with_any_line_ending() {
    let text = "\u{feff}vz, vy ,vx,z,y,x,m\r\n6,5,4,3,2,1,10\r\n7,6,5,4,3,2,11";
    let p = read(text, Some("csv")).expect("a good file").particles;
    assert_eq!(
        (&p.mass, p.pos[0], p.vel[1], p.id),
        (&vec![10.0, 11.0], Vec3::new(1.0, 2.0, 3.0), Vec3::new(5.0, 6.0, 7.0), vec![0, 1])
    );
    let quoted = "\"m\",\"x\",\"y\",\"z\",\"vx\",\"vy\",\"vz\"\n1,2,3,4,5,6,7\n";
    assert_eq!(read(quoted, None).expect("a good file").particles.pos, [Vec3::new(2.0, 3.0, 4.0)]);
}

#[test]
fn nbody6_is_read_with_any_blanks_and_fortran_exponents() {
    let state = read(NBODY6, None).expect("a good file");
    assert_eq!(state.format, "nbody6");
    let p = state.particles;
    assert_eq!((p.mass, p.pos, p.vel, p.id), (vec![1.0, 0.0], POS.to_vec(), VEL.to_vec(), vec![0, 1]));
}

#[test]
fn tipsy_is_read_in_both_byte_orders_with_both_headers() {
    let softening = vec![("gas", [0.125; 2]), ("dark", [0.25, 0.375]), ("star", [0.5; 2])];
    for (big_endian, padding) in [(false, 0), (false, 4), (true, 0), (true, 4)] {
        let state = read(small_tipsy(big_endian, padding), None).expect("a good file");
        assert_eq!((state.format, state.time, &state.softening), ("tipsy", Some(2.5), &softening));
        let text = "0.125 pc (gas), 0.25 to 0.375 pc (dark), 0.5 pc (star)";
        assert_eq!(state.softening_text("pc").as_deref(), Some(text));
        let p = state.particles;
        assert_eq!((&p.mass, p.id), (&vec![1.0, 2.0, 3.0, 4.0], vec![0, 1, 2, 3]));
        assert_eq!((p.pos[3], p.vel[2]), (Vec3::new(4.5, -4.0, 0.0), Vec3::new(0.25, 0.5, -3.0)));
    }
}

#[test]
fn a_snapshot_written_by_a_run_is_read_with_time_and_units() {
    let (_folder, path) = file("snapshot.hdf5", "");
    let written = two();
    snapshot(&path, &written);
    let state = formats::read(&path, None).expect("a good file");
    let named = formats::read(&path, Some("tisane")).expect("the same file");
    assert_eq!((&named.particles, named.guess.as_str()), (&state.particles, "as named"));
    assert_eq!((state.format, state.time, state.softening), ("tisane", Some(TIME), vec![]));
    assert_eq!(state.units, Some(units().units));
    let (p, scale) = (state.particles, units().scale);
    let scaled = |column: &[Vec3], by: f64| column.iter().map(|v| v * by).collect::<Vec<_>>();
    assert_eq!((p.pos, p.vel), (scaled(&written.pos, scale.length), scaled(&written.vel, scale.velocity)));
    assert_eq!((p.mass, p.id), (vec![scale.mass, 0.0], written.id));
}

#[test]
fn a_snapshot_repacked_by_another_program_is_read() {
    let (_folder, path) = file("snapshot.hdf5", "");
    let n = 5000;
    let place = |i: usize| i as f64 * Vec3::x();
    let written = Particles::new(vec![1.0; n], (0..n).map(place).collect(), vec![Vec3::zeros(); n]);
    snapshot(&path, &written);
    let whole = formats::read(&path, None).expect("a good file");
    tamper(&path, |file| {
        let group = file.group("PartType4").expect("the particles");
        let masses = group.dataset("Masses").expect("the masses").read_raw::<f64>().expect("numbers");
        group.unlink("Masses").expect("an old dataset");
        let repacked = group.new_dataset::<f64>().shape(n).create("Masses").expect("a dataset");
        repacked.write_raw(&masses).expect("written values");
    });
    assert_eq!(formats::read(&path, None).expect("the same values"), whole);
}

/// A file of the real programs, or [`None`] with a plain word where it is not there.
fn real(name: &str) -> Option<PathBuf> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("../shared/data").join(name);
    let there = path.is_file();
    if !there {
        println!("SKIPPED: {} is missing", path.display());
    }
    there.then_some(path)
}

#[test]
fn a_cluster_written_by_mcluster_is_read() {
    let Some(path) = real("N1k.dat.10") else { return };
    let p = formats::read(&path, None).expect("a real file").particles;
    assert_eq!((p.len(), p.mass[0]), (1000, 0.430_058_291_834_074_4));
    assert_eq!(p.vel[0].as_slice(), [0.123_251_221_468_011_5, -0.728_101_423_148_008_6, 0.030_471_532_478_839_2]);
    let range = p.mass.iter().fold([f64::MAX, 0.0], |[a, b]: [f64; 2], &m| [a.min(m), b.max(m)]);
    assert!(range[0] >= 0.07 && range[1] <= 101.0, "stellar masses in solar masses: {range:?}");
}

#[test]
fn a_galaxy_written_as_tipsy_is_read() {
    let Some(path) = real("galaxy_20K.tipsy") else { return };
    let state = formats::read(&path, None).expect("a real file");
    assert_eq!((state.format, state.time, state.particles.len()), ("tipsy", Some(0.0), 20_000));
    let bytes = std::fs::read(&path).expect("the same file");
    let float = |at: usize| f64::from(f32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes")));
    // 32 bytes of header, 2500 dark records of 36 bytes, then stars of 44.
    for (i, at) in [(0, 32), (2499, 32 + 2499 * 36), (2500, 32 + 2500 * 36), (19_999, 32 + 2500 * 36 + 17_499 * 44)] {
        assert_eq!((state.particles.mass[i], state.particles.pos[i][0]), (float(at), float(at + 4)), "particle {i}");
    }
}

#[test]
fn orbital_elements_written_by_amuse_are_said_to_be_no_state() {
    let Some(path) = real("SStars2009.amuse.h5") else { return };
    assert_says(
        &complaint_about(&path, formats::read(&path, None)),
        &["missing mass, x, y, z, vx, vy, vz; found", "eccentricity", "semimajor_axis", "orbital elements"],
    );
}

#[test]
fn every_format_is_listed_once() {
    let mut names: Vec<_> = FORMATS.iter().map(|format| format.name).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "amuse",
            "csv",
            "gadget",
            "gadget-binary",
            "mcluster",
            "nbody6",
            "nemo",
            "petar",
            "petar-snapshot",
            "tipsy",
            "tisane"
        ]
    );
}
