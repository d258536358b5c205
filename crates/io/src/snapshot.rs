//! Snapshots: all particles at one moment, in the Gadget HDF5 layout that yt and pynbody open.

use super::checksum;
use super::fields::{self, FieldValues, SnapshotField};
use super::file_units::{self, FileUnits};
use super::hdf::Kind;
use super::hdf::read::{Node, Tree};
use super::hdf::write::{self as hdf, H5Result, new_group, put, put_array, put_dataset, put_text};
use super::provenance::{self, Provenance};
use hdf5::Group;
use sha2::{Digest, Sha256};
use std::path::Path;
use tisane::error::Result;
use tisane::force::Field;
use tisane::particles::{Particles, Vec3, from_components};
use tisane::time::{Clock, Time};
use tisane::units::Dimension;

/// The group that holds the particles: Gadget's stars.
pub(super) const PARTICLES: &str = "PartType4";
/// Gadget's number of particle types, and ours among them.
pub(super) const TYPES: usize = 6;
pub(super) const OUR_TYPE: usize = 4;
/// The attribute of Gadget's header that has the numbers of particles by type.
pub(super) const COUNTS: &str = "NumPart_ThisFile";
/// 10⁹ Julian years of 365.25 days.
pub(super) const SECONDS_PER_GYR: f64 = 31_557_600e9;
/// The attribute of `/Provenance` that holds the hash of the values.
const CONTENT_HASH: &str = "content_sha256";

/// What a snapshot is made from. All particles stand at `now`.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot<'a> {
    /// The particles, in internal units. Their accelerations and potentials are not written.
    pub particles: &'a Particles,
    /// Accelerations and potentials where the particles stand, in internal units.
    pub field: &'a Field,
    /// The moment.
    pub now: Time,
    /// The time axis, in internal units.
    pub clock: &'a Clock,
    /// The units to write in.
    pub units: &'a FileUnits,
    /// Where it comes from.
    pub provenance: &'a Provenance,
}

/// A snapshot as read: everything in the units of the file, particles in file order.
#[derive(Clone, Debug, PartialEq)]
pub struct SnapshotData {
    /// Time, in the user's unit of time.
    pub time: f64,
    /// The units of the file.
    pub units: FileUnits,
    /// Where it comes from.
    pub provenance: Provenance,
    /// SHA-256 of time and datasets, in lower-case hexadecimal.
    pub content_sha256: String,
    /// Identities.
    pub id: Vec<u64>,
    /// Masses.
    pub mass: Vec<f64>,
    /// Positions.
    pub pos: Vec<Vec3>,
    /// Velocities.
    pub vel: Vec<Vec3>,
    /// Accelerations.
    pub acc: Vec<Vec3>,
    /// Potentials per unit mass.
    pub pot: Vec<f64>,
    /// Lengths of the next steps, in the user's unit of time.
    pub step: Vec<f64>,
}

/// Writes a snapshot atomically.
///
/// # Errors
/// [`Error::Storage`](tisane::Error::Storage) if it cannot be written.
pub fn write(path: &Path, snapshot: &Snapshot<'_>) -> Result<()> {
    hdf::write(path, Kind::Snapshot, |root| fill(root, snapshot))
}

fn fill(root: &Group, s: &Snapshot<'_>) -> H5Result {
    let time = s.clock.time(s.now);
    let user_time = time * s.units.scale.factor(Dimension::TIME);
    put(root, "time", &user_time)?;
    put_text(root, "time_unit", &s.units.units.label(Dimension::TIME))?;
    let header_time = time * s.units.scale.length / s.units.scale.velocity;
    let header = new_group(root, "Header")?;
    let mut count = [0u64; TYPES];
    count[OUR_TYPE] = s.particles.len() as u64;
    put_array(&header, COUNTS, &count)?;
    write_header(&header, s.particles.len() as u64, header_time)?;
    // Without it pynbody takes the age of the universe for the time.
    put(&header, "Time_GYR", &(user_time * s.units.units.time.cgs / SECONDS_PER_GYR))?;
    file_units::write(s.units, &new_group(root, "Units")?)?;
    let mut hash = ContentHash::new(user_time);
    let group = new_group(root, PARTICLES)?;
    for field in fields::SNAPSHOT {
        let dataset = match (field.values)(s.particles, s.field, s.clock) {
            FieldValues::Counts(values) => {
                hash.add(field, values.iter().map(|v| v.to_le_bytes()));
                put_dataset(&group, field.name, field.width, &values)?
            }
            FieldValues::Floats(mut values) => {
                let scale = s.units.scale.factor(field.dimension);
                values.iter_mut().for_each(|v| *v *= scale);
                hash.add(field, values.iter().map(|v| v.to_le_bytes()));
                put_dataset(&group, field.name, field.width, &values)?
            }
        };
        file_units::describe(&dataset, &s.units.units, field.dimension, field.description)?;
        file_units::describe_for_gadget(&dataset, &s.units.units, field.dimension, field.description)?;
    }
    let origin = new_group(root, "Provenance")?;
    provenance::write(s.provenance, &origin)?;
    put(&origin, "format_version", &super::FORMAT_VERSION)?;
    put_text(&origin, CONTENT_HASH, &hash.finish())
}

