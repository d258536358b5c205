//! Snapshots: all particles at one time, in the Gadget HDF5 layout that yt and pynbody read.

use super::checksum;
use super::fields::{self, FieldValues, SnapshotField};
use super::file_units::{self, FileUnits};
use super::hdf::FileKind;
use super::hdf::read::{TisaneFile, TisaneGroup};
use super::hdf::write::{self as hdf, H5Result, new_group, put, put_array, put_dataset, put_text};
use super::named_columns;
use super::provenance::{self, Provenance};
use super::stellar_columns::{self, StarState};
use super::{subsystem_stars, subsystem_table};
use hdf5::Group;
use sha2::{Digest, Sha256};
use std::path::Path;
use tisane::diagnostics::cluster::followed::FollowedPair;
use tisane::error::Result;
use tisane::force::Field;
use tisane::force::external::guide::OrbitState;
use tisane::particles::{CloseStars, NamedColumn, Particles, Vec3, from_components};
use tisane::subsystems::Description;
use tisane::time::{Clock, Time};
use tisane::units::Dimension;

/// Group of the particles: stars in the Gadget layout.
pub(super) const PARTICLES: &str = "PartType4";
/// Number of particle types in the Gadget layout.
pub(super) const TYPES: usize = 6;
/// Index of the particle type of [`PARTICLES`].
pub(super) const OUR_TYPE: usize = 4;
/// Attribute of the Gadget header with the number of particles of each type.
pub(super) const COUNTS: &str = "NumPart_ThisFile";
/// Group that lets yt read the sizes in `/Units`.
const CONFIG: &str = "Config";
/// Attribute of [`CONFIG`] by which yt recognises AREPO's files. pynbody and others look for `VORONOI` instead, and
/// read the file as Gadget's.
const AREPO_FLAG: &str = "AMR";
/// Explanation of [`CONFIG`] in the file.
const CONFIG_NOTE: &str = "not a file of AREPO: with this group yt takes the sizes of the units from /Units; without \
                           it yt assumes kpc, 1e10 Msun and km/s";
/// 10⁹ Julian years of 365.25 days, in s.
pub(super) const SECONDS_PER_GYR: f64 = 31_557_600e9;
/// Attribute of `/Provenance` with the SHA-256 of the values.
const CONTENT_HASH: &str = "content_sha256";

/// State from which a snapshot is written. All particles are at the time `now`.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot<'a> {
    /// The particles, in internal units. Their accelerations and potentials are not written.
    pub particles: &'a Particles,
    /// Accelerations and potentials at the positions of the particles, in internal units.
    pub field: &'a Field,
    /// Subsystems, in internal units; empty where there are none.
    pub subsystems: &'a [Description],
    /// Stars that evolve, in the order of the particles; empty where they do not.
    pub stars: &'a [StarState],
    /// Time of the snapshot.
    pub now: Time,
    /// Time axis, in internal units.
    pub clock: &'a Clock,
    /// Units of the file.
    pub units: &'a FileUnits,
    /// Provenance of the file.
    pub provenance: &'a Provenance,
}

/// Contents of a snapshot, in the units of the file, particles in file order.
#[derive(Clone, Debug, PartialEq)]
pub struct SnapshotData {
    /// Time, in the user's unit of time.
    pub time: f64,
    /// Units of the file.
    pub units: FileUnits,
    /// Provenance of the file.
    pub provenance: Provenance,
    /// SHA-256 of time and datasets, in lower-case hexadecimal.
    pub content_sha256: String,
    /// Ids, unique.
    pub id: Vec<u64>,
    /// Masses, N values.
    pub mass: Vec<f64>,
    /// Positions, N vectors.
    pub pos: Vec<Vec3>,
    /// Velocities, N vectors.
    pub vel: Vec<Vec3>,
    /// Accelerations, N vectors.
    pub acc: Vec<Vec3>,
    /// Potentials per unit mass, without the self term.
    pub pot: Vec<f64>,
    /// Next time steps, in the user's unit of time.
    pub step: Vec<f64>,
    /// Radii; empty where the particles have none.
    pub radius: Vec<f64>,
    /// What positions and velocities have beyond f64; none in a file without it.
    pub low: Option<[Vec<Vec3>; 2]>,
    /// Further columns that a law reads, by name; empty where the particles have none.
    pub columns: Vec<NamedColumn>,
    /// Stars that evolve; empty where the file has none.
    pub stars: Vec<StarState>,
    /// Stars of subsystems relative to each other; empty where the file has none.
    pub close: Vec<CloseStars>,
    /// Bound pairs among the subsystems, in the units of the file; empty where it has none.
    pub pairs: Vec<FollowedPair>,
    /// Place and velocity of a moving origin of coordinates in the external fields, in the user's units; none where it rests.
    pub orbit: Option<OrbitState>,
}

