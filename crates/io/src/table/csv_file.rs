//! Reading and writing of tables in CSV.

use super::columns::{Column, ColumnKind, Table, Values};
use crate::atomic::write_atomically;
use crate::fields::{ColumnSpec, Journal};
use crate::number::number;
use crate::regular_file;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use tisane::error::{Error, Result};

/// Help for a file without a header line.
const HELP: &str = "the first line of a table names its columns";

impl Table {
    /// Writes the table as CSV, as [`Self::csv`].
    ///
    /// # Errors
    /// [`Error::Storage`] if the file cannot be written.
    pub fn write_csv(&self, path: &Path) -> Result<()> {
        let text = self.csv().map_err(|e| Error::storage(path, e))?;
        write_atomically(path, |path| std::fs::write(path, &text).map_err(|e| Error::storage(path, e)))
    }

    /// Returns the table as CSV: title, remarks and descriptions in lines that begin with `#`, then the header and the
    /// rows.
    ///
    /// # Errors
    /// A message if the columns are not of one length.
    pub fn csv(&self) -> Result<String, String> {
        let mut text = format!("# {}\n", self.title);
        for (name, value) in &self.remarks {
            let _ = writeln!(text, "# {name}: {}", value.replace('\n', " "));
        }
        for column in &self.columns {
            let _ = writeln!(text, "# column {}: {}", column.name, column.description);
        }
        let mut csv = csv::Writer::from_writer(text.into_bytes());
        let wrong = |e: csv::Error| e.to_string();
        csv.write_record(self.columns.iter().map(Column::header)).map_err(wrong)?;
        for row in 0..self.rows() {
            csv.write_record(self.columns.iter().map(|column| column.values.cell(row))).map_err(wrong)?;
        }
        let bytes = csv.into_inner().map_err(|e| e.to_string())?;
        String::from_utf8(bytes).map_err(|e| e.to_string())
    }
}

impl Values {
    /// Returns the cell of a row as it is written to CSV, as [`Value::cell`](super::columns::Value::cell); empty beyond the last row.
    #[must_use]
    pub fn cell(&self, row: usize) -> String {
        self.get(row).map_or_else(String::new, |value| value.cell())
    }
}

/// Reads the CSV of a journal: columns have the types that the journal declares; undeclared columns hold numbers.
///
/// # Errors
/// [`Error::Input`] with the line if the file is missing or malformed.
pub fn read_csv(path: &Path) -> Result<Table> {
    parse(path, || regular_file::open(path), Typing::Declared)
}

/// Reads any CSV file; the type of each column follows from its cells.
pub(super) fn read_any(path: &Path) -> Result<Table> {
    parse(path, || regular_file::open(path), Typing::ByCells)
}

/// Reads a CSV file up to its last line end.
pub(super) fn read_whole_lines(path: &Path) -> Result<Table> {
    whole_lines_as(path, Typing::ByCells)
}

/// Reads a CSV file up to its last line end, whose columns must be those of a table, with their types.
pub(super) fn read_rows_of(path: &Path, table: &Table) -> Result<Table> {
    whole_lines_as(path, Typing::As(table))
}

fn whole_lines_as(path: &Path, typing: Typing<'_>) -> Result<Table> {
    let length = whole_lines(path).map_err(|e| Error::input(path, e))?;
    parse(path, || Ok(regular_file::open(path)?.take(length)), typing)
}

/// Source of the types of columns.
#[derive(Clone, Copy)]
enum Typing<'a> {
    /// Declaration of the journal: a cell of another type is an error.
    Declared,
    /// Cells: numbers if each of them is a number or empty, text otherwise.
    ByCells,
    /// Columns of a table, which the file must have.
    As(&'a Table),
}

