//! Writing: attributes, datasets, sealed files.

use super::{FileKind, open};
use crate::atomic::{PendingFile, write_atomically};
use crate::{FORMAT_VERSION, checksum};
use hdf5::plist::group_create::LinkPhaseChange;
use hdf5::types::{FixedUnicode, TypeDescriptor, VarLenUnicode};
use hdf5::{Dataset, Group, H5Type, Location};
use std::path::Path;
use tisane::error::{Error, Result};

/// What an HDF5 call returns while a file is being written; becomes an [`Error::Storage`] once the path is known.
pub(crate) type H5Result<T = ()> = hdf5::Result<T>;

/// Rows in a chunk, at most.
const CHUNK_ROWS: usize = 65_536;
/// Bytes of a column in a chunk, at most.
const CHUNK_BYTES: usize = 1 << 20;
/// Attributes or members that a group's header may have, as many as HDF5 takes.
const IN_HEADER: u32 = 65_535;
/// Longest text that an attribute takes, in bytes.
pub(super) const MAX_TEXT: usize = 1 << 18;

/// Writes a sealed HDF5 file up to, but without, giving it its name.
pub(crate) fn write_pending(path: &Path, kind: FileKind, fill: impl FnOnce(&Group) -> H5Result) -> Result<PendingFile> {
    PendingFile::write(path, |temporary| {
        create(temporary, Some(kind), fill).map_err(|e| open::storage_error(path, &e))?;
        checksum::append(temporary).map_err(|e| Error::storage(path, e))
    })
}

/// Writes an HDF5 file for other programs atomically: no seal, nothing at the root but what `fill` puts there.
pub(crate) fn write_for_others(path: &Path, fill: impl FnOnce(&Group) -> H5Result) -> Result<()> {
    write_atomically(path, |temporary| create(temporary, None, fill).map_err(|e| open::storage_error(path, &e)))
}

/// Writes a sealed HDF5 file atomically.
pub(crate) fn write(path: &Path, kind: FileKind, fill: impl FnOnce(&Group) -> H5Result) -> Result<()> {
    write_pending(path, kind, fill).and_then(PendingFile::commit)
}

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

/// Makes a group whose attributes and members stand in its header, however many they are. HDF5 would put more than a few of
/// them into a heap with a list of its free space; where one write of those failed, HDF5 2.2 crashed as it closed the file.
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

/// Writes text as a scalar attribute of fixed length: variable-length text crashes some readers.
pub(crate) fn put_text(at: &Location, name: &str, text: &str) -> H5Result {
    if text.contains('\0') {
        return Err(format!("{name}: text with a zero byte cannot be stored").into());
    }
    match text.len() {
        0..=64 => put_fixed::<64>(at, name, text),
        65..=1024 => put_fixed::<1024>(at, name, text),
        1025..=16_384 => put_fixed::<16_384>(at, name, text),
        16_385..=MAX_TEXT => put_fixed::<MAX_TEXT>(at, name, text),
        n => Err(format!("{name}: {n} bytes of text, and {MAX_TEXT} is the limit").into()),
    }
}

/// `N` only sizes the buffer on the stack (hence never inlined); the file gets the text's own length.
#[inline(never)]
fn put_fixed<const N: usize>(at: &Location, name: &str, text: &str) -> H5Result {
    let value: FixedUnicode<N> = text.parse().map_err(|e| format!("{name}: {e}"))?;
    let in_file = TypeDescriptor::FixedUnicode(text.len().max(1));
    at.new_attr_builder().empty_as(&in_file).create(name)?.write_scalar(&value)
}

/// Writes text as a scalar attribute of variable length, as h5py does: for programs that expect just that.
pub(crate) fn put_long_text(at: &Location, name: &str, text: &str) -> H5Result {
    let value: VarLenUnicode = text.parse().map_err(|e| format!("{name}: {e}"))?;
    put(at, name, &value)
}

/// Makes a chunked, checksummed dataset of `rows` rows, one-dimensional for width 1. It is to be written whole, or by as many rows
/// at a time as a chunk has, `chunk` or all.
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
