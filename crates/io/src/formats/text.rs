//! What the text formats share.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use tisane::{Error, Result};

/// No line of eight numbers comes near this length in bytes; what does is not a table, and is not taken into memory.
const LONGEST_LINE: u64 = 4096;

/// The content lines of a file, with their numbers: blank lines and lines that start with `#` are passed over, blanks at
/// both ends and a byte-order mark are taken off.
pub(super) struct Lines<'a> {
    path: &'a Path,
    file: BufReader<File>,
    bytes: Vec<u8>,
    line: u64,
}

impl<'a> Lines<'a> {
    /// The lines of a file.
    pub(super) fn open(path: &'a Path) -> Result<Self> {
        let file = File::open(path).map_err(|e| Error::input(path, e))?;
        Ok(Self { path, file: BufReader::new(file), bytes: Vec::new(), line: 0 })
    }

    /// The next content line and its number from 1, or [`None`] at the end.
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

    fn wrong(&self, expected: String) -> Error {
        Error::input(self.path, format!("line {}: expected {expected}", self.line))
    }
}

/// The line that carries the format's first content (not blank, not a `#` comment) of a file that starts with `head`, or
/// [`None`] if the bytes are not text. Bytes above 127 pass: the readers say where text is not UTF-8.
pub(super) fn first_content_line(head: &[u8]) -> Option<String> {
    let is_text = head.iter().all(|&b| b >= 0x20 && b != 0x7f || matches!(b, b'\t' | b'\n' | b'\r'));
    let text = String::from_utf8_lossy(if is_text { head } else { b"" });
    let text = text.trim_start_matches('\u{feff}');
    text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned)
}

/// A number; Fortran's `1.5D+00` counts as one.
pub(super) fn number(word: &str) -> Option<f64> {
    word.parse().ok().or_else(|| word.replace(['d', 'D'], "e").parse().ok())
}

/// A number in a given line and column, or the error that says so.
pub(super) fn number_at(path: &Path, line: u64, column: &str, word: &str) -> Result<f64> {
    number(word).ok_or_else(|| {
        let problem = format!("line {line}, column {column}: expected a number, found {}", shown(word));
        Error::input(path, problem)
    })
}

/// A piece of a file as it may stand in a message: quoted, escaped, not endless.
pub(super) fn shown(word: &str) -> String {
    const LONGEST: usize = 40;
    let short: String = word.chars().take(LONGEST).collect();
    if short.len() < word.len() { format!("{short:?}…") } else { format!("{short:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fortran_exponents_are_numbers_and_words_are_not() {
        assert_eq!(number("1.5D+02"), Some(150.0));
        assert_eq!(number("-2d-1"), Some(-0.2));
        assert_eq!(number("1e3"), Some(1000.0));
        assert_eq!(number("dd"), None);
        assert_eq!(number(""), None);
    }

    #[test]
    fn the_first_content_line_skips_comments_and_refuses_binary() {
        assert_eq!(first_content_line(b"\xef\xbb\xbf# c\r\n\n m,x \nrest").as_deref(), Some("m,x"));
        assert_eq!(first_content_line(b"1 2 3\0"), None);
        assert_eq!(first_content_line(b"# only"), None);
    }
}
