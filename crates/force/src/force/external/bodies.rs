//! Centres of fields that move as bodies in the other fields: a satellite galaxy.
//!
//! They are followed by the collocation of the moving origin ([`guide::segment`](super::guide::segment)) from the time at which their
//! places are given, forwards and backwards, in steps by their own motion. So their paths do not depend on the steps of the particles,
//! and a resumed run finds the same bits.

use super::field::ExternalField;
use super::guide::segment::{OrbitPoint, OrbitState, Segment, follow_bodies};
use super::moving::{Path, PathPoint};
use crate::error::{Error, Result};
use crate::particles::Vec3;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

/// Step of the bodies, in the shortest of the times |X| / |V| and √(|X| / |a|).
const STEP: f64 = 1.0 / 8.0;
/// Largest number of steps in one direction, some hundred thousand revolutions.
const MAX_STEPS: usize = 1 << 22;

/// Body with a field.
pub(super) struct Body {
    /// The field with its centre at the origin.
    pub field: Arc<dyn ExternalField>,
    /// Place and velocity at the beginning.
    pub start: OrbitState,
    /// Flag that the frame falls with the acceleration by this body at its origin.
    pub reflex: bool,
}

/// Bodies that move in fields and attract each other.
pub(super) struct Bodies {
    bodies: Vec<Body>,
    /// The fields in which they move.
    others: Arc<dyn ExternalField>,
    /// Time of the start.
    epoch: f64,
    /// Steps forwards and backwards, as far as they were needed.
    known: [RwLock<Known>; 2],
}

/// Steps in one direction of time.
#[derive(Default)]
struct Known {
    steps: Vec<Step>,
    /// What ended them.
    failure: Option<String>,
}

/// Step of all bodies.
struct Step {
    start: f64,
    length: f64,
    /// Segments of all bodies, for each part of the step.
    parts: Vec<Vec<Segment>>,
}

impl Step {
    fn end(&self) -> f64 {
        self.start + self.length
    }

    /// Returns a body at a time in the step; beyond its end, at its end.
    fn at(&self, body: usize, t: f64) -> OrbitPoint {
        let parts = self.parts.len() as f64;
        let z = ((t - self.start) / self.length).clamp(0.0, 1.0) * parts;
        let part = z.floor().min(parts - 1.0);
        self.parts[part as usize][body].at(z - part)
    }
}

impl Bodies {
    /// Returns bodies that start at the time `epoch` and move in `others`.
    pub fn new(bodies: Vec<Body>, others: Arc<dyn ExternalField>, epoch: f64) -> Self {
        Self { bodies, others, epoch, known: Default::default() }
    }

    /// Returns the accelerations of all bodies: by the other fields, by each other, and less that of the frame.
    fn accelerations(&self, places: &[Vec3], t: f64) -> Vec<Vec3> {
        let falling = self.bodies.iter().zip(places).filter(|(body, _)| body.reflex);
        let frame = falling.fold(Vec3::zeros(), |sum, (body, place)| sum + body.field.acc(-place, t));
        let of = |(k, place): (usize, &Vec3)| {
            let pulling = self.bodies.iter().zip(places).enumerate().filter(|(other, _)| *other != k);
            let by_bodies = pulling
                .fold(self.others.acc(*place, t), |sum, (_, (body, there))| sum + body.field.acc(place - there, t));
            by_bodies - frame
        };
        places.iter().enumerate().map(of).collect()
    }

    /// Returns the steps of the direction in which a time is, followed as far as that.
    fn known(&self, t: f64) -> RwLockReadGuard<'_, Known> {
        let backwards = t < self.epoch;
        let lock = &self.known[usize::from(backwards)];
        let is_far_enough = |known: &Known| {
            let reached = known.steps.last().map_or(self.epoch, Step::end);
            known.failure.is_some() || (if backwards { reached <= t } else { reached > t })
        };
        let known = lock.read().unwrap_or_else(PoisonError::into_inner);
        if is_far_enough(&known) {
            return known;
        }
        drop(known);
        let mut known = lock.write().unwrap_or_else(PoisonError::into_inner);
        while !is_far_enough(&known) {
            self.take_step(&mut known, if backwards { -1.0 } else { 1.0 });
        }
        drop(known);
        lock.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Follows the bodies for a step, or takes down why that is not possible.
    fn take_step(&self, known: &mut Known, sign: f64) {
        let (start, at): (f64, Vec<OrbitState>) = match known.steps.last() {
            Some(step) => (step.end(), step.parts.last().into_iter().flatten().map(Segment::end).collect()),
            None => (self.epoch, self.bodies.iter().map(|body| body.start).collect()),
        };
        let places: Vec<Vec3> = at.iter().map(|state| state.pos).collect();
        let acc = |places: &[Vec3], t: f64| self.accelerations(places, t);
        let times = at.iter().zip(acc(&places, start)).map(|(OrbitState { pos, vel }, acc)| {
            let distance = pos.norm();
            (distance / vel.norm()).min((distance / acc.norm()).sqrt())
        });
        let shortest = times.fold(f64::INFINITY, f64::min);
        // Bodies at rest in the centre stay there.
        let length = sign * if shortest.is_finite() { STEP * shortest } else { 1.0 };
        let parts = if known.steps.len() < MAX_STEPS { follow_bodies(&acc, start, &at, length) } else { None };
        match parts {
            Some(parts) if start + length != start => known.steps.push(Step { start, length, parts }),
            _ => {
                let distance = places.iter().map(Vec3::norm).fold(f64::INFINITY, f64::min);
                known.failure = Some(format!(
                    "a field that moves in the others cannot be followed beyond t = {start:e}: at a distance of {distance:e} from \
                     their origin (internal units) its acceleration changes too quickly"
                ));
            }
        }
    }
}

