//! Every format that is written: what comes back is what was written, and what is lost is said.

use crate::fixtures::{POS, VEL, assert_says, file, read};
use crate::hdf;
use hdf5::types::VarLenUnicode;
use std::path::Path;
use tisane::Error;
use tisane::particles::{Particles, components};
use tisane::units::names::{LengthUnit, MassUnit, TimeUnit, VelocityUnit};
use tisane::units::{Rates, Units};
use tisane_io::formats::{self, FORMATS, FileState};

/// A state with values that fill every digit, ids out of order, a time and units.
fn state() -> FileState {
    let third = |k: u32| f64::from(k) / 3.0;
    let (mut pos, mut vel) = (POS.to_vec(), VEL.to_vec());
    pos[1][2] = third(1) * 1e-7;
    vel[0][0] = third(7);
    let particles = Particles { id: vec![12, 3], ..Particles::new(vec![third(2), third(5)], pos, vel) };
    let rates = Rates::Both(VelocityUnit::KilometrePerSecond, TimeUnit::Megayear);
    let units = Some(Units::named(MassUnit::Msun, LengthUnit::Parsec, rates));
    let mut state = read("m,x,y,z,vx,vy,vz\n1,0,0,0,0,0,0\n", None).expect("a good file");
    (state.particles, state.time, state.units) = (particles, Some(2.5), units);
    state
}

/// The same state in other units, or in unknown ones.
fn state_in(units: Option<Units>) -> FileState {
    let mut state = state();
    state.units = units;
    state
}

/// Writes a state and reads it back; also what was said to be lost.
fn back(state: &FileState, format: &str) -> (FileState, String) {
    let (_folder, path) = file("old", "replaced");
    let lost = formats::write(&path, format, state).expect("a written file");
    let named = formats::read(&path, Some(format)).expect("the same file");
    // The format of a written file is recognised from its content, or reported as ambiguous.
    let reread = formats::read(&path, None).expect("the same file");
    assert!(reread.format == format || reread.guess.contains(format), "{format}: {}", reread.guess);
    (named, lost.join("; "))
}

#[test]
fn formats_in_double_precision_give_back_every_bit() {
    let written = state();
    for (format, time, ids, units) in [
        ("gadget", true, true, true),
        ("amuse", true, true, true),
        ("nemo", true, true, false),
        ("csv", false, true, false),
        ("nbody6", false, false, false),
    ] {
        let (read, lost) = back(&written, format);
        let (p, w) = (&read.particles, &written.particles);
        assert_eq!((&p.mass, &p.pos, &p.vel), (&w.mass, &w.pos, &w.vel), "{format}");
        assert_eq!(p.id == w.id, ids, "{format}: ids");
        assert_eq!(lost.contains("ids"), !ids, "{format}: {lost}");
        assert_eq!(lost.contains("the time, 2.5"), !time, "{format}: {lost}");
        assert_eq!(read.units.is_some(), units, "{format}");
        // Gadget's time is in pc/(km/s).
        let expected = if format == "gadget" { 2.5 / 0.977_792_221_680_789_2 } else { 2.5 };
        assert!(!time || (read.time.expect("a time") / expected - 1.0).abs() < 1e-9, "{format}: {:?}", read.time);
    }
}

#[test]
fn radii_are_kept_by_the_files_that_can() {
    let mut written = state();
    written.particles.radius = vec![2.0 / 3.0 * 1e-8, 0.0];
    for (format, keeps) in [("amuse", true), ("csv", true), ("gadget", false), ("nemo", false), ("nbody6", false)] {
        let (read, lost) = back(&written, format);
        let expected = if keeps { written.particles.radius.clone() } else { Vec::new() };
        assert_eq!((read.particles.radius, lost.contains("radii")), (expected, !keeps), "{format}: {lost}");
    }
    // In other units, and of another unit than the positions.
    let (mut read, _) = back(&written, "amuse");
    let rates = Rates::Both(VelocityUnit::KilometrePerSecond, TimeUnit::Megayear);
    read.to_units(&Units::named(MassUnit::Msun, LengthUnit::Au, rates)).expect("a conversion");
    let au = 648_000.0 / std::f64::consts::PI;
    assert!(
        (read.particles.radius[0] / (written.particles.radius[0] * au) - 1.0).abs() < 1e-12,
        "{:?}",
        read.particles
    );
}

