//! Promise: snapshots have the Gadget layout that yt and pynbody open, hold the state to the bit, and show any damage.

use crate::hdf;

use hdf5::types::TypeDescriptor;
use std::fs;
use std::path::Path;
use tisane::force::Field;
use tisane::particles::{Particles, Vec3};
use tisane::states::digits::Digits;
use tisane::time::{Clock, Level, Time};
use tisane::units::names::{G_CGS, GM_SUN_CGS, LengthUnit, MassUnit, TimeUnit, VelocityUnit};
use tisane::units::{Rates, Scale, Units};
use tisane_io::file_units::FileUnits;
use tisane_io::provenance::Provenance;
use tisane_io::snapshot::{self, Snapshot};
use tisane_io::{fields, inspect};

const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.125 };

fn particles(n: usize) -> Particles {
    let x = |i: usize, k: usize| ((i * 7 + k) as f64 * 0.618_033_988_749_895).fract() - 0.5;
    let vectors = |k: usize| (0..n).map(|i| Vec3::new(x(i, k), x(i, k + 1), x(i, k + 2))).collect::<Vec<_>>();
    let mut p = Particles::new((0..n).map(|i| 1.0 + x(i, 0)).collect(), vectors(1), vectors(4));
    p.acc = vectors(7);
    p.jerk = vectors(10);
    p.pot = (0..n).map(|i| x(i, 13) - 1.0).collect();
    p.id = (0..n as u64).map(|i| 1000 + (n as u64 - i) * 3).collect();
    p.time = vec![Time::from_dt_max(3); n];
    p.step = (0..n).map(|i| Level((i % 37) as u8)).collect();
    p
}

/// Powers of two, so that scaling is exact.
fn units() -> FileUnits {
    let rates = Rates::Both(VelocityUnit::KilometrePerSecond, TimeUnit::Megayear);
    FileUnits {
        units: Units::named(MassUnit::Msun, LengthUnit::Parsec, rates),
        scale: Scale { mass: 1024.0, length: 0.25, velocity: 8.0, time: 2.0 },
    }
}

fn provenance() -> Provenance {
    Provenance {
        engine: "cpu".into(),
        precision: "f64".into(),
        seed: Some(u64::MAX),
        config_as_written: "# ε is softening\n[run]\nname = \"x\"\n".into(),
        config_resolved: "x".repeat(100_000),
        ..Provenance::current()
    }
}

fn write(path: &Path, p: &Particles) {
    write_with(path, (p, &field(p)), Time::from_dt_max(3), &provenance());
}

fn write_with(path: &Path, (particles, field): (&Particles, &Field), now: Time, provenance: &Provenance) {
    let s = Snapshot { particles, field, subsystems: &[], stars: &[], now, clock: &CLOCK, units: &units(), provenance };
    snapshot::write(path, &s).unwrap();
}

/// The particles' own accelerations and potentials as those where they stand.
fn field(p: &Particles) -> Field {
    Field { acc: p.acc.clone(), pot: p.pot.clone(), ..Field::default() }
}

#[test]
fn forces_are_those_where_the_particles_stand() {
    let dir = tempfile::tempdir().unwrap();
    let (path, p) = (dir.path().join("s.hdf5"), particles(33));
    let mut elsewhere = p.clone();
    elsewhere.acc.fill(Vec3::repeat(f64::NAN));
    elsewhere.pot.fill(f64::NAN);
    write_with(&path, (&elsewhere, &field(&p)), Time::from_dt_max(3), &provenance());
    let s = snapshot::read(&path).unwrap();
    assert_eq!(s.acc, p.acc.iter().map(|a| a.map(|x| x * 256.0)).collect::<Vec<_>>());
    assert_eq!(s.pot, p.pot.iter().map(|x| x * 64.0).collect::<Vec<_>>());
}

#[test]
fn a_snapshot_reads_back_to_the_bit() {
    let dir = tempfile::tempdir().unwrap();
    for n in [1, 2, 33, 70_000] {
        let path = dir.path().join("s.hdf5");
        let p = particles(n);
        write(&path, &p);
        let s = snapshot::read(&path).unwrap();
        let vectors = |column: &[Vec3], scale: f64| column.iter().map(|v| v * scale).collect::<Vec<_>>();
        let floats = |column: &[f64], scale: f64| column.iter().map(|x| x * scale).collect::<Vec<_>>();
        assert_eq!(s.id, p.id);
        assert_eq!(s.mass, floats(&p.mass, 1024.0));
        assert_eq!(s.pos, vectors(&p.pos, 0.25));
        assert_eq!(s.vel, vectors(&p.vel, 8.0));
        assert_eq!(s.acc, vectors(&p.acc, 256.0));
        assert_eq!(s.pot, floats(&p.pot, 64.0));
        assert_eq!(s.step, p.step.iter().map(|l| l.step(0.125) * 2.0).collect::<Vec<_>>());
        assert_eq!(s.time, 0.75);
        assert_eq!((s.units, s.provenance.seed), (units(), Some(u64::MAX)));
        assert_eq!(s.provenance.config_as_written, provenance().config_as_written);
        assert_eq!(s.provenance.config_resolved, provenance().config_resolved);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "a temporary file is left");
    }
}

