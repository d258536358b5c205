//! `tisane run` and `tisane resume`.

use super::arguments::{ConfigArgs, Verbosity, a_precision, an_engine};
use super::ensemble;
use super::progress::RunProgress;
use super::screen::print;
use super::session::SessionArgs;
use super::stop::{STOP, listen};
use super::trace::{Trace, TraceFile};
use super::{log, log_file};
use clap::Args;
use indicatif::MultiProgress;
use std::io::Write;
use std::path::{Path, PathBuf};
use tisane::diagnostics::reference::Basis;
use tisane::error::{Error, Result};
use tisane::force::EngineKind;
use tisane::force::precision::Precision;
use tisane::spin_pool;
use tisane::spin_pool::on_threads;
use tisane::units::{twelve_digits, wall_time};
use tisane_io::directory;
use tisane_io::lock::Lock;
use tisane_io::removed::Removed;
use tisane_io::summary::Summary;
use tisane_run::assemble::{self, Resumed, Session, Setup};
use tisane_run::config::{Config, Engine, Loaded, Problem, Real};
use tisane_run::ensemble::is_ensemble;
use tisane_run::help::before_first_checkpoint;
use tisane_run::simulation::{ExitReason, Outputs, Simulation};
use tisane_run::team::Team;
use tisane_view::{Port, View};

#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Output directory [default: runs/<name>, or [output] directory].
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Engine, instead of force.engine.
    #[arg(long, value_name = "ENGINE", value_parser = an_engine())]
    engine: Option<Engine>,
    /// Precision mode, instead of force.precision.
    #[arg(long, value_name = "MODE", value_parser = a_precision())]
    precision: Option<Precision>,
    #[command(flatten)]
    session: SessionArgs,
    /// Replace an existing run in the output directory.
    #[arg(long)]
    overwrite: bool,
}

#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// Output directory of the run.
    dir: PathBuf,
    /// Change a setting from here on, as in --set integrator.hermite4.dt_min=1e-12; may be given several times. Accuracy
    /// and steps of the integrator, the precision, outputs and limits can be changed; the change is recorded.
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE")]
    sets: Vec<String>,
    /// End of the run, instead of run.t_end, in the unit of time.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    t_end: Option<String>,
    /// Engine of this session, instead of force.engine. In f64 every engine has the same bits.
    #[arg(long, value_name = "ENGINE", value_parser = an_engine())]
    engine: Option<Engine>,
    #[command(flatten)]
    session: SessionArgs,
}

/// Serves the view of a session, if it has a port, and prints its address: on the screen only, because readers of the
/// log must not be let in by it.
fn view(dir: &Path, port: Option<Port>, bars: &MultiProgress) -> Result<Option<View>> {
    let Some(port) = port else { return Ok(None) };
    let view = View::start(dir, port)?;
    let text = super::view::describe(&view, dir);
    // A closed standard error must not end a run.
    bars.suspend(|| drop(std::io::stderr().write_all(text.as_bytes())));
    Ok(Some(view))
}

/// Returns the name of an output directory as the configuration can hold it.
fn utf8(dir: &Path) -> Result<String> {
    let name = dir.to_str().map(str::to_owned);
    name.ok_or_else(|| Error::input(dir, "this path is not UTF-8: the configuration cannot name it"))
}

/// Replacing a run must not remove the file that the new one starts from.
fn keep_input(config: &Config) -> Result<()> {
    let dir = config.output_directory();
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let Some(real_dir) = real(&dir) else { return Ok(()) };
    match config
        .inputs()
        .into_iter()
        .map(|(_, path)| path)
        .find(|path| real(path).is_some_and(|path| path.starts_with(&real_dir)))
    {
        Some(input) => Err(Error::input(
            input,
            format!("--overwrite would remove this input, as it is inside {}", real_dir.display()),
        )
        .with_help("give another directory with --output")),
        None => Ok(()),
    }
}

