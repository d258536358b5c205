//! Drawing figures: the grid of panels, and each panel's frame, ticks, series and texts.

use super::figure::{Figure, Label, Panel, Series, Side, Theme};
use super::font::{self, LEADING, base_line, px};
use super::heat;
use super::layout::{BLOCK, Measured};
use super::legend;
use super::mark::{self, Axes};
use super::palette::{HATCHES, Ink, looks};
use super::room::{LABEL, NOTE, PAD, TICK, TITLE};
use super::svg::{Anchor, Letters, Svg, Type};
use super::ticks::Ticks;

/// Around everything.
const MARGIN: f64 = 14.0;
/// Size of the heading.
const HEADING: f64 = 15.0;
/// Between rows of panels, and between columns.
const BETWEEN: f64 = 18.0;
/// The axes of a panel that is alone in its row, and of one that is not.
const WIDE: (f64, f64) = (440.0, 290.0);
const NARROW: (f64, f64) = (330.0, 225.0);
/// The axes of panels in which lengths are alike on both.
const SQUARE: (f64, f64) = (280.0, 280.0);

/// Layout of the panels of a figure.
struct Grid {
    /// Upper left corner of each panel's axes.
    corners: Vec<(f64, f64)>,
    width: f64,
    heading: Vec<String>,
    caption: Vec<String>,
    /// Top of the legend of all panels.
    legend_top: f64,
    height: f64,
}

/// The whole picture.
pub(super) fn figure(figure: &Figure, theme: Theme, letters: Letters, ids: &str) -> String {
    let ink = theme.ink();
    let columns = figure.columns.clamp(1, figure.panels.len().max(1));
    let (width, height) = match columns {
        _ if figure.panels.iter().any(|panel| panel.equal) => SQUARE,
        1 => WIDE,
        _ => NARROW,
    };
    let panels: Vec<Measured> = figure.panels.iter().map(|panel| Measured::new(panel, width, height)).collect();
    let shared = legend::shared(&figure.panels);
    let grid = grid(figure, &panels, columns, shared.as_deref());
    let mut svg = Svg::new(grid.width, grid.height, letters, ids);
    svg.content("title", &[], &figure.title);
    if !figure.caption.is_empty() {
        svg.content("desc", &[], &figure.caption);
    }
    svg.empty("rect", &[("width", "100%"), ("height", "100%"), ("fill", ink.ground)]);
    definitions(&mut svg, figure, (width, height), &ink);
    let heading = Type { size: HEADING, anchor: Anchor::Start, colour: ink.text, class: "heading" };
    lines(&mut svg, (MARGIN, MARGIN), heading, &grid.heading);
    for (i, ((panel, measured), corner)) in figure.panels.iter().zip(&panels).zip(&grid.corners).enumerate() {
        let at = format!("translate({} {})", px(corner.0), px(corner.1));
        svg.open("g", &[("id", &format!("panel-{i}")), ("transform", &at)]);
        draw_panel(&mut svg, panel, measured, &ink, i, shared.is_none());
        svg.close("g");
    }
    let small = Type { size: NOTE, anchor: Anchor::Start, colour: ink.muted, class: "caption" };
    let mut foot = grid.legend_top;
    if let Some(series) = &shared {
        let legend = legend::Legend::new(series, grid.width - 2.0 * MARGIN);
        legend.draw(&mut svg, "legend", series, (MARGIN, foot), &ink);
        foot += legend.height + BLOCK;
    }
    lines(&mut svg, (MARGIN, foot), small, &grid.caption);
    svg.finish()
}

/// Lays out the panels; `shared` are the series of the legend of all panels, if they have one.
fn grid(figure: &Figure, panels: &[Measured], columns: usize, shared: Option<&[Series]>) -> Grid {
    let of_column = |side: fn(&Measured) -> f64| {
        let widest = |column| panels.iter().skip(column).step_by(columns).map(side).fold(0.0, f64::max);
        (0..columns).map(widest).collect::<Vec<f64>>()
    };
    let (left, right) = (of_column(Measured::left), of_column(Measured::right));
    let axes_width = panels.first().map_or(WIDE.0, |panel| panel.width);
    let gaps = (columns - 1) as f64 * BETWEEN;
    let width = 2.0 * MARGIN + left.iter().chain(&right).sum::<f64>() + columns as f64 * axes_width + gaps;
    let heading = font::wrap(&figure.title, HEADING, width - 2.0 * MARGIN, 3);
    let mut top = MARGIN + heading.len() as f64 * HEADING * LEADING + if heading.is_empty() { 0.0 } else { 6.0 };
    let mut corners = Vec::new();
    for row in panels.chunks(columns) {
        let above = row.iter().map(Measured::above).fold(0.0, f64::max);
        let under = row.iter().map(|panel| panel.height + panel.below(shared.is_none())).fold(0.0, f64::max);
        let mut x = MARGIN;
        for (column, _) in row.iter().enumerate() {
            corners.push((x + left[column], top + above));
            x += left[column] + axes_width + right[column] + BETWEEN;
        }
        top += above + under + BETWEEN;
    }
    let caption = font::wrap(&figure.caption, NOTE, width - 2.0 * MARGIN, 6);
    let legend_top = top - BETWEEN + BLOCK;
    let mut height = legend_top + caption.len() as f64 * NOTE * LEADING + MARGIN;
    if let Some(series) = shared {
        height += legend::Legend::new(series, width - 2.0 * MARGIN).height + BLOCK;
    }
    Grid { corners, width: width.ceil(), heading, caption, legend_top, height: height.ceil() }
}

