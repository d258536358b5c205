//! Reading what tisane wrote. Memory stays bounded by the file's length, whatever a header claims.

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

/// The first bytes of every HDF5 file.
pub(crate) const SIGNATURE: &[u8; 8] = b"\x89HDF\r\n\x1a\n";

/// An open file that tisane wrote.
pub(crate) struct TisaneFile {
    path: PathBuf,
    bytes: u64,
    file: hdf5::File,
    pub(crate) kind: FileKind,
    pub(crate) version: u64,
    pub(crate) checksum: ChecksumStatus,
}

impl TisaneFile {
    /// Opens a file of one of the `kinds`. A broken checksum is an error; an absent one only if `require_checksum`.
    pub(crate) fn open(path: &Path, kinds: &[FileKind], require_checksum: bool) -> Result<Self> {
        let bytes = check_signature(path)?;
        let checksum = checksum::check(path).map_err(|e| Error::input(path, e))?;
        if checksum == ChecksumStatus::Mismatch {
            return Err(Error::input(path, "damaged: its bytes do not match the SHA-256 at its end"));
        }
        if checksum == ChecksumStatus::Missing && require_checksum {
            return Err(Error::input(path, "cut off or changed: the SHA-256 at its end is missing"));
        }
        Self::open_unchecked(path, kinds, (bytes, checksum))
    }

    /// Opens a file of one kind for a look at its attributes, which HDF5 keeps under checksums of its own: the checksum, which
    /// takes reading all of the file, is not checked.
    pub(crate) fn open_header(path: &Path, kind: FileKind) -> Result<Self> {
        let bytes = check_signature(path)?;
        Self::open_unchecked(path, &[kind], (bytes, ChecksumStatus::Missing))
    }

    fn open_unchecked(path: &Path, kinds: &[FileKind], (bytes, checksum): (u64, ChecksumStatus)) -> Result<Self> {
        let file = open::open(path)?;
        let root = TisaneGroup { path, bytes, group: (*file).clone(), name: String::new() };
        let kind = find_kind(path, &root, kinds)?;
        match root.get::<u64>("format_version")? {
            version @ 1..=FORMAT_VERSION => Ok(Self { path: path.to_owned(), bytes, file, kind, version, checksum }),
            v => Err(Error::input(path, format!("format version {v}, and this tisane reads 1 to {FORMAT_VERSION}"))
                .with_help("read it with the tisane that wrote it, or a newer one")),
        }
    }

    pub(crate) fn root(&self) -> TisaneGroup<'_> {
        TisaneGroup { path: &self.path, bytes: self.bytes, group: (*self.file).clone(), name: String::new() }
    }

    pub(crate) fn group(&self, name: &str) -> Result<TisaneGroup<'_>> {
        let group = link_guard::group(&self.file, name);
        let group = group.map_err(|problem| Error::input(&self.path, format!("/{name}: {problem}")))?;
        Ok(TisaneGroup { path: &self.path, bytes: self.bytes, group, name: format!("/{name}") })
    }
}

fn find_kind(path: &Path, root: &TisaneGroup<'_>, kinds: &[FileKind]) -> Result<FileKind> {
    let wanted = || kinds.iter().map(|kind| kind.text()).collect::<Vec<_>>().join(" or ");
    let Ok(format) = root.text("format") else {
        let problem = format!("this is an HDF5 file that tisane did not write, and what is wanted is {}", wanted());
        return Err(
            Error::input(path, problem).with_help("bring particles of other programs in as csv: m,x,y,z,vx,vy,vz,id")
        );
    };
    kinds
        .iter()
        .copied()
        .find(|kind| kind.text() == format)
        .ok_or_else(|| Error::input(path, format!("this is {format}, and what is wanted is {}", wanted())))
}

/// The file's length, if it starts as an HDF5 file does.
fn check_signature(path: &Path) -> Result<u64> {
    let look = || -> std::io::Result<(u64, Vec<u8>)> {
        let file = regular_file::open(path)?;
        let bytes = file.metadata()?.len();
        let mut start = Vec::new();
        file.take(SIGNATURE.len() as u64).read_to_end(&mut start)?;
        Ok((bytes, start))
    };
    match look() {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Err(Error::input(path, "no such file")),
        Err(e) => Err(Error::input(path, e)),
        Ok((0, _)) => Err(Error::input(path, "the file is empty")),
        Ok((bytes, start)) if start == SIGNATURE => Ok(bytes),
        Ok(_) => Err(Error::input(path, "not an HDF5 file, or damaged in its first bytes")),
    }
}

/// A group of an open file, with what an error message needs.
pub(crate) struct TisaneGroup<'a> {
    path: &'a Path,
    bytes: u64,
    group: Group,
    name: String,
}

