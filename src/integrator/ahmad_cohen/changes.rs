//! Pairs that entered or left a list: what the two parts of the force exchange.

use super::AhmadCohen;
use super::lists::changed;
use crate::integrator::pair_series::{Relative, Series, pair_series};
use tisane_force::particles::{Particles, Vec3};
use tisane_force::states::neighbours::Neighbours;
use tisane_force::time::Time;

impl AhmadCohen {
    /// Returns the exchange of the target `k` of the block, whose new forces and list are those at `rank`. Reads
    /// positions and velocities as they stood before the block step, so the result does not depend on the order of
    /// correction.
    pub(super) fn exchange(&self, p: &Particles, now: Time, k: usize, rank: usize) -> Option<Series> {
        let i = self.block[k] as usize;
        let (old, new) = (&p.states.get::<Neighbours>().lists[i], &self.forces.lists[rank]);
        if old == new {
            return None;
        }
        let acc = self.forces.regular.acc[rank] + self.forces.renewed.acc[rank];
        let jerk = self.forces.regular.jerk[rank] + self.forces.renewed.jerk[rank];
        let mut sum = [Vec3::zeros(); 4];
        changed(old, new, |j, entered| {
            let j = j as usize;
            let dt = self.clock.between(p.time[j], now);
            let (pos, vel) = self.predicted(p, j, now, p.step[j] >= now.shallowest_level());
            let relative = Relative {
                pos: pos - self.targets.pos[k],
                vel: vel - self.targets.vel[k],
                acc: p.acc[j] + p.jerk[j] * dt - acc,
                jerk: p.jerk[j] - jerk,
            };
            let sign = if entered { 1.0 } else { -1.0 };
            let pair = pair_series(sign * p.mass[j], &relative, self.forces.eps2);
            sum.iter_mut().zip(pair).for_each(|(sum, term)| *sum += term);
        });
        Some(sum)
    }
}
