//! Least steps of particles on which the forces cancel: no shorter than those of the others.

use super::guards::MIN_SHARE;
use super::scheme::HermiteScheme;
use super::{BlockHermite, PairLaw};
use tisane_force::error::Result;
use tisane_force::force::noise::BALANCE;
use tisane_force::gravity::predict;
use tisane_force::law::evaluate::Quantities;
use tisane_force::particles::Particles;
use tisane_force::time::Time;

/// Acceleration over the largest of all particles below which the forces of a law may cancel.
const SUSPECT: f64 = 1.0 / 1024.0;

impl<S: HermiteScheme> BlockHermite<S> {
    /// Returns the least step of target `k`, particle `i`, with the square `acc2` of its acceleration and the potential
    /// `pot`: 0 unless the forces on it cancel.
    #[inline(always)]
    pub(super) fn min_step(&self, (k, i): (usize, u32), acc2: f64, pot: f64) -> f64 {
        match self.law {
            None => self.noise.time_of_others(i, acc2, pot) * (MIN_SHARE * self.scheme.natural_step()),
            Some(_) => self.min_steps.get(k).copied().unwrap_or_default(),
        }
    }

    /// Finds the targets on which the forces of a law cancel at `now`, and their least steps: twice the shortest one of
    /// the others, which may be about to grow. The potential of a law may have any zero and any form, so that it says nothing of the scale of the forces,
    /// as that of Newton's law does.
    pub(super) fn find_cancelled(&mut self, p: &Particles, now: Time) -> Result<()> {
        self.min_steps.clear();
        let Some(of) = &self.law else { return Ok(()) };
        let columns = of.law.columns(p)?;
        let largest = p.acc.iter().map(|acc| acc.norm_squared()).fold(0.0, f64::max);
        for k in 0..self.targets.len() {
            let is_suspect = self.forces.acc[k].norm_squared() < SUSPECT * SUSPECT * largest;
            let cancel = is_suspect && self.forces.acc[k].norm() < BALANCE * self.sum_of_sizes(of, p, &columns, k, now);
            let others = || (0..p.len()).filter(|&j| j != self.targets.index[k] as usize);
            let deepest = if cancel { others().map(|j| p.step[j]).max() } else { None };
            self.min_steps.push(deepest.map_or(0.0, |level| MIN_SHARE * level.step(self.clock.dt_max)));
        }
        Ok(())
    }

    /// Returns the sum of the magnitudes of the accelerations of target `k` by a law.
    fn sum_of_sizes(&self, of: &PairLaw, p: &Particles, columns: &[&[f64]], k: usize, now: Time) -> f64 {
        let (i, pos) = (self.targets.index[k] as usize, self.targets.pos[k]);
        let values = |i: usize| columns.iter().map(|column| column[i]).collect::<Vec<_>>();
        let (own, mut registers, mut sum) = (values(i), Vec::new(), 0.0);
        for j in (0..p.len()).filter(|&j| j != i) {
            let dt = self.clock.between(p.time[j], now);
            let (source, _) = predict(p.pos[j], p.vel[j], p.acc[j], p.jerk[j], dt);
            let r = (source - pos).norm();
            let (s2, mass) = (r * r + of.eps2, [p.mass[j], p.mass[i]]);
            let pair = Quantities { s2, mass, source: &values(j), target: &own };
            sum += (of.law.accelerations().evaluate(&pair, &mut registers).factor * r).abs();
        }
        sum
    }
}
