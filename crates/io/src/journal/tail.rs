//! Reading of a journal (`diagnostics.csv` and the like) while a run appends lines to it.

use crate::regular_file;
use crate::table::{Column, Table, Values};
use csv::ByteRecord;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::PathBuf;
use tisane::error::{Error, Result};

/// Interval in rows between two recorded file offsets.
const ROWS_PER_MARK: u64 = 256;

/// Journal that is followed up to its last whole line. Keeps file offsets only, one in 256 rows, and no values.
#[derive(Clone, Debug)]
pub struct JournalTail {
    path: PathBuf,
    /// Header line with its line end; empty while there is none.
    header: Vec<u8>,
    names: Vec<String>,
    /// Offsets in bytes of rows 0, [`ROWS_PER_MARK`], 2 [`ROWS_PER_MARK`], …
    marks: Vec<u64>,
    rows: u64,
    /// Length in bytes of the header and all whole lines.
    length: u64,
    /// Last whole line.
    last: Vec<u8>,
    generation: u64,
}

/// Result of [`JournalTail::read`]: some rows of some columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TailRows {
    /// Number of the row after these, from which the next call continues.
    pub next: u64,
    /// Values; NaN for a cell that is not a number.
    pub table: Table,
}

impl JournalTail {
    /// Follows the journal at `path`, which need not exist yet.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            header: Vec::new(),
            names: Vec::new(),
            marks: Vec::new(),
            rows: 0,
            length: 0,
            last: Vec::new(),
            generation: 0,
        }
    }

    /// Returns the number of whole rows.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns a number that increases whenever rows were removed: by a resume from an earlier checkpoint, or by a new
    /// run.
    #[must_use]
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the names of the columns.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Reads the lines written since the last call.
    ///
    /// # Errors
    /// [`Error::Input`] if the file exists and cannot be read.
    pub fn refresh(&mut self) -> Result<()> {
        let failed = |e| Error::input(&self.path, e);
        let file = match regular_file::open(&self.path) {
            Ok(file) => file,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                self.reset();
                return Ok(());
            }
            Err(e) => return Err(failed(e)),
        };
        let mut file = BufReader::with_capacity(1 << 16, file);
        if !self.is_continued(&mut file).map_err(failed)? {
            self.reset();
        }
        file.seek(SeekFrom::Start(self.length)).map_err(|e| Error::input(&self.path, e))?;
        let mut line = Vec::new();
        loop {
            line.clear();
            file.read_until(b'\n', &mut line).map_err(|e| Error::input(&self.path, e))?;
            // A row that is being written has no line end yet.
            if !line.ends_with(b"\n") {
                return Ok(());
            }
            self.push_line(&line);
        }
    }

    /// Adds a whole line: the header, or a row.
    fn push_line(&mut self, line: &[u8]) {
        if self.header.is_empty() {
            line.clone_into(&mut self.header);
            let names = rows_of(line).into_byte_records().next().and_then(csv::Result::ok).unwrap_or_default();
            self.names = names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        } else {
            // As the reader of rows, which skips empty lines.
            if line != b"\n" {
                if self.rows.is_multiple_of(ROWS_PER_MARK) {
                    self.marks.push(self.length);
                }
                self.rows += 1;
            }
            line.clone_into(&mut self.last);
        }
        self.length += line.len() as u64;
    }

    /// Drops all rows and starts a new generation.
    fn reset(&mut self) {
        if self.length > 0 {
            *self = Self { generation: self.generation + 1, ..Self::new(std::mem::take(&mut self.path)) };
        }
    }

    /// Returns true if the known header and last row are still in place.
    fn is_continued(&self, file: &mut (impl Read + Seek)) -> std::io::Result<bool> {
        Ok(has(file, 0, &self.header)? && has(file, self.length - self.last.len() as u64, &self.last)?)
    }

    /// Reads at most `max` rows from row number `from` on, of the columns for which `wanted` is true. Takes only the
    /// rows whose number is a multiple of `every`, to thin out a long journal.
    ///
    /// # Errors
    /// [`Error::Input`] if the file cannot be read.
    pub fn read(&self, from: u64, every: u64, max: usize, wanted: impl Fn(&str) -> bool) -> Result<TailRows> {
        let every = every.max(1);
        let chosen: Vec<usize> = (0..self.names.len()).filter(|&i| wanted(&self.names[i])).collect();
        let mut next = from;
        let mut values: Vec<Vec<f64>> = vec![Vec::new(); chosen.len()];
        let rows = |next: u64, values: Vec<Vec<f64>>| {
            let column =
                |(&i, values): (&usize, Vec<f64>)| Column::new(&*self.names[i], "", "", Values::Floats(values));
            let columns = chosen.iter().zip(values).map(column).collect();
            TailRows { next, table: Table { columns, ..Table::default() } }
        };
        let Some(&mark) = usize::try_from(from / ROWS_PER_MARK).ok().and_then(|mark| self.marks.get(mark)) else {
            return Ok(rows(next, values));
        };
        let failed = |e| Error::input(&self.path, e);
        let mut file = regular_file::open(&self.path).map_err(failed)?;
        file.seek(SeekFrom::Start(mark)).map_err(failed)?;
        let mut csv = rows_of(file.take(self.length - mark));
        let (mut record, mut taken) = (ByteRecord::new(), 0);
        for row in from - from % ROWS_PER_MARK..self.rows {
            if taken == max || !csv.read_byte_record(&mut record).map_err(|e| failed(e.into()))? {
                break;
            }
            if row < from {
                continue;
            }
            next = row + 1;
            if row.is_multiple_of(every) {
                taken += 1;
                for (&i, values) in chosen.iter().zip(&mut values) {
                    let cell = record.get(i).and_then(|cell| std::str::from_utf8(cell).ok());
                    values.push(cell.and_then(|cell| cell.parse().ok()).unwrap_or(f64::NAN));
                }
            }
        }
        // A file that was cut meanwhile may have ended inside of a row; the next refresh finds its new end.
        if csv.get_ref().get_ref().metadata().map_err(failed)?.len() < self.length {
            return Ok(rows(from, vec![Vec::new(); chosen.len()]));
        }
        Ok(rows(next, values))
    }
}