pub fn run(args: RunArgs, team: Option<&'static Team>, verbosity: Verbosity) -> Result<u8> {
    let mut sets = args.config.sets;
    sets.extend(args.engine.map(|engine| format!("force.engine={}", engine.name())));
    sets.extend(args.precision.map(|mode| format!("force.precision={}", mode.name())));
    let mut loaded = Config::from_file(&args.config.file, &sets)?;
    if let Some(directory) = args.output {
        loaded.config.output.directory = Some(utf8(&directory)?);
    }
    if args.overwrite {
        keep_input(&loaded.config)?;
    }
    if loaded.config.ensemble.is_some() {
        let base = args.config.file.parent().unwrap_or(Path::new(""));
        return ensemble::run(&loaded, base, (&args.session, team), args.overwrite, verbosity);
    }
    let session = Session { team, ..args.session.engine(None) };
    assemble::check_gpu(&loaded.config, session)?;
    let (port, trace) = (args.session.port()?, args.session.trace()?);
    on_threads(args.session.threads_in(team, &loaded.config), move || {
        let setup = assemble::prepare(loaded)?;
        let mut new = open(setup, session, args.overwrite, verbosity, trace).map_err(before_first_checkpoint)?;
        args.session.limit(&mut new.simulation);
        let _view = view(&new.simulation.plan().directory, port, &new.bars)?;
        let reason = new.run(verbosity)?;
        Ok(exit_code(reason))
    })
}

/// New run with its directory and log.
pub(super) struct NewRun {
    pub(super) simulation: Simulation,
    name: String,
    bars: MultiProgress,
    /// Written until the run ends.
    _trace: Option<Trace>,
    /// Held until the run ends.
    _lock: Lock,
}

/// Makes the directory of a new run.
pub(super) fn open(
    setup: Setup,
    session: Session,
    overwrite: bool,
    verbosity: Verbosity,
    trace: Option<TraceFile>,
) -> Result<NewRun> {
    let (name, config, dir) =
        (setup.config.run.name.clone(), setup.config_of_files().resolved_toml()?, setup.config.output_directory());
    let (derived, source, n) = (setup.derived.clone(), setup.source.clone(), setup.particles.len());
    let simulation = assemble::new_run(setup, session)?;
    let lock = directory::create(&dir, &config, super::check::disk_per_output(n), overwrite)?;
    directory::make_snapshots(&dir)?;
    let bars = MultiProgress::new();
    let trace = log::start(verbosity, log_file::open(&dir)?, &bars, trace)?;
    log::lock(&lock);
    tracing::info!(directory = %dir.display(), "starting {name}: {source}");
    if !derived.is_empty() {
        tracing::info!("defaults: {}", derived.join("; "));
    }
    for folder in directory::pictures(&dir) {
        tracing::warn!("{}: these pictures are not of this run, but of what was here before it", folder.display());
    }
    Ok(NewRun { simulation, name, bars, _trace: trace, _lock: lock })
}

impl NewRun {
    /// Runs it from its start to its end.
    pub(super) fn run(&mut self, verbosity: Verbosity) -> Result<ExitReason> {
        go(&mut self.simulation, &self.name, verbosity, &self.bars, |simulation, progress| {
            // The first checkpoint is the last of what it writes.
            simulation.start(progress).map_err(before_first_checkpoint)
        })
    }
}

/// Returns the exit code of a run that ended without an error.
pub(super) fn exit_code(reason: ExitReason) -> u8 {
    if reason == ExitReason::Finished { 0 } else { 3 }
}

