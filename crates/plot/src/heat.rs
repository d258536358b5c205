//! Heat maps: cells in colour, and the bar that says what the colours mean.

use super::figure::{Axis, Heat, Scale};
use super::font::{self, LEADING, base_line, px};
use super::mark::Axes;
use super::palette::Ink;
use super::room::{LABEL, PAD, TICK, max, widest};
use super::scale::{self, Map};
use super::svg::{Anchor, Svg, Type};
use super::ticks::{self, Ticks};

/// Number of colours: cells of one colour are one path.
const COLOURS: usize = 32;
/// From the axes to the bar, and its width.
const GAP: f64 = 12.0;
const WIDTH: f64 = 10.0;

/// The bar beside a heat map, measured.
#[derive(Clone, Debug)]
pub(super) struct Bar {
    map: Map,
    ticks: Ticks,
    label: Vec<String>,
}

impl Bar {
    /// The bar of a heat map as high as its axes.
    pub fn new(heat: &Heat, height: f64) -> Self {
        let values = heat.values.iter().copied();
        let map = Map { scale: Scale::Log10, ends: scale::ends(&Axis::log(""), values, false), place: (height, 0.0) };
        let ticks = ticks::ticks(map.scale, map.ends, max(map.scale, height, 34.0, 22.0), |_| true);
        Self { map, ticks, label: font::wrap(&heat.label, LABEL, height, 2) }
    }

    /// Width that it takes right of the axes.
    pub fn room(&self) -> f64 {
        let label = self.label.len() as f64 * LABEL * LEADING;
        GAP + WIDTH + PAD + widest(&self.ticks.major) + if self.label.is_empty() { 0.0 } else { PAD + label }
    }

    /// Returns the number of the colour of a value; [`None`] for one without a colour.
    fn colour(&self, value: f64) -> Option<usize> {
        let (foot, head) = self.map.place;
        let part = (self.map.at(value)? - foot) / (head - foot);
        Some(((part * COLOURS as f64) as usize).min(COLOURS - 1))
    }

    /// Draws it right of axes of a size.
    pub fn draw(&self, svg: &mut Svg, (width, height): (f64, f64), ink: &Ink) {
        let (left, step) = (width + GAP, height / COLOURS as f64);
        for colour in 0..COLOURS {
            let top = height - (colour + 1) as f64 * step;
            let corner = [("x", px(left)), ("y", px(top)), ("width", px(WIDTH)), ("height", px(step))];
            let mut attributes: Vec<(&str, &str)> = corner.iter().map(|(name, value)| (*name, &**value)).collect();
            let fill = ink.heat(shade(colour));
            attributes.extend([("class", "heat-bar"), ("fill", &*fill), ("shape-rendering", "crispEdges")]);
            svg.empty("rect", &attributes);
        }
        let mut path = format!("M{} 0h{w}v{}h-{w}Z", px(left), px(height), w = px(WIDTH));
        let right = left + WIDTH;
        for tick in &self.ticks.major {
            let Some(y) = self.map.within(tick.value) else { continue };
            path += &format!("M{} {}h-3", px(right), px(y));
            let how = Type { size: TICK, anchor: Anchor::Start, colour: ink.text, class: "tick" };
            svg.text((right + PAD, y + 0.36 * TICK), how, &tick.label);
        }
        svg.empty("path", &[("d", &path), ("fill", "none"), ("stroke", ink.frame), ("stroke-width", "0.9")]);
        let how = Type { size: LABEL, anchor: Anchor::Middle, colour: ink.text, class: "heat-label" };
        let from = right + PAD + widest(&self.ticks.major) + PAD;
        for (i, line) in self.label.iter().enumerate() {
            svg.upwards((from + i as f64 * LABEL * LEADING + base_line(LABEL), height / 2.0), how, line);
        }
    }
}

/// Returns the place of the middle of a colour in the range, from 0 to 1.
fn shade(colour: usize) -> f64 {
    (colour as f64 + 0.5) / COLOURS as f64
}

/// Draws the cells, a path a colour; returns how many are drawn.
pub(super) fn draw(svg: &mut Svg, heat: &Heat, axes: Axes, bar: &Bar, ink: &Ink) -> usize {
    let columns = heat.x.len().saturating_sub(1);
    let mut paths = vec![String::new(); COLOURS];
    let mut drawn = 0;
    for (row, edges) in heat.values.chunks(columns.max(1)).zip(heat.y.windows(2)) {
        let (Some(low), Some(high)) = (axes.y.at(edges[0]), axes.y.at(edges[1])) else { continue };
        let mut column = 0;
        for group in row.chunk_by(|a, b| bar.colour(*a) == bar.colour(*b)) {
            let (from, to) = (column, column + group.len());
            column = to;
            let Some(colour) = bar.colour(group[0]) else { continue };
            if let (Some(left), Some(right)) = (axes.x.at(heat.x[from]), axes.x.at(heat.x[to])) {
                drawn += group.len();
                paths[colour] += &format!("M{} {}H{}V{}H{}Z", px(left), px(low), px(right), px(high), px(left));
            }
        }
    }
    for (colour, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
        let fill = ink.heat(shade(colour));
        svg.empty("path", &[("class", "heat"), ("d", path), ("fill", &fill), ("shape-rendering", "crispEdges")]);
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::super::{Figure, Panel, Theme};
    use super::*;

    /// Cells of 1, 10 and 100 in a row, and one empty one.
    fn panel(equal: bool) -> Panel {
        let x = (0..=4).map(f64::from).collect();
        let heat = Heat { label: "mass [Msun]".into(), x, y: vec![0.0, 1.0], values: vec![1.0, 10.0, 0.0, 100.0] };
        Panel { heat: Some(heat), equal, ..Panel::new("", Axis::linear("x"), Axis::linear("y")) }
    }

    fn svg(panel: Panel) -> String {
        Figure { panels: vec![panel], columns: 1, ..Figure::default() }.svg(Theme::Light)
    }

    #[test]
    fn cells_have_the_colours_that_the_bar_tells() {
        let drawn = svg(panel(false));
        assert_eq!(drawn.matches("class=\"heat\"").count(), 3, "{drawn}");
        assert_eq!(drawn.matches("class=\"heat-bar\"").count(), COLOURS);
        let ink = Theme::Light.ink();
        let lines: Vec<&str> = drawn.lines().filter(|line| line.contains("class=\"heat\"")).collect();
        for (line, shade) in lines.iter().zip([shade(1), shade(16), shade(30)]) {
            assert!(line.contains(&ink.heat(shade)), "{line}: {}", ink.heat(shade));
        }
        assert!([">mass [Msun]<", ">1<", ">10<", ">100<"].iter().all(|text| drawn.contains(text)), "{drawn}");
        assert!(!drawn.contains("no data"));
        let bare = Panel { heat: Some(Heat::default()), ..Panel::default() };
        assert!(svg(bare).contains("no data"));
    }

    #[test]
    fn lengths_are_alike_on_equal_axes() {
        let drawn = svg(panel(true));
        // Four cells side by side, one high: as wide as they are high.
        let line = drawn.lines().find(|line| line.contains("class=\"heat\"")).unwrap();
        let numbers: Vec<f64> = line
            .split(|c: char| !(c.is_ascii_digit() || c == '.'))
            .filter_map(|word| word.parse().ok())
            .take(4)
            .collect();
        let [left, low, right, high] = numbers[..] else { panic!("{line}") };
        assert!((right - left - (low - high)).abs() < 0.05, "{line}");
    }
}
