//! Tables of any kind as columns, for drawing: a run's diagnostics, the result of a study, somebody's CSV.

use super::fields::Journal;
use super::hdf::Kind;
use super::hdf::read::{Node, SIGNATURE, Tree};
use super::{formats, provenance, text};
use crate::regular;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use tisane::error::{Error, Result};

/// Group of an HDF5 table that is not a journal: a dataset a column.
const TABLE: &str = "Table";

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    /// What it shows; empty if the file does not say.
    pub title: String,
    /// Where it comes from: names and values, as far as the file says.
    pub remarks: Vec<(String, String)>,
    /// The columns in the order of the file, all of one length.
    pub columns: Vec<Column>,
}

/// A column of a [`Columns`].
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name, without the unit.
    pub name: String,
    /// Unit; empty for pure numbers and where the file does not say.
    pub unit: String,
    /// Values.
    pub cells: Cells,
}

/// The values of a [`Column`].
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Numbers; NaN where there is none.
    Numbers(Vec<f64>),
    /// Words.
    Words(Vec<String>),
}

impl Columns {
    /// A column by its name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The values of a column of numbers.
    #[must_use]
    pub fn numbers(&self, name: &str) -> Option<&[f64]> {
        self.column(name).and_then(Column::numbers)
    }
}

impl Column {
    /// Name and unit, as in `time [Myr]`.
    #[must_use]
    pub fn label(&self) -> String {
        if self.unit.is_empty() { self.name.clone() } else { format!("{} [{}]", self.name, self.unit) }
    }

    /// Its values, if they are numbers.
    #[must_use]
    pub fn numbers(&self) -> Option<&[f64]> {
        match &self.cells {
            Cells::Numbers(values) => Some(values),
            Cells::Words(_) => None,
        }
    }
}

/// Reads a table: HDF5 that tisane wrote, or CSV. In CSV, lines that begin with `#` are the title and remarks
/// (`# name: value`), the next one names the columns, with units in brackets (`time [Myr]`). A column is numbers if each of
/// its cells is one or empty, else words.
///
/// # Errors
/// [`Error::Input`] with the line or dataset if the file is missing, damaged or no table.
pub fn read(path: &Path) -> Result<Columns> {
    let head = formats::head(path)?;
    if head.starts_with(SIGNATURE) { read_hdf5(path, true) } else { parse_csv(path, || regular::open(path)) }
}

/// Reads a journal of a run that may be under way, such as its diagnostics: all whole lines of the journal `csv`, with units and origin from
/// `hdf5` where that is there; that alone if there is no journal.
///
/// # Errors
/// [`Error::Input`] as [`read`].
pub fn read_journal(csv: &Path, hdf5: &Path) -> Result<Columns> {
    if !csv.is_file() {
        if !hdf5.is_file() {
            return Err(Error::input(csv, "no such file"));
        }
        return read_hdf5(hdf5, true);
    }
    let described = hdf5.is_file().then(|| read_hdf5(hdf5, false)).transpose()?;
    let length = whole_lines(csv).map_err(|e| Error::input(csv, e))?;
    let mut journal = parse_csv(csv, || Ok(regular::open(csv)?.take(length)))?;
    if let Some(described) = described {
        for column in &mut journal.columns {
            column.unit = described.column(&column.name).map_or(String::new(), |column| column.unit.clone());
        }
        journal.remarks = described.remarks;
    }
    Ok(journal)
}

