//! Figures of a run's journals: structure of the cluster, time steps, rates, binaries.

use super::figure::{Axis, Figure, Heat, Mark, Panel, Series};
use super::gallery::Gallery;
use super::over_time::{Run, of_counts};
use super::{segregation, tide};
use std::path::Path;
use tisane::time::LEVELS;
use tisane_io::directory::ANALYSIS;
use tisane_io::fields::Journal;
use tisane_io::table::{self, Numbers, Table, Values};

/// The Lagrangian radii that are drawn, in thousandths of the mass, and what they are called.
const RADII: [(&str, u16); 7] =
    [("1 %", 10), ("5 %", 50), ("10 %", 100), ("25 %", 250), ("50 %", 500), ("75 %", 750), ("90 %", 900)];
/// Most columns of the map of time steps: more cannot be told apart.
const MAX_COLUMNS: usize = 160;

/// Adds the figures of the journals; `run` has the diagnostics.
pub(super) fn add(dir: &Path, run: &Run<'_>, gallery: &mut Gallery) {
    let of = |journal| read(dir, journal);
    let cluster = of(Journal::Cluster);
    gallery.add("structure", cluster.as_ref().map_err(Clone::clone).and_then(|table| structure(dir, table)));
    if let Some(figure) = cluster.as_ref().ok().and_then(|table| tide::over_time(dir, table)) {
        gallery.add("tide", figure);
    }
    if let Some(figure) = cluster.as_ref().ok().and_then(|table| segregation::figure(dir, table)) {
        gallery.add("segregation", Ok(figure));
    }
    gallery.add("steps", steps(dir, run).ok_or_else(|| "no histogram of time steps in the diagnostics".to_owned()));
    let events = of(Journal::Events);
    gallery.add("rates", rates(dir, run, events.as_ref().ok()));
}

/// A journal of the run, or of its analysis where the run has none; or why there is none.
pub(super) fn read(dir: &Path, journal: Journal) -> Result<Table, String> {
    let here = |folder: &Path| folder.join(journal.csv()).is_file() || folder.join(journal.hdf5()).is_file();
    let folder = [dir.to_owned(), dir.join(ANALYSIS)].into_iter().find(|folder| here(folder));
    let none = || match journal {
        Journal::Stellar => format!("no {}", journal.csv()),
        _ => format!("no {}: `tisane analyze` makes it of the snapshots", journal.csv()),
    };
    let folder = folder.ok_or_else(none)?;
    let table = table::read_journal(&folder.join(journal.csv()), &folder.join(journal.hdf5()));
    let table = table.map_err(|e| e.to_string())?;
    match table.numbers("time") {
        Some(times) if times.is_empty() => Err(format!("{} has no rows", journal.csv())),
        Some(_) => Ok(table),
        None => Err(format!("{} has no column of numbers 'time'", journal.csv())),
    }
}

fn lacks(journal: Journal) -> String {
    format!("{} lacks columns", journal.csv())
}

/// Lagrangian radii and the core.
fn structure(dir: &Path, table: &Table) -> Result<Figure, String> {
    let run = Run { table };
    let panels = || {
        let columns = RADII.map(|(name, thousandths)| (name, format!("lagrangian_radius_{thousandths:04}")));
        let lines: Vec<(&str, &str, bool)> = columns.iter().map(|(name, column)| (*name, &**column, true)).collect();
        let y = Axis::log(run.label("radius", "lagrangian_radius_0500")?);
        let mut radii = run.panel("Lagrangian radii, by the mass within", y, &lines, |r| r)?;
        radii.notes.extend(empty_radii(&radii.series));
        let y = Axis::log(run.label("core radius", "core_radius")?);
        let core = run.panel("Core radius", y, &[("", "core_radius", true)], |r| r)?;
        let lines = [("bound", "bound_number", true), ("in the core", "core_number", true)];
        let number = run.panel("Particles", Axis::log("number"), &lines, |n| n)?;
        let y = Axis::linear("1 − σₜ² / σᵣ²");
        let mut anisotropy = run.panel("Anisotropy β", y, &[("", "anisotropy", true)], |beta| beta)?;
        let times = table.numbers("time")?;
        let isotropic = [times.first(), times.last()].into_iter().flatten().map(|t| (t, 0.0)).collect();
        anisotropy.series.push(Series::new("isotropic", Mark::Dashed, isotropic));
        Some(vec![radii, core, number, anisotropy])
    };
    Ok(run.figure(dir, panels().ok_or_else(|| lacks(Journal::Cluster))?))
}

/// Says which Lagrangian radii have no value at some times: only a particle that is heavier than the mass within a
/// radius leaves it empty.
fn empty_radii(lines: &[Series]) -> Option<String> {
    let empty = |line: &&Series| line.points.iter().any(|(_, radius)| radius.is_nan());
    let names: Vec<&str> = lines.iter().filter(empty).map(|line| &*line.name).collect();
    (!names.is_empty()).then(|| format!("{}: empty where the innermost star alone is heavier", names.join(", ")))
}

