//! Journals of a run, such as its diagnostics: a CSV file that grows by one line a row, and an HDF5 file with the same
//! columns, their units and descriptions, rewritten from the CSV from time to time and at the end. The csv crate reads the
//! lines. They are written here: each goes to the file in one write and into a hash, and no cell needs quotes, so that its
//! writer would add a buffer and errors that cannot occur.

pub(crate) mod cells;
mod resume;
pub mod tail;
mod writer;

pub use resume::ResumableJournal;
pub use writer::{JournalPosition, JournalWriter};
