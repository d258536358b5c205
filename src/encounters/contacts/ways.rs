//! Ways of bodies in a block step, and where their stars are on them.

use crate::encounters::contacts::inside::elapsed;
use crate::encounters::contacts::path::{Path, State, between};
use crate::encounters::forces::bodies::Bodies;
use crate::encounters::forces::surroundings::at;
use crate::encounters::motion::member;
use crate::encounters::motion::subsystem::Subsystem;
use crate::encounters::motion::touched::Touched;
use crate::encounters::settings::criteria::Rules;
use std::collections::BTreeMap;
use tisane_force::error::Result;
use tisane_force::gravity::predict;
use tisane_force::particles::{Particles, Vec3};
use tisane_force::time::{Clock, Time};

/// Search for contacts during a block step.
#[derive(Debug, Default)]
pub struct Crossings {
    /// Ways of the bodies that have moved in this block step, by lowest stars.
    pub ways: BTreeMap<u32, Way>,
    /// Bodies that have moved or begun in this block step, by lowest stars.
    pub stirred: Vec<u32>,
    /// Contacts of stars that are to become one.
    pub found: Vec<Touched>,
}

/// Way of a body up to the present moment.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// Position, velocity, acceleration and jerk at the begin.
    pub begin: [Vec3; 4],
    /// State at the present moment.
    pub end: State,
    /// Time from the begin to the present moment, above 0.
    pub span: f64,
}

impl Way {
    /// Returns the way of a body that stood at a state; [`None`] if that is the present one.
    pub fn of(p: &Particles, body: usize, state: [Vec3; 4], from: Time, now: Time, clock: &Clock) -> Option<Self> {
        let since = clock.between(p.time[body], now);
        let (pos, vel) = at(p, body, clock, now);
        let end = [pos, vel, p.acc[body] + p.jerk[body] * since];
        (from < now).then(|| Self { begin: state, end, span: clock.between(from, now) })
    }

    /// Returns the state at a time after the begin as it was predicted then: where others knew the body to be.
    pub fn predicted(&self, time: f64) -> State {
        let [pos, vel, acc, jerk] = self.begin;
        let (x, v) = predict(pos, vel, acc, jerk, time);
        [x, v, acc + jerk * time]
    }

    /// Returns the state at a time before the present moment.
    pub fn back(&self, time: f64) -> State {
        let [pos, vel, acc, _] = self.begin;
        Path::new([pos, vel, acc], self.end, self.span).at(self.span - time)
    }

    /// Returns the path to another body over the time in which both are known.
    pub fn to(&self, other: &Self) -> Path {
        let span = self.span.min(other.span);
        let [a, b] = [self, other].map(|way| way.predicted(way.span - span));
        Path::new(between(a, b), between(self.end, other.end), span)
    }
}

/// Star of a body at one moment, relative to the place of the body.
pub type Offset = (u32, f64, [Vec3; 2]);

impl Subsystem {
    /// Returns the stars at a moment, also an earlier one, relative to the centre of mass.
    pub fn stars_at(&self, bodies: &Bodies, clock: &Clock, rules: &Rules, time: Time) -> Result<Vec<Offset>> {
        let subsystem = if time < self.time {
            let mut earlier = self.clone();
            earlier.motion.advance(elapsed(clock, self.time, time), None)?;
            earlier
        } else {
            self.at(bodies, clock, rules, time)?
        };
        let stars = member::stars(&subsystem.members, &subsystem.motion, clock, time.max(subsystem.time))?;
        Ok(stars.into_iter().map(|star| (star.of, star.mass, [star.pos, star.vel])).collect())
    }
}

/// Returns the share of the second of two masses in their sum; half of it without masses.
pub fn share([a, b]: [f64; 2]) -> f64 {
    if a + b > 0.0 { b / (a + b) } else { 0.5 }
}
