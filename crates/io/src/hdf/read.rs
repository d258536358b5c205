//! Reading of HDF5 files written by tisane. Allocations are bounded by the length of the file.

use super::write::MAX_TEXT;
use super::{FileKind, link_guard, open};
use crate::FORMAT_VERSION;
use crate::checksum::{self, ChecksumStatus};
use crate::regular_file;
use hdf5::types::{FixedUnicode, TypeDescriptor};
use hdf5::{Attribute, Dataset, Group, H5Type, Location};
use std::io::Read;
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};

/// First bytes of every HDF5 file.
pub(crate) const SIGNATURE: &[u8; 8] = b"\x89HDF\r\n\x1a\n";

/// Open HDF5 file written by tisane.
pub(crate) struct TisaneFile {
    path: PathBuf,
    bytes: u64,
    file: hdf5::File,
    pub(crate) kind: FileKind,
    pub(crate) version: u64,
    pub(crate) checksum: ChecksumStatus,
}

impl TisaneFile {
    /// Opens a file of one of the `kinds` and verifies its checksum. A missing checksum is an error only with
    /// `require_checksum`.
    pub(crate) fn open(path: &Path, kinds: &[FileKind], require_checksum: bool) -> Result<Self> {
        let bytes = check_signature(path)?;
        let checksum = checksum::check(path).map_err(|e| Error::input(path, e))?;
        if checksum == ChecksumStatus::Mismatch {
            return Err(Error::input(path, "damaged: its bytes do not match the SHA-256 at its end"));
        }
        if checksum == ChecksumStatus::Missing && require_checksum {
            return Err(Error::input(path, "truncated or modified: the SHA-256 at its end is missing"));
        }
        Self::open_unchecked(path, kinds, (bytes, checksum))
    }

    /// Opens a file to read its attributes, which are covered by checksums of HDF5. The checksum at the end, which
    /// requires reading the whole file, is not verified.
    pub(crate) fn open_header(path: &Path, kind: FileKind) -> Result<Self> {
        let bytes = check_signature(path)?;
        Self::open_unchecked(path, &[kind], (bytes, ChecksumStatus::Missing))
    }

    /// Opens a file without verifying its checksum.
    fn open_unchecked(path: &Path, kinds: &[FileKind], (bytes, checksum): (u64, ChecksumStatus)) -> Result<Self> {
        let file = open::open(path)?;
        let root = TisaneGroup { path, bytes, group: (*file).clone(), name: String::new() };
        let kind = find_kind(path, &root, kinds)?;
        match root.get::<u64>("format_version")? {
            version @ 1..=FORMAT_VERSION => Ok(Self { path: path.to_owned(), bytes, file, kind, version, checksum }),
            v => Err(Error::input(
                path,
                format!("format version {v}: this version of tisane reads versions 1 to {FORMAT_VERSION}"),
            )
            .with_help("use the version of tisane that wrote it, or a newer one")),
        }
    }

    /// Returns the root group.
    pub(crate) fn root(&self) -> TisaneGroup<'_> {
        TisaneGroup { path: &self.path, bytes: self.bytes, group: (*self.file).clone(), name: String::new() }
    }

    /// Opens a group of the root group.
    pub(crate) fn group(&self, name: &str) -> Result<TisaneGroup<'_>> {
        let group = link_guard::group(&self.file, name);
        let group = group.map_err(|problem| Error::input(&self.path, format!("/{name}: {problem}")))?;
        Ok(TisaneGroup { path: &self.path, bytes: self.bytes, group, name: format!("/{name}") })
    }
}

/// Returns the kind of a file, which must be one of `kinds`.
fn find_kind(path: &Path, root: &TisaneGroup<'_>, kinds: &[FileKind]) -> Result<FileKind> {
    let wanted = || kinds.iter().map(|kind| kind.text()).collect::<Vec<_>>().join(" or ");
    let Ok(format) = root.text("format") else {
        let problem = format!("expected {}, found an HDF5 file that tisane did not write", wanted());
        return Err(
            Error::input(path, problem).with_help("convert particles of other programs to csv: m,x,y,z,vx,vy,vz,id")
        );
    };
    kinds
        .iter()
        .copied()
        .find(|kind| kind.text() == format)
        .ok_or_else(|| Error::input(path, format!("expected {}, found a {format}", wanted())))
}

