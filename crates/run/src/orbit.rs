//! Shape of the orbit of the origin of coordinates, for `check`, and what is doubtful about it.

use crate::assemble::{Setup, tide_source};
use tisane::force::external::ExternalField;
use tisane::force::external::guide::segment::follow;
use tisane::force::external::guide::{OrbitPoint, OrbitState};
use tisane::pericentre::turn;
use tisane::units::Dimension;

/// Number of changes between inwards and outwards motion that are looked for: those of three radial periods.
const TURNS: usize = 7;
/// Part of the time |X| / |V| in which the orbit is followed.
const STEP: f64 = 1.0 / 8.0;
/// Largest number of steps.
const MAX_STEPS: usize = 4096;
/// Difference of the largest and the smallest distance, relative to the former, below which the orbit is a circle.
const ROUND: f64 = 1e-6;
/// Longest step at the pericentre, in r / v there, without a warning: work and places of stars that have left the cluster have
/// errors of 10⁻⁶ and more of its energy with longer ones.
const MAX_STEP: f64 = 1.0 / 50.0;

/// Shape of an orbit about the origin of the fields, in internal units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// √(|X · a|) at the start: the speed of a circular orbit there, in a round field; NaN where the field pushes outwards.
    pub circular_velocity: f64,
    /// Smallest distance from the origin of the fields.
    pub pericentre: f64,
    /// Place and velocity there.
    pub at_pericentre: OrbitState,
    /// Time of that.
    pub time_of_pericentre: f64,
    /// Largest distance; infinite where the orbit goes outwards only.
    pub apocentre: f64,
    /// Time from pericentre to pericentre, in the mean of some; that of a revolution on a circle; infinite where there is none.
    pub period: f64,
}

impl Shape {
    /// Follows an orbit for three radial periods from `start` at the time `t`; [`None`] where the origin rests or comes too near to
    /// the centre of a field.
    #[must_use]
    pub fn of(field: &dyn ExternalField, t: f64, start: OrbitState) -> Option<Self> {
        let OrbitState { pos, vel } = start;
        let inwards = -pos.dot(&field.acc(pos, t));
        let circular_velocity = inwards.sqrt();
        if vel.norm_squared() == 0.0 && inwards == 0.0 {
            return None;
        }
        let fall = if inwards > 0.0 { pos.norm() / circular_velocity } else { f64::INFINITY };
        let step = STEP * fall.min(pos.norm() / vel.norm());
        let (mut at, mut now, mut turns) = (start, t, Vec::new());
        let mut nearest = Point { time: t, state: start };
        let mut farthest = nearest;
        for _ in 0..MAX_STEPS {
            // A table ends the orbit that is known.
            if field.covers(now + step).is_err() {
                break;
            }
            let segments = follow(field, now, at, step).ok()?;
            let part = step / segments.len() as f64;
            for segment in &segments {
                if let Some(z) = turn(segment) {
                    turns.push(Point::of(&segment.at(z), now + z * part));
                }
                let end = Point::of(&segment.at(1.0), now + part);
                for found in [end].iter().chain(turns.last()) {
                    nearest = if found.distance() < nearest.distance() { *found } else { nearest };
                    farthest = if found.distance() > farthest.distance() { *found } else { farthest };
                }
                (at, now) = (segment.end(), now + part);
            }
            if turns.len() >= TURNS {
                break;
            }
        }
        let (pericentre, farthest) = (nearest.distance(), farthest.distance());
        let is_round = farthest - pericentre <= ROUND * farthest;
        let revolution = std::f64::consts::TAU * pericentre / nearest.state.vel.norm();
        // Every second turn is of one kind.
        let (period, apocentre) = match turns.as_slice() {
            _ if is_round => (revolution, farthest),
            [] | [_] => (f64::INFINITY, f64::INFINITY),
            [first, .., last] => {
                let halves = (turns.len() - 1) as f64;
                (2.0 * (last.time - first.time) / halves, farthest)
            }
        };
        Some(Self {
            circular_velocity,
            pericentre,
            at_pericentre: nearest.state,
            time_of_pericentre: nearest.time,
            apocentre,
            period,
        })
    }

    /// Returns true for a circle.
    #[must_use]
    pub fn is_round(&self) -> bool {
        self.pericentre >= (1.0 - ROUND) * self.apocentre
    }
}

/// Point of an orbit, by its distance.
#[derive(Clone, Copy)]
struct Point {
    time: f64,
    state: OrbitState,
}

