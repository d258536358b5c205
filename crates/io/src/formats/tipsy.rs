//! Tipsy binary files (Katz & Quinn, TIPSY; the same layout in PKDGRAV, Gasoline and Bonsai): a header, then gas, dark
//! and star records of 4-byte floats, in some programs of 8-byte ones. All become point masses here. Either byte order;
//! the header is 28 bytes, or 32 where a C compiler padded it to 8. The header and a record are read in fewer lines than
//! binrw takes to declare them.

use super::columns::{Columns, lost_ids, row};
use super::format::{Format, WritableUnits, Writer};
use super::sniff::{FileProbe, Guess};
use super::state::{FileState, Locations, SofteningRange};
use crate::atomic::write_atomically;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;
use tisane::{Error, Result};

/// Entry of the format in [`super::FORMATS`].
pub(super) const FORMAT: Format = Format {
    name: "tipsy",
    description: "Tipsy binary, either byte order, 28- or 32-byte header",
    schema_text: "Tipsy binary, either byte order.",
    schema_order: 6,
    detect,
    read,
    writer: Some(Writer {
        units: WritableUnits::Unnamed,
        radii: false,
        loses: "half the digits (4-byte floats), ids, units",
        write,
    }),
};

/// Kinds of records in file order: name, number of floats, index of the softening length. A record starts with
/// m, x, y, z, vx, vy, vz.
const KINDS: [(&str, usize, usize); 3] = [("gas", 12, 9), ("dark", 9, 7), ("star", 11, 9)];
/// Size of the header in bytes, without padding.
const HEADER: usize = 28;
/// Sizes of the floats of a file in bytes.
const WIDTHS: [usize; 2] = [4, 8];
/// Size of the longest record in bytes.
const LONGEST_RECORD: usize = 12 * 8;

/// Header: double time; int nbodies, ndim, nsph, ndark, nstar.
struct TipsyHeader {
    big_endian: bool,
    time: f64,
    total: u32,
    counts: [u32; 3],
}

impl TipsyHeader {
    /// Parses the header in the byte order in which it is consistent: three dimensions, and counts that add up to the
    /// total.
    fn parse(head: &[u8]) -> Option<Self> {
        let head: &[u8; HEADER] = head.first_chunk()?;
        [false, true].into_iter().map(|big_endian| Self::in_order(head, big_endian)).find_map(|(header, dimensions)| {
            (dimensions == 3 && header.sum() == u64::from(header.total)).then_some(header)
        })
    }

    /// Describes what is wrong with the header of a file whose length is that of the particles in it, in one of the byte
    /// orders; [`None`] if there is no such header.
    fn almost(head: &[u8], length: u64) -> Option<String> {
        let head: &[u8; HEADER] = head.first_chunk()?;
        let orders = [false, true].into_iter().map(|big_endian| Self::in_order(head, big_endian));
        let fits = |(header, dimensions): &(Self, u32)| {
            let plausible = *dimensions == 3 || header.sum() == u64::from(header.total);
            plausible && header.sum() > 0 && header.layout(length).is_some()
        };
        let (header, dimensions) = orders.into_iter().find(fits)?;
        let [gas, dark, star] = header.counts;
        Some(if dimensions == 3 {
            format!(
                "the header has {} particles in all, but {gas} gas + {dark} dark + {star} star = {}, and \
                     {length} bytes are those of {1}",
                header.total,
                header.sum()
            )
        } else {
            format!("the header has {dimensions} dimensions: expected 3")
        })
    }

    /// Returns the number of particles of all kinds.
    fn sum(&self) -> u64 {
        self.counts.iter().map(|&n| u64::from(n)).sum()
    }

    /// Returns the size of a float, and that of the padding of the header, in a file of this length, which must fit the
    /// header exactly.
    fn layout(&self, length: u64) -> Option<(usize, u64)> {
        WIDTHS.into_iter().find_map(|width| {
            let padding = length.checked_sub(HEADER as u64 + self.body(width))?;
            (padding == 0 || padding == 4).then_some((width, padding))
        })
    }

