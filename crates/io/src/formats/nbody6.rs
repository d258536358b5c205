//! McLuster's and NBODY6's `dat.10` (Küpper et al. 2011, MNRAS 417, 2300): one star a line, seven columns separated by
//! blanks: m x y z vx vy vz. Blank lines and lines that start with `#` are passed over.

use super::columns;
use super::look::{Guess, Look};
use super::state::FileState;
use std::path::Path;
use tisane::Result;

/// Text whose first content line starts with a number and has no comma.
pub(super) fn detect(look: &Look) -> Option<Guess> {
    columns::looks_like(&look.head).then(|| Guess::unsure("columns of numbers without a header"))?
}

/// Reads the file.
pub(super) fn read(path: &Path) -> Result<FileState> {
    Ok(columns::read(path, "nbody6", false)?.0)
}

/// Writes a file.
pub(super) fn write(path: &Path, state: &FileState) -> Result<Vec<String>> {
    columns::write_seven(path, state)
}
