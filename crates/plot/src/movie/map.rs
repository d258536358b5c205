//! Small map of the orbit of a cluster in a galaxy, in a corner of a frame.

use super::scale_bar::bar;
use crate::font::px;
use crate::palette::Ink;
use crate::svg::{Anchor, Svg, Type};

/// Side of the map as a part of the height of the frame.
const SIDE: f64 = 0.26;
/// Room around the orbit.
const ROOM: f64 = 1.3;
/// The scale bar is no longer than this part of the side.
const LONGEST: f64 = 0.3;

/// The orbit, seen along an axis of the galaxy, whose centre is in the middle. Lengths in the user's unit.
pub(super) struct OrbitMap<'a> {
    /// Names of the two axes.
    pub name: String,
    /// Places on the orbit; NaN breaks it.
    pub curve: Vec<(f64, f64)>,
    /// Place of the cluster.
    pub now: (f64, f64),
    /// Name of the unit.
    pub unit: &'a str,
}

impl OrbitMap<'_> {
    /// Draws the map into the upper right corner of a frame of a size.
    pub fn draw(&self, svg: &mut Svg, (width, height): (f64, f64), ink: &Ink) {
        let unit = height / 720.0;
        let (side, margin) = (SIDE * height, 28.0 * unit);
        let (left, top) = (width - margin - side, margin);
        let pixels = 0.5 * side / self.half();
        let middle = (left + 0.5 * side, top + 0.5 * side);
        let at = |(x, y): (f64, f64)| (middle.0 + x * pixels, middle.1 - y * pixels);
        let thin = px(1.2 * unit);
        let corner = [px(left), px(top), px(side)];
        let place = [("x", &*corner[0]), ("y", &*corner[1]), ("width", &*corner[2]), ("height", &*corner[2])];
        let ground = [("fill", ink.ground), ("fill-opacity", "0.7"), ("stroke", ink.grid), ("stroke-width", &*thin)];
        svg.empty("rect", &[&place[..], &ground[..]].concat());

        let stroke = |svg: &mut Svg, path: &str, colour: &str, wide: &str| {
            svg.empty("path", &[("d", path), ("stroke", colour), ("stroke-width", wide), ("fill", "none")]);
        };
        let arm = 5.0 * unit;
        let (l, r, t, b) = (middle.0 - arm, middle.0 + arm, middle.1 - arm, middle.1 + arm);
        let cross = format!("M{} {m}H{}M{c} {}V{}", px(l), px(r), px(t), px(b), m = px(middle.1), c = px(middle.0));
        stroke(svg, &cross, ink.muted, &px(1.6 * unit));
        stroke(svg, &self.path(at), ink.muted, &px(1.8 * unit));
        let (x, y) = at(self.now);
        svg.empty("circle", &[("cx", &px(x)), ("cy", &px(y)), ("r", &px(4.5 * unit)), ("fill", ink.text)]);

        let (size, pad) = (14.0 * unit, 6.0 * unit);
        let how = Type { size, anchor: Anchor::Start, colour: ink.muted, class: "map" };
        svg.text((left + pad, top + pad + 0.8 * size), how, &self.name);
        let (round, long) = bar(pixels, LONGEST * side);
        let foot = top + side - pad;
        stroke(svg, &format!("M{} {}H{}", px(left + pad), px(foot), px(left + pad + long)), ink.muted, &thin);
        svg.text((left + pad, foot - 0.4 * size), how, format!("{round} {}", self.unit).trim_end());
    }

    /// Half the side of the map, in the user's unit.
    fn half(&self) -> f64 {
        let ends = self.curve.iter().chain([&self.now]).map(|(x, y)| x.abs().max(y.abs()));
        let far = ends.filter(|x| x.is_finite()).fold(0.0, f64::max);
        if far > 0.0 { ROOM * far } else { 1.0 }
    }

    /// The orbit as a path, with gaps where it is broken.
    fn path(&self, at: impl Fn((f64, f64)) -> (f64, f64)) -> String {
        let (mut path, mut pen) = (String::new(), 'M');
        for &place in &self.curve {
            if place.0.is_nan() || place.1.is_nan() {
                pen = 'M';
                continue;
            }
            let (x, y) = at(place);
            path += &format!("{pen}{} {}", px(x), px(y));
            pen = 'L';
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_orbit_is_within_the_map_and_has_gaps() {
        let gap = (f64::NAN, f64::NAN);
        let curve = vec![(8.0, 0.0), (0.0, -9.0), gap, (1.0, 2.0), (3.0, 4.0)];
        let map = OrbitMap { name: "X–Y".into(), curve, now: (3.0, 4.0), unit: "kpc" };
        assert!((map.half() - ROOM * 9.0).abs() < 1e-12);
        assert_eq!(map.path(|place| place), "M8 0L0 -9M1 2L3 4");
        // An origin that rests in the centre.
        assert_eq!(OrbitMap { curve: vec![(0.0, 0.0)], now: (0.0, 0.0), ..map }.half(), 1.0);
    }
}