/// Definitions that elements refer to: the clip of the axes and the hatchings.
fn definitions(svg: &mut Svg, figure: &Figure, (width, height): (f64, f64), ink: &Ink) {
    svg.open("defs", &[]);
    svg.open("clipPath", &[("id", "axes")]);
    svg.empty("rect", &[("width", &px(width)), ("height", &px(height))]);
    svg.close("clipPath");
    if figure.panels.iter().any(|panel| mark::has_bars(&panel.series)) {
        for (id, angle, step) in HATCHES {
            let (step, turn) = (px(step), format!("rotate({})", px(angle)));
            let size = [("width", &*step), ("height", &*step), ("patternTransform", &*turn)];
            svg.open("pattern", &[&[("id", id), ("patternUnits", "userSpaceOnUse")], &size[..]].concat());
            svg.empty("rect", &[("width", &step), ("height", "1.3"), ("fill", ink.ground)]);
            svg.close("pattern");
        }
    }
    svg.close("defs");
}

/// Lines of text from a top edge down.
fn lines(svg: &mut Svg, (x, top): (f64, f64), how: Type<'_>, text: &[String]) {
    for (i, line) in text.iter().enumerate() {
        svg.text((x, top + base_line(how.size) + i as f64 * how.size * LEADING), how, line);
    }
}

fn draw_panel(svg: &mut Svg, panel: &Panel, measured: &Measured, ink: &Ink, number: usize, with_legend: bool) {
    let (width, height) = (measured.width, measured.height);
    let how = Type { size: TITLE, anchor: Anchor::Start, colour: ink.text, class: "title" };
    lines(svg, (0.0, -measured.above()), how, &measured.title);
    grid_lines(svg, measured, ink);
    let empty = series(svg, panel, measured, ink);
    svg.empty(
        "rect",
        &[
            ("id", &*format!("axes-{number}")),
            ("class", "axes"),
            ("width", &px(width)),
            ("height", &px(height)),
            ("fill", "none"),
            ("stroke", ink.frame),
            ("stroke-width", "1"),
        ],
    );
    tick_marks(svg, measured, ink);
    axis_labels(svg, measured, ink);
    place_labels(svg, panel, measured, ink);
    if let Some(bar) = &measured.bar {
        bar.draw(svg, (width, height), ink);
    }
    if empty {
        let how = Type { size: LABEL, anchor: Anchor::Middle, colour: ink.muted, class: "empty" };
        svg.text((width / 2.0, height / 2.0), how, "no data");
    }
    if with_legend {
        let top = height + measured.legend_top() + BLOCK;
        measured.legend.draw(svg, &format!("legend-{number}"), &panel.series, (0.0, top), ink);
    }
    let small = Type { size: NOTE, anchor: Anchor::Start, colour: ink.muted, class: "note" };
    lines(svg, (0.0, height + measured.notes_top(with_legend) + BLOCK / 2.0), small, &measured.notes);
}

/// Draws the series; true if there was nothing to draw.
fn series(svg: &mut Svg, panel: &Panel, measured: &Measured, ink: &Ink) -> bool {
    let axes = measured.axes;
    let slots = mark::slots(&panel.series, axes.x);
    let looks = looks(&panel.series, ink);
    svg.open("g", &[("class", "data"), ("clip-path", "url(#axes)")]);
    let heat = panel.heat.as_ref().zip(measured.bar.as_ref());
    let cells = heat.map_or(0, |(heat, bar)| heat::draw(svg, heat, axes, bar, ink));
    mark::draw_bands(svg, &panel.series, &looks, axes);
    for ((series, look), slot) in panel.series.iter().zip(&looks).zip(&slots) {
        mark::draw_clipped(svg, series, look, axes, *slot);
    }
    svg.close("g");
    for ((series, look), slot) in panel.series.iter().zip(&looks).zip(&slots) {
        mark::draw_free(svg, series, look, axes, *slot);
    }
    let shown = |&(x, y): &(f64, f64)| axes.x.at(x).is_some() && axes.y.at(y).is_some();
    cells == 0 && !panel.series.iter().any(|series| series.points.iter().any(shown))
}

/// Places of ticks on an axis in px.
fn places<'a>(axes: &'a Axes, ticks: &'a Ticks, horizontal: bool) -> impl Iterator<Item = (f64, bool)> + 'a {
    let map = if horizontal { axes.x } else { axes.y };
    let major = ticks.major.iter().map(|tick| (tick.value, true));
    let all = major.chain(ticks.minor.iter().map(|value| (*value, false)));
    all.filter_map(move |(value, major)| Some((map.within(value)?, major)))
}

