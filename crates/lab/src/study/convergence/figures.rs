//! The figures of the study: how far runs are from converged solutions over time, and when they have diverged against their
//! energy error and their cost.

use super::run::Run;
use super::solutions::Pair;
use super::system::Scheme;
use super::triples::{Exponent, Reversibility};
use crate::study::config::ConvergenceSweep;
use crate::study::figures::{Figures, caption, distinct, series};
use crate::study::integrators::Integrator;
use tisane::force::precision::Precision;
use tisane_plot::band::{self, Band};
use tisane_plot::{Axis, Figure, Mark, Panel, Series};

/// Range of the distances that are drawn.
const DISTANCES: (f64, f64) = (1e-17, 10.0);

/// Draws both figures.
#[must_use]
pub fn figures(it: &ConvergenceSweep, pairs: &[Pair], runs: &[Run], remarks: &[(String, String)]) -> Figures {
    let threshold = it.threshold.get();
    let caption =
        format!("N-body units; {}{}", if it.seeds.len() > 1 { "medians of seeds; " } else { "" }, caption(remarks));
    let (mut over_time, mut when) = (Vec::new(), Vec::new());
    for &n in &it.n {
        let of_n = || runs.iter().filter(move |run| run.system.n == n);
        // A median of fewer seeds would be that of other systems.
        let failed = distinct(of_n().filter(|run| run.failure.is_some()).map(|run| run.scheme));
        let of_n: Vec<&Run> = of_n().filter(|run| !failed.contains(&run.scheme)).collect();
        if of_n.is_empty() {
            continue;
        }
        let left_out = failed.iter().map(Scheme::describe).collect::<Vec<_>>().join("; ");
        // Not all seeds have a solution that is converged at a moment.
        let title = match distinct(of_n.iter().map(|run| run.system.seed)).len() {
            _ if it.seeds.len() == 1 => format!("N = {n}"),
            1 => format!("N = {n}, one seed"),
            seeds => format!("N = {n}, {seeds} seeds"),
        };
        let mut panel = divergence(&title, &of_n, Growth::of(pairs, n, threshold).as_ref(), threshold);
        panel.notes.extend((!failed.is_empty()).then(|| format!("not all seeds have results: {left_out}")));
        over_time.push(panel);
        when.extend(threshold_times(&title, &of_n, threshold));
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

/// Rate at which converged solutions of one N part.
struct Growth {
    /// Mean over the seeds.
    mean: f64,
    /// Least and largest of the seeds.
    range: [f64; 2],
    /// Number of seeds.
    seeds: usize,
}

impl Growth {
    fn of(pairs: &[Pair], n: u32, threshold: f64) -> Option<Self> {
        let of_n = pairs.iter().filter(|pair| pair.system.n == n);
        let rates: Vec<f64> = of_n.filter_map(|pair| Some(pair.divergence(threshold).rate?.value)).collect();
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        let ends = [f64::min, f64::max].map(|end| rates.iter().copied().reduce(end));
        let [Some(low), Some(high)] = ends else { return None };
        Some(Self { mean, range: [low, high], seeds: rates.len() })
    }

    fn describe(&self) -> String {
        let Self { mean, range: [low, high], seeds } = self;
        let spread = if *seeds > 1 { format!(" ({low:.2} to {high:.2} by seed)") } else { String::new() };
        format!("λ = {mean:.2}{spread}, the rate at which two converged solutions part")
    }
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
fn divergence(title: &str, runs: &[&Run], growth: Option<&Growth>, threshold: f64) -> Panel {
    let mut panel = Panel::new(title, Axis::linear("time"), Axis::log("rms distance / half-mass radius"));
    panel.y.range = Some(DISTANCES);
    let interval = runs[0].system.interval;
    // Seeds whose solution is converged to an earlier time end there, and the medians with them.
    let moments = runs.iter().map(|run| run.distances.len()).min().unwrap_or(0);
    for (k, line) in lines(runs).into_iter().enumerate() {
        for (first, (_, same)) in by_accuracy(runs, line).into_iter().enumerate() {
            let median = |k: usize| Band::of(same.iter().map(|run| run.distances[k])).map_or(f64::NAN, |it| it.median);
            let points = (0..moments).map(|k| (interval * (k + 1) as f64, median(k))).collect();
            let name = if first == 0 { name(line) } else { String::new() };
            panel.series.push(series(name, Mark::Line, points, Some(k)));
        }
    }
    let end = interval * moments as f64;
    panel.notes.push(accuracies(runs));
    if let Some(growth) = growth {
        // It ends where the last run diverges, and shows the slope alone.
        let last = runs.iter().filter_map(|run| run.divergence.reached).fold(0.0, f64::max).min(end);
        let first = (last - (threshold / DISTANCES.0).ln() / growth.mean).max(0.0);
        let points = vec![(first, threshold * (growth.mean * (first - last)).exp()), (last, threshold)];
        panel.series.push(Series::new("exp(λt) of two solutions", Mark::Dashed, points));
        panel.notes.push(growth.describe());
    }
    panel.series.push(Series::new("", Mark::Dashed, vec![(0.0, threshold), (end, threshold)]));
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
fn threshold_times(title: &str, runs: &[&Run], threshold: f64) -> [Panel; 2] {
    let axis = |label: &str| (Axis::log(label), Axis::linear(format!("time at {} half-mass radii", threshold)));
    let end = |run: &Run| run.system.interval * run.system.moments as f64;
    let last = runs.iter().map(|run| end(run)).fold(0.0, f64::max);
    let error: fn(&Run) -> f64 = |run| run.energy_error;
    let pairs: fn(&Run) -> f64 = |run| run.pairs as f64;
    [("largest |ΔE/E|", error), ("pairs evaluated", pairs)].map(|(label, x)| {
        let (x_axis, y_axis) = axis(label);
        let mut panel = Panel::new(title, x_axis, y_axis);
        panel.y.range = Some((0.0, 1.05 * last));
        let mut is_reached = true;
        for (k, line) in lines(runs).into_iter().enumerate() {
            let (mut points, mut bounds) = (Vec::new(), Vec::new());
            for (_, same) in by_accuracy(runs, line) {
                let time = |run: &&Run| run.divergence.reached.unwrap_or(end(run));
                let x = Band::of(same.iter().map(|run| x(run))).map_or(f64::NAN, |band| band.median);
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
        if !is_reached {
            panel.notes.push("points without a line: not all have diverged where their solutions end".into());
        }
        panel
    })
}

/// Draws the share of the triples that do not return over the tolerance, with the power law.
#[must_use]
pub fn reversible(found: &Reversibility, remarks: &[(String, String)]) -> Figure {
    let mut panel = Panel::new("", Axis::log("tolerance"), Axis::log("share of irreversible triples"));
    let shares = || found.shares.iter().filter(|share| share.irreversible() > 0.0);
    let points: Vec<(f64, f64)> = shares().map(|share| (share.tolerance, share.irreversible())).collect();
    let spread = shares().map(|share| {
        let (value, error) = (share.irreversible(), share.error());
        // On a logarithmic axis no end of a bar is zero.
        ((value - error).max(0.1 * value), value + error)
    });
    let name = format!("{} free-fall triples", found.shares.first().map_or(0, |share| share.count));
    let spread = Some(spread.collect());
    panel.series.push(Series { spread, ..Series::new(name, Mark::Points, points.clone()) });
    if let (Some(Exponent { value, error }), Some(law)) = (found.exponent, crate::study::fit::power(&points)) {
        let line = points.iter().map(|(x, _)| (*x, law.at(*x))).collect();
        panel.series.push(Series::new(format!("power law, exponent {value:.3} ± {error:.3}"), Mark::Dashed, line));
    }
    let title = "Triples that do not come back to their start".into();
    Figure { title, caption: caption(remarks), panels: vec![panel], columns: 1 }
}