    /// Parses the header in the given byte order. Returns it with its number of dimensions.
    fn in_order(head: &[u8; HEADER], big_endian: bool) -> (Self, u32) {
        let word = |at: usize| [head[at], head[at + 1], head[at + 2], head[at + 3]];
        let int = |at: usize| if big_endian { u32::from_be_bytes(word(at)) } else { u32::from_le_bytes(word(at)) };
        let (first, second) = (u64::from(int(0)), u64::from(int(4)));
        let time = f64::from_bits(if big_endian { first << 32 | second } else { second << 32 | first });
        (Self { big_endian, time, total: int(8), counts: [int(16), int(20), int(24)] }, int(12))
    }

    /// Returns the size of all records, of floats of `width` bytes: below 2³² · 3 · 96, without overflow.
    fn body(&self, width: usize) -> u64 {
        self.counts.iter().zip(KINDS).map(|(&n, (_, floats, _))| u64::from(n) * (floats * width) as u64).sum()
    }
}

/// Recognises a header in either byte order that is consistent, or fits the length of the file.
fn detect(probe: &FileProbe) -> Option<Guess> {
    let Some(header) = TipsyHeader::parse(&probe.head) else {
        let problem = TipsyHeader::almost(&probe.head, probe.length)?;
        return Guess::sure(format!("the length of a Tipsy file, though {problem}"));
    };
    let order = if header.big_endian { "big" } else { "little" };
    Guess::sure(format!("a Tipsy header in {order}-endian order: 3 dimensions, counts that add up"))
}

/// Reads the file.
fn read(path: &Path, _: &[String]) -> Result<FileState> {
    let failed = |e: std::io::Error| Error::input(path, e);
    let file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let mut file = BufReader::new(file);
    let mut head = Vec::new();
    file.by_ref().take(HEADER as u64).read_to_end(&mut head).map_err(failed)?;
    let header = TipsyHeader::parse(&head).ok_or_else(|| not_tipsy(path, &head, length))?;
    // The size of the file must match the header exactly before anything is allocated.
    let (width, padding) = header.layout(length).ok_or_else(|| wrong_size(path, &header, length))?;
    file.by_ref().take(padding).read_exact(&mut [0; 4][..padding as usize]).map_err(failed)?;
    let (columns, softening) = records(&mut file, &header, width).map_err(failed)?;
    let merged: Vec<_> = header.counts.iter().zip(KINDS).filter(|(n, _)| **n > 0).collect();
    let mut notes = Vec::new();
    if width == 8 {
        notes.push("in double precision, according to its length".into());
    }
    if merged.len() > 1 {
        let kinds: Vec<_> = merged.iter().map(|(n, (name, ..))| format!("{n} {name}")).collect();
        notes.push(format!("{} particles were merged: all become point masses", kinds.join(", ")));
    }
    let state = FileState::new("tipsy", columns.finish(), Locations::Records);
    Ok(FileState { time: Some(header.time), softening, notes, ..state })
}

/// Writes a standard Tipsy file: big-endian, the header of 32 bytes, all particles dark, softening 0.
fn write(path: &Path, state: &FileState) -> Result<Vec<String>> {
    let p = &state.particles;
    let n = u32::try_from(p.len()).map_err(|_| Error::input(path, "a Tipsy file holds fewer than 2^32 particles"))?;
    check_range(path, state)?;
    write_atomically(path, |temporary| {
        let failed = |e: std::io::Error| Error::storage(path, e);
        let mut file = BufWriter::new(File::create(temporary).map_err(failed)?);
        file.write_all(&state.time.unwrap_or(0.0).to_be_bytes()).map_err(failed)?;
        for word in [n, 3, 0, n, 0, 0] {
            file.write_all(&word.to_be_bytes()).map_err(failed)?;
        }
        for i in 0..p.len() {
            // Softening and potential follow.
            for value in row(p, i).into_iter().chain([0.0; 2]) {
                file.write_all(&(value as f32).to_be_bytes()).map_err(failed)?;
            }
        }
        file.flush().map_err(failed)
    })?;
    let values = || (0..p.len()).flat_map(|i| row(p, i));
    let error = values().filter(|x| !vanishes(*x)).map(rounding).fold(0.0, f64::max);
    let rounded = (error > 0.0).then(|| format!("digits: 4-byte floats, a relative change of up to {error:.1e}"));
    let vanished = values().filter(|x| vanishes(*x)).count();
    let gone =
        format!("{vanished} of the components of positions and velocities, too small for 4-byte floats: they became 0");
    Ok(rounded.into_iter().chain((vanished > 0).then_some(gone)).chain(lost_ids(p)).collect())
}

