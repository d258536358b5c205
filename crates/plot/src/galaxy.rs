//! Figures of a cluster on an orbit in a galaxy: the orbit, the tails along and across it, its place in the sky.

use super::figure::{Axis, Figure, Heat, Mark, Panel, Series};
use super::gallery::Gallery;
use super::quantity::quantity;
use super::snapshots::Look;
use super::track::{Along, BETWEEN, Track};
use std::path::Path;
use tisane::force::external::guide::OrbitState;
use tisane::particles::Vec3;
use tisane::units::{Dimension, Units, digits};
use tisane_io::findings::Settings;
use tisane_io::{directory, regular_file};

/// Share of the stars that a map of the tails holds, and some room around.
const SHARE: f64 = 0.995;
const ROOM: f64 = 1.08;
/// Share of the stars near the cluster.
const NEAR: f64 = 0.9;
/// Cells along a side of a map, at least and at most; fewer for few stars.
const CELLS: (usize, usize) = (60, 120);
/// Name of the path beside the stars.
const PATH_NAME: &str = "path of the cluster until now";

/// Adds the figures of a run whose origin of coordinates moves; none otherwise.
pub(super) fn add(dir: &Path, newest: &Look, (title, caption): (String, String), gallery: &mut Gallery) {
    let Some(now) = newest.orbit else { return };
    let track = Track::read(dir);
    let figure = |panels: Vec<Panel>, columns: usize| Figure {
        title: format!("{title}, {}", newest.time_label()),
        caption: caption.clone(),
        panels,
        columns,
    };
    let units = &newest.units.units;
    gallery.add(
        "orbit",
        Ok(figure(vec![track.plane(units, &now), track.meridian(units, &now), track.distance(units)], 3)),
    );
    let frame = Along::new(&now);
    let panels = vec![
        tails(newest, &track, &frame, ("In the plane of the orbit", 1, SHARE)),
        tails(newest, &track, &frame, ("Across the plane of the orbit", 2, SHARE)),
        tails(newest, &track, &frame, ("Near the cluster, in the plane of the orbit", 1, NEAR)),
    ];
    gallery.add("tails", Ok(figure(panels, 3)));

    gallery.add("sky", sky(dir, newest, &now, &track).map(|panel| figure(vec![panel], 1)));
}

impl Track {
    /// A panel with the orbit, its start, and the place now, by two coordinates of a place.
    fn panel(&self, title: &str, (x, y): (Axis, Axis), now: &OrbitState, of: impl Fn(Vec3) -> (f64, f64)) -> Panel {
        let mut panel = Panel::new(title, x, y);
        let curve = self.curve(BETWEEN).into_iter().map(|(_, place)| of(place)).collect();
        let line = Series { colour: Some(0), ..Series::new("orbit", Mark::Line, curve) };
        let point = |name: &str, place: Vec3, colour: usize| Series {
            colour: Some(colour),
            ..Series::new(name, Mark::Points, vec![of(place)])
        };
        panel.series.push(line);
        panel.series.extend(self.points().first().map(|(_, start)| point("start", start.pos, 2)));
        panel.series.push(point("cluster", now.pos, 1));
        panel
    }

    fn plane(&self, units: &Units, now: &OrbitState) -> Panel {
        let axis = |name: &str| Axis::linear(quantity(units, name, Dimension::LENGTH));
        let mut panel = self.panel("In the plane", (axis("X"), axis("Y")), now, |place| (place.x, place.y));
        let centre = Series { colour: Some(3), ..Series::new("centre of the fields", Mark::Points, vec![(0.0, 0.0)]) };
        panel.series.push(centre);
        panel.equal = true;
        panel
    }

    fn meridian(&self, units: &Units, now: &OrbitState) -> Panel {
        let axis = |name: &str| Axis::linear(quantity(units, name, Dimension::LENGTH));
        self.panel("In the meridional plane", (axis("R"), axis("z")), now, |place| (place.x.hypot(place.y), place.z))
    }

    fn distance(&self, units: &Units) -> Panel {
        let x = Axis::linear(quantity(units, "time", Dimension::TIME));
        let mut panel =
            Panel::new("Distance from the centre", x, Axis::linear(quantity(units, "distance", Dimension::LENGTH)));
        let curve = self.curve(BETWEEN).into_iter().map(|(t, place)| (t, place.norm())).collect();
        panel.series.push(Series { colour: Some(0), ..Series::new("orbit", Mark::Line, curve) });
        let snapshots = self.points().iter().map(|(t, state)| (*t, state.pos.norm())).collect();
        panel.series.push(Series { colour: Some(1), ..Series::new("snapshots", Mark::Points, snapshots) });
        panel
    }
}

