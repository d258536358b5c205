//! Tables in time that external fields are read from: CSV with a header, whose column `t` increases from line to line.

use super::text::{Lines, number_at, shown};
use crate::regular_file;
use std::path::Path;
use tisane::error::nearest;
use tisane::force::external::TimeTable;
use tisane::{Error, Result};

/// Largest number of rows: a mistaken file does not fill the memory.
const MAX_ROWS: usize = 10_000_000;

/// Reads the columns of a table, the first of which is the time. Further columns are left out; blank lines and lines that begin with
/// `#` are skipped.
///
/// # Errors
/// [`Error::Input`] with line and column if the file is missing or no such table.
pub fn read_time_table(path: &Path, columns: &[&'static str]) -> Result<TimeTable> {
    // Refuses what is no regular file, reading which may never end.
    regular_file::open(path).map_err(|e| Error::input(path, e))?;
    let mut lines = Lines::open(path)?;
    let expected = columns.join(",");
    let Some((line, header)) = lines.next()? else {
        return Err(Error::input(path, format!("expected a header line, {expected}, found none")));
    };
    let names: Vec<&str> = header.split(',').map(str::trim).collect();
    let order = columns.iter().map(|column| {
        names.iter().position(|name| name == column).ok_or_else(|| {
            let near = nearest(column, &names).map(|name| format!("; the nearest name is {}", shown(name)));
            let problem = format!("line {line}: no column {column}{}", near.unwrap_or_default());
            Error::input(path, problem).with_help(format!("expected a header with the columns {expected}"))
        })
    });
    let order = order.collect::<Result<Vec<usize>>>()?;
    let width = names.len();
    let mut table =
        TimeTable { file: path.display().to_string(), columns: vec![Vec::new(); columns.len()], lines: Vec::new() };
    while let Some((line, text)) = lines.next()? {
        let words: Vec<&str> = text.split(',').map(str::trim).collect();
        if words.len() != width {
            let problem = format!("line {line}: expected {width} columns as in the header, found {}", words.len());
            return Err(Error::input(path, problem));
        }
        for ((values, name), &column) in table.columns.iter_mut().zip(columns).zip(&order) {
            let value = number_at(path, line, name, words[column])?;
            if !value.is_finite() {
                let problem =
                    format!("line {line}, column {name}: expected a finite number, found {}", shown(words[column]));
                return Err(Error::input(path, problem));
            }
            values.push(value);
        }
        if let [.., before, now] = table.columns[0][..]
            && now <= before
        {
            let problem = format!("line {line}, column {}: expected a time after {before}, found {now}", columns[0]);
            return Err(Error::input(path, problem));
        }
        table.lines.push(line);
        if table.lines.len() > MAX_ROWS {
            return Err(Error::input(path, format!("line {line}: expected at most {MAX_ROWS} rows")));
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn read(text: &str) -> Result<TimeTable> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.csv");
        fs::write(&path, text).unwrap();
        read_time_table(&path, &["t", "x"])
    }

    #[test]
    fn columns_are_found_by_name_with_their_lines() {
        let table = read("# a path\nx, other, t\n1,9,0\n\n2,9,0.5\n").unwrap();
        assert_eq!(table.columns, [[0.0, 0.5], [1.0, 2.0]]);
        assert_eq!(table.lines, [3, 5]);
        assert!(table.file.ends_with("a.csv"));
    }

    #[test]
    fn mistakes_are_told_at_line_and_column() {
        for (text, expected) in [
            ("", "expected a header line, t,x, found none"),
            ("t,X\n0,1\n", "line 1: no column x; the nearest name is \"X\""),
            ("t,x\n0\n", "line 2: expected 2 columns as in the header, found 1"),
            ("t,x\n0,1\n1,a\n", "line 3, column x: expected a number, found \"a\""),
            ("t,x\n0,1\n0,2\n", "line 3, column t: expected a time after 0, found 0"),
            ("t,x\n0,nan\n", "line 2, column x: expected a finite number, found \"nan\""),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error} does not say {expected}");
        }
        assert!(read_time_table(Path::new("/nowhere.csv"), &["t"]).is_err());
    }
}
