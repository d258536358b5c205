//! The figures of studies, from their rows.

use super::config::TimeSpan;
use super::cost::line::{Line, is_of_the_paper};
use super::cost::row::Row;
use super::energy::mode_law::ModeLaw;
use super::force::errors::{Errors, Key};
use super::integrators::Integrator;
use super::laws;
use super::model::StepsBy;
use super::report::LAW;
use crate::literature::tables::{
    BLOCK_STEPS, HI_TABLE_2, MEAN_BLOCK, PZ_ENERGY_FLOOR, PZ_FIGURE_5, PZ_HARDWARE, PZ_TABLE_2, PZ_TABLE_3,
};
use tisane::force::canonical::BAG;
use tisane::force::precision::Precision;
use tisane_plot::band::{self, Band};
use tisane_plot::{Axis, Figure, Mark, Panel, Scale, Series};

/// Figures by the names of their files.
pub(super) type Figures = Vec<(&'static str, Figure)>;

/// Each mode has its colour in every figure.
fn colour(mode: Precision) -> Option<usize> {
    Precision::ALL.into_iter().position(|it| it == mode)
}

pub(super) fn caption(remarks: &[(String, String)]) -> String {
    let value = |name: &str| remarks.iter().find(|(of, _)| of == name).map_or("", |(_, value)| value.as_str());
    format!("tisane {} ({}), {}, {}", value("version"), value("git_commit"), value("processor"), value("created"))
}

/// Points with a colour.
pub(super) fn series(name: impl Into<String>, mark: Mark, points: Vec<(f64, f64)>, colour: Option<usize>) -> Series {
    Series { colour, ..Series::new(name, mark, points) }
}

/// The values once each, in order of appearance.
pub(super) fn distinct<T: PartialEq + Clone>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    values.for_each(|value| {
        if !found.contains(&value) {
            found.push(value);
        }
    });
    found
}

/// Mean of y over points of the same x (seeds).
fn mean_by_x(mut points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mean = |same: &[(f64, f64)]| (same[0].0, same.iter().map(|(_, y)| y).sum::<f64>() / same.len() as f64);
    points.chunk_by(|a, b| a.0 == b.0).map(mean).collect()
}

/// Errors over N, and over the size of bags.
#[must_use]
pub fn force(rows: &[(Key, Errors)], remarks: &[(String, String)]) -> Figures {
    let canonical = |key: &Key| key.bag as usize == BAG;
    let mut panels = vec![
        over_n(rows, "acceleration, largest", "largest |Δa| / |a|", |errors| errors.acc[0]),
        over_n(rows, "jerk, root mean square", "rms |Δj| / |j|", |errors| errors.jerk[1]),
        over_n(rows, "potential, root mean square", "rms |Δφ| / |φ|", |errors| errors.pot[1]),
    ];
    let range = |of: &dyn Fn(&Key) -> bool| {
        let there: Vec<f64> = rows.iter().filter(|(key, _)| of(key)).map(|(key, _)| f64::from(key.n)).collect();
        (there.iter().copied().fold(f64::INFINITY, f64::min), there.iter().copied().fold(0.0, f64::max))
    };
    let (min, max) = range(&canonical);
    let in_paper = |n: usize| (n as f64) >= min / 2.0 && (n as f64) <= max * 2.0;
    let paper = |of: fn(&crate::literature::tables::ForceError) -> f64| -> Vec<(f64, f64)> {
        HI_TABLE_2.iter().filter(|row| in_paper(row.n)).map(|row| (row.n as f64, of(row))).collect()
    };
    // What papers and growth laws say is of Newton's law.
    let is_newton = rows.iter().all(|(key, _)| key.law.is_none());
    for (name, mode, points) in [
        ("H&I: DIRECT", Precision::F32Direct, paper(|row| row.direct)),
        ("H&I: Chamomile", Precision::F32Chamomile, paper(|row| row.chamomile)),
    ] {
        if is_newton && !points.is_empty() {
            panels[0].series.push(series(name, Mark::Dashed, points, colour(mode)));
        }
    }
    if panels[0].series.iter().any(|series| series.name.starts_with("H&I")) {
        panels[0].notes.push("H&I: Hamada & Iitaka (2007), table 2, on a GPU: sums in order, and their own".into());
    }
    let modes = distinct(rows.iter().map(|(key, _)| key.mode));
    for &mode in &modes {
        let law = (0..=8)
            .map(|k| min * (max / min).powf(f64::from(k) / 8.0))
            .filter_map(|n| Some((n, laws::potential(mode, n, BAG as f64)?)))
            .collect::<Vec<_>>();
        if is_newton && !law.is_empty() {
            panels[2].series.push(series("", Mark::Dashed, law, colour(mode)));
        }
    }
    if is_newton {
        panels[2].notes.push("dashed: growth laws of rounding, nothing fitted".into());
    }
    panels.extend(over_bags(rows));
    let title = "Errors of forces against f64".into();
    vec![("force", Figure { title, caption: caption(remarks), panels, columns: 2 })]
}

