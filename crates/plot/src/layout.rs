//! How large the parts of a panel are, in px, with the axes' upper left corner at the origin.

use super::figure::{Axis, Heat, Mark, Panel, Scale, Series};
use super::font::{self, LEADING};
use super::heat::Bar;
use super::legend::Legend;
use super::mark::{Axes, has_bars};
use super::room::{LABEL, NOTE, PAD, TICK, TITLE, label_width, max, widest};
use super::scale::{self, Map};
use super::ticks::{self, Tick, Ticks};

/// Between the blocks under the axes.
pub(super) const BLOCK: f64 = 8.0;
/// Least room right of the axes.
const RIGHT: f64 = 14.0;

/// A panel, measured.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub axes: Axes,
    /// Meaning of the colours of the panel's heat map.
    pub bar: Option<Bar>,
    pub width: f64,
    pub height: f64,
    pub x_ticks: Ticks,
    pub y_ticks: Ticks,
    pub x_label: Vec<String>,
    pub y_label: Vec<String>,
    pub title: Vec<String>,
    pub notes: Vec<String>,
    pub legend: Legend,
    /// Widest label of the y axis.
    pub y_labels_width: f64,
    /// Lines of the labels of the x axis.
    pub x_label_lines: usize,
}

impl Measured {
    /// Measures a panel whose axes are of a size.
    pub fn new(panel: &Panel, width: f64, height: f64) -> Self {
        let drawn = || panel.series.iter();
        let (x_scale, y_scale) = (panel.x.effective_scale(), panel.y.effective_scale());
        // Points that the other axis cannot show take no room on this one.
        let xs = drawn().flat_map(|s| s.points.iter().filter(move |p| scale::can_show(y_scale, p.1)).map(|p| p.0));
        let bars = has_bars(&panel.series);
        let edges = |of: fn(&Heat) -> &Vec<f64>| panel.heat.iter().flat_map(of).copied();
        let xs = xs.chain(edges(|heat| &heat.x));
        let mut x = Map { scale: x_scale, ends: scale::ends(&panel.x, xs, false), place: (0.0, width) };
        let ys = drawn().flat_map(|series| y_values(series, &x)).chain(edges(|heat| &heat.y));
        let mut y = Map { scale: y_scale, ends: scale::ends(&panel.y, ys, bars), place: (height, 0.0) };
        if panel.equal {
            (x.ends, y.ends) = alike(x.ends, y.ends);
        }
        let x_ticks = x_ticks(&panel.x, &x, width);
        let y_ticks = y_ticks(&panel.y, &y, height);
        let y_labels_width = widest(&y_ticks.major);
        let mut notes: Vec<String> = panel.notes.clone();
        notes.extend(left_out(&panel.series, &x, &y));
        Self {
            axes: Axes { x, y },
            bar: panel.heat.as_ref().map(|heat| Bar::new(heat, height)),
            width,
            height,
            x_label_lines: x_ticks.major.iter().map(|tick| tick.label.lines().count()).max().unwrap_or(0),
            x_ticks,
            y_ticks,
            x_label: font::wrap(&panel.x.label, LABEL, width, 2),
            y_label: font::wrap(&panel.y.label, LABEL, height, 2),
            title: font::wrap(&panel.title, TITLE, width, 3),
            notes: notes.iter().flat_map(|note| font::wrap(note, NOTE, width, 6)).collect(),
            legend: Legend::new(&panel.series, width),
            y_labels_width,
        }
    }

    /// Room left of the axes.
    pub fn left(&self) -> f64 {
        let label = self.y_label.len() as f64 * LABEL * LEADING;
        self.y_labels_width + PAD + if self.y_label.is_empty() { 0.0 } else { PAD + label }
    }

    /// Room right of the axes: the last label of the x axis reaches over, and a bar of colours may stand there.
    pub fn right(&self) -> f64 {
        let over = |tick: &Tick| self.axes.x.at(tick.value).unwrap_or(0.0) + label_width(tick) / 2.0 - self.width;
        let bar = self.bar.as_ref().map_or(0.0, Bar::room);
        self.x_ticks.major.iter().map(over).fold(RIGHT.max(bar), f64::max)
    }

    /// Room above the axes.
    pub fn above(&self) -> f64 {
        if self.title.is_empty() { 6.0 } else { self.title.len() as f64 * TITLE * LEADING + 7.0 }
    }

    /// From the axes down to the foot of the labels of the ticks.
    pub fn x_labels_foot(&self) -> f64 {
        PAD + self.x_label_lines as f64 * TICK * LEADING
    }

    /// From the axes down to the legend.
    pub fn legend_top(&self) -> f64 {
        let label = self.x_label.len() as f64 * LABEL * LEADING;
        self.x_labels_foot() + if self.x_label.is_empty() { 0.0 } else { PAD / 2.0 + label }
    }

