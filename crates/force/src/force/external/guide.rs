//! Origin of coordinates that moves on an orbit in external fields.
//!
//! Particles have places d and velocities relative to the origin X(t), in axes that do not rotate. Their equations of motion are
//! d̈ = Σ (pairs) + a(X + d) − Ẍ. The orbit is a polynomial in each step of the longest length, by collocation at eight points
//! ([`segment`]), with Ẍ = a(X) to 2⁻⁴⁶. A cluster near the origin has all digits of its own places, in every precision mode.
//!
//! The steps are those of the time axis, and each follows from the place and velocity at its beginning alone. So a run that is
//! resumed has the same bits.

mod moment;
pub mod segment;
pub(crate) mod span;
mod tables;
mod tidal;
mod tidal_radius;

pub use moment::Moment;
pub use segment::{OrbitPoint, OrbitState};
pub use span::OrbitSpan;
pub use tidal::{About, AtOrigin, Tidal, Work};
pub use tidal_radius::tidal_radius;

use super::field::ExternalField;
use crate::error::{Error, Result};
use crate::particles::Particles;
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
    /// The last moment at which the field at the origin was asked for: a block step does so several times.
    last: Option<(Time, AtOrigin)>,
}

/// Step of the longest length.
struct Step {
    number: u64,
    start: OrbitState,
    /// Stretches between the moments of the field, one where it has none.
    pieces: Vec<Piece>,
}

/// Stretch of a step in which the field is smooth.
struct Piece {
    /// Times since the beginning of the step.
    from: f64,
    to: f64,
    /// Segments of equal length.
    segments: Vec<Segment>,
}

impl Step {
    /// Returns the origin at a tick of the step; `tick` is the length of one.
    fn at(&self, part: u64, tick: f64) -> OrbitPoint {
        if let [Piece { segments, .. }] = &self.pieces[..] {
            // The number of segments is a power of two: the rest of the division is exact.
            let ticks = TICKS_PER_DT_MAX / segments.len() as u64;
            return segments[(part / ticks) as usize].at((part % ticks) as f64 / ticks as f64);
        }
        let since = part as f64 * tick;
        let found = self.pieces.partition_point(|piece| piece.to < since).min(self.pieces.len() - 1);
        let Piece { from, to, segments } = &self.pieces[found];
        let count = segments.len() as f64;
        let z = ((since - from) / (to - from) * count).clamp(0.0, count);
        let segment = z.floor().min(count - 1.0);
        segments[segment as usize].at(z - segment)
    }

    /// Returns the state at the end.
    fn end(&self) -> OrbitState {
        self.pieces.last().and_then(|piece| piece.segments.last()).map_or(self.start, Segment::end)
    }
}

impl MovingOrigin {
    /// Returns the origin that has the state `start` at the beginning of the step `number` of the time axis, and moves in
    /// `field` from there on.
    #[must_use]
    pub fn new(field: Arc<dyn ExternalField>, clock: Clock, (number, start): (u64, OrbitState)) -> Self {
        let orbit = Orbit { clock, first: (number, start), kept: Vec::new(), last: None };
        Self { field, orbit: Arc::new(Mutex::new(orbit)) }
    }

    /// Returns the origin at a moment.
    ///
    /// # Errors
    /// [`Error::Integration`] where the orbit is too strongly curved, or the moment is before the first one.
    pub fn at(&self, now: Time) -> Result<OrbitPoint> {
        let (part, tick) = (now.0 % TICKS_PER_DT_MAX, self.lock().clock.tick());
        self.in_step(now, |step| step.at(part, tick))
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
        let known = self.lock().last.filter(|last| last.0 == now);
        let at_origin = match known {
            Some((_, at_origin)) => at_origin,
            None => {
                let origin = self.at(now)?;
                let mut orbit = self.lock();
                let found = AtOrigin::new(&*self.field, origin, orbit.clock.time(now));
                orbit.last.insert((now, found)).1
            }
        };
        Ok(Tidal::new(&*self.field, at_origin))
    }

    /// Returns the power of the moving origin on particles that stand at a moment, and its derivative, before the moment and after it: the
    /// rate of the field may jump there; see [`Tidal::power`].
    ///
    /// # Errors
    /// As [`MovingOrigin::at`].
    pub fn power(&self, now: Time, p: &Particles) -> Result<[[Work; 2]; 2]> {
        let clock = self.lock().clock;
        let origin = self.at(now)?;
        let at = |t: f64| Tidal::new(&*self.field, AtOrigin::new(&*self.field, origin, t)).power(p, t);
        Ok(match moment::of(&*self.field, &clock).into_iter().find(|moment| moment.at == now) {
            Some(moment) => [at(moment.before), at(moment.after)],
            None => [at(clock.time(now)); 2],
        })
    }

    /// Returns the first moment of the field after another one; see [`ExternalField::moments`].
    #[must_use]
    pub fn moment_after(&self, now: Time) -> Option<Moment> {
        moment::of(&*self.field, &self.lock().clock).into_iter().find(|moment| moment.at > now)
    }