fn grid_lines(svg: &mut Svg, measured: &Measured, ink: &Ink) {
    let mut path = String::new();
    for (x, _) in places(&measured.axes, &measured.x_ticks, true).filter(|(_, major)| *major) {
        path += &format!("M{} 0V{}", px(x), px(measured.height));
    }
    for (y, _) in places(&measured.axes, &measured.y_ticks, false).filter(|(_, major)| *major) {
        path += &format!("M0 {}H{}", px(y), px(measured.width));
    }
    stroke(svg, "grid", &path, ink.grid, "0.8");
}

fn stroke(svg: &mut Svg, class: &str, path: &str, colour: &str, width: &str) {
    if !path.is_empty() {
        svg.empty(
            "path",
            &[("class", class), ("d", path), ("stroke", colour), ("stroke-width", width), ("fill", "none")],
        );
    }
}

/// Ticks on all four sides, inwards.
fn tick_marks(svg: &mut Svg, measured: &Measured, ink: &Ink) {
    let (width, height) = (measured.width, measured.height);
    let mut path = String::new();
    for (x, major) in places(&measured.axes, &measured.x_ticks, true) {
        let length = if major { 5.0 } else { 2.5 };
        path += &format!("M{x} {}V{}M{x} 0V{length}", px(height), px(height - length), x = px(x));
    }
    for (y, major) in places(&measured.axes, &measured.y_ticks, false) {
        let length = if major { 5.0 } else { 2.5 };
        path += &format!("M0 {y}H{length}M{} {y}H{}", px(width), px(width - length), y = px(y));
    }
    stroke(svg, "ticks", &path, ink.frame, "0.9");
}

/// The names of places. One that would cover another moves down.
fn place_labels(svg: &mut Svg, panel: &Panel, measured: &Measured, ink: &Ink) {
    let height = NOTE * LEADING;
    let at = |label: &Label| Some((measured.axes.x.within(label.at.0)?, measured.axes.y.within(label.at.1)?));
    let mut found: Vec<_> = panel.labels.iter().filter_map(|label| Some((at(label)?, label))).collect();
    found.sort_by(|a, b| a.0.1.total_cmp(&b.0.1));
    // Left and top edge and width of those that are drawn.
    let mut placed: Vec<[f64; 3]> = Vec::new();
    for ((x, y), label) in found {
        let width = font::width(&label.text, NOTE);
        let (left, top) = match label.side {
            Side::Left if width + 2.0 * PAD < x => (x - PAD - width, y - 0.5 * height),
            Side::Left => (x + PAD, y - 0.5 * height),
            Side::Below => (x - 0.5 * width, y + 0.5 * PAD),
        };
        let beside =
            placed.iter().filter(|[other, _, other_width]| *other < left + width && left < other + other_width);
        let top =
            beside.fold(top, |top, [_, other, _]| if top + height > *other { top.max(other + height) } else { top });
        placed.push([left, top, width]);
        // A line behind it must not cross it out.
        let ground = [("fill", ink.ground), ("fill-opacity", "0.8")];
        let (corner, size) = ([px(left), px(top)], [px(width), px(height)]);
        let place = [("x", &*corner[0]), ("y", &*corner[1]), ("width", &*size[0]), ("height", &*size[1])];
        svg.empty("rect", &[&ground[..], &place[..]].concat());
        let how = Type { size: NOTE, anchor: Anchor::Start, colour: ink.text, class: "label" };
        lines(svg, (left, top), how, std::slice::from_ref(&label.text));
    }
}

/// The labels of the ticks and of the axes.
fn axis_labels(svg: &mut Svg, measured: &Measured, ink: &Ink) {
    let (width, height) = (measured.width, measured.height);
    let tick = |anchor| Type { size: TICK, anchor, colour: ink.text, class: "tick" };
    for label in &measured.x_ticks.major {
        if let Some(x) = measured.axes.x.within(label.value) {
            let text: Vec<String> = label.label.lines().map(str::to_owned).collect();
            lines(svg, (x, height + PAD), tick(Anchor::Middle), &text);
        }
    }
    for label in &measured.y_ticks.major {
        if let Some(y) = measured.axes.y.within(label.value) {
            let text: Vec<String> = label.label.lines().map(str::to_owned).collect();
            let top = y - 0.5 * text.len() as f64 * TICK * LEADING;
            lines(svg, (-PAD, top), tick(Anchor::End), &text);
        }
    }
    let name = |class| Type { size: LABEL, anchor: Anchor::Middle, colour: ink.text, class };
    lines(svg, (width / 2.0, height + measured.x_labels_foot() + PAD / 2.0), name("x-label"), &measured.x_label);
    for (i, line) in measured.y_label.iter().enumerate() {
        let from_axes = measured.left() - i as f64 * LABEL * LEADING - base_line(LABEL);
        svg.upwards((-from_axes, height / 2.0), name("y-label"), line);
    }
}
