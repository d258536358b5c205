//! `tisane inspect DIR DIR …`: runs side by side, a line a run.

use super::run_directory::{self, HEADINGS};
use std::path::PathBuf;
use tisane::error::{Error, Result};
use tisane_io::directory::no_such_run;

/// Describes the runs in several directories in a table.
///
/// # Errors
/// As [`run_directory::row`]; [`Error::Input`] for a file, and for an ensemble.
pub fn describe(paths: &[PathBuf]) -> Result<String> {
    let mut rows = vec![HEADINGS.map(str::to_owned)];
    for path in paths {
        if !path.exists() {
            return Err(no_such_run(path));
        }
        if path.is_file() || tisane_run::ensemble::is_ensemble(path) {
            let problem = "not the directory of a run: several are described side by side only if each is one";
            return Err(Error::input(path, problem).with_help("give it alone"));
        }
        rows.push(run_directory::row(path)?);
    }
    let widths: Vec<usize> =
        (0..HEADINGS.len()).map(|k| rows.iter().map(|row| row[k].chars().count()).max().unwrap_or(0)).collect();
    let line = |row: &[String; HEADINGS.len()]| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        cells.join("  ").trim_end().to_owned() + "\n"
    };
    Ok(rows.iter().map(line).collect())
}
