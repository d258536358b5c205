//! Runs with files, as those of `tisane run`.

use crate::errors::exception;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use tisane::error::{Error, Result};
use tisane::force::EngineKind;
use tisane::spin_pool;
use tisane_io::checkpoint::RunState;
use tisane_io::directory;
use tisane_io::fields::DiagnosticsRow;
use tisane_run::assemble::{self, Session, Setup};
use tisane_run::config::{self, Config, Loaded};
use tisane_run::simulation::Observer;

/// Time between checks for signals, and reports of the time reached.
pub(crate) const REPORT: Duration = Duration::from_millis(50);

/// The time that a run has reached, shared with the thread that reports it.
struct Reached<'a>(&'a AtomicU64);

impl Observer for Reached<'_> {
    fn step(&mut self, state: &RunState) {
        let time = state.clock.time(state.now) * state.scale.time;
        self.0.store(time.to_bits(), Ordering::Relaxed);
    }

    fn output(&mut self, _: &DiagnosticsRow, _: bool) {}
}

/// Configuration as Python gives it: a file, or text with the folder of its relative paths.
pub(crate) type Source = (Option<PathBuf>, String, PathBuf);

/// Reads a configuration. Returns it with the folder of its relative paths.
pub(crate) fn read((path, text, base): Source, settings: &[String]) -> Result<(Loaded, PathBuf)> {
    let Some(path) = path else {
        return Ok((Config::from_str("configuration", &text, &base, settings)?, base));
    };
    let base = path.parent().unwrap_or(Path::new("")).to_owned();
    let text = config::read_text(&path)?;
    Ok((Config::from_str(&path.display().to_string(), &text, &base, settings)?, base))
}

/// Runs a configuration in `directory`, if that is not the one of the configuration. Returns the directory and how the
/// run ended.
#[pyfunction]
pub(crate) fn run(
    py: Python<'_>,
    config: Source,
    settings: Vec<String>,
    directory: Option<String>,
    overwrite: bool,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(PathBuf, String)> {
    let prepare = || {
        let (mut loaded, _) = read(config, &settings)?;
        if directory.is_some() {
            loaded.config.output.directory = directory;
        }
        spin_pool::on_threads(loaded.config.force.threads as usize, || assemble::prepare(loaded))
    };
    let setup = py.detach(prepare).map_err(|error| exception(py, &error))?;
    let dir = setup.config.output_directory();
    let (reason, stopped) = execute(py, setup, overwrite, progress.as_ref())?;
    stopped?;
    Ok((dir, reason))
}

/// Runs to the end, or to the first signal for which Python raises an exception: then the run stops with a checkpoint.
/// Returns how it ended, and the exception.
pub(crate) fn execute(
    py: Python<'_>,
    setup: Setup,
    overwrite: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, PyResult<()>)> {
    let reached = AtomicU64::new((setup.clock.start * setup.scale.time).to_bits());
    let report = || {
        let time = f64::from_bits(reached.load(Ordering::Relaxed));
        progress.map_or(Ok(()), |call| call.call1((time,)).map(|_| ()))
    };
    attend(py, |stop| whole(setup, overwrite, stop, &reached), report)
}

/// Does `work` on a thread of its own, while this one looks at Python's signals and calls `report`. The first exception
/// of these raises the flag that the work is given. Returns what the work returns, and the exception.
pub(crate) fn attend<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&'static AtomicBool) -> Result<T> + Send,
    report: impl Fn() -> PyResult<()>,
) -> PyResult<(T, PyResult<()>)> {
    // The flag of a run must live as long as the program. Runs are few.
    let stop: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
    let (sender, mut receiver) = mpsc::channel();
    let mut asked = Ok(());
    let done = std::thread::scope(|scope| {
        scope.spawn(move || sender.send(work(stop)));
        loop {
            let (done, back) = py.detach(move || (receive(&receiver), receiver));
            if let Some(done) = done {
                return done;
            }
            receiver = back;
            if asked.is_ok() {
                asked = py.check_signals().and_then(|()| report());
                stop.store(asked.is_err(), Ordering::Relaxed);
            }
        }
    });
    Ok((done.map_err(|error| exception(py, &error))?, asked))
}

/// Waits a while for the end.
fn receive<T>(receiver: &mpsc::Receiver<Result<T>>) -> Option<Result<T>> {
    match receiver.recv_timeout(REPORT) {
        Ok(done) => Some(done),
        Err(RecvTimeoutError::Timeout) => None,
        Err(RecvTimeoutError::Disconnected) => {
            Some(Err(Error::Integration { problem: "the thread of the run has ended".into(), help: None }))
        }
    }
}

/// Runs from the start to the end.
fn whole(setup: Setup, overwrite: bool, stop: &'static AtomicBool, reached: &AtomicU64) -> Result<String> {
    let threads = setup.config.force.threads as usize;
    spin_pool::on_threads(threads, move || {
        let (name, config, dir) =
            (setup.config.run.name.clone(), setup.config_of_files().resolved_toml()?, setup.config.output_directory());
        let n = setup.particles.len();
        let mut simulation = assemble::new_run(setup, Session::default())?;
        let _lock = directory::create(&dir, &config, tisane_cli::disk_per_output(n), overwrite)?;
        directory::make_snapshots(&dir)?;
        simulation.stop_on(stop);
        let mut observer = Reached(reached);
        let mut outputs = simulation.start(&mut observer)?;
        let ended = match simulation.engine() {
            EngineKind::Cuda => {
                spin_pool::run(simulation.spinning_threads(), || simulation.run(&mut outputs, &mut observer))?
            }
            EngineKind::Cpu | EngineKind::Reference => simulation.run(&mut outputs, &mut observer),
        };
        Ok(simulation.conclude(&name, ended)?.exit_reason.to_owned())
    })
}
