//! Journal of a stopped run, checked before the run is resumed.

use super::{JournalWriter, columns, header, line};
use crate::atomic::write_atomically;
use crate::checksum::Digest;
use crate::fields::{ColumnSpec, JournalRow};
use crate::file_units::FileUnits;
use crate::regular_file;
use crate::table::{self};
use sha2::{Digest as _, Sha256};
use std::fs::{self, File, OpenOptions};
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
    Csv(File),
    /// Memory: there is no CSV, or none that the checkpoint knows.
    Text(String),
}

impl<R: JournalRow> ResumableJournal<R> {
    /// Checks the journal of a run whose checkpoint records `rows` rows with the hash `sha256`, if it has one. `known`
    /// says of optional columns whether the journal must have them; of those that it does not name, the journal goes on
    /// with the ones in its file. If the CSV is missing, its rows are taken from the HDF5 file, provided that they give the
    /// same bytes. Rows that were modified since are kept and logged as a warning: the state of the run does not depend
    /// on them.
    ///
    /// # Errors
    /// [`Error::Input`] if the journal is missing, has other columns or fewer rows; [`Error::Storage`] if it cannot be
    /// written.
    pub fn check(
        dir: &Path,
        (rows, sha256): (u64, Option<Digest>),
        units: &FileUnits,
        known: &[(&str, bool)],
    ) -> Result<Self> {
        let path = dir.join(R::JOURNAL.csv());
        if !path.exists() {
            let (text, columns) = text_of_hdf5::<R>(&dir.join(R::JOURNAL.hdf5()), known, rows, sha256)
                .map_err(|why| missing(&path, &why))?;
            return Ok(Self::from_text(dir, text, (units, columns), rows));
        }
        let columns = columns::<R>(known, Some(&names(&path)?.iter().collect::<Vec<_>>()));
        let (length, hash) = first_rows(&path, rows, &header(&columns)).map_err(|e| e.with_help(advice(&path)))?;
        if sha256.is_some_and(|written| written != Digest::from_hasher(hash.clone())) {
            let path = path.display();
            tracing::warn!("{path}: the first {rows} rows were modified since this run wrote them");
        }
        let csv = OpenOptions::new().append(true).open(&path).map_err(|e| Error::storage(&path, e))?;
        Ok(Self {
            found: RowSource::Csv(csv),
            length,
            hash,
            ..Self::from_text(dir, String::new(), (units, columns), rows)
        })
    }

    /// Returns a journal without rows, for a checkpoint of a version that had no such journal.
    pub fn empty(dir: &Path, units: &FileUnits) -> Self {
        let columns = columns::<R>(&[], None);
        Self::from_text(dir, header(&columns), (units, columns), 0)
    }

    fn from_text(dir: &Path, text: String, (units, columns): (&FileUnits, Vec<ColumnSpec>), rows: u64) -> Self {
        let (length, hash) = (text.len() as u64, Sha256::new_with_prefix(&text));
        let found = RowSource::Text(text);
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
        let csv = match self.found {
            RowSource::Csv(csv) => csv,
            RowSource::Text(text) => {
                write_atomically(&path, |temporary| fs::write(temporary, &text).map_err(failed))?;
                if self.rows > 0 {
                    let (path, twin) = (path.display(), R::JOURNAL.hdf5());
                    tracing::warn!("{path} was missing: restored from {twin}, with the same bytes");
                }
                OpenOptions::new().append(true).open(&path).map_err(failed)?
            }
        };
        csv.set_len(self.length).map_err(failed)?;
        Ok(JournalWriter::new(&self.dir, (csv, self.length, self.hash), (&self.units, self.columns), self.rows))
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

/// Restores the CSV up to its first `rows` rows from the HDF5 file; returns it with its columns. Fails with the reason as
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
    for row in 0..table.rows().min(usize::try_from(rows).unwrap_or(usize::MAX)) {
        text += &line(&table.row(row));
    }
    if Digest::from_hasher(Sha256::new_with_prefix(&text)) == sha256 {
        return Ok((text, columns));
    }
    Err(format!("{name} does not have the {rows} rows that the run wrote: it has {}, or different ones", table.rows()))
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
