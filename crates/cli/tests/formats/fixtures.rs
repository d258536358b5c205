//! Small files made by the tests, and what a reader says of them.

use crate::hdf;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tisane::force::Field;
use tisane::particles::{Particles, Vec3};
use tisane::time::{Clock, Time};
use tisane::units::names::{LengthUnit, MassUnit, TimeUnit, VelocityUnit};
use tisane::units::{Rates, Scale, Units};
use tisane::{Error, Result};
use tisane_io::file_units::FileUnits;
use tisane_io::formats::{self, FileState};
use tisane_io::provenance::Provenance;

pub(crate) const CSV: &str =
    "# made by hand\nm,x,y,z,vx,vy,vz,id\n1,0.5,0,0,0,1,0,7\n\n# the light one\n0,-0.5,1e-3,0,0,-1,0,3\n";
pub(crate) const NBODY6: &str = "1.0\t0.5 0 0 0 1 0\n  0.0  -0.5 1.0D-03 0 0 -1 0\n";
pub(crate) const POS: [Vec3; 2] = [Vec3::new(0.5, 0.0, 0.0), Vec3::new(-0.5, 1e-3, 0.0)];
pub(crate) const VEL: [Vec3; 2] = [Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, -1.0, 0.0)];

/// A folder with one file in it.
pub(crate) fn file(name: &str, content: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    std::fs::write(&path, content).expect("a small file");
    (folder, path)
}

pub(crate) fn read(content: impl AsRef<[u8]>, format: Option<&str>) -> Result<FileState> {
    let (_folder, path) = file("particles", content);
    formats::read(&path, format)
}

/// The message of an input error at this path: what the user reads, help included.
pub(crate) fn complaint_about(path: &Path, result: Result<FileState>) -> String {
    match result {
        Err(error @ Error::Input { .. }) => {
            assert_eq!(error.exit_code(), 2);
            let Error::Input { path: named, problem, help } = error else { unreachable!() };
            assert_eq!(named, path);
            format!("{problem} | {}", help.unwrap_or_default())
        }
        other => panic!("expected an input error, found {other:?}"),
    }
}

pub(crate) fn complaint(content: impl AsRef<[u8]>, format: Option<&str>) -> String {
    let (_folder, path) = file("particles", content);
    complaint_about(&path, formats::read(&path, format))
}

#[track_caller]
pub(crate) fn assert_says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "expected \"{part}\" in: {message}");
    }
}

/// A Tipsy file: records are (kind 0 gas, 1 dark, 2 star; m, x, y, z, vx, vy, vz; softening), in order of kind.
pub(crate) fn tipsy(time: f64, records: &[(usize, [f32; 7], f32)], big_endian: bool, padding: usize) -> Vec<u8> {
    let int = |n: u32| if big_endian { n.to_be_bytes() } else { n.to_le_bytes() };
    let float = |x: f32| if big_endian { x.to_be_bytes() } else { x.to_le_bytes() };
    let count = |kind| records.iter().filter(|r| r.0 == kind).count() as u32;
    let mut bytes = Vec::from(if big_endian { time.to_be_bytes() } else { time.to_le_bytes() });
    for n in [records.len() as u32, 3, count(0), count(1), count(2)] {
        bytes.extend(int(n));
    }
    bytes.extend(vec![0xAB; padding]);
    for (kind, state, softening) in records {
        bytes.extend(state.iter().flat_map(|&x| float(x)));
        let rest: &[f32] = match kind {
            0 => &[9.0, 9.0, *softening, 9.0, -1.0],
            1 => &[*softening, -1.0],
            _ => &[9.0, 9.0, *softening, -1.0],
        };
        bytes.extend(rest.iter().flat_map(|&x| float(x)));
    }
    bytes
}

pub(crate) fn small_tipsy(big_endian: bool, padding: usize) -> Vec<u8> {
    let record = |kind, k: f32| (kind, [k, k + 0.5, -k, 0.0, 0.25, 0.5, -k], 0.125 * k);
    tipsy(2.5, &[record(0, 1.0), record(1, 2.0), record(1, 3.0), record(2, 4.0)], big_endian, padding)
}

/// The time of [`snapshot`]'s state, in the user's units.
pub(crate) const TIME: f64 = 3.0 * 0.125 * 4.0;

/// The units of [`snapshot`]: a physical system whose unit of time is not length / velocity, scaled without rounding.
pub(crate) fn units() -> FileUnits {
    let rates = Rates::Both(VelocityUnit::KilometrePerSecond, TimeUnit::Megayear);
    let scale = Scale { mass: 512.0, length: 0.25, velocity: 2.0, time: 4.0 };
    FileUnits { units: Units::named(MassUnit::Msun, LengthUnit::Parsec, rates), scale }
}

/// Two particles in internal units.
pub(crate) fn two() -> Particles {
    Particles { id: vec![u64::MAX, 0], ..Particles::new(vec![1.0, 0.0], POS.to_vec(), VEL.to_vec()) }
}

/// A snapshot as a run writes it, at three dt_max after time 0.
pub(crate) fn snapshot(path: &Path, particles: &Particles) {
    let clock = Clock { start: 0.0, dt_max: 0.125 };
    let (units, provenance) = (units(), Provenance::current());
    let field = Field { acc: particles.acc.clone(), pot: particles.pot.clone(), ..Field::default() };
    let now = Time::from_dt_max(3);
    let (field, clock, units, provenance) = (&field, &clock, &units, &provenance);
    let content =
        tisane_io::snapshot::Snapshot { particles, field, subsystems: &[], stars: &[], now, clock, units, provenance };
    tisane_io::snapshot::write(path, &content).expect("a snapshot");
}

/// Changes a snapshot as another program would: in place, which drops its checksum.
pub(crate) fn tamper(path: &Path, change: impl FnOnce(&hdf5::File)) {
    change(&hdf::change(path));
}

/// Replaces a column of a snapshot.
pub(crate) fn replace<T: hdf5::H5Type>(file: &hdf5::File, name: &str, shape: &[usize], values: &[T]) {
    let group = file.group("PartType4").expect("the particles");
    group.unlink(name).expect("an old dataset");
    let dataset = group.new_dataset::<T>().shape(shape).create(name).expect("a dataset");
    dataset.write_raw(values).expect("written values");
}