/// Length of the file up to its last end of line: a row in the course of being written has none yet.
fn whole_lines(path: &Path) -> std::io::Result<u64> {
    let mut file = regular::open(path)?;
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

/// Reads a CSV that `open` opens: once for its numbers, and again for its words only if it has columns of words.
fn parse_csv<R: Read>(path: &Path, open: impl Fn() -> std::io::Result<R>) -> Result<Columns> {
    let trouble = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::InvalidData => Error::input(path, "neither HDF5 nor text: no table"),
        _ => Error::input(path, e),
    };
    let mut table = Columns::default();
    for line in BufReader::new(open().map_err(trouble)?).lines() {
        let line = line.map_err(trouble)?;
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
    let mut numbers: Vec<Option<Vec<f64>>> = Vec::new();
    let names = each_row(path, open().map_err(trouble)?, |record| {
        numbers.resize_with(record.len(), || Some(Vec::new()));
        for (column, cell) in numbers.iter_mut().zip(record) {
            let number = if cell.is_empty() { Ok(f64::NAN) } else { cell.parse() };
            match (&mut *column, number) {
                (Some(values), Ok(number)) => values.push(number),
                _ => *column = None,
            }
        }
    })?;
    numbers.resize_with(names.len(), || Some(Vec::new()));
    let mut words: Vec<Vec<String>> = vec![Vec::new(); names.len()];
    if numbers.contains(&None) {
        each_row(path, open().map_err(trouble)?, |record| {
            let wanted = numbers.iter().zip(&mut words).zip(record).filter(|((numbers, _), _)| numbers.is_none());
            wanted.for_each(|((_, words), cell)| words.push(cell.to_owned()));
        })?;
    }
    for ((header, numbers), words) in names.iter().zip(numbers).zip(words) {
        let (name, unit) = split_unit(header);
        let cells = numbers.map_or(Cells::Words(words), Cells::Numbers);
        table.columns.push(Column { name, unit, cells });
    }
    Ok(table)
}

/// Hands out the rows of a CSV one after the other; returns the names of its columns, of which each row has as many.
fn each_row(path: &Path, csv: impl Read, mut take: impl FnMut(&csv::StringRecord)) -> Result<csv::StringRecord> {
    let trouble = |e: csv::Error| match e.kind() {
        csv::ErrorKind::Utf8 { .. } => Error::input(path, "neither HDF5 nor text: no table"),
        _ => Error::input(path, e),
    };
    let mut reader = csv::ReaderBuilder::new();
    let mut reader = reader.comment(Some(b'#')).trim(csv::Trim::All).flexible(true).from_reader(csv);
    let names = reader.headers().map_err(trouble)?.clone();
    let help = "the first line of a table names its columns";
    if names.is_empty() {
        return Err(Error::input(path, "the file is empty").with_help(help));
    }
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).map_err(trouble)? {
        if record.len() != names.len() {
            let line = record.position().map_or(0, csv::Position::line);
            let problem = format!("line {line}: cells expected {}, found {}", names.len(), record.len());
            return Err(Error::input(path, problem).with_help(help));
        }
        take(&record);
    }
    Ok(names)
}

/// `time [Myr]` is a name and a unit; the unit `1` is none.
fn split_unit(header: &str) -> (String, String) {
    let parts = header.strip_suffix(']').and_then(|rest| rest.rsplit_once('['));
    let (name, unit) = parts.unwrap_or((header, ""));
    (name.trim().to_owned(), bare(unit.trim()))
}

fn bare(unit: &str) -> String {
    if unit == "1" { String::new() } else { unit.to_owned() }
}

/// Reads an HDF5 table, or without its values what its columns are called and where it comes from.
fn read_hdf5(path: &Path, with_values: bool) -> Result<Columns> {
    let tree = Tree::open(path, &Kind::ALL, false)?;
    let groups = tree.root().members()?;
    let name = tree.kind.journal().map_or(TABLE, Journal::group);
    if !groups.iter().any(|group| group == name) {
        return Err(Error::input(path, format!("this is a {}: no table", tree.kind.text()))
            .with_help("what can be drawn: the directory of a run, its diagnostics, a table of a study, or CSV"));
    }
    let group = tree.group(name)?;
    let mut table = Columns::default();
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
    if groups.iter().any(|group| group == "Remarks") {
        let remarks = tree.group("Remarks")?;
        for name in remarks.attributes()? {
            match (name.as_str(), remarks.text(&name)?) {
                ("title", text) => table.title = text,
                (_, text) => table.remarks.push((name, text)),
            }
        }
    }
    let mut rows = None;
    for name in group.text("columns")?.split(',') {
        let cells = match with_values {
            true => cells(&group, name, rows)?,
            false => Cells::Numbers(Vec::new()),
        };
        rows = Some(match &cells {
            Cells::Numbers(values) => values.len(),
            Cells::Words(values) => values.len(),
        });
        table.columns.push(Column { name: name.to_owned(), unit: bare(&group.text_of(name, "unit")?), cells });
    }
    Ok(table)
}