    /// Returns the step of the orbit in which a moment is; [`None`] where the field has moments inside of it (see
    /// [`ExternalField::moments`]).
    ///
    /// # Errors
    /// As [`MovingOrigin::at`].
    pub fn span(&self, now: Time) -> Result<Option<OrbitSpan>> {
        let number = now.0 >> LOG2_TICKS_PER_DT_MAX;
        let [from, until] = [number, number + 1].map(Time::from_dt_max);
        let all = self.in_step(from, |step| match &step.pieces[..] {
            [Piece { segments, .. }] => Some(segments.iter().map(|segment| segment.coefficients()).collect::<Vec<_>>()),
            _ => None,
        })?;
        let Some(mut segments) = all else { return Ok(None) };
        let next = self.in_step(until, |step| step.pieces[0].segments[0].coefficients())?;
        segments.push(next);
        Ok(Some(OrbitSpan { from, until, segments }))
    }

    /// Returns the field in which the origin moves.
    #[must_use]
    pub fn field(&self) -> &Arc<dyn ExternalField> {
        &self.field
    }

    /// Begins the orbit anew on another time axis, at its beginning.
    pub fn begin(&self, clock: Clock, start: OrbitState) {
        *self.lock() = Orbit { clock, first: (0, start), kept: Vec::new(), last: None };
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
            let next = self.solve(field, (last.number + 1, last.end()))?;
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
        field.covers(t)?;
        field.covers(t + self.clock.dt_max)?;
        let inside = |end: &f64| *end > 0.0 && *end < self.clock.dt_max;
        let mut ends: Vec<f64> = field.moments().into_iter().map(|moment| moment - t).filter(inside).collect();
        ends.sort_unstable_by(f64::total_cmp);
        ends.dedup();
        ends.push(self.clock.dt_max);
        let (mut pieces, mut from, mut at): (Vec<Piece>, f64, OrbitState) = (Vec::new(), 0.0, start);
        for to in ends {
            let segments = follow(field, t + from, at, to - from)?;
            at = segments.last().map_or(at, Segment::end);
            pieces.push(Piece { from, to, segments });
            from = to;
        }
        Ok(Step { number, start, pieces })
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

    /// A sphere whose mass falls suddenly.
    struct Falling(Plummer);

    /// Time at which its mass begins to fall, within a step.
    const KINK: f64 = CLOCK.start + 2.3 * CLOCK.dt_max;

    impl Falling {
        fn strength(t: f64) -> [f64; 2] {
            if t <= KINK { [1.0, 0.0] } else { [1.0 - 0.5 * (t - KINK), -0.5] }
        }
    }

    impl ExternalField for Falling {
        fn acc(&self, pos: Vec3, t: f64) -> Vec3 {
            Self::strength(t)[0] * self.0.acc(pos, t)
        }
        fn jerk(&self, pos: Vec3, vel: Vec3, t: f64) -> Vec3 {
            let [value, slope] = Self::strength(t);
            value * self.0.jerk(pos, vel, t) + slope * self.0.acc(pos, t)
        }
        fn pot(&self, pos: Vec3, t: f64) -> f64 {
            Self::strength(t)[0] * self.0.pot(pos, t)
        }
        fn rate(&self, pos: Vec3, vel: Vec3, t: f64) -> [f64; 2] {
            let slope = Self::strength(t)[1];
            [slope * self.0.pot(pos, t), -slope * vel.dot(&self.0.acc(pos, t))]
        }
        fn moments(&self) -> Vec<f64> {
            vec![KINK]
        }
    }

    #[test]
    fn an_orbit_goes_through_a_kink_of_the_field() {
        let field = Arc::new(Falling(Plummer { mass: 1.0, position: Vec3::zeros(), scale_radius: 0.1 }));
        let origin = MovingOrigin::new(field.clone(), CLOCK, (0, START));
        // The same by steps that end at the kink.
        let until = follow(&*field, CLOCK.start, START, KINK - CLOCK.start).unwrap();
        let rest = 1.4 * CLOCK.dt_max;
        let expected = follow(&*field, KINK, until.last().unwrap().end(), rest).unwrap().last().unwrap().end();
        let now = Time((3.7 * TICKS_PER_DT_MAX as f64) as u64);
        let found = origin.at(now).unwrap();
        assert!((found.pos - expected.pos).norm() < 1e-11, "{found:?} {expected:?}");
        let moment = origin.moment_after(Time::default()).unwrap();
        assert!((CLOCK.time(moment.at) - KINK).abs() <= CLOCK.tick() && moment.before <= KINK && moment.after > KINK);
        assert!(origin.moment_after(moment.at).is_none());
        let p = Particles::new(vec![1.0], vec![0.1 * Vec3::x()], vec![Vec3::y()]);
        let [before, after] = origin.power(moment.at, &p).unwrap().map(|power| power[0].masses);
        assert!((before - after).abs() > 1e-3, "{before} {after}");
        let [before, after] = origin.power(now, &p).unwrap();
        assert_eq!(before, after);
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
