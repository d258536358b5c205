//! What the members were at their outputs: medians over the members, and bands.

use super::groups::Groups;
use super::members::{DISSOLVED, FAILED, Members, page};
use crate::band::{self, Band};
use crate::figure::{Axis, Figure, Mark, Panel, Series};
use crate::over_time::Run;
use std::collections::BTreeMap;
use std::path::Path;
use tisane_io::table::{Numbers, Table};

/// Smallest number of members in progress for which a band is drawn after some have ended.
const FEWEST: usize = 5;
/// Lagrangian radii, and what they are called.
const RADII: [(&str, &str); 3] =
    [("10 %", "lagrangian_radius_0100"), ("50 %", "lagrangian_radius_0500"), ("90 %", "lagrangian_radius_0900")];

/// Remnants of stars, and what they are called.
const REMNANTS: [(&str, &str); 3] =
    [("White dwarfs", "white_dwarfs"), ("Neutron stars", "neutron_stars"), ("Black holes", "black_holes")];

pub(super) fn figure(dir: &Path, members: &Members<'_>, series: Option<&Table>) -> Result<Figure, String> {
    let table = series.ok_or("no series.csv: [ensemble] series = true keeps the outputs of all members")?;
    let lacks = || "series.csv has no rows of members that have ended".to_owned();
    let outputs = Outputs::new(members, table).ok_or_else(lacks)?;
    if outputs.curves.is_empty() {
        return Err(lacks());
    }
    let mut panels: Vec<Panel> = outputs.bound_mass().into_iter().collect();
    panels.extend(outputs.stellar_mass());
    if outputs.groups.are_one() {
        panels.extend(outputs.panel("Lagrangian radii, by the mass within", "radius", &RADII));
    } else {
        let of_radius =
            |(name, column)| outputs.panel(&format!("Lagrangian radius of {name}"), "radius", &[("", column)]);
        panels.extend(RADII.into_iter().filter_map(of_radius));
    }
    panels.extend(outputs.panel("Core radius", "core radius", &[("", "core_radius")]));
    panels.extend(outputs.numbers_of("Bound binaries", &[("", "bound_binaries")]));
    if outputs.groups.are_one() {
        panels.extend(outputs.numbers_of("Remnants", &REMNANTS));
    } else {
        let of_kind = |(name, column)| outputs.numbers_of(name, &[("", column)]);
        panels.extend(REMNANTS.into_iter().filter_map(of_kind));
    }
    panels.extend(outputs.energy_error());
    let carried = match members.count(DISSOLVED) {
        0 => "members that have ended drop out",
        _ => "members that have dissolved keep their last bound mass, and drop out of the other panels",
    };
    let caption = format!(
        "{}; lines: medians over the members, bands: {}; {carried}{}",
        members.caption("left out from then on"),
        Band::range(outputs.curves.len() / outputs.groups.names.len()),
        outputs.left().unwrap_or_default()
    );
    Ok(page(dir, panels, caption))
}

/// Outputs of a member that has ended.
struct Curve {
    /// Rows of the series.
    rows: Vec<usize>,
    group: usize,
    dissolved: bool,
    /// Bound mass at the start, in units of the user.
    at_start: f64,
    /// Mass of which the bound one is a share.
    whole: f64,
}

/// Outputs of all members that have ended.
struct Outputs<'a> {
    table: &'a Table,
    times: Numbers<'a>,
    groups: Groups,
    curves: Vec<Curve>,
    /// Column of the mass that is bound: in a tide that within the tidal radius.
    bound: &'static str,
    /// True if the whole is the initial mass; otherwise the bound mass at the start.
    of_initial_mass: bool,
}

