//! Opening and creation of HDF5 files, without the file locks of HDF5.
//!
//! HDF5 locks every file that it opens (`flock`), for programs that modify a file in place while others read it. tisane
//! writes files under a temporary name and renames them when they are complete, and [`lock`](crate::lock) keeps a
//! second process out of a directory, so these locks protect nothing. They do harm: a file system may refuse them
//! (Lustre, NFS), and a child process inherits them with the file descriptor, so that a file stays locked after it was
//! closed.
//!
//! The environment variable `HDF5_USE_FILE_LOCKING` takes precedence over the program. If it is set to `TRUE`, HDF5
//! locks files again, and the error messages here mention the variable.

use hdf5::File;
use hdf5::file::{FileBuilder, LibraryVersion::V110};
use std::path::Path;
use tisane::error::{Error, Result};

/// Size of the chunk cache in bytes and in slots. Without a cache each chunk is written at once. Cached chunks would be
/// written when the dataset is closed; if that fails, the dataset stays half closed, and HDF5 2.2 crashes when it
/// closes the file.
const NO_CACHE: (usize, usize) = (0, 0);
/// Part of the HDF5 error message for a lock that is held by another process or refused by the file system.
const CANNOT_LOCK: &str = "unable to lock file";
/// Help for that error.
const HELP: &str = "HDF5_USE_FILE_LOCKING in the environment asks HDF5 for file locks, which tisane does not need: \
                    unset it, or set it to FALSE";

/// Message in place of one of HDF5 that says nothing.
const NO_WORDS: &str = "HDF5 failed and does not say why: perhaps there is no memory left (ulimit -v)";

/// Returns options to open a file by, with file locks off.
fn without_locks() -> FileBuilder {
    let mut options = File::with_options();
    options.with_fapl(|access| access.file_locking(false));
    options
}

/// Opens an existing file for reading.
///
/// # Errors
/// [`Error::Input`] with the message of HDF5.
pub(super) fn open(path: &Path) -> Result<File> {
    without_locks().open(path).map_err(|e| {
        let message = e.to_string();
        match refused_lock(&message) {
            Some(problem) => Error::input(path, problem).with_help(HELP),
            None => Error::input(path, format!("truncated, damaged or not HDF5: {message}")),
        }
    })
}

/// Creates a file in the format of HDF5 1.10, which current versions of h5py, yt and pynbody read. Objects have no time
/// stamps, so that the same state gives the same bytes.
///
/// # Errors
/// The error of HDF5, for [`storage_error`].
pub(super) fn create(path: &Path) -> hdf5::Result<File> {
    without_locks()
        .with_fapl(|access| access.libver_bounds(V110, V110).chunk_cache(NO_CACHE.0, NO_CACHE.1, 1.0))
        .with_fcpl(|creation| creation.obj_track_times(false))
        .create(path)
}

/// Returns the error for a file that HDF5 could not write, with the message of the operating system if HDF5 quotes it.
pub(super) fn storage_error(path: &Path, error: &hdf5::Error) -> Error {
    let message = error.to_string();
    match refused_lock(&message) {
        Some(problem) => Error::Storage { path: path.to_owned(), problem, help: Some(HELP) },
        None => Error::storage(path, quoted(&message)),
    }
}

/// Returns the problem if HDF5 could not lock a file.
fn refused_lock(message: &str) -> Option<String> {
    message.contains(CANNOT_LOCK).then(|| format!("HDF5 cannot lock it: {}", quoted(message)))
}

/// Returns the message of the operating system if HDF5 quotes it (`… error message = 'No space left on device', …`),
/// else all of `message`.
fn quoted(message: &str) -> &str {
    let system = message.split_once("error message = '").and_then(|(_, rest)| rest.split_once('\''));
    match system {
        Some((text, _)) => text,
        // What HDF5 says where it has no memory for the description of an error.
        None if message == "unknown library error" => NO_WORDS,
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_of_the_system_is_quoted() {
        let full = "H5Acreate2(): file write failed: errno = 28, error message = 'No space left on device', buf = 0x55";
        assert_eq!(quoted(full), "No space left on device");
        assert_eq!(quoted("something else"), "something else");
        assert_eq!(quoted("unknown library error"), NO_WORDS);
    }

    #[test]
    fn a_lock_held_by_another_open_file_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("locked.hdf5");
        std::fs::write(&path, "").unwrap();
        let held = std::fs::File::open(&path).unwrap();
        held.lock().unwrap();
        // HDF5 with its locks fails here: otherwise the test would show nothing.
        if std::env::var_os("HDF5_USE_FILE_LOCKING").is_none() {
            let refused = File::create(&path).unwrap_err();
            assert!(refused_lock(&refused.to_string()).is_some(), "{refused}");
        }
        create(&path).unwrap().create_group("a").unwrap();
        open(&path).unwrap().group("a").unwrap();
        drop(held);
    }
}
