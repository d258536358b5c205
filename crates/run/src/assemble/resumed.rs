//! Resumed runs: from a checkpoint that belongs to the run.

use super::changes::{Difference, Freedom, differences, freedom};
use super::engine::Task;
use super::new_run::{choose_engines, plan, provenance};
use super::prepare::check_covered;
use super::rebase::{Obstacle, in_ticks, rebase, rebase_orbit};
use super::reproduce;
use super::session::Session;
use super::steps::close_pairs;
use crate::binaries::Terms;
use crate::config::{Config, Loaded, Problem};
use crate::simulation::Simulation;
use serde_json::Value;
use std::path::Path;
use tisane::error::{Error, Result};
use tisane::force::EngineKind;
use tisane::force::external::guide::MovingOrigin;
use tisane::initial::scaling;
use tisane::particles::Particles;
use tisane::time::{TICKS_PER_DT_MAX, Time};
use tisane::units::{Dimension, twelve_digits};
use tisane_io::checkpoint::{self, Checkpoint, RunState};
use tisane_io::fields::Journal;
use tisane_io::file_units::FileUnits;
use tisane_io::provenance::{Change, Provenance};
use tisane_io::snapshot::{self, SnapshotData};
use tisane_io::{directory, provenance};

/// Run that is ready to continue.
pub struct Resumed {
    /// The simulation, at the state of the checkpoint.
    pub simulation: Simulation,
    /// Its configuration, with the changes.
    pub config: Config,
    /// Warnings: a damaged checkpoint, changed settings that the trajectory depends on.
    pub warnings: Vec<String>,
    /// Changed settings that it does not depend on.
    pub notes: Vec<String>,
    /// True if settings were changed: a new checkpoint should record them at once.
    pub changed: bool,
}

/// Returns a simulation that continues from the newest intact checkpoint of `dir`, with its configuration and the
/// overrides `sets` (`section.key=value`), which are saved in the configuration; settings of `session` are not. Settings
/// that the trajectory depends on are changed by `sets` alone: accuracy and steps of the integrator, and the precision
/// mode.
///
/// # Errors
/// [`Error::Input`] if there is no intact checkpoint, it belongs to another run, or cannot be continued with such
/// settings; [`Error::Config`].
pub fn resumed_run(dir: &Path, session: Session, sets: &[String]) -> Result<Resumed> {
    directory::check_folder(&dir.join(directory::SNAPSHOTS))?;
    let (checkpoint, warning) = checkpoint::read_newest(dir)?;
    let taken = if warning.is_some() { checkpoint::PREVIOUS } else { checkpoint::NEWEST };
    let (loaded, changes) = changed(dir, (taken, &checkpoint), sets)?;
    let mut config = loaded.config.clone();
    config.output.directory = Some(dir.display().to_string());

    let Checkpoint { mut particles, mut run, mut history, provenance: of_run } = checkpoint;
    let reached = run.clock.time(run.now) * run.scale.time;
    let dt_max = config.dt_max() / run.scale.time;
    let is_dt_max =
        |key: &str| key == format!("{0}.{1}", config.integrator.info().section, config.integrator.info().dt_max_key);
    reproduce::check_tables(&config, &dir.join(taken), &of_run)?;
    let field = config.external_field(&run.scale).map_err(|problem| loaded.explain(problem))?;
    if changes.iter().any(|it| is_dt_max(&it.key)) {
        let before = (run.clock, run.now);
        rebase(&mut particles, &mut run.now, &mut run.clock, dt_max)
            .map_err(|obstacle| loaded.explain(explain_obstacle(obstacle, &config, &run, dir)))?;
        if let (Some(orbit), Some(field)) = (&mut run.orbit, &field) {
            rebase_orbit(orbit, &**field, before, (run.clock, run.now))?;
        }
        history.runaways.until = in_ticks(history.runaways.until, before.0, run.clock);
    }
    let start = config.t_start().unwrap_or(run.clock.start * run.scale.time);
    let steps_to_end = config.steps_to_end(start).map_err(|problem| loaded.explain(problem))?;
    if Time::from_dt_max(steps_to_end) < run.now {
        let problem = format!(
            "expected an end after t = {}, which the run has reached, found {}",
            twelve_digits(reached),
            config.t_end()
        );
        return Err(loaded.explain(Problem::new("run.t_end", problem)));
    }
    if let Some(field) = &field {
        check_covered(&loaded, &**field, [run.clock.time(run.now), run.clock.time(Time::from_dt_max(steps_to_end))])?;
    }
    let (precision, epsilon) = (config.force.precision(), config.softening.epsilon.get() / run.scale.length);
    let origin = run
        .orbit
        .zip(field.clone())
        .map(|(orbit, field)| MovingOrigin::new(field, run.clock, (run.now.0 / TICKS_PER_DT_MAX, orbit.origin)));
    let (clock, scale, n) = (run.clock, &run.scale, particles.len());
    let law = config.law(scale).map_err(|problem| loaded.explain(problem))?;
    let (field, origin, law) = (field.as_ref(), origin.as_ref(), law.as_ref());
    let task = Task { precision, epsilon, clock, scale, n, field, origin, law, team: session.team };
    let before = EngineKind::from_name(&of_run.engine);
    let (engines, mut info) = choose_engines(&config, session, before, task)?;
    if before.is_none() {
        info.warnings.push(format!(
            "the run was computed by {:?} so far, an engine unknown to this version: from here on the result \
             may not be bit for bit that of a run that was not stopped",
            of_run.engine
        ));
    }
    if law.is_none() {
        info.warnings.extend(warnings_of_start(dir, Terms::new(&config, &run.scale, start)));
    }
    let units = FileUnits { units: config.units(), scale: run.scale };
    let records: Vec<Change> = changes.iter().map(|it| it.record(reached, run.counters.block_steps)).collect();
    let mut all = of_run.changes().map_err(|problem| Error::input(dir.join(taken), problem))?;
    all.extend(records.iter().cloned());
    let of_run = Provenance {
        config_as_written: of_run.config_as_written,
        config_overrides: of_run.config_overrides,
        inputs: of_run.inputs,
        initial_sha256: of_run.initial_sha256,
        changes: if all.is_empty() { String::new() } else { serde_json::json!(all).to_string() },
        ..Provenance::current()
    };
    let provenance = provenance(&config, of_run, (engines.kind, &info))?;
    let plan = plan(&config, steps_to_end, &run.scale);
    let time = units.units.readable(reached, Dimension::TIME);
    let changed = |of_trajectory: bool| {
        let of = records.iter().filter(move |change| change.trajectory == of_trajectory);
        of.map(|change| describe(change, &time)).collect::<Vec<_>>()
    };
    let (warnings, notes) = (warning.into_iter().chain(changed(true)).collect(), changed(false));
    let mut simulation = Simulation::new(particles, run, engines, (units, provenance), plan);
    (simulation.history, simulation.info) = (history, info);
    simulation.system.runaways = std::mem::take(&mut simulation.history.runaways);
    Ok(Resumed { simulation, config, warnings, notes, changed: !records.is_empty() })
}

