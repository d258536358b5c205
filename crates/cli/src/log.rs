//! Logging to `run.log` and, as far as asked for, to the screen, where lines do not cross the progress bar.
//! Spans have the level trace: `-vv` shows them, and `run.log` does without, as its lines would all repeat that of the run.

use super::arguments::Verbosity;
use super::log_file::Log;
use super::trace::{self, Trace, TraceFile};
use indicatif::MultiProgress;
use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use tisane::error::Result;
use tisane_io::lock::Lock;
use tisane_io::machine;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::prelude::*;

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

/// Logs which process this is, whose stale lock it took over, and whether the file system refuses locks.
pub fn lock(lock: &Lock) {
    if let Some(warning) = lock.warning() {
        tracing::warn!("{warning}");
    }
    if let Some(who) = &lock.stale_owner {
        tracing::info!("{who}, did not end regularly: its lock is stale");
    }
    tracing::info!("process {} on {}", std::process::id(), machine::host());
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