/// Writes a snapshot atomically.
///
/// # Errors
/// [`Error::Storage`](tisane::Error::Storage) if it cannot be written.
pub fn write(path: &Path, snapshot: &Snapshot<'_>) -> Result<()> {
    hdf::write(path, FileKind::Snapshot, |root| fill(root, snapshot))
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
    // Without this attribute pynbody reports the age of the universe as the time.
    put(&header, "Time_GYR", &(user_time * s.units.units.time.cgs / SECONDS_PER_GYR))?;
    if let Some(about) = s.field.about {
        write_orbit(&header, &about.origin, s.units)?;
    }
    file_units::write(s.units, &new_group(root, "Units")?)?;
    write_flag_for_yt(root)?;
    let mut hash = ContentHash::new(user_time);
    let group = new_group(root, PARTICLES)?;
    for field in fields::SNAPSHOT {
        let dataset = match (field.values)(s.particles, s.field, s.clock) {
            FieldValues::Counts(values) => {
                hash.add(field, values.iter().map(|v| v.to_le_bytes()));
                put_dataset(&group, field.name, field.width, &values)?
            }
            FieldValues::Floats(values) | FieldValues::Rests { low: values, .. }
                if values.is_empty() && !s.particles.is_empty() =>
            {
                continue;
            }
            FieldValues::Floats(mut values) => {
                let scale = s.units.scale.factor(field.dimension);
                values.iter_mut().for_each(|v| *v *= scale);
                hash.add(field, values.iter().map(|v| v.to_le_bytes()));
                put_dataset(&group, field.name, field.width, &values)?
            }
            FieldValues::Rests { high, low } => {
                let scale = s.units.scale.factor(field.dimension);
                let values: Vec<f64> = high.iter().zip(&low).map(|(high, low)| rest([*high, *low], scale)).collect();
                hash.add(field, values.iter().map(|v| v.to_le_bytes()));
                put_dataset(&group, field.name, field.width, &values)?
            }
        };
        file_units::describe(&dataset, &s.units.units, field.dimension, field.description)?;
        file_units::describe_for_gadget(&dataset, &s.units.units, field.dimension, field.description)?;
    }
    for column in &s.particles.columns {
        hash.add_named(&column.name, column.values.iter().map(|v| v.to_le_bytes()));
    }
    named_columns::write(&group, &s.particles.columns)?;
    let mut add = |name: &str, values: Vec<[u8; 8]>| hash.add_named(name, values.into_iter());
    stellar_columns::write(&group, s.stars, user_time, s.units, &mut add)?;
    subsystem_table::write(root, s.subsystems, s.units)?;
    subsystem_stars::write(root, s.subsystems, s.units)?;
    let origin = new_group(root, "Provenance")?;
    provenance::write(s.provenance, &origin)?;
    put(&origin, "format_version", &super::FORMAT_VERSION)?;
    put_text(&origin, CONTENT_HASH, &hash.finish())
}

/// Returns what a number in two parts has beyond f64 in other units: what the conversion of the high part cuts off belongs to it.
fn rest([high, low]: [f64; 2], scale: f64) -> f64 {
    low.mul_add(scale, high.mul_add(scale, -(high * scale)))
}

/// Writes the Gadget header for `n` particles without [`COUNTS`]. `time` is in units of UnitLength / UnitVelocity.
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

/// Attribute of the header with the place of the origin of coordinates in the external fields, in runs where it moves; unit: length.
const ORBIT_POSITION: &str = "OrbitPosition";
/// Attribute of the header with its velocity; unit: velocity.
const ORBIT_VELOCITY: &str = "OrbitVelocity";

/// Writes place and velocity of a moving origin of coordinates.
fn write_orbit(header: &Group, origin: &OrbitState, units: &FileUnits) -> H5Result {
    put_array(header, ORBIT_POSITION, (origin.pos * units.scale.length).as_slice())?;
    put_array(header, ORBIT_VELOCITY, (origin.vel * units.scale.velocity).as_slice())
}

/// Reads what [`write_orbit`] wrote; [`None`] of a file without it.
fn read_orbit(header: &TisaneGroup<'_>) -> Result<Option<OrbitState>> {
    if !header.has(ORBIT_POSITION) {
        return Ok(None);
    }
    let vector = |name: &str| header.get_array::<f64, 3>(name).map(Vec3::from);
    Ok(Some(OrbitState { pos: vector(ORBIT_POSITION)?, vel: vector(ORBIT_VELOCITY)? }))
}

/// Writes the group with which yt reads `/Units`. Its reader of Gadget's files ignores them and assumes Gadget's default
/// units; its reader of AREPO's files, which have the same layout, takes them (yt 4.4,
/// `yt/frontends/arepo/data_structures.py`).
pub(super) fn write_flag_for_yt(root: &Group) -> H5Result {
    let config = new_group(root, CONFIG)?;
    put_text(&config, AREPO_FLAG, "")?;
    put_text(&config, "note", CONFIG_NOTE)
}

