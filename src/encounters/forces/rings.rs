//! Inner pairs of a subsystem as rings beside its other members.

use crate::encounters::forces::orbit::{AveragedPair, Orbit};
use crate::encounters::forces::tides::Tides;
use crate::few_body::{Motion, Tide};
use nalgebra::Matrix3;
use tisane_force::error::Result;
use tisane_force::particles::Vec3;

/// Ring of an inner pair.
#[derive(Clone, Debug)]
pub struct Ring {
    /// Lowest star of the pair.
    pub first: u32,
    /// Orbit at the begin, and at present.
    pub before: Orbit,
    pub orbit: Orbit,
    reduced: f64,
}

impl Ring {
    /// Returns the ring of a pair with this lowest star; [`None`] if it has no [orbit](Orbit::of).
    pub fn of(first: u32, pair: &Motion) -> Option<Self> {
        let (orbit, (reduced, _)) = (Orbit::of(pair)?, pair.pair_constants()?);
        Some(Self { first, before: orbit, orbit, reduced })
    }

    /// Returns the pair averaged over its present orbit.
    pub fn averaged(&self) -> AveragedPair {
        self.orbit.averaged_pair(self.reduced, &Matrix3::zeros())
    }
}

/// Forces between rings and other members, and the tide outside, of a motion that began earlier.
pub struct RingTide<'a> {
    /// Rings, with their places among the members.
    pub rings: Vec<(usize, AveragedPair)>,
    /// Masses of the members; empty without rings.
    pub mass: Vec<f64>,
    /// Tide of bodies outside.
    pub outside: Option<&'a Tides>,
    /// Time since that began.
    pub by: f64,
}

impl Tide for RingTide<'_> {
    fn acc(&self, time: f64, offsets: &[Vec3], acc: &mut [Vec3]) {
        match self.outside {
            Some(outside) => outside.acc(self.by + time, offsets, acc),
            None => acc.fill(Vec3::zeros()),
        }
        for (k, ring) in &self.rings {
            for j in (0..offsets.len()).filter(|j| j != k) {
                let pull = ring.pull(offsets[j] - offsets[*k]);
                acc[j] += pull;
                acc[*k] -= pull * (self.mass[j] / self.mass[*k]);
            }
        }
    }
}

impl RingTide<'_> {
    /// Returns it as a tide; [`None`] if there are no forces.
    pub fn tide(&self) -> Option<&dyn Tide> {
        (!self.rings.is_empty() || self.outside.is_some()).then_some(self)
    }
}

/// Returns the time in which the place of a body relative to another changes; `mass` is that of both.
pub fn time_of_change(pos: Vec3, vel: Vec3, mass: f64) -> f64 {
    let r2 = pos.norm_squared();
    (r2 / (vel.norm_squared() + mass / r2.sqrt())).sqrt()
}

/// Moves the members by the time `dt`, without a look at contacts. Returns [`None`]: it does not end before.
pub fn move_alone(motion: &mut Motion, dt: f64, tide: &RingTide<'_>) -> Result<Option<f64>> {
    motion.advance(dt, tide.tide()).map(|()| None)
}
