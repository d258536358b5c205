//! Resumed runs: from a checkpoint that belongs to the run.

use super::engine::{Session, Task};
use super::{choose_engines, close_pairs, plan, provenance};
use crate::binaries::Terms;
use crate::config::{Config, Problem};
use crate::simulation::Simulation;
use std::path::Path;
use tisane::error::{Error, Result};
use tisane::force::EngineKind;
use tisane::initial::scaling;
use tisane::particles::Particles;
use tisane::time::Time;
use tisane::units::Dimension;
use tisane_io::checkpoint::{self, Checkpoint};
use tisane_io::fields::Journal;
use tisane_io::file_units::FileUnits;
use tisane_io::provenance::Provenance;
use tisane_io::snapshot::{self, SnapshotData};
use tisane_io::{directory, provenance};

/// Returns a simulation that continues from the newest intact checkpoint of `dir`, with its configuration. `change` may
/// alter settings that do not affect the trajectory (end, limits, threads, outputs) and are saved in the configuration;
/// those of `session` are not saved. Returns a warning if the newest checkpoint was damaged and the previous one was
/// read.
///
/// # Errors
/// [`Error::Input`] if there is no intact checkpoint or it belongs to another run; [`Error::Config`].
pub fn resumed_run(
    dir: &Path,
    session: Session,
    change: impl FnOnce(&mut Config) -> Result<(), Problem>,
) -> Result<(Simulation, Config, Option<String>)> {
    let (checkpoint, warning) = checkpoint::read_newest(dir)?;
    let loaded = Config::from_file(dir.join(directory::CONFIG), &[])?;
    let taken = if warning.is_some() { checkpoint::PREVIOUS } else { checkpoint::NEWEST };
    check_same_run(dir, (taken, &checkpoint), &loaded.config)?;
    let mut config = loaded.config.clone();
    config.output.directory = Some(dir.display().to_string());
    change(&mut config).map_err(|problem| loaded.explain(problem))?;

    let Checkpoint { particles, run, history, provenance: of_run } = checkpoint;
    let start = config.t_start().unwrap_or(run.clock.start * run.scale.time);
    let steps_to_end = config.steps_to_end(start).map_err(|problem| loaded.explain(problem))?;
    if Time::from_dt_max(steps_to_end) < run.now {
        let reached = run.clock.time(run.now) * run.scale.time;
        let problem =
            format!("expected an end after t = {reached}, which the run has reached, found {}", config.t_end());
        return Err(loaded.explain(Problem::new("run.t_end", problem)));
    }
    let (precision, epsilon) = (config.force.precision(), config.softening.epsilon.get() / run.scale.length);
    let field = config.external.build(&run.scale);
    let task = Task { precision, epsilon, clock: run.clock, n: particles.len(), field: field.as_ref() };
    let before = EngineKind::from_name(&of_run.engine);
    let (engines, mut info) = choose_engines(&config, session, before, task)?;
    if before.is_none() {
        info.warnings.push(format!(
            "the run was computed by {:?} so far, an engine unknown to this version: from here on the result \
             may not be bit for bit that of a run that was not stopped",
            of_run.engine
        ));
    }
    info.warnings.extend(warnings_of_start(dir, Terms::new(&config, &run.scale, start)));
    let units = FileUnits { units: config.units(), scale: run.scale };
    let of_run = Provenance {
        config_as_written: of_run.config_as_written,
        config_overrides: of_run.config_overrides,
        inputs: of_run.inputs,
        initial_sha256: of_run.initial_sha256,
        ..Provenance::current()
    };
    let provenance = provenance(&config, of_run, (engines.kind, &info))?;
    let plan = plan(&config, steps_to_end, &run.scale);
    let mut simulation = Simulation::new(particles, run, engines, (units, provenance), plan);
    (simulation.history, simulation.info) = (history, info);
    Ok((simulation, config, warning))
}

/// Returns the warnings of close pairs that the run gave at its start, from the first snapshot; none where that was moved
/// away or is damaged.
fn warnings_of_start(dir: &Path, terms: Terms) -> Vec<String> {
    let Ok(SnapshotData { id, mass, pos, vel, pot, .. }) = snapshot::read(&directory::snapshot(dir, 0)) else {
        return Vec::new();
    };
    let scale = terms.scale;
    let mut p = Particles { id, ..Particles::new(mass, pos, vel) };
    scaling::rescale(&mut p, 1.0 / scale.mass, 1.0 / scale.length, 1.0 / scale.velocity);
    let pot: Vec<f64> = pot.into_iter().map(|pot| pot / scale.factor(Dimension::POTENTIAL)).collect();
    close_pairs(&p, &pot, terms).warnings()
}

/// Checks that a checkpoint was made with this configuration, in all settings that the trajectory depends on.
fn check_same_run(dir: &Path, (name, checkpoint): (&str, &Checkpoint), config: &Config) -> Result<()> {
    let refuse = |what: String| {
        let help = "config.toml or the checkpoint was changed or copied; resume only continues one and the same run";
        Err(Error::input(dir.join(name), what).with_help(help))
    };
    let of_run = Config::from_str("checkpoint", &checkpoint.provenance.config_resolved, dir, &[])?.config;
    let n = checkpoint.particles.len();
    if let Some((Some(said), ..)) = config.initial.sampled()
        && said != n as u64
    {
        return refuse(format!("it holds {n} particles, but config.toml says {said}"));
    }
    match differing_section(&of_run, config) {
        Some(section) => refuse(format!("its run had another [{section}] than config.toml")),
        None if of_run.run.t_start != config.run.t_start => {
            refuse("its run had another [run.t_start] than config.toml".into())
        }
        None => check_same_start(dir, name, &checkpoint.provenance.initial_sha256),
    }
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

/// Returns the first section in which two configurations differ, of those that the trajectory depends on. The start
/// time is not compared: a resolved configuration has it from its input file.
pub(crate) fn differing_section(one: &Config, other: &Config) -> Option<&'static str> {
    let sections = [
        ("units", one.units == other.units),
        ("initial", one.initial == other.initial),
        ("external", one.external == other.external),
        ("softening", one.softening == other.softening),
        ("integrator", one.integrator == other.integrator),
        ("force.precision", one.force.precision() == other.force.precision()),
    ];
    sections.into_iter().find_map(|(section, same)| (!same).then_some(section))
}
