//! Profile of the time of block steps: a stopwatch around an engine, and the phases that the engine itself reports.

use super::engine::ForceEngine;
use super::forces::Evaluation;
use super::targets::Targets;
use super::watch::Watch;
use crate::error::Result;
use crate::force::block_steps::{NextStep, Pause, Span, StepRules, Taken};
use crate::force::neighbours::{NeighbourForces, NeighbourTargets};
use crate::law::Law;
use crate::particles::{Particles, Vec3};
use crate::time::Time;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Phase outside the engine: scheduler, prediction of the targets, corrector.
pub const HOST: &str = "host";
/// Phase in which corrected particles are passed to the engine.
pub const UPDATE: &str = "update";
/// Phase of the evaluation, for engines that do not report phases of their own.
pub const FORCE: &str = "force";
/// Phase of block steps that the engine takes by itself.
pub const STEPS: &str = "steps";
/// Phase of an evaluation outside the reported ones: staging, launches and waiting, and irregular forces beside a device.
pub const LAUNCH: &str = "launch";

/// Times of block steps, in total and by block size.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Profile {
    /// Times of all block steps.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub total: Timings,
    /// Times by number of particles in a block: from 1, 4, 16, 64, … up to below the next.
    pub by_block_size: Vec<Bucket>,
}

/// Times of the blocks in a range of sizes.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Bucket {
    /// Smallest number of particles.
    pub from: u64,
    /// Times of these blocks.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub spent: Timings,
}

/// Times of some block steps.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Timings {
    /// Number of block steps.
    pub block_steps: u64,
    /// Number of evaluations of the forces.
    pub evaluations: u64,
    /// Seconds of each phase.
    #[cfg_attr(feature = "serde", serde(serialize_with = "by_name"))]
    pub seconds: Vec<(&'static str, f64)>,
}

