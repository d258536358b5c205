//! Steps, forces and begins of some particles alone, for a system that changes between block steps.

use super::{FirstStep, HermiteScheme as _, Moved};
use crate::integrator::block_loop::BlockLoop as _;
use crate::integrator::contract::Integrator;
use crate::integrator::hermite4::Hermite4;
use crate::integrator::steps::Steps;
use tisane_force::error::Result;
use tisane_force::force::ForceEngine;
use tisane_force::particles::Particles;
use tisane_force::time::{Level, Time};

/// The scheme of 4th order only: with a history, new forces and new particles would need one too.
impl Steps for Hermite4 {
    fn block(&self) -> &[u32] {
        &self.block
    }

    fn floor(&self) -> Level {
        self.limits.floor
    }

    fn synchronise(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, late: Vec<u32>, now: Time) -> Result<()> {
        for &i in &late {
            p.step[i as usize] = p.step[i as usize].max(now.shallowest_level());
        }
        self.block = late;
        self.step(p, f, now)?;
        Ok(())
    }

    fn evaluate_again(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, index: Vec<u32>, now: Time) -> Result<()> {
        self.block = index;
        self.predict_targets(p, 0..self.block.len(), |_| 0.0);
        self.evaluate(p, f, now)?;
        for (k, i) in self.block.iter().map(|&i| i as usize).enumerate() {
            (p.acc[i], p.jerk[i], p.pot[i]) = (self.forces.acc[k], self.forces.jerk[k], self.forces.pot[k]);
            p.time[i] = now;
        }
        f.update(p, &self.block)
    }

    fn admit(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, begun: Vec<u32>, now: Time) -> Result<()> {
        self.resume(p, now, f)?;
        self.evaluate_again(p, f, begun, now)?;
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

    fn reschedule(&mut self, p: &Particles, changed: &[u32]) {
        self.scheduler.reschedule(&p.step, changed);
    }
}
