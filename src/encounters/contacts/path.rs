//! Paths over a span of time, as polynomials, and the moment at which a relative one comes within a distance.
//!
//! A path is kept by the control points of its Bézier form: it lies within their hull, so that most paths are seen to stay
//! away from one projection, and halves follow by means of neighbours alone (de Casteljau).

use tisane_force::particles::Vec3;

/// Number of control points: the degree is five.
const POINTS: usize = 6;
/// Number of halvings of the span after which a moment is exact up to rounding.
const HALVINGS: u32 = 52;
/// Relative difference of distances that counts as none, so that bodies that keep their distance need no halvings.
const EQUAL: f64 = 1e-12;

/// Position, velocity and acceleration.
pub type State = [Vec3; 3];

/// Returns the difference of two states.
pub fn between(from: State, to: State) -> State {
    std::array::from_fn(|k| to[k] - from[k])
}

/// Path over a span of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    points: [Vec3; POINTS],
    /// Length of the span.
    pub span: f64,
}

impl Path {
    /// Creates the path of degree five that has these states at both ends of a span.
    pub fn new([x, v, a]: State, [y, w, b]: State, span: f64) -> Self {
        let (first, second) = (span / 5.0, span * span / 20.0);
        let points = [
            x,
            x + v * first,
            x + v * (2.0 * first) + a * second,
            y - w * (2.0 * first) + b * second,
            y - w * first,
            y,
        ];
        Self { points, span }
    }

    /// Creates the cubic path that has these positions and velocities at both ends of a span.
    pub fn cubic([x, v]: [Vec3; 2], [y, w]: [Vec3; 2], span: f64) -> Self {
        let mean = (y - x) * (6.0 / span);
        Self::new([x, v, (mean - v * 4.0 - w * 2.0) / span], [y, w, (v * 2.0 + w * 4.0 - mean) / span], span)
    }

    /// Returns the state at a time since the begin of a span that is not 0.
    pub fn at(&self, time: f64) -> State {
        let s = time / self.span;
        let mean = |points: &mut [Vec3]| {
            for k in 1..points.len() {
                points[k - 1] = points[k - 1] * (1.0 - s) + points[k] * s;
            }
        };
        let mut points = self.points;
        (2..=POINTS).rev().filter(|&n| n > 3).for_each(|n| mean(&mut points[..n]));
        // Three points are left: those of a parabola through the moment.
        let [a, b, c] = [points[0], points[1], points[2]];
        let (first, second) = (a + (b - a) * s, b + (c - b) * s);
        let per = 1.0 / self.span;
        [first + (second - first) * s, (second - first) * (5.0 * per), (a - b * 2.0 + c) * (20.0 * per * per)]
    }

    /// Returns true if the path is seen to stay at a distance from the origin, or farther.
    pub fn is_outside(&self, distance: f64) -> bool {
        // Seen from the point of the chord that is closest to the origin.
        let (begin, chord) = (self.points[0], self.points[POINTS - 1] - self.points[0]);
        let length2 = chord.norm_squared();
        let part = if length2 > 0.0 { (-begin.dot(&chord) / length2).clamp(0.0, 1.0) } else { 0.0 };
        let nearest = begin + chord * part;
        let r = nearest.norm();
        if !(r.is_finite() && length2.is_finite()) {
            return true;
        }
        let min = distance * (1.0 - EQUAL) * r;
        r > 0.0 && self.points.iter().all(|point| point.dot(&nearest) >= min)
    }

    fn halves(&self) -> [Self; 2] {
        let (mut left, mut right) = (*self, *self);
        for n in 1..POINTS {
            for k in (n..POINTS).rev() {
                left.points[k] = (left.points[k - 1] + left.points[k]) * 0.5;
            }
            for k in 0..POINTS - n {
                right.points[k] = (right.points[k] + right.points[k + 1]) * 0.5;
            }
        }
        (left.span, right.span) = (0.5 * self.span, 0.5 * self.span);
        [left, right]
    }

    /// Returns the first time since the begin at which the path is within a distance of the origin.
    pub fn entry(&self, distance: f64) -> Option<f64> {
        self.search(distance, HALVINGS)
    }