/// Checks that all values are in the range of 4-byte floats, and that no mass would become 0.
fn check_range(path: &Path, state: &FileState) -> Result<()> {
    let p = &state.particles;
    let refused = |i: usize, what: String, help: &str| {
        let problem = format!("particle {}: {what} the range of the 4-byte floats of Tipsy", p.id[i]);
        Err(Error::input(path, problem).with_help(help))
    };
    for i in 0..p.len() {
        if vanishes(p.mass[i]) {
            return refused(i, format!("a mass of {:e} is below", p.mass[i]), "choose smaller units: --to-units");
        }
        if let Some(value) = row(p, i).into_iter().find(|value| (*value as f32).is_infinite()) {
            return refused(i, format!("{value:e} is beyond"), "choose larger units: --to-units");
        }
    }
    Ok(())
}

/// Returns true for a nonzero number that is 0 as a 4-byte float.
fn vanishes(x: f64) -> bool {
    x != 0.0 && x as f32 == 0.0
}

/// Returns the relative rounding error of a number stored as a 4-byte float.
fn rounding(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { ((f64::from(x as f32) - x) / x).abs() }
}

/// Reads all records. Returns the columns, and the kinds of particles that have softening lengths above 0, with their
/// ranges.
fn records(
    file: &mut impl Read,
    header: &TipsyHeader,
    width: usize,
) -> std::io::Result<(Columns, Vec<SofteningRange>)> {
    let (mut columns, mut ranges) = (Columns::default(), Vec::new());
    let mut buffer = [0; LONGEST_RECORD];
    for (&count, (kind, floats, softening)) in header.counts.iter().zip(KINDS) {
        let record = &mut buffer[..floats * width];
        let mut range = [f64::INFINITY, 0.0];
        for _ in 0..count {
            file.read_exact(record)?;
            let value = |k: usize| float(&record[k * width..(k + 1) * width], header.big_endian);
            columns.push([0, 1, 2, 3, 4, 5, 6].map(value));
            range = [range[0].min(value(softening)), range[1].max(value(softening))];
        }
        if range[1] > 0.0 {
            ranges.push((kind, range));
        }
    }
    Ok((columns, ranges))
}

/// Returns a float of 4 or 8 bytes.
fn float(bytes: &[u8], big_endian: bool) -> f64 {
    match <[u8; 8]>::try_from(bytes) {
        Ok(bytes) if big_endian => f64::from_be_bytes(bytes),
        Ok(bytes) => f64::from_le_bytes(bytes),
        Err(_) => {
            let bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
            f64::from(if big_endian { f32::from_be_bytes(bytes) } else { f32::from_le_bytes(bytes) })
        }
    }
}

/// Returns the error for a file without a consistent header.
fn not_tipsy(path: &Path, head: &[u8], length: u64) -> Error {
    if let Some(problem) = TipsyHeader::almost(head, length) {
        let help = "the program that wrote it is at fault: correct the header, 5 numbers of 4 bytes from byte 8 on (all \
                    particles, dimensions, gas, dark, star)";
        return Error::input(path, format!("a Tipsy file that contradicts itself: {problem}")).with_help(help);
    }
    let expected = "a Tipsy header of 28 bytes with 3 dimensions and counts that add up, in either byte order";
    Error::input(path, format!("expected {expected}; found none in {length} bytes"))
}

/// Returns the error for a file whose size differs from that in its header.
fn wrong_size(path: &Path, header: &TipsyHeader, length: u64) -> Error {
    let counts: Vec<_> = header.counts.iter().zip(KINDS).map(|(n, (name, ..))| format!("{n} {name}")).collect();
    let [size, double] = WIDTHS.map(|width| HEADER as u64 + header.body(width));
    let problem = format!(
        "the Tipsy header announces {} ({}): expected {size} bytes (or {} with a padded header; {} in double precision), \
         found {length}",
        header.total,
        counts.join(", "),
        size + 4,
        double + 4
    );
    let cut_off = length < size + 4;
    let help =
        if cut_off { "the file is truncated: copy it again" } else { "the file continues after its last particle" };
    Error::input(path, problem).with_help(help)
}
