//! What a view answers: the files of the page, the state of the run, its snapshots, the rows of its journals.

use super::directory::RunDirectory;
use super::http::{Request, Response};
use super::{frame, page};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tisane::error::{Error, Result};
use tisane_io::journal::tail::TailRows;
use tisane_io::snapshot;

/// Most rows in an answer; the page asks on.
const MOST_ROWS: usize = 8192;
/// Most particles in a frame, unless the page wants fewer.
const MOST_PARTICLES: usize = 1 << 20;

const JSON: &str = "application/json";
const BINARY: &str = "application/octet-stream";

/// The answers about one directory.
#[derive(Debug)]
pub struct Api {
    directory: Mutex<RunDirectory>,
}

impl Api {
    /// Of a run's directory.
    ///
    /// # Errors
    /// [`Error::Input`] if it is not the directory of a run.
    pub fn new(dir: &Path) -> Result<Self> {
        Ok(Self { directory: Mutex::new(RunDirectory::open(dir)?) })
    }

    /// The answer to a request for `place`, a path below that of the view. Places are matched with names known here; none
    /// becomes a path of the file system.
    pub fn answer(&self, place: &str, request: &Request) -> Response {
        let answer = match place.split_once('/') {
            Some(("api", "state")) => self.state(request),
            Some(("api", rest)) => match rest.split_once('/') {
                Some(("snapshot", number)) => self.snapshot(number, request),
                Some(("series", name)) => self.series(name, request),
                _ => return Response::empty(404),
            },
            _ => return page::file(place).unwrap_or_else(|| Response::empty(404)),
        };
        answer.unwrap_or_else(|error| match error {
            ApiError::Request(text) => Response::text(400, text),
            ApiError::Missing => Response::empty(404),
            ApiError::File(error) => Response::text(503, &error.to_string()),
        })
    }

    /// Whatever a thread that failed left: each answer brings it up to date first.
    fn directory(&self) -> MutexGuard<'_, RunDirectory> {
        self.directory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self, request: &Request) -> Result<Response, ApiError> {
        let from = number(request, "from", 0)?;
        Ok(json_response(&self.directory().state(from)?))
    }

    fn snapshot(&self, text: &str, request: &Request) -> Result<Response, ApiError> {
        let asked = text.parse().map_err(|_| ApiError::Request("the number of a snapshot is a whole number"))?;
        let most = number(request, "most", MOST_PARTICLES)?;
        let path = {
            let mut directory = self.directory();
            if directory.snapshot(asked).is_none() {
                directory.refresh()?;
            }
            directory.snapshot(asked).ok_or(ApiError::Missing)?
        };
        // Read without holding up other answers.
        let read = snapshot::read(&path)?;
        Ok(Response::ok(BINARY, frame::bytes(&read, most.min(MOST_PARTICLES))))
    }

    fn series(&self, name: &str, request: &Request) -> Result<Response, ApiError> {
        let from: u64 = number(request, "from", 0)?;
        let every: u64 = number(request, "every", 1)?;
        let wanted: Vec<&str> = request.parameter("columns").unwrap_or("*").split(',').collect();
        let mut directory = self.directory();
        let journal = directory.journal(name)?.ok_or(ApiError::Missing)?;
        let rows = journal.read(from, every, MOST_ROWS, |column| wanted.iter().any(|wanted| fits(column, wanted)))?;
        Ok(json_response(&rows_json(&rows, journal.generation(), journal.rows())))
    }
}

/// Why there is no answer.
enum ApiError {
    Request(&'static str),
    Missing,
    File(Error),
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        Self::File(error)
    }
}

/// A whole number in the query.
fn number<T: std::str::FromStr>(request: &Request, name: &str, default: T) -> Result<T, ApiError> {
    let given = request.parameter(name);
    given.map_or(Ok(default), |text| text.parse().map_err(|_| ApiError::Request("a whole number was expected")))
}

/// A column's name, or the beginning of one before a `*`.
fn fits(column: &str, wanted: &str) -> bool {
    wanted.strip_suffix('*').map_or_else(|| column == wanted, |start| column.starts_with(start))
}

fn json_response(value: &Value) -> Response {
    Response::ok(JSON, value.to_string())
}

/// TailRows by columns; `null` for what is not a finite number: JSON has none.
fn rows_json(rows: &TailRows, generation: u64, all: u64) -> Value {
    let columns: serde_json::Map<_, _> =
        rows.table.columns.iter().map(|column| (column.name.clone(), json!(column.values))).collect();
    json!({ "generation": generation, "next": rows.next, "rows": all, "columns": columns })
}
