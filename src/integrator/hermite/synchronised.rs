//! State of all particles at any moment, between the block steps of an integration.

use super::{BlockHermite, HermiteScheme, LANES, StepEnd};
use crate::integrator::particle_slices::ParticleSlices;
use tisane_force::error::Result;
use tisane_force::force::ForceEngine;
use tisane_force::particles::Particles;
use tisane_force::time::Time;

impl<S: HermiteScheme> BlockHermite<S> {
    /// Returns a copy of the particles in which those before `now` have taken a step to it, as long as it may be: the
    /// corrector holds for any ratio of steps. The integration knows nothing of it.
    pub(super) fn at(&mut self, p: &Particles, now: Time, f: &mut dyn ForceEngine) -> Result<Particles> {
        let mut moved = p.clone();
        self.prepare_low_parts(&mut moved);
        self.block = (0..p.len() as u32).filter(|&i| p.time[i as usize] < now).collect();
        self.scheduler.leave_out_empty(&mut self.block);
        let (n, tile) = (self.block.len(), self.tile(f));
        for begin in (0..n).step_by(tile) {
            self.predict_and_evaluate(p, begin..n.min(begin.saturating_add(tile)), now, f)?;
            self.check_finite(p, now)?;
            self.correct_copy(&mut moved, now);
        }
        Ok(moved)
    }

    /// Corrects the targets in a copy of the particles.
    fn correct_copy(&self, p: &mut Particles, now: Time) {
        let Self { scheme, clock, forces, targets, .. } = self;
        let predicted = match scheme.iterations() {
            1 => (&targets.pos, &targets.vel),
            _ => (&self.predicted.0, &self.predicted.1),
        };
        let mut p = ParticleSlices::all(p).of_equal_length();
        let mut lanes = S::Lanes::default();
        for (k, &i) in targets.index.iter().enumerate() {
            let i = i as usize;
            let end = StepEnd {
                now,
                dt: clock.between(p.columns.time[i], now),
                noise: 0.0,
                pos: predicted.0[k],
                vel: predicted.1[k],
                acc: forces.acc[k],
                acc_for_step: forces.acc[k],
                jerk: forces.jerk[k],
            };
            // The arguments of the step criterion are not used.
            scheme.correct(&mut p, i, &end, &mut lanes, k % LANES);
            p.columns.pot[i] = forces.pot[k];
        }
    }
}
