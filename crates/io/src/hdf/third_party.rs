//! Reading of HDF5 files written by other programs. HDF5 converts types (f32 to f64, either byte order). Allocations
//! are bounded by the length of the file: values must be stored in the file itself, uncompressed or with gzip.

use super::compound::Field;
use super::read::SIGNATURE;
use super::{link_guard, open};
use hdf5::types::{CompoundField, CompoundType, FixedAscii, FixedUnicode, TypeDescriptor, VarLenAscii, VarLenUnicode};
use hdf5::{Attribute, Container, Dataset, Datatype, Group, Location};
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};

/// Maximum number of values of an attribute. Gadget has one for each particle type.
const MAX_VALUES: usize = 64;
/// Maximum number of members of a group.
const MAX_MEMBERS: u64 = 4096;
/// Maximum compression ratio of deflate (gzip): 258 bytes in 2 bits.
const DEFLATE: u64 = 1032;
/// Maximum length of a text attribute, in bytes.
const LONGEST_TEXT: usize = 1024;

/// Data set in a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DatasetInfo {
    /// Path from the root group, such as `particle/mass`; of a column of a compound table `stars:mass`.
    pub(crate) path: String,
    /// Number of rows, and of columns if there are several.
    pub(crate) shape: Vec<usize>,
    /// Type of the values: `float64`, `int32`, …
    pub(crate) kind: String,
    /// Filters that HDF5 lacks for the values, and the way to unpack the file.
    pub(crate) packed: Option<(String, String)>,
}

/// Open HDF5 file of another program.
#[derive(Debug)]
pub(crate) struct ThirdPartyFile {
    path: PathBuf,
    bytes: u64,
    file: hdf5::File,
}

impl ThirdPartyFile {
    /// Opens a file that starts with the signature of HDF5.
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

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the root group.
    pub(crate) fn root(&self) -> ThirdPartyGroup<'_> {
        ThirdPartyGroup { path: &self.path, bytes: self.bytes, group: (*self.file).clone(), name: String::new() }
    }
}

/// Group of an open file, with path and name for error messages.
#[derive(Debug)]
pub(crate) struct ThirdPartyGroup<'a> {
    path: &'a Path,
    bytes: u64,
    group: Group,
    name: String,
}

