//! What detection looks at, and what it answers.

use super::known;
use crate::hdf::read::SIGNATURE;
use crate::hdf::third_party::ThirdPartyFile;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use tisane::{Error, Result};

/// How much of a file detection looks at, in bytes.
const HEAD: u64 = 4096;

/// What detection looks at.
#[derive(Debug)]
pub(crate) struct FileProbe {
    /// The first bytes of the file, up to 4096.
    pub(crate) head: Vec<u8>,
    /// The file, if it is HDF5 and opens.
    pub(super) hdf5: Option<ThirdPartyFile>,
}

impl FileProbe {
    /// Looks at a file.
    ///
    /// # Errors
    /// [`Error::Input`]: the file is missing, not a regular file, unreadable or empty.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let head = head(path)?;
        let hdf5 = if head.starts_with(SIGNATURE) { ThirdPartyFile::open(path).ok() } else { None };
        Ok(Self { head, hdf5 })
    }

    /// True if it starts as an HDF5 file does.
    pub(crate) fn is_hdf5(&self) -> bool {
        self.head.starts_with(SIGNATURE)
    }

    /// True if it is an HDF5 file that tisane wrote.
    pub(crate) fn is_from_tisane(&self) -> bool {
        let format = self.hdf5.as_ref().and_then(|file| file.root().text("format").ok().flatten());
        format.is_some_and(|format| format.starts_with("tisane "))
    }
}

/// Why a file looks like a format.
#[derive(Clone, Debug, PartialEq)]
pub struct Guess {
    /// What in the content says so.
    pub why: String,
    /// False where other formats look the same: then the user's word counts.
    pub sure: bool,
}

impl Guess {
    /// A guess that only this format explains.
    pub(super) fn sure(why: impl Into<String>) -> Option<Self> {
        Some(Self { why: why.into(), sure: true })
    }

    /// A guess that another format may explain as well.
    pub(super) fn unsure(why: impl Into<String>) -> Option<Self> {
        Some(Self { why: why.into(), sure: false })
    }
}

/// The first bytes of a file, up to 4096.
///
/// # Errors
/// [`Error::Input`]: the file is missing, not a regular file, unreadable or empty.
pub(crate) fn head(path: &Path) -> Result<Vec<u8>> {
    let failed = |e: std::io::Error| Error::input(path, e);
    let about = std::fs::metadata(path).map_err(|e| {
        let missing = e.kind() == std::io::ErrorKind::NotFound;
        let error = Error::input(path, if missing { "there is no such file".to_owned() } else { e.to_string() });
        if missing {
            error.with_help("in a configuration, a relative path is taken from the folder of that file")
        } else {
            error
        }
    })?;
    if !about.is_file() {
        let kind = if about.is_dir() { "a directory" } else { "not a regular file" };
        return Err(Error::input(path, format!("expected a file of particles, found {kind}")));
    }
    if about.len() == 0 {
        return Err(Error::input(path, "the file is empty").with_help(known()));
    }
    let mut head = Vec::new();
    File::open(path).map_err(failed)?.take(HEAD).read_to_end(&mut head).map_err(failed)?;
    Ok(head)
}
