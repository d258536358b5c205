//! The file `run.log`.

use super::screen::say;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};
use tisane_io::directory::LOG;
use tisane_io::regular_file;

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
            say(&format!("cannot write {}: {e}; the run continues without it", self.path.display()));
        }
        self.failed = written.is_err();
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