#[test]
fn the_same_state_gives_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = ["a", "b"].map(|name| {
        let path = dir.path().join(name);
        let (particles, provenance) = (particles(50), Provenance { created: "then".into(), ..provenance() });
        write_with(&path, (&particles, &field(&particles)), Time(0), &provenance);
        fs::read(path).unwrap()
    });
    assert!(bytes[0] == bytes[1]);
}

#[test]
fn header_and_units_are_what_gadget_readers_take() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.hdf5");
    write(&path, &particles(33));
    let file = hdf::open(&path);
    let header = file.group("Header").unwrap();
    for name in ["NumPart_ThisFile", "NumPart_Total", "NumPart_Total_HighWord", "MassTable"] {
        assert_eq!(header.attr(name).unwrap().shape(), [6], "{name}");
    }
    assert_eq!(header.attr("NumPart_ThisFile").unwrap().read_raw::<u64>().unwrap(), [0, 0, 0, 0, 33, 0]);
    for name in ["Time", "Redshift", "BoxSize", "NumFilesPerSnapshot", "Flag_DoublePrecision"] {
        assert!(header.attr(name).unwrap().is_scalar(), "{name}");
    }
    // Internal 0.375, in pc / (km/s).
    assert_eq!(header.attr("Time").unwrap().read_scalar::<f64>().unwrap(), 0.375 * 0.25 / 8.0);
    // 0.75 Myr, which pynbody reads.
    let gyr = header.attr("Time_GYR").unwrap().read_scalar::<f64>().unwrap();
    assert!((gyr - 0.75e-3).abs() < 1e-18, "{gyr}");
    // What readers stumble over, or take for another code's file.
    for trap in ["Code", "HubbleParam", "OmegaLambda"] {
        assert!(header.attr(trap).is_err(), "{trap}");
    }
    let mut members = file.member_names().unwrap();
    members.sort();
    assert_eq!(members, ["Config", "Header", "PartType4", "Provenance", "Units"]);
    // By these yt and pynbody each choose the reader that takes the units of the file.
    let config = file.group("Config").unwrap();
    assert!(config.attr("AMR").is_ok() && config.attr("VORONOI").is_err());
    let units = file.group("Units").unwrap();
    let unit = |name: &str| units.attr(name).unwrap().read_scalar::<f64>().unwrap();
    assert_eq!(unit("UnitTime_in_s"), unit("UnitLength_in_cm") / unit("UnitVelocity_in_cm_per_s"));
    assert_eq!(unit("UnitMass_in_g"), GM_SUN_CGS / G_CGS);
}

#[test]
fn every_dataset_tells_its_unit_and_has_a_checksum() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.hdf5");
    let mut with_all = Particles { radius: vec![0.25; 33], ..particles(33) };
    with_all.states.set(digits(&with_all));
    write(&path, &with_all);
    let read = snapshot::read(&path).unwrap();
    assert_eq!(read.radius.len(), 33);
    // What f64 leaves of the numbers, in the units of the file.
    let rests = |column: &[Vec3], scale: f64| column.iter().map(|v| v * 2f64.powi(-60) * scale).collect::<Vec<_>>();
    assert_eq!(read.low, Some([rests(&with_all.pos, 0.25), rests(&with_all.vel, 8.0)]));
    let group = hdf::open(&path).group("PartType4").unwrap();
    assert_eq!(group.member_names().unwrap().len(), fields::SNAPSHOT.len());
    for field in fields::SNAPSHOT {
        let dataset = group.dataset(field.name).unwrap();
        let shape: &[usize] = if field.width == 1 { &[33] } else { &[33, 3] };
        assert_eq!(dataset.shape(), shape, "{}", field.name);
        assert!(dataset.filters().contains(&hdf5::filters::Filter::Fletcher32), "{}", field.name);
        for name in ["unit", "description", "to_cgs"] {
            assert!(dataset.attr(name).unwrap().is_scalar(), "{}/{name}", field.name);
        }
        // Powers of Gadget's units, in which there is no time but length / velocity.
        assert_eq!(dataset.attr("VarDescription").is_ok(), field.name != "TimeStep", "{}", field.name);
    }
}

/// Double-double numbers whose second part is the first times 2^-60.
fn digits(p: &Particles) -> Digits {
    let motion = p.pos.iter().zip(&p.vel).flat_map(|(x, v)| [x.x, x.y, x.z, v.x, v.y, v.z]);
    Digits { bits: 106, words: motion.flat_map(|value| [value, value * 2f64.powi(-60)].map(f64::to_bits)).collect() }
}

