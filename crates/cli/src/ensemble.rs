//! `tisane run` and `tisane resume` of an ensemble.

use super::arguments::Verbosity;
use super::screen::print;
use super::session::SessionArgs;
use super::stop::{STOP, listen};
use super::{log, log_file, progress};
use indicatif::{MultiProgress, ProgressBar};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};
use tisane::error::{Error, Result};
use tisane::spin_pool::on_threads;
use tisane::units::wall_time;
use tisane_io::directory;
use tisane_io::lock::Lock;
use tisane_run::assemble::Session;
use tisane_run::config::{Engine, Loaded};
use tisane_run::ensemble::{Blueprint, Ensemble, Options, Status, Summary};
use tisane_run::help::before_first_checkpoint;
use tisane_run::simulation::ExitReason;
use tisane_run::team::Team;

/// Interval between lines where there is no bar.
const LINE_INTERVAL: Duration = Duration::from_secs(60);
/// Steps of the bar for each member.
const STEPS: f64 = 1000.0;
/// Disk space of the files of an ensemble before its rows.
const NEEDED: u64 = 1 << 20;

/// Options of the session, and the ranks that integrate members beside this process.
type Asked<'a> = (&'a SessionArgs, Option<&'static Team>);

/// Runs an ensemble; relative paths of its configuration start at `base`.
pub fn run(loaded: &Loaded, base: &Path, session: Asked<'_>, overwrite: bool, verbosity: Verbosity) -> Result<u8> {
    check(session.0)?;
    let config = &loaded.config;
    let blueprint = on_threads(1, || Blueprint::new(loaded, base))?;
    let (dir, resolved) = (config.output_directory(), blueprint.config.resolved_toml()?);
    let lock = directory::create(&dir, &resolved, NEEDED, overwrite).map_err(before_first_checkpoint)?;
    let bars = start_log(&dir, &lock, verbosity)?;
    let members = blueprint.members.count();
    tracing::info!(directory = %dir.display(), members, "starting {}: an ensemble", config.run.name);
    if let (None, Some(settings)) = (&config.encounters, blueprint.config.subsystems()) {
        let with = settings.perturbation.get();
        let [scheme, _] = blueprint.config.integrator.scheme().describe();
        tracing::info!("from member 0, a cluster without softening: encounters.perturbation = {with:e}; {scheme}");
    }
    let ensemble = Ensemble::create(blueprint, &dir).map_err(before_first_checkpoint)?;
    go(ensemble, &dir, (None, session), &bars, verbosity)
}

/// Goes on with the ensemble in a directory.
pub fn resume(dir: &Path, engine: Option<Engine>, session: Asked<'_>, verbosity: Verbosity) -> Result<u8> {
    check(session.0)?;
    let lock = Lock::take(dir)?;
    let ensemble = on_threads(1, || Ensemble::resume(dir))?;
    directory::remove_summary(dir)?;
    let bars = start_log(dir, &lock, verbosity)?;
    for warning in ensemble.warnings() {
        tracing::warn!("{warning}");
    }
    let (status, name) = (ensemble.status(), &ensemble.blueprint().config.run.name);
    tracing::info!(
        directory = %dir.display(),
        members = status.members,
        ended = status.ended,
        in_progress = ensemble.in_progress(),
        "resuming {name}"
    );
    go(ensemble, dir, (engine, session), &bars, verbosity)
}

/// Refuses options that an ensemble does not have.
fn check(session: &SessionArgs) -> Result<()> {
    match session.not_for_ensembles() {
        Some(option) => Err(Error::input(option, "this option is for one run, not for an ensemble")),
        None => Ok(()),
    }
}

fn start_log(dir: &Path, lock: &Lock, verbosity: Verbosity) -> Result<MultiProgress> {
    let bars = MultiProgress::new();
    log::start(verbosity, log_file::open(dir)?, &bars, None)?;
    log::lock(lock);
    Ok(bars)
}

