//! Origin of coordinates that moves on an orbit in external fields.
//!
//! Particles have places d and velocities relative to the origin X(t), in axes that do not rotate. Their equations of motion are
//! d̈ = Σ (pairs) + a(X + d) − Ẍ. The orbit is a polynomial in each step of the longest length, by collocation at eight points
//! ([`segment`]), with Ẍ = a(X) to 2⁻⁴⁶. A cluster near the origin has all digits of its own places, in every precision mode.
//!
//! The steps are those of the time axis, and each follows from the place and velocity at its beginning alone. So a run that is
//! resumed has the same bits.

pub mod segment;
mod tables;
mod tidal;
mod tidal_radius;

pub use segment::{OrbitPoint, OrbitState};
pub use tidal::{About, Tidal, Work};
pub use tidal_radius::tidal_radius;

use super::field::ExternalField;
use crate::error::{Error, Result};
use crate::time::{Clock, LOG2_TICKS_PER_DT_MAX, TICKS_PER_DT_MAX, Time};
use segment::{Segment, follow};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Number of steps that are kept: outputs at the end of one ask for the present one and the next.
const KEPT: usize = 2;

/// Origin of coordinates on an orbit. Engines share it: a clone is the same origin.
#[derive(Clone)]
pub struct MovingOrigin {
    field: Arc<dyn ExternalField>,
    orbit: Arc<Mutex<Orbit>>,
}

/// Orbit, as far as it was followed.
struct Orbit {
    clock: Clock,
    /// First step that is known, and the state at its beginning.
    first: (u64, OrbitState),
    /// Last steps, in their order.
    kept: Vec<Step>,
}

/// Step of the longest length.
struct Step {
    number: u64,
    start: OrbitState,
    segments: Vec<Segment>,
}

impl MovingOrigin {
    /// Returns the origin that has the state `start` at the beginning of the step `number` of the time axis, and moves in
    /// `field` from there on.
    #[must_use]
    pub fn new(field: Arc<dyn ExternalField>, clock: Clock, (number, start): (u64, OrbitState)) -> Self {
        let orbit = Orbit { clock, first: (number, start), kept: Vec::new() };
        Self { field, orbit: Arc::new(Mutex::new(orbit)) }
    }

    /// Returns the origin at a moment.
    ///
    /// # Errors
    /// [`Error::Integration`] where the orbit is too strongly curved, or the moment is before the first one.
    pub fn at(&self, now: Time) -> Result<OrbitPoint> {
        let part = now.0 % TICKS_PER_DT_MAX;
        self.in_step(now, |step| {
            // The number of segments is a power of two: the rest of the division is exact.
            let ticks = TICKS_PER_DT_MAX / step.segments.len() as u64;
            let z = (part % ticks) as f64 / ticks as f64;
            step.segments[(part / ticks) as usize].at(z)
        })
    }

    /// Returns the state at the beginning of the step in which a moment is: that from which the orbit goes on with the same
    /// bits.
    ///
    /// # Errors
    /// As [`MovingOrigin::at`].
    pub fn beginning(&self, now: Time) -> Result<OrbitState> {
        self.in_step(now, |step| step.start)
    }

