//! A journal as a table of columns, read from the CSV or the HDF5 file.

use super::fields::{Column, ColumnKind, Journal, Value};
use super::hdf::Kind;
use super::hdf::read::Tree;
use super::text;
use std::path::Path;
use tisane::error::{Error, Result};

/// The values of one column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Measured quantities.
    Floats(Vec<f64>),
    /// Counts.
    Counts(Vec<u64>),
    /// Words.
    Text(Vec<String>),
}

impl Values {
    /// No values yet, of a column's kind.
    #[must_use]
    pub fn empty(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Float => Self::Floats(Vec::new()),
            ColumnKind::Count => Self::Counts(Vec::new()),
            ColumnKind::Text => Self::Text(Vec::new()),
        }
    }

    /// Reads one value as the CSV has it.
    pub(super) fn push_text(&mut self, text: &str) -> std::result::Result<(), String> {
        let wrong = |kind| format!("{kind} expected, '{text}' found");
        match self {
            Self::Floats(values) => values.push(text.parse().map_err(|_| wrong("a number"))?),
            Self::Counts(values) => values.push(text.parse().map_err(|_| wrong("a count"))?),
            Self::Text(values) => values.push(text.to_owned()),
        }
        Ok(())
    }

    /// Forgets the values, keeping the memory.
    pub(super) fn clear(&mut self) {
        match self {
            Self::Floats(values) => values.clear(),
            Self::Counts(values) => values.clear(),
            Self::Text(values) => values.clear(),
        }
    }

    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Floats(values) => values.len(),
            Self::Counts(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }

    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The last value.
    #[must_use]
    pub fn last(&self) -> Option<Value> {
        match self {
            Self::Floats(values) => values.last().copied().map(Value::Float),
            Self::Counts(values) => values.last().copied().map(Value::Count),
            Self::Text(values) => values.last().cloned().map(Value::Text),
        }
    }
}

/// A journal as read, in the units of the file; columns in file order, all of one length.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Names and values.
    pub columns: Vec<(String, Values)>,
}

impl Table {
    /// The values of a column.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Values> {
        self.columns.iter().find(|(column, _)| column == name).map(|(_, values)| values)
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, values)| values.len())
    }
}

/// What a column of the CSV holds; one of a later version is read as numbers.
fn kind_of(name: &str, known: &[Column]) -> ColumnKind {
    known.iter().find(|column| column.name == name).map_or(ColumnKind::Float, |column| column.kind)
}

/// The journal of which the first bytes of a CSV are, of this version or another: by the names of its first two columns.
#[must_use]
pub fn journal_of(head: &[u8]) -> Option<Journal> {
    let line = String::from_utf8_lossy(head.split(|byte| *byte == b'\n').next().unwrap_or_default()).into_owned();
    let names: Vec<&str> = line.trim_end().split(',').collect();
    let begins = |journal: &Journal| {
        let columns = journal.columns();
        columns.len() > 1 && names.len() > 1 && columns.iter().zip(&names).take(2).all(|(c, name)| c.name == *name)
    };
    Journal::ALL.into_iter().find(begins)
}

/// Reads the CSV of a journal.
///
/// # Errors
/// [`Error::Input`] with the line if it is missing or malformed.
pub fn read_csv(path: &Path) -> Result<Table> {
    let mut reader = csv::Reader::from_path(path).map_err(|e| Error::input(path, e))?;
    let names = reader.headers().map_err(|e| Error::input(path, e))?.clone();
    let header = names.iter().collect::<Vec<_>>().join(",");
    let known = journal_of(header.as_bytes()).map_or(Vec::new(), Journal::columns);
    let mut columns: Vec<(String, Values)> =
        names.iter().map(|name| (name.to_owned(), Values::empty(kind_of(name, &known)))).collect();
    for (row, record) in reader.records().enumerate() {
        let record = record.map_err(|e| Error::input(path, e))?;
        for ((name, values), text) in columns.iter_mut().zip(&record) {
            values.push_text(text).map_err(|e| Error::input(path, format!("line {}: {name}: {e}", row + 2)))?;
        }
    }
    Ok(Table { columns })
}

/// Reads the HDF5 file of a journal.
///
/// # Errors
/// [`Error::Input`] naming the dataset if it is missing, damaged or malformed.
pub fn read_hdf5(path: &Path) -> Result<Table> {
    let tree = Tree::open(path, &Journal::ALL.map(Kind::of), false)?;
    let group = tree.group(tree.kind.journal().unwrap_or(Journal::Diagnostics).group())?;
    let names = group.text("columns")?;
    let mut rows = None;
    let mut columns = Vec::new();
    for name in names.split(',') {
        let values = if group.is_integer(name)? {
            Values::Counts(group.column(name, rows, 1)?)
        } else if group.is_text(name)? {
            let cells: Vec<text::Cell> = group.column(name, rows, 1)?;
            Values::Text(cells.iter().map(|cell| cell.as_str().to_owned()).collect())
        } else {
            Values::Floats(group.column(name, rows, 1)?)
        };
        rows = Some(values.len());
        columns.push((name.to_owned(), values));
    }
    Ok(Table { columns })
}
