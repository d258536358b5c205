//! The figures of the study: how far runs are from converged solutions over time, and when they have diverged against their
//! energy error and their cost.

use super::Run;
use super::divergence::Rate;
use super::points::Scheme;
use super::solutions::Pair;
use crate::study::config::ConvergenceSweep;
use crate::study::figures::{Figures, caption, distinct, series};
use crate::study::integrators::Integrator;
use tisane::force::precision::Precision;
use tisane_plot::band::{self, Band};
use tisane_plot::{Axis, Figure, Mark, Panel, Series};

/// Distance of numbers of f64 from a solution at the start, as a part of it.
const ROUNDING: f64 = 1e-16;
/// Range of the distances that are drawn.
const DISTANCES: (f64, f64) = (1e-17, 10.0);

/// Draws both figures.
#[must_use]
pub fn figures(it: &ConvergenceSweep, pairs: &[Pair], runs: &[Run], remarks: &[(String, String)]) -> Figures {
    let threshold = it.threshold.get();
    let seeds = if it.seeds.len() > 1 { format!("medians of {} seeds; ", it.seeds.len()) } else { String::new() };
    let caption = format!("N-body units; {seeds}{}", caption(remarks));
    let (mut over_time, mut when) = (Vec::new(), Vec::new());
    for &n in &it.n {
        let of_n: Vec<&Run> = runs.iter().filter(|run| run.system.n == n && run.failure.is_none()).collect();
        if of_n.is_empty() {
            continue;
        }
        let growth = growth(pairs, n, threshold);
        over_time.push(divergence(n, &of_n, growth, threshold));
        when.extend(threshold_times(n, &of_n, growth, threshold));
    }
    let columns = |panels: &[Panel]| if panels.len() > 1 { 2 } else { 1 };
    let figure = |title: &str, panels: Vec<Panel>| Figure {
        title: title.into(),
        caption: caption.clone(),
        columns: columns(&panels),
        panels,
    };
    if over_time.is_empty() {
        return Vec::new();
    }
    vec![
        ("divergence", figure("Distance of runs from converged solutions", over_time)),
        ("threshold", figure("Time at which runs have diverged", when)),
    ]
}

/// Rate at which converged solutions of one N part, mean over the seeds with half the range where there are several.
fn growth(pairs: &[Pair], n: u32, threshold: f64) -> Option<Rate> {
    let rates: Vec<Rate> =
        pairs.iter().filter(|pair| pair.system.n == n).filter_map(|pair| pair.divergence(threshold).rate).collect();
    let count = rates.len() as f64;
    let mean = rates.iter().map(|rate| rate.value).sum::<f64>() / count;
    let ends = Band::of(rates.iter().map(|rate| rate.value))?;
    let error = if rates.len() > 1 { 0.5 * (ends.high - ends.low) } else { rates[0].error };
    Some(Rate { value: mean, error })
}

/// Runs that differ in seed and accuracy alone have one colour.
fn lines(runs: &[&Run]) -> Vec<(Integrator, Precision)> {
    distinct(runs.iter().map(|run| (run.scheme.integrator, run.scheme.mode)))
}

fn name((integrator, mode): (Integrator, Precision)) -> String {
    format!("{}, {}", integrator.name(), mode.name())
}

/// Runs of one line, grouped by accuracy.
fn by_accuracy<'a>(runs: &[&'a Run], line: (Integrator, Precision)) -> Vec<(Scheme, Vec<&'a Run>)> {
    let of_line = || runs.iter().copied().filter(|run| (run.scheme.integrator, run.scheme.mode) == line);
    let schemes = distinct(of_line().map(|run| run.scheme));
    schemes.into_iter().map(|scheme| (scheme, of_line().filter(|run| run.scheme == scheme).collect())).collect()
}

