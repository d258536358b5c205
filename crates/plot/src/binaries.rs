//! Figures of the binaries of a cluster at the first and the last measurement: their orbits, and distributions of period,
//! eccentricity, mass ratio and hardness of those that are bound to it.

use super::bins::{counting_limits, decades, stairs, unit_interval};
use super::figure::{Axis, Figure, Mark, Panel, Series};
use super::gallery::Gallery;
use super::journals;
use super::over_time::Run;
use std::cmp::Reverse;
use std::path::Path;
use tisane::units::names::TimeUnit;
use tisane::units::twelve_digits;
use tisane_io::fields::Journal;
use tisane_io::table::Table;

/// Least number of binaries at a measurement whose distributions say something.
const FEWEST: usize = 10;
/// Bins of a decade of periods and of hardness.
const WIDTH: f64 = 0.5;
/// Bins of eccentricities and mass ratios.
const BINS: usize = 10;
/// Points of a panel up to which each has a marker; more are dots.
const FEW_DOTS: usize = 300;
/// Room beside the outermost bins and above the highest, as a factor.
const ROOM: f64 = 1.2;
/// Room at the ends of axes from 0 to 1, so that circular orbits stand off the edge.
const UNIT: (f64, f64) = (-0.03, 1.03);

/// Adds the figures of the journal of binaries, with that of the cluster for their numbers.
pub(super) fn add(dir: &Path, gallery: &mut Gallery) {
    let cluster = journals::read(dir, Journal::Cluster).ok();
    match journals::read(dir, Journal::Binaries) {
        Ok(table) => add_of(dir, &table, cluster.as_ref(), gallery),
        Err(why) => gallery.add("binaries", Err(why)),
    }
}

/// Adds the figures of the rows of a journal. Where there are few, there is none of their distributions.
fn add_of(dir: &Path, table: &Table, cluster: Option<&Table>, gallery: &mut Gallery) {
    let lacks = || "binaries.csv lacks columns".to_owned();
    let Some(looks) = Looks::new(table, cluster) else { return gallery.add("binaries", Err(lacks())) };
    gallery.add("binaries", looks.orbits(dir).ok_or_else(lacks));
    if looks.at.iter().any(|look| look.pairs.len() >= FEWEST) {
        gallery.add("distributions", looks.distributions(dir).ok_or_else(lacks));
    }
}

/// The first and the last measurement of the cluster.
struct Looks<'a> {
    run: Run<'a>,
    cluster: Option<&'a Table>,
    at: Vec<Look>,
}

/// Rows of the binaries and of the outer orbits of hierarchies that are bound to the cluster at a measurement, of all others, and its
/// time as text. Where none is bound there is no cluster, and none is another.
struct Look {
    time: String,
    pairs: Vec<usize>,
    outer: Vec<usize>,
    unbound: Vec<usize>,
}

impl<'a> Looks<'a> {
    /// Finds the rows; [`None`] where columns are missing.
    fn new(table: &'a Table, cluster: Option<&'a Table>) -> Option<Self> {
        let run = Run { table };
        let (times, number, bound) = (table.numbers("time")?, table.numbers("number")?, table.numbers("bound"));
        let looks = cluster.and_then(|cluster| cluster.numbers("time")).unwrap_or(times);
        let (first, last) = (looks.first()?, looks.last()?);
        let unit = run.label("", "time")?.replace("[N-body units]", "").replace(['[', ']'], "");
        let at = [Some(first), (last > first).then_some(last)].into_iter().flatten().map(|time| {
            let rows = (0..times.len()).filter(|&row| times.at(row) == time);
            let is_bound = |&row: &usize| bound.is_none_or(|bound| bound.at(row) != 0.0);
            let (mut bound, mut unbound): (Vec<usize>, Vec<usize>) = rows.partition(is_bound);
            if bound.is_empty() {
                std::mem::swap(&mut bound, &mut unbound);
            }
            let (pairs, outer) = bound.into_iter().partition(|&row| number.at(row) == 2.0);
            Look { time: format!("t = {}{unit}", twelve_digits(time)).trim().to_owned(), pairs, outer, unbound }
        });
        let at = at.collect();
        Some(Self { run, cluster, at })
    }

