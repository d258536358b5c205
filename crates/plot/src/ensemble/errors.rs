//! Distribution of the largest energy errors of the members.

use super::groups::{self, Groups};
use super::members::{Members, page, short};
use crate::figure::{Axis, Figure, Mark, Panel, Series};
use std::path::Path;

/// Most panels: one for each key with few values.
const MAX_PANELS: usize = 4;

pub(super) fn figure(dir: &Path, members: &Members<'_>) -> Result<Figure, String> {
    let errors = members.table.numbers("max_energy_error").ok_or("members.csv has no column max_energy_error")?;
    let errors: Vec<f64> = errors.iter().collect();
    let rows: Vec<usize> = members.sound().filter(|row| errors[*row].is_finite()).collect();
    if rows.is_empty() {
        return Err("no member ended without an error".into());
    }
    let encounters = members.table.column("semi_major_axis").is_some();
    let scale = if encounters { "binding energy of the binary" } else { "|E₀|" };
    let panel = |title: String, groups: &Groups| {
        let x = Axis::log(format!("largest |ΔE| / {scale} of a member"));
        let y = Axis { range: Some((0.0, 1.04)), ..Axis::linear("share of members with less") };
        let mut panel = Panel::new(title, x, y);
        for (number, name, rows) in groups.split(&rows) {
            let mut of_group: Vec<f64> = rows.iter().map(|row| errors[*row]).collect();
            of_group.sort_by(f64::total_cmp);
            let Some(median) = crate::band::Band::of(of_group.iter().copied()).map(|band| band.median) else {
                continue;
            };
            let name = [name, &*format!("median {}", short(median))].join(if name.is_empty() { "" } else { ": " });
            let colour = Some(number);
            panel.series.push(Series { colour, ..Series::new(name, Mark::Steps, shares(&of_group)) });
            panel.series.push(Series { colour, ..Series::new("", Mark::Points, vec![(median, 0.5)]) });
        }
        panel
    };
    let keys: Vec<_> = groups::keys(members.table).take(MAX_PANELS).collect();
    let panels = match keys.as_slice() {
        [] => vec![panel("Energy errors of the members".into(), &Groups::by(members.table, &[]))],
        keys => keys
            .iter()
            .map(|key| panel(format!("Energy errors, by {}", key.name), &Groups::by(members.table, &[key])))
            .collect(),
    };
    let caption = members.caption("left out") + "; markers: medians";
    Ok(page(dir, panels, caption))
}

/// Returns the share of values up to each of the sorted ones, on stairs from the least. Values of zero have no place on a
/// logarithmic axis: the stairs begin at their share.
fn shares(sorted: &[f64]) -> Vec<(f64, f64)> {
    let all = sorted.len() as f64;
    let zeros = sorted.partition_point(|error| *error <= 0.0);
    let shown = &sorted[zeros..];
    let first = shown.first().map(|min| (*min, zeros as f64 / all));
    let steps = shown.iter().enumerate().map(|(k, error)| (*error, (zeros + k + 1) as f64 / all));
    first.into_iter().chain(steps).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_rise_to_one() {
        assert_eq!(shares(&[1.0, 3.0]), [(1.0, 0.0), (1.0, 0.5), (3.0, 1.0)]);
        assert_eq!(shares(&[0.0, 2.0]), [(2.0, 0.5), (2.0, 1.0)]);
        assert!(shares(&[0.0]).is_empty());
    }
}