fn over_n(rows: &[(Key, Errors)], title: &str, label: &str, of: impl Fn(&Errors) -> f64) -> Panel {
    let mut panel = Panel::new(title, Axis::log("N"), Axis::log(label));
    let there = distinct(rows.iter().filter(|(key, _)| key.bag as usize == BAG).map(|(key, _)| key.engine.clone()));
    for engine in &there {
        for mode in distinct(rows.iter().map(|(key, _)| key.mode)) {
            let these = rows.iter().filter(|(key, _)| (key.mode, &key.engine, key.bag as usize) == (mode, engine, BAG));
            let points = mean_by_x(these.map(|(key, errors)| (f64::from(key.n), of(errors))).collect());
            let name = if there.len() > 1 { format!("{}, {engine}", mode.name()) } else { mode.name().into() };
            panel.series.push(series(name, Mark::LineAndPoints, points, colour(mode)));
        }
    }
    panel
}

/// One panel for the largest N that has several bag sizes.
fn over_bags(rows: &[(Key, Errors)]) -> Option<Panel> {
    let n = rows.iter().filter(|(key, _)| key.bag as usize != BAG).map(|(key, _)| key.n).max()?;
    let title = format!("potential, by size of the bags, N = {n}");
    let mut panel = Panel::new(title, Axis::log("sources in a bag"), Axis::log("rms |Δφ| / |φ|"));
    let of_n = || rows.iter().filter(move |(key, _)| key.n == n);
    let bags = distinct(of_n().map(|(key, _)| key.bag));
    for mode in distinct(of_n().filter(|(key, _)| key.bag as usize != BAG).map(|(key, _)| key.mode)) {
        let points = of_n().filter(|(key, _)| key.mode == mode);
        let points = mean_by_x(points.map(|(key, errors)| (f64::from(key.bag), errors.pot[1])).collect());
        panel.series.push(series(mode.name(), Mark::LineAndPoints, points, colour(mode)));
        let mut law: Vec<(f64, f64)> = bags
            .iter()
            .filter_map(|&bag| Some((f64::from(bag), laws::potential(mode, f64::from(n), f64::from(bag))?)))
            .collect();
        law.sort_by(|a, b| a.0.total_cmp(&b.0));
        if !law.is_empty() && of_n().all(|(key, _)| key.law.is_none()) {
            panel.series.push(series("", Mark::Dashed, law, colour(mode)));
        }
    }
    Some(panel)
}

/// Energy error against the accuracy of the steps, against wall time, and against pairs: medians over the seeds, with
/// bands.
#[must_use]
pub fn energy(laws: &[ModeLaw], remarks: &[(String, String)]) -> Figures {
    let mut panels = Vec::new();
    let several = distinct(laws.iter().map(|law| law.integrator)).len() > 1;
    let is_newton = remarks.iter().all(|(name, _)| name != LAW);
    for (n, engine) in distinct(laws.iter().map(|law| (law.n, law.engine.clone()))) {
        let here: Vec<&ModeLaw> = laws.iter().filter(|law| (law.n, &law.engine) == (n, &engine)).collect();
        let title = format!("N = {n}, {engine}");
        for integrator in distinct(here.iter().map(|law| law.integrator)) {
            let title = if several { format!("{}, {title}", integrator.name()) } else { title.clone() };
            let of_it: Vec<&ModeLaw> = here.iter().copied().filter(|law| law.integrator == integrator).collect();
            panels.push(over_accuracy(title, integrator, &of_it, is_newton));
        }
        let mut cost = Panel::new(title, Axis::log("wall time of a time unit [s]"), energy_error(&here));
        for (k, law) in here.iter().enumerate() {
            let paid = joined(&law.seconds, &law.bands);
            // With one integrator each mode has its own colour in every panel.
            let (name, colour) = match several {
                true => (format!("{}, {}", law.integrator.name(), law.mode.name()), Some(k)),
                false => (law.mode.name().into(), colour(law.mode)),
            };
            cost.series.push(banded(name, &paid, colour));
        }
        if cost.series.iter().any(|series| !series.points.is_empty()) {
            panels.push(cost);
        }
    }
    panels.extend(distinct(laws.iter().map(|law| law.engine.clone())).iter().map(|engine| over_pairs(laws, engine)));
    let columns = if panels.len() > 1 { 2 } else { 1 };
    let title = "Energy error against the accuracy of the steps and its cost".into();
    let caption = describe_bands(&laws.iter().collect::<Vec<_>>()) + &caption(remarks);
    vec![("energy", Figure { title, caption, panels, columns })]
}

