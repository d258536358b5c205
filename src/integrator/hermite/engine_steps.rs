//! Block steps in number: by the engine where it takes them by itself, and one at a time by the host.

use super::{BlockHermite, HermiteScheme, OnFloor};
use crate::error::Result;
use crate::force::ForceEngine;
use crate::force::block_steps::{Span, StepRules};
use crate::integrator::Progress;
use crate::integrator::scheduler::Scheduler;
use crate::particles::Particles;
use crate::time::Time;
use std::time::Instant;

/// Number of steps that the host takes at least after the engine refused one. It doubles with every refusal: a system
/// may have forces that always need the closer look.
const HOST_TURN: u64 = 16;
const MOST_HOST_TURN: u64 = 1 << 16;

/// Smallest number of steps that the engine is asked to take: for fewer it costs more to bring the state back.
const LEAST: u64 = 16;

/// Turns of host and engine.
#[derive(Debug)]
pub struct Turns {
    /// Number of steps that are the host's.
    host: u64,
    /// Number of them after the next refusal.
    next: u64,
}

impl Default for Turns {
    fn default() -> Self {
        Self { host: 0, next: HOST_TURN }
    }
}

impl<S: HermiteScheme> BlockHermite<S> {
    /// Takes up to `most` block steps; see [`crate::integrator::Integrator::advance`].
    pub(super) fn take_steps(
        &mut self,
        p: &mut Particles,
        f: &mut dyn ForceEngine,
        until: Time,
        most: u64,
    ) -> Result<Progress> {
        let began = Instant::now();
        let mut done = Progress { now: self.scheduler.now(), ..Progress::default() };
        while done.block_steps < most && !(self.is_below_floor() && self.scheduler.now() < until) {
            if self.turns.host == 0 && self.take_on_engine(p, f, until, most, &mut done)? {
                break;
            }
            let Some(now) = self.scheduler.next_block(&p.step, until, &mut self.block) else { break };
            let clamped = self.step(p, f, now)?;
            let n = self.block.len() as u64;
            self.count(p, &mut done, [1, n, clamped], now);
            self.turns.host = self.turns.host.saturating_sub(1);
            if self.pause.as_ref().is_some_and(|pause| pause.is_due(began)) {
                break;
            }
        }
        if done.block_steps == 0 && most > 0 && self.scheduler.now() < until {
            self.check_floor(p)?;
        }
        Ok(done)
    }

    /// Lets the engine take the steps. Returns true if nothing is left to do in this call.
    fn take_on_engine(
        &mut self,
        p: &mut Particles,
        f: &mut dyn ForceEngine,
        until: Time,
        most: u64,
        done: &mut Progress,
    ) -> Result<bool> {
        let most = most - done.block_steps;
        let Some(nu) = self.scheme.plain_nu().filter(|_| most >= LEAST) else { return Ok(false) };
        let rules = StepRules {
            nu,
            dt_max: self.clock.dt_max,
            floor: self.limits.floor,
            clamps: self.limits.on_floor == OnFloor::Clamp,
            noise: self.limits.noise,
            per_mass: self.per_mass,
            thresholds: self.guard.thresholds(),
        };
        let span = Span { from: self.scheduler.now(), until, most };
        let Some(taken) = f.take_steps(p, &rules, span, self.pause.as_ref())? else { return Ok(false) };
        if taken.block_steps > 0 {
            self.scheduler = Scheduler::new(taken.now, &p.step);
            self.count(p, done, [taken.block_steps, taken.particle_steps, taken.clamped], taken.now);
        }
        if taken.refused == 0 {
            self.turns.next = HOST_TURN.max(self.turns.next / 2);
            return Ok(true);
        }
        self.turns.host = taken.refused.max(self.turns.next);
        self.turns.next = MOST_HOST_TURN.min(2 * self.turns.next);
        Ok(false)
    }

    /// Counts block steps, particle steps and clamped ones up to `now`.
    fn count(&self, p: &Particles, done: &mut Progress, [block_steps, particle_steps, clamped]: [u64; 3], now: Time) {
        done.now = now;
        done.block_steps += block_steps;
        done.particle_steps += particle_steps;
        done.pairs += particle_steps * (p.len() as u64).saturating_sub(1) * u64::from(self.scheme.iterations());
        done.clamped += clamped;
    }
}