/// Gadget's header without [`COUNTS`]: `time` in units of UnitLength / UnitVelocity.
pub(super) fn write_header(header: &Group, n: u64, time: f64) -> H5Result {
    let mut count = [0u64; TYPES];
    count[OUR_TYPE] = n;
    put_array(header, "NumPart_Total", &count.map(|n| (n & u64::from(u32::MAX)) as u32))?;
    put_array(header, "NumPart_Total_HighWord", &count.map(|n| (n >> 32) as u32))?;
    put_array(header, "MassTable", &[0.0f64; TYPES])?;
    put(header, "Time", &time)?;
    put(header, "Redshift", &0.0f64)?;
    put(header, "BoxSize", &0.0f64)?;
    put(header, "NumFilesPerSnapshot", &1i32)?;
    for flag in ["Sfr", "Cooling", "StellarAge", "Metals", "Feedback"] {
        put(header, &format!("Flag_{flag}"), &0i32)?;
    }
    put(header, "Flag_DoublePrecision", &1i32)
}

/// SHA-256 of the time and of every dataset's name and values (little-endian), in the order of the field table. It
/// outlives tools that repack the file.
struct ContentHash(Sha256);

impl ContentHash {
    fn new(time: f64) -> Self {
        Self(Sha256::new_with_prefix(time.to_le_bytes()))
    }

    fn add(&mut self, field: &SnapshotField, values: impl Iterator<Item = [u8; 8]>) {
        self.0.update(field.name);
        let mut buffer = Vec::with_capacity(1 << 15);
        for value in values {
            if buffer.len() == buffer.capacity() {
                self.0.update(&buffer);
                buffer.clear();
            }
            buffer.extend(value);
        }
        self.0.update(&buffer);
    }

    fn finish(self) -> String {
        checksum::Digest::of(self.0).to_string()
    }
}

/// Reads a snapshot that tisane wrote, checking both hashes: of the bytes, where the file still has it, and of the values.
///
/// # Errors
/// [`Error::Input`](tisane::Error::Input) naming file and dataset if it is missing, damaged or of another kind.
pub fn read(path: &Path) -> Result<SnapshotData> {
    let tree = Tree::open(path, &[Kind::Snapshot], false)?;
    check_groups(&tree)?;
    let group = tree.group(PARTICLES)?;
    let origin = tree.group("Provenance")?;
    let time: f64 = tree.root().get("time")?;
    let mut hash = ContentHash::new(time);
    let mut reader = ColumnReader { group, rows: None, hash: &mut hash };
    // In the order of the field table, which is the order of the hash.
    let pos = reader.vectors(&fields::COORDINATES)?;
    let vel = reader.vectors(&fields::VELOCITIES)?;
    let mass = reader.floats(&fields::MASSES)?;
    let id = reader.counts(&fields::PARTICLE_IDS)?;
    let pot = reader.floats(&fields::POTENTIAL)?;
    let acc = reader.vectors(&fields::ACCELERATION)?;
    let step = reader.floats(&fields::TIME_STEP)?;
    let content_sha256 = hash.finish();
    if content_sha256 != origin.text(CONTENT_HASH)? {
        return Err(origin.error(CONTENT_HASH, "the values do not match it: changed since tisane wrote them"));
    }
    let units = file_units::read(&tree.group("Units")?)?;
    let provenance = provenance::read(&origin, tree.version)?;
    Ok(SnapshotData { time, units, provenance, content_sha256, id, mass, pos, vel, acc, pot, step })
}

/// What a snapshot says of itself before its particles.
#[derive(Clone, Debug, PartialEq)]
pub struct Heading {
    /// Time, in the user's unit of time.
    pub time: f64,
    /// Number of particles.
    pub n: u64,
    /// The units of the file.
    pub units: FileUnits,
    /// Force engine that computed.
    pub engine: String,
    /// Precision mode.
    pub precision: String,
}

/// Reads what a snapshot says of itself, at a cost that does not grow with its particles; the hashes are not checked.
///
/// # Errors
/// [`Error::Input`](tisane::Error::Input) if it is missing, cut off or of another kind.
pub fn heading(path: &Path) -> Result<Heading> {
    let tree = Tree::glance(path, Kind::Snapshot)?;
    let count: [u64; TYPES] = tree.group("Header")?.get_array(COUNTS)?;
    let units = file_units::read(&tree.group("Units")?)?;
    let origin = tree.group("Provenance")?;
    let (engine, precision) = (origin.text("engine")?, origin.text("precision")?);
    Ok(Heading { time: tree.root().get("time")?, n: count[OUR_TYPE], units, engine, precision })
}

/// No particles are left out silently: there are no types but ours.
fn check_groups(tree: &Tree) -> Result<()> {
    let root = tree.root();
    let others: Vec<_> = root.members()?.into_iter().filter(|n| n.starts_with("PartType") && n != PARTICLES).collect();
    if others.is_empty() {
        return Ok(());
    }
    Err(root.error("", format!("particles in {PARTICLES} only expected, {} found too", others.join(", "))))
}

/// Reads columns of one length, hashing them.
struct ColumnReader<'a> {
    group: Node<'a>,
    rows: Option<usize>,
    hash: &'a mut ContentHash,
}

impl ColumnReader<'_> {
    fn floats(&mut self, field: &SnapshotField) -> Result<Vec<f64>> {
        let values: Vec<f64> = self.group.column(field.name, self.rows, field.width)?;
        self.rows = Some(values.len() / field.width);
        self.hash.add(field, values.iter().map(|v| v.to_le_bytes()));
        Ok(values)
    }

    fn vectors(&mut self, field: &SnapshotField) -> Result<Vec<Vec3>> {
        Ok(from_components(&self.floats(field)?))
    }

    fn counts(&mut self, field: &SnapshotField) -> Result<Vec<u64>> {
        let values: Vec<u64> = self.group.column(field.name, self.rows, field.width)?;
        self.hash.add(field, values.iter().map(|v| v.to_le_bytes()));
        Ok(values)
    }
}
