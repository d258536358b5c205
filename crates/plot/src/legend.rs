//! The legend of a panel: in rows under it, where no data can be.

use super::figure::{Mark, Panel, Series};
use super::font::{self, LEADING};
use super::mark;
use super::palette::{Ink, looks};
use super::svg::{Anchor, Svg, Type};

const SIZE: f64 = 11.0;
const SWATCH: f64 = 26.0;
const GAP: f64 = 7.0;
const BETWEEN: f64 = 16.0;
/// A longer name is cut.
const MAX_LINES: usize = 3;

/// A legend laid out for a width.
#[derive(Clone, Debug, Default)]
pub(super) struct Legend {
    /// Place of a series among those given, left and top edge of its entry, lines of its name.
    entries: Vec<(usize, f64, f64, Vec<String>)>,
    pub height: f64,
}

impl Legend {
    /// Lays out the named ones of some series in as many columns as fit.
    pub fn new(series: &[Series], room: f64) -> Self {
        let max = room - SWATCH - GAP;
        let names: Vec<(usize, Vec<String>)> = series
            .iter()
            .enumerate()
            .filter(|(_, series)| !series.name.trim().is_empty())
            .map(|(i, series)| (i, font::wrap(&entry_name(series), SIZE, max, MAX_LINES)))
            .collect();
        let widest = names.iter().flat_map(|(_, lines)| lines).map(|line| font::width(line, SIZE)).fold(0.0, f64::max);
        let step = SWATCH + GAP + widest + BETWEEN;
        let columns = (((room + BETWEEN) / step).floor() as usize).clamp(1, names.len().max(1));
        let (mut entries, mut top) = (Vec::new(), 0.0);
        for row in names.chunks(columns) {
            for (column, (i, lines)) in row.iter().enumerate() {
                entries.push((*i, column as f64 * step, top, lines.clone()));
            }
            let lines = row.iter().map(|(_, lines)| lines.len()).max().unwrap_or(0);
            top += lines as f64 * SIZE * LEADING + 3.0;
        }
        Self { entries, height: top }
    }

    /// Draws it with its upper left corner at a point; `series` are those that it was made for.
    pub fn draw(&self, svg: &mut Svg, id: &str, series: &[Series], (left, top): (f64, f64), ink: &Ink) {
        if self.entries.is_empty() {
            return;
        }
        let looks = looks(series, ink);
        svg.open("g", &[("id", id), ("class", "legend")]);
        for (i, x, y, lines) in &self.entries {
            let middle = top + y + 0.5 * SIZE * LEADING;
            mark::swatch(svg, &series[*i], &looks[*i], (left + x + SWATCH / 2.0, middle), SWATCH);
            for (line, text) in lines.iter().enumerate() {
                let at = (left + x + SWATCH + GAP, middle + 0.36 * SIZE + line as f64 * SIZE * LEADING);
                svg.text(at, Type { size: SIZE, anchor: Anchor::Start, colour: ink.text, class: "name" }, text);
            }
        }
        svg.close("g");
    }
}

/// A series without a point says so, or one would look for it.
fn entry_name(series: &Series) -> String {
    if is_bare(series) { format!("{} (no data)", series.name) } else { series.name.clone() }
}

fn is_bare(series: &Series) -> bool {
    series.points.iter().all(|(x, y)| x.is_nan() || y.is_nan())
}

/// Returns the series of the legend that several panels share, each of a panel that has points of it; [`None`] if their
/// series differ.
pub(super) fn shared(panels: &[Panel]) -> Option<Vec<Series>> {
    let [first, _, ..] = panels else { return None };
    if !panels.iter().all(|panel| same(&first.series, &panel.series)) {
        return None;
    }
    let of = |(i, series): (usize, &Series)| {
        panels.iter().map(|p| &p.series[i]).find(|s| !is_bare(s)).unwrap_or(series).clone()
    };
    Some(first.series.iter().enumerate().map(of).collect())
}

/// True if two lists of series look the same, points or none.
fn same(a: &[Series], b: &[Series]) -> bool {
    let kind = |mark: Mark| if mark == Mark::Steps { Mark::Line } else { mark };
    let alike = |(a, b): (&Series, &Series)| a.name == b.name && kind(a.mark) == kind(b.mark) && a.colour == b.colour;
    a.len() == b.len() && a.iter().zip(b).all(alike)
}
