//! The orbit of the origin of coordinates as the snapshots of a run tell it, and axes along it.

use std::path::{Path, PathBuf};
use tisane::force::external::guide::OrbitState;
use tisane::particles::Vec3;
use tisane_io::{directory, snapshot};

/// Points of the drawn orbit between two snapshots; beside the stars, where it is seen from near, ten times as many.
pub(super) const BETWEEN: usize = 24;
const BETWEEN_NEAR: usize = 10 * BETWEEN;
/// Longest arc between two snapshots, in radians, that is drawn as a curve through their places with their velocities.
const MAX_ARC: f64 = 1.2;
/// Longest arc about the centre of the fields, in radians, over which the path of the cluster is drawn beside its stars.
const PATH: f64 = 1.0;

/// The orbit of the origin of coordinates as the snapshots tell it: times, places, velocities, in the user's units.
#[derive(Debug)]
pub(super) struct Track {
    points: Vec<(f64, OrbitState)>,
    /// User's unit of length / velocity in that of time.
    dynamical_time: f64,
}

impl Track {
    /// Reads the headers of all snapshots; those that cannot be read are left out.
    pub fn read(dir: &Path) -> Self {
        let paths: Vec<PathBuf> = directory::snapshots(dir).unwrap_or_default();
        let headers: Vec<_> = paths.iter().filter_map(|path| snapshot::read_header(path).ok()).collect();
        let dynamical_time = headers.first().map_or(1.0, |header| header.units.units.dynamical_time());
        let points = headers.into_iter().filter_map(|header| Some((header.time, header.orbit?))).collect();
        Self { points, dynamical_time }
    }

    /// An orbit by times, places and velocities in units in which a time is `dynamical_time` times a length by a velocity.
    pub fn new(points: Vec<(f64, OrbitState)>, dynamical_time: f64) -> Self {
        Self { points, dynamical_time }
    }

    /// Returns times and places on a smooth curve through the snapshots, of `between` stretches for each; where these are too far apart a break, which has NaN.
    pub fn curve(&self, between: usize) -> Vec<(f64, Vec3)> {
        let mut found = Vec::new();
        for (k, pair) in self.points.windows(2).enumerate() {
            let ((t0, from), (t1, _)) = (pair[0], pair[1]);
            found.push((t0, from.pos));
            if self.is_broken(k) {
                found.push((f64::NAN, Vec3::from([f64::NAN; 3])));
                continue;
            }
            let parts = (1..between).map(|j| j as f64 / between as f64);
            found.extend(parts.map(|z| (t0 + z * (t1 - t0), self.at(k, z).pos)));
        }
        found.extend(self.points.last().map(|(t, state)| (*t, state.pos)));
        found
    }

    /// Returns true if the snapshots `k` and the next one are too far apart on the orbit for a curve between them.
    pub fn is_broken(&self, k: usize) -> bool {
        let [(t0, from), (t1, to)] = [self.points[k], self.points[k + 1]];
        let h = (t1 - t0) / self.dynamical_time;
        h * from.vel.norm().max(to.vel.norm()) > MAX_ARC * from.pos.norm().min(to.pos.norm())
    }

    /// Returns the times of the first snapshot and the next one that are too far apart, if there are such.
    pub fn first_break(&self) -> Option<(f64, f64)> {
        let broken = (0..self.points.len().saturating_sub(1)).find(|&k| self.is_broken(k))?;
        Some((self.points[broken].0, self.points[broken + 1].0))
    }

    /// Returns the state at `z`, from 0 to 1, of the time from the snapshot `k` to the next one: Hermite's cubic polynomial. Where the
    /// curve is broken, and after the last snapshot, that of the snapshot.
    pub fn at(&self, k: usize, z: f64) -> OrbitState {
        let (t0, from) = self.points[k];
        let Some((t1, to)) = self.points.get(k + 1).filter(|_| !self.is_broken(k)) else { return from };
        let (h, way, rest) = ((t1 - t0) / self.dynamical_time, to.pos - from.pos, 1.0 - z);
        let bend = h * (z * rest * rest * from.vel - z * z * rest * to.vel);
        let turn = rest * (rest - 2.0 * z) * from.vel + z * (z - 2.0 * rest) * to.vel;
        OrbitState { pos: from.pos + z * z * (3.0 - 2.0 * z) * way + bend, vel: 6.0 * z * rest / h * way + turn }
    }

