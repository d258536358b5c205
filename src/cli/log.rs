//! Logging: `run.log` always, the screen as much as asked for, and nothing across the progress bar.

use super::Talk;
use crate::error::{Error, Result};
use crate::io::directory::LOG;
use indicatif::MultiProgress;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::prelude::*;

/// A view that looks whether a run is under way (`io::directory::in_use`) holds the lock for an instant: it is tried again so
/// often, after pauses of this length.
const GLANCES: u32 = 5;
const GLANCE: Duration = Duration::from_millis(10);

/// Opens the log of a run for appending and holds it locked as long as the process lives: two processes in one output
/// directory would destroy each other's files.
///
/// # Errors
/// [`Error::Input`] if it cannot be opened, or another process runs here.
pub fn open(dir: &Path) -> Result<File> {
    let path = dir.join(LOG);
    let file = OpenOptions::new().create(true).append(true).open(&path).map_err(|e| Error::input(&path, e))?;
    let mut locked = file.try_lock();
    for _ in 0..GLANCES {
        if !matches!(locked, Err(TryLockError::WouldBlock)) {
            break;
        }
        std::thread::sleep(GLANCE);
        locked = file.try_lock();
    }
    match locked {
        Err(TryLockError::WouldBlock) => {
            Err(Error::input(dir, "another tisane is at work in this directory").with_help("wait until it ends"))
        }
        // File systems without locks go without.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

/// The same, if there is a log.
///
/// # Errors
/// As [`open`].
pub fn open_existing(dir: &Path) -> Result<Option<File>> {
    if dir.join(LOG).is_file() { open(dir).map(Some) } else { Ok(None) }
}

/// Sends log lines to the screen and to a run's log.
pub fn start(talk: Talk, log: File, bars: &MultiProgress) {
    let screen_level = match talk {
        Talk { quiet: true, .. } => LevelFilter::OFF,
        Talk { verbose: 0, .. } => LevelFilter::WARN,
        Talk { verbose: 1, .. } => LevelFilter::INFO,
        Talk { .. } => LevelFilter::TRACE,
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
    // A second start in one process (a library user's) keeps the first.
    let _ = tracing_subscriber::registry().with(screen).with(file).try_init();
}

/// Standard error, with the bars taken off while a line is written.
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
