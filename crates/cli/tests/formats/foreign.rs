//! Files of other programs: what is read from them, and what is said about it.

use crate::fixtures::{assert_says, complaint_about, file, read};
use crate::others::{MCLUSTER, Nemo, amuse, gadget, gadget4_parameters, nemo, put_all, put_text, swift_units};
use std::path::Path;
use tisane::particles::Vec3;
use tisane_io::formats::{self, FileState};

/// Reads a file that `make` makes.
fn made(make: impl FnOnce(&Path)) -> FileState {
    let (_folder, path) = file("particles", "");
    make(&path);
    formats::read(&path, None).expect("a good file")
}

/// What is said about a file that `make` makes.
fn refused(make: impl FnOnce(&Path)) -> String {
    let (_folder, path) = file("particles", "");
    make(&path);
    complaint_about(&path, formats::read(&path, None))
}

fn units(state: &FileState) -> String {
    state.units.as_ref().map_or("none".into(), |units| units.describe())
}

#[test]
fn gadget_types_are_merged_and_said_so() {
    let state = made(|path| drop(gadget(path)));
    let p = &state.particles;
    assert_eq!((state.format, state.time, units(&state)), ("gadget", Some(1.5), "none".into()));
    assert_eq!((&p.mass, &p.id), (&vec![0.25, 0.25, 2.0], &vec![3, 1, 2]));
    assert_eq!(
        (p.pos[1], p.pos[2], p.vel[2]),
        (Vec3::new(4.0, 5.0, 6.0), Vec3::new(7.0, 8.0, 9.0), Vec3::new(-1.0, 0.0, 1.0))
    );
    let notes = state.notes.join("; ");
    assert_says(&notes, &["2 halo (PartType1), 1 stars (PartType4) were merged", "does not state its units"]);
    assert_says(&state.guess, &["/Header/NumPart_ThisFile"]);
}

#[test]
fn gadget_units_and_h_are_taken_from_where_each_program_puts_them() {
    let state = made(|path| gadget4_parameters(&gadget(path), 1.0));
    assert_eq!(units(&state), "1e10 Msun, kpc, km/s, kpc/(km/s)");
    assert_eq!((state.particles.mass[2], state.time), (2.0, Some(1.5)));
    let state = made(|path| gadget4_parameters(&gadget(path), 0.5));
    let p = &state.particles;
    assert_eq!((p.mass[2], p.pos[2][0], p.vel[2][0], state.time), (4.0, 14.0, -1.0, Some(3.0)));
    assert_says(&state.notes.join("; "), &["HubbleParam = 0.5", "divided"]);
    let state = made(|path| swift_units(&gadget(path)));
    assert_eq!(units(&state), "1e10 Msun, 1e3 kpc, km/s, 1e3 kpc/(km/s)");
    assert_eq!(state.particles.mass[2], 2.0);
}

#[test]
fn gadget_files_that_are_not_one_isolated_system_are_refused() {
    let with = |change: fn(&hdf5::File)| refused(|path| change(&gadget(path)));
    let replace = |file: &hdf5::File, name: &str, value: f64| {
        let header = file.group("Header").expect("the header");
        header.delete_attr(name).expect("an attribute");
        put_all(&header, name, &[value]);
    };
    let redshift = refused(|path| replace(&gadget(path), "Redshift", 0.5));
    assert_says(&redshift, &["physical coordinates", "redshift is 0.5", "physical_units()"]);
    let split = refused(|path| replace(&gadget(path), "NumFilesPerSnapshot", 4.0));
    assert_says(&split, &["one of 4 files", "join them"]);
    assert_says(&with(|f| gadget4_parameters(f, f64::NAN)), &["HubbleParam", "a positive number"]);
    assert_says(&with(|f| f.unlink("PartType1").expect("a group")), &["/PartType1", "announces 2 particles"]);
    assert_says(&with(|f| f.unlink("PartType4/Masses").expect("a dataset")), &["/PartType4/Masses", "MassTable"]);
    assert_says(&with(|f| f.unlink("PartType4/Velocities").expect("a dataset")), &["/PartType4/Velocities", "no such"]);
}

#[test]
fn amuse_sets_of_both_versions_are_read_with_their_units_and_no_unpickling() {
    for version in [1, 2] {
        let state = made(|path| drop(amuse(path, version)));
        let p = &state.particles;
        assert_eq!((state.format, state.time, units(&state)), ("amuse", Some(3.5), "Msun, pc, km/s, Myr".into()));
        assert_eq!((&p.mass, &p.id), (&vec![1.0, 2.0], &vec![u64::MAX, 7]));
        assert_eq!((p.pos[1], p.vel[1]), (Vec3::new(-0.5, 0.25, 1.0), Vec3::new(-1.0, 3.0, 0.0)));
        assert!(p.radius == [0.0, 0.0] && !state.notes.join("; ").contains("radius"), "{state:?}");
    }
}