    /// Returns the place at the last snapshot; zero of none.
    pub fn end(&self) -> Vec3 {
        self.points.last().map_or_else(Vec3::zeros, |(_, state)| state.pos)
    }

    /// Returns the times and states of the snapshots.
    pub fn points(&self) -> &[(f64, OrbitState)] {
        &self.points
    }

    /// Returns the last part of the curve, up to the place now, as far as it is on the same side of the fields.
    pub fn path(&self) -> Vec<Vec3> {
        let Some((_, now)) = self.points.last() else { return Vec::new() };
        let mut found: Vec<Vec3> = self.curve(BETWEEN_NEAR).into_iter().map(|(_, place)| place).collect();
        let is_near = |place: &Vec3| place.angle(&now.pos) <= PATH;
        let from = found.iter().rposition(|place| !is_near(place)).map_or(0, |k| k + 1);
        found.drain(..from);
        found
    }
}

/// Axes along the velocity of the origin, outwards across it in the plane of the orbit, and along the angular momentum.
pub(super) struct Along([Vec3; 3]);

impl Along {
    pub fn new(now: &OrbitState) -> Self {
        let unit = |v: Vec3, other: Vec3| if v.norm() > 0.0 { v / v.norm() } else { other };
        let along = unit(now.vel, Vec3::y());
        let normal = unit(now.pos.cross(&now.vel), Vec3::z());
        Self([along, along.cross(&normal), normal])
    }

    pub fn of(&self, d: Vec3) -> [f64; 3] {
        self.0.map(|axis| axis.dot(&d))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circle(n: usize, end: f64) -> Track {
        let state = |t: f64| {
            let (sine, cosine) = t.sin_cos();
            OrbitState { pos: Vec3::new(cosine, sine, 0.1), vel: Vec3::new(-sine, cosine, 0.0) }
        };
        let points = (0..=n).map(|k| end * k as f64 / n as f64).map(|t| (t, state(t))).collect();
        Track { points, dynamical_time: 1.0 }
    }

    #[test]
    fn the_curve_through_snapshots_is_the_orbit_and_breaks_where_they_are_too_far_apart() {
        let curve = circle(8, 6.0).curve(BETWEEN);
        assert_eq!(curve.len(), 8 * BETWEEN + 1);
        for (t, place) in curve {
            let off = (place - Vec3::new(t.cos(), t.sin(), 0.1)).norm();
            assert!(off < 1e-3, "{t}: {off}");
        }
        // Places and velocities between them, and those of the snapshots at the ends.
        let track = circle(8, 6.0);
        for (k, z) in [(0, 0.0), (2, 0.3), (7, 1.0)] {
            let (t, OrbitState { pos, vel }) = (0.75 * (k as f64 + z), track.at(k, z));
            let off =
                (pos - Vec3::new(t.cos(), t.sin(), 0.1)).norm() + (vel - Vec3::new(-t.sin(), t.cos(), 0.0)).norm();
            assert!(off < 1e-2, "{t}: {off}");
        }
        assert_eq!((track.first_break(), circle(3, 6.0).first_break()), (None, Some((0.0, 2.0))));
        assert_eq!(circle(3, 6.0).at(1, 0.5), circle(3, 6.0).points()[1].1);
        // A radian before the last place.
        let path = circle(8, 6.0).path();
        assert!(path.iter().all(|place| place.angle(&path[path.len() - 1]) <= PATH) && path.len() > BETWEEN);
        let sparse = circle(3, 6.0).curve(BETWEEN);
        assert_eq!(sparse.iter().filter(|(t, _)| t.is_nan()).count(), 3);
        assert_eq!(sparse.len(), 7);
    }

    #[test]
    fn axes_along_the_orbit_point_ahead_outwards_and_up() {
        let state = OrbitState { pos: 8.0 * Vec3::x(), vel: 3.0 * Vec3::y() };
        assert_eq!(Along::new(&state).of(Vec3::new(1.0, 2.0, 3.0)), [2.0, 1.0, 3.0]);
        // At rest in the centre there are axes, too.
        assert_eq!(Along::new(&OrbitState::default()).of(Vec3::y()), [1.0, 0.0, 0.0]);
    }
}
