//! Comma-separated text with a header: m, x, y, z, vx, vy, vz and optionally id, in any order. Blank lines and lines that
//! start with `#` are passed over.

use super::text::{first_content_line, number_at, shown};
use super::{Columns, FileState, Places, nearest};
use crate::{Error, Result};
use ::csv::{ErrorKind, Reader, ReaderBuilder, StringRecord, Trim};
use std::fs::File;
use std::path::Path;

/// The columns every file has, in the order of [`Columns::push`].
const REQUIRED: [&str; 7] = ["m", "x", "y", "z", "vx", "vy", "vz"];
const ID: &str = "id";

/// Text with a comma in its first content line.
pub(super) fn detect(head: &[u8], _length: u64) -> bool {
    first_content_line(head).is_some_and(|line| line.contains(','))
}

/// Where the header puts each column.
struct Header {
    required: [usize; 7],
    id: Option<usize>,
}

/// Reads the file.
pub(super) fn read(path: &Path) -> Result<FileState> {
    let file = File::open(path).map_err(|e| Error::input(path, e))?;
    let mut reader = ReaderBuilder::new().comment(Some(b'#')).trim(Trim::All).flexible(true).from_reader(file);
    let header = header(path, &mut reader)?;
    let width = REQUIRED.len() + usize::from(header.id.is_some());
    let (mut columns, mut ids, mut lines) = (Columns::default(), Vec::new(), Vec::new());
    let mut record = StringRecord::new();
    while reader.read_record(&mut record).map_err(|e| damaged(path, &e))? {
        let line = record.position().map_or(0, ::csv::Position::line);
        if record.len() != width {
            let problem = format!("line {line}: expected {width} columns as in the header, found {}", record.len());
            return Err(Error::input(path, problem));
        }
        let mut values = [0.0; 7];
        for ((value, name), &column) in values.iter_mut().zip(REQUIRED).zip(&header.required) {
            *value = number_at(path, line, name, &record[column])?;
        }
        columns.push(values);
        if let Some(column) = header.id {
            ids.push(id_at(path, line, &record[column])?);
        }
        lines.push(line);
    }
    let mut particles = columns.finish();
    if header.id.is_some() {
        particles.id = ids;
    }
    Ok(FileState { particles, time: None, format: "csv", softening: None, units: None, places: Places::Lines(lines) })
}

/// Reads the header line: every required name once, `id` at most once, nothing else.
fn header(path: &Path, reader: &mut Reader<File>) -> Result<Header> {
    let names = reader.headers().map_err(|e| damaged(path, &e))?;
    let expected = format!("the header is {}[,{ID}] in any order", REQUIRED.join(","));
    let wrong = |problem: String| Err(Error::input(path, problem).with_help(expected.clone()));
    for (column, name) in names.iter().enumerate() {
        if !REQUIRED.contains(&name) && name != ID {
            let guess = nearest(name, REQUIRED.into_iter().chain([ID]));
            let guess = if name.parse::<f64>().is_ok() { String::new() } else { format!(" (nearest: {guess})") };
            return wrong(format!(
                "header: column {} is {}: not a column of this format{guess}",
                column + 1,
                shown(name)
            ));
        }
        if names.iter().take(column).any(|earlier| earlier == name) {
            return wrong(format!("header: column {name} occurs twice"));
        }
    }
    let position = |name: &str| names.iter().position(|found| found == name);
    let mut required = [0; 7];
    for (place, name) in required.iter_mut().zip(REQUIRED) {
        match position(name) {
            Some(column) => *place = column,
            None => {
                return wrong(format!(
                    "header: expected a column {name}, found {}",
                    names.iter().collect::<Vec<_>>().join(",")
                ));
            }
        }
    }
    Ok(Header { required, id: position(ID) })
}

/// An id in a given line.
fn id_at(path: &Path, line: u64, word: &str) -> Result<u64> {
    word.parse().map_err(|_| {
        let problem =
            format!("line {line}, column {ID}: expected a whole number from 0 to 2^64 - 1, found {}", shown(word));
        Error::input(path, problem)
    })
}

/// What the csv reader could not make a record of.
fn damaged(path: &Path, error: &::csv::Error) -> Error {
    match error.kind() {
        ErrorKind::Utf8 { pos, .. } => {
            let line = pos.as_ref().map_or(1, ::csv::Position::line);
            Error::input(path, format!("line {line}: expected numbers, found bytes that are not UTF-8 text"))
        }
        _ => Error::input(path, error),
    }
}
