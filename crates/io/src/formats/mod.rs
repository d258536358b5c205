//! Files of particles that tisane reads and writes: one file a format, one line a format in [`FORMATS`].
//!
//! A reader never trusts a file: nothing is allocated beyond what the file's own size supports, and every mistake is an
//! [`Error::Input`] that names the place, what was expected and what was found.

mod amuse;
mod amuse_units;
mod columns;
mod csv;
mod gadget;
mod gadget_header;
mod mcluster;
mod native;
mod nbody6;
mod nemo;
mod nemo_items;
mod petar;
mod physical;
mod sniff;
mod state;
mod text;
mod tipsy;
mod validate;

pub(crate) use amuse::elements as amuse_elements;
pub use sniff::Guess;
pub(crate) use sniff::{FileProbe, head};
pub use state::FileState;
pub use validate::validate;

use std::path::Path;
use tisane::units::Units;
use tisane::{Error, Result};

/// A file format.
#[derive(Debug)]
pub struct Format {
    /// The name that configurations and messages use.
    pub name: &'static str,
    /// One line on what it is.
    pub description: &'static str,
    /// The same in the configuration's schema, as a sentence.
    pub schema_text: &'static str,
    /// ThirdPartyGroup from 1 in the list of names that the configuration gives.
    pub schema_order: u8,
    /// Why a file looks like the format, whole or damaged; [`None`] if it does not.
    detect: fn(&FileProbe) -> Option<Guess>,
    /// Reads a regular, non-empty file.
    read: fn(&Path) -> Result<FileState>,
    /// Writes a state, if tisane writes the format.
    pub writer: Option<Writer>,
}

/// How a format is written.
#[derive(Debug)]
pub struct Writer {
    /// Which units the file can be in.
    pub units: WritableUnits,
    /// What of a particle (mass, position, velocity, id), of the time and of the units the format has no place for, and what
    /// it rounds: one line for people.
    pub loses: &'static str,
    /// Writes a file atomically and says what was lost of this very state.
    write: fn(&Path, &FileState) -> Result<Vec<String>>,
}

/// The units that a format can be written in.
#[derive(Clone, Copy, Debug)]
pub enum WritableUnits {
    /// Numbers alone: any units, and none are told.
    Unnamed,
    /// The file tells its units: any, but they must be known.
    Named,
    /// These, or Hénon units.
    Only(fn() -> Units),
}

/// Every format. Detection takes the first that fits, so that the more particular come before the more general.
pub const FORMATS: &[Format] = &[
    amuse::FORMAT,
    gadget::FORMAT,
    native::FORMAT,
    nemo::FORMAT,
    tipsy::FORMAT,
    csv::FORMAT,
    mcluster::FORMAT,
    nbody6::FORMAT,
    petar::FORMAT,
];

/// Reads a file of particles and checks it with [`validate()`]. `format` is a name of [`FORMATS`]; without one it is told by
/// the content.
///
/// # Errors
/// [`Error::Input`]: the file is missing, not a regular file, empty, of no known format or of another than the one named,
/// damaged, or holds values that are not physical.
pub fn read(path: &Path, format: Option<&str>) -> Result<FileState> {
    let named = format.map(|name| by_name(path, name)).transpose()?;
    let probe = FileProbe::open(path)?;
    let (chosen, guess) = match (named, guesses(&probe)) {
        (Some(named), found) => match found.first() {
            // Where the named format cannot be, and another surely is.
            Some((other, Guess { sure: true, .. })) if (named.detect)(&probe).is_none() => {
                return Err(mismatch(path, named, other));
            }
            // A named format that nothing else claims: its own reader tells best what is wrong.
            _ => (named, "as named".to_owned()),
        },
        (None, found) => told(&found).ok_or_else(|| unknown(path))?,
    };
    drop(probe);
    let state = FileState { guess, ..(chosen.read)(path)? };
    validate(path, &state)?;
    Ok(state)
}

/// The formats that a file's content looks like, the likeliest first, and why.
///
/// # Errors
/// [`Error::Input`]: the file is missing, not a regular file, unreadable or empty.
pub fn detect(path: &Path) -> Result<Vec<(&'static Format, Guess)>> {
    Ok(guesses(&FileProbe::open(path)?))
}

/// The formats that a file looks like: one that is sure, or all that it may be.
fn guesses(probe: &FileProbe) -> Vec<(&'static Format, Guess)> {
    let all = FORMATS.iter().filter_map(|format| Some((format, (format.detect)(probe)?)));
    let all: Vec<_> = all.collect();
    let sure = all.iter().position(|(_, guess)| guess.sure);
    sure.map_or_else(|| all.clone(), |at| vec![all[at].clone()])
}

/// The likeliest of the formats, and in words why, and what else it may be.
fn told(found: &[(&'static Format, Guess)]) -> Option<(&'static Format, String)> {
    let ((format, guess), others) = found.split_first()?;
    let others: Vec<_> = others.iter().map(|(other, guess)| format!("{} ({})", other.name, guess.why)).collect();
    let text = if others.is_empty() {
        format!("from the content: {}", guess.why)
    } else {
        let (name, others) = (format.name, others.join(" or "));
        format!(
            "from the content: {}; could also be {others}: name the format to force one, {name} was taken",
            guess.why
        )
    };
    Some((format, text))
}

/// Writes a state to a file in the format of that name, atomically, and says what was lost of it.
///
/// # Errors
/// [`Error::Input`]: no such format, one that is only read, or units that it cannot be in. [`Error::Storage`].
pub fn write(path: &Path, format: &str, state: &FileState) -> Result<Vec<String>> {
    let format = by_name(path, format)?;
    let writer = format.writer.as_ref().ok_or_else(|| {
        let names: Vec<_> = FORMATS.iter().filter(|f| f.writer.is_some()).map(|f| f.name).collect();
        Error::input(path, format!("{} is read, not written", format.name))
            .with_help(format!("tisane writes {}", names.join(", ")))
    })?;
    if state.units.is_none() && matches!(writer.units, WritableUnits::Named | WritableUnits::Only(_)) {
        let problem =
            format!("a {} file is in units that everyone can tell, and those of this state are not known", format.name);
        return Err(Error::input(path, problem)
            .with_help("say which they are: --units mass=Msun,length=pc,velocity=km/s, or --units henon"));
    }
    (writer.write)(path, state)
}

/// The format of a name.
///
/// # Errors
/// [`Error::Input`] with the nearest name.
pub fn by_name(path: &Path, name: &str) -> Result<&'static Format> {
    FORMATS.iter().find(|format| format.name == name).ok_or_else(|| {
        let nearest = nearest(name, FORMATS.iter().map(|format| format.name));
        let error = Error::input(path, format!("there is no file format \"{name}\""));
        error.with_help(format!("did you mean \"{nearest}\"? {}", known()))
    })
}

/// The name most like `word`; empty where there are no names.
#[must_use]
pub fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> &'a str {
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
