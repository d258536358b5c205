//! Rounding errors where the forces of a [law](crate::law) cancel. The potential of a law may have any zero and any form, so
//! that it says nothing of the scale of the forces, as that of Newton's law does: their magnitudes are added up.

use super::{BlockHermite, HermiteScheme};
use crate::error::Result;
use crate::force::noise::{CANCEL, FAR};
use crate::gravity::predict;
use crate::law::Law;
use crate::law::evaluate::Quantities;
use crate::particles::{Particles, Vec3};
use crate::time::Time;
use std::sync::Arc;

/// Change of the acceleration in a step, relative to the new one, from which on the forces may cancel: no step with a
/// sensible accuracy has such a change on a smooth path.
const LARGE: f64 = 0.125;

/// Law of the forces, and its softening squared.
#[derive(Clone, Debug)]
pub(super) struct PairLaw {
    pub law: Arc<Law>,
    pub eps2: f64,
}

impl<S: HermiteScheme> BlockHermite<S> {
    /// Finds the targets on which the forces of a law cancel at `now`, and the rounding errors of their accelerations:
    /// 0 for all others. Without a law there are none.
    pub(super) fn find_cancelled(&mut self, p: &Particles, now: Time) -> Result<()> {
        self.cancelled.clear();
        let Some(of) = &self.law else { return Ok(()) };
        let columns = of.law.columns(p)?;
        for k in 0..self.targets.len() {
            let (i, acc) = (self.targets.index[k] as usize, self.forces.acc[k]);
            let is_suspect = (acc - p.acc[i]).norm_squared() > LARGE * LARGE * acc.norm_squared();
            let error = if is_suspect { self.error_of(of, p, (&columns[..], k), now) } else { 0.0 };
            self.cancelled.push(error);
        }
        Ok(())
    }

    /// Returns the rounding error of the acceleration of target `k`; 0 where the forces on it do not cancel.
    fn error_of(&self, of: &PairLaw, p: &Particles, (columns, k): (&[&[f64]], usize), now: Time) -> f64 {
        let (i, pos) = (self.targets.index[k] as usize, self.targets.pos[k]);
        let values = |i: usize| columns.iter().map(|column| column[i]).collect::<Vec<_>>();
        let (own, mut registers) = (values(i), Vec::new());
        let reach = largest(&pos);
        let (mut scale, mut error) = (0.0, 0.0);
        for j in (0..p.len()).filter(|&j| j != i) {
            let dt = self.clock.between(p.time[j], now);
            let (source, _) = predict(p.pos[j], p.vel[j], p.acc[j], p.jerk[j], dt);
            let r = (source - pos).norm();
            let pair =
                Quantities { s2: r * r + of.eps2, mass: [p.mass[j], p.mass[i]], source: &values(j), target: &own };
            let term = (of.law.accelerations().evaluate(&pair, &mut registers).factor * r).abs();
            scale += term;
            // Coordinates are rounded too, by more where they are larger.
            error += term * (reach / (FAR * r)).max(1.0);
        }
        if self.forces.acc[k].norm() < CANCEL * scale { self.limits.noise[1] * error } else { 0.0 }
    }
}

/// Returns the largest coordinate.
fn largest(pos: &Vec3) -> f64 {
    pos.iter().fold(0.0, |most, x| most.max(x.abs()))
}