/// Axis of energy errors.
fn energy_error(laws: &[&ModeLaw]) -> Axis {
    Axis::log(if seeds(laws).1 > 1 { "|ΔE/E|, median of the seeds" } else { "|ΔE/E|" })
}

/// Returns the least and the largest number of seeds of a point.
fn seeds(laws: &[&ModeLaw]) -> (usize, usize) {
    let counts = || laws.iter().flat_map(|law| &law.bands).map(|(_, band)| band.count);
    (counts().min().unwrap_or(0), counts().max().unwrap_or(0))
}

/// Says what lines and bands are; nothing of single seeds.
fn describe_bands(laws: &[&ModeLaw]) -> String {
    let (min, max) = seeds(laws);
    let range = match (Band::range(min), Band::range(max)) {
        (of_few, of_many) if of_few == of_many => of_few.to_owned(),
        (of_few, of_many) => format!("{of_many}, of fewer than five {of_few}"),
    };
    match (min, max) {
        (_, 0 | 1) => String::new(),
        _ if min == max => format!("lines: medians of {max} realisations (seeds), bands: {range}; "),
        _ => format!("lines: medians of {min} to {max} realisations (seeds), bands: {range}; "),
    }
}

/// Median errors with their bands over costs at the same accuracy.
fn joined(costs: &[(f64, f64)], bands: &[(f64, Band)]) -> Vec<(f64, Band)> {
    let band = |x: f64| bands.iter().find(|(of, _)| *of == x);
    costs.iter().filter_map(|(x, cost)| Some((*cost, band(*x)?.1))).collect()
}

/// Medians with bands and a colour.
fn banded(name: impl Into<String>, points: &[(f64, Band)], colour: Option<usize>) -> Series {
    Series { colour, ..band::series(name, Mark::LineAndPoints, points) }
}

/// Errors of one integrator over its accuracy, with their laws.
fn over_accuracy(title: String, integrator: Integrator, laws: &[&ModeLaw], is_newton: bool) -> Panel {
    let symbol = integrator.accuracy_symbol();
    let mut panel = Panel::new(title, Axis::log(symbol), energy_error(laws));
    for law in laws {
        let colour = colour(law.mode);
        panel.series.push(banded(law.mode.name(), &law.bands, colour));
        if let Some(fit) = &law.error {
            let line = law.errors.iter().map(|(x, _)| (*x, fit.at(*x))).collect();
            panel.series.push(series("", Mark::Dashed, line, colour));
        }
    }
    let range = laws.iter().flat_map(|law| &law.errors).map(|(x, _)| *x);
    let (min, max) = (range.clone().fold(f64::INFINITY, f64::min), range.fold(0.0, f64::max));
    // The colour that no mode has, and none.
    let floors = PZ_ENERGY_FLOOR.into_iter().filter(|_| is_newton);
    for ((name, floor), colour) in floors.zip([Some(Precision::ALL.len()), None]) {
        let (name, ends) = (format!("PZ: {name}"), vec![(min, floor), (max, floor)]);
        panel.series.push(series(name, Mark::Dashed, ends, colour));
    }
    if is_newton {
        panel.notes.push("PZ: the least error of Portegies Zwart et al. (2007), figure 2".into());
    }
    let of = if seeds(laws).1 > 1 { " of the root mean square over the seeds" } else { "" };
    let has_floor = laws.iter().any(|law| law.error.is_some_and(|error| error.round_off > 0.0));
    let law = if has_floor { format!("√((A {symbol}^p)² + R²)") } else { format!("A {symbol}^p") };
    panel.notes.push(format!("dashed in colour, the fitted law{of}: {law}"));
    panel
}

