//! Perturbation of the members of a subsystem by others.

use super::Units;
use super::coupling;
use crate::few_body::Tide;
use crate::gravity::predict;
use crate::particles::Vec3;
use crate::time::{Clock, Time};
use nalgebra::Matrix3;

/// Tidal field of those that do not feel the members, or not fully, to the first order in place and time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Far {
    /// Moment.
    pub from: Time,
    /// Derivatives of the acceleration by the place.
    pub tide: Matrix3<f64>,
    /// Their derivatives by the time.
    pub change: Matrix3<f64>,
}

impl Far {
    /// Adds a body at relative position `r` with relative velocity `v`.
    pub fn add(&mut self, mass: f64, r: Vec3, v: Vec3) {
        // m (3 r rᵀ / r² − 1) / r³ and its derivative; both are symmetric.
        let r2 = r.norm_squared();
        let m_r3 = mass / (r2 * r2.sqrt());
        let (per_r2, rv) = (3.0 * m_r3 / r2, r.dot(&v) / r2);
        let along = r * (per_r2 * 5.0 * rv);
        for i in 0..3 {
            for k in 0..=i {
                let tide = per_r2 * r[i] * r[k];
                let change = per_r2 * (r[i] * v[k] + v[i] * r[k]) - along[i] * r[k];
                self.tide[(i, k)] += tide;
                self.change[(i, k)] += change;
                if i != k {
                    self.tide[(k, i)] += tide;
                    self.change[(k, i)] += change;
                }
            }
            self.tide[(i, i)] -= m_r3;
            self.change[(i, i)] += 3.0 * rv * m_r3;
        }
    }
}

/// Perturbation of the members by those on the list, with all units predicted from their last steps.
pub struct Tides<'a> {
    /// The units.
    pub units: &'a Units,
    /// Time axis.
    pub clock: &'a Clock,
    /// Moment at which the motion begins.
    pub from: Time,
    /// The centre of mass.
    pub here: usize,
    /// Units on the list with squares of their outer radii.
    pub near: Vec<(usize, f64)>,
    /// Far field, and how long before the begin it was that.
    pub far: Option<(Far, f64)>,
}

impl Tide for Tides<'_> {
    fn acc(&self, time: f64, offsets: &[Vec3], acc: &mut [Vec3]) {
        let place = |i: usize| {
            let p = &self.units.all;
            // A unit that moved since then: the motion is advanced before anyone on the list moves.
            let dt = self.clock.between(p.time[i], self.from) + time;
            predict(p.pos[i], p.vel[i], p.acc[i], p.jerk[i], dt).0
        };
        acc.fill(Vec3::zeros());
        if let Some((far, since)) = self.far {
            let tide = far.tide + far.change * (since + time);
            acc.iter_mut().zip(offsets).for_each(|(acc, offset)| *acc = tide * offset);
        }
        let centre = place(self.here);
        for &(k, outer2) in &self.near {
            let r = place(k) - centre;
            for (acc, offset) in acc.iter_mut().zip(offsets) {
                *acc += coupling::tide(self.units.all.mass[k], r, *offset, outer2);
            }
        }
    }
}
