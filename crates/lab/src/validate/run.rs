//! Running a case and comparing its results with the references.

use super::case::Check;
use super::library::Entry;
use super::measure::{Track, track};
use super::quantity::exponent;
use super::report::Row;
use super::verdict::Verdict;
use super::{case, rows};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;
use tisane::error::{Error, Result};
use tisane_run::assemble::{self, Session};
use tisane_run::config::{Loaded, Real};
use tisane_run::ensemble::{Blueprint, Ensemble, Options};
use tisane_run::simulation::ExitReason;

/// Settings shared by all cases.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Engine and GPU of runs, in place of those of their configurations.
    pub session: Session,
    /// Folder of other programs' files.
    pub data: PathBuf,
    /// Path of this program, for the runs that are its commands.
    pub program: PathBuf,
    /// Flag that ends a case early, without a result.
    pub stop: &'static AtomicBool,
}

/// Result of a run.
enum Outcome {
    Track(Track),
    Rows(Vec<serde_json::Value>),
}

/// Returns the requirement that this machine lacks; [`None`] if the case can run.
#[must_use]
pub fn missing(needs: &case::Needs, around: &Surroundings) -> Option<String> {
    if let Some(name) = &needs.data
        && !around.data.join(name).is_file()
    {
        return Some(format!("needs {name}, which is not in {}", around.data.display()));
    }
    if !needs.gpu {
        return None;
    }
    match assemble::gpus() {
        Ok(gpus) if gpus.is_empty() => Some("needs an NVIDIA GPU: the driver finds none".into()),
        Ok(_) => None,
        Err(e) => Some(format!("needs an NVIDIA GPU: {e}")),
    }
}

/// Reads every configuration of a case, so that a mistake is reported before anything runs.
///
/// # Errors
/// [`Error::Config`] with file, line and key.
pub fn check_configurations(entry: &Entry) -> Result<()> {
    entry.case.runs.iter().try_for_each(|run| entry.config(run, Path::new("")).map(drop))
}

/// Returns the rows of a case that cannot run on this machine.
#[must_use]
pub fn skipped(entry: &Entry, why: &str) -> Vec<Row> {
    let row = |check| Row::new(&entry.name, check, Err(why.to_owned()), Verdict::Skipped);
    entry.case.checks.iter().map(row).collect()
}

/// Runs a case and compares its numbers. The checks of a run that fails fail, with the reason. `progress` gets the name
/// of the run and the share of the case that is done. Returns [`None`] if it was stopped.
///
/// # Errors
/// [`Error::Storage`] if there is no room for temporary files.
pub fn run(entry: &Entry, around: &Surroundings, progress: &mut dyn FnMut(&str, f64)) -> Result<Option<Vec<Row>>> {
    let folder = TempDir::new().map_err(|e| Error::storage(std::env::temp_dir(), e))?;
    for (name, text) in &entry.files {
        let path = folder.path().join(name);
        fs::write(&path, text).map_err(|e| Error::storage(&path, e))?;
    }
    if let Some(name) = &entry.case.needs.data {
        let copy = folder.path().join(name);
        fs::copy(around.data.join(name), &copy).map_err(|e| Error::storage(&copy, e))?;
    }
    let runs = &entry.case.runs;
    let mut outcomes: Vec<Result<Outcome, String>> = Vec::new();
    for (k, run) in runs.iter().enumerate() {
        let mut inner = |share: f64| progress(&run.name, (k as f64 + share) / runs.len() as f64);
        inner(0.0);
        let mut one = || -> Result<Option<Outcome>, String> {
            match entry.config(run, folder.path()).map_err(|e| e.to_string())? {
                None => {
                    let out = folder.path().join(format!("out-{k}"));
                    let found = rows::run_command(&around.program, run, (&out, around.session.device), around.stop)?;
                    Ok(found.map(Outcome::Rows))
                }
                Some(loaded) if loaded.config.ensemble.is_some() => {
                    let out = folder.path().join(format!("out-{k}"));
                    let found = members(&loaded, (folder.path(), &out), around, &mut inner);
                    Ok(found.map_err(|e| e.to_string())?.map(Outcome::Rows))
                }
                Some(loaded) if loaded.config.stellar_evolution.is_some() => {
                    let problem =
                        "stellar_evolution: a run of a case has no journals, and its stars would keep their masses";
                    Err(format!("{problem}: make it an [ensemble], whose members age"))
                }
                Some(loaded) => {
                    let made =
                        assemble::prepare(loaded).and_then(|set| track(&set, around.session, around.stop, &mut inner));
                    Ok(made.map_err(|e| e.to_string())?.map(Outcome::Track))
                }
            }
        };
        match one() {
            Ok(None) => return Ok(None),
            Ok(Some(outcome)) => outcomes.push(Ok(outcome)),
            Err(e) => outcomes.push(Err(format!("run {}: {e}", run.name))),
        }
    }
    Ok(Some(entry.case.checks.iter().map(|check| compare(entry, check, &outcomes)).collect()))
}

/// Runs an ensemble, whose relative paths start at `base`, in the folder `out`. Returns the rows of its members; [`None`] if
/// it was stopped.
fn members(
    loaded: &Loaded,
    (base, out): (&Path, &Path),
    around: &Surroundings,
    progress: &mut dyn FnMut(f64),
) -> Result<Option<Vec<serde_json::Value>>> {
    fs::create_dir(out).map_err(|e| Error::storage(out, e))?;
    let mut ensemble = Ensemble::create(Blueprint::new(loaded, base)?, out)?;
    let (session, stop) = (around.session, around.stop);
    let options = Options { session, threads: rayon::current_num_threads(), wall_time: None, stop };
    let ending = ensemble.run(&options, &mut |status| progress(status.done / status.members.max(1) as f64))?;
    Ok((ending == ExitReason::Finished).then(|| rows::from_table(ensemble.members())))
}

/// Compares the number of a check with its reference value.
fn compare(entry: &Entry, check: &Check, outcomes: &[Result<Outcome, String>]) -> Row {
    let table = check.table.as_ref().and_then(|name| entry.file(name));
    let point = |name: &str| -> Result<(f64, f64), String> {
        let found = entry.case.runs.iter().zip(outcomes).find(|(run, _)| run.name == name);
        let (run, outcome) = found.ok_or_else(|| format!("there is no run {name}"))?;
        let value = match outcome.as_ref().map_err(Clone::clone)? {
            Outcome::Track(track) => check.quantity.measure(track, check, table)?,
            Outcome::Rows(found) => rows::number(found, check)?,
        };
        Ok((run.x.map_or(f64::NAN, Real::get), value))
    };
    let alone = |name: &String| point(name).map(|(_, value)| value);
    let measured = match (&check.run, &check.per) {
        (Some(name), None) => alone(name),
        (Some(name), Some(per)) => alone(name).and_then(|value| Ok(value / alone(per)?)),
        (None, _) => {
            check.fit.iter().map(|name| point(name)).collect::<Result<Vec<_>, _>>().map(|points| exponent(&points))
        }
    };
    let holds = |x: &f64| check.kind.holds(*x, check.reference.get(), check.tolerance.get());
    let verdict = if measured.as_ref().is_ok_and(holds) { Verdict::Pass } else { Verdict::Fail };
    Row::new(&entry.name, check, measured, verdict)
}
