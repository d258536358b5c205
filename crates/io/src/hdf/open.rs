//! The one place where HDF5 files are opened and created: with HDF5's own file locks off.
//!
//! HDF5 locks every file that it opens (`flock`), for programs that change a file in place while others read it. Files of tisane are
//! written under a temporary name and renamed when they are whole, and two processes are kept out of one directory by
//! [`lock`](crate::lock): the locks of HDF5 would protect nothing. They would do harm instead: a file system may refuse them
//! (Lustre, NFS), and a child process inherits them with the file descriptor, so that a file stays locked after it was closed.
//!
//! The environment variable `HDF5_USE_FILE_LOCKING` takes precedence over what a program asks for. Where it is set to `TRUE` the
//! locks are back; errors then say so.

use hdf5::File;
use hdf5::file::{FileBuilder, LibraryVersion::V110};
use std::path::Path;
use tisane::error::{Error, Result};

/// No memory for chunks, in bytes and in slots: each goes to the file as it is written, whole. What HDF5 held back would be written
/// as the dataset is closed; where that fails, the dataset stays half closed, and HDF5 2.2 crashes as it closes the file.
const NO_CACHE: (usize, usize) = (0, 0);
/// Part of the message of HDF5 where a lock is held by another process or refused by the file system.
const CANNOT_LOCK: &str = "unable to lock file";
/// Advice for that case.
const HELP: &str = "HDF5_USE_FILE_LOCKING in the environment asks HDF5 for file locks, which tisane does not need: unset it, or set \
                    it to FALSE";

/// Returns options to open a file by, with file locks off.
fn without_locks() -> FileBuilder {
    let mut options = File::with_options();
    options.with_fapl(|access| access.file_locking(false));
    options
}

/// Opens an existing file for reading.
///
/// # Errors
/// [`Error::Input`] with what HDF5 says.
pub(super) fn open(path: &Path) -> Result<File> {
    without_locks().open(path).map_err(|e| {
        let message = e.to_string();
        match refused_lock(&message) {
            Some(problem) => Error::input(path, problem).with_help(HELP),
            None => Error::input(path, format!("cut off, damaged or not HDF5: {message}")),
        }
    })
}

/// Creates a file in the format of HDF5 1.10, which the h5py, yt and pynbody of today's distributions read. It holds no times of
/// objects: the same state gives the same bytes.
///
/// # Errors
/// What HDF5 says, for [`storage_error`].
pub(super) fn create(path: &Path) -> hdf5::Result<File> {
    without_locks()
        .with_fapl(|access| access.libver_bounds(V110, V110).chunk_cache(NO_CACHE.0, NO_CACHE.1, 1.0))
        .with_fcpl(|creation| creation.obj_track_times(false))
        .create(path)
}

/// Returns the error for a file that HDF5 could not write, in the words of the system where HDF5 quotes them.
pub(super) fn storage_error(path: &Path, error: &hdf5::Error) -> Error {
    let message = error.to_string();
    match refused_lock(&message) {
        Some(problem) => Error::Storage { path: path.to_owned(), problem, help: Some(HELP) },
        None => Error::storage(path, quoted(&message)),
    }
}

/// Returns what is wrong if HDF5 could not lock a file.
fn refused_lock(message: &str) -> Option<String> {
    message.contains(CANNOT_LOCK).then(|| format!("HDF5 cannot lock it: {}", quoted(message)))
}

/// Returns what the system said, where HDF5's message quotes it (`… error message = 'No space left on device', …`), else all of it.
fn quoted(message: &str) -> &str {
    let system = message.split_once("error message = '").and_then(|(_, rest)| rest.split_once('\''));
    system.map_or(message, |(said, _)| said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_system_are_told() {
        let full = "H5Acreate2(): file write failed: errno = 28, error message = 'No space left on device', buf = 0x55";
        assert_eq!(quoted(full), "No space left on device");
        assert_eq!(quoted("something else"), "something else");
    }

    #[test]
    fn a_lock_held_by_another_open_file_stands_in_the_way_of_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("locked.hdf5");
        std::fs::write(&path, "").unwrap();
        let held = std::fs::File::open(&path).unwrap();
        held.lock().unwrap();
        // What HDF5 does of itself, so that this test shows something.
        if std::env::var_os("HDF5_USE_FILE_LOCKING").is_none() {
            let refused = File::create(&path).unwrap_err();
            assert!(refused_lock(&refused.to_string()).is_some(), "{refused}");
        }
        create(&path).unwrap().create_group("a").unwrap();
        open(&path).unwrap().group("a").unwrap();
        drop(held);
    }
}