    /// From the axes down to the notes; without the legend where it stands elsewhere.
    pub fn notes_top(&self, with_legend: bool) -> f64 {
        let legend = if with_legend { self.legend.height } else { 0.0 };
        self.legend_top() + if legend > 0.0 { BLOCK + legend } else { 0.0 }
    }

    /// Room under the axes.
    pub fn below(&self, with_legend: bool) -> f64 {
        let notes = self.notes.len() as f64 * NOTE * LEADING;
        self.notes_top(with_legend) + if self.notes.is_empty() { 0.0 } else { BLOCK / 2.0 + notes }
    }
}

/// Range that a series needs on the y axis: its values and their spread, where its x is on the axis.
fn y_values<'a>(series: &'a Series, x: &Map) -> impl Iterator<Item = f64> + use<'a> {
    let x = *x;
    let spread = series.spread.as_deref().unwrap_or_default();
    let spread = series.points.iter().zip(spread).map(|(p, (low, high))| (p.0, [*low, *high]));
    let points = series.points.iter().map(|p| (p.0, [p.1; 2]));
    points.chain(spread).filter(move |(at, _)| x.within(*at).is_some()).flat_map(|(_, values)| values)
}

/// Two ranges of one length: the shorter one is widened about its middle.
fn alike(x: (f64, f64), y: (f64, f64)) -> ((f64, f64), (f64, f64)) {
    let half = 0.5 * (x.1 - x.0).abs().max((y.1 - y.0).abs());
    let around = |(from, to): (f64, f64)| {
        let (middle, half) = (0.5 * (from + to), if to < from { -half } else { half });
        (middle - half, middle + half)
    };
    (around(x), around(y))
}

/// Names at their places, broken into lines of the room that each has.
fn category_ticks(axis: &Axis, room: f64, lines: usize) -> Ticks {
    let label = |name: &String| font::wrap(name, TICK, room, lines).join("\n");
    let major = axis.categories.iter().enumerate();
    Ticks { major: major.map(|(i, name)| Tick { value: i as f64, label: label(name) }).collect(), minor: Vec::new() }
}

fn x_ticks(axis: &Axis, map: &Map, width: f64) -> Ticks {
    if !axis.categories.is_empty() {
        return category_ticks(axis, width / axis.categories.len() as f64 - 4.0, 3);
    }
    let fits = |ticks: &[Tick]| {
        let mut edge = f64::NEG_INFINITY;
        let mut placed: Vec<(f64, f64)> =
            ticks.iter().map(|t| (map.at(t.value).unwrap_or(0.0), label_width(t) / 2.0)).collect();
        placed.sort_by(|a, b| a.0.total_cmp(&b.0));
        placed.into_iter().all(|(at, half)| {
            let free = at - half >= edge;
            edge = at + half + 10.0;
            free
        })
    };
    let ticks = ticks::ticks(map.scale, map.ends, max(map.scale, width, 44.0, 34.0), fits);
    if axis.whole && map.scale == Scale::Linear { ticks.at_whole_numbers() } else { ticks }
}

fn y_ticks(axis: &Axis, map: &Map, height: f64) -> Ticks {
    if !axis.categories.is_empty() {
        return category_ticks(axis, 120.0, 2);
    }
    let ticks = ticks::ticks(map.scale, map.ends, max(map.scale, height, 34.0, 22.0), |_| true);
    if axis.whole && map.scale == Scale::Linear { ticks.at_whole_numbers() } else { ticks }
}

/// Points that cannot be shown, for the notes.
fn left_out(all: &[Series], x: &Map, y: &Map) -> Vec<String> {
    let [mut below_zero, mut infinite, mut outside] = [0usize; 3];
    for (series, &(a, b)) in all.iter().flat_map(|series| series.points.iter().map(move |p| (series, p))) {
        let not_positive = |map: &Map, value: f64| map.scale == Scale::Log10 && value <= 0.0;
        if a.is_nan() || b.is_nan() {
        } else if a.is_infinite() || b.is_infinite() {
            infinite += 1;
        } else if not_positive(x, a) || not_positive(y, b) {
            below_zero += 1;
        } else if series.mark != Mark::Dashed && (x.within(a).is_none() || y.within(b).is_none()) {
            outside += 1;
        }
    }
    let points = |n: usize| if n == 1 { "1 point".to_owned() } else { format!("{n} points") };
    [
        (below_zero, "at zero or below: not on a logarithmic axis"),
        (infinite, "infinite: not shown"),
        (outside, "outside the axes"),
    ]
    .into_iter()
    .filter(|(n, _)| *n > 0)
    .map(|(n, why)| format!("{} {why}", points(n)))
    .collect()
}
