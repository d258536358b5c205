//! Helpers of the text formats.

use crate::number::{number, vanishes};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use tisane::{Error, Result};

/// Maximum length of a line in bytes, far above that of eight numbers. Longer lines are an error, so that memory is
/// bounded.
const LONGEST_LINE: u64 = 4096;

/// Content lines of a file with their line numbers. Blank lines and lines that start with `#` are skipped; surrounding
/// blanks and a byte-order mark are removed.
pub(super) struct Lines<'a> {
    path: &'a Path,
    file: BufReader<File>,
    bytes: Vec<u8>,
    line: u64,
}

impl<'a> Lines<'a> {
    /// Opens a file.
    pub(super) fn open(path: &'a Path) -> Result<Self> {
        let file = File::open(path).map_err(|e| Error::input(path, e))?;
        Ok(Self { path, file: BufReader::new(file), bytes: Vec::new(), line: 0 })
    }

    /// Returns the next content line and its number from 1; [`None`] at the end.
    pub(super) fn next(&mut self) -> Result<Option<(u64, &str)>> {
        loop {
            self.bytes.clear();
            let line = self.file.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut self.bytes);
            let length = line.map_err(|e| Error::input(self.path, e))?;
            if length == 0 {
                return Ok(None);
            }
            self.line += 1;
            if length as u64 == LONGEST_LINE {
                return Err(self.wrong(format!("a line of numbers, found more than {LONGEST_LINE} bytes")));
            }
            let content = self.bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&self.bytes).trim_ascii();
            if !(content.is_empty() || content.starts_with(b"#")) {
                break;
            }
        }
        let text = std::str::from_utf8(&self.bytes);
        let text = text.map_err(|_| self.wrong("numbers, found bytes that are not UTF-8 text".to_owned()))?;
        Ok(Some((self.line, text.trim_start_matches('\u{feff}').trim())))
    }

    /// Returns an error about the present line.
    fn wrong(&self, expected: String) -> Error {
        Error::input(self.path, format!("line {}: expected {expected}", self.line))
    }
}

/// Returns the first content line (not blank, not a `#` comment) in the first bytes of a file; [`None`] if the bytes
/// are not text. Accepts bytes above 127: readers report text that is not UTF-8 with its line.
pub(super) fn first_content_line(head: &[u8]) -> Option<String> {
    let is_text = head.iter().all(|&b| b >= 0x20 && b != 0x7f || matches!(b, b'\t' | b'\n' | b'\r'));
    let text = String::from_utf8_lossy(if is_text { head } else { b"" });
    let text = text.trim_start_matches('\u{feff}');
    text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned)
}

/// Parses a number in the given line and column.
///
/// # Errors
/// [`Error::Input`] with the line, the column and the text found, also for a number that would be rounded to 0.
pub(super) fn number_at(path: &Path, line: u64, column: &str, word: &str) -> Result<f64> {
    let place = || format!("line {line}, column {column}");
    match number(word) {
        Some(0.0) if vanishes(word) => {
            let problem = format!("{}: {} is too small for an 8-byte float: it would be 0", place(), shown(word));
            Err(Error::input(path, problem).with_help("write 0 if it is meant, or choose other units"))
        }
        Some(value) => Ok(value),
        None => {
            let error = Error::input(path, format!("{}: expected a number, found {}", place(), shown(word)));
            let stars = word.len() > 1 && word.bytes().all(|byte| byte == b'*');
            Err(if stars { error.with_help("Fortran writes stars for a number too long for its field") } else { error })
        }
    }
}

/// Quotes a piece of a file for a message: escaped, at most 40 characters.
pub(super) fn shown(word: &str) -> String {
    const LONGEST: usize = 40;
    let short: String = word.chars().take(LONGEST).collect();
    if short.len() < word.len() { format!("{short:?}…") } else { format!("{short:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_content_line_skips_comments_and_refuses_binary() {
        assert_eq!(first_content_line(b"\xef\xbb\xbf# c\r\n\n m,x \nrest").as_deref(), Some("m,x"));
        assert_eq!(first_content_line(b"1 2 3\0"), None);
        assert_eq!(first_content_line(b"# only"), None);
    }
}