/// Surface density of the stars along the orbit and across it, in the direction of one of the axes, for a share of the stars. The map of
/// most stars is much longer than wide, that of those near the cluster has axes of one scale.
fn tails(look: &Look, track: &Track, frame: &Along, (title, axis, share): (&str, usize, f64)) -> Panel {
    let (units, scale) = (&look.units.units, &look.units.scale);
    let places: Vec<(f64, f64)> = look
        .stars
        .pos
        .iter()
        .map(|x| {
            let d = frame.of(x * scale.length);
            (d[0], d[axis])
        })
        .collect();
    let masses = look.stars.mass.iter().map(|m| m * scale.mass);
    let name = if axis == 1 { "outwards from the galaxy" } else { "across the plane of the orbit" };

    let label = |what: &str| quantity(units, what, Dimension::LENGTH);
    let range = |of: fn(&(f64, f64)) -> f64| range(places.iter().map(of), share);
    let ends = if share < SHARE {
        let both = range(|place| place.0.hypot(place.1));
        (both, both)
    } else {
        (range(|place| place.0), range(|place| place.1))
    };

    let surface = Dimension { mass: 1, length: -2, ..Dimension::NONE };
    let label_of_heat = quantity(units, "surface density", surface);
    let mut panel = map(title, places.iter().copied().zip(masses), ends, label_of_heat);
    (panel.x.label, panel.y.label) = (label("along the orbit"), label(name));
    let now = track.end();
    let path = track.path().into_iter().map(|place| frame.of(place - now)).map(|d| (d[0], d[axis])).collect();
    panel.series.push(Series::new(PATH_NAME, Mark::Dashed, path));
    panel.equal = share < SHARE;
    panel
}

/// Returns a range about zero with a share of the values in it, as wide on both sides as its farther end of those.
fn range(values: impl Iterator<Item = f64>, share: f64) -> (f64, f64) {
    let mut sizes: Vec<f64> = values.map(f64::abs).filter(|x| x.is_finite()).collect();
    sizes.sort_unstable_by(f64::total_cmp);
    let held = ((share * sizes.len() as f64).ceil() as usize).clamp(1, sizes.len().max(1));
    let half = sizes.get(held - 1).copied().filter(|x| *x > 0.0).map_or(1.0, |x| ROOM * x);
    (-half, half)
}

/// A map of masses at places on a grid: mass per area of the axes.
fn map(
    title: &str,
    places: impl Iterator<Item = ((f64, f64), f64)> + Clone,
    (x, y): ((f64, f64), (f64, f64)),
    label: String,
) -> Panel {
    let n = places.clone().count();
    let cells = ((3.0 * (n as f64).sqrt()) as usize).clamp(CELLS.0, CELLS.1);
    let (columns, rows) = (cells, cells);

    let side = |(from, to): (f64, f64), cells: usize| (to - from) / cells as f64;
    let (width, height) = (side(x, columns), side(y, rows));
    let (mut values, mut outside) = (vec![0.0; columns * rows], 0);
    for ((u, v), mass) in places {
        let (column, row) = (((u - x.0) / width).floor(), ((v - y.0) / height).floor());
        let inside = |place: f64, cells: usize| place >= 0.0 && place < cells as f64;
        if inside(column, columns) && inside(row, rows) {
            values[row as usize * columns + column as usize] += mass / (width * height).abs();
        } else {
            outside += 1;
        }
    }
    let edges = |(from, _): (f64, f64), cells: usize, side: f64| -> Vec<f64> {
        (0..=cells).map(|k| from + k as f64 * side).collect()
    };
    let axis = |range: (f64, f64)| Axis { range: Some(range), ..Axis::default() };
    let mut panel = Panel::new(title, axis(x), axis(y));
    panel.heat = Some(Heat { label, x: edges(x, columns, width), y: edges(y, rows, height), values });
    if outside > 0 {
        panel.notes.push(format!("{outside} of {n} stars outside the axes"));
    }
    panel
}

/// The Sun, from which the sky is seen: its place, and the angle by which the line to the centre goes down to the midplane.
struct Observer {
    place: Vec3,
    cosine: f64,
    sine: f64,
}

impl Observer {
    fn new([radius, height]: [f64; 2]) -> Self {
        let sine = height / radius;
        let cosine = (1.0 - sine * sine).sqrt();
        Self { place: Vec3::new(-radius * cosine, 0.0, height), cosine, sine }
    }