    /// Draws eccentricities over semi-major axes, a panel a measurement on the same axes, and how many there are over time.
    fn orbits(&self, dir: &Path) -> Option<Figure> {
        let (a, e) = (self.run.table.numbers("semi_major_axis")?, self.run.table.numbers("eccentricity")?);
        let all = || self.at.iter().flat_map(|look| look.pairs.iter().chain(&look.outer).chain(&look.unbound));
        let edges = decades(all().map(|&row| a.at(row)), WIDTH);
        let mut panels = Vec::new();
        for look in &self.at {
            let x = Axis {
                range: edges.first().zip(edges.last()).map(|(first, last)| (first / ROOM, last * ROOM)),
                ..Axis::log(self.run.label("semi-major axis", "semi_major_axis")?)
            };
            let y = Axis { range: Some(UNIT), ..Axis::linear("eccentricity") };
            let of = |rows: &[usize]| rows.iter().map(|&row| (a.at(row), e.at(row))).collect();
            let mark = |rows: &[usize]| if rows.len() > FEW_DOTS { Mark::Dots } else { Mark::Points };
            let mut panel = Panel::new(format!("Binaries at {}", look.time), x, y);
            let name = if look.unbound.is_empty() { "binaries" } else { "binaries of the cluster" };
            let others =
                [("outer orbits of hierarchies", &look.outer, 1), ("not bound to the cluster", &look.unbound, 2)];
            let mut kinds = [[(name, &look.pairs, 0)].as_slice(), &others].concat();
            // The fewest above the others, which would hide them.
            kinds.sort_by_key(|(_, rows, _)| Reverse(rows.len()));
            let alone = look.outer.is_empty() && look.unbound.is_empty();
            for (name, rows, colour) in kinds.into_iter().filter(|(_, rows, colour)| *colour == 0 || !rows.is_empty()) {
                let series = Series::new(if alone { "" } else { name }, mark(rows), of(rows));
                panel.series.push(Series { colour: Some(colour), ..series });
            }
            panels.push(panel);
        }
        let lines = [
            ("binaries", "binaries", true),
            ("hierarchies", "hierarchies", true),
            ("binaries bound to the cluster", "bound_binaries", true),
        ];
        panels.extend(self.cluster.and_then(|table| {
            // The last one would hide the first if all are bound. A run that an earlier version began does not have it.
            let values = |name| table.numbers(name).map(|of| (0..of.len()).map(|row| of.at(row)).collect());
            let (all, bound): (Option<Vec<f64>>, _) = (values("binaries"), values("bound_binaries"));
            let there = if bound.is_some() && all != bound { &lines[..] } else { &lines[..2] };
            Run { table }.counts("Numbers of hard ones", there)
        }));
        Some(self.run.figure(dir, panels))
    }

    /// Draws how many binaries have which period, eccentricity, mass ratio and hardness.
    fn distributions(&self, dir: &Path) -> Option<Figure> {
        let table = self.run.table;
        let column = |name: &str| table.numbers(name);
        let (unit, days) = self.days();
        let (period, e, hardness) = (column("period")?, column("eccentricity")?, column("hardness")?);
        let (m1, m2) = (column("mass_1")?, column("mass_2")?);
        let label = if unit.is_empty() { self.run.label("period", "period")? } else { format!("period [{unit}]") };
        let ratio = |row: usize| m1.at(row).min(m2.at(row)) / m1.at(row).max(m2.at(row));
        let unit_axis = |name: &str| Axis { range: Some((0.0, 1.0)), ..Axis::linear(name) };
        let mut eccentricities =
            self.histogram("Eccentricities", unit_axis("eccentricity"), &|row| e.at(row), &unit_interval(BINS));
        eccentricities.series.extend(self.thermal());
        let of_periods = |row: usize| days * period.at(row);
        let of_hardness = |row: usize| hardness.at(row);
        let panels = vec![
            self.histogram("Periods", Axis::log(label), &of_periods, &self.decades(&of_periods)),
            eccentricities,
            self.histogram("Mass ratios", unit_axis("mass ratio, lighter over heavier"), &ratio, &unit_interval(BINS)),
            self.histogram("Hardness", Axis::log("binding energy / kT"), &of_hardness, &self.decades(&of_hardness)),
        ];
        Some(self.run.figure(dir, panels))
    }

