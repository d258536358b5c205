//! `tisane inspect DIR DIR …`: runs side by side, a line a run.

use super::run_directory::{self, HEADINGS};
use std::path::PathBuf;
use tisane::error::{Error, Result};
use tisane_io::directory::no_such_run;

/// Describes the runs in several directories in a table.
///
/// # Errors
/// As [`run_directory::row`], and [`Error::Input`] for a file. Of an ensemble, as `runs/*` may have one, there is its name alone.
pub fn describe(paths: &[PathBuf]) -> Result<String> {
    let mut rows = vec![HEADINGS.map(str::to_owned)];
    for path in paths {
        if !path.exists() {
            return Err(no_such_run(path));
        }
        if path.is_file() {
            let problem = "not the directory of a run: several are described side by side only if each is one";
            return Err(Error::input(path, problem).with_help("give it alone"));
        }
        rows.push(if tisane_run::ensemble::is_ensemble(path) {
            let mut row = HEADINGS.map(|_| String::new());
            (row[0], row[1]) = (path.display().to_string(), "an ensemble: inspect it alone".into());
            row
        } else {
            run_directory::row(path)?
        });
    }
    let widths: Vec<usize> =
        (0..HEADINGS.len()).map(|k| rows.iter().map(|row| row[k].chars().count()).max().unwrap_or(0)).collect();
    let line = |row: &[String; HEADINGS.len()]| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        cells.join("  ").trim_end().to_owned() + "\n"
    };
    Ok(rows.iter().map(line).collect())
}