/// Integrates the members that have not ended, and prints how the ensemble ended.
fn go(
    mut ensemble: Ensemble,
    dir: &Path,
    (engine, (session, team)): (Option<Engine>, Asked<'_>),
    bars: &MultiProgress,
    verbosity: Verbosity,
) -> Result<u8> {
    listen();
    let config = &ensemble.blueprint().config;
    let options = Options {
        session: Session { team, ..session.engine(engine) },
        threads: session.threads_in(team, config),
        wall_time: session.wall_time(config),
        stop: &STOP,
    };
    let mut progress = Progress::new(verbosity, ensemble.status(), bars);
    let ended = ensemble.run(&options, &mut |status| progress.show(status));
    progress.bar.finish_and_clear();
    let ending = ended?;
    let summary = ensemble.conclude(ending)?;
    tracing::info!(members = summary.members, ended = summary.ended, "{}", summary.exit_reason);
    if !verbosity.quiet {
        print(&table(&summary, dir))?;
    }
    let status = ensemble.status();
    Ok(match ending {
        ExitReason::Finished if status.failed == status.members => 4,
        ExitReason::Finished => 0,
        _ => 3,
    })
}

/// Progress of an ensemble on the screen.
struct Progress {
    bar: ProgressBar,
    lines: bool,
    began: Instant,
    done_before: f64,
    last_line: Instant,
}

impl Progress {
    fn new(verbosity: Verbosity, status: &Status, bars: &MultiProgress) -> Self {
        let (bar, lines) = progress::bar(verbosity, (status.members as f64 * STEPS) as u64);
        let bar = bars.add(bar);
        bar.set_position((status.done * STEPS) as u64);
        bar.reset_eta();
        let now = Instant::now();
        Self { bar, lines, began: now, done_before: status.done, last_line: now }
    }

    fn show(&mut self, status: &Status) {
        self.bar.set_position((status.done * STEPS) as u64);
        self.bar.set_message(self.message(status));
        if self.lines && self.last_line.elapsed() >= LINE_INTERVAL {
            self.last_line = Instant::now();
            // A closed pipe must not end the work.
            let mut out = std::io::stdout().lock();
            let _ = writeln!(out, "{}", self.line(status));
            let _ = out.flush();
        }
    }

    fn message(&self, status: &Status) -> String {
        let rate = status.block_steps as f64 / self.began.elapsed().as_secs_f64().max(1e-9);
        let failed = if status.failed > 0 { format!(", {} failed", status.failed) } else { String::new() };
        let Status { ended, members, energy_error, .. } = status;
        format!("{ended} of {members} members{failed}  {rate:.2e} block steps/s  dE/E {energy_error:.1e}")
    }

    /// Describes the progress in a line, with the time left at the mean rate of the session.
    fn line(&self, status: &Status) -> String {
        let mut line = format!("{:3.0} %  {}", 100.0 * status.done / status.members as f64, self.message(status));
        let done = status.done - self.done_before;
        if done > 0.0 {
            let left = (status.members as f64 - status.done) / done * self.began.elapsed().as_secs_f64();
            let _ = write!(line, "  ETA {}", wall_time(left));
        }
        line
    }
}

/// Describes the end of an ensemble.
fn table(summary: &Summary, dir: &Path) -> String {
    let Summary { name, members, ended, .. } = summary;
    let how = match summary.exit_reason {
        "finished" => "finished".to_owned(),
        reason => format!("stopped ({reason}); continue with: tisane resume {}", dir.display()),
    };
    let outcomes: Vec<String> = summary.outcomes.iter().map(|(how, count)| format!("{count} {how}")).collect();
    let [median, largest] = summary.energy_error;
    let rate = match summary.block_steps_of_session {
        0 => String::new(),
        steps => format!(", {:.2e} block steps/s", steps as f64 / summary.wall_seconds.max(1e-9)),
    };
    let lines = [
        ("members", format!("{ended} of {members} have ended: {}", outcomes.join(", "))),
        (
            "energy error",
            match median.is_nan() {
                true => "none: no member that ended has an energy".into(),
                false => format!("{median:.3e} in the median, largest {largest:.3e}"),
            },
        ),
        ("block steps", format!("{}", summary.block_steps)),
        ("wall time", wall_time(summary.wall_seconds) + &rate),
        ("output", dir.display().to_string()),
    ];
    let mut text = format!("{name}: {how}\n");
    for (name, value) in lines {
        let _ = writeln!(text, "  {name:<14} {value}");
    }
    text
}