    /// Returns the edges of bins that hold a quantity of all binaries.
    fn decades(&self, of: &dyn Fn(usize) -> f64) -> Vec<f64> {
        decades(self.at.iter().flat_map(|look| &look.pairs).map(|&row| of(row)), WIDTH)
    }

    /// Returns the name of the unit in which periods are drawn, a day where the unit of the file is known, and that unit in it; no name
    /// and 1 where it is not.
    fn days(&self) -> (&'static str, f64) {
        let unit = self.run.table.column("period").map_or("", |column| &*column.unit);
        let known = TimeUnit::ALL.iter().find(|known| known.name() == unit);
        known.map_or(("", 1.0), |known| (TimeUnit::Day.name(), known.value() / TimeUnit::Day.value()))
    }

    /// Draws the numbers of binaries in bins of a quantity, at each measurement.
    fn histogram(&self, title: &str, x: Axis, of: &dyn Fn(usize) -> f64, edges: &[f64]) -> Panel {
        let mut panel = Panel::new(title, x, Axis::counts("binaries in a bin"));
        for look in &self.at {
            let name = format!("{}: {}", look.time, look.pairs.len());
            panel.series.push(stairs(name, look.pairs.iter().map(|&row| of(row)), edges));
        }
        let highest =
            panel.series.iter().flat_map(|series| &series.points).map(|(_, count)| *count).fold(1.0, f64::max);
        let (_, above) = counting_limits(highest);
        panel.y.range = Some((0.0, ROOM * above));
        panel
    }