#[cfg(feature = "serde")]
fn by_name<S: serde::Serializer>(
    seconds: &[(&'static str, f64)],
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_map(seconds.iter().copied())
}

impl std::fmt::Display for Profile {
    /// Writes the total in one line, and one line for each block size.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{:.6} s: {}", self.total.total_seconds(), self.total.shares())?;
        for Bucket { from, spent } in &self.by_block_size {
            let each = 1e6 * spent.total_seconds() / spent.block_steps.max(1) as f64;
            let sizes = format!("{from} to {}", 4 * from - 1);
            writeln!(f, "  blocks of {sizes:>16}: {:8} steps of {each:8.1} µs: {}", spent.block_steps, spent.shares())?;
        }
        Ok(())
    }
}

impl Timings {
    /// Resets everything and keeps the allocation.
    fn clear(&mut self) {
        (self.block_steps, self.evaluations) = (0, 0);
        self.seconds.clear();
    }

    /// Adds seconds to a phase.
    pub fn add(&mut self, phase: &'static str, seconds: f64) {
        match self.seconds.iter_mut().find(|(name, _)| *name == phase) {
            Some((_, sum)) => *sum += seconds,
            None => self.seconds.push((phase, seconds)),
        }
    }

    /// Adds the times of other steps.
    pub fn merge(&mut self, other: &Self) {
        self.block_steps += other.block_steps;
        self.evaluations += other.evaluations;
        other.seconds.iter().for_each(|(phase, seconds)| self.add(phase, *seconds));
    }

    /// Returns the seconds of all phases together.
    #[must_use]
    pub fn total_seconds(&self) -> f64 {
        self.seconds.iter().map(|(_, seconds)| seconds).sum()
    }

    /// Returns the phases and their shares of the total, in one line.
    #[must_use]
    pub fn shares(&self) -> String {
        let share = |(phase, seconds): &(&str, f64)| {
            format!(
                "{} {:.1} %",
                phase.replace('_', " "),
                100.0 * seconds / self.total_seconds().max(f64::MIN_POSITIVE)
            )
        };
        self.seconds.iter().map(share).collect::<Vec<_>>().join(", ")
    }
}

/// Profile that is being measured: a shared handle for the engine's stopwatch and for the loop that counts the steps.
#[derive(Clone, Debug, Default)]
pub struct Profiler(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// Times since the last block step.
    step: Timings,
    /// Times by the logarithm to base 4 of the block size.
    by_size: Vec<Timings>,
    /// Logarithm to base 4 of the size that was counted last.
    last: usize,
    /// When the stopwatch was started, or a block step counted last; none outside a call.
    since: Option<Instant>,
    /// Block steps and particle steps of the call in progress that were counted one by one.
    counted: [u64; 2],
    /// Seconds outside the engine and in it of the call in progress.
    spent: [f64; 2],
}

impl State {
    /// Counts block steps of some particles in all, with the time since the last ones. Several steps at once count as blocks of
    /// their mean size; no step, with those that were counted last.
    fn count(&mut self, block_steps: u64, particle_steps: u64) {
        let now = Instant::now();
        let whole = self.since.replace(now).map_or(Duration::ZERO, |since| now - since);
        let engine = self.step.total_seconds();
        let host = (whole.as_secs_f64() - engine).max(0.0);
        let block = particle_steps / block_steps.max(1);
        let size = if block_steps > 0 { block.max(1).ilog2() as usize / 2 } else { self.last };
        if self.by_size.len() <= size {
            self.by_size.resize_with(size + 1, Timings::default);
        }
        self.last = size;
        self.by_size[size].block_steps += block_steps;
        self.by_size[size].add(HOST, host);
        self.by_size[size].merge(&self.step);
        self.step.clear();
        self.spent = [self.spent[0] + host, self.spent[1] + engine];
    }
}

impl Profiler {
    /// Wraps an engine in a stopwatch.
    #[must_use]
    pub fn timed<E: Evaluation>(&self, engine: Box<dyn ForceEngine<E>>) -> Box<dyn ForceEngine<E>> {
        Box::new(Timed { engine, profiler: self.clone(), begun: None })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The sums are usable even if a thread panicked while it held the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a phase of the host's work, which lasts until what is returned is dropped: without the time of the engine and of other
    /// phases in it.
    #[must_use]
    pub fn phase(&self, name: &'static str) -> Phase {
        Phase { before: self.state().step.total_seconds(), profiler: self.clone(), name, began: Instant::now() }
    }

    /// Starts the stopwatch of a block step. Time that the engine spent since the last step is discarded: it served
    /// other purposes.
    #[must_use]
    pub fn begin(&self) -> Step<'_> {
        let mut state = self.state();
        state.step.clear();
        (state.counted, state.spent, state.since) = ([0; 2], [0.0; 2], Some(Instant::now()));
        Step { profiler: self }
    }

    /// Counts some of the block steps that a call takes, one or more, with the number of particles that moved in them and the time
    /// since those before; nothing outside of a call that is measured.
    pub fn end_block_steps(&self, block_steps: u64, particles: u64) {
        let mut state = self.state();
        if state.since.is_none() {
            return;
        }
        state.count(block_steps, particles);
        state.counted = [state.counted[0] + block_steps, state.counted[1] + particles];
    }

    /// Returns the profile up to now.
    #[must_use]
    pub fn profile(&self) -> Profile {
        let state = self.state();
        let mut total = Timings::default();
        state.by_size.iter().for_each(|spent| total.merge(spent));
        let buckets = state.by_size.iter().enumerate().filter(|(_, spent)| spent.block_steps > 0);
        let bucket = |(size, spent): (usize, &Timings)| Bucket { from: 1 << (2 * size), spent: spent.clone() };
        Profile { total, by_block_size: buckets.map(bucket).collect() }
    }
}

/// Phase of the host's work in progress; see [`Profiler::phase`].
pub struct Phase {
    profiler: Profiler,
    name: &'static str,
    began: Instant,
    /// Seconds of all phases of the block step when it began.
    before: f64,
}

impl Drop for Phase {
    fn drop(&mut self) {
        let step = &mut self.profiler.state().step;
        let others = step.total_seconds() - self.before;
        step.add(self.name, (self.began.elapsed().as_secs_f64() - others).max(0.0));
    }
}

/// Call of the integrator in progress, which takes one block step or several.
pub struct Step<'a> {
    profiler: &'a Profiler,
}