/// Returns the length of a file that starts with the signature of HDF5.
fn check_signature(path: &Path) -> Result<u64> {
    let read_start = || -> std::io::Result<(u64, Vec<u8>)> {
        let file = regular_file::open(path)?;
        let bytes = file.metadata()?.len();
        let mut start = Vec::new();
        file.take(SIGNATURE.len() as u64).read_to_end(&mut start)?;
        Ok((bytes, start))
    };
    match read_start() {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Err(Error::input(path, "no such file")),
        Err(e) => Err(Error::input(path, e)),
        Ok((0, _)) => Err(Error::input(path, "the file is empty")),
        Ok((bytes, start)) if start == SIGNATURE => Ok(bytes),
        Ok(_) => Err(Error::input(path, "not an HDF5 file, or damaged in its first bytes")),
    }
}

/// Group of an open file, with path and name for error messages.
pub(crate) struct TisaneGroup<'a> {
    path: &'a Path,
    bytes: u64,
    group: Group,
    name: String,
}

impl TisaneGroup<'_> {
    /// Returns an error about an object in this group.
    pub(crate) fn error(&self, name: &str, problem: impl std::fmt::Display) -> Error {
        Error::input(self.path, format!("{}/{name}: {problem}", self.name))
    }

    /// Returns the names of its datasets and groups, sorted.
    pub(crate) fn members(&self) -> Result<Vec<String>> {
        let mut names = self.group.member_names().map_err(|e| self.error("", e))?;
        names.sort();
        Ok(names)
    }

    /// Returns true if the group has the attribute.
    pub(crate) fn has(&self, attribute: &str) -> bool {
        self.group.attr(attribute).is_ok()
    }

    /// Returns true if the group has a member of this name.
    pub(crate) fn has_dataset(&self, name: &str) -> bool {
        self.group.link_exists(name)
    }

    /// Reads a scalar attribute of exactly the type `T`.
    pub(crate) fn get<T: H5Type>(&self, name: &str) -> Result<T> {
        let attribute = self.attribute(&self.group, name)?;
        attribute.as_reader().no_convert().read_scalar().map_err(|e| self.error(name, e))
    }

    /// Reads a one-dimensional attribute of exactly the type `T` and the length `N`.
    pub(crate) fn get_array<T: H5Type + Copy, const N: usize>(&self, name: &str) -> Result<[T; N]> {
        let attribute = self.attribute(&self.group, name)?;
        if attribute.shape() != [N] {
            return Err(self.error(name, format!("expected {N} values, found shape {:?}", attribute.shape())));
        }
        let values = attribute.as_reader().no_convert().read_raw().map_err(|e| self.error(name, e))?;
        values.try_into().map_err(|_| self.error(name, "not readable"))
    }

    /// Reads a text attribute.
    pub(crate) fn text(&self, name: &str) -> Result<String> {
        let attribute = self.attribute(&self.group, name)?;
        read_text(&attribute).map_err(|problem| self.error(name, problem))
    }

    /// Returns the names of its attributes.
    pub(crate) fn attributes(&self) -> Result<Vec<String>> {
        self.group.attr_names().map_err(|e| self.error("", e))
    }

    /// Reads a text attribute of a dataset.
    pub(crate) fn dataset_text(&self, dataset: &str, name: &str) -> Result<String> {
        let place = format!("{dataset}/{name}");
        let attribute = self.attribute(&*self.dataset(dataset)?, name)?;
        read_text(&attribute).map_err(|problem| self.error(&place, problem))
    }

    /// Reads the values of a dataset in row order. Its type must be exactly `T`, its shape `(rows, width)`, or `(rows)`
    /// if `width` is 1. Accepts any number of rows if `rows` is [`None`].
    pub(crate) fn column<T: H5Type>(&self, name: &str, rows: Option<usize>, width: usize) -> Result<Vec<T>> {
        let dataset = self.dataset(name)?;
        let shape = dataset.shape();
        let found = match (shape.as_slice(), width) {
            (&[rows], 1) => Some(rows),
            (&[rows, columns], _) if columns == width => Some(rows),
            _ => None,
        };
        let found = found.filter(|&n| rows.is_none_or(|rows| rows == n));
        let Some(found) = found else {
            let rows = rows.map_or("any number of".to_string(), |n| n.to_string());
            return Err(self.error(name, format!("expected {rows} rows of {width}, found shape {shape:?}")));
        };
        let claimed = (found as u64).saturating_mul(width as u64).saturating_mul(size_of::<T>() as u64);
        let stored = dataset.storage_size().min(self.bytes);
        if claimed > stored {
            let problem = format!("expected {claimed} bytes, but only {stored} are stored: incomplete or compressed");
            return Err(self.error(name, problem));
        }
        dataset.as_reader().no_convert().read_raw().map_err(|e| self.error(name, e))
    }

    /// Reads a text attribute of a dataset; [`None`] if there is no such attribute.
    pub(crate) fn optional_dataset_text(&self, dataset: &str, name: &str) -> Result<Option<String>> {
        let found = self.dataset(dataset)?;
        match found.attr(name) {
            Ok(attribute) => {
                read_text(&attribute).map(Some).map_err(|problem| self.error(&format!("{dataset}/{name}"), problem))
            }
            Err(_) => Ok(None),
        }
    }

    /// Returns true if a dataset holds unsigned integers.
    pub(crate) fn is_integer(&self, dataset: &str) -> Result<bool> {
        Ok(matches!(self.descriptor(dataset)?, TypeDescriptor::Unsigned(_)))
    }

    /// Returns true if a dataset holds text of fixed length.
    pub(crate) fn is_text(&self, dataset: &str) -> Result<bool> {
        Ok(matches!(self.descriptor(dataset)?, TypeDescriptor::FixedUnicode(_)))
    }

    fn descriptor(&self, dataset: &str) -> Result<TypeDescriptor> {
        let kind = self.dataset(dataset)?.dtype().and_then(|t| t.to_descriptor());
        kind.map_err(|e| self.error(dataset, e))
    }

    /// Returns the shape of a dataset.
    pub(crate) fn shape(&self, dataset: &str) -> Result<Vec<usize>> {
        Ok(self.dataset(dataset)?.shape())
    }

    fn dataset(&self, name: &str) -> Result<Dataset> {
        link_guard::dataset(&self.group, name).map_err(|problem| self.error(name, problem))
    }

    fn attribute(&self, at: &Location, name: &str) -> Result<Attribute> {
        at.attr(name).map_err(|_| self.error(name, "no such attribute"))
    }
}

