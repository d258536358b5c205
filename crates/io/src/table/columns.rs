//! Columns of a table, and their values.

use serde::{Deserialize, Serialize};

/// Table of named columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Title in one line; empty if the file has none.
    pub title: String,
    /// Origin of the table as pairs of name and value, as far as the file states it.
    pub remarks: Vec<(String, String)>,
    /// Columns in the order of the file, all of one length.
    pub columns: Vec<Column>,
}

/// Column of a [`Table`].
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name, without the unit; in HDF5 the name of the dataset.
    pub name: String,
    /// Unit: `1` for a dimensionless number; empty for text, or if the file has none.
    pub unit: String,
    /// Description in one line; empty if the file has none.
    pub description: String,
    /// Values, one for each row.
    pub values: Values,
}

/// Values of a [`Column`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Values {
    /// Measured quantities; NaN for an empty cell.
    Floats(Vec<f64>),
    /// Counts.
    Counts(Vec<u64>),
    /// Text.
    Text(Vec<String>),
}

/// Type of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// f64.
    Float,
    /// u64.
    Count,
    /// Text; in a journal without commas, quotes and line ends.
    Text,
}

/// Value of a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Value {
    /// Measured quantity.
    Float(f64),
    /// Count.
    Count(u64),
    /// Text.
    Text(String),
}

/// Borrowed values of a column of numbers; counts are read as f64.
#[derive(Clone, Copy, Debug)]
pub enum Numbers<'a> {
    /// Measured quantities.
    Floats(&'a [f64]),
    /// Counts.
    Counts(&'a [u64]),
}

impl Table {
    /// Returns the number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// Returns the names of the columns.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// Returns the names and values of the columns, which the CSV and the HDF5 file of a journal have in common.
    pub fn contents(&self) -> impl Iterator<Item = (&str, &Values)> {
        self.columns.iter().map(|column| (column.name.as_str(), &column.values))
    }

    /// Returns the column called `name`.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Returns the values of the column called `name`, if it exists and holds numbers.
    #[must_use]
    pub fn numbers(&self, name: &str) -> Option<Numbers<'_>> {
        self.column(name).and_then(|column| column.values.numbers())
    }

    /// Returns the values of a row; none beyond the last row.
    #[must_use]
    pub fn row(&self, row: usize) -> Vec<Value> {
        self.columns.iter().filter_map(|column| column.values.get(row)).collect()
    }

    /// Returns the table without its rows.
    #[must_use]
    pub fn emptied(&self) -> Self {
        let empty = |column: &Column| Column { values: column.values.emptied(), ..column.clone() };
        Self {
            title: self.title.clone(),
            remarks: self.remarks.clone(),
            columns: self.columns.iter().map(empty).collect(),
        }
    }

    /// Appends a row with a value for each column, of its type.
    ///
    /// # Panics
    /// If a value has another type than its column: a programming error.
    pub fn push(&mut self, row: Vec<Value>) {
        assert_eq!(row.len(), self.columns.len(), "a value for each column");
        self.columns.iter_mut().zip(row).for_each(|(column, value)| column.values.push(value));
    }

    /// Keeps the rows for which `keep` is true, in the order of their `rank`.
    pub fn arrange<K: Ord>(&mut self, keep: impl Fn(usize) -> bool, rank: impl Fn(usize) -> K) {
        let mut order: Vec<usize> = (0..self.rows()).filter(|&row| keep(row)).collect();
        order.sort_by_key(|&row| rank(row));
        self.columns.iter_mut().for_each(|column| column.values.select(&order));
    }

    /// Appends a row with a cell for each column, parsed as the type of its column.
    ///
    /// # Errors
    /// A message with the name of the column, the expected type and the cell.
    pub(crate) fn push_row<'a>(&mut self, cells: impl IntoIterator<Item = &'a str>) -> Result<(), String> {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.values.push_text(cell).map_err(|e| format!("{}: {e}", column.name))?;
        }
        Ok(())
    }
}

impl Value {
    /// Returns the value as it is written to CSV; floating-point numbers in the shortest form that keeps every bit.
    #[must_use]
    pub fn cell(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Float(number) if number.is_nan() => "nan".into(),
            Self::Float(number) => format!("{number:e}"),
        }
    }
}

impl Column {
    /// Creates a column.
    #[must_use]
    pub fn new(
        name: impl Into<String>,
        unit: impl Into<String>,
        description: impl Into<String>,
        values: Values,
    ) -> Self {
        Self { name: name.into(), unit: unit.into(), description: description.into(), values }
    }

    /// Returns the name with the unit in brackets, as in the header of a CSV: `time [Myr]`, `nu [1]`.
    #[must_use]
    pub fn header(&self) -> String {
        if self.unit.is_empty() { self.name.clone() } else { format!("{} [{}]", self.name, self.unit) }
    }

    /// Returns the name, with the unit in brackets unless it is dimensionless: `time [Myr]`, `nu`.
    #[must_use]
    pub fn label(&self) -> String {
        if self.shown_unit().is_some() { self.header() } else { self.name.clone() }
    }

    /// Returns the unit, unless it is unknown or that of a dimensionless number.
    #[must_use]
    pub fn shown_unit(&self) -> Option<&str> {
        Some(self.unit.as_str()).filter(|unit| !matches!(*unit, "" | "1"))
    }
}