/// Draws the numbers of particles by time step, over time.
fn steps(dir: &Path, run: &Run<'_>) -> Option<Figure> {
    let (times, longest) = (run.table.numbers("time")?, run.table.numbers("step_max")?);
    let of_level = |level: usize| run.table.numbers(&format!("steps_level_{level:02}"));
    let levels: Vec<Numbers<'_>> = (0..LEVELS).map_while(of_level).collect();
    let row = times.len().checked_sub(1)?;
    // The longest step in use is that of the first level in use.
    let first = levels.iter().position(|counts| counts.at(row) > 0.0)?;
    let top = longest.at(row) * 2f64.powi(first as i32);
    let used = |counts: &Numbers<'_>| counts.iter().any(|n| n > 0.0);
    let (shallow, deep) = (levels.iter().position(used)?, levels.iter().rposition(used)?);
    let columns = times.len().min(MAX_COLUMNS);
    let rows: Vec<usize> = (0..columns).map(|k| k * row / (columns - 1).max(1)).collect();
    let shown = (shallow..=deep).rev();
    let values = shown.clone().flat_map(|level| rows.iter().map(move |&row| (level, row)));
    let heat = Heat {
        label: "particles".into(),
        x: edges(&rows.iter().map(|&row| times.at(row)).collect::<Vec<f64>>()),
        y: (shallow..=deep + 1).rev().map(|level| top * 2f64.powf(0.5 - level as f64)).collect(),
        values: values.map(|(level, row)| levels[level].at(row)).collect(),
    };
    let mut x = run.time()?;
    x.range = heat.x.first().copied().zip(heat.x.last().copied());
    let mut y = Axis::log(run.label("time step", "step_max")?);
    y.range = heat.y.first().copied().zip(heat.y.last().copied());
    let panel = Panel { heat: Some(heat), ..Panel::new("Time steps of the particles", x, y) };
    let mut figure = run.figure(dir, vec![panel]);
    figure.columns = 1;
    Some(figure)
}

/// Half-way between values, and as far beyond the outer ones.
fn edges(values: &[f64]) -> Vec<f64> {
    let (Some(&first), Some(&last)) = (values.first(), values.last()) else { return Vec::new() };
    let half = |pair: Option<&[f64]>| pair.map_or(0.5, |pair| 0.5 * (pair[1] - pair[0]));
    let inner = values.windows(2).map(|pair| 0.5 * (pair[0] + pair[1]));
    let (before, after) = (half(values.windows(2).next()), half(values.windows(2).last()));
    [first - before].into_iter().chain(inner).chain([last + after]).collect()
}

/// The speed of the run, and what happened so far.
fn rates(dir: &Path, run: &Run<'_>, events: Option<&Table>) -> Result<Figure, String> {
    let y = Axis::log("pairs per second");
    let speed = run.panel("Speed of the run", y, &[("", "pairs_per_second", false)], |rate| rate);
    let mut panels = vec![speed.ok_or_else(|| lacks(Journal::Diagnostics))?];
    let events = events.and_then(|events| happened(run, events));
    if events.is_none() {
        panels[0].notes.push("no events to count".into());
    }
    panels.extend(events);
    Ok(run.figure(dir, panels))
}

/// Draws the number of events of each kind up to a time.
fn happened(run: &Run<'_>, events: &Table) -> Option<Panel> {
    let (times, kinds) = (events.numbers("time")?, &events.column("kind")?.values);
    let Values::Text(kinds) = kinds else { return None };
    let (start, end) = (run.table.numbers("time")?.first()?, run.table.numbers("time")?.last()?);
    let mut panel = Panel::new("Events up to now", run.time()?, Axis::counts("number"));
    let mut names: Vec<&String> = kinds.iter().filter(|kind| !kind.is_empty()).collect();
    names.sort();
    names.dedup();
    for name in names {
        let mut points: Vec<(f64, f64)> = Vec::new();
        let mut count = 0.0;
        for (time, _) in times.iter().zip(kinds).filter(|(_, kind)| *kind == name) {
            count += 1.0;
            match points.last_mut() {
                Some(last) if last.0 == time => last.1 = count,
                _ => points.push((time, count)),
            }
        }
        points.push((end.max(start), count));
        panel.series.push(Series::new(name.replace('-', " "), Mark::Steps, points));
    }
    (!panel.series.is_empty()).then(|| of_counts(panel))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_radii_without_a_value_are_told() {
        let line = |name: &str, radii: [f64; 2]| Series::new(name, Mark::Line, vec![(0.0, radii[0]), (1.0, radii[1])]);
        let whole = line("50 %", [0.7, 0.8]);
        let told = empty_radii(&[line("1 %", [f64::NAN, 0.1]), line("5 %", [f64::NAN, f64::NAN]), whole.clone()]);
        assert_eq!(told.as_deref(), Some("1 %, 5 %: empty where the innermost star alone is heavier"));
        assert_eq!(empty_radii(&[whole]), None);
    }

    #[test]
    fn edges_lie_between_values() {
        assert_eq!(edges(&[0.0, 1.0, 3.0]), [-0.5, 0.5, 2.0, 4.0]);
        assert_eq!(edges(&[2.0]), [1.5, 2.5]);
        assert!(edges(&[]).is_empty());
    }
}