/// Distances of all runs of one N over time.
fn divergence(n: u32, runs: &[&Run], growth: Option<Rate>, threshold: f64) -> Panel {
    let mut panel = Panel::new(format!("N = {n}"), Axis::linear("time"), Axis::log("rms distance / half-mass radius"));
    panel.y.range = Some(DISTANCES);
    let interval = runs[0].system.interval;
    let end = interval * runs.iter().map(|run| run.system.moments).max().unwrap_or(0) as f64;
    for (k, line) in lines(runs).into_iter().enumerate() {
        for (first, (_, same)) in by_accuracy(runs, line).into_iter().enumerate() {
            // Seeds whose solution is converged to an earlier time end there.
            let moments = same.iter().map(|run| run.distances.len()).min().unwrap_or(0);
            let median = |k: usize| Band::of(same.iter().map(|run| run.distances[k])).map_or(f64::NAN, |it| it.median);
            let points = (0..moments).map(|k| (interval * (k + 1) as f64, median(k))).collect();
            let name = if first == 0 { name(line) } else { String::new() };
            panel.series.push(series(name, Mark::Line, points, Some(k)));
        }
    }
    if let Some(Rate { value, error }) = growth {
        let top = (0.0, ROUNDING);
        let last = ((1.0 / ROUNDING).ln() / value).min(end);
        let points = vec![top, (last, ROUNDING * (value * last).exp())];
        let name = format!("exp(λt), λ = {value:.2} ± {error:.2}");
        panel.series.push(Series::new(name, Mark::Dashed, points));
    }
    panel.series.push(Series::new("", Mark::Dashed, vec![(0.0, threshold), (end, threshold)]));
    panel.notes.push(accuracies(runs));
    panel.notes.push("λ: rate at which two converged solutions part; dashed from the rounding of f64".into());
    panel
}

/// Says which accuracies the lines of one colour have.
fn accuracies(runs: &[&Run]) -> String {
    let symbols = distinct(runs.iter().map(|run| run.scheme.integrator.accuracy_symbol()));
    let each = symbols.into_iter().map(|symbol| {
        let of = runs.iter().filter(|run| run.scheme.integrator.accuracy_symbol() == symbol);
        let values: Vec<String> = distinct(of.map(|run| run.scheme.accuracy)).iter().map(f64::to_string).collect();
        format!("{symbol} = {}", values.join(", "))
    });
    format!("lines of one colour from above: {}", each.collect::<Vec<_>>().join("; "))
}

/// Times at which runs of one N have diverged, against their energy error and their cost.
fn threshold_times(n: u32, runs: &[&Run], growth: Option<Rate>, threshold: f64) -> [Panel; 2] {
    let axis = |label: &str| (Axis::log(label), Axis::linear(format!("time at {} half-mass radii", threshold)));
    let end = |run: &Run| run.system.interval * run.system.moments as f64;
    let last = runs.iter().map(|run| end(run)).fold(0.0, f64::max);
    let of: [(&str, fn(&Run) -> f64); 2] =
        [("largest |ΔE/E|", |run| run.energy_error), ("pairs evaluated", |run| run.pairs as f64)];
    of.map(|(label, x)| {
        let (x_axis, y_axis) = axis(label);
        let mut panel = Panel::new(format!("N = {n}"), x_axis, y_axis);
        panel.y.range = Some((0.0, 1.05 * last));
        let mut ends = (f64::INFINITY, 0.0f64);
        let mut is_reached = true;
        for (k, line) in lines(runs).into_iter().enumerate() {
            let (mut points, mut bounds) = (Vec::new(), Vec::new());
            for (_, same) in by_accuracy(runs, line) {
                let time = |run: &&Run| run.divergence.reached.unwrap_or(end(run));
                let x = Band::of(same.iter().map(|run| x(run))).map_or(f64::NAN, |band| band.median);
                ends = (ends.0.min(x), ends.1.max(x));
                let band = Band::of(same.iter().map(time)).map(|band| (x, band));
                if same.iter().all(|run| run.divergence.reached.is_some()) {
                    points.extend(band);
                } else {
                    bounds.extend(band.map(|(x, band)| (x, band.median)));
                }
            }
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            is_reached &= bounds.is_empty();
            panel.series.push(Series { colour: Some(k), ..band::series(name(line), Mark::LineAndPoints, &points) });
            panel.series.push(series("", Mark::Points, bounds, Some(k)));
        }
        let limit = growth.map(|rate| (threshold / ROUNDING).ln() / rate.value).filter(|limit| *limit < last);
        if let Some(limit) = limit {
            let name = "rounding of f64, grown by exp(λt)";
            panel.series.push(Series::new(name, Mark::Dashed, vec![(ends.0, limit), (ends.1, limit)]));
        }
        if !is_reached {
            panel.notes.push("points without a line: not all have diverged where their solutions end".into());
        }
        panel
    })
}
