//! Columns of compound tables: datasets of one dimension whose values have named parts. The HDF5 crate reads them into
//! types that are known when it is compiled only. Their bytes are read here, plain or packed by gzip, with or without
//! shuffle, from the places that HDF5 tells.

use super::filters::{self, DEFLATE, SHUFFLE};
use flate2::read::ZlibDecoder;
use hdf5::Dataset;
use hdf5::datatype::ByteOrder;
use hdf5::types::{CompoundType, FloatSize, TypeDescriptor};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Column of a compound table.
pub(super) struct Field {
    /// Place in a row, in bytes.
    offset: usize,
    /// Number of values in a row.
    pub(super) width: usize,
    of: Number,
}

/// Type of the values of a column.
#[derive(Clone, Copy)]
enum Number {
    Float4,
    Float8,
    Signed(usize),
    Unsigned(usize),
}

impl Number {
    fn size(self) -> usize {
        match self {
            Self::Float4 => 4,
            Self::Float8 => 8,
            Self::Signed(size) | Self::Unsigned(size) => size,
        }
    }
}

impl Field {
    /// Returns the column called `name`.
    ///
    /// # Errors
    /// A message if there is none, or if it does not hold numbers.
    pub(super) fn find(table: &CompoundType, name: &str) -> Result<Self, String> {
        let names = || table.fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>().join(", ");
        let field = table.fields.iter().find(|field| field.name == name);
        let field = field.ok_or_else(|| format!("no such column; those of the table are {}", names()))?;
        let (of, width) = match &field.ty {
            TypeDescriptor::FixedArray(of, width) => (&**of, *width),
            of => (of, 1),
        };
        let of = match of {
            TypeDescriptor::Float(FloatSize::U4) => Number::Float4,
            TypeDescriptor::Float(FloatSize::U8) => Number::Float8,
            TypeDescriptor::Integer(size) => Number::Signed(*size as usize),
            TypeDescriptor::Unsigned(size) => Number::Unsigned(*size as usize),
            other => return Err(format!("expected numbers, found {other}")),
        };
        Ok(Self { offset: field.offset, width, of })
    }

    /// Returns true for whole numbers.
    pub(super) fn is_integer(&self) -> bool {
        matches!(self.of, Number::Signed(_) | Number::Unsigned(_))
    }

    /// Reads the values as floats, row by row.
    pub(super) fn floats(&self, path: &Path, dataset: &Dataset, rows: usize) -> Result<Vec<f64>, String> {
        let float = |bytes: [u8; 8]| match self.of {
            Number::Float4 => f64::from(f32::from_bits(u64::from_le_bytes(bytes) as u32)),
            Number::Float8 => f64::from_le_bytes(bytes),
            Number::Signed(size) => signed(bytes, size) as f64,
            Number::Unsigned(_) => u64::from_le_bytes(bytes) as f64,
        };
        Ok(self.values(path, dataset, rows)?.into_iter().map(float).collect())
    }

    /// Reads the values as ids, row by row.
    pub(super) fn ids(&self, path: &Path, dataset: &Dataset, rows: usize) -> Result<Vec<u64>, String> {
        let id = |bytes: [u8; 8]| match self.of {
            Number::Signed(size) => {
                let id = signed(bytes, size);
                u64::try_from(id).map_err(|_| format!("expected no negative id, found {id}"))
            }
            _ => Ok(u64::from_le_bytes(bytes)),
        };
        self.values(path, dataset, rows)?.into_iter().map(id).collect()
    }

