//! Small HDF5 files of every kind that tisane reads, made once: what the HDF5 targets change.

use hdf5::types::VarLenUnicode;
use hdf5::{Group, Location};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use tisane::force::Field;
use tisane::particles::{Particles, Vec3};
use tisane::states::history::History as EarlierPoints;
use tisane::states::neighbours::Neighbours;
use tisane::time::{Clock, Level, Time};
use tisane::units::{Scale, Units};
use tisane_io::checkpoint::{self, Checkpoint, Counters, OutputCounts, References, RunState};
use tisane_io::fields::JournalRow;
use tisane_io::fields::{DiagnosticsRow, EventRow};
use tisane_io::file_units::FileUnits;
use tisane_io::formats;
use tisane_io::history::History;
use tisane_io::journal::JournalWriter;
use tisane_io::provenance::Provenance;
use tisane_io::snapshot::{self, Snapshot};
use tisane_io::stellar_columns::StarState;
use tisane_io::table::{Column, Table, Values};
use tisane_stellar::{Kind, State};

/// A whole file and the names in it.
pub struct Seed {
    /// The file.
    pub bytes: Vec<u8>,
    /// Paths of its groups and datasets, the root among them.
    pub places: Vec<String>,
    /// The attributes: the path of what bears it, and its name.
    pub attributes: Vec<(String, String)>,
}

/// A file of each kind; the first is a snapshot.
pub static SEEDS: LazyLock<Vec<Seed>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let make = |(k, write): (usize, fn(&Path) -> PathBuf)| {
        let own = folder.path().join(k.to_string());
        std::fs::create_dir(&own).expect("a folder");
        let path = write(&own);
        let bytes = std::fs::read(&path).expect("a file");
        // A copy is opened: a process that another test starts keeps the writer's lock until it runs its own program.
        let copy = own.join("copy");
        std::fs::write(&copy, &bytes).expect("a copy");
        let file = hdf5::File::open(&copy).expect("a whole file");
        let (mut places, mut attributes) = (Vec::new(), Vec::new());
        walk(&file, "/", &mut places, &mut attributes);
        drop(file);
        Seed { bytes, places, attributes }
    };
    WRITERS.into_iter().enumerate().map(make).collect()
});

/// Each makes a file in a folder.
const WRITERS: [fn(&Path) -> PathBuf; 10] =
    [snapshot, plain, diagnostics, events, table, gadget, gadget_2, amuse, elements, with_neighbours];

fn walk(group: &Group, name: &str, places: &mut Vec<String>, attributes: &mut Vec<(String, String)>) {
    let borne = |at: &Location, place: &str| -> Vec<(String, String)> {
        let names = at.attr_names().expect("attributes");
        names.into_iter().map(|name| (place.to_owned(), name)).collect()
    };
    places.push(name.to_owned());
    attributes.extend(borne(group, name));
    for member in group.member_names().expect("members") {
        let place = if name == "/" { member.clone() } else { format!("{name}/{member}") };
        match group.group(&member) {
            Ok(below) => walk(&below, &place, places, attributes),
            Err(_) => {
                attributes.extend(borne(&group.dataset(&member).expect("a dataset"), &place));
                places.push(place);
            }
        }
    }
}

fn particles() -> Particles {
    let pos = [[0.5, 0.0, 0.0], [-0.5, 0.25, 0.0], [0.0, 1.0, -1.0]].map(Vec3::from).to_vec();
    let vel = [[0.0, 0.5, 0.0], [0.0, -0.5, 0.0], [0.25, 0.0, 0.0]].map(Vec3::from).to_vec();
    let level = Level(3);
    let zero = vec![Vec3::zeros(); 3];
    Particles {
        id: vec![7, 1, 4],
        acc: zero.clone(),
        jerk: zero,
        pot: vec![-1.0; 3],
        time: vec![Time::from_dt_max(1); 3],
        step: vec![level; 3],
        stars: stars().iter().zip([7, 1, 4]).map(|(star, id)| star.begun(id)).collect(),
        ..Particles::new(vec![0.5, 0.25, 0.25], pos, vel)
    }
}

