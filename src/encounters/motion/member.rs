//! Bodies of a subsystem: stars, and inner subsystems that nothing disturbs much, which move on their own orbits as if they were alone.
//!
//! The binding energy of an inner subsystem holds what the other bodies add to it: where it begins to be one body, and where it ends,
//! the potential energy of its stars beside the others, less that of a point, goes over to it and back, so that the sum stays.

use crate::encounters::forces::coupling::{self, Members};
use crate::encounters::motion::elements::Elements;
use crate::encounters::motion::elements::apocentre;
use crate::encounters::motion::elements::extent;
use crate::encounters::motion::elements::pair_elements;
use crate::encounters::motion::elements::{REFINED, bound_by};
use crate::few_body::Motion;
use tisane_force::error::Result;
use tisane_force::particles::Vec3;
use tisane_force::time::{Clock, Time};

/// Star, or inner subsystem that acts as a point.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Star, by its index.
    Star(u32),
    /// Inner subsystem.
    Inner(Box<Few>),
}

/// Bodies that move about their centre of mass.
#[derive(Clone, Debug, PartialEq)]
pub struct Few {
    /// The bodies, in the order of their lowest stars.
    pub bodies: Vec<Body>,
    /// Their motion, at [`time`](Self::time).
    pub motion: Motion,
    /// Moment.
    pub time: Time,
}

/// State of a body, or of a star, relative to some point.
#[derive(Clone, Debug)]
pub struct Placed<T> {
    /// What is there.
    pub of: T,
    /// Mass.
    pub mass: f64,
    /// Position.
    pub pos: Vec3,
    /// Velocity.
    pub vel: Vec3,
}

impl Body {
    /// Returns the lowest star.
    pub fn first(&self) -> u32 {
        match self {
            Self::Star(star) => *star,
            Self::Inner(few) => few.bodies.iter().map(Self::first).min().unwrap_or(u32::MAX),
        }
    }

    /// Returns all stars.
    pub fn stars(&self) -> Vec<u32> {
        match self {
            Self::Star(star) => vec![*star],
            Self::Inner(few) => few.bodies.iter().flat_map(Self::stars).collect(),
        }
    }

    /// Returns the inner subsystem.
    pub fn inner(&self) -> Option<&Few> {
        match self {
            Self::Star(_) => None,
            Self::Inner(few) => Some(few),
        }
    }

    /// Returns the binding energy inside of the body.
    pub fn binding(&self) -> f64 {
        self.inner().map_or(0.0, |few| few.motion.binding() + few.bodies.iter().map(Self::binding).sum::<f64>())
    }
}

impl Few {
    /// Returns the bodies at a moment not before the present one, if they are alone until then.
    pub fn at(&self, clock: &Clock, now: Time) -> Result<Self> {
        let mut later = self.clone();
        if now > self.time {
            later.motion.advance(clock.between(self.time, now), None)?;
            later.time = now;
        }
        Ok(later)
    }

    /// Returns the potential energy of its members, at its time, beside bodies at these places relative to its centre of
    /// mass, less that of a point.
    pub fn beside(&self, others: impl Iterator<Item = (f64, Vec3)>) -> f64 {
        let members = Members { mass: self.motion.masses(), offsets: self.motion.offsets(), speeds: Vec::new() };
        others.map(|(mass, pos)| mass * coupling::potential(&members, pos)).sum()
    }

    /// Returns it as it is at `now`, as an inner subsystem beside others, with its own energy alone.
    pub fn opened(&self, clock: &Clock, now: Time, others: impl Iterator<Item = (f64, Vec3)> + Clone) -> Result<Self> {
        let mut few = self.at(clock, now.max(self.time))?;
        let held = few.motion.clone();
        for _ in 0..REFINED {
            few.motion = bound_by(&held, few.beside(others.clone()));
        }
        Ok(few)
    }

    /// Returns it as an inner subsystem beside others.
    pub fn closed(mut self, others: impl Iterator<Item = (f64, Vec3)>) -> Self {
        self.motion = bound_by(&self.motion, -self.beside(others));
        self
    }

    /// Returns the elements of two bound bodies.
    pub fn elements(&self) -> Option<Elements> {
        pair_elements(&self.motion)
    }

    /// Returns the distance at apocentre of two bound bodies, otherwise that of now.
    pub fn size(&self) -> f64 {
        apocentre(&self.motion).unwrap_or_else(|| extent(&self.motion))
    }
}

/// Returns the bodies with their states relative to the centre of mass.
pub fn placed(bodies: &[Body], motion: &Motion) -> Vec<Placed<Body>> {
    let states = motion.offsets().into_iter().zip(motion.speeds()).zip(motion.masses());
    bodies.iter().zip(states).map(|(of, ((pos, vel), mass))| Placed { of: of.clone(), mass, pos, vel }).collect()
}

/// Returns all stars at `now` with their states relative to the centre of mass of the bodies, whose motion is that of `now`.
pub fn stars(bodies: &[Body], motion: &Motion, clock: &Clock, now: Time) -> Result<Vec<Placed<u32>>> {
    let mut found: Vec<Placed<u32>> = Vec::new();
    let mut rest = &placed(bodies, motion)[..];
    while let Some((Placed { of, mass, pos, vel }, later)) = rest.split_first() {
        match of {
            Body::Star(star) => found.push(Placed { of: *star, mass: *mass, pos: *pos, vel: *vel }),
            Body::Inner(few) => {
                let stars_before = found.iter().map(|star| (star.mass, star.pos - pos));
                let others = stars_before.chain(later.iter().map(|body| (body.mass, body.pos - pos)));
                let few = few.opened(clock, now, others)?;
                let inside = stars(&few.bodies, &few.motion, clock, now)?;
                found.extend(inside.into_iter().map(|star| Placed {
                    pos: pos + star.pos,
                    vel: vel + star.vel,
                    ..star
                }));
            }
        }
        rest = later;
    }
    Ok(found)
}
