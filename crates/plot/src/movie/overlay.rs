//! Text on a frame: time, a scale bar, the meaning of the colours.

use super::map::OrbitMap;
use super::scale_bar::bar;
use super::shades::{REMNANTS, Shades};
use crate::font::px;
use crate::palette::Ink;
use crate::svg::{Anchor, Letters, Svg, Type};

/// Number of steps of the colour bar.
const STEPS: usize = 40;
/// The scale bar is no longer than this part of the width.
const LONGEST: f64 = 0.2;

/// Text and lengths of the overlay, in pixels.
pub(super) struct Words<'a> {
    pub size: (usize, usize),
    /// The moment.
    pub time: String,
    /// Pixels of a unit of length, and what the unit is called.
    pub scale: (f64, &'a str),
    /// Meaning of the colours.
    pub colours: &'a str,
    /// Remnants that have colours of their own, by their places in the list of classes.
    pub remnants: &'a [usize],
    /// Map of the orbit, if the cluster is on one.
    pub map: Option<OrbitMap<'a>>,
}

/// The words as SVG without a ground.
pub(super) fn svg(words: &Words<'_>, shades: &Shades, ink: &Ink) -> String {
    let (width, height) = (words.size.0 as f64, words.size.1 as f64);
    let unit = height / 720.0;
    let mut svg = Svg::new(width, height, Letters::Outlines, "");
    let (margin, size) = (28.0 * unit, 20.0 * unit);
    let how = |anchor| Type { size, anchor, colour: ink.text, class: "words" };
    svg.text((margin, margin + 0.8 * size), how(Anchor::Start), &words.time);
    let foot = height - margin;
    let (round, long) = bar(words.scale.0, LONGEST * width);
    let stroke = px(2.0 * unit);
    let ends = 5.0 * unit;
    let path = format!(
        "M{l} {t}V{b}M{l} {m}H{r}M{r} {t}V{b}",
        l = px(margin),
        r = px(margin + long),
        t = px(foot - ends),
        m = px(foot),
        b = px(foot + ends)
    );
    svg.empty("path", &[("d", &path), ("stroke", ink.text), ("stroke-width", &stroke), ("fill", "none")]);
    let label = format!("{round} {}", words.scale.1);
    svg.text((margin, foot - ends - 0.5 * size), how(Anchor::Start), label.trim_end());
    let (left, step) = (width - margin - 200.0 * unit, 200.0 * unit / STEPS as f64);
    for k in 0..STEPS {
        let [r, g, b] = shades.at((k as f64 + 0.5) / STEPS as f64).map(|c| c.round() as u8);
        let fill = format!("#{r:02X}{g:02X}{b:02X}");
        let corner = [px(left + k as f64 * step), px(foot - 4.0 * unit), px(step + 1.0), px(8.0 * unit)];
        let [x, y, w, h] = &corner;
        svg.empty(
            "rect",
            &[("x", x), ("y", y), ("width", w), ("height", h), ("fill", &fill), ("shape-rendering", "crispEdges")],
        );
    }
    svg.text((width - margin, foot - ends - 0.5 * size), how(Anchor::End), words.colours);
    for (line, &class) in words.remnants.iter().rev().enumerate() {
        let y = foot - ends - (1.9 + 1.3 * line as f64) * size;
        let [r, g, b] = shades.of_remnant(class).map(|c| c.round() as u8);
        let fill = format!("#{r:02X}{g:02X}{b:02X}");
        let dot = [px(width - margin - 0.3 * size), px(y - 0.35 * size), px(0.25 * size)];
        svg.empty("circle", &[("cx", &dot[0]), ("cy", &dot[1]), ("r", &dot[2]), ("fill", &fill)]);
        svg.text((width - margin - size, y), how(Anchor::End), REMNANTS[class].plural());
    }
    if let Some(map) = &words.map {
        map.draw(&mut svg, (width, height), ink);
    }
    svg.finish()
}
