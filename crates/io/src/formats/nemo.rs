//! Snapshots of NEMO (Teuben 1995): `SnapShot` with `Parameters` (Nobj, Time) and `Particles` (Mass, and PhaseSpace or
//! Position and Velocity), in either byte order, in 4- or 8-byte floats. Of several snapshots in a file the last one is
//! read.

use super::columns::lost_ids;
use super::format::{Format, WritableUnits, Writer};
use super::nemo_items::{Item, ItemWriter, Items, byte_order};
use super::sniff::{FileProbe, Guess};
use super::state::{FileState, Locations};
use crate::atomic::write_atomically;
use std::fs::File;
use std::path::Path;
use tisane::particles::{Particles, Vec3, from_components};
use tisane::{Error, Result};

/// Entry of the format in [`super::FORMATS`].
pub(super) const FORMAT: Format = Format {
    name: "nemo",
    description: "NEMO's structured binary, either byte order",
    schema_text: "NEMO's structured binary, either byte order.",
    schema_order: 9,
    detect,
    read,
    writer: Some(Writer {
        units: WritableUnits::Unnamed,
        radii: false,
        loses: "units; ids, where one is 2^31 or more",
        write,
    }),
};

/// Code of Cartesian coordinates in three dimensions, positions and velocities: NEMO's `CSCode(Cartesian, 3, 2)`.
const CARTESIAN: i32 = 0o200_000 | 3 << 8 | 2;
/// Name of the set of a snapshot.
const SNAPSHOT: &str = "SnapShot";

/// Recognises an item at the start of the file.
fn detect(probe: &FileProbe) -> Option<Guess> {
    let order = if byte_order(&probe.head)? { "big" } else { "little" };
    Guess::sure(format!("an item of NEMO's structured binary in {order}-endian order"))
}

/// Items of a snapshot that are read.
#[derive(Clone, Default)]
struct SnapshotItems {
    nobj: Option<Item>,
    time: Option<Item>,
    coordinates: Option<Item>,
    mass: Option<Item>,
    phase: Option<Item>,
    pos: Option<Item>,
    vel: Option<Item>,
    key: Option<Item>,
}

impl SnapshotItems {
    /// Stores an item if it is one of those that are read.
    fn insert(&mut self, item: Item) {
        let place = match item.path.strip_prefix(SNAPSHOT) {
            Some("/Parameters/Nobj") => &mut self.nobj,
            Some("/Parameters/Time") => &mut self.time,
            Some("/Particles/CoordSystem") => &mut self.coordinates,
            Some("/Particles/Mass") => &mut self.mass,
            Some("/Particles/PhaseSpace") => &mut self.phase,
            Some("/Particles/Position") => &mut self.pos,
            Some("/Particles/Velocity") => &mut self.vel,
            Some("/Particles/Key") => &mut self.key,
            _ => return,
        };
        *place = Some(item);
    }

    /// Returns true if the snapshot has positions.
    fn has_particles(&self) -> bool {
        self.phase.is_some() || self.pos.is_some()
    }
}

/// Reads the file.
fn read(path: &Path, _: &[String]) -> Result<FileState> {
    let failed = |e: std::io::Error| Error::input(path, e);
    let head = FileProbe::open(path)?.head;
    let expected = "expected an item of NEMO's structured binary at the start of the file, found none";
    let big_endian = byte_order(&head).ok_or_else(|| Error::input(path, expected))?;
    let file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let mut items = Items::new(file, length, big_endian);
    let (found, snapshots) = last_snapshot(&mut items).map_err(|e| Error::input(path, e))?;
    if snapshots == 0 {
        let problem = "expected a SnapShot with PhaseSpace, or Position and Velocity; found none";
        return Err(Error::input(path, problem));
    }
    let mut notes = Vec::new();
    if snapshots > 1 {
        notes.push(format!("the file has {snapshots} snapshots: the last one was read"));
    }
    let state = read_values(&mut items, &found).map_err(|problem| Error::input(path, problem))?;
    Ok(FileState { notes, ..state })
}

/// Returns the last snapshot with particles, and the number of such snapshots. Masses may be stored in an earlier
/// snapshot only.
fn last_snapshot(items: &mut Items<File>) -> std::io::Result<(SnapshotItems, usize)> {
    let (mut now, mut last, mut snapshots) = (SnapshotItems::default(), SnapshotItems::default(), 0);
    loop {
        let mut ended = false;
        let item = items.next(|set| ended |= set == SNAPSHOT)?;
        if ended {
            let done = std::mem::take(&mut now);
            if done.has_particles() {
                let mass = done.mass.clone().or(last.mass);
                (last, snapshots) = (SnapshotItems { mass, ..done }, snapshots + 1);
            }
        }
        match item {
            None => return Ok((last, snapshots)),
            Some(item) => now.insert(item),
        }
    }
}