fn cells(group: &Node<'_>, name: &str, rows: Option<usize>) -> Result<Cells> {
    if group.is_integer(name)? {
        let counts = group.column::<u64>(name, rows, 1)?;
        return Ok(Cells::Numbers(counts.into_iter().map(|n| n as f64).collect()));
    }
    if group.is_text(name)? {
        let words = group.column::<text::Cell>(name, rows, 1)?;
        return Ok(Cells::Words(words.iter().map(|word| word.as_str().to_owned()).collect()));
    }
    Ok(Cells::Numbers(group.column(name, rows, 1)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdf::write::{self as hdf, new_group, put_dataset, put_text};

    fn csv(text: &str) -> Result<Columns> {
        parse_csv(Path::new("t.csv"), || Ok(text.as_bytes()))
    }

    #[test]
    fn csv_of_a_study_keeps_title_remarks_and_units() {
        let text = "# Energy error\n# command: tisane study energy\n# column nu: accuracy\nmode,nu [1],wall time [s]\nf64,1e-2,3\nmixed,2e-2,\n";
        let table = csv(text).unwrap();
        assert_eq!(table.title, "Energy error");
        assert_eq!(table.remarks[0], ("command".into(), "tisane study energy".into()));
        let labels: Vec<String> = table.columns.iter().map(Column::label).collect();
        assert_eq!(labels, ["mode", "nu", "wall time [s]"]);
        assert_eq!(table.numbers("nu"), Some(&[1e-2, 2e-2][..]));
        assert_eq!(table.columns[0].cells, Cells::Words(vec!["f64".into(), "mixed".into()]));
        assert!(table.numbers("wall time").is_some_and(|t| t[0] == 3.0 && t[1].is_nan()));
    }

    #[test]
    fn csv_that_is_no_table_is_told_with_its_line() {
        let told = |text: &str| csv(text).unwrap_err().to_string();
        assert!(told("").contains("empty"));
        assert!(told("# only a remark\n").contains("empty"));
        assert!(told("# r\na,b\n1,2\n3\n").contains("line 4: cells expected 2, found 1"));
        assert_eq!(csv("a,b\n").unwrap().columns.len(), 2);
    }

    #[test]
    fn hdf5_gives_the_same_columns() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.hdf5");
        let word = |text: &str| text::cell(text).unwrap();
        hdf::write(&path, Kind::Table, |root| {
            let (remarks, table) = (new_group(root, "Remarks")?, new_group(root, "Table")?);
            put_text(&remarks, "title", "A title")?;
            put_text(&table, "columns", "mode,n,error")?;
            let mode = put_dataset(&table, "mode", 1, &[word("f64"), word("größe")])?;
            let n = put_dataset(&table, "n", 1, &[1024u64, 2048])?;
            let error = put_dataset(&table, "error", 1, &[1e-9, f64::NAN])?;
            [(mode, ""), (n, "1"), (error, "km/s")].iter().try_for_each(|(at, unit)| put_text(at, "unit", unit))
        })
        .unwrap();
        let table = read(&path).unwrap();
        assert_eq!(table.title, "A title");
        assert_eq!(table.columns[0].cells, Cells::Words(vec!["f64".into(), "größe".into()]));
        assert_eq!(table.numbers("n"), Some(&[1024.0, 2048.0][..]));
        assert_eq!(table.columns[2].label(), "error [km/s]");
        assert!(table.numbers("error").is_some_and(|e| e[0] == 1e-9 && e[1].is_nan()));
    }

    #[test]
    fn a_row_half_written_is_left_out_and_only_there() {
        let dir = tempfile::tempdir().unwrap();
        let (path, none) = (dir.path().join("d.csv"), dir.path().join("none"));
        std::fs::write(&path, "time,energy\n0.0,-0.25\n1.0,-0.2").unwrap();
        assert_eq!(read_journal(&path, &none).unwrap().numbers("time"), Some(&[0.0][..]));
        assert_eq!(read(&path).unwrap().numbers("time"), Some(&[0.0, 1.0][..]));
        assert!(read_journal(&none, &none).is_err());
        // The half row longer than what is looked through at a time.
        std::fs::write(&path, format!("time,energy\n0.0,-0.25\n1.0,{}", "0".repeat(200_000))).unwrap();
        assert_eq!(read_journal(&path, &none).unwrap().numbers("time"), Some(&[0.0][..]));
    }
}
