//! Profile of block steps: a stop watch around an engine, and the phases that the engine measures itself.

use crate::error::Result;
use crate::force::{Evaluation, ForceEngine, Targets};
use crate::integrator::Progress;
use crate::particles::Particles;
use crate::time::Time;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Phase outside the engine: scheduler, prediction of the targets, corrector.
pub const HOST: &str = "host";
/// Phase of an engine's update with corrected particles.
pub const UPDATE: &str = "update";
/// Phase of an evaluation of whose phases the engine says nothing.
pub const FORCE: &str = "force";
/// Time of an evaluation outside the phases that the engine measures: staging, launches and waiting.
pub const LAUNCH: &str = "launch";

/// Profile of block steps: the time that they took, by phase and by block size.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Profile {
    /// Sum over all block sizes.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub total: Spent,
    /// By the number of particles in a block: from 1, 4, 16, 64, … up to below the next.
    pub by_block_size: Vec<Bucket>,
}

/// Blocks of about one size.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Bucket {
    /// Least number of particles.
    pub from: u64,
    /// Time that they took.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub spent: Spent,
}

/// Time that some block steps took.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Spent {
    /// Block steps.
    pub block_steps: u64,
    /// Evaluations of the force.
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
    /// Writes a line on the whole, and one on each block size.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{:.6} s: {}", self.total.all(), self.total.shares())?;
        for Bucket { from, spent } in &self.by_block_size {
            let each = 1e6 * spent.all() / spent.block_steps.max(1) as f64;
            let sizes = format!("{from} to {}", 4 * from - 1);
            writeln!(f, "  blocks of {sizes:>16}: {:8} steps of {each:8.1} µs: {}", spent.block_steps, spent.shares())?;
        }
        Ok(())
    }
}

impl Spent {
    /// Forgets everything; keeps the allocation.
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

    /// Adds the time of other steps.
    pub fn merge(&mut self, other: &Self) {
        self.block_steps += other.block_steps;
        self.evaluations += other.evaluations;
        other.seconds.iter().for_each(|(phase, seconds)| self.add(phase, *seconds));
    }

    /// Seconds of all phases.
    #[must_use]
    pub fn all(&self) -> f64 {
        self.seconds.iter().map(|(_, seconds)| seconds).sum()
    }

    /// Formats the phases with their shares in the total time, in one line.
    #[must_use]
    pub fn shares(&self) -> String {
        let share = |(phase, seconds): &(&str, f64)| {
            format!("{} {:.1} %", phase.replace('_', " "), 100.0 * seconds / self.all().max(f64::MIN_POSITIVE))
        };
        self.seconds.iter().map(share).collect::<Vec<_>>().join(", ")
    }
}

/// Handle on a profile in the making: one is held by the engine's stop watch, one by the loop over steps.
#[derive(Clone, Default)]
pub struct Profiler(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// Since the last block step.
    step: Spent,
    /// By the logarithm to base 4 of the block size.
    by_size: Vec<Spent>,
}

impl Profiler {
    /// Puts a stop watch around an engine.
    #[must_use]
    pub fn timed<E: Evaluation>(&self, engine: Box<dyn ForceEngine<E>>) -> Box<dyn ForceEngine<E>> {
        Box::new(Timed { engine, profiler: self.clone() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The sums are good even if another thread panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the stop watch of a block step. Time that the engine spent since the last one does not count: it served
    /// other purposes.
    #[must_use]
    pub fn begin(&self) -> Step<'_> {
        self.state().step.clear();
        Step { profiler: self, began: Instant::now() }
    }

    /// Counts the block steps of `done`, which took `whole`, the engine's part included. Several at once count as
    /// blocks of their mean size. Returns the seconds outside the engine and in it.
    fn count(&self, done: &Progress, whole: Duration) -> [f64; 2] {
        let mut state = self.state();
        let State { step, by_size } = &mut *state;
        let engine = step.all();
        let host = (whole.as_secs_f64() - engine).max(0.0);
        let block = done.particle_steps / done.block_steps.max(1);
        let size = block.max(1).ilog2() as usize / 2;
        if by_size.len() <= size {
            by_size.resize_with(size + 1, Spent::default);
        }
        by_size[size].block_steps += done.block_steps;
        by_size[size].add(HOST, host);
        by_size[size].merge(step);
        step.clear();
        [host, engine]
    }

    /// Returns the profile so far.
    #[must_use]
    pub fn profile(&self) -> Profile {
        let state = self.state();
        let mut total = Spent::default();
        state.by_size.iter().for_each(|spent| total.merge(spent));
        let buckets = state.by_size.iter().enumerate().filter(|(_, spent)| spent.block_steps > 0);
        let bucket = |(size, spent): (usize, &Spent)| Bucket { from: 1 << (2 * size), spent: spent.clone() };
        Profile { total, by_block_size: buckets.map(bucket).collect() }
    }
}

/// A block step in progress.
pub struct Step<'a> {
    profiler: &'a Profiler,
    began: Instant,
}

impl Step<'_> {
    /// Stops the watch after the block step `done`. Returns the seconds outside the engine and in it.
    pub fn end(self, done: &Progress) -> [f64; 2] {
        self.profiler.count(done, self.began.elapsed())
    }
}

/// Engine with a stop watch around it.
struct Timed<E> {
    engine: Box<dyn ForceEngine<E>>,
    profiler: Profiler,
}

impl<E> Timed<E> {
    /// Counts an evaluation that took `whole` seconds, its `phases` in it.
    fn count(&self, whole: f64, phases: &[(&'static str, f64)]) {
        let mut state = self.profiler.state();
        state.step.evaluations += 1;
        for (phase, seconds) in phases {
            state.step.add(phase, *seconds);
        }
        let told: f64 = phases.iter().map(|(_, seconds)| seconds).sum();
        state.step.add(if phases.is_empty() { FORCE } else { LAUNCH }, (whole - told).max(0.0));
    }
}

impl<E: Evaluation> ForceEngine<E> for Timed<E> {
    fn load(&mut self, all: &Particles) -> Result<()> {
        self.engine.load(all)
    }

    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        let began = Instant::now();
        self.engine.update(all, changed)?;
        self.profiler.state().step.add(UPDATE, began.elapsed().as_secs_f64());
        Ok(())
    }

    fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut E) -> Result<()> {
        if targets.is_empty() {
            return self.engine.evaluate(now, targets, out);
        }
        let began = Instant::now();
        self.engine.evaluate(now, targets, out)?;
        self.count(began.elapsed().as_secs_f64(), &self.engine.spent()?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::{Block, Forces};
    use crate::particles::Vec3;

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
            let done = Progress { block_steps: 1, particle_steps: block, ..Progress::default() };
            let [host, engine] = profiler.count(&done, Duration::from_secs(4));
            assert!((host + engine - 4.0).abs() < 1e-9);
        }
        let profile = profiler.profile();
        let seen: Vec<_> =
            profile.by_block_size.iter().map(|b| (b.from, b.spent.block_steps, b.spent.evaluations)).collect();
        assert_eq!(seen, [(1, 2, 3), (4, 2, 2), (256, 1, 3)]);
        let total = &profile.total;
        assert_eq!((total.block_steps, total.evaluations), (5, 8));
        assert!((total.all() - 20.0).abs() < 1e-6, "{total:?}");
        let of = |phase| total.seconds.iter().find(|(name, _)| *name == phase).unwrap().1;
        assert!((of("copy_up") - 2.0).abs() < 1e-9 && (of("force") - 4.0).abs() < 1e-9, "{total:?}");
        assert!((of(HOST) - 14.0).abs() < 1e-3, "{total:?}");
    }
}
