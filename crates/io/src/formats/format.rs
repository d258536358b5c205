//! What a file format is: its names, its reader and its writer.

use super::sniff::{FileProbe, Guess};
use super::state::FileState;
use std::path::Path;
use tisane::Result;
use tisane::units::Units;

/// File format of particles.
#[derive(Debug)]
pub struct Format {
    /// Name in configurations, options and messages.
    pub name: &'static str,
    /// Description in one line, for messages.
    pub description: &'static str,
    /// Description as a sentence, for the schema of the configuration.
    pub schema_text: &'static str,
    /// Position, from 1, in the list of formats of the schema.
    pub schema_order: u8,
    /// Recognises a file of the format, also a damaged one. Returns the reason, or [`None`] for other files.
    pub(super) detect: fn(&FileProbe) -> Option<Guess>,
    /// Reads a regular, non-empty file.
    /// Columns of the given names are read too, where the format can have them.
    pub(super) read: fn(&Path, &[String]) -> Result<FileState>,
    /// Writer, if tisane writes the format.
    pub writer: Option<Writer>,
}

/// Writer of a format.
#[derive(Debug)]
pub struct Writer {
    /// Units in which the file can be written.
    pub units: WritableUnits,
    /// True if the file holds radii.
    pub radii: bool,
    /// Description in one line of the information (mass, position, velocity, id, time, units) that the format drops or
    /// rounds.
    pub loses: &'static str,
    /// Writes a file atomically and describes the information of this state that was lost.
    pub(super) write: fn(&Path, &FileState) -> Result<Vec<String>>,
}

/// Units in which a format can be written.
#[derive(Clone, Copy, Debug)]
pub enum WritableUnits {
    /// Any units; the file does not state them.
    Unnamed,
    /// Any known units; the file states them.
    Named,
    /// The given units, or N-body units.
    Only(fn() -> Units),
}
