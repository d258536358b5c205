//! Stars of a cluster by their masses over time: numbers, radii and dispersions of light and heavy ones, from its snapshots.

use super::figure::{Axis, Figure, Mark, Panel, Series};
use super::gallery::Gallery;
use super::quantity::quantity;
use super::snapshots::{Ends, Look};
use std::path::{Path, PathBuf};
use tisane::diagnostics::cluster::spheres::RadialOrder;
use tisane::units::{Dimension, twelve_digits};
use tisane_io::directory;

/// Snapshots that are looked at, besides the first and the last, and stars of all of them together: each takes a search for binaries.
const MOST: usize = 14;
const STARS: usize = 400_000;
/// Shares of the stars of the first snapshot, by mass, at which the bins begin.
const SHARES: [f64; 3] = [0.5, 0.8, 0.95];
/// Digits of the edges of the bins.
const EDGE_DIGITS: i32 = 2;
/// Least number of stars of a bin that have a radius and a dispersion.
const FEWEST: usize = 5;
/// Names of the Lagrangian radii, and their parts of the mass of a bin.
const RADII: [(&str, f64); 2] = [("10 %", 0.1), ("50 %", 0.5)];

/// Stars of a bin of mass at a moment, in the user's units; NaN where they are few.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Group {
    number: f64,
    radii: [f64; RADII.len()],
    dispersion: f64,
}

/// Adds the figure of the snapshots, of which the `ends` are read; none where all stars have one mass, and of a single snapshot.
pub(super) fn add(dir: &Path, ends: &Ends, words: (String, String), gallery: &mut Gallery) {
    let paths = directory::snapshots(dir).unwrap_or_default();
    if let Some(figure) = figure(ends, &paths, words, &mut gallery.damaged) {
        gallery.add("mass-bins", Ok(figure));
    }
}

fn figure(
    ends: &Ends,
    paths: &[PathBuf],
    (title, caption): (String, String),
    damaged: &mut Vec<String>,
) -> Option<Figure> {
    let last = ends.last.as_ref()?;
    let edges = edges(&masses(&ends.first));
    if edges.is_empty() {
        return None;
    }
    let mut seen = vec![(ends.first.time, groups(&ends.first, &edges))];
    for path in between(paths, ends.first.stars.len()) {
        match Look::read(&path) {
            Ok(look) if look.time > ends.first.time && look.time < last.time => {
                seen.push((look.time, groups(&look, &edges)));
            }
            Ok(_) => {}
            Err(why) if damaged.contains(&why.to_string()) => {}
            Err(why) => damaged.push(why.to_string()),
        }
    }
    seen.push((last.time, groups(last, &edges)));
    let units = &ends.first.units.units;
    let x = || Axis::linear(quantity(units, "time", Dimension::TIME));
    let panel = |title: &str, y: Axis, of: &dyn Fn(&Group) -> f64| {
        let mut panel = Panel::new(title, x(), y);
        for bin in 0..=edges.len() {
            let points = seen.iter().map(|(time, groups)| (*time, of(&groups[bin]))).collect();
            panel.series.push(Series::new(bin_name(&edges, bin, ends), Mark::LineAndPoints, points));
        }
        panel
    };
    let radius = || Axis::log(quantity(units, "radius", Dimension::LENGTH));
    let [inner, half] = [0, 1].map(|k| {
        let title = format!("Lagrangian radii, {} of the mass of each bin", RADII[k].0);
        panel(&title, radius(), &move |group| group.radii[k])
    });
    let y = Axis::linear(quantity(units, "dispersion", Dimension::VELOCITY));
    let mut dispersion = panel("Velocity dispersion, one component", y, &|group| group.dispersion);
    dispersion.notes.push("about the mean velocity of the bound stars; binaries from 1 kT as one body".into());
    let mut number = panel("Bound stars by present mass", Axis::counts("number"), &|group| group.number);
    number.y = Axis { whole: true, ..Axis::log("number") };
    Some(Figure { title, caption, panels: vec![number, half, inner, dispersion], columns: 2 })
}

/// Returns the snapshots between the ends that are looked at, evenly spaced: fewer, the more stars they have.
fn between(paths: &[PathBuf], stars: usize) -> Vec<PathBuf> {
    let inner = paths.get(1..paths.len().saturating_sub(1)).unwrap_or_default();
    let wanted = (STARS / stars.max(1)).min(MOST).min(inner.len());
    (1..=wanted).map(|k| inner[k * inner.len() / (wanted + 1)].clone()).collect()
}

/// Returns the bound stars of a snapshot, all where none is bound.
fn which(look: &Look) -> Vec<u32> {
    let bound = &look.systems.bound;
    let all = 0..look.stars.len() as u32;
    if bound.is_empty() { all.collect() } else { all.filter(|&i| bound.is_bound[i as usize]).collect() }
}