    /// Reads the bytes of all values, in little-endian order, filled up with zeros.
    fn values(&self, path: &Path, dataset: &Dataset, rows: usize) -> Result<Vec<[u8; 8]>, String> {
        let of_table = dataset.dtype().map_err(|e| e.to_string())?;
        let big_endian = match of_table.byte_order() {
            ByteOrder::BigEndian => true,
            // Numbers of one byte have none.
            ByteOrder::LittleEndian | ByteOrder::None => false,
            _ => return Err("a table with numbers in both byte orders, which is not read".into()),
        };
        let (row, size) = (of_table.size(), self.of.size());
        let end = self.offset + size * self.width;
        let mut values = vec![[0; 8]; rows * self.width];
        let mut take = |first: usize, bytes: &[u8]| {
            let into = values.chunks_exact_mut(self.width).skip(first);
            for (value, row) in into.zip(bytes.chunks_exact(row)) {
                let parts = row.get(self.offset..end).unwrap_or_default().chunks_exact(size);
                for (value, part) in value.iter_mut().zip(parts) {
                    value[..size].copy_from_slice(part);
                    if big_endian {
                        value[..size].reverse();
                    }
                }
            }
        };
        let mut file = File::open(path).map_err(|e| e.to_string())?;
        match dataset.chunk() {
            None => {
                let place = dataset.offset().ok_or("a table in the header of its dataset, which is not read")?;
                take(0, &read(&mut file, place, rows * row)?);
            }
            Some(chunk) => {
                let whole = chunk.first().copied().unwrap_or(1).saturating_mul(row);
                let pipeline = filters::of(path, dataset).ok_or("its filters cannot be told")?;
                for (first, place, stored, mask) in chunks(dataset)? {
                    let packed = read(&mut file, place, stored)?;
                    take(first, &unpacked(packed, &pipeline, mask, (row, whole))?);
                }
            }
        }
        Ok(values)
    }
}

/// Returns a signed number of `size` bytes.
fn signed(bytes: [u8; 8], size: usize) -> i64 {
    let unused = 64 - 8 * size as u32;
    i64::from_le_bytes(bytes) << unused >> unused
}

/// Returns the first row, the place, the stored size and the mask of unused filters of each chunk.
fn chunks(dataset: &Dataset) -> Result<Vec<(usize, u64, usize, u32)>, String> {
    let mut found = Vec::new();
    let add = |chunk: hdf5::dataset::ChunkInfoRef<'_>| {
        let first = chunk.offset.first().copied().unwrap_or(0);
        found.push((first as usize, chunk.addr, chunk.size as usize, chunk.filter_mask));
        0
    };
    dataset.chunks_visit(add).map_err(|e| e.to_string())?;
    Ok(found)
}

fn read(file: &mut File, place: u64, length: usize) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(place)).map_err(|e| e.to_string())?;
    file.take(length as u64).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    if bytes.len() == length { Ok(bytes) } else { Err("truncated".into()) }
}

/// Undoes the filters of a chunk, from the last one on, except those of the mask.
fn unpacked(
    mut bytes: Vec<u8>,
    pipeline: &[filters::Filter],
    mask: u32,
    (row, whole): (usize, usize),
) -> Result<Vec<u8>, String> {
    for (k, filter) in pipeline.iter().enumerate().rev() {
        if mask.checked_shr(k as u32).is_some_and(|mask| mask & 1 == 1) {
            continue;
        }
        bytes = match filter.number {
            DEFLATE => {
                let mut unpacked = Vec::new();
                let mut stream = ZlibDecoder::new(&bytes[..]).take(whole as u64);
                stream.read_to_end(&mut unpacked).map_err(|e| format!("damaged: {e}"))?;
                unpacked
            }
            SHUFFLE => unshuffled(&bytes, row),
            _ => return Err(format!("a table of columns packed by {}, which is not read", filter.label())),
        };
    }
    if bytes.len() == whole {
        Ok(bytes)
    } else {
        Err(format!("expected {whole} bytes in a chunk, found {}", bytes.len()))
    }
}

/// Puts the bytes of rows together, which are sorted by their place in the row.
fn unshuffled(bytes: &[u8], row: usize) -> Vec<u8> {
    let rows = bytes.len() / row.max(1);
    let mut sorted = bytes.to_vec();
    for (k, column) in bytes.chunks_exact(rows.max(1)).take(row).enumerate() {
        for (j, byte) in column.iter().enumerate() {
            sorted[j * row + k] = *byte;
        }
    }
    sorted
}