/// Returns the length in bytes of a file up to its last line end: a row that is being written has none yet.
fn whole_lines(path: &Path) -> std::io::Result<u64> {
    let mut file = regular_file::open(path)?;
    let mut end = file.metadata()?.len();
    let mut block = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(1 << 16);
        file.seek(SeekFrom::Start(start))?;
        block.clear();
        file.by_ref().take(end - start).read_to_end(&mut block)?;
        if let Some(at) = block.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// Reads the CSV that `open` returns. A file with undeclared columns of text is read twice, so that numbers are never
/// held as text.
fn parse<R: Read>(path: &Path, open: impl Fn() -> std::io::Result<R>, typing: Typing<'_>) -> Result<Table> {
    let failed = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::InvalidData => Error::input(path, "not a table: neither HDF5 nor UTF-8 text"),
        _ => Error::input(path, e),
    };
    let mut table = Table::default();
    for line in BufReader::new(open().map_err(failed)?).lines() {
        let line = line.map_err(failed)?;
        let Some(line) = line.strip_prefix('#').map(str::trim) else { break };
        match line.split_once(": ") {
            Some((name, value)) if table.title.is_empty() && table.remarks.is_empty() && name.contains(' ') => {
                table.title = format!("{name}: {value}");
            }
            Some((name, value)) => table.remarks.push((name.to_owned(), value.to_owned())),
            None if table.title.is_empty() => table.title = line.to_owned(),
            None => table.remarks.push((String::new(), line.to_owned())),
        }
    }
    let mut rows = CsvRows::new(path, open().map_err(failed)?, typing)?;
    table.columns = match typing {
        Typing::Declared => declared(&rows.names),
        Typing::ByCells => rows.names.iter().map(|name| column(name, ColumnKind::Float)).collect(),
        Typing::As(table) => described(path, &rows.names, table)?,
    };
    // True for each column in which a cell was not a number.
    let mut text = vec![false; table.columns.len()];
    while let Some((line, record)) = rows.next()? {
        match typing {
            Typing::Declared | Typing::As(_) => {
                table.push_row(record).map_err(|e| Error::input(path, format!("line {line}: {e}")))?;
            }
            Typing::ByCells => push_numbers(&mut table.columns, &mut text, record),
        }
    }
    if text.contains(&true) {
        let mut rows = CsvRows::new(path, open().map_err(failed)?, typing)?;
        while let Some((_, record)) = rows.next()? {
            for ((column, is_text), cell) in table.columns.iter_mut().zip(&text).zip(record) {
                if let (Values::Text(values), true) = (&mut column.values, is_text) {
                    values.push(cell.to_owned());
                }
            }
        }
    }
    Ok(table)
}

/// Appends a row of numbers. A column with a cell that is not a number becomes a column of text, still without values.
fn push_numbers(columns: &mut [Column], text: &mut [bool], record: &csv::StringRecord) {
    for ((column, is_text), cell) in columns.iter_mut().zip(text).zip(record) {
        let Values::Floats(values) = &mut column.values else { continue };
        match number(cell) {
            Some(number) => values.push(number),
            None if cell.is_empty() => values.push(f64::NAN),
            None => {
                column.values = Values::empty(ColumnKind::Text);
                *is_text = true;
            }
        }
    }
}

/// Returns empty columns with these names and the types that the journal declares; undeclared ones hold numbers.
fn declared(names: &csv::StringRecord) -> Vec<Column> {
    let header = names.iter().collect::<Vec<_>>().join(",");
    let known = Journal::from_csv(header.as_bytes()).map_or(Vec::new(), Journal::columns);
    let kind = |name: &str| {
        let spec: Option<&ColumnSpec> = known.iter().find(|spec| spec.name == name);
        spec.map_or(ColumnKind::Float, |spec| spec.kind)
    };
    names.iter().map(|name| column(name, kind(name))).collect()
}

/// Returns the empty columns of a table, if they are those of the file.
fn described(path: &Path, names: &csv::StringRecord, table: &Table) -> Result<Vec<Column>> {
    let expected: Vec<String> = table.columns.iter().map(Column::header).collect();
    if !names.iter().eq(expected.iter()) {
        let found = names.iter().collect::<Vec<_>>().join(",");
        return Err(Error::input(path, format!("expected the columns {}, found {found}", expected.join(","))));
    }
    Ok(table.emptied().columns)
}

/// Returns an empty column from its name in a header, with the unit in brackets: `time [Myr]`.
fn column(header: &str, kind: ColumnKind) -> Column {
    let parts = header.strip_suffix(']').and_then(|rest| rest.rsplit_once('['));
    let (name, unit) = parts.unwrap_or((header, ""));
    Column::new(name.trim(), unit.trim(), "", Values::empty(kind))
}

/// Reader of the rows of a CSV file.
struct CsvRows<'a, R> {
    path: &'a Path,
    reader: csv::Reader<R>,
    names: csv::StringRecord,
    record: csv::StringRecord,
}

impl<'a, R: Read> CsvRows<'a, R> {
    /// Reads the header line. Cells of files not written by tisane may be surrounded by spaces.
    fn new(path: &'a Path, csv: R, typing: Typing<'_>) -> Result<Self> {
        let trim = match typing {
            Typing::Declared | Typing::As(_) => csv::Trim::None,
            Typing::ByCells => csv::Trim::All,
        };
        let mut reader = csv::ReaderBuilder::new();
        let mut reader = reader.comment(Some(b'#')).trim(trim).flexible(true).from_reader(csv);
        let names = reader.headers().map_err(|e| csv_error(path, &e))?.clone();
        if names.is_empty() {
            return Err(Error::input(path, "the file is empty").with_help(HELP));
        }
        Ok(Self { path, reader, names, record: csv::StringRecord::new() })
    }