#[test]
fn wrong_radii_are_told_at_their_place() {
    let with =
        |radius: &str| formats_error(&format!("m,x,y,z,vx,vy,vz,radius\n1,0,0,0,0,0,0,0\n1,1,0,0,0,0,0,{radius}\n"));
    assert_says(&with("-1"), &["line 3: radius is -1: expected zero or more"]);
    assert_says(&with("nan"), &["line 3", "radius", "NaN"]);
    assert_says(&with("big"), &["line 3, column radius"]);
}

fn formats_error(text: &str) -> String {
    read(text, None).expect_err("a wrong file").to_string()
}

#[test]
fn units_are_told_by_the_files_that_can() {
    for format in ["gadget", "amuse"] {
        let (read, _) = back(&state(), format);
        let units = read.units.expect("units");
        assert_eq!([&units.mass.name, &units.length.name, &units.velocity.name], ["Msun", "pc", "km/s"], "{format}");
        let henon = state_in(Some(Units::henon()));
        let (read, lost) = back(&henon, format);
        assert_eq!((read.units, read.time), (Some(Units::henon()), Some(2.5)), "{format}");
        assert_eq!(lost.contains("take N-body units for g"), format == "gadget", "{lost}");
    }
}

#[test]
fn gadget_files_have_the_flag_by_which_yt_takes_their_units() {
    let (_folder, path) = file("t.hdf5", "");
    formats::write(&path, "gadget", &state()).expect("a written file");
    let config = hdf::open(&path).group("Config").expect("the group");
    assert!(config.attr("AMR").is_ok() && config.attr("VORONOI").is_err());
}

#[test]
fn amuse_files_have_the_units_of_amuse() {
    let text = |units: Units, name: &str| {
        let (_folder, path) = file("t.amuse", "");
        formats::write(&path, "amuse", &state_in(Some(units))).expect("a written file");
        let unit = hdf::open(&path).dataset(&format!("data/0000000001/attributes/{name}")).expect("a dataset");
        let unit = unit.attr("units").and_then(|unit| unit.read_scalar::<VarLenUnicode>()).expect("its unit");
        unit.to_string()
    };
    // 1 MSun and 1 parsec as AMUSE 2024.6 writes them, so that it reads the same numbers of them.
    let suns = || state().units.expect("units");
    assert_eq!(text(suns(), "mass"), "(1.98892e30 * system.get('S.I.').base('mass'))");
    assert_eq!(text(suns(), "x"), "(3.0856775812815532e16 * system.get('S.I.').base('length'))");
    assert_eq!(text(Units::henon(), "mass"), "system.get('generic').base('mass')");
}

#[test]
fn tipsy_is_written_in_4_byte_floats_and_says_so() {
    let written = state();
    let (read, lost) = back(&written, "tipsy");
    let rounded = |values: &[f64]| values.iter().map(|x| f64::from(*x as f32)).collect::<Vec<_>>();
    assert_eq!(read.particles.mass, rounded(&written.particles.mass));
    assert_eq!(components(&read.particles.pos), rounded(components(&written.particles.pos)));
    assert_eq!(read.time, Some(2.5));
    assert_says(&lost, &["4-byte floats, a relative change of up to", "e-8", "ids"]);
    let mut far = state();
    far.particles.pos[0][0] = 1e39;
    let (_folder, path) = file("out", "old");
    let error = formats::write(&path, "tipsy", &far).expect_err("out of range");
    assert!(error.to_string().contains("particle 12: 1e39"), "{error}");
    assert_eq!(std::fs::read(&path).expect("the old file"), b"old");
    // A mass that would be 0 is refused, a component only gives a warning.
    let mut small = state();
    (small.particles.pos[0][0], small.particles.vel[1][2]) = (1e-60, -1e-50);
    let (read, lost) = back(&small, "tipsy");
    assert_eq!((read.particles.pos[0][0], read.particles.vel[1][2]), (0.0, 0.0));
    assert_says(&lost, &["a relative change of up to", "e-8", "2 of the components of positions and velocities"]);
    small.particles.mass[1] = 1e-60;
    let error = formats::write(&path, "tipsy", &small).expect_err("out of range");
    assert_says(&error.to_string(), &["particle 3: a mass of 1e-60 is below the range"]);
    assert_eq!(std::fs::read(&path).expect("the old file"), b"old");
}

