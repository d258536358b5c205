//! Journal of a stopped run, checked before the run is resumed.

use super::writer::{Csv, JournalWriter, columns, header, line};
use crate::atomic::write_atomically;
use crate::checksum::Digest;
use crate::fields::{ColumnSpec, JournalRow};
use crate::file_units::FileUnits;
use crate::regular_file;
use crate::table::{self, Table};
use sha2::{Digest as _, Sha256};
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};

/// Journal of a stopped run that was checked against its checkpoint. Its files change only in [`resume`](Self::resume):
/// a run checks all its journals first, so that none loses rows if another one is missing.
#[derive(Debug)]
#[must_use]
pub struct ResumableJournal<R> {
    dir: PathBuf,
    found: RowSource,
    /// Length in bytes of the CSV up to the last row that the checkpoint counts.
    length: u64,
    hash: Sha256,
    rows: u64,
    units: FileUnits,
    columns: Vec<ColumnSpec>,
    row: PhantomData<R>,
}

/// Place of the rows.
#[derive(Debug)]
enum RowSource {
    /// The CSV file, perhaps followed by rows after the checkpoint.
    Csv,
    /// Memory, with what became of the CSV, if the checkpoint knows one.
    Text(String, &'static str),
}

impl<R: JournalRow> ResumableJournal<R> {
    /// Checks the journal of a run whose checkpoint records `rows` rows with the hash `sha256`, if it has one. `known`
    /// says of optional columns whether the journal must have them; of those that it does not name, the journal goes on
    /// with the ones in its file. If the CSV is missing or damaged, its rows are taken from the HDF5 file, provided that they
    /// give the bytes that the run wrote. Otherwise rows that were modified, and are rows still, are kept and logged as a
    /// warning: the state of the run does not depend on them.
    ///
    /// # Errors
    /// [`Error::Input`] if the journal is missing, is a link, has other columns, fewer rows or one that cannot be read, and
    /// cannot be restored; [`Error::Storage`] if it cannot be written.
    pub fn check(
        dir: &Path,
        (rows, sha256): (u64, Option<Digest>),
        units: &FileUnits,
        known: &[(&str, bool)],
    ) -> Result<Self> {
        let path = dir.join(R::JOURNAL.csv());
        let restored = || text_of_hdf5::<R>(&dir.join(R::JOURNAL.hdf5()), known, rows, sha256);
        let of_text = |(text, columns), what| Self::from_text(dir, (text, what), (units, columns), rows);
        if fs::symlink_metadata(&path).is_err() {
            let restored = restored().map_err(|why| missing(&path, &why))?;
            return Ok(of_text(restored, "was missing"));
        }
        regular_file::open_to_write(&path, OpenOptions::new().append(true)).map_err(|e| Error::storage(&path, e))?;
        let of_csv = || {
            let columns = columns::<R>(known, Some(&names(&path)?.iter().collect::<Vec<_>>()));
            first_rows(&path, rows, &header(&columns)).map(|(length, hash)| (length, hash, columns))
        };
        let found = of_csv();
        let is_as_written = |hash: &Sha256| sha256.is_none_or(|written| written == Digest::from_hasher(hash.clone()));
        if !found.as_ref().is_ok_and(|(_, hash, _)| is_as_written(hash))
            && let Ok(restored) = restored()
        {
            return Ok(of_text(restored, "was changed since this run wrote it"));
        }
        let (length, hash, columns) = found.map_err(|e| e.with_help(advice(&path)))?;
        if !is_as_written(&hash) {
            check_rows(&path, rows, &columns, units).map_err(|e| e.with_help(advice(&path)))?;
            let path = path.display();
            tracing::warn!("{path}: the first {rows} rows were modified since this run wrote them");
        }
        let empty = Self::from_text(dir, (String::new(), ""), (units, columns), rows);
        Ok(Self { found: RowSource::Csv, length, hash, ..empty })
    }

    /// Returns a journal without rows, for a checkpoint of a version that had no such journal; `known` as in
    /// [`JournalWriter::create`].
    pub fn empty(dir: &Path, units: &FileUnits, known: &[(&str, bool)]) -> Self {
        let columns = columns::<R>(known, None);
        Self::from_text(dir, (header(&columns), ""), (units, columns), 0)
    }