#[test]
fn amuse_sets_without_a_state_of_motion_say_what_they_have() {
    let with = |change: fn(&hdf5::Group)| {
        refused(|path| {
            let set = amuse(path, 2).group("data/0000000001").expect("the set");
            change(&set);
        })
    };
    assert_says(
        &with(|set| set.unlink("attributes/vy").expect("a dataset")),
        &["missing vy; found mass, radius, vx, vz, x, y, z"],
    );
    assert_says(&with(|set| set.unlink("keys").expect("a dataset")), &["/keys", "no such dataset"]);
    for (unit, expected) in [
        ("none", &["/x", "expected a unit, found none"][..]),
        ("__import__('os').system('true')", &["/x", "number or system.get"]),
        ("system.get('S.I.').base('mass')", &["/x", "length^1", "found system"]),
        ("system.get('generic').base('length')", &["SI", "N-body", "both"]),
    ] {
        let message = refused(|path| {
            let x = amuse(path, 2).dataset("data/0000000001/attributes/x").expect("a dataset");
            x.delete_attr("units").expect("an attribute");
            put_text(&x, "units", unit);
        });
        assert_says(&message, expected);
    }
}

#[test]
fn nemo_is_read_in_both_byte_orders_and_layouts() {
    for (big_endian, phase_space) in [(false, false), (false, true), (true, false), (true, true)] {
        let state = read(nemo(big_endian, phase_space).bytes, None).expect("a good file");
        let p = state.particles;
        assert_eq!((state.format, state.time), ("nemo", Some(2.5)));
        assert_eq!((p.mass, p.pos), (vec![0.25, 0.75], vec![Vec3::new(1.0, 2.0, 3.0), Vec3::new(-1.0, -2.0, -3.0)]));
        assert_eq!(p.vel, [Vec3::new(4.0, 5.0, 6.0), Vec3::new(-4.0, -5.0, -6.0)]);
        assert_eq!(p.id, if phase_space { vec![9, 4] } else { vec![0, 1] });
    }
}

#[test]
fn the_last_of_several_nemo_snapshots_is_taken_with_the_masses_of_an_earlier_one() {
    let mut bytes = nemo(true, true).bytes;
    let mut later = Nemo::new(true);
    later.header("(", "SnapShot", &[]).header("(", "Parameters", &[]).ints("Nobj", &[], &[2]);
    later.doubles("Time", &[], &[3.0]).header(")", "", &[]).header("(", "Particles", &[]);
    later.doubles("PhaseSpace", &[2, 2, 3], &[0.5; 12]).header(")", "", &[]).header(")", "", &[]);
    // A snapshot of diagnostics alone does not count.
    later.header("(", "SnapShot", &[]).header("(", "Diagnostics", &[]).doubles("cputime", &[], &[1.0]);
    later.header(")", "", &[]).header(")", "", &[]);
    bytes.extend(later.bytes);
    let state = read(bytes, None).expect("a good file");
    assert_eq!((state.time, state.particles.mass), (Some(3.0), vec![0.25, 0.75]));
    assert_eq!(state.particles.pos, [Vec3::repeat(0.5); 2]);
    assert_says(&state.notes.join("; "), &["2 snapshots", "the last one was read"]);
}

#[test]
fn nemo_files_that_make_no_sense_are_told_with_the_item() {
    let good = nemo(false, true).bytes;
    for cut in [20, 60, 200, good.len() - 3, good.len() - 1] {
        assert_says(&refused(|path| std::fs::write(path, &good[..cut]).expect("a file")), &[""]);
    }
    // Headers that claim 2^31 - 1 rows, and as many in every dimension.
    let mut huge = Nemo::new(false);
    huge.header("(", "SnapShot", &[]).header("d", "Mass", &[i32::MAX; 9]);
    let said = refused(|path| std::fs::write(path, &huge.bytes).expect("a file"));
    assert_says(&said, &["SnapShot/Mass announces", "0 are left", "truncated"]);
    let mut deep = Nemo::new(false);
    for _ in 0..1000 {
        deep.header("(", "a", &[]);
    }
    assert_says(&refused(|path| std::fs::write(path, &deep.bytes).expect("a file")), &["more than 16 deep"]);
    let mut strange = Nemo::new(false);
    strange.header("(", "SnapShot", &[]).header("(", "Parameters", &[]).ints("Nobj", &[], &[3]).header(")", "", &[]);
    strange.header("(", "Particles", &[]).doubles("Mass", &[2], &[1.0, 1.0]).doubles(
        "PhaseSpace",
        &[2, 2, 3],
        &[0.0; 12],
    );
    strange.header(")", "", &[]).header(")", "", &[]);
    let said = refused(|path| std::fs::write(path, &strange.bytes).expect("a file"));
    assert_says(&said, &["SnapShot/Particles/Mass", "expected 3 rows of 1", "[2]"]);
}