/// Reads the values of a snapshot.
fn read_values(items: &mut Items<File>, found: &SnapshotItems) -> std::result::Result<FileState, String> {
    let failed = |e: std::io::Error| e.to_string();
    let mut one = |item: &Option<Item>| -> std::result::Result<Option<f64>, String> {
        match item {
            Some(item) if item.values() == 1 => Ok(items.read(item).map_err(failed)?.first().copied()),
            Some(item) => Err(format!("{}: expected one value, found {}", item.path, item.values())),
            None => Ok(None),
        }
    };
    let n = one(&found.nobj)?.ok_or("expected SnapShot/Parameters/Nobj, found none")?;
    let time = one(&found.time)?;
    if let Some(code) = one(&found.coordinates)?.filter(|code| *code != f64::from(CARTESIAN)) {
        return Err(format!("expected Cartesian coordinates (CoordSystem {CARTESIAN}), found {code}"));
    }
    let mut column = |item: &Option<Item>, name: &str, width: u64| -> std::result::Result<Vec<f64>, String> {
        let item = item.as_ref().ok_or_else(|| format!("expected SnapShot/Particles/{name}, found none"))?;
        if item.shape.first().is_none_or(|rows| *rows as f64 != n) || item.values() as f64 != n * width as f64 {
            return Err(format!("{}: expected {n} rows of {width}, found shape {:?}", item.path, item.shape));
        }
        items.read(item).map_err(failed)
    };
    let mass = column(&found.mass, "Mass", 1)?;
    let (pos, vel) = if found.phase.is_some() {
        let phase = column(&found.phase, "PhaseSpace", 6)?;
        phase.as_chunks::<6>().0.iter().map(|&[x, y, z, u, v, w]| (Vec3::new(x, y, z), Vec3::new(u, v, w))).unzip()
    } else {
        (from_components(&column(&found.pos, "Position", 3)?), from_components(&column(&found.vel, "Velocity", 3)?))
    };
    let mut particles = Particles::new(mass, pos, vel);
    if found.key.is_some() {
        let keys = column(&found.key, "Key", 1)?;
        if let Some(bad) = keys.iter().find(|key| **key < 0.0) {
            return Err(format!("SnapShot/Particles/Key: expected no negative id, found {bad}"));
        }
        particles.id = keys.into_iter().map(|key| key as u64).collect();
    }
    Ok(FileState { time, ..FileState::new("nemo", particles, Locations::Records) })
}

/// Writes a snapshot: little-endian, 8-byte floats, PhaseSpace, and Key if the ids fit 4-byte integers.
fn write(path: &Path, state: &FileState) -> Result<Vec<String>> {
    let p = &state.particles;
    let n = i32::try_from(p.len()).map_err(|_| Error::input(path, "a NEMO file holds fewer than 2^31 particles"))?;
    let rows = n as u32;
    let keys: Option<Vec<i32>> = p.id.iter().map(|id| i32::try_from(*id).ok()).collect();
    let mut out = ItemWriter::default();
    out.open(SNAPSHOT);
    out.open("Parameters");
    out.item(b'i', "Nobj", &[]);
    out.0.extend(n.to_le_bytes());
    out.item(b'd', "Time", &[]);
    out.0.extend(state.time.unwrap_or(0.0).to_le_bytes());
    out.close();
    out.open("Particles");
    out.item(b'i', "CoordSystem", &[]);
    out.0.extend(CARTESIAN.to_le_bytes());
    out.item(b'd', "Mass", &[rows]);
    p.mass.iter().for_each(|m| out.0.extend(m.to_le_bytes()));
    out.item(b'd', "PhaseSpace", &[rows, 2, 3]);
    for value in p.pos.iter().zip(&p.vel).flat_map(|(r, v)| r.iter().chain(v)) {
        out.0.extend(value.to_le_bytes());
    }
    if let Some(keys) = &keys {
        out.item(b'i', "Key", &[rows]);
        keys.iter().for_each(|key| out.0.extend(key.to_le_bytes()));
    }
    out.close();
    out.close();
    write_atomically(path, |temporary| std::fs::write(temporary, &out.0).map_err(|e| Error::storage(path, e)))?;
    Ok(if keys.is_none() { lost_ids(p).into_iter().collect() } else { Vec::new() })
}
