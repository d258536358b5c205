//! Logging: `run.log` always, the screen as much as asked for, and nothing across the progress bar.

use super::Talk;
use crate::error::{Error, Result};
use indicatif::MultiProgress;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::prelude::*;

/// Sends log lines to the screen and, where there is one, to a run's log file (appended).
///
/// # Errors
/// [`Error::Input`] if the file cannot be opened.
pub fn start(talk: Talk, file: Option<&Path>, bars: &MultiProgress) -> Result<()> {
    let screen_level = match talk {
        Talk { quiet: true, .. } => LevelFilter::OFF,
        Talk { verbose: 0, .. } => LevelFilter::WARN,
        Talk { verbose: 1, .. } => LevelFilter::INFO,
        Talk { .. } => LevelFilter::TRACE,
    };
    let screen = tracing_subscriber::fmt::layer()
        .without_time()
        .with_target(false)
        .with_writer(Screen(bars.clone()))
        // Errors end the program and are then printed in full.
        .with_filter(tracing_subscriber::filter::filter_fn(|line| *line.level() != tracing::Level::ERROR))
        .with_filter(screen_level);
    let file = match file {
        None => None,
        Some(path) => {
            let file = OpenOptions::new().create(true).append(true).open(path);
            let file = file.map_err(|e| Error::input(path, e))?;
            let layer = tracing_subscriber::fmt::layer().with_ansi(false).with_target(false);
            Some(layer.with_writer(Mutex::new(file)).with_filter(LevelFilter::DEBUG))
        }
    };
    // A second start in one process (a library user's) keeps the first.
    let _ = tracing_subscriber::registry().with(screen).with(file).try_init();
    Ok(())
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
