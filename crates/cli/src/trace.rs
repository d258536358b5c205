//! Trace of a session (`--trace FILE`): when the run stepped, measured and wrote, as a timeline that Perfetto shows.
//!
//! The spans are those of [`tracing`] in the engine's crates, with the lines of the log as instants. Without a trace they are off,
//! at the cost of a load and a comparison each. A session that is killed leaves a file without its last bracket, which Perfetto
//! and Chrome read too.

use super::log_file::Log;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use tisane::error::{Error, Result};
use tracing::{Level, Metadata, Subscriber};
use tracing_chrome::{ChromeLayerBuilder, EventOrSpan, FlushGuard};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::prelude::*;
use tracing_subscriber::registry::LookupSpan;

/// Trace that is written while this lives.
pub type Trace = FlushGuard;

/// File of a trace before the run begins: under a temporary name, so that a run that is refused leaves none.
pub struct TraceFile {
    path: PathBuf,
    file: NamedTempFile,
}

impl TraceFile {
    /// Makes the file.
    ///
    /// # Errors
    /// [`Error::Input`] if it cannot be made, or there is one of this name.
    pub fn new(path: &Path) -> Result<Self> {
        if path.symlink_metadata().is_ok() {
            return Err(exists(path));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            return Err(Error::input(path, "there is no such directory"));
        }
        let made = tempfile::Builder::new().permissions(Permissions::from_mode(0o666)).tempfile_in(folder);
        made.map(|file| Self { path: path.to_owned(), file }).map_err(|e| Error::input(path, e))
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// [`Error::Input`] if there is one of this name by now.
    pub fn open(self) -> Result<Log> {
        let Self { path, file } = self;
        let file = file.persist_noclobber(&path).map_err(|_| exists(&path))?;
        Ok(Log::new(path, file))
    }
}

fn exists(path: &Path) -> Error {
    Error::input(path, "there is such a file already").with_help("give --trace the name of a new file")
}

/// Returns the layer that writes a trace, and what ends it.
pub fn layer<S>(file: Log) -> (impl tracing_subscriber::Layer<S>, Trace)
where
    S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync,
{
    let (layer, trace) = ChromeLayerBuilder::new()
        .writer(file)
        .include_args(true)
        .include_locations(false)
        .name_fn(Box::new(|what| match what {
            EventOrSpan::Event(event) => level(event.metadata()).to_owned(),
            EventOrSpan::Span(span) => span.name().to_owned(),
        }))
        .build();
    (layer.with_filter(filter_fn(|metadata| metadata.target().starts_with("tisane"))), trace)
}

/// Returns the name of the level of a line of the log.
fn level(metadata: &Metadata<'_>) -> &'static str {
    match *metadata.level() {
        Level::ERROR => "error",
        Level::WARN => "warning",
        Level::INFO => "info",
        Level::DEBUG | Level::TRACE => "detail",
    }
}
