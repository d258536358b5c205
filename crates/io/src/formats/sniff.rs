//! Detection of file formats from the first bytes of a file.

use crate::hdf::read::SIGNATURE;
use crate::hdf::third_party::ThirdPartyFile;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use tisane::{Error, Result};

/// Number of bytes at the start of a file that detection reads.
const HEAD: u64 = 4096;

/// Part of a file that detection inspects.
#[derive(Debug)]
pub(crate) struct FileProbe {
    /// First bytes of the file, up to 4096.
    pub(crate) head: Vec<u8>,
    /// Length of the file in bytes.
    pub(super) length: u64,
    /// Open file, if it is valid HDF5.
    pub(super) hdf5: Option<ThirdPartyFile>,
}

impl FileProbe {
    /// Opens a file and reads its first bytes.
    ///
    /// # Errors
    /// [`Error::Input`] if the file is missing, not a regular file, unreadable or empty.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let head = head(path)?;
        let hdf5 = if head.starts_with(SIGNATURE) { ThirdPartyFile::open(path).ok() } else { None };
        let length = std::fs::metadata(path).map_err(|e| Error::input(path, e))?.len();
        Ok(Self { head, length, hdf5 })
    }

    /// Returns true if the file starts with the signature of HDF5.
    pub(crate) fn is_hdf5(&self) -> bool {
        self.head.starts_with(SIGNATURE)
    }

    /// Returns true for an HDF5 file written by tisane.
    pub(crate) fn is_from_tisane(&self) -> bool {
        let format = self.hdf5.as_ref().and_then(|file| file.root().text("format").ok().flatten());
        format.is_some_and(|format| format.starts_with("tisane "))
    }
}

/// Match of a file with a format.
#[derive(Clone, Debug, PartialEq)]
pub struct Guess {
    /// Reason for the match.
    pub why: String,
    /// True if no other format has such content.
    pub sure: bool,
}

impl Guess {
    /// Returns a match that identifies the format.
    pub(super) fn sure(why: impl Into<String>) -> Option<Self> {
        Some(Self { why: why.into(), sure: true })
    }

    /// Returns a match that other formats may share.
    pub(super) fn unsure(why: impl Into<String>) -> Option<Self> {
        Some(Self { why: why.into(), sure: false })
    }
}

/// Returns the first bytes of a file, up to 4096.
///
/// # Errors
/// [`Error::Input`] if the file is missing, not a regular file, unreadable or empty.
pub(crate) fn head(path: &Path) -> Result<Vec<u8>> {
    let failed = |e: std::io::Error| Error::input(path, e);
    let metadata = std::fs::metadata(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => Error::input(path, "there is no such file"),
        _ => failed(e),
    })?;
    if !metadata.is_file() {
        let kind = if metadata.is_dir() { "a directory" } else { "not a regular file" };
        return Err(Error::input(path, format!("expected a file of particles, found {kind}")));
    }
    if metadata.len() == 0 {
        return Err(Error::input(path, "the file is empty"));
    }
    let mut head = Vec::new();
    File::open(path).map_err(failed)?.take(HEAD).read_to_end(&mut head).map_err(failed)?;
    Ok(head)
}
