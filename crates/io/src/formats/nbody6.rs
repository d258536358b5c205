//! McLuster's and NBODY6's `dat.10` (Küpper et al. 2011, MNRAS 417, 2300): one star a line, seven columns separated by
//! blanks: m x y z vx vy vz. Blank lines and lines that start with `#` are skipped.

use super::columns;
use super::format::{Format, WritableUnits, Writer};
use super::sniff::{FileProbe, Guess};
use super::state::FileState;
use std::path::Path;
use tisane::Result;

/// Entry of the format in [`super::FORMATS`].
pub(super) const FORMAT: Format = Format {
    name: "nbody6",
    description: "McLuster/NBODY6 dat.10: one star a line, m x y z vx vy vz",
    schema_text: "Text with 7 columns as McLuster writes it for NBODY6.",
    schema_order: 3,
    detect,
    read,
    writer: Some(Writer { units: WritableUnits::Unnamed, radii: false, loses: "ids, time, units", write }),
};

/// Recognises text whose first content line starts with a number and has no comma.
fn detect(probe: &FileProbe) -> Option<Guess> {
    columns::looks_like(&probe.head).then(|| Guess::unsure("columns of numbers without a header"))?
}

/// Reads the file.
fn read(path: &Path, _: &[String]) -> Result<FileState> {
    Ok(columns::read(path, "nbody6", false)?.0)
}

/// Writes a file.
fn write(path: &Path, state: &FileState) -> Result<Vec<String>> {
    columns::write_seven(path, state)
}
