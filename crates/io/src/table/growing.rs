//! Tables in CSV that grow by rows while a program writes them.

use super::columns::{Table, Value};
use super::csv_file::read_rows_of;
use crate::regular_file;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};

/// Table whose rows are in a CSV file as soon as they are known, and in memory.
#[derive(Debug)]
pub struct GrowingTable {
    path: PathBuf,
    file: File,
    table: Table,
    /// Rows in memory that are in the file.
    written: usize,
}

impl GrowingTable {
    /// Creates the file of a table, with the rows that it has; a file of that name is replaced.
    ///
    /// # Errors
    /// [`Error::Storage`] if it cannot be written.
    pub fn create(path: &Path, table: Table) -> Result<Self> {
        table.write_csv(path)?;
        let file = regular_file::append(path).map_err(|e| Error::storage(path, e))?;
        Ok(Self { path: path.to_owned(), file, written: table.rows(), table })
    }

    /// Reads the whole rows of the file of a table with these columns; a row that a kill cut off is left out.
    ///
    /// # Errors
    /// [`Error::Input`] with the line if it is missing, or has other columns or types.
    pub fn read(path: &Path, columns: &Table) -> Result<Table> {
        let found = read_rows_of(path, columns)?;
        Ok(Table { title: columns.title.clone(), remarks: columns.remarks.clone(), columns: found.columns })
    }

    /// Appends a row, which is in the file after [`GrowingTable::flush`].
    pub fn push(&mut self, row: Vec<Value>) {
        self.table.push(row);
    }

    /// Writes new rows to the file; the system has them when this returns.
    ///
    /// # Errors
    /// [`Error::Storage`] if they cannot be written; then none of them is in the file, and this may be tried again.
    pub fn flush(&mut self) -> Result<()> {
        let failed = |e: String| Error::storage(&self.path, e);
        if self.written == self.table.rows() {
            return Ok(());
        }
        let mut csv = csv::Writer::from_writer(Vec::new());
        for row in self.written..self.table.rows() {
            let cells = self.table.columns.iter().map(|column| column.values.cell(row));
            csv.write_record(cells).map_err(|e| failed(e.to_string()))?;
        }
        let bytes = csv.into_inner().map_err(|e| failed(e.to_string()))?;
        let before = self.file.metadata().map_err(|e| failed(e.to_string()))?.len();
        if let Err(e) = self.file.write_all(&bytes) {
            // A part of a row must not stand before the next one.
            let _ = self.file.set_len(before);
            return Err(failed(e.to_string()));
        }
        self.written = self.table.rows();
        Ok(())
    }

    /// Writes new rows, and waits until the disk has them.
    ///
    /// # Errors
    /// As [`GrowingTable::flush`].
    pub fn sync(&mut self) -> Result<()> {
        self.flush()?;
        self.file.sync_data().map_err(|e| Error::storage(&self.path, e))
    }

    /// Returns the table with all rows.
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Column, ColumnKind, Values};
    use std::fs::OpenOptions;

    fn columns() -> Table {
        let column = |name: &str, kind| Column::new(name, "", "of a test", Values::empty(kind));
        let columns = vec![
            column("member", ColumnKind::Count),
            column("energy", ColumnKind::Float),
            column("problem", ColumnKind::Text),
        ];
        Table { title: "Members".into(), remarks: vec![("host".into(), "here".into())], columns }
    }

    fn row(member: u64, energy: f64, problem: &str) -> Vec<Value> {
        vec![Value::Count(member), Value::Float(energy), Value::Text(problem.into())]
    }

    #[test]
    fn rows_are_read_back_as_they_were_pushed_and_half_a_row_is_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("members.csv");
        let mut grown = GrowingTable::create(&path, columns()).unwrap();
        grown.push(row(7, -0.25, "a \"comma\", here\nand there"));
        grown.flush().unwrap();
        grown.push(row(u64::MAX, f64::NAN, ""));
        grown.sync().unwrap();
        let text = |table: &Table| format!("{:?}", table.columns);
        let read = GrowingTable::read(&path, &columns()).unwrap();
        assert_eq!(text(&read), text(grown.table()));
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"9,1e0").unwrap();
        assert_eq!(text(&GrowingTable::read(&path, &columns()).unwrap()), text(&read));
        let mut again = GrowingTable::create(&path, read).unwrap();
        again.push(row(1, 1.0, ""));
        again.flush().unwrap();
        let mut all = GrowingTable::read(&path, &columns()).unwrap();
        assert_eq!(all.rows(), 3);
        let numbers = |table: &Table| table.numbers("member").unwrap().iter().collect::<Vec<_>>();
        let of = numbers(&all);
        all.arrange(|row| of[row] < 1e9, |row| of[row] as u64);
        assert_eq!(numbers(&all), [1.0, 7.0]);
    }

    #[test]
    fn other_columns_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("members.csv");
        GrowingTable::create(&path, columns()).unwrap();
        let mut other = columns();
        other.columns.pop();
        let error = GrowingTable::read(&path, &other).unwrap_err().to_string();
        assert!(error.contains("expected the columns member,energy, found"), "{error}");
    }
}