/// A main-sequence star, a giant, a neutron star.
fn stars() -> Vec<StarState> {
    let kinds = [Kind::MainSequence, Kind::GiantBranch, Kind::NeutronStar];
    let (luminosity, radius) = (2.0, 1.5);
    let state = |kind| State { kind, effective_mass: 1.0, mass: 0.25, core_mass: 0.125, age: 3.0, luminosity, radius };
    kinds.map(|kind| StarState { initial_mass: 1.0, metallicity: Some(0.01), state: state(kind) }).to_vec()
}

fn units() -> FileUnits {
    FileUnits { units: Units::henon(), scale: Scale::IDENTITY }
}

const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.125 };

fn snapshot(folder: &Path) -> PathBuf {
    let path = folder.join("snapshot_0000.hdf5");
    let (units, provenance) = (units(), provenance());
    let (now, particles, clock) = (Time::from_dt_max(1), particles(), &CLOCK);
    let field = Field { acc: particles.acc.clone(), pot: particles.pot.clone(), ..Field::default() };
    let (particles, field, units, provenance) = (&particles, &field, &units, &provenance);
    let content = Snapshot { particles, field, subsystems: &[], stars: &stars(), now, clock, units, provenance };
    snapshot::write(&path, &content).expect("a snapshot");
    path
}

fn plain(folder: &Path) -> PathBuf {
    checkpoint(folder, particles())
}

/// A checkpoint of a neighbour scheme.
fn with_neighbours(folder: &Path) -> PathBuf {
    let mut particles = particles();
    particles.states.set(EarlierPoints::new(3, 1, 2));
    particles.states.set(Neighbours { lists: vec![vec![1, 2], vec![0], Vec::new()], ..Neighbours::new(3, 1, 2) });
    checkpoint(folder, particles)
}

fn checkpoint(folder: &Path, particles: Particles) -> PathBuf {
    let run = RunState {
        now: Time::from_dt_max(1),
        clock: CLOCK,
        scale: Scale::IDENTITY,
        counters: Counters::default(),
        written: OutputCounts::default(),
        references: References::default(),
        orbit: None,
        wall_seconds: 1.5,
    };
    let history = History {
        begun: true,
        systems: vec!["(1+4)".into()],
        escaped: vec![7],
        encounters: vec![[1, 4]],
        ..History::default()
    };
    checkpoint::write(folder, &Checkpoint { particles, run, history, provenance: provenance() }).expect("a checkpoint");
    folder.join(checkpoint::NEWEST)
}

fn provenance() -> Provenance {
    Provenance {
        config_resolved: "[run]\nname = \"seed\"\n".into(),
        state_sha256: "0".repeat(64),
        state_block_steps: Some(3),
        state_time: Some(0.125),
        seed: Some(1),
        ..Provenance::default()
    }
}

fn journal<R: JournalRow + Default>(folder: &Path) -> PathBuf {
    let mut series =
        JournalWriter::<R>::create(folder, &units(), &[("external_potential_energy", false)]).expect("a journal");
    for _ in 0..2 {
        series.append(&R::default()).expect("a row");
    }
    series.rewrite(&provenance()).expect("a journal");
    folder.join(R::JOURNAL.hdf5())
}

fn diagnostics(folder: &Path) -> PathBuf {
    journal::<DiagnosticsRow>(folder)
}

fn events(folder: &Path) -> PathBuf {
    journal::<EventRow>(folder)
}

fn table(folder: &Path) -> PathBuf {
    let path = folder.join("table.hdf5");
    let column = |name: &str, unit: &str, values| Column::new(name, unit, name, values);
    let columns = vec![
        column("n", "1", Values::Counts(vec![1024, 2048])),
        column("mode", "", Values::Text(vec!["f64".into(), "mixed".into()])),
        column("error", "1", Values::Floats(vec![1e-9, f64::NAN])),
    ];
    let table = Table { title: "errors".into(), remarks: vec![("host".into(), "here".into())], columns };
    table.write_hdf5(&path).expect("a table");
    path
}

