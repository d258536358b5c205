//! HDF5 files that tests make, change and look at.
//!
//! HDF5's own file locks are off, as in the program: a child process that another test starts inherits the lock with
//! the file descriptor, and the next test to open the file would fail by chance.

#![allow(dead_code, reason = "each test file uses its own part")]

use hdf5::File;
use hdf5::file::FileBuilder;
use std::path::Path;

/// Returns options to open a file by.
pub fn options() -> FileBuilder {
    let mut options = File::with_options();
    options.with_fapl(|access| access.file_locking(false));
    options
}

/// Creates a file, or empties the one that is there.
#[track_caller]
pub fn create(path: impl AsRef<Path>) -> File {
    options().create(path).unwrap()
}

/// Opens a file for reading.
#[track_caller]
pub fn open(path: impl AsRef<Path>) -> File {
    options().open(path).unwrap()
}

/// Opens a file to be changed.
#[track_caller]
pub fn change(path: impl AsRef<Path>) -> File {
    options().open_rw(path).unwrap()
}
