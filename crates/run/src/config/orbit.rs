//! Section `[orbit]`: the origin of coordinates moves on an orbit in the external fields.

use super::error::Problem;
use super::initial::ORIGIN;
use super::sky::{Sky, Sun};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tisane::error::Result;
use tisane::force::external::ExternalField;
use tisane::force::external::guide::OrbitState;
use tisane::force::external::guide::segment::{Segment, follow};
use tisane::particles::Vec3;
use tisane::time::Clock;
use tisane::units::{Dimension, Real, Scale, Units};

/// Largest difference between the accelerations at the points of a circle, relative to their length, with which it is an orbit.
const CIRCLE_TOLERANCE: f64 = 1e-9;
/// Directions in which the field of a circle is compared, as cosine and sine of the azimuth.
const AZIMUTHS: [[f64; 2]; 6] = [[0.0, 1.0], [-1.0, 0.0], [0.0, -1.0], [0.6, 0.8], [-0.8, 0.6], [0.28, -0.96]];

/// Orbit of the origin of coordinates in the external fields. Particles are relative to it, in axes that do not rotate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Orbit")]
pub struct OrbitSettings {
    /// Place of the origin in the frame of the fields at the start, or with `back` that time after it; unit: length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<[Real; 3]>,
    /// Its velocity there; unit: velocity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub velocity: Option<[Real; 3]>,
    /// In place of both: radius of a circle about the origin of the fields in the plane z = 0, counterclockwise from (R, 0, 0),
    /// above 0; unit: length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub circular: Option<Real>,
    /// In place of both: what is observed of the cluster, for units by name. The frame of the fields is then that of the Galaxy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sky: Option<Sky>,
    /// The Sun in the galaxy: for `sky`, and for the picture of the sky.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sun: Option<Sun>,
    /// Time by which the orbit is followed back before the run starts, above 0; unit: time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub back: Option<Real>,
}

impl OrbitSettings {
    /// Returns place and velocity at the start of the time axis, in internal units.
    ///
    /// # Errors
    /// If there is no circle of the radius, or the orbit cannot be followed back.
    pub(crate) fn state(
        &self,
        field: &dyn ExternalField,
        clock: &Clock,
        (units, scale): (&Units, &Scale),
    ) -> Result<OrbitState, Problem> {
        let back = self.back.map_or(0.0, Real::get) / scale.time;
        let then = clock.start + back;
        field.covers(then).map_err(|error| Problem::new("orbit.back", error.to_string()))?;
        let state = match self.circular {
            Some(radius) => circle(field, then, radius.get() / scale.length)
                .map_err(|problem| Problem::new("orbit.circular", problem.describe(radius, units)))?,
            None => {
                let OrbitState { pos, vel } = self.given(units);
                OrbitState { pos: pos / scale.length, vel: vel / scale.velocity }
            }
        };
        // In steps as long as those of the run, or a little shorter.
        let steps = (back / clock.dt_max).ceil();
        let step = back / steps;
        (0..steps as u64).try_fold(state, |state, k| {
            let t = then - k as f64 * step;
            let segments = follow(field, t, state, -step);
            let segments = segments.map_err(|error| Problem::new("orbit.back", error.to_string()))?;
            Ok(segments.last().map_or(state, Segment::end))
        })
    }

    /// Returns place and velocity as they are given, or follow from what is observed, in the units of the configuration.
    fn given(&self, units: &Units) -> OrbitState {
        match &self.sky {
            Some(sky) => sky.in_the_galaxy(self.sun.as_ref().unwrap_or(&Sun::default()), units),
            None => {
                let [pos, vel] = [self.position, self.velocity].map(|it| it.unwrap_or(ORIGIN).map(Real::get).into());
                OrbitState { pos, vel }
            }
        }
    }

    /// Describes the orbit in one line.
    #[must_use]
    pub fn describe(&self, units: &Units) -> String {
        let OrbitState { pos, vel } = self.given(units);
        let (length, velocity) = (&units.length.name, units.label(Dimension::VELOCITY));
        let at = match (&self.sky, self.circular) {
            (_, Some(radius)) => format!("circle of radius {radius} {length}"),
            (None, None) => {
                let [pos, vel] = [pos, vel].map(|it| format!("({}, {}, {})", it.x, it.y, it.z));
                format!("at {pos} {length} with {vel} {velocity}")
            }
            (Some(sky), None) => {
                let [pos, vel] = [pos, vel].map(|it| format!("({:.6}, {:.6}, {:.6})", it.x, it.y, it.z));
                format!("{}: at {pos} {length} with {vel} {velocity}", sky.describe(units))
            }
        };
        self.back.map_or_else(|| at.clone(), |back| format!("{at}, {back} {} after the start", units.time.name))
    }
}

