//! `tisane inspect`.

pub(super) mod ensemble;
mod run_directory;
mod several;

use super::screen::print;
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};
use tisane_io::directory::no_such_run;
use tisane_io::formats::Datasets;
use tisane_io::inspect::{describe, describe_as, describe_datasets};

pub fn inspect(paths: &[PathBuf], format: Option<&str>, datasets: Option<&Datasets>) -> Result<u8> {
    match paths {
        [file] => one(file, format, datasets),
        _ => match format.map(|_| "--from").or(datasets.map(|_| "--datasets")) {
            Some(option) => Err(Error::input(&paths[1], format!("{option} is for one file, and there are several"))),
            None => print(&several::describe(paths)?),
        },
    }
}

/// Describes a file or a directory.
fn one(file: &Path, format: Option<&str>, datasets: Option<&Datasets>) -> Result<u8> {
    if let Some(datasets) = datasets {
        return print(&describe_datasets(file, datasets)?);
    }
    if !file.exists() && file.extension().is_none() {
        return Err(no_such_run(file));
    }
    if file.is_dir() && format.is_none() {
        let is_ensemble = tisane_run::ensemble::is_ensemble(file);
        return print(&if is_ensemble { ensemble::describe(file)? } else { run_directory::describe(file)? });
    }
    if file.extension().is_some_and(|extension| extension == "toml") {
        return super::check::check(&super::arguments::ConfigArgs { file: file.to_owned(), sets: Vec::new() }, None);
    }
    print(&format.map_or_else(|| describe(file), |format| describe_as(file, format))?)
}
