//! McLuster's and NBODY6's `dat.10` (Küpper et al. 2011, MNRAS 417, 2300): one star a line, seven columns separated by
//! blanks: m x y z vx vy vz. Blank lines and lines that start with `#` are passed over.

use super::text::{Lines, first_content_line, number, number_at};
use super::{Columns, FileState, Places};
use crate::{Error, Result};
use std::path::Path;

const COLUMNS: [&str; 7] = ["m", "x", "y", "z", "vx", "vy", "vz"];

/// Text whose first content line starts with a number and has no comma.
pub(super) fn detect(head: &[u8], _length: u64) -> bool {
    first_content_line(head).is_some_and(|line| {
        !line.contains(',') && line.split_whitespace().next().is_some_and(|word| number(word).is_some())
    })
}

/// Reads the file.
pub(super) fn read(path: &Path) -> Result<FileState> {
    let (mut columns, mut places) = (Columns::default(), Vec::new());
    let mut lines = Lines::open(path)?;
    while let Some((line, text)) = lines.next()? {
        columns.push(star(path, line, text)?);
        places.push(line);
    }
    let (particles, places) = (columns.finish(), Places::Lines(places));
    Ok(FileState { particles, time: None, format: "nbody6", softening: None, units: None, places })
}

/// The star of a line.
fn star(path: &Path, line: u64, text: &str) -> Result<[f64; 7]> {
    let found = text.split_whitespace().count();
    if found != COLUMNS.len() {
        let problem = format!("line {line}: expected 7 columns ({}), found {found}", COLUMNS.join(" "));
        return Err(Error::input(path, problem).with_help("a file with a header line and commas is read as csv"));
    }
    let mut star = [0.0; 7];
    for ((value, name), word) in star.iter_mut().zip(COLUMNS).zip(text.split_whitespace()) {
        *value = number_at(path, line, name, word)?;
    }
    Ok(star)
}