    /// Returns galactic longitude and latitude of a place in degrees, the longitude from −180 to 180.
    fn galactic(&self, place: Vec3) -> (f64, f64) {
        let d = place - self.place;
        let (x, z) = (self.cosine * d.x - self.sine * d.z, self.sine * d.x + self.cosine * d.z);
        (libm::atan2(d.y, x).to_degrees(), libm::atan2(z, x.hypot(d.y)).to_degrees())
    }
}

/// The stars and the orbit in the sky.
fn sky(dir: &Path, look: &Look, now: &OrbitState, track: &Track) -> Result<Panel, String> {
    let config =
        regular_file::read_to_string(&dir.join(directory::CONFIG)).map_err(|_| "no configuration".to_owned())?;
    let sun = Settings::parse(&config).and_then(|settings| settings.sun);
    let sun = sun.ok_or("the configuration has no `sun` in [orbit], from which the sky is seen")?;
    let (observer, scale, units) = (Observer::new(sun), &look.units.scale, &look.units.units);
    let middle = observer.galactic(now.pos).0.rem_euclid(360.0);
    // Longitudes on the side of the cluster.
    let near = |(l, b): (f64, f64)| (l - 360.0 * ((l - middle) / 360.0).round(), b);
    let places: Vec<(f64, f64)> =
        look.stars.pos.iter().map(|x| near(observer.galactic(x * scale.length + now.pos))).collect();
    let (l, b) = near(observer.galactic(now.pos));
    let [along, across] =
        [range(places.iter().map(|place| place.0 - l), SHARE), range(places.iter().map(|place| place.1 - b), SHARE)];
    let ends =
        ((l + along.0.max(-180.0), l + along.1.min(180.0)), ((b + across.0).max(-90.0), (b + across.1).min(90.0)));
    // Mass per square degree: a degree of longitude is shorter by cos b.
    let masses =
        look.stars.mass.iter().zip(&places).map(|(m, (_, b))| m * scale.mass / libm::cos(b.to_radians()).max(1e-6));
    let mass = units.label(Dimension::MASS);
    let mut panel =
        map("The sky from the Sun", places.iter().copied().zip(masses), ends, format!("mass [{mass} deg⁻²]"));
    panel.x.label = "galactic longitude l [deg]".into();
    panel.y.label = "galactic latitude b [deg]".into();
    // As seen from within: longitude grows to the left.
    panel.x.range = panel.x.range.map(|(from, to)| (to, from));
    let mut path: Vec<(f64, f64)> = Vec::new();
    for place in track.path().into_iter().map(|place| near(observer.galactic(place))) {
        // Not across the whole map where the longitude comes round.
        if path.last().is_some_and(|before| (before.0 - place.0).abs() > 180.0) {
            path.push((f64::NAN, f64::NAN));
        }
        path.push(place);
    }
    panel.series.push(Series::new(PATH_NAME, Mark::Dashed, path));
    let [x, z] = [observer.place.x, observer.place.z].map(digits);
    panel.notes.push(format!("seen from ({x}, 0, {z}) {}", units.length.name));
    Ok(panel)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sky_has_the_centre_at_zero_and_the_pole_above() {
        let observer = Observer::new([8122.0, 20.8]);
        let close =
            |(l, b): (f64, f64), (x, y): (f64, f64)| assert!((l - x).abs() < 1e-9 && (b - y).abs() < 1e-9, "{l} {b}");
        close(observer.galactic(Vec3::zeros()), (0.0, 0.0));
        // Ahead of the Sun on its way round.
        close(observer.galactic(observer.place + Vec3::y()), (90.0, 0.0));
        let up = Vec3::new(observer.sine, 0.0, observer.cosine);
        assert!((observer.galactic(observer.place + up).1 - 90.0).abs() < 1e-6);
        // By astropy: the Pleiades, at l = 166.57, b = -23.52 and 135 pc.
        let (l, b) =
            observer.galactic(Vec3::new(-8_242.510_477_748_79, 28.754_021_955_739_503, -32.763_149_105_625_52));
        assert!((l - 166.57).abs() < 0.05 && (b + 23.52).abs() < 0.05, "{l} {b}");
    }

    #[test]
    fn a_map_has_the_whole_mass_and_says_what_is_outside() {
        let places = [(0.0, 0.0), (0.5, -0.5), (3.0, 0.0)];
        let with_mass = places.iter().map(|place| (*place, 2.0));
        let panel = map("", with_mass, ((-1.0, 1.0), (-2.0, 2.0)), String::new());
        let heat = panel.heat.expect("a map");
        let cell = (heat.x[1] - heat.x[0]) * (heat.y[1] - heat.y[0]);
        assert!((heat.values.iter().sum::<f64>() * cell - 4.0).abs() < 1e-12);
        assert_eq!(panel.notes, ["1 of 3 stars outside the axes"]);
    }
}
