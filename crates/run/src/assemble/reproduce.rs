//! Reproduction of the run that made a file, from the provenance in the file.

use super::changes::differing_section;
use crate::config::{Config, Engine, Loaded, Open};
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};
use tisane::force::precision::Precision;
use tisane::integrator::SchemeInfo;
use tisane_io::checksum;
use tisane_io::provenance::{Change, InputFile, Provenance};

/// Configuration and engine that reproduce a file.
#[derive(Debug)]
pub struct Reproduction {
    /// Text of the configuration: as written, if it still resolves to the configuration that ran; otherwise as
    /// resolved.
    pub text: String,
    /// Overrides (`section.key=value`) on top of the text.
    pub sets: Vec<String>,
    /// The configuration read from both.
    pub loaded: Loaded,
    /// Engine that gives the bits of the file, if not every engine does.
    pub engine: Option<Engine>,
    /// Remarks for the user.
    pub notes: Vec<String>,
}

/// Returns the reproduction of a file. `inputs` are the present paths of files of initial conditions that were moved.
///
/// # Errors
/// [`Error::Input`] if an input file is missing or has changed; [`Error::Config`] if this version cannot read the
/// configuration.
pub fn reproduction(path: &Path, made: &Provenance, inputs: &[PathBuf]) -> Result<Reproduction> {
    let name = |what: &str| format!("{} ({what})", path.display());
    check_unchanged_on_the_way(path, made)?;
    let moved = check_inputs(path, made, inputs)?;
    let resolved = Config::from_str(&name("config_resolved"), &made.config_resolved, Path::new(""), &moved)?;
    let mut sets = made.overrides().map_err(|problem| Error::input(path, problem))?;
    sets.extend(moved.clone());
    let t_end = format!("run.t_end={:?}", resolved.config.t_end());
    let written =
        |sets: &[String]| Config::from_str(&name("config_as_written"), &made.config_as_written, Path::new(""), sets);
    let mut found = written(&sets);
    // A resumed run may have set another end.
    if found.as_ref().is_ok_and(|found| found.config.t_end() != resolved.config.t_end()) {
        sets.push(t_end);
        found = written(&sets);
    }
    // What followed from the particles is taken as it was found, whatever this version would find.
    let open = found.as_ref().map_or(Open::default(), |found| found.open);
    if open.subsystems {
        let perturbation = resolved.config.subsystems().map_or(0.0, |it| it.perturbation.get());
        sets.push(format!("encounters.perturbation={perturbation:e}"));
        if open.scheme {
            sets.extend(accuracy_of(&resolved.config));
        }
        found = written(&sets);
    }
    if let Ok(config) = found.as_ref().map(|found| &found.config) {
        let late = late_of(config, &resolved.config);
        if !late.is_empty() {
            sets.extend(late);
            found = written(&sets);
        }
    }
    let mut derived = false;
    if let Ok(found) = &mut found {
        derived = !found.config.has_steps();
        found.config.adopt_steps(&resolved.config).map_err(|problem| found.explain(problem))?;
    }
    let differs = match &found {
        Ok(found) => differing_section(&found.config, &resolved.config).map(|section| format!("in [{section}]")),
        Err(_) => Some("as this version cannot read it".to_owned()),
    };
    let engine = (resolved.config.force.precision() != Precision::F64)
        .then(|| Engine::ALL.into_iter().find(|engine| engine.name() == made.engine))
        .flatten();
    Ok(match (found, differs) {
        (Ok(loaded), None) if !derived => {
            Reproduction { text: made.config_as_written.clone(), sets, loaded, engine, notes: Vec::new() }
        }
        (_, differs) => Reproduction {
            text: made.config_resolved.clone(),
            sets: moved,
            loaded: resolved,
            engine,
            notes: vec![match differs {
                None => "lengths of steps are those that were found then: using the resolved configuration".into(),
                Some(differs) => format!(
                    "the configuration as written does not resolve to the one that ran, {differs}: using the resolved one"
                ),
            }],
        },
    })
}

/// Returns the override that gives a configuration the scheme of another one with its accuracy.
fn accuracy_of(resolved: &Config) -> Option<String> {
    let SchemeInfo { section, accuracy_key: key, .. } = resolved.integrator.info();
    let settings = serde_json::to_value(&resolved.integrator).ok()?;
    let value = settings.get(resolved.integrator.info().name())?.get(key)?.as_f64()?;
    Some(format!("{section}.{key}={value:e}"))
}

/// Returns the overrides for settings that followed from the precision mode and the number of particles: those that
/// `resolved` has and `written` has not.
fn late_of(written: &Config, resolved: &Config) -> Vec<String> {
    if written.integrator.kind() != resolved.integrator.kind() {
        return Vec::new();
    }
    // The values alone are compared, which depend on neither.
    let late = |config: &Config| config.integrator.scheme().late_settings(config.force.precision(), 1);
    let section = resolved.integrator.info().section;
    let found = late(written).into_iter().zip(late(resolved)).filter(|(here, _)| here.value.is_none());
    found.filter_map(|(_, then)| Some(format!("{section}.{}={:e}", then.key, then.value?.get()))).collect()
}