    /// Returns the field relative to the origin at a moment, for the places and velocities of particles relative to it.
    ///
    /// # Errors
    /// As [`MovingOrigin::at`].
    pub fn tidal(&self, now: Time) -> Result<Tidal<'_>> {
        let t = self.lock().clock.time(now);
        Ok(Tidal::new(&*self.field, self.at(now)?, t))
    }

    /// Returns the field in which the origin moves.
    #[must_use]
    pub fn field(&self) -> &Arc<dyn ExternalField> {
        &self.field
    }

    /// Begins the orbit anew on another time axis, at its beginning.
    pub fn begin(&self, clock: Clock, start: OrbitState) {
        *self.lock() = Orbit { clock, first: (0, start), kept: Vec::new() };
    }

    /// Calls `read` with the step in which a moment is.
    fn in_step<T>(&self, now: Time, read: impl FnOnce(&Step) -> T) -> Result<T> {
        let mut orbit = self.lock();
        let number = now.0 >> LOG2_TICKS_PER_DT_MAX;
        Ok(read(orbit.step(&*self.field, number)?))
    }

    fn lock(&self) -> MutexGuard<'_, Orbit> {
        self.orbit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Orbit {
    /// Returns a step, followed to from those that are known.
    fn step(&mut self, field: &dyn ExternalField, number: u64) -> Result<&Step> {
        if number < self.first.0 {
            let problem = "the orbit of the origin of coordinates is not known before the step from which it goes on";
            return Err(Error::Integration { problem: problem.into(), help: None });
        }
        if self.kept.first().is_none_or(|step| number < step.number) {
            self.kept = vec![self.solve(field, self.first)?];
        }
        while let Some(last) = self.kept.last().filter(|last| last.number < number) {
            let end = last.segments.last().map_or(last.start, Segment::end);
            let next = self.solve(field, (last.number + 1, end))?;
            if self.kept.len() == KEPT {
                self.kept.remove(0);
            }
            self.kept.push(next);
        }
        let found = self.kept.iter().rposition(|step| step.number <= number).unwrap_or(0);
        Ok(&self.kept[found])
    }

    fn solve(&self, field: &dyn ExternalField, (number, start): (u64, OrbitState)) -> Result<Step> {
        let t = self.clock.time(Time::from_dt_max(number));
        Ok(Step { number, start, segments: follow(field, t, start, self.clock.dt_max)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::external::Plummer;
    use crate::particles::Vec3;

    const CLOCK: Clock = Clock { start: 3.0, dt_max: 1.0 / 16.0 };

    fn origin(number: u64, start: OrbitState) -> MovingOrigin {
        let field = Plummer { mass: 1.0, position: Vec3::zeros(), scale_radius: 0.0 };
        MovingOrigin::new(Arc::new(field), CLOCK, (number, start))
    }

    const START: OrbitState = OrbitState { pos: Vec3::new(0.3, 0.0, 0.0), vel: Vec3::new(0.0, 2.0, 0.5) };

    #[test]
    fn moments_in_any_order_and_from_any_step_on_have_the_same_bits() {
        let whole = origin(0, START);
        let moments: Vec<Time> = (0..200).map(|k| Time(k * 7 * TICKS_PER_DT_MAX / 32 + 5 * k)).collect();
        let found: Vec<OrbitPoint> = moments.iter().map(|&now| whole.at(now).unwrap()).collect();
        for (now, point) in moments.iter().zip(&found).rev() {
            assert_eq!(whole.at(*now).unwrap(), *point);
        }
        for cut in [10, 77] {
            let number = moments[cut].0 / TICKS_PER_DT_MAX;
            let later = origin(number, whole.beginning(moments[cut]).unwrap());
            for (now, point) in moments.iter().zip(&found).skip(cut) {
                assert_eq!(later.at(*now).unwrap(), *point);
            }
            assert!(later.at(Time::default()).is_err());
        }
    }

    #[test]
    fn nothing_jumps_at_the_joints() {
        let origin = origin(0, START);
        for number in 1..40 {
            let joint = Time::from_dt_max(number);
            let (before, after) = (origin.at(Time(joint.0 - 1)).unwrap(), origin.at(joint).unwrap());
            let tick = CLOCK.tick();
            assert!((after.pos - before.pos - tick * after.vel).norm() < 1e-15);
            assert!((after.vel - before.vel - tick * after.acc).norm() < 1e-13);
            assert!((after.acc - before.acc).norm() < 1e-9 * after.acc.norm());
            assert!((after.jerk - before.jerk).norm() < 1e-8 * after.jerk.norm());
        }
    }
}
