//! Start of a Hermite integrator: forces at time zero, first steps, and derivatives for the first prediction.

use super::{BlockHermite, FirstStep, HermiteScheme, Moved, tiles};
use crate::integrator::block_loop::BlockLoop as _;
use crate::integrator::contract::Progress;
use crate::integrator::scheduler::Scheduler;
use crate::integrator::timestep::{aarseth, initial};
use std::ops::Range;
use tisane_force::error::Result;
use tisane_force::force::ForceEngine;
use tisane_force::particles::Particles;
use tisane_force::states::history::History;
use tisane_force::states::low_parts::LowParts;
use tisane_force::time::{Level, Time};

/// Accuracy parameter of the distance in time at which derivatives are measured at the start.
const NU_TRIAL: f64 = 1.0 / 64.0;

impl<S: HermiteScheme> BlockHermite<S> {
    /// Evaluates all particles at time zero and gives them their first steps: the start of the integrator.
    pub(super) fn begin(&mut self, p: &mut Particles, f: &mut dyn ForceEngine) -> Result<Progress> {
        let (n, now, first_step) = (p.len(), Time::default(), self.scheme.first_step());
        let [points, derivatives] = self.scheme.history();
        p.states.set(History::new(n, points, derivatives));
        p.states.set(LowParts::default());
        self.prepare_low_parts(p);
        self.load(p, f)?;
        self.block = (0..n as u32).collect();
        let nu = match first_step {
            FirstStep::FromJerk(nu) => nu,
            FirstStep::Measured(_) => NU_TRIAL,
        };
        let (mut shortest, mut clamped) = (self.clock.dt_max, 0);
        for tile in tiles(n) {
            self.predict_targets(p, tile.clone(), |_| 0.0);
            self.evaluate(p, f, now)?;
            p.pos[tile.clone()].copy_from_slice(&self.targets.pos);
            p.vel[tile.clone()].copy_from_slice(&self.targets.vel);
            p.acc[tile.clone()].copy_from_slice(&self.forces.acc);
            p.jerk[tile.clone()].copy_from_slice(&self.forces.jerk);
            p.pot[tile.clone()].copy_from_slice(&self.forces.pot);
            p.time[tile.clone()].fill(now);
            let wanted: Vec<f64> = (0..tile.len()).map(|k| self.first_step(k, nu)).collect();
            match first_step {
                FirstStep::FromJerk(_) => clamped += self.set_first_steps(p, tile, &wanted)?,
                FirstStep::Measured(_) => {
                    self.check_finite(p, now)?;
                    shortest = wanted.into_iter().fold(shortest, f64::min);
                }
            }
        }
        f.update(p, &self.block)?;
        let mut evaluations = 1;
        if let FirstStep::Measured(nu) = first_step {
            clamped += self.measure_first_steps(p, f, nu, shortest)?;
            f.update(p, &self.block)?;
            evaluations += 2;
        }
        self.scheduler = Scheduler::new(now, &p.step);
        let n = n as u64;
        Ok(Progress { now, pairs: evaluations * n * n.saturating_sub(1), clamped, ..Progress::default() })
    }

    /// Returns the first step of target `k`: in an external field the shorter one of those by the whole force and by the
    /// pairs, if they act.
    pub(super) fn first_step(&self, k: usize, nu: f64) -> f64 {
        let forces = &self.forces;
        let (acc, jerk, pot) = (forces.acc[k].norm(), forces.jerk[k].norm(), forces.pot[k].abs());
        match forces.external.get(k) {
            None => initial(nu, acc, jerk, pot),
            Some(external) => {
                let whole = initial(nu, acc, jerk, pot + external.abs());
                let by_pairs = || initial(nu, forces.acc_for_step(k).norm(), jerk, pot);
                if pot == 0.0 { whole } else { whole.min(by_pairs()) }
            }
        }
    }

    /// Gives the particles `tile` their first steps. Returns the number of particles clamped to the floor.
    fn set_first_steps(&self, p: &mut Particles, tile: Range<usize>, wanted: &[f64]) -> Result<u64> {
        let mut moved = Moved::default();
        for (k, (i, &wanted)) in tile.zip(wanted).enumerate() {
            let allowed = self.guards().allowed(wanted).filter(|_| self.is_finite(k));
            p.step[i] = moved.level(k, wanted, allowed).unwrap_or_default();
        }
        self.check(p, Time::default(), moved)
    }

    /// Gives all particles first steps by Aarseth's criterion with the parameter ν, and the derivatives of their first
    /// prediction. Snap and crackle follow from the jerks at the start and at one and two times the step `shortest`
    /// after it, to which everything is predicted.
    /// Returns the number of particles clamped to the floor.
    fn measure_first_steps(
        &mut self,
        p: &mut Particles,
        f: &mut dyn ForceEngine,
        nu: f64,
        shortest: f64,
    ) -> Result<u64> {
        let level = Level::not_longer_than(shortest / self.clock.dt_max).unwrap_or(Level::DEEPEST);
        let (once, twice) = (Time(level.ticks()), Time(2 * level.ticks()));
        let (dt, mut clamped, mut first) = (level.step(self.clock.dt_max), 0, f64::INFINITY);
        for tile in tiles(p.len()) {
            self.predict_targets(p, tile.clone(), |_| dt);
            self.evaluate(p, f, once)?;
            self.check_finite(p, once)?;
            let middle = std::mem::take(&mut self.forces.jerk);
            self.predict_targets(p, tile.clone(), |_| 2.0 * dt);
            self.evaluate(p, f, twice)?;
            self.check_finite(p, twice)?;
            let mut wanted = Vec::with_capacity(tile.len());
            for (k, (i, (middle, last))) in tile.clone().zip(middle.iter().zip(&self.forces.jerk)).enumerate() {
                // In units of dt² and dt³, as the criterion takes them.
                let snap = (4.0 * middle - 3.0 * p.jerk[i] - last) * (0.5 * dt);
                let crackle = (p.jerk[i] - 2.0 * middle + last) * dt;
                // The part by the pairs is known of the last evaluation, shortly after the start.
                let in_field = !self.forces.external_acc.is_empty();
                let acc = if in_field { self.forces.acc_for_step(k) } else { p.acc[i] };
                let step = aarseth(nu, dt, acc.norm(), p.jerk[i].norm(), snap.norm(), crackle.norm());
                let min = self.noise.time_of_others(i as u32, p.acc[i].norm_squared(), p.pot[i]) * nu.sqrt();
                wanted.push(if self.law.is_none() && step < min { min } else { step });
                let (per_dt, mut scale) = (1.0 / dt, 1.0 / dt);
                let of = p.states.get_mut::<History>();
                for (column, derivative) in of.derivatives.iter_mut().zip([snap, crackle]) {
                    scale *= per_dt;
                    column[i] = derivative * scale;
                }
            }
            first = wanted.iter().copied().fold(first, f64::min);
            clamped += self.set_first_steps(p, tile, &wanted)?;
        }
        if let Some(step) = self.scheme.first_of_longest_steps(first, self.clock.dt_max) {
            let level = Level::not_longer_than(step / self.clock.dt_max).unwrap_or(Level::DEEPEST);
            let level = level.min(self.limits.floor);
            p.step.iter_mut().for_each(|step| *step = level.max(*step));
        }
        Ok(clamped)
    }
}
