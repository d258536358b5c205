//! Text in the cells of HDF5 tables: of fixed length, as variable-length text crashes some readers.

use hdf5::types::FixedUnicode;

/// Longest text in a cell, in bytes.
const LONGEST: usize = 256;

/// A cell.
pub(super) type Cell = FixedUnicode<LONGEST>;

/// A text as a cell; what is too long is cut.
///
/// # Errors
/// For text with a zero byte.
pub(super) fn cell(text: &str) -> hdf5::Result<Cell> {
    let end = (0..=text.len().min(LONGEST)).rev().find(|&k| text.is_char_boundary(k)).unwrap_or(0);
    text[..end].parse::<Cell>().map_err(|e| e.to_string().into())
}