/// Returns the warnings of close pairs that the run gave at its start, from the first snapshot; none where that was moved
/// away or is damaged.
fn warnings_of_start(dir: &Path, terms: Terms) -> Vec<String> {
    let Ok(SnapshotData { id, mass, pos, vel, pot, radius, .. }) = snapshot::read(&directory::snapshot(dir, 0)) else {
        return Vec::new();
    };
    let scale = terms.scale;
    let mut p = Particles { id, radius, ..Particles::new(mass, pos, vel) };
    scaling::rescale(&mut p, 1.0 / scale.mass, 1.0 / scale.length, 1.0 / scale.velocity);
    let pot: Vec<f64> = pot.into_iter().map(|pot| pot / scale.factor(Dimension::POTENTIAL)).collect();
    close_pairs(&p, &pot, terms).warnings()
}

/// Describes a changed setting, and what it means for the bits.
fn describe(change: &Change, time: &str) -> String {
    let Change { key, from, to, trajectory, block_steps, .. } = change;
    let meaning = match trajectory {
        true => "the bits from here on are those of the new value, and not those of a run that was not changed",
        false => "the trajectory does not depend on it",
    };
    let text = |value: &Value| match value {
        Value::Null => "none".to_owned(),
        Value::Number(number) if number.is_f64() => format!("{:?}", number.as_f64().unwrap_or_default()),
        other => other.to_string(),
    };
    format!(
        "{key} changes from {} to {} at t = {time}, after {block_steps} block steps: {meaning}",
        text(from),
        text(to)
    )
}

/// Returns the problem with a longest step that a run cannot be continued with.
fn explain_obstacle(obstacle: Obstacle, config: &Config, run: &RunState, dir: &Path) -> Problem {
    let info = config.integrator.info();
    let (key, name) = (format!("{}.{}", info.section, info.dt_max_key), info.dt_max_key);
    let present = run.clock.dt_max * run.scale.time;
    match obstacle {
        Obstacle::Ratio => Problem::new(
            key,
            format!(
                "a run continues with a {name} that is 2, 4, 8 … times shorter or longer than its own, {present}; nearest \
                 values: {} and {}",
                0.5 * present,
                2.0 * present
            ),
        ),
        Obstacle::Subsystems => {
            Problem::new(key, format!("a run with subsystems continues with its own {name}, {present}"))
                .with_help("start a new run from the last snapshot with [initial.file], or keep it")
        }
        Obstacle::Moment => {
            let periods = run.now.0.div_ceil(TICKS_PER_DT_MAX) as f64;
            let next = (run.clock.start + periods * run.clock.dt_max) * run.scale.time;
            Problem::new(key, format!("the checkpoint stands between the moments that this {name} can count"))
                .with_help(format!(
                    "run to the next one first: tisane resume {} --t-end {next}; then change it",
                    dir.display()
                ))
        }
    }
}