/// Reason why there is no circular orbit.
enum NoCircle {
    /// The acceleration does not point inwards.
    NotInwards,
    /// It is not the same along the circle, or has a part across it.
    NotRound,
}

impl NoCircle {
    fn describe(&self, radius: Real, units: &Units) -> String {
        let why = match self {
            Self::NotInwards => "the field does not pull inwards there",
            Self::NotRound => {
                "the field is not the same all around the z axis; give position and velocity of the orbit instead"
            }
        };
        format!("no circular orbit of radius {radius} {}: {why}", units.length.name)
    }
}

/// Returns the state on a circle of radius `r` about the z axis, at (r, 0, 0), with v² = −r a_x.
fn circle(field: &dyn ExternalField, t: f64, r: f64) -> Result<OrbitState, NoCircle> {
    let pos = Vec3::new(r, 0.0, 0.0);
    let acc = field.acc(pos, t);
    if acc.x.is_nan() || acc.x >= 0.0 {
        return Err(NoCircle::NotInwards);
    }
    let is_round = AZIMUTHS.iter().chain([&[1.0, 0.0]]).all(|[x, y]| {
        let there = field.acc(Vec3::new(r * x, r * y, 0.0), t);
        (there - acc.x * Vec3::new(*x, *y, 0.0)).norm() <= CIRCLE_TOLERANCE * acc.x.abs()
    });
    let speed = (-acc.x * r).sqrt();
    is_round.then_some(OrbitState { pos, vel: Vec3::new(0.0, speed, 0.0) }).ok_or(NoCircle::NotRound)
}

/// Returns the problem of an orbit without a field.
pub(crate) fn without_a_field() -> Problem {
    let problem = "an orbit needs a field: there is no section [external.<field>]";
    Problem::new("orbit", problem).with_help("[external.point-mass]\nmass = 1e11")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::real;
    use tisane::force::external::Plummer;

    const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.25 };

    fn state(settings: &OrbitSettings, field: &dyn ExternalField) -> Result<OrbitState, Problem> {
        settings.state(field, &CLOCK, (&Units::henon(), &Scale::IDENTITY))
    }

    #[test]
    fn a_circle_is_one_where_the_field_is_round() {
        let circular = OrbitSettings { circular: Some(real!(4.0)), ..Default::default() };
        let sphere = Plummer { mass: 16.0, position: Vec3::zeros(), scale_radius: 0.0 };
        let found = state(&circular, &sphere).unwrap();
        assert_eq!((found.pos, found.vel), (4.0 * Vec3::x(), 2.0 * Vec3::y()));
        let aside = Plummer { position: Vec3::new(0.0, 0.1, 0.0), ..sphere };
        assert!(state(&circular, &aside).unwrap_err().problem.contains("not the same all around the z axis"));
        let outwards = Plummer { mass: -1.0, ..sphere };
        assert!(state(&circular, &outwards).unwrap_err().problem.contains("does not pull inwards"));
    }

    #[test]
    fn an_orbit_followed_back_arrives_where_it_was_given() {
        let sphere = Plummer { mass: 16.0, position: Vec3::zeros(), scale_radius: 1.0 };
        let settings = OrbitSettings {
            position: Some([real!(4.0), real!(0.0), real!(1.0)]),
            velocity: Some([real!(0.5), real!(1.5), real!(0.0)]),
            back: Some(real!(7.1)),
            ..Default::default()
        };
        let mut at = state(&settings, &sphere).unwrap();
        assert!((at.pos - Vec3::new(4.0, 0.0, 1.0)).norm() > 1.0, "{at:?}");
        for _ in 0..71 {
            at = follow(&sphere, 0.0, at, 0.1).unwrap().last().unwrap().end();
        }
        let off = (at.pos - Vec3::new(4.0, 0.0, 1.0)).norm();
        assert!(off < 1e-11, "{off:e}");
    }
}
