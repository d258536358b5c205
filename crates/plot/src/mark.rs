//! Drawing series: lines, bands, markers, error bars, bars.

use super::figure::{Mark, Series};
use super::font::px;
use super::palette::{Look, Shape};
use super::scale::Map;
use super::svg::Svg;

/// Half the size of a marker in px.
pub(super) const MARKER: f64 = 3.6;
/// Radius of a dot in px.
const DOT: f64 = 1.5;
const LINE: f64 = 1.7;
const THIN: f64 = 1.1;
/// Half the width of the end of an error bar.
const CAP: f64 = 2.5;
/// Width in px of the bins of a line, in each of which it keeps at most its ends and extremes: more cannot be seen.
const BIN: f64 = 0.25;

/// Largest number of overlapping bands that are drawn at full opacity; more are drawn lighter.
const MAX_DENSE: usize = 3;

/// The axes of a panel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axes {
    pub x: Map,
    pub y: Map,
}

/// Place of the bars of a series: offset of their middle from their x, and their width, in px.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Slot {
    pub offset: f64,
    pub width: f64,
}

/// Draws the bands of all series, which lie below all lines. Where there are many they are lighter.
pub(super) fn draw_bands(svg: &mut Svg, all: &[Series], looks: &[Look], axes: Axes) {
    let bands = || all.iter().zip(looks).filter(|(series, _)| has_band(series));
    let opacity = if bands().count() > MAX_DENSE { "0.12" } else { "0.22" };
    bands().for_each(|(series, look)| band(svg, series, look, axes, opacity));
}

/// Elements clipped by the axes: lines, bars and dots.
pub(super) fn draw_clipped(svg: &mut Svg, series: &Series, look: &Look, axes: Axes, slot: Slot) {
    match series.mark {
        Mark::Bars => bars(svg, series, look, axes, slot),
        Mark::Points => {}
        Mark::Dots => dots(svg, series, look, axes),
        Mark::Line | Mark::LineAndPoints | Mark::Phase | Mark::Dashed | Mark::Steps => lines(svg, series, look, axes),
    }
}

/// Elements that may cross the edge: markers and error bars of points within the axes.
pub(super) fn draw_free(svg: &mut Svg, series: &Series, look: &Look, axes: Axes, slot: Slot) {
    if let Some(spread) = series.spread.as_ref().filter(|_| !has_band(series)) {
        // On a bar of its own colour half of it would be lost.
        let colour = if series.mark == Mark::Bars { look.text } else { look.colour };
        for (&(x, _), &(low, high)) in series.points.iter().zip(spread) {
            error_bar(svg, axes, x, slot.offset, (low, high), colour);
        }
    }
    let count = match series.mark {
        Mark::Points | Mark::LineAndPoints => usize::MAX,
        Mark::Phase => 1,
        Mark::Line | Mark::Dots | Mark::Dashed | Mark::Steps | Mark::Bars => 0,
    };
    let places = series.points.iter().filter_map(|&(x, y)| Some((axes.x.within(x)?, axes.y.within(y)?)));
    places.take(count).for_each(|place| marker(svg, place, look));
}

/// True if some series is drawn as bars.
pub(super) fn has_bars(all: &[Series]) -> bool {
    all.iter().any(|series| series.mark == Mark::Bars)
}

/// True if a spread is drawn as a band.
fn has_band(series: &Series) -> bool {
    series.spread.is_some() && !matches!(series.mark, Mark::Points | Mark::Dots | Mark::Bars)
}

