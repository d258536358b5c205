//! What a run does: scheme and forces, until when, and what it writes.

use super::disk::outputs;
use super::lines::{DIRECTORY, Lines, with_unit};
use tisane::diagnostics::cluster::own_frame::{Kind, OwnFrame};
use tisane::units::{Dimension, digits, shortest_decimal, twelve_digits};
use tisane_run::assemble::{self, Setup};
use tisane_run::binaries::Binaries;
use tisane_run::config::Kept;
use tisane_run::ensemble::Blueprint;

/// Returns the lines about the course of a run, or of the members of an ensemble.
pub(super) fn describe(setup: &Setup, found: &Binaries, clusters: &[OwnFrame], blueprint: Option<&Blueprint>) -> Lines {
    let (config, units) = (&setup.config, setup.config.units());
    let own = match clusters {
        [own] if own.kind == Kind::Cluster => Some(own),
        _ => None,
    };
    let [integrator, steps] = config.describe_integrator();
    let (engine, _) = assemble::forecast(config, setup.particles.len());
    let law = config.law_section().map(|law| format!("; law {}", law.describe())).unwrap_or_default();
    let mut lines = vec![("time", time(setup, own))];
    if let Some(fraction) = config.limits.bound_fraction {
        let percent = twelve_digits(100.0 * fraction.get());
        lines.push(("  or until", format!("less than {percent} % of the initial mass is within the tidal radius")));
    }
    if let Some(limit) = config.limits.wall_time {
        lines.push(("  pauses", format!("after a wall time of {limit}, with a checkpoint: `tisane resume` goes on")));
    }
    lines.push(("integrator", integrator));
    lines.extend(found.describe_steps());
    lines.push(("steps", format!("{steps} {}", units.time.name)));
    let derived = setup.derived.iter().enumerate();
    lines.extend(derived.map(|(line, text)| (if line == 0 { "defaults" } else { "" }, text.clone())));
    lines.push((
        "softening",
        match setup.epsilon() {
            0.0 => "none".into(),
            epsilon => with_unit(epsilon * setup.scale.length, Dimension::LENGTH, &units),
        },
    ));
    lines.push(("force", format!("{engine}; precision {}{law}", config.force.precision().name())));
    lines.extend(assemble::forecast_several(config, setup.particles.len()).map(|it| ("several GPUs", it)));
    let [contacts, escapers] = config.describe_star_events();
    if own.is_some() || config.collisions.is_some() {
        lines.push(("contacts", contacts));
    }
    if own.is_some() || config.escapers.is_some() {
        lines.push(("escapers", escapers));
    }
    lines.push(("outputs", blueprint.map_or_else(|| written(setup, own), |it| written_of_members(setup, it))));
    lines.push((DIRECTORY, config.output_directory().display().to_string()));
    lines.into_iter().map(|(name, text)| (name.to_owned(), text)).collect()
}

/// Describes the span of time, for a cluster also in its own time scales.
fn time(setup: &Setup, own: Option<&OwnFrame>) -> String {
    let start = setup.clock.start * setup.scale.time;
    let span = setup.clock.dt_max * setup.steps_to_end as f64;
    // Without the rounding of its conversion from another unit.
    let start = shortest_decimal(start, 4.0 * f64::EPSILON * start.abs());
    let text = format!("{start} to {} {}", setup.config.t_end(), setup.config.units().time.name);
    let of = own.map(|own| [(own.crossing_time(), "crossing"), (own.relaxation_time(), "half-mass relaxation")]);
    let times = of.into_iter().flatten().filter(|(time, _)| time.is_finite() && *time > 0.0);
    let times: Vec<String> = times.map(|(time, name)| format!("{} {name} times", digits(span / time))).collect();
    if times.is_empty() { text } else { format!("{text}: {}", times.join(", ")) }
}

/// Describes the files of a run, with their interval also in crossing times.
fn written(setup: &Setup, own: Option<&OwnFrame>) -> String {
    let (config, units) = (&setup.config, setup.config.units());
    let [snapshots, rows] = [config.snapshot_every(), config.diagnostics_every()];
    let crossing = own.map(OwnFrame::crossing_time).filter(|time| time.is_finite() && *time > 0.0);
    let every = |steps: u64| {
        let interval = steps as f64 * setup.clock.dt_max;
        let in_crossing = crossing.map(|time| format!(" ({} crossing times)", digits(interval / time)));
        let time = twelve_digits(interval * setup.scale.time);
        format!("{time} {}{}", units.time.name, in_crossing.unwrap_or_default())
    };
    let intervals = match snapshots == rows {
        true => every(rows),
        false => format!("{} and {}", every(snapshots), every(rows)),
    };
    let [snapshots, rows] = [snapshots, rows].map(|every| outputs(setup.steps_to_end, every));
    format!("{snapshots} snapshots, {rows} rows of diagnostics, every {intervals}")
}

/// Describes the files of the members of an ensemble.
fn written_of_members(setup: &Setup, blueprint: &Blueprint) -> String {
    let Some(ensemble) = &blueprint.config.ensemble else { return String::new() };
    let rows = outputs(setup.steps_to_end, setup.config.diagnostics_every());
    let series = if ensemble.series { format!(", {rows} rows of its series") } else { ", no series".into() };
    let snapshots = match ensemble.snapshots {
        Kept::None => "no snapshots".into(),
        Kept::End => "a snapshot of its end".into(),
        Kept::All => format!("{} snapshots", outputs(setup.steps_to_end, setup.config.snapshot_every())),
    };
    let journals: Vec<&str> = blueprint.journals().iter().map(|journal| journal.csv()).collect();
    let journals =
        if journals.is_empty() { String::new() } else { format!(", its rows in {}", journals.join(" and ")) };
    format!("of each member a row in members.csv{series}{journals}, {snapshots}")
}