/// As tisane writes for others.
fn foreign(folder: &Path, format: &str) -> PathBuf {
    let csv = folder.join("particles.csv");
    std::fs::write(&csv, "m,x,y,z,vx,vy,vz,id\n1,0.5,0,0,0,1,0,7\n0,-0.5,1e-3,0,0,-1,0,3\n").expect("a small file");
    let mut state = formats::read(&csv, Some("csv")).expect("particles");
    (state.units, state.time) = (Some(Units::henon()), Some(1.5));
    let path = folder.join("particles.hdf5");
    formats::write(&path, format, &state).expect("a file");
    path
}

fn gadget(folder: &Path) -> PathBuf {
    foreign(folder, "gadget")
}

fn amuse(folder: &Path) -> PathBuf {
    foreign(folder, "amuse")
}

fn array<T: hdf5::H5Type>(at: &Location, name: &str, values: &[T]) {
    at.new_attr::<T>().shape(values.len()).create(name).and_then(|a| a.write_raw(values)).expect("an attribute");
}

fn text(at: &Location, name: &str, text: &str) {
    let value: VarLenUnicode = text.parse().expect("text");
    at.new_attr::<VarLenUnicode>().create(name).and_then(|a| a.write_scalar(&value)).expect("an attribute");
}

fn column<T: hdf5::H5Type>(at: &Group, name: &str, shape: &[usize], values: &[T]) -> hdf5::Dataset {
    let dataset = at.new_dataset::<T>().shape(shape).create(name).expect("a dataset");
    dataset.write_raw(values).expect("values");
    dataset
}

/// Gadget-2's layout: two kinds of particle in 4-byte floats, the mass of one in the header; with SWIFT's and
/// Gadget-4's groups.
fn gadget_2(folder: &Path) -> PathBuf {
    let path = folder.join("snap_000.hdf5");
    let file = hdf5::File::create(&path).expect("a file");
    let header = file.create_group("Header").expect("a group");
    array(&header, "NumPart_ThisFile", &[0i32, 2, 0, 0, 1, 0]);
    array(&header, "MassTable", &[0.0f64, 0.25, 0.0, 0.0, 0.0, 0.0]);
    array(&header, "Time", &[1.5f64]);
    array(&header, "Redshift", &[0.0f64]);
    array(&header, "HubbleParam", &[0.7f64]);
    array(&header, "NumFilesPerSnapshot", &[1i32]);
    let parameters = file.create_group("Parameters").expect("a group");
    array(&parameters, "UnitMass_in_g", &[1.989e43f64]);
    array(&parameters, "UnitLength_in_cm", &[3.085_678e21f64]);
    array(&parameters, "UnitVelocity_in_cm_per_s", &[1e5f64]);
    array(&parameters, "ComovingIntegrationOn", &[0i32]);
    let halo = file.create_group("PartType1").expect("a group");
    column(&halo, "Coordinates", &[2, 3], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
    column(&halo, "Velocities", &[2, 3], &[0.5f32; 6]);
    column(&halo, "ParticleIDs", &[2], &[3u32, 1]);
    let stars = file.create_group("PartType4").expect("a group");
    column(&stars, "Coordinates", &[1, 3], &[7.0f32, 8.0, 9.0]);
    column(&stars, "Velocities", &[1, 3], &[-1.0f32, 0.0, 1.0]);
    column(&stars, "Masses", &[1], &[2.0f32]);
    column(&stars, "ParticleIDs", &[1], &[2u32]);
    path
}

/// Orbital elements as AMUSE keeps those of the stars about the Galactic centre.
fn elements(folder: &Path) -> PathBuf {
    let path = folder.join("elements.amuse");
    let file = hdf5::File::create(&path).expect("a file");
    let set = file.create_group("particles").and_then(|all| all.create_group("0000000001")).expect("groups");
    text(&set, "type", "particles");
    let attributes = set.create_group("attributes").expect("a group");
    for (name, unit) in [
        ("semimajor_axis", "none"),
        ("eccentricity", "none"),
        ("inclination", "none"),
        ("omra", "none"),
        ("Omega", "none"),
        ("time_of_pericenter", "(31556925993600.004 * system.get('S.I.').base('time'))"),
    ] {
        text(&column(&attributes, name, &[2], &[0.5f64, 0.25]), "units", unit);
    }
    path
}