/// Path of one of the bodies.
pub(super) struct BodyPath {
    pub bodies: Arc<Bodies>,
    pub body: usize,
}

impl Path for BodyPath {
    fn at(&self, t: f64) -> PathPoint {
        let Bodies { bodies, epoch, .. } = &*self.bodies;
        let known = self.bodies.known(t);
        let backwards = t < *epoch;
        let step = known.steps.partition_point(|step| if backwards { step.end() > t } else { step.end() <= t });
        let Some(step) = known.steps.get(step).or(known.steps.last()) else {
            let OrbitState { pos, vel } = bodies[self.body].start;
            return PathPoint { pos, vel, acc: Vec3::zeros() };
        };
        let OrbitPoint { pos, vel, acc, .. } = step.at(self.body, t);
        PathPoint { pos, vel, acc }
    }

    fn covers(&self, t: f64) -> Result<()> {
        let known = self.bodies.known(t);
        let reached = known.steps.last().map_or(self.bodies.epoch, Step::end);
        let is_beyond = if t < self.bodies.epoch { reached > t } else { reached <= t };
        match &known.failure {
            Some(problem) if is_beyond => Err(Error::Integration {
                problem: problem.clone(),
                help: Some("give it an orbit that does not come so close to the centre of a field".into()),
            }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::external::Plummer;
    use crate::force::external::field::FieldSum;

    fn sphere(mass: f64, scale_radius: f64) -> Plummer {
        Plummer { mass, position: Vec3::zeros(), scale_radius }
    }

    fn body(field: Plummer, pos: Vec3, vel: Vec3, reflex: bool) -> Body {
        Body { field: Arc::new(field), start: OrbitState { pos, vel }, reflex }
    }

    fn path(bodies: &Arc<Bodies>, body: usize) -> BodyPath {
        BodyPath { bodies: bodies.clone(), body }
    }

    /// A body of the mass 3 about a galaxy of the mass 1 that it accelerates: their relative orbit is that of the mass 4.
    #[test]
    fn verify_a_body_that_accelerates_the_galaxy_moves_as_one_of_two() {
        let galaxy = FieldSum(vec![Box::new(sphere(1.0, 0.0))]);
        let heavy = body(sphere(3.0, 0.0), 4.0 * Vec3::x(), Vec3::y(), true);
        let bodies = Arc::new(Bodies::new(vec![heavy], Arc::new(galaxy), 2.0));
        let path = path(&bodies, 0);
        // Circle of radius 4: Ω = √(4/64) = 1/4, in both directions of time, whatever was asked for first.
        for t in [2.0f64, 50.0, 3.0, -40.0, 1.9, 17.0] {
            let (sine, cosine) = (0.25 * (t - 2.0)).sin_cos();
            let PathPoint { pos, vel, acc } = path.at(t);
            let out = Vec3::new(cosine, sine, 0.0);
            assert!((pos - 4.0 * out).norm() < 1e-12, "{t}: {pos}");
            assert!((vel - Vec3::new(-sine, cosine, 0.0)).norm() < 1e-12 && (acc + 0.25 * out).norm() < 1e-12);
            assert!(path.covers(t).is_ok());
        }
    }

    /// Two bodies without a galaxy about their centre of mass.
    #[test]
    fn verify_bodies_attract_each_other() {
        let [one, two] = [(3.0, -1.0), (1.0, 3.0)].map(|(mass, x): (f64, f64)| {
            // Ω² = 4/64
            body(sphere(mass, 0.0), x * Vec3::x(), 0.25 * x * Vec3::y(), false)
        });
        let bodies = Arc::new(Bodies::new(vec![one, two], Arc::new(FieldSum(Vec::new())), 0.0));
        let (sine, cosine) = (0.25f64 * 30.0).sin_cos();
        for (k, x) in [-1.0, 3.0].into_iter().enumerate() {
            let pos = path(&bodies, k).at(30.0).pos;
            assert!((pos - x * Vec3::new(cosine, sine, 0.0)).norm() < 1e-12, "{k}: {pos}");
        }
    }

    #[test]
    fn a_body_that_falls_into_a_point_mass_is_known_until_then() {
        let galaxy = FieldSum(vec![Box::new(sphere(1.0, 0.0))]);
        let falling = body(sphere(0.1, 1.0), Vec3::x(), Vec3::zeros(), false);
        let bodies = Arc::new(Bodies::new(vec![falling], Arc::new(galaxy), 0.0));
        let path = path(&bodies, 0);
        // It reaches the centre at π/√8 = 1.11.
        let error = path.covers(2.0).unwrap_err().to_string();
        assert!(error.contains("cannot be followed beyond t = 1.1"), "{error}");
        assert!(path.covers(1.0).is_ok() && path.covers(2.0).is_err());
    }
}