/// Errors over pairs on an engine, a line for each integrator and N: in f64, or in the first mode without f64.
fn over_pairs(laws: &[ModeLaw], engine: &str) -> Panel {
    let all: Vec<&ModeLaw> = laws.iter().filter(|law| law.engine == engine).collect();
    let here = || all.iter().copied();
    let mode = here().find(|law| law.mode.in_f64()).or_else(|| here().next()).map_or(Precision::F64, |law| law.mode);
    let title = format!("{}, {engine}", mode.name());
    let mut panel = Panel::new(title, Axis::log("pairs evaluated in a time unit"), energy_error(&all));
    for (k, law) in here().filter(|law| law.mode == mode).enumerate() {
        let name = format!("{}, N = {}", law.integrator.name(), law.n);
        panel.series.push(banded(name, &joined(&law.pairs, &law.bands), Some(k)));
    }
    panel
}

/// Wall time over N beside the paper's, its model, speed-up and block statistics.
#[must_use]
pub fn cost(lines: &[Line], span: &TimeSpan, remarks: &[(String, String)]) -> Figures {
    let mut time = Panel::new("wall time of a time unit", Axis::log("N"), Axis::log("wall time [s]"));
    let mut speed_up = Panel::new("speed-up", Axis::log("N"), Axis::log("speed-up"));
    let mut steps = Panel::new("block steps of a time unit", Axis::log("N"), Axis::log("block steps"));
    let mut block = Panel::new("mean block", Axis::log("N"), Axis::log("particles"));
    let n_of = |row: &Row| f64::from(row.key.n);
    let same_workload = lines.iter().flat_map(|line| &line.rows).all(|row| is_of_the_paper(span, &row.key));
    let several = distinct(lines.iter().map(|line| line.integrator)).len() > 1;
    let name_of = |line: &Line| line_name(line, several);
    for (k, line) in lines.iter().enumerate() {
        let name = name_of(line);
        let of = |y: &dyn Fn(&Row) -> f64| mean_by_x(line.rows.iter().map(|row| (n_of(row), y(row))).collect());
        time.series.push(series(&name, Mark::Points, of(&|row| row.seconds()), Some(k)));
        time.series.push(series("", Mark::Line, of(&|row| row.modelled / row.best.span), Some(k)));
        steps.series.push(series(&name, Mark::LineAndPoints, of(&|row| row.best.block_steps_per_time_unit()), Some(k)));
        block.series.push(series(&name, Mark::LineAndPoints, of(&|row| row.best.mean_block()), Some(k)));
        if k > 0 {
            let base = &lines[0].rows;
            let ratio = |row: &Row| {
                let of_base = base.iter().find(|it| (it.key.n, it.key.seed) == (row.key.n, row.key.seed));
                of_base.map_or(f64::NAN, |it| it.seconds() / row.seconds())
            };
            let against = format!("{name} against {}", name_of(&lines[0]));
            speed_up.series.push(series(against, Mark::LineAndPoints, of(&ratio), Some(k)));
        }
    }
    let ns: Vec<f64> = lines.iter().flat_map(|line| &line.rows).map(n_of).collect();
    let (min, max) = (ns.iter().copied().fold(f64::INFINITY, f64::min), ns.iter().copied().fold(0.0, f64::max));
    if same_workload {
        add_paper(&mut time, &mut speed_up, (min, max), lines.len());
        let law = |law: crate::literature::tables::PowerLaw| vec![(min, law.at(min)), (max, law.at(max))];
        steps.series.push(Series::new("247 N^0.35 (eq. 17)", Mark::Dashed, law(BLOCK_STEPS)));
        block.series.push(Series::new("0.20 N^0.81 (eq. 14)", Mark::Dashed, law(MEAN_BLOCK)));
    }
    time.notes.push("lines: the fitted performance model, for the measured blocks".into());
    let mut panels = vec![time, speed_up, steps, block];
    panels.retain(|panel| panel.series.iter().any(|series| !series.points.is_empty()));
    let cost = Figure { title: "Wall time of Plummer spheres".into(), caption: caption(remarks), panels, columns: 2 };
    let mut figures = vec![("cost", cost)];
    if same_workload {
        figures.push(("model", model(lines, remarks)));
    }
    figures
}

/// Name of a line: mode, engine, whether a GPU took its steps, and the integrator where there are several.
fn line_name(line: &Line, several: bool) -> String {
    let whole = if line.fit.steps_by == StepsBy::Device { ", whole steps" } else { "" };
    let name = format!("{}, {}{whole}", line.mode.name(), line.engine);
    if several { format!("{}, {name}", line.integrator.name()) } else { name }
}

