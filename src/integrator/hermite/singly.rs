//! Steps of some particles alone, for integrators that change the system between block steps.

use super::{BlockHermite, FirstStep, HermiteScheme, Moved};
use tisane_force::error::Result;
use tisane_force::force::ForceEngine;
use tisane_force::particles::Particles;
use tisane_force::time::{Level, Time};

impl<S: HermiteScheme> BlockHermite<S> {
    /// Returns the particles of the last block, ascending.
    pub(in crate::integrator) fn block(&self) -> &[u32] {
        &self.block
    }

    /// Returns the deepest level allowed.
    pub(in crate::integrator) fn floor(&self) -> Level {
        self.limits.floor
    }

    /// Takes note of changed levels of some particles, ascending.
    pub(in crate::integrator) fn reschedule(&mut self, p: &Particles, changed: &[u32]) {
        self.scheduler.reschedule(&p.step, changed);
    }

    /// Moves some particles, ascending, which stand before `now`, to `now`, the moment of the last block.
    pub(in crate::integrator) fn bring(
        &mut self,
        p: &mut Particles,
        f: &mut dyn ForceEngine,
        index: Vec<u32>,
        now: Time,
    ) -> Result<()> {
        for &i in &index {
            p.step[i as usize] = p.step[i as usize].max(now.shallowest_level());
        }
        self.block = index;
        self.step(p, f, now)?;
        Ok(())
    }

    /// Gives some particles, ascending, which stand at `now`, forces anew.
    pub(in crate::integrator) fn evaluate_at(
        &mut self,
        p: &mut Particles,
        f: &mut dyn ForceEngine,
        index: Vec<u32>,
        now: Time,
    ) -> Result<()> {
        self.block = index;
        self.predict_targets(p, 0..self.block.len(), |_| 0.0);
        self.evaluate(p, f, now)?;
        for (k, i) in self.block.iter().map(|&i| i as usize).enumerate() {
            (p.acc[i], p.jerk[i], p.pot[i]) = (self.forces.acc[k], self.forces.jerk[k], self.forces.pot[k]);
            p.time[i] = now;
        }
        f.update(p, &self.block)
    }

    /// Gives some particles, ascending, which begin at `now`, forces and first steps.
    pub(in crate::integrator) fn begin_at(
        &mut self,
        p: &mut Particles,
        f: &mut dyn ForceEngine,
        index: Vec<u32>,
        now: Time,
    ) -> Result<()> {
        self.evaluate_at(p, f, index, now)?;
        let nu = match self.scheme.first_step() {
            FirstStep::FromJerk(nu) | FirstStep::Measured(nu) => nu,
        };
        let mut moved = Moved::default();
        for k in 0..self.block.len() {
            let i = self.block[k] as usize;
            let wanted = self.first_step(k, nu);
            let allowed = self.guards().allowed(wanted).filter(|_| self.is_finite(k));
            p.step[i] = moved.level(k, wanted, allowed).unwrap_or_default().max(now.shallowest_level());
        }
        self.check(p, now, moved)?;
        self.scheduler.reschedule(&p.step, &self.block);
        Ok(())
    }
}