impl ThirdPartyGroup<'_> {
    /// Returns an error about an object in this group.
    pub(crate) fn error(&self, name: &str, problem: impl std::fmt::Display) -> Error {
        Error::input(self.path, format!("{}/{name}: {problem}", self.name))
    }

    /// Opens a group in this group; [`None`] if there is none in this file.
    pub(crate) fn group(&self, name: &str) -> Option<Self> {
        let group = link_guard::group(&self.group, name).ok()?;
        Some(Self { path: self.path, bytes: self.bytes, group, name: format!("{}/{name}", self.name) })
    }

    /// Opens the group of a dataset that is named by its path in this group, such as `particle/mass`. Returns it with
    /// the name of the dataset in it.
    ///
    /// # Errors
    /// A message with the group on the path that does not exist or is in another file.
    pub(crate) fn group_of<'p>(&self, path: &'p str) -> std::result::Result<(Self, &'p str), String> {
        let path = path.trim_matches('/');
        let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
        let (mut group, mut at) = (self.group.clone(), self.name.clone());
        for part in above.split('/').filter(|part| !part.is_empty()) {
            at = format!("{at}/{part}");
            group = link_guard::group(&group, part).map_err(|problem| format!("{at}: {problem}"))?;
        }
        Ok((Self { path: self.path, bytes: self.bytes, group, name: at }, name))
    }

    /// Describes a dataset, or each column of a compound table by itself; nothing if there is none in this file.
    pub(crate) fn describe(&self, name: &str, path: &str) -> Vec<DatasetInfo> {
        let Ok(dataset) = link_guard::stored(&self.group, name) else { return Vec::new() };
        let packed = link_guard::packed(&dataset);
        let of = |path: String, shape: Vec<usize>, kind: String| {
            let kind = match &packed {
                Some((filter, _)) => format!("{kind}, packed by {filter}"),
                None => kind,
            };
            DatasetInfo { path, shape, kind, packed: packed.clone() }
        };
        let shape = dataset.shape();
        match dataset.dtype().and_then(|of| of.to_descriptor()) {
            Ok(TypeDescriptor::Compound(table)) if shape.len() == 1 => {
                let column = |field: &CompoundField| {
                    let (kind, width) = match &field.ty {
                        TypeDescriptor::FixedArray(of, width) => (of.to_string(), Some(*width)),
                        of => (of.to_string(), None),
                    };
                    let shape = shape.iter().copied().chain(width).collect();
                    of(format!("{path}:{}", field.name), shape, kind)
                };
                table.fields.iter().take(MAX_VALUES).map(column).collect()
            }
            _ => vec![of(path.to_owned(), shape, kind_text(&dataset))],
        }
    }

    /// Splits the name of a column of a table, `stars:mass` or `phase:0`, at its last colon; a dataset may have a colon in
    /// its own name.
    fn split<'n>(&self, name: &'n str) -> (&'n str, Option<&'n str>) {
        let parts = name.rsplit_once(':').filter(|(dataset, _)| !self.has(name) && self.has(dataset));
        parts.map_or((name, None), |(dataset, column)| (dataset, Some(column)))
    }

    /// Returns the names of its datasets and groups, sorted.
    pub(crate) fn members(&self) -> Result<Vec<String>> {
        if self.group.len() > MAX_MEMBERS {
            return Err(self.error("", format!("expected at most {MAX_MEMBERS} members, found {}", self.group.len())));
        }
        let mut names = self.group.member_names().map_err(|e| self.error("", e))?;
        names.sort();
        Ok(names)
    }

    /// Returns true if the group has a member of this name.
    pub(crate) fn has(&self, dataset: &str) -> bool {
        self.group.link_exists(dataset)
    }

    /// Reads the numbers of an attribute; [`None`] if there is no such attribute.
    pub(crate) fn numbers(&self, name: &str) -> Result<Option<Vec<f64>>> {
        self.group.attr(name).ok().map(|attribute| self.numbers_in(&attribute, name)).transpose()
    }

    /// Reads the number of an attribute, a scalar or an array of one; [`None`] if there is no such attribute.
    pub(crate) fn number(&self, name: &str) -> Result<Option<f64>> {
        match self.numbers(name)?.as_deref() {
            None => Ok(None),
            Some(&[value]) => Ok(Some(value)),
            Some(many) => Err(self.error(name, format!("expected one number, found {}", many.len()))),
        }
    }

    fn numbers_in(&self, attribute: &Attribute, name: &str) -> Result<Vec<f64>> {
        let count = attribute.shape().iter().fold(1usize, |n, &k| n.saturating_mul(k));
        if count > MAX_VALUES {
            return Err(self.error(name, format!("expected at most {MAX_VALUES} numbers, found {count}")));
        }
        if !matches!(self.kind(attribute, name)?, Class::Float | Class::Integer) {
            return Err(self.error(name, "expected a number"));
        }
        attribute.read_raw().map_err(|e| self.error(name, e))
    }

    /// Reads a text attribute; [`None`] if there is no such attribute.
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>> {
        self.location_text(&self.group, name, name)
    }

    /// Reads a text attribute of a dataset; [`None`] if there is no such attribute.
    pub(crate) fn dataset_text(&self, dataset: &str, name: &str) -> Result<Option<String>> {
        self.location_text(&*self.dataset(dataset)?, name, &format!("{dataset}/{name}"))
    }

    fn location_text(&self, at: &Location, name: &str, place: &str) -> Result<Option<String>> {
        let Ok(attribute) = at.attr(name) else { return Ok(None) };
        read_text(&attribute).map(Some).map_err(|problem| self.error(place, problem))
    }

    /// Returns the number of rows of a dataset of one or two dimensions, or of one of its columns.
    pub(crate) fn rows(&self, dataset: &str) -> Result<usize> {
        match *self.dataset(self.split(dataset).0)?.shape() {
            [rows] | [rows, _] => Ok(rows),
            ref other => Err(self.error(dataset, format!("expected a table or a column, found shape {other:?}"))),
        }
    }

    /// Reads a dataset of floating-point numbers of shape `(rows, width)`, or `(rows)` for width 1, in row order.
    pub(crate) fn floats(&self, name: &str, rows: usize, width: usize) -> Result<Vec<f64>> {
        let dataset = self.checked_dataset(name, rows, width)?;
        if self.kind(&dataset, name)? != Class::Float {
            return Err(self.error(name, "expected floating-point numbers"));
        }
        dataset.read_raw().map_err(|e| self.error(name, e))
    }

    /// Reads a dataset of numbers of any type of shape `(rows, width)`, or `(rows)` for width 1, or such a column of a table,
    /// in row order.
    pub(crate) fn any_numbers(&self, name: &str, rows: usize, width: usize) -> Result<Vec<f64>> {
        if let (table, Some(column)) = self.split(name) {
            return match self.compound(table)? {
                Some(fields) => {
                    let (field, dataset) = self.field(table, (&fields, column), rows, width)?;
                    field.floats(self.path, &dataset, rows).map_err(|e| self.error(name, e))
                }
                None => self.column_of_numbers(table, column, rows, width),
            };
        }
        let dataset = self.checked_dataset(name, rows, width)?;
        match self.kind(&dataset, name)? {
            Class::Float | Class::Integer => dataset.read_raw().map_err(|e| self.error(name, e)),
            Class::Compound | Class::Other => Err(self.not_numbers(&dataset, name)),
        }
    }

    /// Reads a column of a two-dimensional dataset, counted from 0.
    fn column_of_numbers(&self, table: &str, column: &str, rows: usize, width: usize) -> Result<Vec<f64>> {
        let place = format!("{table}:{column}");
        let (found, columns) = match self.dataset(table)?.shape()[..] {
            [found, columns] if width == 1 => (found, columns),
            ref shape => return Err(self.error(&place, format!("expected a column of {width}, found shape {shape:?}"))),
        };
        let at = column.parse::<usize>().ok().filter(|at| *at < columns);
        let last = columns.saturating_sub(1);
        let at = at.ok_or_else(|| self.error(&place, format!("expected the number of a column, from 0 to {last}")))?;
        if found != rows {
            return Err(self.error(&place, format!("expected {rows} rows, found {found}")));
        }
        Ok(self.any_numbers(table, rows, columns)?.into_iter().skip(at).step_by(columns).collect())
    }

    /// Returns the columns of a compound table; [`None`] for other datasets.
    fn compound(&self, name: &str) -> Result<Option<CompoundType>> {
        let of = self.dataset(name)?.dtype().map_err(|e| self.error(name, e))?;
        match of.to_descriptor() {
            Ok(TypeDescriptor::Compound(table)) => Ok(Some(table)),
            Err(_) if class(&of) == Class::Compound => {
                Err(self.error(name, "a compound table with a column of a type that is not read"))
            }
            _ => Ok(None),
        }
    }

    /// Returns a column of a compound table of this shape, with its dataset.
    fn field(
        &self,
        table: &str,
        (fields, column): (&CompoundType, &str),
        rows: usize,
        width: usize,
    ) -> Result<(Field, Dataset)> {
        let place = format!("{table}:{column}");
        let field = Field::find(fields, column).map_err(|problem| self.error(&place, problem))?;
        let dataset = self.checked_dataset(table, rows, 1)?;
        if field.width != width {
            return Err(self.error(&place, format!("expected {width} numbers a row, found {}", field.width)));
        }
        Ok((field, dataset))
    }

    /// Returns the error for a dataset that does not hold numbers.
    fn not_numbers(&self, dataset: &Dataset, name: &str) -> Error {
        let error = self.error(name, format!("expected numbers, found {}", kind_text(dataset)));
        match self.compound(name) {
            Ok(Some(table)) => {
                let columns: Vec<String> = table.fields.iter().map(|field| format!("{name}:{}", field.name)).collect();
                error.with_help(format!("name one of its columns: {}", columns.join(", ")))
            }
            _ => error,
        }
    }

    /// Reads a column of integers of any size. Negative values are an error.
    pub(crate) fn ids(&self, name: &str, rows: usize) -> Result<Vec<u64>> {
        if let (table, Some(column)) = self.split(name) {
            let Some(fields) = self.compound(table)? else {
                return Err(self.error(name, "ids in a table of numbers of one type, which are not read"));
            };
            let (field, dataset) = self.field(table, (&fields, column), rows, 1)?;
            if !field.is_integer() {
                return Err(self.error(name, "expected integers"));
            }
            return field.ids(self.path, &dataset, rows).map_err(|e| self.error(name, e));
        }
        let dataset = self.checked_dataset(name, rows, 1)?;
        if self.kind(&dataset, name)? != Class::Integer {
            return Err(self.error(name, format!("expected integers, found {}", kind_text(&dataset))));
        }
        let of = dataset.dtype().map_err(|e| self.error(name, e))?;
        if of.size() > size_of::<u64>() {
            return Err(self.error(name, format!("expected integers of at most 8 bytes, found {} bytes", of.size())));
        }
        if matches!(of.to_descriptor(), Ok(TypeDescriptor::Unsigned(_))) {
            return dataset.read_raw().map_err(|e| self.error(name, e));
        }
        // Unsigned ones of other sizes are shorter than 8 bytes and fit in.
        let signed: Vec<i64> = dataset.read_raw().map_err(|e| self.error(name, e))?;
        let id =
            |id: i64| u64::try_from(id).map_err(|_| self.error(name, format!("expected no negative id, found {id}")));
        signed.into_iter().map(id).collect()
    }

    /// Opens a dataset of the given shape after checking that all its values are stored in this file.
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
        // Chunks may be compressed. The filters are not queried: hdf5-metno panics for a filter with many parameters.
        let chunk = dataset.chunk();
        let max = if chunk.is_some() { stored.saturating_mul(DEFLATE) } else { stored };
        let whole = claimed <= max && chunk.is_none_or(|chunk| has_all_chunks(&dataset, &shape, &chunk));
        if !whole {
            let problem = format!("expected {claimed} bytes, but only {stored} are stored in this file");
            return Err(self
                .error(name, problem)
                .with_help("the file is incomplete, or the values are stored elsewhere"));
        }
        Ok(dataset)
    }

    /// Returns the class of the values of an attribute or dataset.
    fn kind(&self, of: &Container, name: &str) -> Result<Class> {
        of.dtype().map(|of| class(&of)).map_err(|e| self.error(name, e))
    }

    fn dataset(&self, name: &str) -> Result<Dataset> {
        link_guard::dataset(&self.group, name).map_err(|problem| self.error(name, problem))
    }
}

