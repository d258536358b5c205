//! Responses of a view: files of the page, state of the run, what ended or slows it, snapshots, rows of journals.

use super::directory::RunDirectory;
use super::http::{self, Parts, Response};
use super::{frame, page};
use hyper::StatusCode;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tisane::error::{Error, Result};
use tisane_io::findings::Findings;
use tisane_io::journal::tail::TailRows;
use tisane_io::snapshot;

/// Maximum number of rows in a response; the page requests the following ones.
const MAX_ROWS: usize = 8192;
/// Maximum number of particles in a frame.
const MAX_PARTICLES: usize = 1 << 20;

const JSON: &str = "application/json";
const BINARY: &str = "application/octet-stream";

/// Responses about the directory of one run.
#[derive(Debug)]
pub struct Api {
    dir: PathBuf,
    directory: Mutex<RunDirectory>,
}

impl Api {
    /// Creates the responses for the directory of a run.
    ///
    /// # Errors
    /// [`Error::Input`] if it is not the directory of a run.
    pub fn new(dir: &Path) -> Result<Self> {
        Ok(Self { dir: dir.to_owned(), directory: Mutex::new(RunDirectory::open(dir)?) })
    }

    /// Answers a request for `place`, a path below that of the view. Places are matched with known names and never used
    /// as a path of the file system.
    pub fn answer(&self, place: &str, request: &Parts) -> Response {
        let answer = match place.split_once('/') {
            Some(("api", "state")) => self.state(request),
            Some(("api", "why")) => self.why(),
            Some(("api", rest)) => match rest.split_once('/') {
                Some(("snapshot", number)) => self.snapshot(number, request),
                Some(("series", name)) => self.series(name, request),
                _ => return http::empty(StatusCode::NOT_FOUND),
            },
            _ => return page::file(place).unwrap_or_else(|| http::empty(StatusCode::NOT_FOUND)),
        };
        answer.unwrap_or_else(|error| match error {
            ApiError::Request(text) => http::text(StatusCode::BAD_REQUEST, text.into()),
            ApiError::Missing => http::empty(StatusCode::NOT_FOUND),
            ApiError::File(error) => http::text(StatusCode::SERVICE_UNAVAILABLE, error.to_string()),
        })
    }

    /// Locks the directory, also after a panic of another thread: each response refreshes it first.
    fn directory(&self) -> MutexGuard<'_, RunDirectory> {
        self.directory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the state of the run as JSON.
    fn state(&self, request: &Parts) -> Result<Response, ApiError> {
        let from = number(request, "from", 0)?;
        Ok(json_response(&self.directory().state(from)?))
    }

    /// Returns the page of what ended or slows the run as JSON. Reads the files without holding the lock.
    fn why(&self) -> Result<Response, ApiError> {
        Ok(json_response(&json!(Findings::read(&self.dir)?.page())))
    }

    /// Returns a snapshot as a frame.
    fn snapshot(&self, text: &str, request: &Parts) -> Result<Response, ApiError> {
        let asked = text.parse().map_err(|_| ApiError::Request("expected the number of a snapshot, a whole number"))?;
        let max = number(request, "most", MAX_PARTICLES)?;
        let path = {
            let mut directory = self.directory();
            if directory.snapshot(asked).is_none() {
                directory.refresh()?;
            }
            directory.snapshot(asked).ok_or(ApiError::Missing)?
        };
        // Reads the snapshot without holding the lock.
        let read = snapshot::read(&path)?;
        Ok(http::response(StatusCode::OK, BINARY, frame::bytes(&read, max.min(MAX_PARTICLES))))
    }

    /// Returns rows of a journal as JSON.
    fn series(&self, name: &str, request: &Parts) -> Result<Response, ApiError> {
        let from: u64 = number(request, "from", 0)?;
        let every: u64 = number(request, "every", 1)?;
        let wanted: Vec<&str> = http::parameter(request, "columns").unwrap_or("*").split(',').collect();
        let mut directory = self.directory();
        let journal = directory.journal(name)?.ok_or(ApiError::Missing)?;
        let rows = journal.read(from, every, MAX_ROWS, |column| wanted.iter().any(|wanted| matches(column, wanted)))?;
        Ok(json_response(&rows_json(&rows, journal.generation(), journal.rows())))
    }
}

/// Reason for an error response.
enum ApiError {
    /// Invalid parameter.
    Request(&'static str),
    /// No such snapshot or journal.
    Missing,
    /// Unreadable file.
    File(Error),
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        Self::File(error)
    }
}

/// Parses a whole number from the query.
fn number<T: std::str::FromStr>(request: &Parts, name: &str, default: T) -> Result<T, ApiError> {
    let given = http::parameter(request, name);
    given.map_or(Ok(default), |text| text.parse().map_err(|_| ApiError::Request("expected a whole number")))
}

/// Returns true if `wanted` is the name of the column, or the beginning of its name followed by `*`.
fn matches(column: &str, wanted: &str) -> bool {
    wanted.strip_suffix('*').map_or_else(|| column == wanted, |start| column.starts_with(start))
}

/// Returns a JSON response.
fn json_response(value: &Value) -> Response {
    http::response(StatusCode::OK, JSON, value.to_string())
}

/// Returns rows by columns as JSON, with `null` for NaN and infinity.
fn rows_json(rows: &TailRows, generation: u64, all: u64) -> Value {
    let columns: serde_json::Map<_, _> =
        rows.table.columns.iter().map(|column| (column.name.clone(), json!(column.values))).collect();
    json!({ "generation": generation, "next": rows.next, "rows": all, "columns": columns })
}