#[test]
fn what_a_format_cannot_hold_is_refused_before_anything_is_written() {
    let refused = |format: &str, change: fn(&mut FileState), parts: &[&str]| {
        let mut state = state();
        change(&mut state);
        let (_folder, path) = file("out", "old");
        let error = formats::write(&path, format, &state).expect_err("out of range");
        assert_says(&error.to_string(), parts);
        assert_eq!(std::fs::read(&path).expect("the old file"), b"old");
    };
    refused("tipsy", |state| state.particles.mass[1] = 1e-46, &["particle 3: a mass of 1e-46 is below"]);
    refused("gadget", |state| state.time = Some(1e300), &["the time 1e300 is beyond", "length / velocity"]);
}

#[test]
fn numbers_beyond_the_range_of_other_units_are_refused() {
    let grams =
        Units::named(MassUnit::Gram, LengthUnit::Centimetre, Rates::Velocity(VelocityUnit::CentimetrePerSecond));
    for (change, part) in [
        ((|state| state.particles.mass[1] = 1e300) as fn(&mut FileState), "particle 1 (from 0): the mass"),
        (|state| state.particles.pos[0][1] = -1e300, "particle 0 (from 0): the position"),
        (|state| state.particles.vel[1][2] = 1e305, "particle 1 (from 0): the velocity"),
        (|state| state.time = Some(1e300), "the time"),
    ] {
        let mut state = back(&state(), "amuse").0;
        change(&mut state);
        let said = state.to_units(&grams).expect_err("out of range");
        assert_says(&said, &[part, "in Msun, pc, km/s, Myr, is beyond the range of 8-byte floats in g, cm, cm/s"]);
    }
    let mut light = back(&state_in(Some(grams)), "amuse").0;
    light.particles.mass.fill(1e-300);
    let suns = Units::named(MassUnit::Msun, LengthUnit::Parsec, Rates::Time(TimeUnit::Megayear));
    assert_says(&light.to_units(&suns).expect_err("out of range"), &["the total mass, in g"]);
}

#[test]
fn nemo_says_when_ids_do_not_fit() {
    let mut big = state();
    big.particles.id[0] = 1 << 31;
    let (read, lost) = back(&big, "nemo");
    assert_eq!(read.particles.id, [0, 1]);
    assert_says(&lost, &["ids"]);
}

#[test]
fn formats_that_tell_units_want_to_know_them_and_others_are_not_written() {
    let unknown = state_in(None);
    for format in ["gadget", "amuse", "petar"] {
        let Err(Error::Input { problem, help, .. }) = formats::write(Path::new("never"), format, &unknown) else {
            panic!("{format} was written")
        };
        assert_says(&problem, &[format, "are unknown"]);
        assert_says(&help.unwrap_or_default(), &["--units"]);
    }
    for format in FORMATS.iter().filter(|format| format.writer.is_none()) {
        let error = formats::write(Path::new("never"), format.name, &state()).expect_err("not written");
        assert!(error.to_string().contains("but does not write them"), "{error}");
    }
    assert!(!Path::new("never").exists());
}

#[test]
fn units_are_converted_exactly_where_they_are_powers_of_ten_apart() {
    let mut it = state();
    let before = it.particles.clone();
    let rates = Rates::Velocity(VelocityUnit::MetrePerSecond);
    let said = it.to_units(&Units::named(MassUnit::Msun, LengthUnit::Kiloparsec, rates)).expect("physical units");
    assert_says(&said.expect("a conversion"), &["from Msun, pc, km/s, Myr to Msun, kpc, m/s"]);
    assert_eq!(it.particles.mass, before.mass);
    assert_eq!(it.particles.pos[0][0], before.pos[0][0] * 1e-3);
    assert_eq!(it.particles.vel[0][0], before.vel[0][0] * 1e3);
    // 2.5 Myr in kpc/(m/s).
    assert!((it.time.expect("a time") / (2.5 / 977_792.221_680_789_2) - 1.0).abs() < 1e-9);
    let said = it.to_units(&Units::henon()).expect_err("no size");
    assert_says(&said, &["Msun, kpc, m/s", "cannot be converted to N-body units"]);
}
