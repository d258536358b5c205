//! What the text formats share.

use crate::{Error, Result};
use std::path::Path;

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