/// The runs of points between those that cannot be shown, in px. A gap narrower than a bin cannot be seen, and is
/// none.
fn runs(points: impl Iterator<Item = (f64, f64)>, axes: Axes) -> Vec<Vec<(f64, f64)>> {
    let mut runs: Vec<Vec<(f64, f64)>> = vec![Vec::new()];
    let mut gap = false;
    for (x, y) in points {
        match (axes.x.at(x), axes.y.at(y), runs.last_mut()) {
            (Some(x), Some(y), Some(run)) => {
                let far = run.last().is_some_and(|(before, _)| (x - before).abs() >= BIN);
                if gap && far {
                    runs.push(vec![(x, y)]);
                } else {
                    run.push((x, y));
                }
                gap = false;
            }
            _ => gap = true,
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

/// All dots of a series, as one path.
fn dots(svg: &mut Svg, series: &Series, look: &Look, axes: Axes) {
    let places = series.points.iter().filter_map(|&(x, y)| Some((axes.x.within(x)?, axes.y.within(y)?)));
    let path: String = places.map(|place| disc(place, DOT)).collect();
    if !path.is_empty() {
        svg.empty("path", &[("class", "dots"), ("d", &path), ("fill", look.colour)]);
    }
}

/// The outline of a disc.
fn disc((x, y): (f64, f64), r: f64) -> String {
    let d = px(2.0 * r);
    format!("M{} {}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0Z", px(x - r), px(y))
}

fn lines(svg: &mut Svg, series: &Series, look: &Look, axes: Axes) {
    let width = px(if series.mark == Mark::Dashed { THIN } else { LINE });
    let mut path = String::new();
    for run in runs(series.points.iter().copied(), axes) {
        match run.as_slice() {
            // A point between gaps has no line to be seen by.
            &[(x, y)] if !matches!(series.mark, Mark::LineAndPoints | Mark::Phase) => {
                svg.empty("circle", &[("cx", &px(x)), ("cy", &px(y)), ("r", &width), ("fill", look.colour)]);
            }
            run => {
                let run = if series.mark == Mark::Steps { stairs(run) } else { thinned(run) };
                path += &polyline(&run);
            }
        }
    }
    if path.is_empty() {
        return;
    }
    let mut attributes = vec![
        ("class", "line"),
        ("d", &*path),
        ("fill", "none"),
        ("stroke", look.colour),
        ("stroke-width", &*width),
        ("stroke-linejoin", "round"),
    ];
    let dash = look.dash(series.mark);
    if !dash.is_empty() {
        attributes.push(("stroke-dasharray", dash));
    }
    svg.empty("path", &attributes);
}

fn polyline(run: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (i, (x, y)) in run.iter().enumerate() {
        path.push(if i == 0 { 'M' } else { 'L' });
        path += &format!("{} {}", px(*x), px(*y));
    }
    path
}

/// Each value holds until the next.
fn stairs(run: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut stairs = Vec::new();
    for pair in run.windows(2) {
        stairs.extend([pair[0], (pair[1].0, pair[0].1)]);
    }
    stairs.extend(run.last());
    stairs
}

/// The first, lowest, highest and last point of every bin, in order.
fn thinned(run: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut kept = Vec::new();
    let bin = |x: f64| (x / BIN).floor();
    for group in run.chunk_by(|a, b| bin(a.0) == bin(b.0)) {
        let by_y = |a: &usize, b: &usize| group[*a].1.total_cmp(&group[*b].1);
        let extremes = ((0..group.len()).min_by(by_y), (0..group.len()).max_by(by_y));
        let mut of = vec![0, extremes.0.unwrap_or(0), extremes.1.unwrap_or(0), group.len() - 1];
        of.sort_unstable();
        of.dedup();
        kept.extend(of.into_iter().map(|i| group[i]));
    }
    kept
}

/// A surface from the lowest values there and the highest ones back.
fn band(svg: &mut Svg, series: &Series, look: &Look, axes: Axes, opacity: &str) {
    let spread = series.spread.as_deref().unwrap_or_default();
    let foot = axes.y.ends.0.min(axes.y.ends.1);
    let mut edges: Vec<Vec<(f64, f64, f64)>> = vec![Vec::new()];
    for (&(x, _), &(low, high)) in series.points.iter().zip(spread) {
        // On a logarithmic axis a band that reaches zero reaches down to the foot.
        let low = axes.y.at(low).or_else(|| low.is_finite().then(|| axes.y.at(foot)).flatten());
        match (axes.x.at(x), low, axes.y.at(high), edges.last_mut()) {
            (Some(x), Some(low), Some(high), Some(edge)) => edge.push((x, low, high)),
            _ => edges.push(Vec::new()),
        }
    }
    let mut path = String::new();
    for edge in edges.iter().filter(|edge| edge.len() > 1) {
        let (mut there, mut back): (Vec<_>, Vec<_>) = edge.iter().map(|&(x, l, h)| ((x, l), (x, h))).unzip();
        if series.mark == Mark::Steps {
            (there, back) = (stairs(&there), stairs(&back));
        }
        back.reverse();
        there.extend(back);
        path += &(polyline(&there) + "Z");
    }
    if !path.is_empty() {
        svg.empty("path", &[("class", "band"), ("d", &path), ("fill", look.colour), ("fill-opacity", opacity)]);
    }
}

fn error_bar(svg: &mut Svg, axes: Axes, x: f64, offset: f64, (low, high): (f64, f64), colour: &str) {
    let Some(x) = axes.x.within(x).map(|x| x + offset) else { return };
    let (bottom, top) = (axes.y.ends.0.min(axes.y.ends.1), axes.y.ends.0.max(axes.y.ends.1));
    // Not a number, or all of it outside.
    if !(low <= high && high >= bottom && low <= top) {
        return;
    }
    let (Some(from), Some(to)) = (axes.y.at(low.max(bottom)), axes.y.at(high.min(top))) else { return };
    let mut path = format!("M{x} {}L{x} {}", px(from), px(to), x = px(x));
    // An end that is cut off has no cap.
    for (_, y) in [(low, from), (high, to)].into_iter().filter(|(value, _)| axes.y.within(*value).is_some()) {
        path += &format!("M{} {y}L{} {y}", px(x - CAP), px(x + CAP), y = px(y));
    }
    let width = px(THIN);
    svg.empty(
        "path",
        &[("class", "error"), ("d", &path), ("fill", "none"), ("stroke", colour), ("stroke-width", &width)],
    );
}

fn bars(svg: &mut Svg, series: &Series, look: &Look, axes: Axes, slot: Slot) {
    let foot = axes.y.foot();
    for &(x, y) in &series.points {
        let (Some(x), Some(y)) = (axes.x.within(x), axes.y.at(y)) else { continue };
        bar(svg, (x + slot.offset - slot.width / 2.0, y.min(foot)), (slot.width, (y - foot).abs()), look);
    }
}

/// A bar in colour with the hatching of its look over it.
pub(super) fn bar(svg: &mut Svg, (x, y): (f64, f64), (width, height): (f64, f64), look: &Look) {
    let (x, y, w, h) = (px(x), px(y), px(width), px(height));
    let corner = [("class", "bar"), ("x", &*x), ("y", &*y), ("width", &*w), ("height", &*h)];
    let mut attributes = corner.to_vec();
    attributes.extend([("fill", look.colour), ("stroke", look.ground), ("stroke-width", "0.5")]);
    svg.empty("rect", &attributes);
    if let Some(hatch) = look.hatch() {
        let fill = format!("url(#{hatch})");
        svg.empty("rect", &[("x", &x), ("y", &y), ("width", &w), ("height", &h), ("fill", &fill)]);
    }
}

/// A marker around a point. Its ground-coloured rim keeps overlapping ones apart.
pub(super) fn marker(svg: &mut Svg, (x, y): (f64, f64), look: &Look) {
    let r = MARKER;
    let polygon = |corners: &[(f64, f64)]| {
        polyline(&corners.iter().map(|(u, v)| (x + u * r, y + v * r)).collect::<Vec<_>>()) + "Z"
    };
    let path = match look.shape {
        Shape::Disc => disc((x, y), r),
        Shape::Square => polygon(&[(-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88)]),
        Shape::Triangle => polygon(&[(0.0, -1.15), (1.1, 0.85), (-1.1, 0.85)]),
        Shape::Diamond => polygon(&[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)]),
        Shape::Wedge => polygon(&[(0.0, 1.15), (1.1, -0.85), (-1.1, -0.85)]),
        Shape::Plus => {
            let (a, b) = (0.36, 1.15);
            polygon(&[
                (-a, -b),
                (a, -b),
                (a, -a),
                (b, -a),
                (b, a),
                (a, a),
                (a, b),
                (-a, b),
                (-a, a),
                (-b, a),
                (-b, -a),
                (-a, -a),
            ])
        }
        Shape::Cross => {
            let (a, b) = (0.51, 1.07);
            let (n, f) = (b - a, a);
            polygon(&[
                (0.0, -f),
                (n, -b),
                (b, -n),
                (f, 0.0),
                (b, n),
                (n, b),
                (0.0, f),
                (-n, b),
                (-b, n),
                (-f, 0.0),
                (-b, -n),
                (-n, -b),
            ])
        }
    };
    svg.empty(
        "path",
        &[("class", "marker"), ("d", &path), ("fill", look.colour), ("stroke", look.ground), ("stroke-width", "0.6")],
    );
}

/// Symbol of a series in the legend, around a point.
pub(super) fn swatch(svg: &mut Svg, series: &Series, look: &Look, (x, y): (f64, f64), width: f64) {
    let half = width / 2.0;
    match series.mark {
        Mark::Bars => bar(svg, (x - 6.0, y - 4.5), (12.0, 9.0), look),
        Mark::Points => marker(svg, (x, y), look),
        Mark::Dots => {
            let path: String = [(-half / 2.0, 1.0), (0.0, -2.0), (half / 2.0, 1.5)]
                .map(|(across, up)| disc((x + across, y - up), DOT))
                .concat();
            svg.empty("path", &[("class", "dots"), ("d", &path), ("fill", look.colour)]);
        }
        Mark::Line | Mark::LineAndPoints | Mark::Phase | Mark::Dashed | Mark::Steps => {
            let path = polyline(&[(x - half, y), (x + half, y)]);
            let thickness = px(if series.mark == Mark::Dashed { THIN } else { LINE });
            let mut attributes =
                vec![("d", &*path), ("fill", "none"), ("stroke", look.colour), ("stroke-width", &*thickness)];
            let dash = look.dash(series.mark);
            if !dash.is_empty() {
                attributes.push(("stroke-dasharray", dash));
            }
            svg.empty("path", &attributes);
            match series.mark {
                Mark::LineAndPoints => marker(svg, (x, y), look),
                Mark::Phase => marker(svg, (x - half, y), look),
                _ => {}
            }
        }
    }
}

/// The slots of the series of bars in a panel, side by side where several share an x.
pub(super) fn slots(all: &[Series], x: Map) -> Vec<Slot> {
    let bars = all.iter().filter(|series| series.mark == Mark::Bars).count();
    if bars == 0 {
        return vec![Slot::default(); all.len()];
    }
    let of_bars = all.iter().filter(|series| series.mark == Mark::Bars);
    let mut places: Vec<f64> = of_bars.flat_map(|series| series.points.iter().filter_map(|p| x.within(p.0))).collect();
    places.sort_by(f64::total_cmp);
    let extent = (x.place.1 - x.place.0).abs();
    let gaps = places.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 1e-6);
    let group = 0.8 * gaps.fold(extent / 3.0, f64::min);
    let width = group / bars as f64;
    let mut placed = 0;
    let mut slot = |series: &Series| {
        if series.mark != Mark::Bars {
            return Slot::default();
        }
        placed += 1;
        Slot { offset: (placed as f64 - 0.5) * width - group / 2.0, width }
    };
    all.iter().map(&mut slot).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_keeps_its_extremes() {
        let run: Vec<(f64, f64)> = (0..100_000).map(|i| (f64::from(i) * 1e-3, f64::from(i * 7919 % 1000))).collect();
        let kept = thinned(&run);
        assert!(kept.len() <= 4 * 401, "{}", kept.len());
        let top = |run: &[(f64, f64)]| run.iter().map(|p| p.1).fold(0.0, f64::max);
        assert_eq!((kept[0], kept.last(), top(&kept)), (run[0], run.last(), top(&run)));
        assert!(kept.is_sorted_by(|a, b| a.0 <= b.0));
        assert_eq!(thinned(&run[..1]), run[..1]);
    }

    #[test]
    fn gaps_too_narrow_to_be_seen_do_not_cut_a_line_into_points() {
        let map = |scale, to| Map { scale, ends: (1.0, 1e5), place: (0.0, to) };
        let axes = Axes { x: map(super::super::Scale::Linear, 400.0), y: map(super::super::Scale::Log10, 300.0) };
        // Every other value is zero; and a whole range of them in the middle.
        let zero = |i: u32| i.is_multiple_of(2) || (40_000..60_000).contains(&i);
        let points = (1..100_000).map(|i| (f64::from(i), if zero(i) { 0.0 } else { 10.0 }));
        let found = runs(points, axes);
        assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [20_000, 20_000]);
    }

    #[test]
    fn bars_of_several_series_stand_side_by_side() {
        let x = Map { scale: super::super::Scale::Linear, ends: (0.0, 4.0), place: (0.0, 400.0) };
        let bars = |at: &[f64]| Series::new("", Mark::Bars, at.iter().map(|x| (*x, 1.0)).collect());
        let all = [bars(&[1.0, 2.0, 3.0]), Series::default(), bars(&[1.0, 2.0])];
        let slots = slots(&all, x);
        assert_eq!(slots[1], Slot::default());
        assert!((slots[0].width - 40.0).abs() < 1e-9 && slots[0].width == slots[2].width);
        assert!((slots[0].offset + 20.0).abs() < 1e-9 && (slots[2].offset - 20.0).abs() < 1e-9);
    }

    #[test]
    fn stairs_hold_until_the_next() {
        assert_eq!(stairs(&[(0.0, 1.0), (2.0, 3.0)]), [(0.0, 1.0), (2.0, 1.0), (2.0, 3.0)]);
    }
}