impl<'a> Outputs<'a> {
    fn new(members: &Members<'_>, table: &'a Table) -> Option<Self> {
        let (numbers, times) = (table.numbers("member")?, table.numbers("time")?);
        let mut rows: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        numbers.iter().enumerate().for_each(|(row, number)| rows.entry(number as u64).or_default().push(row));
        let bound = if table.numbers("tidal_mass").is_some() { "tidal_mass" } else { "bound_mass" };
        let mass = table.numbers(bound);
        let share = members.table.numbers("bound_fraction");
        let groups = members.groups();
        // The share at the last output tells the mass that it is relative to, unless nothing is bound then.
        let initial_mass = |member: usize, last: usize| match (mass, share) {
            (Some(mass), Some(share)) if share.at(member) > 0.0 => Some(mass.at(last) / share.at(member)),
            _ => None,
        };
        let curves = members.numbers.iter().enumerate().filter_map(|(member, number)| {
            let rows = rows.remove(number)?;
            let (first, last) = (*rows.first()?, *rows.last()?);
            let at_start = mass.map_or(f64::NAN, |mass| mass.at(first));
            let whole = initial_mass(member, last).unwrap_or(at_start);
            let dissolved = members.outcomes[member] == DISSOLVED;
            let failed_at_once = members.outcomes[member] == FAILED && rows.len() < 2;
            (!failed_at_once).then_some(Curve { rows, group: groups.of_row[member], dissolved, at_start, whole })
        });
        let mut curves: Vec<Curve> = curves.collect();
        // In a tide version 0.3.0 wrote no mass within the tidal radius, which is what the share is of.
        let of_initial_mass =
            share.is_some() && !curves.iter().any(|curve| curve.whole < curve.at_start * (1.0 - 1e-9));
        if !of_initial_mass {
            curves.iter_mut().for_each(|curve| curve.whole = curve.at_start);
        }
        Some(Self { table, times, groups, curves, bound, of_initial_mass })
    }

    fn axis(&self) -> Option<Axis> {
        Some(Axis::linear(self.run().label("time", "time")?))
    }

