//! Files of particles that tisane reads: one file a format, one line a format in [`FORMATS`].
//!
//! A reader never trusts a file: nothing is allocated beyond what the file's own size supports, and every mistake is an
//! [`Error::Input`] that names the place, what was expected and what was found.

mod csv;
mod nbody6;
mod text;
mod tipsy;
mod tisane;
mod validate;

pub use validate::validate;

use crate::particles::{Particles, Vec3};
use crate::units::Units;
use crate::{Error, Result};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// How much of a file detection looks at, in bytes.
const HEAD: u64 = 4096;

/// A file format.
#[derive(Debug)]
pub struct Format {
    /// The name that configurations and messages use.
    pub name: &'static str,
    /// One line on what it is.
    pub description: &'static str,
    /// True if a file with these first bytes (up to 4096) and this length looks like the format, whole or damaged.
    detect: fn(head: &[u8], length: u64) -> bool,
    /// Reads a regular, non-empty file.
    read: fn(path: &Path) -> Result<FileState>,
}

/// Every format. Detection takes the first that fits, so binary formats come before text.
pub const FORMATS: &[Format] = &[
    Format { name: "tisane", description: "tisane's HDF5 snapshot", detect: tisane::detect, read: tisane::read },
    Format {
        name: "tipsy",
        description: "Tipsy binary, either byte order, 28- or 32-byte header",
        detect: tipsy::detect,
        read: tipsy::read,
    },
    Format {
        name: "csv",
        description: "comma-separated text with the header m,x,y,z,vx,vy,vz[,id]",
        detect: csv::detect,
        read: csv::read,
    },
    Format {
        name: "nbody6",
        description: "McLuster/NBODY6 dat.10: one star a line, m x y z vx vy vz",
        detect: nbody6::detect,
        read: nbody6::read,
    },
];

/// What a file holds, in the file's own units.
#[derive(Clone, Debug, PartialEq)]
pub struct FileState {
    /// The particles: `mass`, `pos`, `vel`, `id` are set (ids 0 … N−1 in file order where the file has none).
    pub particles: Particles,
    /// The time of the state, where the format has one; in the unit of time that its units name.
    pub time: Option<f64>,
    /// Name of the format, as in [`FORMATS`].
    pub format: &'static str,
    /// Smallest and largest softening length, where the format has one for each particle.
    pub softening: Option<[f64; 2]>,
    /// The units, where the file names them.
    pub units: Option<Units>,
    /// Where each particle stands in the file, for messages.
    places: Places,
}

/// How to name a particle's place in its file.
#[derive(Clone, Debug, PartialEq)]
enum Places {
    /// Text: the line of each particle, from 1.
    Lines(Vec<u64>),
    /// Binary records: the particle's number, from 0.
    Records,
}

impl FileState {
    /// The place of particle `i`, to start a message with.
    fn place(&self, i: usize) -> String {
        match &self.places {
            Places::Lines(lines) => format!("line {}", lines[i]),
            Places::Records => format!("particle {i} (from 0)"),
        }
    }
}

/// Columns under construction.
#[derive(Default)]
struct Columns {
    mass: Vec<f64>,
    pos: Vec<Vec3>,
    vel: Vec<Vec3>,
}

impl Columns {
    /// Adds a particle written as m, x, y, z, vx, vy, vz.
    fn push(&mut self, [m, x, y, z, vx, vy, vz]: [f64; 7]) {
        self.mass.push(m);
        self.pos.push([x, y, z]);
        self.vel.push([vx, vy, vz]);
    }

    /// The particles, with ids by order.
    fn finish(self) -> Particles {
        Particles::new(self.mass, self.pos, self.vel)
    }
}

/// Reads a file of particles and checks it with [`validate`]. `format` is a name of [`FORMATS`]; without one it is told by
/// the content.
///
/// # Errors
/// [`Error::Input`]: the file is missing, not a regular file, empty, of no known format or of another than the one named,
/// damaged, or holds values that are not physical.
pub fn read(path: &Path, format: Option<&str>) -> Result<FileState> {
    let named = format.map(|name| by_name(path, name)).transpose()?;
    let looks_like = detect(path)?;
    let chosen = match (named, looks_like) {
        (Some(named), Some(other)) if named.name != other.name => return Err(mismatch(path, named, other)),
        // A named format that nothing else claims: its own reader tells best what is wrong.
        (Some(named), _) => named,
        (None, Some(found)) => found,
        (None, None) => return Err(unknown(path)),
    };
    let state = (chosen.read)(path)?;
    validate(path, &state)?;
    Ok(state)
}

/// The format that a file's content looks like, or [`None`].
///
/// # Errors
/// [`Error::Input`]: the file is missing, not a regular file, unreadable or empty.
pub fn detect(path: &Path) -> Result<Option<&'static Format>> {
    let (head, length) = head(path)?;
    Ok(FORMATS.iter().find(|format| (format.detect)(&head, length)))
}

/// The first bytes of a file (up to 4096) and its length.
///
/// # Errors
/// [`Error::Input`]: the file is missing, not a regular file, unreadable or empty.
pub(super) fn head(path: &Path) -> Result<(Vec<u8>, u64)> {
    let failed = |e: std::io::Error| Error::input(path, e);
    let about = std::fs::metadata(path).map_err(|e| {
        let missing = e.kind() == std::io::ErrorKind::NotFound;
        let error = Error::input(path, if missing { "there is no such file".to_owned() } else { e.to_string() });
        if missing {
            error.with_help("in a configuration, a relative path is taken from the folder of that file")
        } else {
            error
        }
    })?;
    if !about.is_file() {
        let kind = if about.is_dir() { "a directory" } else { "not a regular file" };
        return Err(Error::input(path, format!("expected a file of particles, found {kind}")));
    }
    if about.len() == 0 {
        return Err(Error::input(path, "the file is empty").with_help(known()));
    }
    let mut head = Vec::new();
    File::open(path).map_err(failed)?.take(HEAD).read_to_end(&mut head).map_err(failed)?;
    Ok((head, about.len()))
}

/// The format of a name.
fn by_name(path: &Path, name: &str) -> Result<&'static Format> {
    FORMATS.iter().find(|format| format.name == name).ok_or_else(|| {
        let nearest = nearest(name, FORMATS.iter().map(|format| format.name));
        let error = Error::input(path, format!("there is no file format \"{name}\""));
        error.with_help(format!("did you mean \"{nearest}\"? {}", known()))
    })
}

/// The name most like `word`; `names` is never empty.
fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> &'a str {
    let like = |name: &str| strsim::jaro_winkler(word, name);
    names.max_by(|a, b| like(a).total_cmp(&like(b))).unwrap_or_default()
}

/// The named format and the content disagree.
fn mismatch(path: &Path, named: &Format, found: &Format) -> Error {
    let problem = format!("expected {} ({}), found what looks like {}", named.name, named.description, found.name);
    Error::input(path, problem).with_help(format!("format = \"{}\", or leave the format out", found.name))
}

/// No format fits.
fn unknown(path: &Path) -> Error {
    Error::input(path, "this is none of the formats that tisane reads").with_help(known())
}

/// The formats, as one line of advice.
pub(super) fn known() -> String {
    let names: Vec<_> = FORMATS.iter().map(|f| format!("{} ({})", f.name, f.description)).collect();
    format!("tisane reads {}", names.join("; "))
}