/// The numbers of a run are the sums of both datasets, in units whose sizes are no powers of two, too.
#[test]
fn digits_beyond_f64_outlast_a_change_of_units() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.hdf5");
    let mut p = particles(9);
    p.states.set(digits(&p));
    let scale = Scale { length: 0.1, velocity: 3.0, ..Scale::IDENTITY };
    let units = FileUnits { scale, ..units() };
    let (field, provenance) = (field(&p), provenance());
    let now = Time::from_dt_max(3);
    let s = Snapshot {
        particles: &p,
        field: &field,
        subsystems: &[],
        stars: &[],
        now,
        clock: &CLOCK,
        units: &units,
        provenance: &provenance,
    };
    snapshot::write(&path, &s).unwrap();
    let read = snapshot::read(&path).unwrap();
    let [pos, vel] = read.low.unwrap();
    let rest = |value: f64, scale: f64, high: f64| value.mul_add(scale, -high) + value * 2f64.powi(-60) * scale;
    for i in 0..9 {
        for c in 0..3 {
            for (found, expected) in [
                (pos[i][c], rest(p.pos[i][c], 0.1, read.pos[i][c])),
                (vel[i][c], rest(p.vel[i][c], 3.0, read.vel[i][c])),
            ] {
                assert!((found - expected).abs() <= 1e-15 * expected.abs(), "{found} and {expected}");
            }
        }
    }
}

#[test]
fn no_text_has_variable_length() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.hdf5");
    write(&path, &particles(3));
    let file = hdf::open(&path);
    let mut places: Vec<hdf5::Location> = vec![(**file).clone()];
    for group in file.groups().unwrap() {
        places.extend(group.datasets().unwrap().iter().map(|dataset| (***dataset).clone()));
        places.push((*group).clone());
    }
    let mut seen = 0;
    for place in places {
        for name in place.attr_names().unwrap() {
            let descriptor = place.attr(&name).unwrap().dtype().unwrap().to_descriptor().unwrap();
            assert!(!matches!(descriptor, TypeDescriptor::VarLenAscii | TypeDescriptor::VarLenUnicode), "{name}");
            seen += 1;
        }
    }
    assert!(seen > 50, "{seen}");
}

#[test]
fn flipped_bytes_and_cuts_are_errors_that_name_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.hdf5");
    write(&path, &particles(20));
    let good = fs::read(&path).unwrap();
    let whole = snapshot::read(&path).unwrap();
    let check = |bytes: &[u8], what: &str| {
        fs::write(&path, bytes).unwrap();
        match snapshot::read(&path) {
            Ok(s) => assert!(s == whole, "{what}: silently different"),
            Err(e) => assert!(e.to_string().contains("s.hdf5") && e.exit_code() == 2, "{what}: {e}"),
        }
        let _ = inspect::describe(&path);
    };
    for i in (0..good.len()).step_by(89) {
        let mut bad = good.clone();
        bad[i] ^= 0x40;
        check(&bad, &format!("byte {i}"));
    }
    for i in (0..good.len()).step_by(997).chain(good.len() - 85..good.len()) {
        check(&good[..i], &format!("cut at {i}"));
    }
}

#[test]
fn values_changed_by_another_program_are_seen() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.hdf5");
    write(&path, &particles(20));
    let file = hdf::change(&path);
    let masses = file.dataset("PartType4/Masses").unwrap();
    let mut values = masses.read_raw::<f64>().unwrap();
    masses.write_raw(&values).unwrap();
    drop((masses, file));
    snapshot::read(&path).expect("rewritten in place with the same values");
    values[7] += 1e-9;
    let file = hdf::change(&path);
    file.dataset("PartType4/Masses").unwrap().write_raw(&values).unwrap();
    drop(file);
    let problem = snapshot::read(&path).unwrap_err().to_string();
    assert!(problem.contains("content_sha256"), "{problem}");
}

#[test]
fn wrong_files_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.hdf5");
    let problem = || snapshot::read(&path).unwrap_err().to_string();
    assert!(problem().contains("no such file"));
    fs::write(&path, "").unwrap();
    assert!(problem().contains("empty"));
    fs::write(&path, "m,x,y,z\n").unwrap();
    assert!(problem().contains("not an HDF5 file"));
    hdf::create(&path);
    assert!(problem().contains("tisane did not write"));
}

#[test]
fn inspect_fits_a_screen_and_names_what_matters() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.hdf5");
    write(&path, &particles(20));
    let page = inspect::describe(&path).unwrap();
    for word in [
        "tisane snapshot",
        &format!("{:<28} 20", "particles"),
        "0.75 Myr",
        "Msun (km/s)^2",
        "Coordinates",
        "match the SHA-256",
    ] {
        assert!(page.contains(word), "{word} is missing in\n{page}");
    }
    assert!(page.lines().count() < 40);
}
