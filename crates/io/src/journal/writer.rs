//! The writer of a journal.

use crate::atomic::remove_if_present;
use crate::checksum::Digest;
use crate::fields::{ColumnSpec, JournalRow};
use crate::file_units::{self, FileUnits};
use crate::hdf::FileKind;
use crate::hdf::write::{self as hdf, H5Result, new_group, put, put_text};
use crate::provenance::{self, Provenance};
use crate::table::{self, Table, Value};
use hdf5::{Dataset, Group};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tisane::error::{Error, Result};

/// Pause between two rewrites of the HDF5 file, in durations of the last rewrite: rewriting takes at most 0.5 % of the
/// run.
const PAUSE_PER_COST: u32 = 200;
/// Number of rows that a rewrite holds in memory at a time, and of the rows of an HDF5 chunk. A journal that has fewer takes
/// more memory with each row: few, so that this ends early in a long run.
const BLOCK_ROWS: usize = 1024;

/// Writer of a journal of a running simulation.
#[derive(Debug)]
pub struct JournalWriter<R> {
    csv_path: PathBuf,
    hdf5_path: PathBuf,
    csv: File,
    /// Length of the CSV in bytes.
    length: u64,
    /// SHA-256 of the CSV up to `length`.
    hash: Sha256,
    units: FileUnits,
    /// Its columns.
    columns: Vec<ColumnSpec>,
    rows: u64,
    next_rewrite: Instant,
    row: PhantomData<R>,
}

/// CSV of a journal, opened for further rows.
pub(super) struct Csv {
    pub file: File,
    /// Its length in bytes, and its SHA-256.
    pub length: u64,
    pub hash: Sha256,
}

/// End of a journal at some moment, to which it can be truncated.
#[derive(Clone, Debug)]
pub struct JournalPosition {
    length: u64,
    rows: u64,
    hash: Sha256,
}

impl<R: JournalRow> JournalWriter<R> {
    /// Creates the journal of a new run: a CSV with its header line and no rows. `known` says of
    /// optional columns whether the journal has them; those that it does not name are there.
    ///
    /// # Errors
    /// [`Error::Storage`] if it cannot be written.
    pub fn create(dir: &Path, units: &FileUnits, known: &[(&str, bool)]) -> Result<Self> {
        let columns = columns::<R>(known, None);
        let (path, header) = (dir.join(R::JOURNAL.csv()), header(&columns));
        let begin = || {
            // An existing file or link of this name is replaced, not written to.
            remove_if_present(&path)?;
            // Append mode: after a failed row was truncated, the next one is written at the new end.
            let mut csv = OpenOptions::new().create_new(true).append(true).open(&path)?;
            csv.write_all(header.as_bytes())?;
            Ok(csv)
        };
        let csv = begin().map_err(|e: io::Error| Error::storage(&path, e))?;
        let csv = Csv { file: csv, length: header.len() as u64, hash: Sha256::new_with_prefix(header) };
        Ok(Self::new(dir, csv, (units, columns), 0))
    }

    pub(super) fn new(
        dir: &Path,
        Csv { file, length, hash }: Csv,
        (units, columns): (&FileUnits, Vec<ColumnSpec>),
        rows: u64,
    ) -> Self {
        Self {
            csv_path: dir.join(R::JOURNAL.csv()),
            hdf5_path: dir.join(R::JOURNAL.hdf5()),
            csv: file,
            length,
            hash,
            units: units.clone(),
            columns,
            rows,
            next_rewrite: Instant::now(),
            row: PhantomData,
        }
    }

