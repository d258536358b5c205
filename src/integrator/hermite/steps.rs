//! Steps, forces and begins of some particles alone, for a system that changes between block steps.

use super::{BlockHermite, FirstStep, HermiteScheme, Moved};
use crate::integrator::block_loop::BlockLoop as _;
use crate::integrator::contract::Progress;
use crate::integrator::pair_series::{Source, add_sources, before};
use crate::integrator::steps::{RowChange, Steps};
use crate::integrator::timestep::deeper;
use tisane_force::error::Result;
use tisane_force::force::ForceEngine;
use tisane_force::force::block_steps::Pause;
use tisane_force::force::watch::Watch;
use tisane_force::particles::Particles;
use tisane_force::states::history::History;
use tisane_force::states::low_parts::LowParts;
use tisane_force::time::{Level, Time};

/// Without earlier points a step is of 4th order. Half as long it keeps the error of the order that the scheme has with them.
impl<S: HermiteScheme> Steps for BlockHermite<S> {
    fn block(&self) -> &[u32] {
        &self.block
    }

    fn unattended_from(&self) -> Option<(Time, Level)> {
        self.scheme.step_scheme().map(|_| (self.scheduler.now(), self.scheduler.deepest()))
    }

    fn advance_watched(
        &mut self,
        p: &mut Particles,
        f: &mut dyn ForceEngine,
        span: (Time, u64),
        by: (&mut Watch<'_>, Option<&Pause>),
    ) -> Result<Option<Progress>> {
        self.prepare_low_parts(p);
        self.take_watched(p, f, span, by)
    }

    fn floor(&self) -> Level {
        self.limits.floor
    }

    fn natural_step(&self) -> f64 {
        self.scheme.natural_step()
    }

    fn synchronise(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, late: Vec<u32>, now: Time) -> Result<()> {
        self.prepare_low_parts(p);
        self.move_late(p, f, late, now)
    }

    fn evaluate_again(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, index: Vec<u32>, now: Time) -> Result<()> {
        self.block = index;
        if self.has_history() {
            let (history, n) = (p.states.get_mut::<History>(), p.mass.len());
            for i in self.block.iter().map(|&i| i as usize) {
                // Once at a moment.
                if history.points[0].time[i] < now {
                    p.step[i] = deeper(p.step[i], self.limits.floor);
                }
            }
            history.begin(n, &self.block, now);
            self.scheduler.reschedule(&p.step, &self.block);
        }
        self.evaluate_block(p, f, now)
    }

    fn admit(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, change: &RowChange, now: Time) -> Result<()> {
        let rows = change.rows();
        if self.has_history() {
            let n = p.len();
            p.states.get_mut::<History>().begin(n, &rows, now);
        }
        if self.limits.compensated {
            let n = p.len();
            p.states.get_mut::<LowParts>().begin(n, &rows);
        }
        self.note_changed(p, &rows);
        f.replace(p, &rows)?;
        self.block.clone_from(&change.begun);
        if !self.block.is_empty() {
            self.evaluate_block(p, f, now)?;
            self.begin_steps(p, now)?;
        }
        self.scheduler.change_rows(&p.step, &change.begun, &change.emptied);
        Ok(())
    }

    fn set_empty(&mut self, empty: &[u32]) {
        self.scheduler.set_empty(empty);
    }

    fn add_sources(&self, p: &mut Particles, sources: &[Source], eps2: f64, gone: &[u32], now: Time) {
        let (has_history, clock) = (self.has_history(), self.clock);
        let stays = |i: usize| gone.binary_search(&(i as u32)).is_err();
        add_sources(p, sources, eps2, stays, |p, i, _, _, pair| {
            if !has_history {
                return;
            }
            let History { derivatives, points } = p.states.get_mut();
            for (column, derivative) in derivatives.iter_mut().zip(&pair[2..]) {
                column[i] += derivative;
            }
            for point in points {
                let (acc, jerk) = before(pair, clock.between(point.time[i], now));
                point.acc[i] += acc;
                point.jerk[i] += jerk;
            }
        });
    }

    fn reschedule(&mut self, p: &Particles, changed: &[u32]) {
        if !changed.is_empty() {
            self.scheduler.reschedule(&p.step, changed);
            self.turns.note_rescheduled(changed);
        }
    }
}

impl<S: HermiteScheme> BlockHermite<S> {
    fn has_history(&self) -> bool {
        self.scheme.history() != [0, 0]
    }

    /// Evaluates the forces on the particles of the block, where they stand.
    fn evaluate_block(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, now: Time) -> Result<()> {
        self.predict_targets(p, 0..self.block.len(), |_| 0.0);
        self.evaluate(p, f, now)?;
        for (k, i) in self.block.iter().map(|&i| i as usize).enumerate() {
            (p.acc[i], p.jerk[i], p.pot[i]) = (self.forces.acc[k], self.forces.jerk[k], self.forces.pot[k]);
            p.time[i] = now;
        }
        f.update(p, &self.block)
    }

    /// Gives the particles of the block first steps by acceleration and jerk.
    fn begin_steps(&self, p: &mut Particles, now: Time) -> Result<()> {
        let nu = match self.scheme.first_step() {
            FirstStep::FromJerk(nu) | FirstStep::Measured(nu) => nu,
        };
        let mut moved = Moved::default();
        for (k, i) in self.block.iter().map(|&i| i as usize).enumerate() {
            let wanted = self.first_step(k, nu);
            let allowed = self.guards().allowed(wanted).filter(|_| self.is_finite(k));
            let mut level = moved.level(k, wanted, allowed).unwrap_or_default();
            if self.has_history() {
                level = deeper(level, self.limits.floor);
            }
            p.step[i] = level.max(now.shallowest_level());
        }
        self.check(p, now, moved)?;
        Ok(())
    }
}
