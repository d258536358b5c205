//! Small files as other programs write them, made here byte by byte or dataset by dataset.

use crate::hdf;
use hdf5::types::VarLenUnicode;
use hdf5::{File, Group, H5Type, Location};
use std::path::Path;

fn put<T: H5Type>(at: &Location, name: &str, value: T) {
    at.new_attr::<T>().create(name).and_then(|a| a.write_scalar(&value)).expect("an attribute");
}

pub(crate) fn put_all<T: H5Type>(at: &Location, name: &str, values: &[T]) {
    at.new_attr::<T>().shape(values.len()).create(name).and_then(|a| a.write_raw(values)).expect("an attribute");
}

pub(crate) fn put_text(at: &Location, name: &str, text: &str) {
    put::<VarLenUnicode>(at, name, text.parse().expect("text"));
}

fn table<T: H5Type>(at: &Group, name: &str, width: usize, values: &[T]) {
    let builder = at.new_dataset::<T>();
    let made = if width == 1 {
        builder.shape(values.len()).create(name)
    } else {
        builder.shape((values.len() / width, width)).create(name)
    };
    made.and_then(|dataset| dataset.write_raw(values)).expect("a dataset");
}

/// Gadget-2's layout in 4-byte floats: two of halo with a mass in the header, one star with its own; ids 3, 1, 2.
pub(crate) fn gadget(path: &Path) -> File {
    let file = hdf::create(path);
    let header = file.create_group("Header").expect("a group");
    put_all(&header, "NumPart_ThisFile", &[0i32, 2, 0, 0, 1, 0]);
    put_all(&header, "NumPart_Total", &[0u32, 2, 0, 0, 1, 0]);
    put_all(&header, "MassTable", &[0.0f64, 0.25, 0.0, 0.0, 0.0, 0.0]);
    put(&header, "Time", 1.5f64);
    put(&header, "Redshift", 0.0f64);
    put(&header, "NumFilesPerSnapshot", 1i32);
    let halo = file.create_group("PartType1").expect("a group");
    table(&halo, "Coordinates", 3, &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
    table(&halo, "Velocities", 3, &[0.5f32; 6]);
    table(&halo, "ParticleIDs", 1, &[3u32, 1]);
    let stars = file.create_group("PartType4").expect("a group");
    table(&stars, "Coordinates", 3, &[7.0f32, 8.0, 9.0]);
    table(&stars, "Velocities", 3, &[-1.0f32, 0.0, 1.0]);
    table(&stars, "Masses", 1, &[2.0f32]);
    table(&stars, "ParticleIDs", 1, &[2u32]);
    file
}

/// Adds units as Gadget-4 does: 1e10 solar masses with its own solar mass, kpc, km/s; and h.
pub(crate) fn gadget4_parameters(file: &File, h: f64) {
    let parameters = file.create_group("Parameters").expect("a group");
    put(&parameters, "UnitMass_in_g", 1.989e43f64);
    put(&parameters, "UnitLength_in_cm", 3.085_678e21f64);
    put(&parameters, "UnitVelocity_in_cm_per_s", 1e5f64);
    put(&parameters, "HubbleParam", h);
    put(&parameters, "ComovingIntegrationOn", 0i32);
}

/// Adds units as SWIFT does: arrays of one, a time in the place of a velocity, and an h that its values do not carry.
pub(crate) fn swift_units(file: &File) {
    let units = file.create_group("Units").expect("a group");
    put_all(&units, "Unit mass in cgs (U_M)", &[1.988_41e43f64]);
    put_all(&units, "Unit length in cgs (U_L)", &[3.085_677_58e24f64]);
    put_all(&units, "Unit time in cgs (U_t)", &[3.085_677_58e19f64]);
    let cosmology = file.create_group("Cosmology").expect("a group");
    put_all(&cosmology, "Cosmological run", &[0i32]);
    put_all(&cosmology, "h", &[0.7f64]);
}

/// Seven datasets of a set of AMUSE's, in solar masses, pc and km/s, of two particles; `version` 1 or 2.
pub(crate) fn amuse(path: &Path, version: u32) -> File {
    let file = hdf::create(path);
    let container = if version == 2 {
        put_text(&file.create_group("AMUSE_INF").expect("a group"), "version", "2.0");
        file.create_group("data")
    } else {
        file.create_group("particles")
    };
    let set = container.and_then(|container| container.create_group("0000000001")).expect("a group");
    put_text(&set, "type", "particles");
    put(&set, "number_of_particles", 2i64);
    // Pickled Python that a reader must not look at.
    put_text(&set, "class_of_the_particles", "cposix\nsystem\n(S'false'\ntR.");
    put(&set, "timestamp", 3.5f64);
    put_text(&set, "timestamp_unit", "(31556925993600.004 * system.get('S.I.').base('time'))");
    table(&set, "keys", 1, &[u64::MAX, 7]);
    let attributes = set.create_group("attributes").expect("a group");
    let pc = "(3.08567758128e+16 * system.get('S.I.').base('length'))";
    let km_s = "((1000.0 * system.get('S.I.').base('length')) * (system.get('S.I.').base('time')**-1))";
    for (name, unit, values) in [
        ("mass", "(1.98892e+30 * system.get('S.I.').base('mass'))", [1.0, 2.0]),
        ("x", pc, [0.5, -0.5]),
        ("y", pc, [0.0, 0.25]),
        // AMUSE may give every component a unit of its own.
        ("z", "(3.08567758128e+19 * system.get('S.I.').base('length'))", [0.0, 0.001]),
        ("vx", km_s, [1.0, -1.0]),
        ("vy", km_s, [0.0, 3.0]),
        ("vz", km_s, [0.0, 0.0]),
        ("radius", pc, [0.0, 0.0]),
    ] {
        table(&attributes, name, 1, &values);
        put_text(&attributes.dataset(name).expect("a dataset"), "units", unit);
    }
    file
}

/// Items of NEMO's structured binary.
pub(crate) struct Nemo {
    pub(crate) bytes: Vec<u8>,
    big_endian: bool,
}

impl Nemo {
    pub(crate) fn new(big_endian: bool) -> Self {
        Self { bytes: Vec::new(), big_endian }
    }

    fn ordered<const N: usize>(&mut self, mut bytes: [u8; N]) -> &mut Self {
        if !self.big_endian {
            bytes.reverse();
        }
        self.bytes.extend(bytes);
        self
    }

    pub(crate) fn header(&mut self, kind: &str, name: &str, shape: &[i32]) -> &mut Self {
        self.ordered(if shape.is_empty() { 0x0992u16 } else { 0x0b92 }.to_be_bytes());
        self.bytes.extend([kind.as_bytes(), b"\0"].concat());
        if kind != ")" {
            self.bytes.extend([name.as_bytes(), b"\0"].concat());
        }
        for k in shape.iter().chain(if shape.is_empty() { &[][..] } else { &[0] }) {
            self.ordered(k.to_be_bytes());
        }
        self
    }

    pub(crate) fn ints(&mut self, name: &str, shape: &[i32], values: &[i32]) -> &mut Self {
        self.header("i", name, shape);
        for value in values {
            self.ordered(value.to_be_bytes());
        }
        self
    }

    pub(crate) fn doubles(&mut self, name: &str, shape: &[i32], values: &[f64]) -> &mut Self {
        self.header("d", name, shape);
        for value in values {
            self.ordered(value.to_be_bytes());
        }
        self
    }

    pub(crate) fn floats(&mut self, name: &str, shape: &[i32], values: &[f32]) -> &mut Self {
        self.header("f", name, shape);
        for value in values {
            self.ordered(value.to_be_bytes());
        }
        self
    }
}

/// A NEMO file: a line of history, then a snapshot of two particles in PhaseSpace (8-byte floats) or in Position and
/// Velocity (4-byte floats).
pub(crate) fn nemo(big_endian: bool, phase_space: bool) -> Nemo {
    let mut file = Nemo::new(big_endian);
    file.header("c", "History", &[5]).bytes.extend(b"mk 2\0");
    file.header("(", "SnapShot", &[]).header("(", "Parameters", &[]);
    file.ints("Nobj", &[], &[2]).doubles("Time", &[], &[2.5]).header(")", "", &[]);
    file.header("(", "Particles", &[]).ints("CoordSystem", &[], &[66306]);
    if phase_space {
        file.doubles("Mass", &[2], &[0.25, 0.75]);
        let rows = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, -1.0, -2.0, -3.0, -4.0, -5.0, -6.0];
        file.doubles("PhaseSpace", &[2, 2, 3], &rows).ints("Key", &[2], &[9, 4]);
    } else {
        file.floats("Mass", &[2], &[0.25, 0.75]).floats("Position", &[2, 3], &[1.0, 2.0, 3.0, -1.0, -2.0, -3.0]);
        file.floats("Velocity", &[2, 3], &[4.0, 5.0, 6.0, -4.0, -5.0, -6.0]);
    }
    file.header(")", "", &[]).header(")", "", &[]);
    file
}

/// McLuster's table with a column of stellar evolution.
pub(crate) const MCLUSTER: &str = "#Mass_[Msun]\tx_[pc]\t\t\ty_[pc]\t\t\tz_[pc]\t\t\tvx_[km/s]\t\tvy_[km/s]\t\tvz_[km/s]\t\tMass(t=0)_[Msun]\n\
     1.000000\t0.5\t0.0\t0.0\t0.0\t1.0\t0.0\t1.0\n0.500000\t-0.5\t0.001\t0.0\t0.0\t-1.0\t0.0\t0.5\n";