/// Returns the configuration of a run in `dir` with the overrides `sets`, and the settings that differ from those of its
/// checkpoint.
fn changed(dir: &Path, (name, checkpoint): (&str, &Checkpoint), sets: &[String]) -> Result<(Loaded, Vec<Difference>)> {
    let file = dir.join(directory::CONFIG);
    let refuse = |what: String, help: &str| Err(Error::input(dir.join(name), what).with_help(help.to_owned()));
    let copied = "config.toml or the checkpoint was changed or copied; resume only continues one and the same run";
    let of_run = Config::from_str("checkpoint", &checkpoint.provenance.config_resolved, dir, &[])?.config;
    let mut sets = sets.to_vec();
    let named = |sets: &[String], key: &str| {
        let holds = |name: &str| key.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        let is_named = |set: &String| set.split_once('=').is_some_and(|(name, _)| holds(name.trim()));
        sets.iter().any(is_named)
    };
    // The limit of the audit is that of the mode, unless it was set.
    let precision = |config: &Config| config.force.precision();
    let mut loaded = Config::from_file(&file, &sets)?;
    if precision(&loaded.config) != precision(&of_run) && !named(&sets, "audit.limit") {
        let own = of_run.audit.limit(precision(&of_run)) == precision(&of_run).audit_limit();
        sets.extend(own.then(|| format!("audit.limit={:e}", precision(&loaded.config).audit_limit())));
    }
    // The same for what follows from the accuracy, the mode and the number of particles.
    let n = checkpoint.particles.len();
    if of_run.integrator.kind() == loaded.config.integrator.kind() {
        let late = |config: &Config| config.integrator.scheme().late_settings(precision(config), n);
        for (before, after) in late(&of_run).into_iter().zip(late(&loaded.config)) {
            let key = format!("{}.{}", of_run.integrator.info().section, before.key);
            let own = before.value == Some(before.default) && after.default != before.default;
            sets.extend((own && !named(&sets, &key)).then(|| format!("{key}={:e}", after.default.get())));
        }
    }
    // A change that the checkpoint records and config.toml lacks: the process ended between writing the two.
    let recorded = checkpoint.provenance.changes().unwrap_or_default();
    for it in differences(&of_run, &loaded.config) {
        let last = recorded.iter().rev().find(|change| change.key == it.key);
        if !it.from.is_null()
            && !named(&sets, &it.key)
            && last.is_some_and(|change| change.from == it.to && change.to == it.from)
        {
            sets.push(format!("{}={}", it.key, it.from));
        }
    }
    loaded = Config::from_file(&file, &sets)?;
    if let Some((Some(said), ..)) = loaded.config.initial.sampled()
        && (said < n as u64 || (said != n as u64 && !loaded.config.has_star_events()))
    {
        return refuse(format!("it holds {n} particles, but config.toml says {said}"), copied);
    }
    let changes = differences(&of_run, &loaded.config);
    let same_scheme = loaded.config.integrator.kind() == of_run.integrator.kind();
    for Difference { key, from, to } in &changes {
        let differs = || format!("its run had {key} = {from}, and config.toml has {to}");
        match freedom(key) {
            Freedom::Free => {}
            Freedom::BySet if same_scheme && named(&sets, key) => {}
            Freedom::BySet if same_scheme => {
                let help = format!(
                    "to change it on purpose, from this checkpoint on: tisane resume {} --set {key}={to}; otherwise \
                     {copied}",
                    dir.display()
                );
                return refuse(differs(), &help);
            }
            _ if named(&sets, key) => {
                let problem = format!("a run cannot be continued with another {key} than its own, {from}");
                let help = "start a new run from a snapshot, with [initial.file]; resume changes the accuracy and the \
                            steps of the integrator, the precision, outputs and limits";
                return Err(loaded.explain(Problem::new(key, problem).with_help(help)));
            }
            _ => return refuse(differs(), copied),
        }
    }
    check_same_start(dir, name, &checkpoint.provenance.initial_sha256)?;
    Ok((loaded, changes))
}

/// Checks that a checkpoint comes from the initial particles of the run in this directory, as the configuration has
/// only the name of a file of particles. Compares the hash in the first snapshot, or else in the diagnostics. Files
/// that are missing, damaged, or of a version that recorded no hash are skipped.
fn check_same_start(dir: &Path, name: &str, of_checkpoint: &str) -> Result<()> {
    let first = directory::snapshot_numbers(dir)?.first().map(|&number| directory::snapshot(dir, number));
    let files = first.into_iter().chain([dir.join(Journal::Diagnostics.hdf5())]);
    let mut hashes = files.filter_map(|path| provenance::initial_sha256(&path).map(|hash| (path, hash)));
    match hashes.next() {
        Some((path, here)) if !of_checkpoint.is_empty() && here != of_checkpoint => {
            let path = path.strip_prefix(dir).unwrap_or(&path).display();
            let problem = format!(
                "of another run than {path}: one began with particles of SHA-256 {of_checkpoint}, the other of {here}"
            );
            let help = "one of the two was copied here; resume only continues one and the same run";
            Err(Error::input(dir.join(name), problem).with_help(help))
        }
        _ => Ok(()),
    }
}