/// Returns true if every chunk of a dataset is stored: HDF5 fills in values for missing chunks.
fn has_all_chunks(dataset: &Dataset, shape: &[usize], chunk: &[usize]) -> bool {
    let expected = shape.iter().zip(chunk).try_fold(1usize, |n, (rows, of)| n.checked_mul(rows.div_ceil((*of).max(1))));
    expected.is_some() && dataset.num_chunks() == expected
}

/// Class of the values of a dataset or attribute.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Float,
    Integer,
    Compound,
    Other,
}

/// Returns the class of a type, also of numbers whose size the HDF5 crate does not know (floats of 2 and 16 bytes,
/// integers of 3, 5, 6 and 7): HDF5 converts them all the same.
fn class(of: &Datatype) -> Class {
    match of.to_descriptor() {
        Ok(TypeDescriptor::Float(_)) => Class::Float,
        Ok(TypeDescriptor::Integer(_) | TypeDescriptor::Unsigned(_)) => Class::Integer,
        Ok(TypeDescriptor::Compound(_)) => Class::Compound,
        Ok(_) => Class::Other,
        Err(_) => {
            // The crate tells the class of these types in this text only.
            let text = of.to_string();
            let classes =
                [("H5T_FLOAT", Class::Float), ("H5T_INTEGER", Class::Integer), ("H5T_COMPOUND", Class::Compound)];
            classes.into_iter().find(|(name, _)| text.contains(name)).map_or(Class::Other, |(_, class)| class)
        }
    }
}

/// Describes the type of the values of a dataset.
fn kind_text(dataset: &Dataset) -> String {
    let Ok(of) = dataset.dtype() else { return "unknown type".into() };
    match (of.to_descriptor(), class(&of)) {
        (Ok(known), _) => known.to_string(),
        (Err(_), Class::Float) => format!("float of {} bytes", of.size()),
        (Err(_), Class::Integer) => format!("integer of {} bytes", of.size()),
        (Err(_), Class::Compound) => "compound, with a column of a type that is not read".into(),
        (Err(_), Class::Other) => "unknown type".into(),
    }
}

/// Reads scalar text of any of the four text types of HDF5.
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