/// SHA-256 of the time and of the name and values (little-endian) of every dataset, in the order of
/// [`SNAPSHOT`](fields::SNAPSHOT). It stays valid if a tool repacks the file.
struct ContentHash(Sha256);

impl ContentHash {
    fn new(time: f64) -> Self {
        Self(Sha256::new_with_prefix(time.to_le_bytes()))
    }

    fn add(&mut self, field: &SnapshotField, values: impl Iterator<Item = [u8; 8]>) {
        self.add_named(field.name, values);
    }

    fn add_named(&mut self, name: &str, values: impl Iterator<Item = [u8; 8]>) {
        self.0.update(name);
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
        checksum::Digest::from_hasher(self.0).to_string()
    }
}

/// Reads a snapshot written by tisane. Verifies the SHA-256 of the bytes, if the file still has it, and that of the
/// values.
///
/// # Errors
/// [`Error::Input`](tisane::Error::Input) with the file and the dataset if it is missing, damaged or of another kind.
pub fn read(path: &Path) -> Result<SnapshotData> {
    let tree = TisaneFile::open(path, &[FileKind::Snapshot], false)?;
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
    let has_radius = reader.group.has_dataset(fields::RADIUS.name);
    let radius = if has_radius { reader.floats(&fields::RADIUS)? } else { Vec::new() };
    let has_low = reader.group.has_dataset(fields::COORDINATES_LOW.name);
    let low = if has_low {
        Some([reader.vectors(&fields::COORDINATES_LOW)?, reader.vectors(&fields::VELOCITIES_LOW)?])
    } else {
        None
    };
    let columns = named_columns::read(&reader.group, mass.len())?;
    for column in &columns {
        hash.add_named(&column.name, column.values.iter().map(|v| v.to_le_bytes()));
    }
    let units = file_units::read(&tree.group("Units")?)?;
    let mut add = |name: &str, values: Vec<[u8; 8]>| hash.add_named(name, values.into_iter());
    let stars = stellar_columns::read(&tree.group(PARTICLES)?, &mass, time, &units.units, &mut add)?;
    let content_sha256 = hash.finish();
    if content_sha256 != origin.text(CONTENT_HASH)? {
        return Err(
            origin.error(CONTENT_HASH, "the values do not match this hash: they were changed after tisane wrote them")
        );
    }
    let provenance = provenance::read(&origin, tree.version)?;
    let (close, pairs) = (subsystem_stars::read(&tree, &id)?, subsystem_table::read(&tree)?);
    Ok(SnapshotData {
        time,
        units,
        provenance,
        content_sha256,
        id,
        mass,
        pos,
        vel,
        acc,
        pot,
        step,
        radius,
        low,
        columns,
        stars,
        close,
        pairs,
        orbit: read_orbit(&tree.group("Header")?)?,
    })
}

/// Metadata of a snapshot.
#[derive(Clone, Debug, PartialEq)]
pub struct SnapshotHeader {
    /// Time, in the user's unit of time.
    pub time: f64,
    /// Number of particles.
    pub n: u64,
    /// Units of the file.
    pub units: FileUnits,
    /// Force engine of the run.
    pub engine: String,
    /// Precision mode of the run.
    pub precision: String,
    /// Place and velocity of a moving origin of coordinates in the external fields, in the user's units; none where it rests.
    pub orbit: Option<OrbitState>,
}

/// Reads the metadata of a snapshot, at a cost independent of the number of particles. Does not verify the hashes.
///
/// # Errors
/// [`Error::Input`](tisane::Error::Input) if it is missing, truncated or of another kind.
pub fn read_header(path: &Path) -> Result<SnapshotHeader> {
    let tree = TisaneFile::open_header(path, FileKind::Snapshot)?;
    let count: [u64; TYPES] = tree.group("Header")?.get_array(COUNTS)?;
    let units = file_units::read(&tree.group("Units")?)?;
    let origin = tree.group("Provenance")?;
    let (engine, precision) = (origin.text("engine")?, origin.text("precision")?);
    let (time, orbit) = (tree.root().get("time")?, read_orbit(&tree.group("Header")?)?);
    Ok(SnapshotHeader { time, n: count[OUR_TYPE], units, engine, precision, orbit })
}

/// Checks that the file has no other particle types, whose particles would be dropped silently.
fn check_groups(tree: &TisaneFile) -> Result<()> {
    let root = tree.root();
    let others: Vec<_> = root.members()?.into_iter().filter(|n| n.starts_with("PartType") && n != PARTICLES).collect();
    if others.is_empty() {
        return Ok(());
    }
    Err(root.error("", format!("expected particles in {PARTICLES} only, found {} too", others.join(", "))))
}

/// Reads columns of equal length and adds them to the hash.
struct ColumnReader<'a> {
    group: TisaneGroup<'a>,
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
