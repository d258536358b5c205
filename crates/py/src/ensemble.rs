//! Ensembles with files, as those of `tisane run`.

use crate::errors::exception;
use crate::run::{Source, attend, read};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tisane::error::{Error, Result};
use tisane::spin_pool;
use tisane_io::directory;
use tisane_run::assemble::Session;
use tisane_run::config::{Kept, WallTime};
use tisane_run::ensemble::{Blueprint, Ensemble, Options};

/// Disk space of the files of an ensemble before its rows.
const NEEDED: u64 = 1 << 20;

/// Directory of the files, and whether it is removed once they have been read.
type Output = (String, bool);

/// Integrates the members of a configuration, with files in the directory of `output`, on `threads` threads, if not as
/// many as the configuration gives. An exception of `progress` or a signal stops it with the states of its members.
/// `progress` is called with the number of members that have ended, the shares of those in progress added, and that of
/// all. Returns the directory and how the ensemble ended.
#[pyfunction]
pub(crate) fn ensemble(
    py: Python<'_>,
    config: Source,
    settings: Vec<String>,
    output: Output,
    overwrite: bool,
    threads: u32,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(PathBuf, String)> {
    let prepare = || prepare(config, &settings, output);
    let blueprint = py.detach(prepare).map_err(|error| exception(py, &error))?;
    let (dir, members) = (blueprint.config.output_directory(), blueprint.members.count());
    let done = AtomicU64::new(0.0_f64.to_bits());
    let report = || {
        let done = f64::from_bits(done.load(Ordering::Relaxed));
        progress.as_ref().map_or(Ok(()), |call| call.call1((done, members)).map(|_| ()))
    };
    let (reason, stopped) = attend(py, |stop| whole(blueprint, overwrite, threads, stop, &done), report)?;
    stopped?;
    Ok((dir, reason))
}

/// Reads the members of a configuration.
fn prepare(config: Source, settings: &[String], (dir, temporary): Output) -> Result<Blueprint> {
    let (mut loaded, base) = read(config, settings)?;
    let Some(ensemble) = &loaded.config.ensemble else {
        let help = "give vary or realisations, or a configuration with [ensemble]; tisane.run is for one run";
        return Err(Error::input("config", "this configuration describes one run, not an ensemble").with_help(help));
    };
    if temporary && ensemble.snapshots != Kept::None {
        let problem = "without output the files are temporary, and snapshots would be lost";
        return Err(Error::input("snapshots", problem).with_help("name a directory, as output=\"runs/name\""));
    }
    loaded.config.output.directory = Some(dir);
    spin_pool::on_threads(1, || Blueprint::new(&loaded, &base))
}

/// Integrates all members, or those up to a stop, and completes the files. Returns how it ended.
fn whole(
    blueprint: Blueprint,
    overwrite: bool,
    threads: u32,
    stop: &'static AtomicBool,
    done: &AtomicU64,
) -> Result<String> {
    let config = &blueprint.config;
    let options = Options {
        session: Session::default(),
        threads: if threads == 0 { config.force.threads } else { threads } as usize,
        wall_time: config.limits.wall_time.map(WallTime::get),
        stop,
    };
    let dir = config.output_directory();
    let _lock = directory::create(&dir, &config.resolved_toml()?, NEEDED, overwrite)?;
    let mut ensemble = Ensemble::create(blueprint, &dir)?;
    let ending = ensemble.run(&options, &mut |status| done.store(status.done.to_bits(), Ordering::Relaxed))?;
    Ok(ensemble.conclude(ending)?.exit_reason.to_owned())
}
