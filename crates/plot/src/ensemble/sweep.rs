//! Energy error and wall time over a key that was swept.

use super::groups::Groups;
use super::members::{Members, page};
use crate::band::{self, Band};
use crate::figure::{Axis, Figure, Mark, Panel, Scale};
use std::path::Path;
use tisane_io::table::Column;

/// Fewest and most values of a key that is swept: fewer are curves of other figures, more are mostly drawn numbers.
const FEWEST: usize = 3;
const MAX: usize = 16;
/// Most keys: each has a row of panels.
const MAX_KEYS: usize = 3;
/// Largest over smallest value from which on the axis is logarithmic.
const WIDE: f64 = 8.0;

/// A key that was swept.
pub(super) struct Swept<'a> {
    key: &'a Column,
    values: Vec<f64>,
    /// A curve for each combination of the values of all others.
    curves: Groups,
}

/// Returns the keys with several numbers as values, where all others give few curves.
pub(super) fn swept<'a>(members: &Members<'a>) -> Vec<Swept<'a>> {
    let table = members.table;
    let keys: Vec<&Column> = super::groups::settings(table).collect();
    let swept = |key: &&'a Column| {
        let values: Vec<f64> = key.values.numbers()?.iter().collect();
        let count = distinct(&values).len();
        let others: Vec<&Column> = keys.iter().copied().filter(|other| other.name != key.name).collect();
        let curves = Groups::by(table, &others);
        let is_swept = (FEWEST..=MAX).contains(&count) && curves.names.len() <= super::groups::MAX;
        is_swept.then_some(Swept { key, values, curves })
    };
    keys.iter().filter_map(swept).take(MAX_KEYS).collect()
}

pub(super) fn figure(dir: &Path, members: &Members<'_>, swept: &[Swept<'_>]) -> Result<Figure, String> {
    let column = |name: &str| {
        let found = members.table.numbers(name).ok_or_else(|| format!("members.csv has no column {name}"))?;
        Ok::<Vec<f64>, String>(found.iter().collect())
    };
    let encounters = members.table.column("semi_major_axis").is_some();
    let scale = if encounters { "binding energy of the binary" } else { "|E₀|" };
    let rows: Vec<usize> = members.sound().collect();
    if rows.is_empty() {
        return Err("no member ended without an error".into());
    }
    let quantities = [
        (format!("largest |ΔE| / {scale}"), column("max_energy_error")?),
        ("wall time of a member [s]".into(), column("wall_seconds")?),
    ];
    let (mut panels, mut fewest) = (Vec::new(), usize::MAX);
    for one in swept {
        let at = distinct(&one.values);
        for (label, quantity) in &quantities {
            let is_wide = at[0] > 0.0 && at[at.len() - 1] >= WIDE * at[0];
            let x = Axis { scale: if is_wide { Scale::Log10 } else { Scale::Linear }, ..Axis::linear(&one.key.name) };
            let mut panel = Panel::new("", x, Axis::log(label));
            for (number, name, rows) in one.curves.split(&rows) {
                let of = |x: f64| rows.iter().filter(move |row| one.values[**row] == x).map(|row| quantity[*row]);
                let points: Vec<_> = at.iter().filter_map(|&x| Some((x, Band::of(of(x))?))).collect();
                fewest = points.iter().map(|(_, band)| band.count).fold(fewest, usize::min);
                let mut series = band::series(name, Mark::LineAndPoints, &points);
                series.colour = Some(number);
                panel.series.push(series);
            }
            panels.push(panel);
        }
    }
    let what = if fewest > 1 { format!("; lines: medians; bands: {}", Band::range(fewest)) } else { String::new() };
    let caption = members.caption("left out") + &what;
    Ok(Figure { columns: quantities.len(), ..page(dir, panels, caption) })
}

/// Returns the different values, ascending.
fn distinct(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}