impl Step<'_> {
    /// Stops the stopwatch after a number of block steps, with that of the particles that moved in them. Returns the
    /// seconds outside the engine and in it.
    pub fn end(self, block_steps: u64, particle_steps: u64) -> [f64; 2] {
        let mut state = self.profiler.state();
        let [blocks, particles] = state.counted;
        match block_steps - blocks {
            // What a call does after its last step counts with that step.
            0 => state.count(0, 0),
            rest => state.count(rest, particle_steps - particles),
        }
        state.since = None;
        state.spent
    }
}

/// Engine with a stopwatch.
struct Timed<E> {
    engine: Box<dyn ForceEngine<E>>,
    profiler: Profiler,
    /// Seconds that it took to begin the evaluation in progress.
    begun: Option<f64>,
}

impl<E> Timed<E> {
    /// Counts an evaluation that took `whole` seconds, including its `phases`. Those of an evaluation that was begun before may be
    /// longer, as the caller did something else meanwhile: their shares of the seconds for which it waited count.
    fn count(&mut self, whole: f64, phases: &[(&'static str, f64)]) {
        let begun = self.begun.take();
        let mut state = self.profiler.state();
        state.step.evaluations += 1;
        let measured: f64 = phases.iter().map(|(_, seconds)| seconds).sum();
        let whole = whole + begun.unwrap_or_default();
        let part = if begun.is_some() && measured > whole { whole / measured } else { 1.0 };
        for (phase, seconds) in phases {
            state.step.add(phase, *seconds * part);
        }
        state.step.add(if phases.is_empty() { FORCE } else { LAUNCH }, (whole - measured).max(0.0));
    }

    /// Counts steps that the engine took by itself, since then.
    fn count_steps(&self, began: Instant, taken: Option<Taken>) {
        if let Some(taken) = taken {
            let mut state = self.profiler.state();
            state.step.evaluations += taken.block_steps;
            state.step.add(STEPS, began.elapsed().as_secs_f64());
        }
    }
}

impl<E: Evaluation> ForceEngine<E> for Timed<E> {
    fn load(&mut self, all: &Particles) -> Result<()> {
        self.engine.load(all)
    }

    fn derivatives(&self) -> usize {
        self.engine.derivatives()
    }

    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        let began = Instant::now();
        self.engine.update(all, changed)?;
        self.profiler.state().step.add(UPDATE, began.elapsed().as_secs_f64());
        Ok(())
    }

    fn replace(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        let began = Instant::now();
        self.engine.replace(all, changed)?;
        self.profiler.state().step.add(UPDATE, began.elapsed().as_secs_f64());
        Ok(())
    }

    fn begin(&mut self, now: Time, targets: Targets<'_>) -> Result<()> {
        let began = Instant::now();
        self.engine.begin(now, targets)?;
        self.begun = Some(began.elapsed().as_secs_f64());
        Ok(())
    }

    fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut E) -> Result<()> {
        if targets.is_empty() {
            self.begun = None;
            return self.engine.evaluate(now, targets, out);
        }
        let began = Instant::now();
        self.engine.evaluate(now, targets, out)?;
        let phases = self.engine.spent()?;
        self.count(began.elapsed().as_secs_f64(), &phases);
        Ok(())
    }

    fn begin_neighbours(&mut self, task: &NeighbourTargets<'_>) -> Result<()> {
        let began = Instant::now();
        self.engine.begin_neighbours(task)?;
        self.begun = Some(began.elapsed().as_secs_f64());
        Ok(())
    }

