//! A table of results: named columns with units, and remarks on where they come from; as CSV and as HDF5.

use super::atomic::write_atomically;
use super::hdf::Kind;
use super::hdf::write::{self as hdf, H5Result, new_group, put_dataset, put_text};
use super::text;
use std::fmt::Write as _;
use std::path::Path;
use tisane::error::{Error, Result};

/// The values of a column, one a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Names.
    Text(Vec<String>),
    /// Whole numbers.
    Counts(Vec<u64>),
    /// Measured quantities; NaN where there is none.
    Numbers(Vec<f64>),
}

impl Cells {
    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Text(values) => values.len(),
            Self::Counts(values) => values.len(),
            Self::Numbers(values) => values.len(),
        }
    }

    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name: the dataset's in HDF5.
    pub name: String,
    /// Its unit, `1` for a plain number, empty for text.
    pub unit: String,
    /// What it is, in one line.
    pub text: String,
    /// Its values.
    pub cells: Cells,
}

impl Column {
    /// The name with the unit in brackets, as in the header of the CSV.
    #[must_use]
    pub fn header(&self) -> String {
        if self.unit.is_empty() { self.name.clone() } else { format!("{} [{}]", self.name, self.unit) }
    }
}

/// A table; all columns have one length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    /// What it shows, in one line.
    pub title: String,
    /// Where it comes from: names and values.
    pub remarks: Vec<(String, String)>,
    /// Its columns, in order.
    pub columns: Vec<Column>,
}

impl Sheet {
    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.cells.len())
    }

    /// A cell as the CSV has it: numbers with every bit.
    #[must_use]
    pub fn cell(&self, column: usize, row: usize) -> String {
        match &self.columns[column].cells {
            Cells::Text(values) => values[row].clone(),
            Cells::Counts(values) => values[row].to_string(),
            Cells::Numbers(values) if values[row].is_nan() => "nan".into(),
            Cells::Numbers(values) => format!("{:e}", values[row]),
        }
    }

    /// Writes it as CSV: lines that begin with `#` say what it is and where it comes from, then comes the header.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn write_csv(&self, path: &Path) -> Result<()> {
        let mut text = format!("# {}\n", self.title);
        for (name, value) in &self.remarks {
            let _ = writeln!(text, "# {name}: {}", value.replace('\n', " "));
        }
        for column in &self.columns {
            let _ = writeln!(text, "# column {}: {}", column.name, column.text);
        }
        let mut csv = csv::Writer::from_writer(text.into_bytes());
        let wrong = |e: csv::Error| Error::storage(path, e);
        csv.write_record(self.columns.iter().map(Column::header)).map_err(wrong)?;
        for row in 0..self.rows() {
            csv.write_record((0..self.columns.len()).map(|column| self.cell(column, row))).map_err(wrong)?;
        }
        let bytes = csv.into_inner().map_err(|e| Error::storage(path, e))?;
        write_atomically(path, |path| std::fs::write(path, &bytes).map_err(|e| Error::storage(path, e)))
    }

    /// Writes it as HDF5: the group `Table` has a dataset a column, with its unit and description, the group `Remarks` an
    /// attribute a remark.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn write_hdf5(&self, path: &Path) -> Result<()> {
        hdf::write(path, Kind::Table, |file| {
            let remarks = new_group(file, "Remarks")?;
            put_text(&remarks, "title", &self.title)?;
            self.remarks.iter().try_for_each(|(name, value)| put_text(&remarks, name, value))?;
            let table = new_group(file, "Table")?;
            let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
            put_text(&table, "columns", &names.join(","))?;
            self.columns.iter().try_for_each(|column| put_column(&table, column))
        })
    }
}

fn put_column(table: &hdf5::Group, column: &Column) -> H5Result {
    let dataset = match &column.cells {
        Cells::Counts(values) => put_dataset(table, &column.name, 1, values)?,
        Cells::Numbers(values) => put_dataset(table, &column.name, 1, values)?,
        Cells::Text(values) => {
            let values = values.iter().map(|words| text::cell(words)).collect::<H5Result<Vec<_>>>()?;
            put_dataset(table, &column.name, 1, &values)?
        }
    };
    put_text(&dataset, "unit", &column.unit)?;
    put_text(&dataset, "description", &column.text)
}