#[test]
fn mcluster_tables_are_told_by_their_header() {
    let state = read(MCLUSTER, None).expect("a good file");
    assert_eq!((state.format, units(&state)), ("mcluster", "Msun, pc, km/s, pc/(km/s)".into()));
    assert_eq!((&state.particles.mass, state.particles.vel[1]), (&vec![1.0, 0.5], Vec3::new(0.0, -1.0, 0.0)));
    assert_says(&state.notes.join("; "), &["1 columns of stellar evolution", "-u 0"]);
}

#[test]
fn columns_that_could_be_two_formats_are_said_to_be_so() {
    let state = read("1 2 3 4 5 6 7\n", None).expect("a good file");
    assert_eq!((state.format, units(&state)), ("nbody6", "none".into()));
    assert_says(&state.guess, &["could also be petar", "name the format", "nbody6 was assumed"]);
    let state = read("1 2 3 4 5 6 7\n", Some("petar")).expect("a good file");
    assert_eq!((state.format, units(&state)), ("petar", "Msun, pc, pc/Myr, Myr".into()));
}

#[test]
fn hdf5_that_claims_what_it_does_not_store_costs_no_memory() {
    // 10^12 particles in a few kB: unwritten, and packed by gzip.
    const CLAIM: usize = 1_000_000_000_000;
    for packed in [false, true] {
        let claim = |group: &hdf5::Group, name: &str, width: usize| {
            let builder = if packed { group.new_dataset::<f64>().deflate(9) } else { group.new_dataset::<f64>() };
            let made = if width == 1 {
                builder.chunk(1024).shape(CLAIM).create(name)
            } else {
                builder.chunk((1024, 3)).shape((CLAIM, 3)).create(name)
            };
            made.expect("an unwritten dataset");
        };
        let said = refused(|path| {
            let file = gadget(path);
            let header = file.group("Header").expect("the header");
            header.delete_attr("NumPart_ThisFile").expect("an attribute");
            put_all(&header, "NumPart_ThisFile", &[0u64, CLAIM as u64, 0, 0, 1, 0]);
            file.unlink("PartType1/Coordinates").expect("a dataset");
            claim(&file.group("PartType1").expect("a group"), "Coordinates", 3);
        });
        assert_says(&said, &["/PartType1/Coordinates", "expected 24000000000000 bytes", "0 are stored"]);
        let said = refused(|path| {
            let set = amuse(path, 2).group("data/0000000001").expect("the set");
            set.unlink("keys").expect("a dataset");
            claim(&set, "keys", 1);
        });
        assert_says(&said, &["/keys", "expected 8000000000000 bytes"]);
    }
}

#[test]
fn hdf5_of_which_a_part_was_never_written_is_refused() {
    for packed in [false, true] {
        let said = refused(|path| {
            let stars = gadget(path).group("PartType1").expect("a group");
            stars.unlink("ParticleIDs").expect("a dataset");
            let builder = stars.new_dataset::<u64>().chunk(1);
            let builder = if packed { builder.deflate(9) } else { builder };
            let dataset = builder.shape(2).create("ParticleIDs").expect("a dataset");
            dataset.write_slice::<_, u64, _, _>(&[3][..], 0..1).expect("the first of two");
        });
        assert_says(&said, &["/PartType1/ParticleIDs", "expected 16 bytes, but only", "the file is incomplete"]);
    }
}

#[test]
fn hdf5_of_others_cut_off_or_overwritten_anywhere_never_panics() {
    for make in [(|path| drop(gadget(path))) as fn(&Path), |path| drop(amuse(path, 2))] {
        let (_folder, path) = file("particles", "");
        make(&path);
        let good = std::fs::read(&path).expect("the file");
        for cut in (8..good.len()).step_by(401) {
            assert!(read(&good[..cut], None).is_err());
        }
        // Overwritten metadata may or may not be noticed; reading must come back either way.
        for at in (8..good.len() - 8).step_by(53) {
            let mut bad = good.clone();
            bad[at..at + 8].fill(0xff);
            if let Err(error) = read(&bad, None) {
                assert_eq!(error.exit_code(), 2);
            }
        }
    }
}

#[test]
fn values_packed_by_gzip_are_read() {
    let plain = made(|path| drop(gadget(path)));
    let packed = made(|path| {
        let file = gadget(path);
        file.unlink("PartType1/Coordinates").expect("a dataset");
        let builder = file.new_dataset::<f64>().shuffle().deflate(6).chunk((2, 3)).shape((2, 3));
        let dataset = builder.create("PartType1/Coordinates").expect("a dataset");
        dataset.write_raw(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).expect("values");
    });
    assert_eq!(plain, packed);
}
