//! Members of a subsystem: stars, and inner subsystems that nothing disturbs much, which move on their own orbits as if they were alone.
//!
//! The binding energy of an inner subsystem holds what the other members add to it: where it begins to be one member, and where it ends,
//! the potential energy of its stars beside the others, less that of a point, goes over to it and back, so that the sum stays.

use crate::encounters::forces::coupling::{self, PointMasses};
use crate::encounters::motion::elements::{Elements, apocentre, bound_by, extent, pair_elements};
use crate::encounters::settings::criteria;
use crate::few_body::Motion;
use tisane_force::error::Result;
use tisane_force::particles::Vec3;
use tisane_force::time::{Clock, Time};

/// Star, or inner subsystem that acts as a point.
#[derive(Clone, Debug, PartialEq)]
pub enum Member {
    /// Star, by its index.
    Star(u32),
    /// Inner subsystem.
    Inner(Box<Few>),
}

/// Members that move about their centre of mass.
#[derive(Clone, Debug, PartialEq)]
pub struct Few {
    /// The members, in the order of their lowest stars.
    pub members: Vec<Member>,
    /// Their motion, at [`time`](Self::time).
    pub motion: Motion,
    /// Moment.
    pub time: Time,
}

/// State of a member, or of a star, relative to some point.
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

impl Member {
    /// Returns the lowest star.
    pub fn first(&self) -> u32 {
        match self {
            Self::Star(star) => *star,
            Self::Inner(few) => few.members.iter().map(Self::first).min().unwrap_or(u32::MAX),
        }
    }

    /// Returns all stars.
    pub fn stars(&self) -> Vec<u32> {
        match self {
            Self::Star(star) => vec![*star],
            Self::Inner(few) => few.members.iter().flat_map(Self::stars).collect(),
        }
    }

    /// Returns the inner subsystem.
    pub fn inner(&self) -> Option<&Few> {
        match self {
            Self::Star(_) => None,
            Self::Inner(few) => Some(few),
        }
    }

    /// Returns the binding energy inside of the member.
    pub fn binding(&self) -> f64 {
        self.inner().map_or(0.0, |few| few.motion.binding() + few.members.iter().map(Self::binding).sum::<f64>())
    }
}

impl Few {
    /// Returns the members at a moment not before the present one, if they are alone until then.
    pub fn at(&self, clock: &Clock, now: Time) -> Result<Self> {
        let mut later = self.clone();
        if now > self.time {
            later.motion.advance(clock.between(self.time, now), None)?;
            later.time = now;
        }
        Ok(later)
    }

    /// Returns the potential energy of its members, at its time, beside others at these positions relative to its centre of
    /// mass, less that of a point.
    pub fn beside(&self, others: impl Iterator<Item = (f64, Vec3)>) -> f64 {
        let points = PointMasses { mass: self.motion.masses(), offsets: self.motion.offsets(), speeds: Vec::new() };
        others.map(|(mass, pos)| mass * coupling::potential(&points, pos)).sum()
    }

    /// Returns it as it is at `now`, as an inner subsystem beside others, with its own energy alone.
    pub fn opened(&self, clock: &Clock, now: Time, others: impl Iterator<Item = (f64, Vec3)> + Clone) -> Result<Self> {
        let mut few = self.at(clock, now.max(self.time))?;
        let held = few.motion.clone();
        for _ in 0..criteria::REFINEMENTS {
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

/// Returns the members with their states relative to the centre of mass.
pub fn placed(members: &[Member], motion: &Motion) -> Vec<Placed<Member>> {
    let states = motion.offsets().into_iter().zip(motion.speeds()).zip(motion.masses());
    members.iter().zip(states).map(|(of, ((pos, vel), mass))| Placed { of: of.clone(), mass, pos, vel }).collect()
}

/// Returns all stars at `now` with their states relative to the centre of mass of the members, whose motion is that of `now`.
pub fn stars(members: &[Member], motion: &Motion, clock: &Clock, now: Time) -> Result<Vec<Placed<u32>>> {
    let mut found: Vec<Placed<u32>> = Vec::new();
    let mut rest = &placed(members, motion)[..];
    while let Some((Placed { of, mass, pos, vel }, later)) = rest.split_first() {
        match of {
            Member::Star(star) => found.push(Placed { of: *star, mass: *mass, pos: *pos, vel: *vel }),
            Member::Inner(few) => {
                let stars_before = found.iter().map(|star| (star.mass, star.pos - pos));
                let others = stars_before.chain(later.iter().map(|member| (member.mass, member.pos - pos)));
                let few = few.opened(clock, now, others)?;
                let inside = stars(&few.members, &few.motion, clock, now)?;
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
