//! Logging to `run.log` and, as far as asked for, to the screen, where lines do not cross the progress bar.
//! Spans have the level trace: `-vv` shows them, and `run.log` does without, as its lines would all repeat that of the run.

use super::Verbosity;
use super::trace::{self, Trace, TraceFile};
use indicatif::MultiProgress;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use tisane::error::{Error, Result};
use tisane_io::directory::LOG;
use tisane_io::regular_file;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::prelude::*;

/// Opens the log of a run for appending.
///
/// # Errors
/// [`Error::Input`] if it cannot be opened.
pub fn open(dir: &Path) -> Result<Log> {
    let path = dir.join(LOG);
    regular_file::append(&path).map_err(|e| Error::input(&path, e)).map(|file| Log::new(path, file))
}

/// Log of a run. Lines that cannot be written are lost with one warning: no run ends because of its log.
pub struct Log {
    path: PathBuf,
    file: File,
    failed: bool,
}

impl Log {
    /// Returns the log in a file that was opened.
    pub fn new(path: PathBuf, file: File) -> Self {
        Self { path, file, failed: false }
    }
}

impl Write for Log {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let written = self.file.write_all(line);
        if let (Err(e), false) = (&written, self.failed) {
            super::say(&format!("cannot write {}: {e}; the run continues without it", self.path.display()));
        }
        self.failed = written.is_err();
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sends log lines to the screen and to the log of a run, and lines and spans to its trace, if it has one: the trace is whole
/// once what is returned is dropped.
///
/// # Errors
/// [`Error::Input`] if the file of the trace is there by now.
pub fn start(verbosity: Verbosity, log: Log, bars: &MultiProgress, trace: Option<TraceFile>) -> Result<Option<Trace>> {
    let screen_level = match verbosity {
        Verbosity { quiet: true, .. } => LevelFilter::OFF,
        Verbosity { verbose: 0, .. } => LevelFilter::WARN,
        Verbosity { verbose: 1, .. } => LevelFilter::INFO,
        Verbosity { .. } => LevelFilter::TRACE,
    };
    let screen = tracing_subscriber::fmt::layer()
        .without_time()
        .with_target(false)
        .with_ansi(io::stderr().is_terminal())
        .with_writer(Screen(bars.clone()))
        // Errors end the program and are then printed in full.
        .with_filter(tracing_subscriber::filter::filter_fn(|line| *line.level() != tracing::Level::ERROR))
        .with_filter(screen_level);
    let file = tracing_subscriber::fmt::layer().with_ansi(false).with_target(false);
    let file = file.with_writer(Mutex::new(log)).with_filter(LevelFilter::DEBUG);
    let (spans, trace) = trace.map(TraceFile::open).transpose()?.map(trace::layer).unzip();
    // A second start in one process, by a user of the library, keeps the first.
    let _ = tracing_subscriber::registry().with(screen).with(file).with(spans).try_init();
    Ok(trace)
}

/// Standard error, with the bars removed while a line is written.
#[derive(Clone)]
struct Screen(MultiProgress);

impl Write for Screen {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.suspend(|| io::stderr().write_all(line))?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

impl<'a> MakeWriter<'a> for Screen {
    type Writer = Self;
    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