    fn evaluate_neighbours(&mut self, task: &NeighbourTargets<'_>, out: &mut NeighbourForces<E>) -> Result<()> {
        if task.targets.is_empty() {
            self.begun = None;
            return self.engine.evaluate_neighbours(task, out);
        }
        let began = Instant::now();
        self.engine.evaluate_neighbours(task, out)?;
        let phases = self.engine.spent()?;
        self.count(began.elapsed().as_secs_f64(), &phases);
        Ok(())
    }

    fn law(&self) -> Option<(Arc<Law>, f64)> {
        self.engine.law()
    }

    fn external_potential(&self, now: Time, pos: Vec3) -> Result<f64> {
        self.engine.external_potential(now, pos)
    }

    fn external_tides(&self, now: Time, pos: &[Vec3]) -> Result<Vec<[f64; 6]>> {
        self.engine.external_tides(now, pos)
    }

    fn can_take_steps(&mut self) -> Result<bool> {
        self.engine.can_take_steps()
    }

    fn take_steps(
        &mut self,
        p: &mut Particles,
        rules: &StepRules,
        span: Span,
        pause: Option<&Pause>,
    ) -> Result<Option<Taken>> {
        let began = Instant::now();
        let taken = self.engine.take_steps(p, rules, span, pause)?;
        self.count_steps(began, taken);
        Ok(taken)
    }

    fn take_step(&mut self, p: &mut Particles, rules: &StepRules, next: NextStep<'_>) -> Result<Option<Taken>> {
        let began = Instant::now();
        let taken = self.engine.take_step(p, rules, next)?;
        self.count_steps(began, taken);
        Ok(taken)
    }

    fn take_watched_steps(
        &mut self,
        p: &mut Particles,
        rules: &StepRules,
        span: Span,
        watch: &mut Watch<'_>,
        pause: Option<&Pause>,
    ) -> Result<Option<Taken>> {
        let began = Instant::now();
        let taken = self.engine.take_watched_steps(p, rules, span, watch, pause)?;
        self.count_steps(began, taken);
        Ok(taken)
    }

    fn reschedule(&mut self, changed: &[u32]) {
        self.engine.reschedule(changed);
    }