    fn search(&self, distance: f64, halvings: u32) -> Option<f64> {
        let is_inside = |point: &Vec3| point.norm_squared() < distance * distance;
        if is_inside(&self.points[0]) {
            return Some(0.0);
        }
        if self.is_outside(distance) {
            return None;
        }
        if halvings == 0 {
            return is_inside(&self.points[POINTS - 1]).then_some(self.span);
        }
        let [left, right] = self.halves();
        left.search(distance, halvings - 1).or_else(|| Some(left.span + right.search(distance, halvings - 1)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Circle of radius 2 in the plane, with unit speed of the angle, about a centre.
    fn circle(centre: Vec3, t: f64) -> State {
        let (s, c) = t.sin_cos();
        [centre + Vec3::new(c, s, 0.0) * 2.0, Vec3::new(-s, c, 0.0) * 2.0, Vec3::new(c, s, 0.0) * -2.0]
    }

    #[test]
    fn verify_a_path_between_its_ends() {
        let centre = Vec3::new(0.3, -0.2, 0.1);
        for span in [0.2, 0.1] {
            let path = Path::new(circle(centre, 1.0), circle(centre, 1.0 + span), span);
            for part in [0.0, 0.3, 0.5, 0.9, 1.0] {
                let ([x, v, a], [y, w, b]) = (path.at(part * span), circle(centre, 1.0 + part * span));
                let h = span * span;
                assert!((x - y).norm() < 1e-4 * h * h * h, "{part}: {:e}", (x - y).norm());
                assert!((v - w).norm() < 1e-3 * h * h * span && (a - b).norm() < 0.01 * h * h, "{part}");
            }
        }
        let line = Path::cubic([Vec3::x(), Vec3::y()], [Vec3::x() + Vec3::y() * 2.0, Vec3::y()], 2.0);
        let [x, v, a] = line.at(0.5);
        assert!((x - Vec3::new(1.0, 0.5, 0.0)).norm() < 1e-15 && (v - Vec3::y()).norm() < 1e-15 && a.norm() < 1e-15);
    }

    /// A fast passage of a straight path at distance 1: within 1.25 of the origin from 0.75 before it on.
    #[test]
    fn verify_the_entry_of_a_passage() {
        let path = |from: f64| {
            let (speed, end) = (Vec3::y() * 1e6, from + 1e6);
            Path::new(
                [Vec3::new(1.0, from, 0.0), speed, Vec3::zeros()],
                [Vec3::new(1.0, end, 0.0), speed, Vec3::zeros()],
                1.0,
            )
        };
        let entry = path(-3e5).entry(1.25).unwrap();
        assert!((entry * 1e6 - (3e5 - 0.75)).abs() < 1e-9, "{entry}");
        assert_eq!(path(-3e5).entry(1.0), None, "a contact at a point is none");
        assert_eq!(path(-3e5).entry(1.0 - 1e-9), None);
        assert!(path(-3e5).entry(1.0 + 1e-9).is_some());
        assert_eq!((path(-0.5).entry(1.25), path(0.8).entry(1.25)), (Some(0.0), None));
        // Bodies that keep their distance, and those that are out of range.
        let rest = |r: f64| {
            Path::new([Vec3::x() * r, Vec3::zeros(), Vec3::zeros()], [Vec3::x() * r, Vec3::zeros(), Vec3::zeros()], 1.0)
        };
        assert_eq!(
            (rest(0.1 + 0.2).entry(0.3), rest(0.3).entry(0.1 + 0.2), rest(1e200).entry(1.0)),
            (None, Some(0.0), None)
        );
        assert_eq!(rest(0.0).entry(1.0), Some(0.0));
    }

    /// The way in on a circle that grazes: the angle is known.
    #[test]
    fn verify_the_entry_on_a_circle() {
        let centre = Vec3::new(-3.0, 0.0, 0.0);
        let path = Path::new(circle(centre, -0.1), circle(centre, 0.1), 0.2);
        assert_eq!(path.entry(0.9999), None);
        for distance in [1.0001, 1.001, 1.01] {
            let [x, ..] = path.at(path.entry(distance).unwrap());
            let cosine = (9.0 + 4.0 - distance * distance) / 12.0f64;
            assert!((x.norm() - distance).abs() < 1e-11 && (x.y + 2.0 * cosine.acos().sin()).abs() < 1e-6, "{x}");
        }
    }
}
