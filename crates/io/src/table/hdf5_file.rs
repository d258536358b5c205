//! Reading and writing of tables in HDF5, with one dataset for each column.

use super::columns::{Column, ColumnKind, Table, Values};
use crate::fields::Journal;
use crate::hdf::FileKind;
use crate::hdf::read::{TisaneFile, TisaneGroup};
use crate::hdf::write::{self as hdf, H5Result, new_group, put_dataset, put_text};
use crate::provenance;
use hdf5::types::FixedUnicode;
use hdf5::{Dataset, Group};
use std::path::Path;
use tisane::error::{Error, Result};

/// Group of the columns of a result table.
const TABLE: &str = "Table";
/// Group whose attributes are the title and the remarks of a result table.
const REMARKS: &str = "Remarks";
/// Maximum length of text in a cell, in bytes.
const LONGEST: usize = 256;
/// Number of rows of text that are written at a time, and most rows of a chunk of them. Blocks of 128 KiB and more would come
/// from the system each time, and the memory of a long run would rise and fall with them.
const TEXT_ROWS: usize = 256;

/// Text in a cell. Of fixed length, because text of variable length crashes some readers.
type TextCell = FixedUnicode<LONGEST>;

impl Table {
    /// Writes the table as HDF5: the group `Table` has a dataset for each column, with unit and description as
    /// attributes; the group `Remarks` has an attribute for each remark.
    ///
    /// # Errors
    /// [`Error::Storage`] if the file cannot be written.
    pub fn write_hdf5(&self, path: &Path) -> Result<()> {
        hdf::write(path, FileKind::Table, |file| {
            let remarks = new_group(file, REMARKS)?;
            put_text(&remarks, "title", &self.title)?;
            self.remarks.iter().try_for_each(|(name, value)| put_text(&remarks, name, value))?;
            let table = new_group(file, TABLE)?;
            put_text(&table, "columns", &self.names().collect::<Vec<_>>().join(","))?;
            self.columns.iter().try_for_each(|column| put_column(&table, column))
        })
    }
}

/// Writes a column as a dataset with its attributes.
fn put_column(table: &Group, column: &Column) -> H5Result {
    let dataset = match &column.values {
        Values::Counts(values) => put_dataset(table, &column.name, 1, values)?,
        Values::Floats(values) => put_dataset(table, &column.name, 1, values)?,
        Values::Text(values) => put_dataset(table, &column.name, 1, &cells(values)?)?,
    };
    put_text(&dataset, "unit", &column.unit)?;
    put_text(&dataset, "description", &column.description)
}

/// Creates the dataset of a column of `rows` rows in chunks of `chunk` rows. [`write_rows`] fills it, one chunk at a
/// time or whole.
pub(crate) fn new_dataset(
    group: &Group,
    (name, kind): (&str, ColumnKind),
    rows: usize,
    chunk: usize,
) -> H5Result<Dataset> {
    match kind {
        ColumnKind::Float => hdf::new_dataset::<f64>(group, name, (rows, 1), chunk),
        ColumnKind::Count => hdf::new_dataset::<u64>(group, name, (rows, 1), chunk),
        ColumnKind::Text => hdf::new_dataset::<TextCell>(group, name, (rows, 1), chunk.min(TEXT_ROWS)),
    }
}

/// Writes values into a dataset from row `first` on. Returns the number of the row after them.
pub(crate) fn write_rows(dataset: &Dataset, first: usize, values: &Values) -> H5Result<usize> {
    let next = first + values.len();
    match values {
        Values::Floats(values) => dataset.write_slice(values.as_slice(), first..next)?,
        Values::Counts(values) => dataset.write_slice(values.as_slice(), first..next)?,
        Values::Text(values) => {
            for (number, values) in values.chunks(TEXT_ROWS).enumerate() {
                let start = first + number * TEXT_ROWS;
                dataset.write_slice(cells(values)?.as_slice(), start..start + values.len())?;
            }
        }
    }
    Ok(next)
}

/// Converts texts to cells; a text longer than [`LONGEST`] bytes is truncated between characters.
///
/// # Errors
/// Text with a zero byte.
fn cells(texts: &[String]) -> H5Result<Vec<TextCell>> {
    let cell = |text: &String| {
        if text.contains('\0') {
            return Err("text with a zero byte cannot be stored".into());
        }
        let end = (0..=text.len().min(LONGEST)).rev().find(|&k| text.is_char_boundary(k)).unwrap_or(0);
        text[..end].parse::<TextCell>().map_err(|e| e.to_string().into())
    };
    texts.iter().map(cell).collect()
}