    /// Returns the thermal law f(e) = 2 e (Jeans 1919; Heggie 1975) for as many binaries as there are at last.
    fn thermal(&self) -> Option<Series> {
        let number = self.at.last()?.pairs.len() as f64;
        let of_bin = |e: f64| (e, number * 2.0 * e / BINS as f64);
        Some(Series::new("thermal, 2 e", Mark::Dashed, vec![of_bin(0.0), of_bin(1.0)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tisane_io::table::{Column, Values};

    /// Twelve binaries at 0, and one and a triple at 1 Myr.
    fn table() -> Table {
        let floats = |name: &str, unit: &str, values: Vec<f64>| Column::new(name, unit, "", Values::Floats(values));
        let with = |first: f64, last: [f64; 2]| [vec![first; 12], last.to_vec()].concat();
        let number = Values::Counts([vec![2; 12], vec![2, 3]].concat());
        Table {
            columns: vec![
                floats("time", "Myr", with(0.0, [1.0; 2])),
                Column::new("number", "", "", number),
                floats("mass_1", "Msun", with(2.0, [1.0, 3.0])),
                floats("mass_2", "Msun", with(1.0, [4.0, 1.0])),
                floats("semi_major_axis", "pc", with(1e-3, [1e-4, 1.0])),
                floats("eccentricity", "", with(0.55, [1.0, 0.5])),
                floats("period", "Myr", with(1e-6, [1e-7, 1.0])),
                floats("hardness", "", with(5.0, [50.0, 1.0])),
            ],
            ..Table::default()
        }
    }

    fn figure(table: &Table, name: &str) -> Figure {
        let mut gallery = Gallery::default();
        add_of(Path::new("r"), table, None, &mut gallery);
        assert!(gallery.missing.is_empty(), "{:?}", gallery.missing);
        gallery.figures.into_iter().find(|(of, _)| *of == name).unwrap().1
    }

    #[test]
    fn binaries_are_counted_at_both_ends_and_periods_are_days() {
        let panels = figure(&table(), "distributions").panels;
        let [periods, eccentricities, ratios, _] = panels.as_slice() else { panic!("{panels:?}") };
        assert_eq!(periods.x.label, "period [day]");
        let names: Vec<&str> = periods.series.iter().map(|series| &*series.name).collect();
        assert_eq!(names, ["t = 0 Myr: 12", "t = 1 Myr: 1"], "the triple is no binary");
        // A year is 365.25 days.
        let of_year = periods.series[0].points.iter().rev().find(|(from, _)| *from <= 365.25).unwrap();
        assert_eq!(of_year.1, 12.0);
        let count = |panel: &Panel, series: usize, bin: usize| panel.series[series].points[bin].1;
        assert_eq!((count(eccentricities, 0, 5), count(eccentricities, 1, 9)), (12.0, 1.0));
        assert_eq!((count(ratios, 0, 5), count(ratios, 1, 2)), (12.0, 1.0));
        assert!(periods.y.whole);
    }

    #[test]
    fn the_thermal_law_has_as_many_binaries() {
        let table = table();
        let looks = Looks::new(&table, None).unwrap();
        let Series { points, .. } = looks.thermal().unwrap();
        // The mean over the bins is the middle of the line.
        assert_eq!(0.5 * (points[0].1 + points[1].1) * BINS as f64, 1.0);
    }

    #[test]
    fn orbits_have_a_panel_for_each_end_on_the_same_axes() {
        let panels = figure(&table(), "binaries").panels;
        assert_eq!(panels.len(), 2);
        assert_eq!(panels[0].x.range, panels[1].x.range);
        assert_eq!((panels[0].series.len(), panels[1].series.len()), (1, 2));
    }

    #[test]
    fn binaries_that_are_not_bound_are_no_part_of_the_distributions() {
        let mut table = table();
        // Two at the start, and the triple.
        let bound = (0..14).map(|row| u64::from(![3, 4, 13].contains(&row))).collect();
        table.columns.push(Column::new("bound", "", "", Values::Counts(bound)));
        let panels = figure(&table, "distributions").panels;
        let names: Vec<&str> = panels[0].series.iter().map(|series| &*series.name).collect();
        assert_eq!(names, ["t = 0 Myr: 10", "t = 1 Myr: 1"]);
        let panels = figure(&table, "binaries").panels;
        for (panel, unbound) in panels.iter().zip([2, 1]) {
            assert!(panel.series.iter().any(|series| series.name == "binaries of the cluster"));
            let is_unbound = |series: &&Series| series.name == "not bound to the cluster";
            assert_eq!(panel.series.iter().find(is_unbound).unwrap().points.len(), unbound);
        }
        // Without a cluster none is bound, and all count.
        table.columns.last_mut().unwrap().values = Values::Counts(vec![0; 14]);
        let panels = figure(&table, "binaries").panels;
        assert_eq!((panels[0].series.len(), panels[0].series[0].points.len()), (1, 12));
    }

    #[test]
    fn bound_binaries_have_a_line_where_others_are_not() {
        let lines = |bound: Option<Vec<u64>>| {
            let counts = |name: &str, values: Vec<u64>| Column::new(name, "", "", Values::Counts(values));
            let mut columns = vec![
                Column::new("time", "Myr", "", Values::Floats(vec![0.0, 1.0])),
                counts("binaries", vec![12, 12]),
                counts("hierarchies", vec![0, 1]),
            ];
            columns.extend(bound.map(|bound| counts("bound_binaries", bound)));
            let (binaries, cluster) = (table(), Table { columns, ..Table::default() });
            let figure = Looks::new(&binaries, Some(&cluster)).unwrap().orbits(Path::new("r")).unwrap();
            figure.panels.last().unwrap().series.len()
        };
        assert_eq!([Some(vec![12, 9]), Some(vec![12, 12]), None].map(lines), [3, 2, 2]);
    }

    #[test]
    fn few_binaries_have_no_distributions() {
        let few = |column: &Column| {
            let values = match &column.values {
                Values::Floats(values) => Values::Floats(values[10..].to_vec()),
                Values::Counts(values) => Values::Counts(values[10..].to_vec()),
                Values::Text(values) => Values::Text(values[10..].to_vec()),
            };
            Column { values, ..column.clone() }
        };
        let table = Table { columns: table().columns.iter().map(few).collect(), ..Table::default() };
        let mut gallery = Gallery::default();
        add_of(Path::new("r"), &table, None, &mut gallery);
        assert_eq!(gallery.figures.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["binaries"]);
    }
}