/// Refuses a file of a run whose trajectory is not that of one configuration. A shorter dt_min after a stop by the longer
/// one is no such change: the run has the bits of the shorter one from its start.
fn check_unchanged_on_the_way(path: &Path, made: &Provenance) -> Result<()> {
    let changes = made.changes().map_err(|problem| Error::input(path, problem))?;
    let shorter_floor = |it: &Change| {
        it.key.ends_with(".dt_min") && it.to.as_f64().zip(it.from.as_f64()).is_some_and(|(to, from)| to < from)
    };
    let of_trajectory = changes.iter().filter(|it| it.trajectory && !shorter_floor(it));
    let all: Vec<String> = of_trajectory
        .map(|it| format!("{} from {} to {} after {} block steps", it.key, it.from, it.to, it.block_steps))
        .collect();
    if all.is_empty() {
        return Ok(());
    }
    let problem = format!("settings of its run were changed on the way: {}", all.join(", "));
    let help = "no single command repeats it: run the configuration with limits.block_steps up to the first change, then \
                `tisane resume` with --set, and so on";
    Err(Error::input(path, problem).with_help(help))
}

/// Checks that the input files have not changed; returns the overrides that give their paths.
fn check_inputs(path: &Path, made: &Provenance, given: &[PathBuf]) -> Result<Vec<String>> {
    let inputs = made.inputs().map_err(|problem| Error::input(path, problem))?;
    let hash =
        |file: &PathBuf| checksum::sha256_file(file).map_err(|e| Error::input(file, format!("cannot read it: {e}")));
    let given = given.iter().map(|file| Ok((file, hash(file)?))).collect::<Result<Vec<_>>>()?;
    if let Some((file, found)) = given.iter().find(|(_, found)| inputs.iter().all(|input| input.sha256 != *found)) {
        let read: Vec<_> = inputs.iter().map(|input| format!("{} ({})", input.file, input.sha256)).collect();
        let read = if read.is_empty() { "none".to_owned() } else { read.join(", ") };
        let problem = format!("not an input of {}: its SHA-256 is {found}; inputs: {read}", path.display());
        return Err(Error::input(file, problem));
    }
    let now = inputs.into_iter().map(|input| {
        let moved = given.iter().find(|(_, found)| *found == input.sha256);
        let file = moved.map_or(Path::new(&input.file), |(file, _)| file);
        let file = std::path::absolute(file).map_err(|e| Error::input(file, e))?;
        if moved.is_none() {
            check_unchanged(&file, &input)?;
        }
        let name = file.to_str().ok_or_else(|| Error::input(&file, "this path is not UTF-8"))?;
        Ok(format!("{}={name}", input.key))
    });
    now.collect()
}

/// Checks that the tables of external fields are those that a run began with: it reads them again where it goes on.
///
/// # Errors
/// [`Error::Input`] if one is missing or has changed.
pub(crate) fn check_tables(config: &Config, path: &Path, made: &Provenance) -> Result<()> {
    let inputs = made.inputs().map_err(|problem| Error::input(path, problem))?;
    let tables = config.inputs().into_iter().filter(|(key, _)| key.starts_with("external."));
    for (key, file) in tables {
        let Some(input) = inputs.iter().find(|input| input.key == key) else { continue };
        let found = checksum::sha256_file(file).map_err(|e| {
            Error::input(file, format!("the table of {key} cannot be read: {e}"))
                .with_help("the run reads it again where it goes on: put it back")
        })?;
        if found != input.sha256 {
            let problem =
                format!("not the table that the run began with: its SHA-256 is {found}, expected {}", input.sha256);
            return Err(Error::input(file, problem).with_help("a run goes on with the tables that it began with"));
        }
    }
    Ok(())
}

fn check_unchanged(file: &Path, input: &InputFile) -> Result<()> {
    let found = checksum::sha256_file(file).map_err(|e| {
        Error::input(file, format!("the input file of that run cannot be read: {e}"))
            .with_help("give its present path with --input FILE")
    })?;
    if found == input.sha256 {
        return Ok(());
    }
    let problem = format!("not the original input: its SHA-256 is {found}, and the run read {}", input.sha256);
    Err(Error::input(file, problem).with_help("give the path of the original with --input FILE"))
}

/// Returns the files of initial conditions and of fields of a configuration with their hashes, as JSON for [`Provenance::inputs`].
///
/// # Errors
/// [`Error::Input`] if one cannot be read.
pub(super) fn inputs_of(config: &Config) -> Result<String> {
    let read = config.inputs().into_iter().map(|(key, file)| {
        let sha256 = checksum::sha256_file(file).map_err(|e| Error::input(file, e))?;
        Ok(InputFile { key, file: file.display().to_string(), sha256 })
    });
    Ok(serde_json::json!(read.collect::<Result<Vec<_>>>()?).to_string())
}
