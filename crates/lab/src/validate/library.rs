//! Where cases come from: the program itself, or a folder.

use super::case::{Case, Run};
use std::fs;
use std::path::Path;
use tisane::error::{Error, Result};
use tisane_run::config::{self, Config, Loaded, Problem, Source, nearest};

// (name of the case, [(name of a file, its text)]), made by build.rs from the folders of `validation/`.
include!(concat!(env!("OUT_DIR"), "/cases.rs"));

/// The name of the file that makes a folder a case.
pub const CASE: &str = "case.toml";

/// A case and the files of its folder.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Name of the folder.
    pub name: String,
    /// Content of `case.toml`.
    pub case: Case,
    /// Names and texts of the files of the folder.
    pub files: Vec<(String, String)>,
    place: String,
    source: Source,
}

/// Every case, in the order of names: of the folder `from`, or else of the program.
///
/// # Errors
/// [`Error::Input`] if the folder cannot be read or holds no case; [`Error::Config`] with file, line and key for a mistake in a
/// `case.toml`.
pub fn all(from: Option<&Path>) -> Result<Vec<Entry>> {
    let Some(folder) = from else {
        return CASES.iter().map(|(name, files)| entry(name, &format!("validation/{name}"), files)).collect();
    };
    let wrong = |e: std::io::Error| Error::input(folder, format!("cannot read it: {e}"));
    let mut names = Vec::new();
    for found in fs::read_dir(folder).map_err(wrong)? {
        let path = found.map_err(wrong)?.path();
        if path.join(CASE).is_file() {
            names.extend(path.file_name().and_then(|name| name.to_str()).map(str::to_owned));
        }
    }
    names.sort();
    if names.is_empty() {
        let help = format!("a case is a folder with a {CASE} in it; give the folder that holds the cases");
        return Err(Error::input(folder, "there is no case in it").with_help(help));
    }
    names.iter().map(|name| in_folder(name, &folder.join(name))).collect()
}

/// A case as its folder has it.
fn in_folder(name: &str, folder: &Path) -> Result<Entry> {
    let wrong = |e: std::io::Error| Error::input(folder, format!("cannot read it: {e}"));
    let mut files = Vec::new();
    for found in fs::read_dir(folder).map_err(wrong)? {
        let path = found.map_err(wrong)?.path();
        if path.extension().is_some_and(|extension| extension == "toml" || extension == "csv") {
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            files.push((file, config::read_text(&path)?));
        }
    }
    files.sort();
    let files: Vec<(&str, &str)> = files.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
    entry(name, &folder.display().to_string(), &files)
}

fn entry(name: &str, place: &str, files: &[(&str, &str)]) -> Result<Entry> {
    let text = files.iter().find(|(file, _)| *file == CASE).map_or("", |(_, text)| text);
    let names: Vec<&str> = files.iter().map(|(file, _)| *file).filter(|file| *file != CASE).collect();
    let at = format!("{place}/{CASE}");
    let (case, source) = config::read::<Case>((&at, text), &[], |case| case.problems(&names))?;
    let files = files.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect();
    Ok(Entry { name: name.to_owned(), case, files, place: place.to_owned(), source })
}

/// The cases with these names, in the order of `all`; all of them for no names.
///
/// # Errors
/// [`Error::Input`] with the nearest valid name.
pub fn select(all: Vec<Entry>, names: &[String]) -> Result<Vec<Entry>> {
    for name in names {
        let valid: Vec<&str> = all.iter().map(|entry| entry.name.as_str()).collect();
        if !valid.contains(&name.as_str()) {
            let near = nearest(name, &valid).map(|near| format!(": did you mean `{near}`?")).unwrap_or_default();
            let error = Error::input(name, format!("there is no such case{near}"));
            return Err(error.with_help(format!("cases: {}", valid.join(", "))));
        }
    }
    Ok(all.into_iter().filter(|entry| names.is_empty() || names.contains(&entry.name)).collect())
}

impl Entry {
    /// The text of a file of the folder.
    #[must_use]
    pub fn file(&self, name: &str) -> Option<&str> {
        self.files.iter().find(|(file, _)| file == name).map(|(_, text)| text.as_str())
    }

    /// The configuration of a run, its relative paths starting at `base`; [`None`] for a command.
    ///
    /// # Errors
    /// [`Error::Config`] for every mistake in it or in the run's overrides.
    pub fn config(&self, run: &Run, base: &Path) -> Result<Option<Loaded>> {
        let Some(name) = &run.config else { return Ok(None) };
        let text = self.file(name).unwrap_or_default();
        Config::from_str(&format!("{}/{name}", self.place), text, base, &run.set).map(Some)
    }

    /// An error about a key of `case.toml`, at its line.
    #[must_use]
    pub fn wrong(&self, problem: Problem) -> Error {
        self.source.explain(problem)
    }
}
