//! Filters that pack the values of a dataset, read from its object header (HDF5 File Format Specification, version 3.0,
//! sections IV.A.1 and IV.A.2.l). The HDF5 crate panics for a filter with more than 32 parameters, and HDF5 itself looks
//! for a plug-in, which is code, when it is asked for an unknown one.

use hdf5::Dataset;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Number of gzip's filter.
pub(super) const DEFLATE: u16 = 1;
/// Number of the filter that sorts bytes by their significance.
pub(super) const SHUFFLE: u16 = 2;
/// Number of the filter that adds a checksum.
pub(super) const FLETCHER32: u16 = 3;

/// Largest part of an object header that is read, in bytes.
const MAX_BYTES: u64 = 1 << 16;
/// Largest number of parts of an object header.
const MAX_PARTS: usize = 64;
/// Type of the message that lists the filters.
const PIPELINE: u16 = 0x0b;
/// Type of the message that says where the header continues.
const CONTINUATION: u16 = 0x10;

/// Names of filters by their numbers, of those that are registered with the HDF Group, with what reads them.
const NAMES: &[(u16, &str)] = &[
    (DEFLATE, "gzip"),
    (SHUFFLE, "shuffle"),
    (FLETCHER32, "Fletcher-32"),
    (SZIP, "SZIP"),
    (5, "N-bit"),
    (6, "scale-offset"),
    (305, "LZO"),
    (307, "bzip2"),
    (LZF, "LZF"),
    (32_001, "Blosc"),
    (32_004, "LZ4"),
    (32_008, "bitshuffle"),
    (32_013, "ZFP"),
    (32_015, "Zstandard"),
    (32_017, "SZ"),
    (32_024, "SZ3"),
    (32_026, "Blosc2"),
    (32_018, "FCIDECOMP"),
    (32_028, "SPERR"),
];
const SZIP: u16 = 4;
const LZF: u16 = 32_000;
/// Filters that HDF5 has without a plug-in.
const OUR_OWN: [u16; 5] = [DEFLATE, SHUFFLE, FLETCHER32, 5, 6];

/// Filter of a dataset.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Filter {
    pub(super) number: u16,
    /// Name in the file, often empty.
    name: String,
}

impl Filter {
    /// Returns its name, with the number of one that is not known.
    pub(super) fn label(&self) -> String {
        match (NAMES.iter().find(|(number, _)| *number == self.number), self.name.as_str()) {
            (Some((_, name)), _) => (*name).to_owned(),
            (None, "") => format!("filter {}", self.number),
            (None, name) => format!("filter {} ({name})", self.number),
        }
    }
}

/// Describes the filters of a dataset that HDF5 lacks here, and how to unpack the file, for a message.
pub(super) fn missing(path: &Path, dataset: &Dataset) -> (String, String) {
    let all = of(path, dataset).unwrap_or_default();
    let missing: Vec<&Filter> = all.iter().filter(|filter| !OUR_OWN.contains(&filter.number)).collect();
    let names: Vec<String> = missing.iter().map(|filter| filter.label()).collect();
    let has = |number: u16| missing.iter().any(|filter| filter.number == number);
    let what = if names.is_empty() { "a filter".to_owned() } else { names.join(" and ") };
    (what, remedy(has(LZF), has(SZIP), missing.len()))
}

/// Returns the way to unpack a file.
fn remedy(lzf: bool, szip: bool, missing: usize) -> String {
    const COPY: &str = "a=h5py.File('IN'); b=h5py.File('OUT','w'); b.attrs.update(a.attrs); a.visititems(lambda k,v: \
                        (b.create_dataset(k,data=v[()]) if isinstance(v,h5py.Dataset) else \
                        b.require_group(k)).attrs.update(v.attrs))";
    match (lzf, szip, missing) {
        (true, _, 1) => {
            format!("h5py alone has this filter, h5repack does not: python3 -c \"import h5py; {COPY}\"")
        }
        (_, true, 1) => "an h5repack with SZIP unpacks the file: h5repack -f NONE IN OUT; so does h5py".into(),
        _ => format!(
            "h5py with the plug-ins of hdf5plugin unpacks the file: pip install h5py hdf5plugin; python3 -c \"import h5py, \
             hdf5plugin; {COPY}\""
        ),
    }
}

