//! Fields whose centre moves: how users say so.

use super::values::{self, FieldUnits, Mistake};
use crate::particles::Vec3;
use crate::units::{Real, Units};

/// With what a field moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Carrier {
    /// With the origin of coordinates, on its orbit.
    Cluster,
}

/// Motion of the centre of a field: one of `orbit`, `velocity`, `path`.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct Motion {
    /// `cluster`: the field moves with the origin of coordinates, to which `position` is relative, and does not act on that.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub orbit: Option<Carrier>,
    /// Velocity of the centre, constant unless it `moves`; unit: velocity.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub velocity: Option<[Real; 3]>,
    /// Time at which the centre is at `position` with `velocity`; unit: time; default: 0.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub time: Option<Real>,
    /// Table of places and velocities, CSV with the columns t, x, y, z, vx, vy, vz; a relative path starts at the directory of the
    /// configuration.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub path: Option<String>,
    /// True for a centre that moves as a body in the other fields, from `position` and `velocity` on.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "std::ops::Not::not"))]
    pub moves: bool,
    /// True for a field that accelerates the galaxy: the frame of all fields falls with the acceleration by this one at its origin.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "std::ops::Not::not"))]
    pub reflex: bool,
}

/// The way in which a field moves.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Way<'a> {
    /// Not at all.
    Rest,
    /// With the origin of coordinates.
    Carried,
    /// With a constant velocity.
    Straight([Real; 3]),
    /// As a body in the other fields, from a velocity on.
    Free([Real; 3]),
    /// On the path of a table.
    Table(&'a str),
}

impl Motion {
    /// Returns the way in which the field moves.
    pub(super) fn way(&self) -> Way<'_> {
        match (self.orbit, self.velocity, &self.path) {
            (Some(Carrier::Cluster), ..) => Way::Carried,
            (None, Some(velocity), _) if self.moves => Way::Free(velocity),
            (None, Some(velocity), _) => Way::Straight(velocity),
            (None, None, Some(path)) => Way::Table(path),
            (None, None, None) => Way::Rest,
        }
    }

    /// Returns the time at which place and velocity hold.
    pub(super) fn epoch(&self, to: FieldUnits<'_>) -> f64 {
        self.time.map_or(0.0, |time| to.time(time))
    }

    /// Adds the mistakes in the values; `position` is the place of the field.
    pub(super) fn check(&self, position: [Real; 3], found: &mut Vec<Mistake>) {
        let Self { orbit, velocity, time, path, moves, reflex } = self;
        let mut wrong = |key: &str, problem: &str| found.push(Mistake::new(key, problem));
        let given = [("orbit", orbit.is_some()), ("velocity", velocity.is_some()), ("path", path.is_some())];
        let mut given = given.iter().filter(|(_, is_given)| *is_given).map(|(key, _)| *key);
        let (first, second) = (given.next(), given.next());
        match (first, second) {
            (None, _) => wrong("motion", "expected one of `orbit`, `velocity`, `path`, found none"),
            (Some(first), Some(second)) => {
                let problem = format!("expected one of `orbit`, `velocity`, `path`, found `{first}` and `{second}`");
                wrong(&format!("motion.{second}"), &problem);
            }
            _ => {}
        }
        if *moves && velocity.is_none() {
            wrong("motion.moves", "a body that moves in the other fields needs `velocity`, at `position`");
        }
        if time.is_some() && velocity.is_none() {
            wrong("motion.time", "`time` is that of `position` and `velocity`, and there is no `velocity`");
        }
        if *reflex && orbit.is_some() {
            wrong("motion.reflex", "a field that moves with the cluster does not accelerate the galaxy");
        }
        if path.is_some() && position != values::origin() {
            wrong("position", "the table of `motion.path` has the places: expected no position");
        }
    }

    /// Describes place and motion.
    pub(super) fn describe(&self, position: [Real; 3], units: &Units) -> String {
        let at = values::at(position, units);
        let with = |velocity: [Real; 3]| {
            let [x, y, z] = velocity.map(Real::get);
            let time = self.time.map_or(0.0, Real::get);
            format!("{at} at t = {time} {} with ({x}, {y}, {z}) {}", units.time.name, units.velocity.name)
        };
        let place = match self.way() {
            Way::Rest => at,
            Way::Carried => format!("{at} of the cluster's orbit, moving with it"),
            Way::Straight(velocity) => with(velocity),
            Way::Free(velocity) => format!("{}, moving in the other fields", with(velocity)),
            Way::Table(path) => format!("on the path {path}"),
        };
        if self.reflex { format!("{place}, accelerating the galaxy") } else { place }
    }
}

/// Returns the place of a field that is built: its own, unless it moves.
pub(super) fn centre(motion: Option<&Motion>, position: [Real; 3], to: FieldUnits<'_>) -> Vec3 {
    match motion.map_or(Way::Rest, Motion::way) {
        Way::Rest | Way::Carried => to.place(position),
        Way::Straight(_) | Way::Free(_) | Way::Table(_) => Vec3::zeros(),
    }
}
