//! Reading HDF5 files that other programs wrote. Types are converted as HDF5 does it (f32 to f64, either byte order), and
//! memory stays bounded by the file's length, whatever a header claims: values must be in the file itself, plain or by gzip.

use super::read::SIGNATURE;
use super::{link_guard, open};
use hdf5::types::{FixedAscii, FixedUnicode, TypeDescriptor, VarLenAscii, VarLenUnicode};
use hdf5::{Attribute, Container, Dataset, Group, Location};
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};

/// The most values that an attribute may have: Gadget has one a particle type.
const MOST_VALUES: usize = 64;
/// The most members of a group that are looked at.
const MOST_MEMBERS: u64 = 4096;
/// The most that gzip's deflate can shrink anything by: 258 bytes in 2 bits.
const DEFLATE: u64 = 1032;
/// Longest text of an attribute that is read, in bytes.
const LONGEST_TEXT: usize = 1024;

/// An open HDF5 file of another program.
#[derive(Debug)]
pub(crate) struct ThirdPartyFile {
    path: PathBuf,
    bytes: u64,
    file: hdf5::File,
}

impl ThirdPartyFile {
    /// Opens a file that starts with HDF5's signature.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let failed = |e: std::io::Error| Error::input(path, e);
        let bytes = std::fs::metadata(path).map_err(failed)?.len();
        let mut start = [0; SIGNATURE.len()];
        let read = std::fs::File::open(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut start));
        if read.is_err() || start != *SIGNATURE {
            return Err(Error::input(path, "not an HDF5 file, or damaged in its first bytes"));
        }
        let file = open::open(path)?;
        Ok(Self { path: path.to_owned(), bytes, file })
    }

    /// The root group.
    pub(crate) fn root(&self) -> ThirdPartyGroup<'_> {
        ThirdPartyGroup { path: &self.path, bytes: self.bytes, group: (*self.file).clone(), name: String::new() }
    }
}

/// A group of an open file, with what an error message needs.
#[derive(Debug)]
pub(crate) struct ThirdPartyGroup<'a> {
    path: &'a Path,
    bytes: u64,
    group: Group,
    name: String,
}

