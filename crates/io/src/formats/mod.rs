//! File formats of particles: one module and one entry in [`FORMATS`] each.
//!
//! Readers do not trust a file: allocations are bounded by its length, and every error is an [`Error::Input`] with the
//! place, the expected and the found value.

mod amuse;
mod amuse_units;
mod column_names;
mod columns;
mod csv;
mod datasets;
mod ecsv;
mod format;
mod gadget;
mod gadget_binary;
mod gadget_header;
mod gadget_records;
mod gzip;
mod kinds;
mod layouts;
mod mcluster;
mod native;
mod nbody6;
mod nemo;
mod nemo_items;
mod petar;
mod petar_snapshot;
mod physical;
pub(crate) mod sniff;
mod state;
mod text;
mod time_table;
mod tipsy;
mod unit_text;
mod validate;

pub(crate) use amuse::elements as amuse_elements;
pub use datasets::{Datasets, DatasetsError, VectorDatasets};
pub(crate) use ecsv::Header as EcsvHeader;
pub use format::{Format, WritableUnits, Writer};
pub(crate) use gzip::{is_packed, unpacked};
pub(crate) use sniff::FileProbe;
pub use sniff::Guess;
pub use state::{FileState, SofteningRange};
pub use time_table::read_time_table;
pub(crate) use unit_text::{ANGLE, LENGTH, MASS, TIME, TextUnit};
pub use validate::validate;

use datasets::WITHOUT_DATASETS;
use std::path::Path;
use tisane::{Error, Result};

/// All formats. Detection takes the first match, so that specific formats come before general ones.
pub const FORMATS: &[Format] = &[
    amuse::FORMAT,
    gadget::FORMAT,
    native::FORMAT,
    nemo::FORMAT,
    gadget_binary::FORMAT,
    tipsy::FORMAT,
    csv::FORMAT,
    mcluster::FORMAT,
    petar_snapshot::FORMAT,
    nbody6::FORMAT,
    petar::FORMAT,
];

/// Formats of text whose layout is checked before they are read.
const TEXT_FORMATS: [&str; 3] = ["csv", "nbody6", "petar"];

/// Reads a file of particles and checks it with [`validate()`]. `format` is a name of [`FORMATS`]; [`None`] detects
/// it from the content.
///
/// # Errors
/// [`Error::Input`] if the file is missing, not a regular file, empty, damaged, in no known format or in another than
/// the given one, or if it holds unphysical values.
pub fn read(path: &Path, format: Option<&str>) -> Result<FileState> {
    read_with_columns(path, format, &[])
}

/// Reads a file of particles as [`read`] does, with further columns of these names where the file has them.
///
/// # Errors
/// As [`read`].
pub fn read_with_columns(path: &Path, format: Option<&str>, columns: &[String]) -> Result<FileState> {
    let named = format.map(|name| by_name(path, name)).transpose()?;
    if is_packed(path) {
        let state = unpacked(path, |content| read_plain(content, named, columns))?;
        return Ok(FileState { guess: format!("packed by gzip; {}", state.guess), ..state });
    }
    read_plain(path, named, columns)
}

/// Reads a file that is not packed.
fn read_plain(path: &Path, named: Option<&'static Format>, columns: &[String]) -> Result<FileState> {
    let probe = probe(path)?;
    let (chosen, guess) = match (named, guesses(&probe)) {
        (Some(named), found) => match found.first() {
            // The content excludes the given format and identifies another one.
            Some((other, Guess { sure: true, .. })) if (named.detect)(&probe).is_none() => {
                return Err(mismatch(path, named, other));
            }
            // No other format is certain: the reader of the given one reports the precise problem.
            _ => (named, "as named".to_owned()),
        },
        (None, found) => best_guess(&found).ok_or_else(|| unknown(path, &probe))?,
    };
    if TEXT_FORMATS.contains(&chosen.name)
        && let Some(error) = unreadable(path, &probe)
    {
        return Err(error);
    }
    drop(probe);
    let state = FileState { guess, ..(chosen.read)(path, columns).map_err(with_formats)? };
    validate(path, &state)?;
    Ok(state)
}

/// Returns the formats that match the content of a file, the most likely first, with the reasons.
///
/// # Errors
/// [`Error::Input`] if the file is missing, not a regular file, unreadable or empty.
pub fn detect(path: &Path) -> Result<Vec<(&'static Format, Guess)>> {
    Ok(guesses(&probe(path)?))
}

/// Returns the one certain format, or all possible formats.
fn guesses(probe: &FileProbe) -> Vec<(&'static Format, Guess)> {
    let all = FORMATS.iter().filter_map(|format| Some((format, (format.detect)(probe)?)));
    let all: Vec<_> = all.collect();
    let sure = all.iter().position(|(_, guess)| guess.sure);
    sure.map_or_else(|| all.clone(), |at| vec![all[at].clone()])
}

