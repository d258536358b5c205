//! McLuster's and NBODY6's `dat.10` (Küpper et al. 2011, MNRAS 417, 2300): one star a line, seven columns separated by
//! blanks: m x y z vx vy vz. Blank lines and lines that start with `#` are passed over.

use super::text::{first_content_line, number, number_at};
use super::{Columns, FileState, Places};
use crate::{Error, Result};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

const COLUMNS: [&str; 7] = ["m", "x", "y", "z", "vx", "vy", "vz"];
/// No line of seven numbers comes near this length in bytes.
const LONGEST_LINE: u64 = 4096;

/// Text whose first content line starts with a number and has no comma.
pub(super) fn detect(head: &[u8], _length: u64) -> bool {
    first_content_line(head).is_some_and(|line| {
        !line.contains(',') && line.split_whitespace().next().is_some_and(|word| number(word).is_some())
    })
}

/// Reads the file.
pub(super) fn read(path: &Path) -> Result<FileState> {
    let failed = |e: std::io::Error| Error::input(path, e);
    let mut file = BufReader::new(File::open(path).map_err(failed)?);
    let (mut columns, mut lines) = (Columns::default(), Vec::new());
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        let length = file.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut bytes).map_err(failed)?;
        if length == 0 {
            break;
        }
        if length as u64 == LONGEST_LINE {
            return Err(Error::input(
                path,
                format!("line {line}: longer than {LONGEST_LINE} bytes: expected 7 numbers"),
            ));
        }
        let text = std::str::from_utf8(&bytes).map_err(|_| {
            Error::input(path, format!("line {line}: expected 7 numbers, found bytes that are not UTF-8 text"))
        })?;
        if let Some(star) = star(path, line, text)? {
            columns.push(star);
            lines.push(line);
        }
    }
    let particles = columns.finish();
    Ok(FileState {
        particles,
        time: None,
        format: "nbody6",
        softening: None,
        units: None,
        places: Places::Lines(lines),
    })
}

/// The star of a line; [`None`] for a blank line or a comment.
fn star(path: &Path, line: u64, text: &str) -> Result<Option<[f64; 7]>> {
    let text = text.trim();
    if text.is_empty() || text.starts_with('#') {
        return Ok(None);
    }
    let found = text.split_whitespace().count();
    if found != COLUMNS.len() {
        let problem = format!("line {line}: expected 7 columns ({}), found {found}", COLUMNS.join(" "));
        return Err(Error::input(path, problem).with_help("a file with a header line and commas is read as csv"));
    }
    let mut star = [0.0; 7];
    for ((value, name), word) in star.iter_mut().zip(COLUMNS).zip(text.split_whitespace()) {
        *value = number_at(path, line, name, word)?;
    }
    Ok(Some(star))
}