    fn set_start(&mut self, start: f64) {
        self.engine.set_start(start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::forces::Forces;
    use crate::force::targets::Block;

    /// Does nothing, and says that it took three quarters of a second.
    struct Idle;

    impl ForceEngine for Idle {
        fn load(&mut self, _: &Particles) -> Result<()> {
            Ok(())
        }
        fn update(&mut self, _: &Particles, _: &[u32]) -> Result<()> {
            Ok(())
        }
        fn evaluate(&mut self, _: Time, _: Targets<'_>, _: &mut Forces) -> Result<()> {
            Ok(())
        }
        fn spent(&self) -> Result<Vec<(&'static str, f64)>> {
            Ok(vec![("copy_up", 0.25), ("force", 0.5)])
        }
    }

    #[test]
    fn a_phase_of_the_host_has_only_its_own_time() {
        let profiler = Profiler::default();
        let mut engine = profiler.timed(Box::new(Idle));
        let block = Block { index: vec![0], pos: vec![Vec3::zeros()], vel: vec![Vec3::zeros()] };
        let step = profiler.begin();
        {
            let _outer = profiler.phase("outer");
            let _inner = profiler.phase("inner");
            std::thread::sleep(Duration::from_millis(20));
            engine.evaluate(Time::default(), block.view(), &mut Forces::default()).unwrap();
        }
        step.end(1, 1);
        let total = profiler.profile().total;
        let of = |phase| total.seconds.iter().find(|(name, _)| *name == phase).unwrap().1;
        // The engine claims more than has passed: nothing is left of that for others.
        assert_eq!((of("copy_up"), of("force"), of("inner")), (0.25, 0.5, 0.0));
        assert!(of("outer") < 0.02, "{total:?}");
        let step = profiler.begin();
        drop(profiler.phase("outer"));
        std::thread::sleep(Duration::from_millis(20));
        let [host, _] = step.end(1, 1);
        assert!(host >= 0.02);
    }

    /// The caller does something else while the engine works for three quarters of a second: it waits for less.
    #[test]
    fn of_an_evaluation_that_was_begun_the_time_of_waiting_counts() {
        let profiler = Profiler::default();
        let mut engine = profiler.timed(Box::new(Idle));
        let block = Block { index: vec![0], pos: vec![Vec3::zeros()], vel: vec![Vec3::zeros()] };
        let step = profiler.begin();
        engine.begin(Time::default(), block.view()).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        engine.evaluate(Time::default(), block.view(), &mut Forces::default()).unwrap();
        let [host, in_engine] = step.end(1, 1);
        let total = profiler.profile().total;
        let of = |phase| total.seconds.iter().find(|(name, _)| *name == phase).unwrap().1;
        assert!(host >= 0.02 && in_engine < 0.74 && (of("force") / of("copy_up") - 2.0).abs() < 1e-6, "{total:?}");
    }

    #[test]
    fn every_second_is_in_one_phase_and_one_bucket() {
        let profiler = Profiler::default();
        let mut engine = profiler.timed(Box::new(Idle));
        let block = Block { index: vec![0], pos: vec![Vec3::zeros()], vel: vec![Vec3::zeros()] };
        let evaluate = |engine: &mut dyn ForceEngine| {
            engine.evaluate(Time::default(), block.view(), &mut Forces::default()).unwrap();
        };
        evaluate(&mut *engine);
        let _ = profiler.begin();
        for (block, evaluations) in [(1, 1), (3, 2), (4, 1), (15, 1), (1000, 3)] {
            (0..evaluations).for_each(|_| evaluate(&mut *engine));
            profiler.state().since = Some(Instant::now() - Duration::from_secs(4));
            profiler.end_block_steps(1, block);
        }
        let profile = profiler.profile();
        let seen: Vec<_> =
            profile.by_block_size.iter().map(|b| (b.from, b.spent.block_steps, b.spent.evaluations)).collect();
        assert_eq!(seen, [(1, 2, 3), (4, 2, 2), (256, 1, 3)]);
        let total = &profile.total;
        assert_eq!((total.block_steps, total.evaluations), (5, 8));
        assert!((total.total_seconds() - 20.0).abs() < 1e-2, "{total:?}");
        let of = |phase| total.seconds.iter().find(|(name, _)| *name == phase).unwrap().1;
        assert!((of("copy_up") - 2.0).abs() < 1e-9 && (of("force") - 4.0).abs() < 1e-9, "{total:?}");
        assert!((of(HOST) - 14.0).abs() < 1e-2, "{total:?}");
    }

    #[test]
    fn steps_of_one_call_count_by_their_own_sizes() {
        let profiler = Profiler::default();
        // A call that nobody measures.
        profiler.end_block_steps(1, 5);
        let step = profiler.begin();
        [2, 100].into_iter().for_each(|particles| {
            std::thread::sleep(Duration::from_millis(10));
            profiler.end_block_steps(1, particles);
        });
        let [host, engine] = step.end(2, 102);
        // A call that counts none of its steps: all are of their mean size.
        profiler.begin().end(4, 24);
        let profile = profiler.profile();
        let seen: Vec<_> = profile.by_block_size.iter().map(|b| (b.from, b.spent.block_steps)).collect();
        assert_eq!(seen, [(1, 1), (4, 4), (64, 1)]);
        assert!(host >= 0.02 && engine == 0.0 && profile.total.total_seconds() >= host);
        assert!([0, 2].iter().all(|&k| profile.by_block_size[k].spent.total_seconds() >= 0.01));
    }
}
