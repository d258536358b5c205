//! Directories of runs and ensembles, and the figures that they have.

use super::figure::Figure;
use std::path::Path;
use tisane::error::{Error, Result};
use tisane_io::directory::{CONFIG, ENSEMBLE, no_such_run};
use tisane_io::fields::Journal;
use tisane_io::table::{self, Table};

/// The standard figures of a run, as far as its directory has what they show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gallery {
    /// The figures by the names of their files.
    pub figures: Vec<(&'static str, Figure)>,
    /// The names of those that are not there, and why.
    pub missing: Vec<(&'static str, String)>,
    /// Snapshots that are damaged: what is wrong with each.
    pub damaged: Vec<String>,
}

impl Gallery {
    /// Takes a figure in, or the reason why there is none.
    pub(super) fn add(&mut self, name: &'static str, figure: Result<Figure, String>) {
        match figure {
            Ok(figure) => self.figures.push((name, figure)),
            Err(why) => self.missing.push((name, why)),
        }
    }
}

/// Returns true if a directory is that of an ensemble.
#[must_use]
pub fn is_ensemble(dir: &Path) -> bool {
    dir.join(ENSEMBLE).is_file()
}

/// The diagnostics of a run.
///
/// # Errors
/// [`Error::Input`] if `dir` is not the directory of a run, or has no diagnostics.
pub fn diagnostics(dir: &Path) -> Result<Table> {
    let names = [Journal::Diagnostics.csv(), Journal::Diagnostics.hdf5()];
    let [csv, hdf5] = names.map(|name| dir.join(name));
    if !dir.exists() {
        return Err(no_such_run(dir));
    }
    if is_ensemble(dir) {
        let help = "its tables are members.csv and series.csv there";
        return Err(Error::input(dir, "the directory of an ensemble, not of one run").with_help(help));
    }
    if !csv.is_file() && !hdf5.is_file() {
        let problem = match dir.join(CONFIG).is_file() {
            true => format!("no diagnostics: neither {} nor {}", names[0], names[1]),
            false => format!("not the output directory of a run: neither {} nor {}", names[0], names[1]),
        };
        return Err(Error::input(dir, problem).with_help("`tisane run` creates one, by default runs/<name>/"));
    }
    let table = table::read_journal(&csv, &hdf5)?;
    match table.numbers("time") {
        Some(times) if times.is_empty() => Err(Error::input(dir, "the diagnostics have no rows yet")),
        Some(_) => Ok(table),
        None => Err(Error::input(csv, "no column of numbers 'time': not the diagnostics of a run")),
    }
}

/// Returns the name of a run: that of its directory.
#[must_use]
pub fn name(dir: &Path) -> String {
    let whole = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    whole.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Describes the origin of a table in a line.
#[must_use]
pub fn caption(table: &Table) -> String {
    let shown = table.remarks.iter().filter(|(name, value)| !name.starts_with("column ") && !value.is_empty());
    let one =
        |(name, value): &(String, String)| if name.is_empty() { value.clone() } else { format!("{name} {value}") };
    shown.map(one).collect::<Vec<_>>().join(", ")
}