/// Reads a scalar text attribute of at most [`MAX_TEXT`] bytes.
fn read_text(attribute: &Attribute) -> std::result::Result<String, String> {
    let descriptor = attribute.dtype().and_then(|t| t.to_descriptor()).map_err(|e| e.to_string())?;
    match descriptor {
        TypeDescriptor::FixedUnicode(0..=64) => read_fixed::<64>(attribute),
        TypeDescriptor::FixedUnicode(65..=1024) => read_fixed::<1024>(attribute),
        TypeDescriptor::FixedUnicode(1025..=16_384) => read_fixed::<16_384>(attribute),
        TypeDescriptor::FixedUnicode(16_385..=MAX_TEXT) => read_fixed::<MAX_TEXT>(attribute),
        other => Err(format!("expected text of at most {MAX_TEXT} bytes, found {other}")),
    }
}

/// Reads text of at most `N` bytes. Not inlined, so that only the needed buffer is on the stack.
#[inline(never)]
fn read_fixed<const N: usize>(attribute: &Attribute) -> std::result::Result<String, String> {
    let value = attribute.read_scalar::<FixedUnicode<N>>().map_err(|e| e.to_string())?;
    String::from_utf8(value.as_bytes().to_vec()).map_err(|_| "text that is not UTF-8".into())
}