    fn from_text(
        dir: &Path,
        (text, what): (String, &'static str),
        (units, columns): (&FileUnits, Vec<ColumnSpec>),
        rows: u64,
    ) -> Self {
        let (length, hash) = (text.len() as u64, Sha256::new_with_prefix(&text));
        let found = RowSource::Text(text, what);
        Self { dir: dir.to_owned(), found, length, hash, rows, units: units.clone(), columns, row: PhantomData }
    }

    /// Opens the journal for further rows. Rows after those that the checkpoint counts, whole or not, are removed: the
    /// run will write them again.
    ///
    /// # Errors
    /// [`Error::Storage`] if it cannot be written.
    pub fn resume(self) -> Result<JournalWriter<R>> {
        let path = self.dir.join(R::JOURNAL.csv());
        let failed = |e| Error::storage(&path, e);
        if let RowSource::Text(text, what) = self.found {
            write_atomically(&path, |temporary| fs::write(temporary, &text).map_err(failed))?;
            if self.rows > 0 {
                let (path, twin) = (path.display(), R::JOURNAL.hdf5());
                tracing::warn!("{path} {what}: restored from {twin}, with the same bytes");
            }
        }
        let csv = regular_file::append(&path).map_err(failed)?;
        csv.set_len(self.length).map_err(failed)?;
        let csv = Csv { file: csv, length: self.length, hash: self.hash };
        Ok(JournalWriter::new(&self.dir, csv, (&self.units, self.columns), self.rows))
    }
}

/// Returns the help for a journal that lacks rows that the checkpoint counts.
fn advice(path: &Path) -> String {
    let (name, twin) = (path.file_name().unwrap_or_default().display(), path.with_extension("hdf5"));
    format!(
        "the checkpoint is intact, but this journal is not: restore {name}, or move it away so that its rows are \
         taken from {}, if that has them all. Otherwise start a new run from the last snapshot with [initial.file]",
        twin.display()
    )
}

/// Returns the error for a missing CSV whose rows cannot be restored.
fn missing(path: &Path, why: &str) -> Error {
    Error::input(path, format!("no such file, and {why}")).with_help(
        "the checkpoint is intact, but this journal is not: restore the file, or start a new run from the last \
         snapshot with [initial.file]",
    )
}

/// Restores the CSV up to its first `rows` rows from the HDF5 file, and from the CSV where that has more rows; returns it
/// with its columns. Fails with the reason as
/// text.
fn text_of_hdf5<R: JournalRow>(
    path: &Path,
    known: &[(&str, bool)],
    rows: u64,
    sha256: Option<Digest>,
) -> Result<(String, Vec<ColumnSpec>), String> {
    let Some(sha256) = sha256 else {
        return Err("the checkpoint has no hash to verify the rows of the HDF5 file".into());
    };
    let name = path.file_name().unwrap_or_default().display();
    let table = table::read_hdf5(path).map_err(|e| format!("its rows cannot be restored from {name}: {e}"))?;
    let columns = columns::<R>(known, Some(&table.names().collect::<Vec<_>>()));
    let mut text = header(&columns);
    let wanted = usize::try_from(rows).unwrap_or(usize::MAX);
    for row in 0..table.rows().min(wanted) {
        text += &line(&table.row(row));
    }
    // After a kill the last rows are in the CSV alone.
    if table.rows() < wanted
        && let Ok(csv) = regular_file::read_to_string(&path.with_extension("csv"))
    {
        text.extend(csv.split_inclusive('\n').skip(1 + table.rows()).take(wanted - table.rows()));
    }
    if Digest::from_hasher(Sha256::new_with_prefix(&text)) == sha256 {
        return Ok((text, columns));
    }
    Err(format!("{name} does not have the {rows} rows that the run wrote: it has {}, or different ones", table.rows()))
}

/// Checks that the first rows of a journal are rows: the HDF5 file is made of them.
fn check_rows(path: &Path, rows: u64, columns: &[ColumnSpec], units: &FileUnits) -> Result<()> {
    let mut row = Table { columns: columns.iter().map(|spec| spec.column(&units.units)).collect(), ..Table::default() };
    let journal = regular_file::open(path).map_err(|e| Error::input(path, e))?;
    let mut journal = csv::Reader::from_reader(journal);
    let rows = usize::try_from(rows).unwrap_or(usize::MAX);
    for (line, record) in (2u64..).zip(journal.records().take(rows)) {
        let wrong = |e: &dyn std::fmt::Display| Error::input(path, format!("line {line}: {e}"));
        row.push_row(&record.map_err(|e| wrong(&e))?).map_err(|e| wrong(&e))?;
        row.columns.iter_mut().for_each(|column| column.values.clear());
    }
    Ok(())
}

/// Returns the names of the columns, as far as they are text.
fn names(path: &Path) -> Result<csv::StringRecord> {
    let mut csv = csv::Reader::from_reader(regular_file::open(path).map_err(|e| Error::input(path, e))?);
    let names = csv.byte_headers().map_err(|e| Error::input(path, e))?;
    Ok(csv::StringRecord::from_byte_record_lossy(names.clone()))
}

/// Returns the length in bytes of the header and the first `rows` whole lines of a journal, and their hash.
fn first_rows(path: &Path, rows: u64, header: &str) -> Result<(u64, Sha256)> {
    let failed = |e| Error::input(path, e);
    let mut journal = BufReader::new(regular_file::open(path).map_err(failed)?);
    let mut text = Vec::new();
    let mut length = journal.read_until(b'\n', &mut text).map_err(failed)? as u64;
    if text != header.as_bytes() {
        return Err(Error::input(path, "line 1: the columns differ from those that this version of tisane writes"));
    }
    let mut hash = Sha256::new_with_prefix(header);
    for row in 0..rows {
        text.clear();
        length += journal.read_until(b'\n', &mut text).map_err(failed)? as u64;
        if !text.ends_with(b"\n") {
            return Err(Error::input(path, format!("expected {rows} rows as the checkpoint records, found {row}")));
        }
        hash.update(&text);
    }
    Ok((length, hash))
}