/// Returns a reader of lines as rows. Numbers and names in a journal are never quoted.
fn rows_of<R: Read>(lines: R) -> csv::Reader<R> {
    let mut csv = csv::ReaderBuilder::new();
    csv.has_headers(false).flexible(true).quoting(false).terminator(csv::Terminator::Any(b'\n')).trim(csv::Trim::All);
    csv.from_reader(lines)
}

/// Returns true if a file has these bytes at an offset.
fn has(file: &mut (impl Read + Seek), at: u64, expected: &[u8]) -> std::io::Result<bool> {
    file.seek(SeekFrom::Start(at))?;
    let mut found = Vec::new();
    file.take(expected.len() as u64).read_to_end(&mut found)?;
    Ok(found == expected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::path::Path;

    fn append(path: &Path, text: &str) {
        let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    /// A journal that does not exist yet, with its folder and path.
    fn followed() -> (tempfile::TempDir, PathBuf, JournalTail) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("diagnostics.csv");
        (dir, path.clone(), JournalTail::new(path))
    }

    /// All values of the column `time`.
    fn times(journal: &JournalTail, from: u64, max: usize) -> Vec<f64> {
        journal.read(from, 1, max, |name| name == "time").unwrap().table.columns[0]
            .values
            .numbers()
            .unwrap()
            .iter()
            .collect()
    }

    #[test]
    fn rows_appear_when_they_are_whole() {
        let (_dir, path, mut journal) = followed();
        journal.refresh().unwrap();
        assert_eq!(journal.rows(), 0);
        append(&path, "time,ene");
        journal.refresh().unwrap();
        assert!(journal.names().is_empty());
        append(&path, "rgy\n0.0,-0.25\n1.0,-0.");
        journal.refresh().unwrap();
        assert_eq!((journal.names(), journal.rows()), (&["time".to_owned(), "energy".to_owned()][..], 1));
        append(&path, "24\n2.0,NaN\n");
        journal.refresh().unwrap();
        assert_eq!(
            (times(&journal, 0, 9), times(&journal, 1, 1), times(&journal, 7, 9)),
            (vec![0., 1., 2.], vec![1.], vec![])
        );
        let rows = journal.read(1, 1, 9, |name| name == "energy").unwrap();
        let energy = rows.table.numbers("energy").unwrap();
        assert!(rows.next == 3 && energy.at(0) == -0.24 && energy.len() == 2 && energy.at(1).is_nan());
        assert_eq!(journal.generation(), 0);
    }

    #[test]
    fn rows_far_in_are_found_by_their_marks() {
        let (_dir, path, mut journal) = followed();
        append(&path, "time\n");
        for part in 0..5 {
            append(&path, &(0..200).map(|i| format!("{}\n", 200 * part + i)).collect::<String>());
            journal.refresh().unwrap();
        }
        for from in [0, 1, 255, 256, 257, 511, 512, 999] {
            assert_eq!(times(&journal, from, 1), [from as f64]);
        }
        assert_eq!(times(&journal, 990, 100).len(), 10);
        // Every 300th of them, two at a time.
        let (mut found, mut from) = (Vec::new(), 0);
        while from < journal.rows() {
            let rows = journal.read(from, 300, 2, |_| true).unwrap();
            assert!(rows.next > from);
            from = rows.next;
            found.extend(rows.table.numbers("time").unwrap().iter());
        }
        assert_eq!(found, [0.0, 300.0, 600.0, 900.0]);
    }

    #[test]
    fn empty_lines_and_missing_cells_are_no_trouble() {
        let (_dir, path, mut journal) = followed();
        append(&path, "energy,time\r\n1,2.0\r\n\n1\n1,\"3\n1, 4.0\n\n");
        journal.refresh().unwrap();
        journal.refresh().unwrap();
        assert_eq!((journal.rows(), journal.generation()), (4, 0));
        let found = times(&journal, 0, 9);
        assert!(found[0] == 2.0 && found[1].is_nan() && found[2].is_nan() && found[3] == 4.0, "{found:?}");
    }

    #[test]
    fn a_row_that_was_cut_is_not_read() {
        let (_dir, path, mut journal) = followed();
        append(&path, "time\n0.25\n1.25\n");
        journal.refresh().unwrap();
        fs::write(&path, "time\n0.25\n1.2").unwrap();
        assert_eq!(journal.read(1, 1, 9, |_| true).unwrap().next, 1);
        assert!(times(&journal, 0, 9).is_empty());
        journal.refresh().unwrap();
        assert_eq!((journal.generation(), times(&journal, 0, 9)), (1, vec![0.25]));
    }

    #[test]
    fn rows_taken_back_are_noticed() {
        let (_dir, path, mut journal) = followed();
        append(&path, "time\n0.0\n1.0\n2.0\n");
        journal.refresh().unwrap();
        // Cut, and already longer than before.
        fs::write(&path, "time\n0.0\n1.5\n2.5\n3.5\n").unwrap();
        journal.refresh().unwrap();
        assert_eq!((journal.generation(), times(&journal, 0, 9)), (1, vec![0.0, 1.5, 2.5, 3.5]));
        fs::write(&path, "time\n").unwrap();
        journal.refresh().unwrap();
        assert_eq!((journal.generation(), journal.rows()), (2, 0));
        fs::remove_file(&path).unwrap();
        journal.refresh().unwrap();
        assert_eq!((journal.generation(), journal.names().len()), (3, 0));
    }
}