impl TisaneGroup<'_> {
    /// An error about something in this group.
    pub(crate) fn error(&self, name: &str, problem: impl std::fmt::Display) -> Error {
        Error::input(self.path, format!("{}/{name}: {problem}", self.name))
    }

    /// Names of the datasets and groups in it, sorted.
    pub(crate) fn members(&self) -> Result<Vec<String>> {
        let mut names = self.group.member_names().map_err(|e| self.error("", e))?;
        names.sort();
        Ok(names)
    }

    pub(crate) fn has(&self, attribute: &str) -> bool {
        self.group.attr(attribute).is_ok()
    }

    /// A scalar attribute of exactly this type.
    pub(crate) fn get<T: H5Type>(&self, name: &str) -> Result<T> {
        let attribute = self.attribute(&self.group, name)?;
        attribute.as_reader().no_convert().read_scalar().map_err(|e| self.error(name, e))
    }

    /// A one-dimensional attribute of exactly this type and length.
    pub(crate) fn get_array<T: H5Type + Copy, const N: usize>(&self, name: &str) -> Result<[T; N]> {
        let attribute = self.attribute(&self.group, name)?;
        if attribute.shape() != [N] {
            return Err(self.error(name, format!("{N} values expected, shape {:?} found", attribute.shape())));
        }
        let values = attribute.as_reader().no_convert().read_raw().map_err(|e| self.error(name, e))?;
        values.try_into().map_err(|_| self.error(name, "not readable"))
    }

    /// A text attribute.
    pub(crate) fn text(&self, name: &str) -> Result<String> {
        let attribute = self.attribute(&self.group, name)?;
        read_text(&attribute).map_err(|problem| self.error(name, problem))
    }

    /// Names of its attributes.
    pub(crate) fn attributes(&self) -> Result<Vec<String>> {
        self.group.attr_names().map_err(|e| self.error("", e))
    }

    /// A text attribute of a dataset.
    pub(crate) fn dataset_text(&self, dataset: &str, name: &str) -> Result<String> {
        let place = format!("{dataset}/{name}");
        let attribute = self.attribute(&*self.dataset(dataset)?, name)?;
        read_text(&attribute).map_err(|problem| self.error(&place, problem))
    }

    /// A dataset's values in row order. Its type must be exactly `T` and its shape `(rows, width)`, or `(rows)` for width 1;
    /// any number of rows if `rows` is [`None`].
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
            return Err(self.error(name, format!("{rows} rows of {width} expected, shape {shape:?} found")));
        };
        let claimed = (found as u64).saturating_mul(width as u64).saturating_mul(size_of::<T>() as u64);
        let stored = dataset.storage_size().min(self.bytes);
        if claimed > stored {
            let problem =
                format!("{claimed} bytes claimed, but only {stored} stored: not written to its end, or compressed");
            return Err(self.error(name, problem));
        }
        dataset.as_reader().no_convert().read_raw().map_err(|e| self.error(name, e))
    }

    /// Reads a text attribute of a dataset; none if the dataset has no attribute of that name.
    pub(crate) fn optional_dataset_text(&self, dataset: &str, name: &str) -> Result<Option<String>> {
        let found = self.dataset(dataset)?;
        match found.attr(name) {
            Ok(attribute) => {
                read_text(&attribute).map(Some).map_err(|problem| self.error(&format!("{dataset}/{name}"), problem))
            }
            Err(_) => Ok(None),
        }
    }

    /// True if a dataset holds integers.
    pub(crate) fn is_integer(&self, dataset: &str) -> Result<bool> {
        Ok(matches!(self.descriptor(dataset)?, TypeDescriptor::Unsigned(_)))
    }

    /// True if a dataset holds text of fixed length.
    pub(crate) fn is_text(&self, dataset: &str) -> Result<bool> {
        Ok(matches!(self.descriptor(dataset)?, TypeDescriptor::FixedUnicode(_)))
    }

    fn descriptor(&self, dataset: &str) -> Result<TypeDescriptor> {
        let kind = self.dataset(dataset)?.dtype().and_then(|t| t.to_descriptor());
        kind.map_err(|e| self.error(dataset, e))
    }

    /// Shape of a dataset.
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

fn read_text(attribute: &Attribute) -> std::result::Result<String, String> {
    let descriptor = attribute.dtype().and_then(|t| t.to_descriptor()).map_err(|e| e.to_string())?;
    match descriptor {
        TypeDescriptor::FixedUnicode(0..=64) => read_fixed::<64>(attribute),
        TypeDescriptor::FixedUnicode(65..=1024) => read_fixed::<1024>(attribute),
        TypeDescriptor::FixedUnicode(1025..=16_384) => read_fixed::<16_384>(attribute),
        TypeDescriptor::FixedUnicode(16_385..=MAX_TEXT) => read_fixed::<MAX_TEXT>(attribute),
        other => Err(format!("text of at most {MAX_TEXT} bytes expected, {other} found")),
    }
}

/// `N` only sizes the buffer on the stack (hence never inlined).
#[inline(never)]
fn read_fixed<const N: usize>(attribute: &Attribute) -> std::result::Result<String, String> {
    let value = attribute.read_scalar::<FixedUnicode<N>>().map_err(|e| e.to_string())?;
    String::from_utf8(value.as_bytes().to_vec()).map_err(|_| "text that is not UTF-8".into())
}
