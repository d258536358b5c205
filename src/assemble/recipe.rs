//! From the provenance of a file back to the run that made it.

use super::differing_section;
use crate::config::{Config, Engine, Initial, Loaded};
use crate::error::{Error, Result};
use crate::force::precision::Precision;
use crate::io::provenance::Provenance;
use crate::io::seal;
use std::path::Path;

/// How to make a file again.
#[derive(Debug)]
pub struct Recipe {
    /// The configuration: as it was written, where that still means what ran; otherwise as it was resolved.
    pub text: String,
    /// What the command line puts on top of it.
    pub sets: Vec<String>,
    /// Both together, read.
    pub loaded: Loaded,
    /// Engine that has the file's bits, where not every engine has them.
    pub engine: Option<Engine>,
    /// What is to be known about it.
    pub notes: Vec<String>,
}

/// The recipe of a file. `input` is where the file of initial conditions lies now, if not where it was.
///
/// # Errors
/// [`Error::Input`] if the input file is gone or not the one it was; [`Error::Config`] if this version cannot read the
/// configuration.
pub fn recipe(path: &Path, made: &Provenance, input: Option<&Path>) -> Result<Recipe> {
    let name = |what: &str| format!("{} ({what})", path.display());
    let moved = check_input(path, made, input)?;
    let resolved = Config::from_str(&name("config_resolved"), &made.config_resolved, Path::new(""), &moved)?;
    let mut sets = made.overrides().map_err(|problem| Error::input(path, problem))?;
    sets.extend(moved.clone());
    let t_end = format!("run.t_end={:?}", resolved.config.t_end());
    let written =
        |sets: &[String]| Config::from_str(&name("config_as_written"), &made.config_as_written, Path::new(""), sets);
    let mut found = written(&sets);
    // A resume may have set another end.
    if found.as_ref().is_ok_and(|found| found.config.t_end() != resolved.config.t_end()) {
        sets.push(t_end);
        found = written(&sets);
    }
    let differs = match &found {
        Ok(found) => differing_section(&found.config, &resolved.config).map(|section| format!("in [{section}]")),
        Err(_) => Some("as this version no longer reads it".to_owned()),
    };
    let engine = (resolved.config.force.precision() != Precision::F64)
        .then(|| Engine::ALL.into_iter().find(|engine| engine.name() == made.engine))
        .flatten();
    Ok(match (found, differs) {
        (Ok(loaded), None) => Recipe { text: made.config_as_written.clone(), sets, loaded, engine, notes: Vec::new() },
        (_, differs) => Recipe {
            text: made.config_resolved.clone(),
            sets: moved,
            loaded: resolved,
            engine,
            notes: vec![format!(
                "the configuration as written does not give what ran, {}: taking it as it was resolved",
                differs.unwrap_or_default()
            )],
        },
    })
}

/// Checks that the input file is the one that it was; returns the override that names it.
fn check_input(path: &Path, made: &Provenance, input: Option<&Path>) -> Result<Vec<String>> {
    if made.input_file.is_empty() {
        return match input {
            None => Ok(Vec::new()),
            Some(input) => Err(Error::input(input, format!("{} was made without an input file", path.display()))),
        };
    }
    let file = input.unwrap_or(Path::new(&made.input_file));
    let file = std::path::absolute(file).map_err(|e| Error::input(file, e))?;
    let found = seal::sha256_of(&file).map_err(|e| {
        Error::input(&file, format!("the input file of that run cannot be read: {e}"))
            .with_help("say where it lies now with --input FILE")
    })?;
    if found != made.input_sha256 {
        let problem =
            format!("not the input that it was: its SHA-256 is {found}, and the run read {}", made.input_sha256);
        return Err(Error::input(&file, problem).with_help("say with --input FILE where the original lies"));
    }
    let name = file.to_str().ok_or_else(|| Error::input(&file, "this path is not UTF-8"))?;
    Ok(vec![format!("initial.file.path={name}")])
}

/// The input file of a configuration and its SHA-256; empty texts without one.
///
/// # Errors
/// [`Error::Input`] if it cannot be read.
pub(super) fn input_of(config: &Config) -> Result<(String, String)> {
    let Initial::File(file) = &config.initial else { return Ok(Default::default()) };
    let hash = seal::sha256_of(file.path()).map_err(|e| Error::input(file.path(), e))?;
    Ok((file.path().display().to_string(), hash))
}
