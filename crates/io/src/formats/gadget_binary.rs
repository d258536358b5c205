//! Gadget's binary snapshots (Springel 2005, MNRAS 364, 1105; the user guide of Gadget-2, section 6): Fortran's
//! unformatted records of a header, positions, velocities, ids and masses, in either byte order, in 4- or 8-byte floats,
//! with ids of 4 or 8 bytes. In `SnapFormat` 2 a record with the name of the block is before each block.

use super::format::Format;
use super::gadget_header;
use super::gadget_header::{Counts, merged};
use super::gadget_records::{Block, Records, byte_order};
use super::sniff::{FileProbe, Guess};
use super::state::{FileState, Locations};
use std::path::Path;
use tisane::particles::{Particles, from_components};
use tisane::{Error, Result};

/// Entry of the format in [`super::FORMATS`].
pub(super) const FORMAT: Format = Format {
    name: "gadget-binary",
    description: "Gadget's binary snapshot, SnapFormat 1 and 2, either byte order",
    schema_text: "Gadget's binary snapshot, SnapFormat 1 and 2, either byte order.",
    schema_order: 11,
    detect,
    read,
    writer: None,
};

/// Number of types of particles.
const TYPES: usize = 6;

/// Recognises the record of the header, or of its name.
fn detect(probe: &FileProbe) -> Option<Guess> {
    let (format, big_endian) = byte_order(&probe.head)?;
    let order = if big_endian { "big" } else { "little" };
    Guess::sure(format!("the header of Gadget's SnapFormat {format} in {order}-endian order"))
}

/// Header of a snapshot.
struct Header {
    counts: [u32; TYPES],
    masses: [f64; TYPES],
    time: f64,
    redshift: f64,
    totals: [u32; TYPES],
    files: u32,
    box_size: f64,
    h: f64,
}

impl Header {
    fn parse(bytes: &[u8; 256], big_endian: bool) -> Self {
        let int = |at: usize| {
            let word = std::array::from_fn(|k| bytes[at + k]);
            if big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
        };
        let float = |at: usize| {
            let word = std::array::from_fn(|k| bytes[at + k]);
            if big_endian { f64::from_be_bytes(word) } else { f64::from_le_bytes(word) }
        };
        Self {
            counts: std::array::from_fn(|k| int(4 * k)),
            masses: std::array::from_fn(|k| float(24 + 8 * k)),
            time: float(72),
            redshift: float(80),
            totals: std::array::from_fn(|k| int(96 + 4 * k)),
            files: int(124),
            box_size: float(128),
            h: float(152),
        }
    }

    fn particles(&self) -> u64 {
        self.counts.iter().map(|n| u64::from(*n)).sum()
    }

    /// Returns the number of particles whose masses are in a block of their own.
    fn with_own_mass(&self) -> u64 {
        let own = self.counts.iter().zip(self.masses).filter(|(_, mass)| *mass == 0.0);
        own.map(|(n, _)| u64::from(*n)).sum()
    }
}

/// Reads the file.
fn read(path: &Path, _: &[String]) -> Result<FileState> {
    let mut records = Records::open(path)?;
    let header = Header::parse(&records.header()?, records.big_endian);
    refuse_others(path, &header)?;
    let n = header.particles();
    if n == 0 {
        return Err(Error::input(path, "the header announces no particles"));
    }
    let pos = records.block(Block::Positions, 3 * n)?;
    let vel = records.block(Block::Velocities, 3 * n)?;
    let ids = records.ids(n)?;
    let own = header.with_own_mass();
    let mut own = if own > 0 { records.block(Block::Masses, own)? } else { Vec::new() }.into_iter();
    let mut mass = Vec::with_capacity(pos.len() / 3);
    for (count, of_type) in header.counts.iter().zip(header.masses) {
        let of_one = |_| if of_type == 0.0 { own.next().unwrap_or(0.0) } else { of_type };
        mass.extend((0..*count).map(of_one));
    }
    let mut particles = Particles::new(mass, from_components(&pos), from_components(&vel));
    let [here, whole] = [header.counts, header.totals].map(|counts| counts.map(f64::from));
    let mut notes: Vec<String> =
        gadget_header::contradiction(&Counts { here: &here, whole: &whole }).into_iter().collect();
    match ids {
        Some(ids) => particles.id = ids,
        None => notes.push("the file has no ids: they were assigned from 0".into()),
    }
    notes.extend(merged(&here));
    let h = gadget_header::valid_h(header.h).map_err(|problem| Error::input(path, format!("header: {problem}")))?;
    if let Some(h) = h {
        notes.push(gadget_header::without_h(h));
        particles.mass.iter_mut().for_each(|m| *m /= h);
        particles.pos.iter_mut().for_each(|x| *x /= h);
    }
    if header.box_size > 0.0 {
        notes.push(gadget_header::box_note(header.box_size));
    }
    notes.push(gadget_header::NO_UNITS.into());
    let time = Some(header.time / h.unwrap_or(1.0));
    Ok(FileState { time, notes, ..FileState::new("gadget-binary", particles, Locations::Records) })
}

/// Checks that the file is a whole snapshot, and not a cosmological one.
fn refuse_others(path: &Path, header: &Header) -> Result<()> {
    let wrong = |problem: String, help: &str| Err(Error::input(path, format!("header: {problem}")).with_help(help));
    if header.redshift.abs() > 1e-9 {
        let problem = format!(
            "expected a system in physical coordinates, but its redshift is {} (and its time {}): they are comoving",
            header.redshift, header.time
        );
        return wrong(problem, gadget_header::PHYSICAL);
    }
    if header.files > 1 {
        let problem = format!(
            "this is one of {} files of a snapshot, with {} of {} particles{}",
            header.files,
            header.particles(),
            header.totals.iter().map(|n| u64::from(*n)).sum::<u64>(),
            gadget_header::siblings(path, header.files)
        );
        return wrong(problem, "join them into one file first");
    }
    Ok(())
}