/// Returns the most likely format, with a description of the reason and of the alternatives.
fn best_guess(found: &[(&'static Format, Guess)]) -> Option<(&'static Format, String)> {
    let ((format, guess), others) = found.split_first()?;
    let others: Vec<_> = others.iter().map(|(other, guess)| format!("{} ({})", other.name, guess.why)).collect();
    let text = if others.is_empty() {
        format!("from the content: {}", guess.why)
    } else {
        let (name, others) = (format.name, others.join(" or "));
        format!(
            "from the content: {}; could also be {others}: {name} was assumed, name the format to choose another",
            guess.why
        )
    };
    Some((format, text))
}

/// Writes a state to a file atomically, in the format called `format`. Returns descriptions of the information that was
/// lost.
///
/// # Errors
/// [`Error::Input`] if there is no such format, if tisane only reads it, or if it cannot hold the state or its units;
/// [`Error::Storage`] if the file cannot be written.
pub fn write(path: &Path, format: &str, state: &FileState) -> Result<Vec<String>> {
    let format = by_name(path, format)?;
    let writer = format.writer.as_ref().ok_or_else(|| {
        let names: Vec<_> = FORMATS.iter().filter(|f| f.writer.is_some()).map(|f| f.name).collect();
        Error::input(path, format!("tisane reads {} files, but does not write them", format.name))
            .with_help(format!("tisane writes {}", names.join(", ")))
    })?;
    if state.units.is_none() && matches!(writer.units, WritableUnits::Named | WritableUnits::Only(_)) {
        let problem = format!("a {} file states its units, but the units of these particles are unknown", format.name);
        return Err(Error::input(path, problem)
            .with_help("give the units: --units mass=Msun,length=pc,velocity=km/s, or --units henon"));
    }
    let mut lost = (writer.write)(path, state)?;
    if !writer.radii && !state.particles.radius.is_empty() {
        lost.push("the particles' radii: the format has none".into());
    }
    Ok(lost)
}

/// Returns the format called `name`.
///
/// # Errors
/// [`Error::Input`] with the most similar name, if there is no such format.
pub fn by_name(path: &Path, name: &str) -> Result<&'static Format> {
    FORMATS.iter().find(|format| format.name == name).ok_or_else(|| {
        let nearest = nearest(name, FORMATS.iter().map(|format| format.name));
        let error = Error::input(path, format!("there is no file format \"{name}\""));
        error.with_help(format!("did you mean \"{nearest}\"? {}", known()))
    })
}

/// Returns the name that is meant by `word`, or else the most similar one; an empty string if there are no names.
#[must_use]
pub fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> &'a str {
    let names: Vec<&str> = names.collect();
    let like = |name: &str| strsim::jaro_winkler(word, name);
    let likest = || names.iter().copied().max_by(|a, b| like(a).total_cmp(&like(b)));
    tisane::error::nearest(word, &names).or_else(likest).unwrap_or_default()
}

/// Returns the error for a file whose content is not in the given format.
fn mismatch(path: &Path, named: &Format, found: &Format) -> Error {
    let problem = format!("expected {} ({}), found what looks like {}", named.name, named.description, found.name);
    Error::input(path, problem).with_help(format!("format = \"{}\", or leave the format out", found.name))
}

/// Returns the error for a file in no known format: a well-known kind that is not read, or a list of those that are.
fn unknown(path: &Path, probe: &FileProbe) -> Error {
    let found = unreadable(path, probe);
    found.unwrap_or_else(|| Error::input(path, "not in a format that tisane reads").with_help(known()))
}

/// Returns the error for a file of a well-known kind that is not read; [`None`] if it is of none.
pub(crate) fn unreadable(path: &Path, probe: &FileProbe) -> Option<Error> {
    kinds::unreadable(path, probe).or_else(|| layouts::unreadable(path, &probe.head))
}

/// Lists the formats, as a help text.
pub(crate) fn known() -> String {
    let names: Vec<_> = FORMATS.iter().map(|f| format!("{} ({})", f.name, f.description)).collect();
    format!("tisane reads {}", names.join("; "))
}

/// Adds the list of formats to the error for an HDF5 file without datasets.
fn with_formats(error: Error) -> Error {
    match &error {
        Error::Input { problem, .. } if problem.ends_with(WITHOUT_DATASETS) => error.with_help(known()),
        _ => error,
    }
}

/// Returns the first bytes of a file, up to 4096.
///
/// # Errors
/// [`Error::Input`] if the file is missing, not a regular file, unreadable or empty.
pub(crate) fn head(path: &Path) -> Result<Vec<u8>> {
    sniff::head(path).map_err(with_formats)
}

/// Opens a file and reads its first bytes.
///
/// # Errors
/// As [`head`].
pub(crate) fn probe(path: &Path) -> Result<FileProbe> {
    FileProbe::open(path).map_err(with_formats)
}

/// Returns the error for an HDF5 file in a layout that tisane does not recognise; [`None`] for files of tisane.
pub(crate) fn unrecognised(path: &Path, probe: &FileProbe) -> Option<Error> {
    datasets::unrecognised(path, probe).map(with_formats)
}

/// Reads particles from the named datasets of an HDF5 file, and checks them with [`validate()`]. Numbers of any type
/// are read; those of a state without units and without time.
///
/// # Errors
/// [`Error::Input`] if the file is missing, not a regular file or not HDF5, if a dataset is missing, of another shape,
/// not of numbers, or stored elsewhere, or if it holds unphysical values.
pub fn read_datasets(path: &Path, named: &Datasets) -> Result<FileState, DatasetsError> {
    datasets::read(path, named)
        .map_err(|DatasetsError { key, error }| DatasetsError { key, error: with_formats(error) })
}
