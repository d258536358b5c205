//! Block steps in number: by the engine where it takes them by itself, and one at a time by the host.

use super::contract::Progress;
use super::hermite::guards::StepGuards;
use super::scheduler::Scheduler;
use std::time::Instant;
use tisane_force::error::Result;
use tisane_force::force::ForceEngine;
use tisane_force::force::block_steps::{NextStep, Pause, Span, StepRules, Taken};
use tisane_force::force::watch::Watch;
use tisane_force::particles::Particles;
use tisane_force::time::Time;

/// Number of steps that the host takes at least after the engine refused one. It doubles with every refusal: a system
/// may have forces that always need the closer look.
const HOST_TURN: u64 = 16;
const MAX_HOST_TURN: u64 = 1 << 16;

/// Smallest number of steps that the engine is asked to take: for fewer it costs more to bring the state back.
const MIN: u64 = 16;

/// Turns of host and engine.
#[derive(Debug)]
pub struct Turns {
    /// Number of steps that are the host's.
    host: u64,
    /// Number of them after the next refusal.
    next: u64,
    /// Number of steps that the engine has taken one by one since then.
    one_by_one: u64,
    /// Particles that have other steps than the engine knows.
    rescheduled: Vec<u32>,
}

impl Default for Turns {
    fn default() -> Self {
        Self { host: 0, next: HOST_TURN, one_by_one: 0, rescheduled: Vec::new() }
    }
}

impl Turns {
    /// Returns true if the next step may be the engine's, of `max` that are left.
    pub const fn is_engines(&self, max: u64) -> bool {
        self.host == 0 && max >= MIN
    }

    /// Notes that the engine took steps and left at least `refused` to the host. Returns true if it left none.
    pub fn note_engine(&mut self, refused: u64) -> bool {
        if refused == 0 {
            self.next = HOST_TURN.max(self.next / 2);
        } else {
            self.host = refused.max(self.next);
            self.next = MAX_HOST_TURN.min(2 * self.next);
            self.one_by_one = 0;
        }
        refused == 0
    }

    /// Notes that the engine took one step by itself.
    pub fn note_one_by_one(&mut self) {
        self.one_by_one += 1;
        if self.one_by_one >= self.next {
            (self.next, self.one_by_one) = (HOST_TURN.max(self.next / 2), 0);
        }
    }

    /// Notes that some particles have got other steps between the block steps.
    pub fn note_rescheduled(&mut self, changed: &[u32]) {
        self.rescheduled.extend_from_slice(changed);
    }

    /// Tells the engine of that.
    fn tell(&mut self, f: &mut dyn ForceEngine) {
        if !self.rescheduled.is_empty() {
            f.reschedule(&self.rescheduled);
            self.rescheduled.clear();
        }
    }

    /// Notes a step of the host.
    pub const fn note_host(&mut self) {
        self.host = self.host.saturating_sub(1);
    }
}

/// What every scheme with individual block steps keeps of them.
pub(crate) struct Schedule<'a> {
    /// Who is due next.
    pub scheduler: &'a mut Scheduler,
    /// Particles of the last block, ascending.
    pub block: &'a mut Vec<u32>,
    /// Turns of host and engine.
    pub turns: &'a mut Turns,
    /// What lets a call return early.
    pub pause: Option<&'a Pause>,
}

/// Scheme with individual block steps.
pub(crate) trait BlockLoop {
    /// Returns what the scheme keeps of its block steps.
    fn schedule(&mut self) -> Schedule<'_>;

    /// Returns what the limits of the steps and the errors need to know.
    fn guards(&self) -> StepGuards;

    /// Returns the rules of the block steps of the particles that are loaded, for an engine that takes these steps; [`None`] if
    /// none does.
    fn present_rules(&self) -> Option<StepRules>;

    /// Moves the particles of the block to `now`; returns the number of clamped particles.
    ///
    /// # Errors
    /// If the engine fails or a number is not finite.
    fn move_block(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, now: Time) -> Result<u64>;