impl ThirdPartyGroup<'_> {
    /// An error about something in this group.
    pub(crate) fn error(&self, name: &str, problem: impl std::fmt::Display) -> Error {
        Error::input(self.path, format!("{}/{name}: {problem}", self.name))
    }

    /// A group in this group.
    pub(crate) fn group(&self, name: &str) -> Option<Self> {
        let group = link_guard::group(&self.group, name).ok()?;
        Some(Self { path: self.path, bytes: self.bytes, group, name: format!("{}/{name}", self.name) })
    }

    /// Names of the datasets and groups in it, sorted.
    pub(crate) fn members(&self) -> Result<Vec<String>> {
        if self.group.len() > MOST_MEMBERS {
            return Err(self.error("", format!("expected at most {MOST_MEMBERS} members, found {}", self.group.len())));
        }
        let mut names = self.group.member_names().map_err(|e| self.error("", e))?;
        names.sort();
        Ok(names)
    }

    /// True if there is a member of that name.
    pub(crate) fn has(&self, dataset: &str) -> bool {
        self.group.link_exists(dataset)
    }

    /// The numbers of an attribute, or [`None`] if there is no such attribute.
    pub(crate) fn numbers(&self, name: &str) -> Result<Option<Vec<f64>>> {
        self.group.attr(name).ok().map(|attribute| self.numbers_in(&attribute, name)).transpose()
    }

    /// The one number of an attribute: a scalar or an array of one.
    pub(crate) fn number(&self, name: &str) -> Result<Option<f64>> {
        match self.numbers(name)?.as_deref() {
            None => Ok(None),
            Some(&[value]) => Ok(Some(value)),
            Some(many) => Err(self.error(name, format!("expected one number, found {}", many.len()))),
        }
    }

    fn numbers_in(&self, attribute: &Attribute, name: &str) -> Result<Vec<f64>> {
        let count = attribute.shape().iter().fold(1usize, |n, &k| n.saturating_mul(k));
        if count > MOST_VALUES {
            return Err(self.error(name, format!("expected at most {MOST_VALUES} numbers, found {count}")));
        }
        if !matches!(self.kind(attribute, name)?, ValueKind::Float | ValueKind::Integer) {
            return Err(self.error(name, "expected a number"));
        }
        attribute.read_raw().map_err(|e| self.error(name, e))
    }

    /// The text of an attribute, or [`None`] if there is no such attribute.
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>> {
        self.location_text(&self.group, name, name)
    }

    /// The text of a dataset's attribute, if it has one.
    pub(crate) fn dataset_text(&self, dataset: &str, name: &str) -> Result<Option<String>> {
        self.location_text(&*self.dataset(dataset)?, name, &format!("{dataset}/{name}"))
    }

    fn location_text(&self, at: &Location, name: &str, place: &str) -> Result<Option<String>> {
        let Ok(attribute) = at.attr(name) else { return Ok(None) };
        read_text(&attribute).map(Some).map_err(|problem| self.error(place, problem))
    }

    /// Number of rows of a dataset of one or two dimensions.
    pub(crate) fn rows(&self, dataset: &str) -> Result<usize> {
        match *self.dataset(dataset)?.shape() {
            [rows] | [rows, _] => Ok(rows),
            ref other => Err(self.error(dataset, format!("expected a table or a column, found shape {other:?}"))),
        }
    }

    /// The values of a dataset of floating-point numbers of shape `(rows, width)`, or `(rows)` for width 1, in row order.
    pub(crate) fn floats(&self, name: &str, rows: usize, width: usize) -> Result<Vec<f64>> {
        let dataset = self.checked_dataset(name, rows, width)?;
        if self.kind(&dataset, name)? != ValueKind::Float {
            return Err(self.error(name, "expected floating-point numbers"));
        }
        dataset.read_raw().map_err(|e| self.error(name, e))
    }

    /// The values of a column of integers of any width. Negative ones are refused.
    pub(crate) fn ids(&self, name: &str, rows: usize) -> Result<Vec<u64>> {
        let dataset = self.checked_dataset(name, rows, 1)?;
        if self.kind(&dataset, name)? != ValueKind::Integer {
            return Err(self.error(name, "expected integers"));
        }
        if matches!(self.descriptor(&dataset, name)?, TypeDescriptor::Unsigned(_)) {
            return dataset.read_raw().map_err(|e| self.error(name, e));
        }
        let signed: Vec<i64> = dataset.read_raw().map_err(|e| self.error(name, e))?;
        let id =
            |id: i64| u64::try_from(id).map_err(|_| self.error(name, format!("expected no negative id, found {id}")));
        signed.into_iter().map(id).collect()
    }

    /// A dataset of a given shape all of whose values are in this file.
    fn checked_dataset(&self, name: &str, rows: usize, width: usize) -> Result<Dataset> {
        let dataset = self.dataset(name)?;
        let shape = dataset.shape();
        let fits = match shape[..] {
            [n] => n == rows && width == 1,
            [n, k] => n == rows && k == width,
            _ => false,
        };
        if !fits {
            return Err(self.error(name, format!("expected {rows} rows of {width}, found shape {shape:?}")));
        }
        let size = dataset.dtype().map_err(|e| self.error(name, e))?.size() as u64;
        let claimed = (rows as u64).saturating_mul(width as u64).saturating_mul(size);
        let stored = dataset.storage_size().min(self.bytes);
        // What is in chunks may be packed. Which filters there are is not asked: hdf5-metno panics where one has many parameters.
        let chunk = dataset.chunk();
        let most = if chunk.is_some() { stored.saturating_mul(DEFLATE) } else { stored };
        let whole = claimed <= most && chunk.is_none_or(|chunk| has_all_chunks(&dataset, &shape, &chunk));
        if !whole {
            let problem = format!("{claimed} bytes claimed, but only {stored} stored in this file");
            return Err(self
                .error(name, problem)
                .with_help("it was not written to its end, or its values are elsewhere"));
        }
        Ok(dataset)
    }

    fn descriptor(&self, of: &Container, name: &str) -> Result<TypeDescriptor> {
        of.dtype().and_then(|t| t.to_descriptor()).map_err(|e| self.error(name, e))
    }

    fn kind(&self, of: &Container, name: &str) -> Result<ValueKind> {
        Ok(match self.descriptor(of, name)? {
            TypeDescriptor::Float(_) => ValueKind::Float,
            TypeDescriptor::Integer(_) | TypeDescriptor::Unsigned(_) => ValueKind::Integer,
            _ => ValueKind::Other,
        })
    }

    fn dataset(&self, name: &str) -> Result<Dataset> {
        link_guard::dataset(&self.group, name).map_err(|problem| self.error(name, problem))
    }
}

/// True if every chunk of a dataset is stored: HDF5 makes up values for those that are not.
fn has_all_chunks(dataset: &Dataset, shape: &[usize], chunk: &[usize]) -> bool {
    let expected = shape.iter().zip(chunk).try_fold(1usize, |n, (rows, of)| n.checked_mul(rows.div_ceil((*of).max(1))));
    expected.is_some() && dataset.num_chunks() == expected
}

/// What values are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueKind {
    Float,
    Integer,
    Other,
}

/// Text of any of HDF5's four kinds.
fn read_text(attribute: &Attribute) -> std::result::Result<String, String> {
    let descriptor = attribute.dtype().and_then(|t| t.to_descriptor()).map_err(|e| e.to_string())?;
    let failed = |e: hdf5::Error| e.to_string();
    if attribute.size() != 1 {
        return Err("expected one text".into());
    }
    let bytes = match descriptor {
        TypeDescriptor::VarLenUnicode => attribute.read_scalar::<VarLenUnicode>().map_err(failed)?.as_bytes().to_vec(),
        TypeDescriptor::VarLenAscii => attribute.read_scalar::<VarLenAscii>().map_err(failed)?.as_bytes().to_vec(),
        TypeDescriptor::FixedUnicode(0..=LONGEST_TEXT) => {
            attribute.read_scalar::<FixedUnicode<LONGEST_TEXT>>().map_err(failed)?.as_bytes().to_vec()
        }
        TypeDescriptor::FixedAscii(0..=LONGEST_TEXT) => {
            attribute.read_scalar::<FixedAscii<LONGEST_TEXT>>().map_err(failed)?.as_bytes().to_vec()
        }
        other => return Err(format!("expected text of at most {LONGEST_TEXT} bytes, found {other}")),
    };
    let text = String::from_utf8(bytes).map_err(|_| "expected UTF-8 text".to_owned())?;
    if text.len() > LONGEST_TEXT {
        return Err(format!("expected text of at most {LONGEST_TEXT} bytes, found {}", text.len()));
    }
    Ok(text.trim_end_matches(['\0', ' ']).to_owned())
}