impl Values {
    /// Returns an empty column of the given type.
    #[must_use]
    pub const fn empty(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Float => Self::Floats(Vec::new()),
            ColumnKind::Count => Self::Counts(Vec::new()),
            ColumnKind::Text => Self::Text(Vec::new()),
        }
    }

    /// Returns the number of values.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Self::Floats(values) => values.len(),
            Self::Counts(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }

    /// Returns true if there are no values.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the value of a row; [`None`] beyond the last row.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<Value> {
        match self {
            Self::Floats(values) => values.get(row).copied().map(Value::Float),
            Self::Counts(values) => values.get(row).copied().map(Value::Count),
            Self::Text(values) => values.get(row).cloned().map(Value::Text),
        }
    }

    /// Returns the last value.
    #[must_use]
    pub fn last(&self) -> Option<Value> {
        self.get(self.len().checked_sub(1)?)
    }

    /// Returns the values, if they are numbers.
    #[must_use]
    pub const fn numbers(&self) -> Option<Numbers<'_>> {
        match self {
            Self::Floats(values) => Some(Numbers::Floats(values.as_slice())),
            Self::Counts(values) => Some(Numbers::Counts(values.as_slice())),
            Self::Text(_) => None,
        }
    }

    /// Appends a value of the type of the column.
    fn push(&mut self, value: Value) {
        match (self, value) {
            (Self::Floats(values), Value::Float(value)) => values.push(value),
            (Self::Counts(values), Value::Count(value)) => values.push(value),
            (Self::Text(values), Value::Text(value)) => values.push(value),
            (column, value) => unreachable!("{value:?} in a column like {:?}", column.emptied()),
        }
    }

    /// Returns no values of the same type.
    fn emptied(&self) -> Self {
        match self {
            Self::Floats(_) => Self::Floats(Vec::new()),
            Self::Counts(_) => Self::Counts(Vec::new()),
            Self::Text(_) => Self::Text(Vec::new()),
        }
    }

    /// Keeps the values of some rows, in their order.
    fn select(&mut self, rows: &[usize]) {
        match self {
            Self::Floats(values) => *values = rows.iter().map(|&row| values[row]).collect(),
            Self::Counts(values) => *values = rows.iter().map(|&row| values[row]).collect(),
            Self::Text(values) => *values = rows.iter().map(|&row| values[row].clone()).collect(),
        }
    }

    /// Parses a cell of a CSV file and appends its value.
    fn push_text(&mut self, text: &str) -> Result<(), String> {
        let wrong = |kind| format!("expected {kind}, found '{text}'");
        match self {
            Self::Floats(values) => values.push(text.parse().map_err(|_| wrong("a number"))?),
            Self::Counts(values) => values.push(text.parse().map_err(|_| wrong("a count"))?),
            Self::Text(values) => values.push(text.to_owned()),
        }
        Ok(())
    }

    /// Removes all values and keeps the capacity.
    pub(crate) fn clear(&mut self) {
        match self {
            Self::Floats(values) => values.clear(),
            Self::Counts(values) => values.clear(),
            Self::Text(values) => values.clear(),
        }
    }
}

impl Numbers<'_> {
    /// Returns the number of values.
    #[must_use]
    pub const fn len(self) -> usize {
        match self {
            Self::Floats(values) => values.len(),
            Self::Counts(values) => values.len(),
        }
    }

    /// Returns true if there are no values.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the value of a row; NaN beyond the last row.
    #[must_use]
    pub fn at(self, row: usize) -> f64 {
        match self {
            Self::Floats(values) => values.get(row).copied(),
            Self::Counts(values) => values.get(row).map(|count| *count as f64),
        }
        .unwrap_or(f64::NAN)
    }

    /// Returns the first value.
    #[must_use]
    pub fn first(self) -> Option<f64> {
        (!self.is_empty()).then(|| self.at(0))
    }

    /// Returns the last value.
    #[must_use]
    pub fn last(self) -> Option<f64> {
        self.len().checked_sub(1).map(|row| self.at(row))
    }
}

impl<'a> Numbers<'a> {
    /// Returns an iterator over the values.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = f64> + ExactSizeIterator + use<'a> {
        (0..self.len()).map(move |row| self.at(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_quantities_and_counts_and_text_is_none() {
        let floats = Values::Floats(vec![0.5, -1.0]);
        let numbers = floats.numbers().unwrap();
        assert_eq!((numbers.first(), numbers.last(), numbers.len()), (Some(0.5), Some(-1.0), 2));
        let counts = Values::Counts(vec![3, 4, 5]);
        assert_eq!(counts.numbers().unwrap().iter().rev().collect::<Vec<_>>(), [5.0, 4.0, 3.0]);
        assert!(counts.numbers().unwrap().at(3).is_nan());
        assert!(Values::Text(vec!["1".into()]).numbers().is_none());
        let none = Values::empty(ColumnKind::Count);
        assert!(none.is_empty() && none.last().is_none() && none.numbers().unwrap().first().is_none());
    }

    #[test]
    fn units_of_pure_numbers_are_in_headers_and_not_in_labels() {
        let texts = |unit: &str| {
            let column = Column::new("nu", unit, "accuracy", Values::empty(ColumnKind::Float));
            (column.header(), column.label())
        };
        assert_eq!(texts("1"), ("nu [1]".into(), "nu".into()));
        assert_eq!(texts(""), ("nu".into(), "nu".into()));
        assert_eq!(texts("Myr"), ("nu [Myr]".into(), "nu [Myr]".into()));
    }
}
