//! Writing of HDF5 files: attributes, datasets, and the checksum at the end.

use super::{FileKind, open};
use crate::atomic::{PendingFile, write_atomically};
use crate::{FORMAT_VERSION, checksum};
use hdf5::plist::group_create::LinkPhaseChange;
use hdf5::types::{FixedUnicode, TypeDescriptor, VarLenUnicode};
use hdf5::{Dataset, Group, H5Type, Location};
use std::path::Path;
use tisane::error::{Error, Result};

/// Result of an HDF5 call while a file is being written; its error becomes an [`Error::Storage`] with the path of the
/// file.
pub(crate) type H5Result<T = ()> = hdf5::Result<T>;

/// Maximum number of rows in a chunk.
const CHUNK_ROWS: usize = 65_536;
/// Maximum number of bytes in a chunk of a column.
const CHUNK_BYTES: usize = 1 << 20;
/// Maximum number of attributes or members stored in the header of a group: the limit of HDF5.
const IN_HEADER: u32 = 65_535;
/// Maximum length of a text attribute, in bytes.
pub(super) const MAX_TEXT: usize = 1 << 18;

/// Writes an HDF5 file with checksum under its temporary name; [`PendingFile::commit`] renames it.
pub(crate) fn write_pending(path: &Path, kind: FileKind, fill: impl FnOnce(&Group) -> H5Result) -> Result<PendingFile> {
    PendingFile::write(path, |temporary| {
        create(temporary, Some(kind), fill).map_err(|e| open::storage_error(path, &e))?;
        checksum::append(temporary).map_err(|e| Error::storage(path, e))
    })
}

/// Writes an HDF5 file for other programs atomically: without checksum, with only what `fill` puts into the root group.
pub(crate) fn write_for_others(path: &Path, fill: impl FnOnce(&Group) -> H5Result) -> Result<()> {
    write_atomically(path, |temporary| create(temporary, None, fill).map_err(|e| open::storage_error(path, &e)))
}

/// Writes an HDF5 file with checksum atomically.
pub(crate) fn write(path: &Path, kind: FileKind, fill: impl FnOnce(&Group) -> H5Result) -> Result<()> {
    write_pending(path, kind, fill).and_then(PendingFile::commit)
}

/// Creates and fills an HDF5 file.
fn create(path: &Path, kind: Option<FileKind>, fill: impl FnOnce(&Group) -> H5Result) -> H5Result {
    let file = open::create(path)?;
    if let Some(kind) = kind {
        put_text(&file, "format", kind.text())?;
        put(&file, "format_version", &FORMAT_VERSION)?;
    }
    fill(&file)?;
    file.flush()?;
    file.close()
}

/// Creates a group whose attributes and members are stored in its header, regardless of their number. HDF5 stores many of
/// them in a heap by default; if a write of that heap fails, HDF5 2.2 crashes when it closes the file.
pub(crate) fn new_group(parent: &Group, name: &str) -> H5Result<Group> {
    let builder = parent.create_group_builder().obj_track_times(false);
    let members = LinkPhaseChange { max_compact: IN_HEADER, min_dense: 0 };
    builder.with_gcpl(|group| group.attr_phase_change(IN_HEADER, 0).link_phase_change(members)).create(name)
}

/// Writes a scalar attribute.
pub(crate) fn put<T: H5Type>(at: &Location, name: &str, value: &T) -> H5Result {
    at.new_attr::<T>().create(name)?.write_scalar(value)
}

/// Writes a one-dimensional attribute.
pub(crate) fn put_array<T: H5Type>(at: &Location, name: &str, values: &[T]) -> H5Result {
    at.new_attr::<T>().shape(values.len()).create(name)?.write_raw(values)
}

/// Writes text as a scalar attribute of fixed length, because text of variable length crashes some readers.
pub(crate) fn put_text(at: &Location, name: &str, text: &str) -> H5Result {
    if text.contains('\0') {
        return Err(format!("{name}: text with a zero byte cannot be stored").into());
    }
    match text.len() {
        0..=64 => put_fixed::<64>(at, name, text),
        65..=1024 => put_fixed::<1024>(at, name, text),
        1025..=16_384 => put_fixed::<16_384>(at, name, text),
        16_385..=MAX_TEXT => put_fixed::<MAX_TEXT>(at, name, text),
        n => Err(format!("{name}: text of {n} bytes exceeds the limit of {MAX_TEXT}").into()),
    }
}

/// Writes text of at most `N` bytes, with its own length in the file. Not inlined, so that only the needed buffer is on
/// the stack.
#[inline(never)]
fn put_fixed<const N: usize>(at: &Location, name: &str, text: &str) -> H5Result {
    let value: FixedUnicode<N> = text.parse().map_err(|e| format!("{name}: {e}"))?;
    let in_file = TypeDescriptor::FixedUnicode(text.len().max(1));
    at.new_attr_builder().empty_as(&in_file).create(name)?.write_scalar(&value)
}

/// Writes text as a scalar attribute of variable length, as h5py does, for programs that expect this type.
pub(crate) fn put_long_text(at: &Location, name: &str, text: &str) -> H5Result {
    let value: VarLenUnicode = text.parse().map_err(|e| format!("{name}: {e}"))?;
    put(at, name, &value)
}

/// Creates a chunked dataset with checksums of shape `(rows, width)`, or `(rows)` for width 1. A chunk has at most
/// `chunk` rows; the dataset must be written whole, or one chunk at a time.
pub(crate) fn new_dataset<T: H5Type>(
    at: &Group,
    name: &str,
    (rows, width): (usize, usize),
    chunk: usize,
) -> H5Result<Dataset> {
    let chunk = rows.clamp(1, chunk);
    let builder = at.new_dataset::<T>().fletcher32();
    if width == 1 {
        builder.chunk(chunk).shape(rows).create(name)
    } else {
        builder.chunk((chunk, width)).shape((rows, width)).create(name)
    }
}

/// Writes a whole dataset from values in row order.
pub(crate) fn put_dataset<T: H5Type>(at: &Group, name: &str, width: usize, values: &[T]) -> H5Result<Dataset> {
    let chunk = CHUNK_ROWS.min(CHUNK_BYTES / size_of::<T>());
    let dataset = new_dataset::<T>(at, name, (values.len() / width.max(1), width), chunk)?;
    dataset.write_raw(values)?;
    Ok(dataset)
}