impl Point {
    fn of(&OrbitPoint { pos, vel, .. }: &OrbitPoint, time: f64) -> Self {
        Self { time, state: OrbitState { pos, vel } }
    }

    fn distance(&self) -> f64 {
        self.state.pos.norm()
    }
}

impl Setup {
    /// Returns the shape of the orbit of the origin of coordinates, if it moves.
    #[must_use]
    pub fn orbit_shape(&self) -> Option<Shape> {
        Shape::of(&*self.external_field().ok().flatten()?, self.clock.start, self.orbit?)
    }

    /// Returns the tidal radius of a mass in its tide at the start, in internal units, if there is one: that of fields in which the origin
    /// moves, or one linear tide.
    #[must_use]
    pub fn tidal_radius(&self, mass: f64) -> Option<f64> {
        tide_source(&self.config, &self.scale).ok()??.with_origin(self.orbit, self.clock.start).radius(mass)
    }

    /// Returns that of a mass at the pericentre of its orbit, if there is one and the orbit is no circle.
    #[must_use]
    pub fn tidal_radius_at_pericentre(&self, mass: f64) -> Option<f64> {
        let shape = self.orbit_shape().filter(|shape| !shape.is_round())?;
        let source = tide_source(&self.config, &self.scale).ok()??;
        source.with_origin(Some(shape.at_pericentre), shape.time_of_pericentre).radius(mass)
    }

    /// Returns what is doubtful about the orbit: steps that are long at the pericentre, and an origin at rest in a field.
    #[must_use]
    pub fn doubts_of_orbit(&self) -> Vec<String> {
        let (Some(orbit), Some(field)) = (self.orbit, self.external_field().ok().flatten()) else { return Vec::new() };
        let at_rest = orbit.vel.norm_squared() == 0.0 && field.acc(orbit.pos, self.clock.start).norm_squared() == 0.0;
        if at_rest {
            let text = "[orbit]: the origin rests in the centre of the fields; if the cluster is not there, give its place and \
                        velocity in the galaxy";
            return vec![text.into()];
        }
        let Some(shape) = self.orbit_shape() else {
            return vec!["[orbit]: the orbit comes too near to the centre of a field to be followed".into()];
        };
        let speed = shape.at_pericentre.vel.norm();
        let longest = MAX_STEP * shape.pericentre / speed;
        if self.clock.dt_max <= longest {
            return Vec::new();
        }
        let (units, info) = (self.config.units(), self.config.integrator.info());
        let readable = |x: f64, d: Dimension| units.readable(x * self.scale.factor(d), d);
        vec![format!(
            "{}.{} = {} is long at the pericentre of the orbit, {} from the centre at {}: steps of at most {} follow stars that \
             leave the cluster there to 1e-6 of its energy",
            info.section,
            info.dt_max_key,
            readable(self.clock.dt_max, Dimension::TIME),
            readable(shape.pericentre, Dimension::LENGTH),
            readable(speed, Dimension::VELOCITY),
            readable(longest, Dimension::TIME)
        )]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tisane::force::external::Plummer;
    use tisane::particles::Vec3;

    const POINT_MASS: Plummer = Plummer { mass: 1.0, position: Vec3::new(0.0, 0.0, 0.0), scale_radius: 0.0 };

    fn shape(pos: Vec3, vel: Vec3) -> Shape {
        Shape::of(&POINT_MASS, 0.0, OrbitState { pos, vel }).unwrap()
    }

    #[test]
    fn verify_a_kepler_orbit_has_its_period_and_distances() {
        // Semi-major axis 1, eccentricity 0.6, from the end of the minor axis.
        let found = shape(Vec3::new(-0.6, 0.8, 0.0), Vec3::new(-1.0, 0.0, 0.0));
        assert!((found.period - std::f64::consts::TAU).abs() < 1e-9, "{found:?}");
        assert!((found.pericentre - 0.4).abs() < 1e-9 && (found.apocentre - 1.6).abs() < 1e-9, "{found:?}");
        assert!((found.at_pericentre.vel.norm() - 2.0).abs() < 1e-9 && (found.circular_velocity - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_circle_and_an_escape_have_no_radial_period() {
        let circle = shape(4.0 * Vec3::x(), 0.5 * Vec3::y());
        assert!((circle.period - 8.0 * std::f64::consts::TAU).abs() < 1e-6 && circle.is_round(), "{circle:?}");
        let escape = shape(Vec3::x(), 2.0 * Vec3::x());
        assert_eq!((escape.period, escape.apocentre, escape.pericentre), (f64::INFINITY, f64::INFINITY, 1.0));
        assert!(!escape.is_round());
    }
}