    /// Takes particles that stand before `now`, the moment of the last block, to it, by one step of any length each.
    ///
    /// # Errors
    /// As [`move_block`](Self::move_block).
    fn move_late(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, late: Vec<u32>, now: Time) -> Result<()> {
        for &i in &late {
            p.step[i as usize] = p.step[i as usize].max(now.shallowest_level());
        }
        *self.schedule().block = late;
        self.move_block(p, f, now)?;
        Ok(())
    }

    /// Returns the number of pairs evaluated in the last block step.
    fn pairs_of_block(&self, p: &Particles) -> u64;

    /// Returns the number of pairs evaluated in steps that an engine took.
    fn pairs_taken(&self, p: &Particles, taken: &Taken) -> u64;

    /// Takes up to `max` block steps; see [`Integrator::advance`](super::Integrator::advance).
    ///
    /// # Errors
    /// As there.
    fn take_steps(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, until: Time, max: u64) -> Result<Progress> {
        // Without a pause nothing looks at the clock.
        let began = self.schedule().pause.map(|_| Instant::now());
        let mut done = Progress { now: self.schedule().scheduler.now(), ..Progress::default() };
        while done.block_steps < max && !(self.is_below_floor() && self.schedule().scheduler.now() < until) {
            let rest = max - done.block_steps;
            if self.schedule().turns.is_engines(rest) && self.take_on_engine(p, f, until, rest, &mut done)? {
                break;
            }
            let Schedule { scheduler, block, .. } = self.schedule();
            let from = scheduler.now();
            let Some(now) = scheduler.next_block(&p.step, until, block) else { break };
            // Who takes few steps a call looks at each.
            let by_engine = if max < MIN { self.move_on_engine(p, f, (from, now), until)? } else { None };
            let clamped = match by_engine {
                Some(clamped) => clamped,
                None => self.move_block(p, f, now)?,
            };
            done.now = now;
            done.block_steps += 1;
            done.particle_steps += self.schedule().block.len() as u64;
            done.pairs += self.pairs_of_block(p);
            done.clamped += clamped;
            let Schedule { turns, pause, .. } = self.schedule();
            turns.note_host();
            if pause.zip(began).is_some_and(|(pause, began)| pause.is_due(began)) {
                break;
            }
        }
        let now = self.schedule().scheduler.now();
        if done.block_steps == 0 && max > 0 && now < until && self.is_below_floor() {
            self.guards().check_floor(p, now)?;
        }
        Ok(done)
    }

    /// Lets the engine take the steps. Returns true if nothing is left to do in this call.
    ///
    /// # Errors
    /// If the engine fails.
    fn take_on_engine(
        &mut self,
        p: &mut Particles,
        f: &mut dyn ForceEngine,
        until: Time,
        max: u64,
        done: &mut Progress,
    ) -> Result<bool> {
        let Some(rules) = self.present_rules() else { return Ok(false) };
        let Schedule { scheduler, turns, pause, .. } = self.schedule();
        turns.tell(f);
        let span = Span { from: scheduler.now(), until, max };
        let Some(taken) = f.take_steps(p, &rules, span, pause)? else { return Ok(false) };
        if taken.block_steps > 0 {
            scheduler.restart(taken.now, &p.step);
            done.now = taken.now;
            done.block_steps += taken.block_steps;
            done.particle_steps += taken.particle_steps;
            done.pairs += self.pairs_taken(p, &taken);
            done.clamped += taken.clamped;
        }
        Ok(self.schedule().turns.note_engine(taken.refused))
    }

    /// Lets the engine move the particles of the block from the last moment to the next, while it works on what follows up to `until`.
    /// Returns the number of clamped particles; [`None`] if the host has to.
    ///
    /// # Errors
    /// If the engine fails.
    fn move_on_engine(
        &mut self,
        p: &mut Particles,
        f: &mut dyn ForceEngine,
        (from, now): (Time, Time),
        until: Time,
    ) -> Result<Option<u64>> {
        if !self.schedule().turns.is_engines(MIN) {
            return Ok(None);
        }
        let Some(rules) = self.present_rules() else { return Ok(None) };
        let Schedule { scheduler, block, turns, .. } = self.schedule();
        turns.tell(f);
        let Some(taken) = f.take_step(p, &rules, NextStep { from, now, block, until })? else { return Ok(None) };
        if taken.refused > 0 {
            turns.note_engine(taken.refused);
            return Ok(None);
        }
        turns.note_one_by_one();
        scheduler.reschedule(&p.step, block);
        Ok(Some(taken.clamped))
    }