    fn run(&self) -> Run<'a> {
        Run { table: self.table }
    }

    /// Panel of columns as they are, one or several for each group.
    fn panel(&self, title: &str, what: &str, columns: &[(&str, &str)]) -> Option<Panel> {
        let (_, first) = columns.first()?;
        let mut panel = Panel::new(title, self.axis()?, Axis::log(self.run().label(what, first)?));
        for (name, column) in columns {
            let numbers = self.table.numbers(column)?;
            panel.series.extend(self.lines(name, &Over { of: &|_, row| numbers.at(row), carries: false }));
        }
        Some(panel)
    }

    /// Says how many members are left at the end, where some are not.
    fn left(&self) -> Option<String> {
        let ends = || self.curves.iter().filter_map(|curve| self.end(curve));
        let last = ends().fold(f64::NEG_INFINITY, f64::max);
        let left = ends().filter(|end| *end == last).count();
        let cut = if left < FEWEST { ", and lines end where fewer than five of a line's are left" } else { "" };
        (left < self.curves.len())
            .then(|| format!("; {left} of {} are left at the last output{cut}", self.curves.len()))
    }

    fn end(&self, curve: &Curve) -> Option<f64> {
        curve.rows.last().map(|row| self.times.at(*row))
    }

    fn bound_mass(&self) -> Option<Panel> {
        let bound = self.table.numbers(self.bound)?;
        let whole = if self.of_initial_mass { "initial mass" } else { "that at the start" };
        let (title, what) = match self.bound {
            "tidal_mass" => ("Mass within the tidal radius", "tidal mass"),
            _ => ("Bound mass", "bound mass"),
        };
        let mut panel = Panel::new(title, self.axis()?, Axis::linear(format!("{what} / {whole}")));
        // Of a member that has never had bound mass the whole is zero too.
        let of = |curve: &Curve, row: usize| if bound.at(row) == 0.0 { 0.0 } else { bound.at(row) / curve.whole };
        panel.series = self.lines("", &Over { of: &of, carries: true });
        let lows = panel.series.iter().flat_map(|series| series.spread.iter().flatten());
        // Shares that do not change much are seen without zero.
        if lows.fold(1.0, |min: f64, (low, _)| min.min(*low)) < 0.5 {
            panel.y.range = Some((0.0, 1.04));
        }
        Some(panel)
    }

    /// Panel of numbers of bodies, in those columns that have some.
    fn numbers_of(&self, title: &str, columns: &[(&str, &str)]) -> Option<Panel> {
        let mut panel = Panel::new(title, self.axis()?, Axis::counts("number"));
        for (name, column) in columns {
            let numbers = self.table.numbers(column)?;
            if self.curves.iter().flat_map(|curve| &curve.rows).any(|row| numbers.at(*row) > 0.0) {
                panel.series.extend(self.lines(name, &Over { of: &|_, row| numbers.at(row), carries: false }));
            }
        }
        (!panel.series.is_empty()).then_some(panel)
    }

    /// Panel of the mass of all stars that age.
    fn stellar_mass(&self) -> Option<Panel> {
        let mass = self.table.numbers("stellar_mass")?;
        let of =
            |curve: &Curve, row: usize| curve.rows.first().map_or(f64::NAN, |first| mass.at(row) / mass.at(*first));
        let mut panel = Panel::new("Mass of all stars", self.axis()?, Axis::linear("mass / that at the start"));
        panel.series = self.lines("", &Over { of: &of, carries: false });
        Some(panel)
    }

    fn energy_error(&self) -> Option<Panel> {
        let (title, what, errors) = match self.table.numbers("cluster_energy_error") {
            Some(errors) => ("Energy error of the bound cluster", "|ΔE/E|", errors),
            None => ("Energy error", "|ΔE/E₀|", self.table.numbers("relative_energy_error")?),
        };
        let mut panel = Panel::new(title, self.axis()?, Axis::log(what));
        panel.series = self.lines("", &Over { of: &|_, row| errors.at(row).abs(), carries: false });
        for series in &mut panel.series {
            // At the start it is zero by definition.
            let Some(spread) = &mut series.spread else { continue };
            if spread.first().is_some_and(|(_, high)| *high == 0.0) {
                spread.remove(0);
                series.points.remove(0);
            }
        }
        Some(panel)
    }

    /// Makes a line with its band for each group.
    fn lines(&self, name: &str, over: &Over<'_>) -> Vec<Series> {
        let line = |(group, of_group): (usize, &String)| {
            let curves: Vec<&Curve> = self.curves.iter().filter(|curve| curve.group == group).collect();
            let points = self.medians(&curves, over);
            let name = if self.groups.are_one() { name } else { of_group };
            let line = band::series(name, Mark::Line, &points);
            // Several lines of one group have the colours of their places.
            let colour = (!self.groups.are_one()).then_some(group);
            (!points.is_empty()).then_some(Series { colour, ..line })
        };
        self.groups.names.iter().enumerate().filter_map(line).collect()
    }

    /// Returns the medians over members at the times at which at least half of those that go on have an output.
    fn medians(&self, curves: &[&Curve], over: &Over<'_>) -> Vec<(f64, Band)> {
        let time = |row: usize| self.times.at(row);
        let mut values: Vec<(f64, f64)> = Vec::new();
        let (mut starts, mut ends, mut carried) = (Vec::new(), Vec::new(), Vec::new());
        for curve in curves {
            let of_row = |row: &usize| (time(*row), (over.of)(curve, *row));
            values.extend(curve.rows.iter().map(of_row));
            let (Some(first), Some(last)) = (curve.rows.first(), curve.rows.last()) else { continue };
            starts.push(time(*first));
            ends.push(time(*last));
            if over.carries && curve.dissolved {
                carried.push(of_row(last));
            }
        }
        let by_time = |a: &(f64, f64), b: &(f64, f64)| a.0.total_cmp(&b.0);
        values.sort_by(by_time);
        carried.sort_by(by_time);
        starts.sort_by(f64::total_cmp);
        ends.sort_by(f64::total_cmp);
        let at = |same: &[(f64, f64)]| {
            let now = same[0].0;
            let begun = starts.partition_point(|start| *start <= now);
            let going = begun - ends.partition_point(|end| *end < now);
            let kept = &carried[..carried.partition_point(|(end, _)| *end < now)];
            let few = same.len() + kept.len() < FEWEST.min(curves.len());
            if 2 * same.len() < going || few {
                return None;
            }
            Some((now, Band::of(same.iter().chain(kept).map(|(_, value)| *value))?))
        };
        values.chunk_by(|a, b| a.0 == b.0).filter_map(at).collect()
    }
}

/// Quantity of a row of a member.
struct Over<'a> {
    of: &'a dyn Fn(&Curve, usize) -> f64,
    /// Flag that a dissolved member keeps its last value.
    carries: bool,
}