/// Returns the masses of these in the user's unit, ascending.
fn masses(look: &Look) -> Vec<f64> {
    let mut masses: Vec<f64> =
        which(look).into_iter().map(|i| look.stars.mass[i as usize] * look.units.scale.mass).collect();
    masses.sort_unstable_by(f64::total_cmp);
    masses
}

/// Returns the masses at which the second bin and those after it begin, from the ascending `masses`; none where stars have one mass.
fn edges(masses: &[f64]) -> Vec<f64> {
    let (Some(&first), Some(&last)) = (masses.first(), masses.last()) else { return Vec::new() };
    let at = |share: f64| rounded(masses[((share * masses.len() as f64) as usize).min(masses.len() - 1)]);
    let mut edges: Vec<f64> = SHARES.into_iter().map(at).filter(|edge| *edge > first && *edge <= last).collect();
    edges.dedup();
    edges
}

/// Rounds a mass to a few digits.
fn rounded(mass: f64) -> f64 {
    if mass <= 0.0 {
        return 0.0;
    }
    let unit = 10f64.powf(mass.log10().floor() + 1.0 - f64::from(EDGE_DIGITS));
    twelve_digits((mass / unit).round() * unit)
}

/// Returns the name of a bin: `below 0.3 Msun`, `0.3 to 0.8 Msun`, `from 2 Msun`.
fn bin_name(edges: &[f64], bin: usize, ends: &Ends) -> String {
    let units = &ends.first.units.units;
    let unit = if units.is_henon() { String::new() } else { format!(" {}", units.mass.name) };
    match (bin.checked_sub(1).map(|at| edges[at]), edges.get(bin)) {
        (None, Some(to)) => format!("below {to}{unit}"),
        (Some(from), Some(to)) => format!("{from} to {to}{unit}"),
        (Some(from), None) => format!("from {from}{unit}"),
        (None, None) => "all".into(),
    }
}

/// Returns the stars of each bin.
fn groups(look: &Look, edges: &[f64]) -> Vec<Group> {
    let (stars, systems, scale) = (&look.stars, &look.systems, &look.units.scale);
    let centre = look.centre / scale.length;
    let all = RadialOrder::new(&stars.id, &stars.pos, centre, which(look).into_iter());
    let bin_of = |i: u32| edges.partition_point(|edge| *edge <= stars.mass[i as usize] * scale.mass);
    (0..=edges.len())
        .map(|bin| {
            let here = all.only(|i| bin_of(i) == bin);
            let number = here.order.len();
            let held = here.spheres(&stars.mass, RADII.map(|(_, share)| share));
            let mass: f64 = here.order.iter().map(|&i| stars.mass[i as usize]).sum();
            let square =
                |i: u32| (systems.body(stars, systems.part_of[i as usize]).vel - systems.bound.velocity).norm_squared();
            let squares: f64 = here.order.iter().map(|&i| stars.mass[i as usize] * square(i)).sum();
            let few = number < FEWEST;
            let of_many = |value: f64| if few { f64::NAN } else { value };
            Group {
                number: number as f64,
                radii: held.map(|held| of_many(here.radius_enclosing(held) * scale.length)),
                dispersion: of_many((squares / (3.0 * mass)).sqrt() * scale.velocity),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_begin_at_round_masses_and_one_mass_has_none() {
        let masses: Vec<f64> = (1..=100).map(|k| 0.0123 * f64::from(k)).collect();
        assert_eq!(edges(&masses), [0.63, 1.0, 1.2]);
        assert!(edges(&[0.5; 40]).is_empty() && edges(&[]).is_empty());
        // Two masses: one edge, and each star is on one side of it.
        let two = [vec![1.0; 90], vec![10.0; 10]].concat();
        assert_eq!(edges(&two), [10.0]);
    }

    #[test]
    fn few_snapshots_of_many_stars_are_looked_at() {
        let paths: Vec<PathBuf> = (0..101).map(|k| PathBuf::from(k.to_string())).collect();
        let of = |stars| between(&paths, stars);
        assert_eq!((of(1000).len(), of(100_000).len(), of(1_000_000).len()), (MOST, 4, 0));
        assert!(!of(1000).contains(&paths[0]) && !of(1000).contains(&paths[100]));
        assert_eq!(between(&paths[..3], 10), [paths[1].clone()]);
        assert!(between(&paths[..2], 10).is_empty() && between(&[], 10).is_empty());
    }

    #[test]
    fn masses_are_rounded_to_two_digits() {
        assert_eq!([0.314159, 27.18, 999.0, 0.0].map(rounded), [0.31, 27.0, 1000.0, 0.0]);
    }
}
