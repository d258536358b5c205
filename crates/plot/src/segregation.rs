//! Light and heavy stars of a cluster, and those of each class, over time, from `cluster.csv`.

use super::figure::{Axis, Figure, Panel, Series};
use super::over_time::Run;
use super::stellar::classes::is_filled;
use super::stellar::population::by_class;
use std::path::Path;
use tisane_io::table::Table;

/// Bins of mass, by the last digit of their columns.
const BINS: [&str; 4] = ["lightest 50 %", "next 30 %", "next 15 %", "heaviest 5 %"];

/// Draws the bins of mass and the classes; none of a cluster of equal masses, and of a journal without the columns.
pub(super) fn figure(dir: &Path, table: &Table) -> Option<Figure> {
    let run = Run { table };
    let by_mass = |title: &str, what: &str, column: &str| {
        let columns = [1, 2, 3, 4].map(|bin| format!("{column}_{bin}"));
        let lines: Vec<(&str, &str, bool)> = BINS.iter().zip(&columns).map(|(name, c)| (*name, &**c, true)).collect();
        run.panel(title, Axis::log(run.label(what, &columns[0])?), &lines, |value| value)
    };
    let mut half = by_mass("Half-mass radius, by mass", "radius", "mass_bin_radius_50")?;
    if !is_filled(&half) {
        return None;
    }
    half.notes.push("bins of the bound stars by their present mass".into());
    let inner = by_mass("Radius of 10 % of the mass, by mass", "radius", "mass_bin_radius_10");
    let dispersion = by_mass("Velocity dispersion, by mass", "dispersion", "mass_bin_dispersion");
    let mean = by_mass("Mean mass of the bins", "mass", "mass_bin_mean_mass");
    let classes = |title: &str, what: &str, of: &str| {
        let y = Axis::log(run.label(what, &format!("main_sequence_{of}"))?);
        by_class(&run, title, y, of)
    };
    let radii = classes("Half-mass radius, by class", "radius", "half_mass_radius");
    let dispersions = classes("Velocity dispersion, by class", "dispersion", "dispersion");
    let all = [Some(half), inner, dispersion, mean, radii, dispersions];
    Some(run.figure(dir, all.into_iter().flatten().filter(is_filled).map(without_gaps).collect()))
}

/// Leaves out lines that have no value.
fn without_gaps(mut panel: Panel) -> Panel {
    let has_value = |series: &Series| series.points.iter().any(|(_, y)| y.is_finite());
    panel.series.retain(has_value);
    panel
}