    /// Returns the next row, with one cell for each name, and its line number.
    fn next(&mut self) -> Result<Option<(u64, &csv::StringRecord)>> {
        if !self.reader.read_record(&mut self.record).map_err(|e| csv_error(self.path, &e))? {
            return Ok(None);
        }
        let line = self.record.position().map_or(0, csv::Position::line);
        if self.record.len() != self.names.len() {
            let problem = format!("line {line}: expected {} cells, found {}", self.names.len(), self.record.len());
            return Err(Error::input(self.path, problem).with_help(HELP));
        }
        Ok(Some((line, &self.record)))
    }
}

/// Converts an error of the CSV reader.
fn csv_error(path: &Path, e: &csv::Error) -> Error {
    match e.kind() {
        csv::ErrorKind::Utf8 { .. } => Error::input(path, "not a table: neither HDF5 nor UTF-8 text"),
        _ => Error::input(path, e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csv(text: &str) -> Result<Table> {
        parse(Path::new("t.csv"), || Ok(text.as_bytes()), Typing::ByCells)
    }

    #[test]
    fn csv_of_a_study_keeps_title_remarks_and_units() {
        let text = "# Energy error\n# command: tisane study energy\n# column nu: accuracy\nmode,nu [1],wall time [s]\nf64,1e-2,3\nmixed,2e-2,\n";
        let table = csv(text).unwrap();
        assert_eq!(table.title, "Energy error");
        assert_eq!(table.remarks[0], ("command".into(), "tisane study energy".into()));
        let labels: Vec<String> = table.columns.iter().map(Column::label).collect();
        assert_eq!(labels, ["mode", "nu", "wall time [s]"]);
        assert_eq!(table.columns[1].values, Values::Floats(vec![1e-2, 2e-2]));
        assert_eq!(table.columns[0].values, Values::Text(vec!["f64".into(), "mixed".into()]));
        let Values::Floats(times) = &table.column("wall time").unwrap().values else { panic!("numbers") };
        assert!(times[0] == 3.0 && times[1].is_nan());
    }

    #[test]
    fn a_column_is_text_from_its_first_row_on_if_one_cell_is() {
        let table = csv("a,b,c\n1,2,x\n,y,3\n5,6,7\n").unwrap();
        let text = |cells: [&str; 3]| Values::Text(cells.map(str::to_owned).to_vec());
        assert_eq!(table.columns[1].values, text(["2", "y", "6"]));
        assert_eq!(table.columns[2].values, text(["x", "3", "7"]));
        let a: Vec<f64> = table.numbers("a").unwrap().iter().collect();
        assert!(a[0] == 1.0 && a[1].is_nan() && a[2] == 5.0);
    }

    #[test]
    fn spaces_around_cells_are_dropped() {
        let table = csv("a , b [ s ]\n 1,x y \n").unwrap();
        assert_eq!(table.columns.iter().map(Column::header).collect::<Vec<_>>(), ["a", "b [s]"]);
        assert_eq!(table.columns[0].values, Values::Floats(vec![1.0]));
        assert_eq!(table.columns[1].values, Values::Text(vec!["x y".into()]));
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text: &str| csv(text).unwrap_err().to_string();
        assert!(error("").contains("empty"));
        assert!(error("# only a remark\n").contains("empty"));
        assert!(error("# r\na,b\n1,2\n3\n").contains("line 4: expected 2 cells, found 1"));
        assert_eq!(csv("a,b\n").unwrap().columns.len(), 2);
    }

    #[test]
    fn a_journal_has_the_types_that_it_declares() {
        let declared = |text: &str| parse(Path::new("t.csv"), || Ok(text.as_bytes()), Typing::Declared);
        let table = declared("id,time,kind,new\n18446744073709551615,1,7,2\n").unwrap();
        let values: Vec<&Values> = table.columns.iter().map(|column| &column.values).collect();
        let expected = [
            Values::Counts(vec![u64::MAX]),
            Values::Floats(vec![1.0]),
            Values::Text(vec!["7".into()]),
            Values::Floats(vec![2.0]),
        ];
        assert!(values.into_iter().eq(&expected), "{table:?}");
        let error = |text: &str| declared(text).unwrap_err().to_string();
        assert!(error("id,time\n0,1\n-1,2\n").contains("line 3: id: expected a count, found '-1'"));
        assert!(error("id,time\n0,\n").contains("line 2: time: expected a number, found ''"));
    }
}
