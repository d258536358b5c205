//! Figure of a run with subsystems, or with collisions and escapers: energies that are kept apart, and numbers.

use super::figure::{Axis, Panel};
use super::gallery::Gallery;
use super::over_time::{Run, linear_where_few};
use std::path::Path;

/// Adds the figure, if the diagnostics have columns for it.
pub(super) fn add(dir: &Path, run: &Run<'_>, gallery: &mut Gallery) {
    let panels: Vec<Panel> =
        [binding(run), change(run), neglected(run), removed(run), numbers(run)].into_iter().flatten().collect();
    if !panels.is_empty() {
        gallery.figures.push(("subsystems", run.figure(dir, panels)));
    }
}

fn binding(run: &Run<'_>) -> Option<Panel> {
    let lines =
        [("inside of subsystems, binding", "binding_energy", true), ("outside of them, |E|", "outer_energy", true)];
    let y = Axis::log(run.label("energy", "binding_energy")?);
    run.panel("Energies", y, &lines, f64::abs).map(linear_where_few)
}

fn change(run: &Run<'_>) -> Option<Panel> {
    let y = Axis::linear(run.label("energy", "binding_energy_change")?);
    run.panel("Change of the binding energy inside", y, &[("", "binding_energy_change", true)], |energy| energy)
}

fn neglected(run: &Run<'_>) -> Option<Panel> {
    let y = Axis::log(run.label("energy", "neglected_energy")?);
    run.panel("Tides that are neglected", y, &[("", "neglected_energy", true)], |energy| energy).map(linear_where_few)
}

fn removed(run: &Run<'_>) -> Option<Panel> {
    let y = Axis::linear(run.label("energy", "removed_energy")?);
    run.panel("Removed by mergers and escapes", y, &[("", "removed_energy", true)], |energy| energy)
}

fn numbers(run: &Run<'_>) -> Option<Panel> {
    let columns = [("particles", "particles", true), ("subsystems", "subsystems", true)];
    let lines: Vec<_> = columns.into_iter().filter(|(_, column, _)| run.table.column(column).is_some()).collect();
    (!lines.is_empty()).then(|| run.counts("Numbers", &lines))?
}