    /// Returns the number of rows.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns true if the journal has a column: one that an earlier version began may be without it.
    #[must_use]
    pub fn has_column(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column.name == name)
    }

    /// Returns the SHA-256 of the CSV.
    #[must_use]
    pub fn sha256(&self) -> Digest {
        Digest::from_hasher(self.hash.clone())
    }

    /// Appends a row, given in internal units, in one write.
    ///
    /// # Errors
    /// [`Error::Storage`] if it cannot be written. A row that was written in part is truncated: a journal has whole
    /// rows only.
    pub fn append(&mut self, row: &R) -> Result<()> {
        let here = |spec: &ColumnSpec| self.columns.iter().any(|column| column.name == spec.name);
        let values = R::columns().into_iter().zip(row.values(&self.units.scale));
        let line = line(&values.filter(|(spec, _)| here(spec)).map(|(_, value)| value).collect::<Vec<_>>());
        if let Err(e) = self.csv.write_all(line.as_bytes()) {
            // If truncating fails too, a resume truncates.
            let _ = self.csv.set_len(self.length);
            return Err(Error::storage(&self.csv_path, e));
        }
        self.length += line.len() as u64;
        self.hash.update(line);
        self.rows += 1;
        Ok(())
    }

    /// Appends rows, given in internal units: all of them, or none on an error.
    ///
    /// # Errors
    /// As [`Self::append`].
    pub fn append_all(&mut self, rows: &[R]) -> Result<()> {
        let end = self.position();
        let appended = rows.iter().try_for_each(|row| self.append(row));
        if appended.is_err() {
            self.truncate(end);
        }
        appended
    }

    /// Returns the present end of the journal, for [`truncate`](Self::truncate).
    #[must_use]
    pub fn position(&self) -> JournalPosition {
        JournalPosition { length: self.length, rows: self.rows, hash: self.hash.clone() }
    }

    /// Removes the rows after a [`position`](Self::position).
    pub fn truncate(&mut self, position: JournalPosition) {
        (self.length, self.rows, self.hash) = (position.length, position.rows, position.hash);
        // If that fails, a resume truncates.
        let _ = self.csv.set_len(self.length);
    }

    /// Rewrites the HDF5 file if the pause since the last rewrite is over. `provenance` is called only then.
    ///
    /// # Errors
    /// [`Error::Storage`] if it cannot be written.
    pub fn refresh(&mut self, provenance: impl FnOnce() -> Provenance) -> Result<()> {
        if Instant::now() >= self.next_rewrite { self.rewrite(&provenance()) } else { Ok(()) }
    }

    /// Flushes the journal to the disk. Called before a checkpoint that counts its rows: a power cut could leave fewer
    /// otherwise.
    ///
    /// # Errors
    /// [`Error::Storage`] if that fails. Must not be retried: the operating system may have dropped the data that it
    /// could not write, and reports that once.
    pub fn sync(&self) -> Result<()> {
        self.csv.sync_data().map_err(|e| Error::storage(&self.csv_path, e))
    }

    /// Rewrites the HDF5 file from the CSV.
    ///
    /// # Errors
    /// [`Error::Storage`] if it cannot be written.
    pub fn rewrite(&mut self, provenance: &Provenance) -> Result<()> {
        let begun = Instant::now();
        let rows = usize::try_from(self.rows).map_err(|e| Error::storage(&self.hdf5_path, e))?;
        hdf::write(&self.hdf5_path, FileKind::from_journal(R::JOURNAL), |root| {
            provenance::write(provenance, &new_group(root, "Provenance")?)?;
            file_units::write(&self.units, &new_group(root, "Units")?)?;
            self.fill(&new_group(root, R::JOURNAL.group())?, rows)
        })?;
        let pause = begun.elapsed().saturating_mul(PAUSE_PER_COST);
        self.next_rewrite = Instant::now() + pause.min(Duration::from_secs(86_400));
        Ok(())
    }

    /// Copies the rows of the CSV into datasets, a block of rows at a time.
    fn fill(&self, group: &Group, rows: usize) -> H5Result {
        let specs = &self.columns;
        let columns = specs.iter().map(|spec| spec.column(&self.units.units)).collect();
        let mut block = Table { columns, ..Table::default() };
        put(group, "rows", &(rows as u64))?;
        put_text(group, "columns", &block.names().collect::<Vec<_>>().join(","))?;
        let mut datasets = Vec::new();
        for spec in specs {
            let dataset = table::hdf5_file::new_dataset(group, (&spec.name, spec.kind), rows, BLOCK_ROWS)?;
            file_units::describe(&dataset, &self.units.units, spec.dimension, &spec.description)?;
            datasets.push(dataset);
        }
        let failed = |e: &dyn std::fmt::Display| format!("{}: {e}", self.csv_path.display());
        let mut journal = csv::Reader::from_path(&self.csv_path).map_err(|e| failed(&e))?;
        let mut done = 0;
        for (row, record) in journal.records().take(rows).enumerate() {
            let record = record.map_err(|e| failed(&e))?;
            block.push_row(&record).map_err(|e| failed(&e))?;
            if (row + 1) % BLOCK_ROWS == 0 {
                done = flush_block(&datasets, &mut block, done)?;
            }
        }
        if flush_block(&datasets, &mut block, done)? != rows {
            return Err(failed(&"rows are missing from the journal").into());
        }
        Ok(())
    }
}

/// Writes the rows of a block after the first `done` rows of the datasets and empties it. Returns the number of rows
/// written.
fn flush_block(datasets: &[Dataset], block: &mut Table, done: usize) -> H5Result<usize> {
    let mut next = done;
    for (dataset, column) in datasets.iter().zip(&mut block.columns) {
        next = table::hdf5_file::write_rows(dataset, done, &column.values)?;
        column.values.clear();
    }
    Ok(next)
}

/// Returns the columns of a journal. `known` says of optional columns whether the journal has them. Those that it does not
/// name are there if `found`, the names in an existing file, has them, and always in a new journal.
pub(super) fn columns<R: JournalRow>(known: &[(&str, bool)], found: Option<&[&str]>) -> Vec<ColumnSpec> {
    let has = |column: &ColumnSpec| {
        let is_known = known.iter().find(|(name, _)| *name == column.name).map(|(_, has)| *has);
        let in_file = || found.is_none_or(|names| names.contains(&&*column.name));
        !column.optional || is_known.unwrap_or_else(in_file)
    };
    R::columns().into_iter().filter(has).collect()
}

/// Returns the header line: names without units, as pandas and numpy read them.
pub(super) fn header(columns: &[ColumnSpec]) -> String {
    let names: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
    names.join(",") + "\n"
}

/// Returns a row as a line, every number in the shortest form that reads back to the same bits.
pub(super) fn line(values: &[Value]) -> String {
    let mut line = String::new();
    for (i, value) in values.iter().enumerate() {
        let comma = if i == 0 { "" } else { "," };
        // Writing to a String cannot fail.
        let _ = match value {
            Value::Float(x) => write!(line, "{comma}{x:?}"),
            Value::Count(n) => write!(line, "{comma}{n}"),
            Value::Text(text) => write!(line, "{comma}{text}"),
        };
    }
    line.push('\n');
    line
}
