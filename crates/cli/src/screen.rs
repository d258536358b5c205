//! What the program prints.

use std::io::Write;
use tisane::error::{Error, Result, printable};

/// Prints to standard output, with control characters from texts of files made harmless. A reader that has gone
/// (`tisane init | head`) is no error.
pub fn print(text: &str) -> Result<u8> {
    use std::io::ErrorKind;
    let written = std::io::stdout().write_all(printable(text).as_bytes()).and_then(|()| std::io::stdout().flush());
    match written {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            // The advice on files of a run is not for what is printed.
            let help = Some("this was to be printed at the end: files that were written are whole");
            Err(Error::Storage { path: "standard output".into(), problem: e.to_string(), help })
        }
        _ => Ok(0),
    }
}

/// Prints a line on standard error; a closed pipe must not end the work.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", printable(line));
}