    /// Lets the engine take steps with a search for pairs; see [`Steps::advance_watched`](super::steps::Steps::advance_watched).
    ///
    /// # Errors
    /// If the engine fails.
    fn take_watched(
        &mut self,
        p: &mut Particles,
        f: &mut dyn ForceEngine,
        (until, max): (Time, u64),
        (watch, pause): (&mut Watch<'_>, Option<&Pause>),
    ) -> Result<Option<Progress>> {
        if self.is_below_floor() || !self.schedule().turns.is_engines(max) {
            return Ok(None);
        }
        let Some(rules) = self.present_rules() else { return Ok(None) };
        let Schedule { scheduler, turns, .. } = self.schedule();
        turns.tell(f);
        let span = Span { from: scheduler.now(), until, max };
        let Some(taken) = f.take_watched_steps(p, &rules, span, watch, pause)? else { return Ok(None) };
        let pairs = self.pairs_taken(p, &taken);
        let Schedule { scheduler, turns, block, .. } = self.schedule();
        let Taken { now, block_steps, particle_steps, clamped, refused, .. } = taken;
        if block_steps > 0 {
            scheduler.restart(now, &p.step);
            block.clone_from(&watch.found);
        }
        turns.note_engine(refused);
        Ok(Some(Progress { now, block_steps, particle_steps, pairs, clamped }))
    }

    /// Returns true if the run has to stop because particles have steps below the floor.
    fn is_below_floor(&mut self) -> bool {
        let deepest = self.schedule().scheduler.deepest();
        self.guards().is_below_floor(deepest)
    }
}

#[cfg(test)]
mod tests {
    use super::Turns;
    use crate::initial::plummer;
    use crate::integrator::hermite4::{Hermite4, Parameters};
    use crate::integrator::{Integrator, Steps};
    use std::time::Duration;
    use tisane_force::error::Result;
    use tisane_force::force::block_steps::{NextStep, Pause, Span, StepRules, Taken};
    use tisane_force::force::precision::Precision;
    use tisane_force::force::{Block, FieldEngine, ForceEngine, Forces, GivenForces, Targets, reference};
    use tisane_force::particles::Particles;
    use tisane_force::time::{Clock, Time};

    const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.125 };

    fn hermite() -> Hermite4 {
        Hermite4::new(Parameters::new(Precision::F64), CLOCK)
    }

    fn engine() -> Box<dyn FieldEngine> {
        reference::engine(Precision::F64, 1.0 / 64.0, CLOCK)
    }

    /// Takes up to `at_once` steps by itself, by an integrator of its own, and refuses every third time.
    struct Stepping {
        engine: Box<dyn FieldEngine>,
        at_once: u64,
        asked: u64,
        taken: u64,
    }

    impl ForceEngine for Stepping {
        fn load(&mut self, all: &Particles) -> Result<()> {
            self.engine.load(all)
        }

        fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
            self.engine.update(all, changed)
        }

        fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut Forces) -> Result<()> {
            self.engine.evaluate(now, targets, out)
        }

        fn take_steps(
            &mut self,
            p: &mut Particles,
            _: &StepRules,
            span: Span,
            _: Option<&Pause>,
        ) -> Result<Option<Taken>> {
            self.asked += 1;
            if self.asked.is_multiple_of(3) {
                return Ok(Some(Taken { now: span.from, refused: 5, ..Taken::default() }));
            }
            let mut own = hermite();
            own.resume(p, span.from, &mut *self.engine)?;
            // Fewer than asked for, as after a pause.
            let done = own.advance(p, &mut *self.engine, span.until, span.max.min(self.at_once))?;
            self.taken += done.block_steps;
            let (now, block_steps, particle_steps) = (done.now, done.block_steps, done.particle_steps);
            Ok(Some(Taken { now, block_steps, particle_steps, ..Taken::default() }))
        }
    }

    /// Takes one step at a time by itself, refuses every fourth and cannot take every seventh.
    struct OneByOne {
        engine: Box<dyn FieldEngine>,
        asked: u64,
        taken: u64,
        rescheduled: u64,
    }

    impl ForceEngine for OneByOne {
        fn load(&mut self, all: &Particles) -> Result<()> {
            self.engine.load(all)
        }

        fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
            self.engine.update(all, changed)
        }

        fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut Forces) -> Result<()> {
            self.engine.evaluate(now, targets, out)
        }

        fn take_step(&mut self, p: &mut Particles, _: &StepRules, next: NextStep<'_>) -> Result<Option<Taken>> {
            self.asked += 1;
            if self.asked.is_multiple_of(7) {
                return Ok(None);
            }
            if self.asked.is_multiple_of(4) {
                return Ok(Some(Taken { now: next.from, refused: 1, ..Taken::default() }));
            }
            let mut own = hermite();
            own.resume(p, next.from, &mut *self.engine)?;
            let done = own.advance(p, &mut *self.engine, next.now, 1)?;
            assert_eq!((done.now, done.particle_steps), (next.now, next.block.len() as u64));
            assert!(next.until >= next.now);
            self.taken += 1;
            Ok(Some(Taken { now: done.now, block_steps: 1, particle_steps: done.particle_steps, ..Taken::default() }))
        }

        fn reschedule(&mut self, _: &[u32]) {
            self.rescheduled += 1;
        }
    }

    #[test]
    fn the_hosts_turn_grows_with_refusals_and_shrinks_again() {
        let mut turns = Turns::default();
        for _ in 0..3 {
            turns.note_engine(1);
        }
        assert_eq!((turns.host, turns.next), (64, 128));
        (0..128).for_each(|_| turns.note_one_by_one());
        assert_eq!(turns.next, 64);
        (0..63).for_each(|_| turns.note_one_by_one());
        turns.note_engine(1);
        assert_eq!((turns.next, turns.one_by_one), (128, 0));
        (0..1000).for_each(|_| turns.note_one_by_one());
        assert_eq!(turns.next, 16);
    }

    #[test]
    fn an_engine_takes_steps_one_by_one_for_who_looks_at_each() {
        let (host, steps, pairs) = run(&mut *engine(), &mut hermite(), u64::MAX);
        let one_by_one = || OneByOne { engine: engine(), asked: 0, taken: 0, rescheduled: 0 };
        for max in [1, 15] {
            let mut f = one_by_one();
            assert_eq!(run(&mut f, &mut hermite(), max), (host.clone(), steps, pairs));
            assert!(f.taken > 2 && f.taken < f.asked && f.asked < steps, "it was left alone after it refused");
            assert_eq!(f.rescheduled, 0);
        }
        // It hears of steps that the host has changed, once, before the next step.
        let (mut f, mut integrator, mut p) = (one_by_one(), hermite(), plummer::sample(40, 2, 0.999));
        integrator.start(&mut p, &mut f).unwrap();
        Steps::reschedule(&mut integrator, &p, &[]);
        integrator.advance(&mut p, &mut f, Time::from_dt_max(2), 1).unwrap();
        assert_eq!((f.asked, f.rescheduled), (1, 0));
        Steps::reschedule(&mut integrator, &p, &[3]);
        integrator.advance(&mut p, &mut f, Time::from_dt_max(2), 2).unwrap();
        assert_eq!((f.asked, f.rescheduled), (3, 1));
        let mut f = one_by_one();
        assert_eq!(run(&mut f, &mut hermite(), 16).0, host);
        assert_eq!(f.asked, 0, "who takes many steps a call looks at none");
    }

    /// Integrates over two longest steps; returns the state, and the block steps and the pairs.
    fn run(f: &mut dyn ForceEngine, integrator: &mut Hermite4, max: u64) -> (String, u64, u64) {
        let mut p = plummer::sample(40, 2, 0.999);
        let started = integrator.start(&mut p, f).unwrap();
        let (mut steps, mut pairs, until) = (0, started.pairs, Time::from_dt_max(2));
        loop {
            let done = integrator.advance(&mut p, f, until, max).unwrap();
            (steps, pairs) = (steps + done.block_steps, pairs + done.pairs);
            if done.now == until {
                return (p.state_sha256(&CLOCK), steps, pairs);
            }
        }
    }

    #[test]
    fn steps_of_engine_and_host_by_turns_are_those_of_the_host() {
        let want = run(&mut *engine(), &mut hermite(), u64::MAX);
        for (at_once, max) in [(1, u64::MAX), (7, u64::MAX), (u64::MAX, u64::MAX), (9, 16), (u64::MAX, 20)] {
            let mut stepping = Stepping { engine: engine(), at_once, asked: 0, taken: 0 };
            assert_eq!(run(&mut stepping, &mut hermite(), max), want, "{at_once} of {max}");
            assert!(stepping.taken > 0 && stepping.taken <= want.1);
            assert!(at_once > 9 || stepping.asked > 3, "the engine has its turn again after it refused");
        }
    }

    #[test]
    fn who_starts_with_given_forces_and_resumes_elsewhere_ends_in_the_same_state() {
        let (mut f, mut want) = (engine(), plummer::sample(40, 2, 0.999));
        let (mut p, mut given) = (want.clone(), Forces::default());
        f.load(&p).unwrap();
        f.evaluate(Time::default(), Block::from_particles(&p, (0..40).collect()).view(), &mut given).unwrap();
        hermite().start(&mut p, &mut GivenForces::new(given.clone())).unwrap();
        hermite().start(&mut want, &mut *f).unwrap();
        assert_eq!(p, want);
        // Steps of someone else, by the rules; then of an integrator that only knows where they ended.
        let (mut other, mut integrator) = (hermite(), hermite());
        let rules = integrator.step_rules(&p).unwrap();
        assert_eq!((rules.scheme.plain_nu(), rules.dt_max, rules.clamps), (Some(0.01), CLOCK.dt_max, false));
        assert_eq!(rules.noise.per_mass, 1.0);
        other.resume(&p, Time::default(), &mut *f).unwrap();
        let done = other.advance(&mut p, &mut *f, Time::from_dt_max(1), 20).unwrap();
        integrator.resume(&p, done.now, &mut GivenForces::default()).unwrap();
        f.load(&p).unwrap();
        integrator.advance(&mut p, &mut *f, Time::from_dt_max(2), u64::MAX).unwrap();
        assert_eq!(p.state_sha256(&CLOCK), run(&mut *engine(), &mut hermite(), u64::MAX).0);
        // There is nothing else that they can be asked for.
        let index = [0];
        let late = GivenForces::new(given).evaluate(Time(1), Targets::all(&p, &index), &mut Forces::default());
        assert!(late.unwrap_err().to_string().contains("at the start alone"));
        let twice = Parameters { iterations: 2, ..Parameters::new(Precision::F64) };
        assert!(Hermite4::new(twice, CLOCK).step_rules(&p).unwrap().scheme.plain_nu().is_none());
    }

    /// For a few steps the state would have to be brought back as often.
    #[test]
    fn the_engine_is_not_asked_for_a_few_steps() {
        let mut stepping = Stepping { engine: engine(), at_once: 1, asked: 0, taken: 0 };
        run(&mut stepping, &mut hermite(), 15);
        assert_eq!(stepping.asked, 0);
    }

    #[test]
    fn a_pause_returns_after_a_step_of_the_host() {
        let (mut f, mut integrator) = (engine(), hermite());
        let want = run(&mut *engine(), &mut hermite(), u64::MAX);
        integrator.set_pause(Pause::new(|| true, Duration::from_secs(3600)));
        let mut p = plummer::sample(40, 2, 0.999);
        integrator.start(&mut p, &mut *f).unwrap();
        assert_eq!(integrator.advance(&mut p, &mut *f, Time::from_dt_max(2), u64::MAX).unwrap().block_steps, 1);
        assert_eq!(run(&mut *f, &mut integrator, u64::MAX), want);
    }
}