pub fn resume(args: ResumeArgs, team: Option<&'static Team>, verbosity: Verbosity) -> Result<u8> {
    let ResumeArgs { dir, mut sets, t_end, engine, session } = args;
    if !dir.is_dir() {
        return Err(directory::no_such_run(&dir));
    }
    utf8(&dir)?;
    if is_ensemble(&dir) {
        if !sets.is_empty() || t_end.is_some() {
            let problem = "this is an ensemble, whose members are all of one configuration";
            return Err(Error::input(&dir, problem).with_help("resume it without --set and --t-end"));
        }
        return ensemble::resume(&dir, engine, (&session, team), verbosity);
    }
    check_resumable(&dir, &sets)?;
    let (port, trace) = (session.port()?, session.trace()?);
    let lock = Lock::take(&dir)?;
    if let Some(text) = &t_end {
        let t_end = Real::parse(text).map_err(|problem| Problem::new("--t-end", problem))?;
        sets.push(format!("run.t_end={:?}", t_end.get()));
    }
    // The number of threads is in the configuration; without a pool, rayon would start one of all cores.
    let resumed = on_threads(1, || assemble::resumed_run(&dir, Session { team, ..session.engine(engine) }, &sets))?;
    let Resumed { mut simulation, config, warnings, notes, changed } = resumed;
    session.limit(&mut simulation);
    let resolved = config.resolved_toml()?;
    let bars = MultiProgress::new();
    let _trace = log::start(verbosity, log_file::open(&dir)?, &bars, trace)?;
    log::lock(&lock);
    for warning in &warnings {
        tracing::warn!("{warning}");
    }
    for note in &notes {
        tracing::info!("{note}");
    }
    let state = simulation.system.state;
    let now = twelve_digits(state.clock.time(state.now) * state.scale.time);
    tracing::info!(
        directory = %dir.display(),
        block_steps = state.counters.block_steps,
        time = format_args!("{now} {}", config.units().time.name),
        "resuming {}",
        config.run.name
    );
    let _view = view(&dir, port, &bars)?;
    on_threads(session.threads_in(team, &config), move || {
        let reason = go(&mut simulation, &config.run.name, verbosity, &bars, |simulation, progress| {
            let mut series = simulation.resume()?;
            mend_snapshots(&dir, simulation.system.state.written.snapshots)?;
            if changed {
                // Before the configuration: a resumption takes what the checkpoint records for what was meant.
                simulation.checkpoint(&mut series, progress)?;
            }
            simulation.retry_when_full(|| directory::write_config(&dir, &resolved))?;
            Ok(series)
        })?;
        Ok(exit_code(reason))
    })
}

/// Refuses what cannot be gone on with, with the way: an ensemble that ended before it had a member, and another directory.
fn check_resumable(dir: &Path, sets: &[String]) -> Result<()> {
    if sets.iter().any(|set| set.split('=').next().is_some_and(|key| key.trim() == "output.directory")) {
        let problem = "a run goes on in its own directory";
        let help = "to have it elsewhere, move the directory, and resume it there";
        return Err(Problem::new("output.directory", problem).with_help(help).into());
    }
    let config = dir.join(directory::CONFIG);
    let is_of_members = |loaded: Loaded| loaded.config.ensemble.is_some();
    if config.is_file() && Config::from_file(&config, &[]).is_ok_and(is_of_members) {
        let problem = format!("an ensemble that ended before it had a member: there is no {}", directory::ENSEMBLE);
        let help = "nothing is lost: begin it anew with `tisane run FILE --overwrite`";
        return Err(Error::input(dir, problem).with_help(help));
    }
    Ok(())
}

/// Makes the folder of the snapshots where it is missing, and logs how many are missing in it: users move them away,
/// and the run does not need them.
fn mend_snapshots(dir: &Path, written: u64) -> Result<()> {
    directory::make_snapshots(dir)?;
    let there = directory::snapshot_numbers(dir)?.len() as u64;
    if there < written {
        let folder = dir.join(directory::SNAPSHOTS);
        tracing::warn!(
            "{}: {} of the {written} snapshots of this run are not there",
            folder.display(),
            written - there
        );
    }
    Ok(())
}

/// Runs a simulation from its `begin` to its end, and prints how it ended.
fn go(
    simulation: &mut Simulation,
    name: &str,
    verbosity: Verbosity,
    bars: &MultiProgress,
    begin: impl FnOnce(&mut Simulation, &mut RunProgress) -> Result<Outputs>,
) -> Result<ExitReason> {
    let _span = tracing::trace_span!("run", %name).entered();
    listen();
    simulation.stop_on(&STOP);
    tracing::info!(
        engine = %simulation.provenance().engine,
        precision = %simulation.provenance().precision,
        threads = rayon::current_num_threads(),
        "{}",
        simulation.info.engine_choice
    );
    for warning in &simulation.info.warnings {
        tracing::warn!("{warning}");
    }
    let unit = simulation.units().units.time.name.clone();
    let mut progress = RunProgress::new(verbosity, simulation, bars);
    let mut series = begin(simulation, &mut progress)?;
    let ended = match simulation.engine() {
        EngineKind::Cuda => {
            spin_pool::run(simulation.spinning_threads(), || simulation.run(&mut series, &mut progress))?
        }
        EngineKind::Cpu | EngineKind::Reference => simulation.run(&mut series, &mut progress),
    };
    progress.finish();
    let reason = ended.as_ref().copied().unwrap_or(ExitReason::Failed);
    let summary = simulation.conclude(name, ended)?;
    tracing::info!(
        block_steps = summary.block_steps,
        relative_energy_error = summary.relative_energy_error,
        "{}",
        summary.exit_reason
    );
    if let Some(profile) = &summary.profile {
        tracing::info!("profile of {:.3} s: {}", profile.total.total_seconds(), profile.total.shares());
    }
    if !verbosity.quiet {
        print(&table(&summary, simulation, &unit))?;
    }
    Ok(reason)
}