/// The performance model against measurements: PZ figure 3 with ours beside it, shares of communication, PZ figure 5.
fn model(lines: &[Line], remarks: &[(String, String)]) -> Figure {
    let panel = |title: &str, y: &str| Panel::new(title, Axis::log("N"), Axis::log(y));
    let seconds = "wall time of a time unit [s]";
    let mut theirs = panel("PZ figure 3: measured, and eqs 10 to 17", seconds);
    let mut ours = panel("here: measured, and eqs 10 to 17 fitted", seconds);
    let mut share = panel("communication, which goes with targets", "share of the model's time");
    share.y.scale = Scale::Linear;
    let mut figure_5 = panel("PZ figure 5: an 8800GTX to come, by the model", seconds);
    let whole: Vec<f64> = PZ_TABLE_2.iter().map(|row| row.n as f64).collect();
    let over = |ns: &[f64], y: &dyn Fn(f64) -> f64| ns.iter().map(|&n| (n, y(n))).collect::<Vec<_>>();
    let first = lines.len();
    for (k, of) in PZ_TABLE_3.iter().enumerate() {
        let colour = Some(first + k);
        let measured: Vec<(f64, f64)> =
            PZ_TABLE_2.iter().filter_map(|row| Some((row.n as f64, 4.0 * row.seconds[k]?))).collect();
        let ns: Vec<f64> = measured.iter().map(|(n, _)| *n).collect();
        theirs.series.push(series(of.name, Mark::Points, measured.clone(), colour));
        theirs.series.push(series("", Mark::Line, over(&ns, &|n| of.seconds(n)), colour));
        if of.send.is_some() {
            share.series.push(series(of.name, Mark::Dashed, over(&ns, &|n| of.communication(n)), colour));
        }
        // The figure has the workstation and the 8800GTX.
        if k % 2 == 1 {
            figure_5.series.push(series(of.name, Mark::LineAndPoints, measured, colour));
        }
    }
    for (k, (name, of)) in PZ_FIGURE_5.into_iter().enumerate() {
        let points = over(&whole, &|n| of.seconds(n));
        figure_5.series.push(series(name, Mark::Dashed, points, Some(first + PZ_TABLE_3.len() + k)));
    }
    for (k, line) in lines.iter().enumerate() {
        let name = line_name(line, false);
        let of =
            |y: &dyn Fn(&Row) -> f64| mean_by_x(line.rows.iter().map(|row| (f64::from(row.key.n), y(row))).collect());
        let measured = of(&|row| row.seconds());
        ours.series.push(series(&name, Mark::Points, measured.clone(), Some(k)));
        ours.series.push(series("", Mark::Line, of(&|row| row.from_n / row.best.span), Some(k)));
        share.series.push(series(&name, Mark::LineAndPoints, of(&|row| row.targets_share), Some(k)));
        figure_5.series.push(series(name, Mark::LineAndPoints, measured, Some(k)));
    }
    theirs.notes.push("points: their table 2, times 4; lines: their table 3 with eqs 14 and 17".into());
    ours.notes.push("lines: from N alone, with power laws for the blocks".into());
    let title = "The performance model of Portegies Zwart et al. (2007)".into();
    Figure { title, caption: caption(remarks), panels: vec![theirs, ours, share, figure_5], columns: 2 }
}

/// PZ table 2 in the range of N that was measured: times of a time unit, and speed-ups against its host.
fn add_paper(time: &mut Panel, speed_up: &mut Panel, (min, max): (f64, f64), ours: usize) {
    let rows = || PZ_TABLE_2.iter().filter(move |row| (min..=max).contains(&(row.n as f64)));
    if rows().next().is_some() {
        time.notes.push("PZ: Portegies Zwart et al. (2007), table 2, times 4".into());
    }
    for (k, name) in PZ_HARDWARE.into_iter().enumerate() {
        let points: Vec<_> = rows().filter_map(|row| Some((row.n as f64, 4.0 * row.seconds[k]?))).collect();
        if points.is_empty() {
            continue;
        }
        let colour = Some(ours + k);
        time.series.push(series(format!("PZ: {name}"), Mark::Dashed, points, colour));
        let host = PZ_HARDWARE.len() - 1;
        if k < host {
            let ratio = rows().filter_map(|row| Some((row.n as f64, row.seconds[host]? / row.seconds[k]?)));
            let name = format!("PZ: {name} against its host");
            speed_up.series.push(series(name, Mark::Dashed, ratio.collect(), colour));
        }
    }
}