/// Returns the filters of a dataset, in the order in which values were packed; [`None`] if its header cannot be read.
pub(super) fn of(path: &Path, dataset: &Dataset) -> Option<Vec<Filter>> {
    let mut file = File::open(path).ok()?;
    let mut parts = vec![(address(dataset)?, None)];
    let mut version = None;
    let mut at = 0;
    while at < parts.len() && at < MAX_PARTS {
        let (address, length) = parts[at];
        let bytes = read(&mut file, address, length.unwrap_or(MAX_BYTES))?;
        let (messages, tracked) = match (length, version) {
            (None, _) => {
                let (messages, kind) = first_part(&bytes)?;
                version = Some(kind);
                (messages, kind)
            }
            (Some(_), Some(kind @ Kind::Two { .. })) => (bytes.strip_prefix(b"OCHK")?, kind),
            (Some(_), kind) => (&bytes[..], kind?),
        };
        let messages = Messages { rest: messages, kind: tracked };
        for (of, content) in messages {
            match of {
                PIPELINE => return pipeline(content),
                CONTINUATION => parts.push((long(content, 0)?, Some(long(content, 8)?.min(MAX_BYTES)))),
                _ => {}
            }
        }
        at += 1;
    }
    Some(Vec::new())
}

/// Version of an object header.
#[derive(Clone, Copy)]
enum Kind {
    One,
    /// With the order of creation in messages, if `ordered`.
    Two {
        ordered: bool,
    },
}

/// Returns the address of the object header of a dataset. The crate keeps it in a token, which it only prints: a list of
/// the bytes of the address.
fn address(dataset: &Dataset) -> Option<u64> {
    let token = format!("{:?}", dataset.loc_info().ok()?.token);
    let (_, list) = token.split_once('[')?;
    let bytes: Option<Vec<u8>> = list.split(']').next()?.split(',').map(|byte| byte.trim().parse().ok()).collect();
    bytes?.first_chunk().copied().map(u64::from_le_bytes)
}

fn read(file: &mut File, address: u64, length: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(address)).ok()?;
    file.take(length.min(MAX_BYTES)).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Returns the messages in the first part of a header.
fn first_part(bytes: &[u8]) -> Option<(&[u8], Kind)> {
    let Some(rest) = bytes.strip_prefix(b"OHDR") else {
        let length = usize::try_from(word(bytes, 8)?).ok()?;
        return (bytes.first() == Some(&1)).then_some((clipped(bytes.get(16..)?, length), Kind::One));
    };
    let flags = *rest.get(1)?;
    // Times of access and change, and numbers of attributes, if they are kept.
    let start = 2 + if flags & 0x20 == 0 { 0 } else { 16 } + if flags & 0x10 == 0 { 0 } else { 4 };
    let width = 1usize << (flags & 3);
    let length = rest.get(start..start + width)?.iter().rev().fold(0usize, |sum, byte| sum << 8 | usize::from(*byte));
    Some((clipped(rest.get(start + width..)?, length), Kind::Two { ordered: flags & 4 != 0 }))
}

fn clipped(bytes: &[u8], length: usize) -> &[u8] {
    &bytes[..length.min(bytes.len())]
}

/// Messages of a part of a header: their types and contents.
struct Messages<'a> {
    rest: &'a [u8],
    kind: Kind,
}

impl<'a> Iterator for Messages<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (of, size, head) = match self.kind {
            Kind::One => (short(self.rest, 0)?, short(self.rest, 2)?, 8),
            Kind::Two { ordered } => {
                (u16::from(*self.rest.first()?), short(self.rest, 1)?, if ordered { 6 } else { 4 })
            }
        };
        let content = self.rest.get(head..head + usize::from(size))?;
        self.rest = &self.rest[head + usize::from(size)..];
        Some((of, content))
    }
}

/// Parses the list of filters.
fn pipeline(bytes: &[u8]) -> Option<Vec<Filter>> {
    let (version, count) = (*bytes.first()?, *bytes.get(1)?);
    let mut rest = bytes.get(if version == 1 { 8 } else { 2 }..)?;
    let mut filters = Vec::new();
    for _ in 0..count {
        let number = short(rest, 0)?;
        // Version 2 leaves the name of a filter of HDF5 itself out.
        let named = version == 1 || number >= 256;
        let (length, head) = if named { (usize::from(short(rest, 2)?), 8) } else { (0, 6) };
        let parameters = usize::from(short(rest, head - 2)?);
        let padded = if version == 1 { length.next_multiple_of(8) } else { length };
        let name = rest.get(head..head + length)?;
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        filters.push(Filter { number, name: String::from_utf8_lossy(name).into_owned() });
        let values = 4 * if version == 1 { parameters.next_multiple_of(2) } else { parameters };
        rest = rest.get(head + padded + values..)?;
    }
    Some(filters)
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().copied().map(u16::from_le_bytes)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_le_bytes)
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().copied().map(u64::from_le_bytes)
}