/// Describes the energy error, and when it was measured if that was not at the end.
fn energy_error(s: &Summary, unit: &str) -> String {
    let time = twelve_digits(s.energy_time);
    let (Some(last), Some(error), Some(largest)) =
        (s.energy_final, s.relative_energy_error, s.max_relative_energy_error)
    else {
        return format!("not measured since the start, at t = {time} {unit}");
    };
    if last.is_nan() {
        return "none: the law of the forces has no potential".into();
    }
    if error.is_nan() {
        return "not measured: no energy is conserved that is not zero".into();
    }
    let basis = match s.energy_error_relative_to {
        basis if basis == Basis::Total.name() => String::new(),
        basis => format!(" of the {basis}"),
    };
    let massless = match s.massless_bodies_not_measured {
        0 => String::new(),
        1 => "; the massless body is not in it".into(),
        n => format!("; the {n} massless bodies are not in it"),
    };
    let cluster = match s.cluster_energy_error {
        Some(of_cluster) if of_cluster.is_nan() => "; no bound cluster of 10 bodies is left".into(),
        Some(of_cluster) if (of_cluster - error).abs() > 0.1 * of_cluster.abs() => {
            format!(", {of_cluster:+.3e} of the energy of the cluster, binaries as one body each")
        }
        _ => String::new(),
    };
    let when = if s.energy_time == s.time { String::new() } else { format!(", measured at t = {time} {unit}") };
    format!("{error:+.3e}{basis} (largest {largest:.3e}){massless}{cluster}{when}")
}

/// Describes the energy at the start and at the last row, and what mergers and escapes took out between them.
fn energies(s: &Summary) -> String {
    let last = s.energy_final.map_or_else(|| "not measured".to_owned(), |energy| format!("{energy:.12e}"));
    let energies = format!("{:.12e} -> {last}", s.energy_initial);
    if s.removed.is_empty() {
        return energies;
    }
    let removed: Vec<String> = s.removed.iter().map(Removed::describe).collect();
    format!("{energies}\n  removed          {}", removed.join("; "))
}

/// Describes the end of a run.
fn table(s: &Summary, simulation: &Simulation, unit: &str) -> String {
    let dir = simulation.plan().directory.display();
    let how = match s.exit_reason {
        "finished" => "finished".to_owned(),
        reason => format!("stopped ({reason}); continue with: tisane resume {dir}"),
    };
    let angular_momentum = match s.angular_momentum_error {
        Some(error) => format!(", angular momentum {error:.3e}"),
        None => String::new(),
    };
    let rate = s.pairs_per_second.map_or_else(String::new, |rate| format!(", {rate:.3e} pairs/s"));
    let error = energy_error(s, unit);
    let mean_block = s.particle_steps as f64 / s.block_steps.max(1) as f64;
    let wall = wall_time(s.wall_seconds);
    format!(
        "\n{name} {how}\n\
         \x20 time             {time} {unit}, N = {n}\n\
         \x20 energy           {energies}\n\
         \x20 relative error   {error}{angular_momentum}\n\
         \x20 steps            {blocks} block steps of {mean_block:.1} particles on average\n\
         \x20 speed            {wall} wall time{rate}, engine {engine}, {precision}, {threads} threads\n\
         \x20 engine           {choice}\n\
         {profile}\
         \x20 state            sha256 {hash}\n\
         \x20 output           {dir}\n",
        name = s.name,
        time = twelve_digits(s.time),
        n = s.n,
        energies = energies(s),
        blocks = s.block_steps,
        engine = s.engine,
        precision = s.precision,
        threads = s.threads,
        choice = s.engine_choice,
        profile = s.profile.as_ref().map_or_else(String::new, |profile| {
            format!("\x20 profile          {:.3} s: {}\n", profile.total.total_seconds(), profile.total.shares())
        }),
        hash = s.state_sha256,
    )
}