/// Reads the HDF5 file of a journal or a result table.
///
/// # Errors
/// [`Error::Input`] naming the dataset if the file is missing, damaged, malformed or not a table.
pub fn read_hdf5(path: &Path) -> Result<Table> {
    read_tree(path, &TisaneFile::open(path, &FileKind::ALL, false)?, true)
}

/// Reads a table as [`read_hdf5`], but without values: its columns are empty.
pub(super) fn read_headings(path: &Path) -> Result<Table> {
    read_tree(path, &TisaneFile::open(path, &FileKind::ALL, false)?, false)
}

/// Reads the table of an open file. Its columns are empty unless `with_values` is set.
pub(crate) fn read_tree(path: &Path, tree: &TisaneFile, with_values: bool) -> Result<Table> {
    let groups = tree.root().members()?;
    let name = tree.kind.journal().map_or(TABLE, Journal::group);
    if !groups.iter().any(|group| group == name) {
        return Err(Error::input(path, format!("expected a table, found a {}", tree.kind.text()))
            .with_help("give the directory of a run, its diagnostics, a table of a study, or a CSV file"));
    }
    let group = tree.group(name)?;
    let mut table = Table::default();
    if groups.iter().any(|group| group == "Provenance") {
        let p = provenance::read(&tree.group("Provenance")?, tree.version)?;
        table.remarks = [
            ("tisane", format!("{} ({})", p.version, p.git_commit)),
            ("engine", p.engine),
            ("precision", p.precision),
            ("host", p.host),
            ("created", p.created),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec();
    }
    if groups.iter().any(|group| group == REMARKS) {
        let remarks = tree.group(REMARKS)?;
        for name in remarks.attributes()? {
            match (name.as_str(), remarks.text(&name)?) {
                ("title", text) => table.title = text,
                (_, text) => table.remarks.push((name, text)),
            }
        }
    }
    let mut rows = None;
    for name in group.text("columns")?.split(',') {
        let values = match with_values {
            true => read_values(&group, name, rows)?,
            false => Values::Floats(Vec::new()),
        };
        rows = Some(values.len());
        let text = |attribute| group.optional_dataset_text(name, attribute).map(Option::unwrap_or_default);
        table.columns.push(Column::new(name, text("unit")?, text("description")?, values));
    }
    Ok(table)
}

/// Reads the values of a dataset according to its type.
pub(crate) fn read_values(group: &TisaneGroup<'_>, name: &str, rows: Option<usize>) -> Result<Values> {
    if group.is_integer(name)? {
        return Ok(Values::Counts(group.column(name, rows, 1)?));
    }
    if group.is_text(name)? {
        let cells: Vec<TextCell> = group.column(name, rows, 1)?;
        return Ok(Values::Text(cells.iter().map(|cell| cell.as_str().to_owned()).collect()));
    }
    Ok(Values::Floats(group.column(name, rows, 1)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::read;

    #[test]
    fn a_result_reads_back_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.hdf5");
        let table = Table {
            title: "A title".into(),
            remarks: vec![("host".into(), "here".into())],
            columns: vec![
                Column::new("mode", "", "precision mode", Values::Text(vec!["f64".into(), "größe".into()])),
                Column::new("n", "1", "particles", Values::Counts(vec![1024, u64::MAX])),
                Column::new("error", "km/s", "of the speed", Values::Floats(vec![1e-9, -0.0])),
            ],
        };
        table.write_hdf5(&path).unwrap();
        assert_eq!(read(&path).unwrap(), table);
        let headings = read_headings(&path).unwrap();
        assert_eq!((headings.rows(), headings.columns[2].label()), (0, "error [km/s]".into()));
    }

    #[test]
    fn long_text_is_truncated_between_characters() {
        let long = "ö".repeat(LONGEST);
        let cut = cells(&[long, "short".into()]).unwrap();
        assert_eq!((cut[0].as_str(), cut[1].as_str()), ("ö".repeat(LONGEST / 2).as_str(), "short"));
        assert!(cells(&["a\0b".into()]).is_err());
    }

    #[test]
    fn a_column_without_unit_or_description_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.hdf5");
        hdf::write(&path, FileKind::Table, |root| {
            let table = new_group(root, TABLE)?;
            put_text(&table, "columns", "n")?;
            put_dataset(&table, "n", 1, &[1024u64, 2048]).map(drop)
        })
        .unwrap();
        assert_eq!(read(&path).unwrap().columns, [Column::new("n", "", "", Values::Counts(vec![1024, 2048]))]);
    }
}
