//! The journal of a stopped run, before the run goes on.

use super::{Series, header, line};
use crate::atomic::write_atomically;
use crate::checksum::Digest;
use crate::fields::JournalRow;
use crate::file_units::FileUnits;
use crate::regular_file;
use crate::table::{self};
use sha2::{Digest as _, Sha256};
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};

/// A journal of a stopped run that has what its checkpoint counts. Nothing is touched before [`resume`](Self::resume): a run
/// looks at all its journals first, so that none loses rows where another is missing.
#[derive(Debug)]
#[must_use]
pub struct Stopped<R> {
    dir: PathBuf,
    found: Found,
    /// Of the CSV up to the last row that counts.
    length: u64,
    hash: Sha256,
    rows: u64,
    units: FileUnits,
    optional: bool,
    of: PhantomData<R>,
}

/// Where the rows are.
#[derive(Debug)]
enum Found {
    /// In the CSV, perhaps with later ones after them.
    Csv(File),
    /// Here: there is no CSV, or none that counts.
    Text(String),
}

impl<R: JournalRow> Stopped<R> {
    /// Looks at the journal of a run, with the optional columns or without, whose checkpoint says that `rows` rows were written,
    /// with the hash `sha256`, where it says that. If the CSV is missing, its rows are taken from the HDF5 file, provided that they give the very same bytes. That
    /// rows were changed by somebody is told as a warning: they are kept as they are, and the run's state does not hang on them.
    ///
    /// # Errors
    /// [`Error::Input`] if the journal is missing, has other columns or fewer rows; [`Error::Storage`] if it cannot be written.
    pub fn look(dir: &Path, (rows, sha256): (u64, Option<Digest>), units: &FileUnits, optional: bool) -> Result<Self> {
        let header = header::<R>(optional);
        let path = dir.join(R::JOURNAL.csv());
        if !path.exists() {
            let text =
                text_of_hdf5(&dir.join(R::JOURNAL.hdf5()), header, rows, sha256).map_err(|why| missing(&path, &why))?;
            return Ok(Self::of_text(dir, text, (units, optional), rows));
        }
        let (length, hash) = first_rows(&path, rows, &header).map_err(|e| e.with_help(advice(&path)))?;
        if sha256.is_some_and(|written| written != Digest::of(hash.clone())) {
            let path = path.display();
            tracing::warn!("{path}: the first {rows} rows are not those that this run wrote: they were changed since");
        }
        let csv = OpenOptions::new().append(true).open(&path).map_err(|e| Error::storage(&path, e))?;
        Ok(Self { found: Found::Csv(csv), length, hash, ..Self::of_text(dir, String::new(), (units, optional), rows) })
    }

    /// One of which the checkpoint knows nothing, as it was written before there were any.
    pub fn unknown(dir: &Path, units: &FileUnits) -> Self {
        Self::of_text(dir, header::<R>(false), (units, false), 0)
    }

    fn of_text(dir: &Path, text: String, (units, optional): (&FileUnits, bool), rows: u64) -> Self {
        let (length, hash) = (text.len() as u64, Sha256::new_with_prefix(&text));
        let found = Found::Text(text);
        Self { dir: dir.to_owned(), found, length, hash, rows, units: units.clone(), optional, of: PhantomData }
    }

    /// Takes the journal up. Rows after those that count, a half-written one among them, are cut off: the run will write them
    /// again.
    ///
    /// # Errors
    /// [`Error::Storage`] if it cannot be written.
    pub fn resume(self) -> Result<Series<R>> {
        let path = self.dir.join(R::JOURNAL.csv());
        let trouble = |e| Error::storage(&path, e);
        let csv = match self.found {
            Found::Csv(csv) => csv,
            Found::Text(text) => {
                write_atomically(&path, |temporary| fs::write(temporary, &text).map_err(trouble))?;
                if self.rows > 0 {
                    let (path, twin) = (path.display(), R::JOURNAL.hdf5());
                    tracing::warn!("{path} was missing: made again from {twin}, with the bytes that it had");
                }
                OpenOptions::new().append(true).open(&path).map_err(trouble)?
            }
        };
        csv.set_len(self.length).map_err(trouble)?;
        Ok(Series::new(&self.dir, (csv, self.length, self.hash), (&self.units, self.optional), self.rows))
    }
}

/// The help where a journal has not what the checkpoint counts.
fn advice(path: &Path) -> String {
    let (name, twin) = (path.file_name().unwrap_or_default().display(), path.with_extension("hdf5"));
    format!(
        "the state of the run is whole, but not its journal: put {name} back as it was, or move it away: then its rows are taken \
         from {}, if it has them all. Otherwise begin a new run from the last snapshot, by [initial.file]",
        twin.display()
    )
}

/// There is no CSV, and no rows in its place.
fn missing(path: &Path, why: &str) -> Error {
    Error::input(path, format!("no such file, and {why}")).with_help(
        "the state of the run is whole, but not its journal: put the file back, or begin a new run from the last snapshot, by \
         [initial.file]",
    )
}

/// The CSV as it was, up to its first `rows` rows, from the HDF5 file beside it; or why not.
fn text_of_hdf5(path: &Path, header: String, rows: u64, sha256: Option<Digest>) -> Result<String, String> {
    let Some(sha256) = sha256 else { return Err("the checkpoint has no hash that could prove another's rows".into()) };
    let name = path.file_name().unwrap_or_default().display();
    let table = table::read_hdf5(path).map_err(|e| format!("its rows cannot be taken from {name}: {e}"))?;
    let values = |row| table.columns.iter().filter_map(|column| column.values.get(row)).collect::<Vec<_>>();
    let mut text = header;
    for row in 0..table.rows().min(usize::try_from(rows).unwrap_or(usize::MAX)) {
        text += &line(&values(row));
    }
    if Digest::of(Sha256::new_with_prefix(&text)) == sha256 {
        return Ok(text);
    }
    Err(format!("{name} has not the {rows} rows that the run wrote: its own are {}, or others", table.rows()))
}

/// Length in bytes of the header and the first `rows` whole lines of a journal, and their hash.
fn first_rows(path: &Path, rows: u64, header: &str) -> Result<(u64, Sha256)> {
    let trouble = |e| Error::input(path, e);
    let mut journal = BufReader::new(regular_file::open(path).map_err(trouble)?);
    let mut text = Vec::new();
    let mut length = journal.read_until(b'\n', &mut text).map_err(trouble)? as u64;
    if text != header.as_bytes() {
        return Err(Error::input(path, "line 1: other columns than this version of tisane writes"));
    }
    let mut hash = Sha256::new_with_prefix(header);
    for row in 0..rows {
        text.clear();
        length += journal.read_until(b'\n', &mut text).map_err(trouble)? as u64;
        if !text.ends_with(b"\n") {
            return Err(Error::input(path, format!("{row} rows, and the checkpoint says that {rows} were written")));
        }
        hash.update(&text);
    }
    Ok((length, hash))
}
