//! Tables of any kind as columns, for drawing: a run's diagnostics, the result of a study, somebody's CSV.

use super::fields::Journal;
use super::hdf::Kind;
use super::hdf::read::{Node, SIGNATURE, Tree};
use super::{formats, provenance, text};
use crate::error::{Error, Result};
use std::path::Path;

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
    if head.starts_with(SIGNATURE) { read_hdf5(path) } else { parse_csv(path, &text_of(path)?) }
}

/// Reads a journal of a run that may be under way, such as its diagnostics: all whole lines of the journal `csv`, with units and origin from
/// `hdf5` where that is there; that alone if there is no journal.
///
/// # Errors
/// [`Error::Input`] as [`read`].
pub fn read_journal(csv: &Path, hdf5: &Path) -> Result<Columns> {
    let described = hdf5.is_file().then(|| read_hdf5(hdf5)).transpose()?;
    if !csv.is_file() {
        return described.ok_or_else(|| Error::input(csv, "no such file"));
    }
    let mut text = text_of(csv)?;
    // A row in the course of being written has no end of line yet.
    text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
    let mut journal = parse_csv(csv, &text)?;
    if let Some(described) = described {
        for column in &mut journal.columns {
            column.unit = described.column(&column.name).map_or(String::new(), |column| column.unit.clone());
        }
        journal.remarks = described.remarks;
    }
    Ok(journal)
}

fn text_of(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).map_err(|e| Error::input(path, e))?;
    String::from_utf8(bytes).map_err(|_| Error::input(path, "neither HDF5 nor text: no table"))
}

fn parse_csv(path: &Path, text: &str) -> Result<Columns> {
    let mut table = Columns::default();
    for line in text.lines().map_while(|line| line.strip_prefix('#')).map(str::trim) {
        match line.split_once(": ") {
            Some((name, value)) if table.title.is_empty() && table.remarks.is_empty() && name.contains(' ') => {
                table.title = format!("{name}: {value}");
            }
            Some((name, value)) => table.remarks.push((name.to_owned(), value.to_owned())),
            None if table.title.is_empty() => table.title = line.to_owned(),
            None => table.remarks.push((String::new(), line.to_owned())),
        }
    }
    let mut reader = csv::ReaderBuilder::new();
    let mut reader = reader.comment(Some(b'#')).trim(csv::Trim::All).flexible(true).from_reader(text.as_bytes());
    let names = reader.headers().map_err(|e| Error::input(path, e))?.clone();
    if names.is_empty() {
        return Err(Error::input(path, "the file is empty").with_help("the first line of a table names its columns"));
    }
    let mut words: Vec<Vec<String>> = vec![Vec::new(); names.len()];
    for record in reader.records() {
        let record = record.map_err(|e| Error::input(path, e))?;
        if record.len() != names.len() {
            let line = record.position().map_or(0, csv::Position::line);
            let problem = format!("line {line}: cells expected {}, found {}", names.len(), record.len());
            return Err(Error::input(path, problem).with_help("the first line of a table names its columns"));
        }
        for (column, cell) in words.iter_mut().zip(&record) {
            column.push(cell.to_owned());
        }
    }
    for (header, words) in names.iter().zip(words) {
        let (name, unit) = split_unit(header);
        let number = |word: &String| if word.is_empty() { Ok(f64::NAN) } else { word.parse() };
        let numbers: Result<Vec<f64>, _> = words.iter().map(number).collect();
        let cells = numbers.map_or_else(|_| Cells::Words(words), Cells::Numbers);
        table.columns.push(Column { name, unit, cells });
    }
    Ok(table)
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

fn read_hdf5(path: &Path) -> Result<Columns> {
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
        let cells = cells(&group, name, rows)?;
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
    use crate::io::hdf::write::{self as hdf, new_group, put_dataset, put_text};

    fn csv(text: &str) -> Result<Columns> {
        parse_csv(Path::new("t.csv"), text)
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
    }
}
