//! One engine made of several that hold the same sources: each evaluates a part of the targets.
//!
//! The force on a target is one canonical sum, which one of the engines computes whole, with every source predicted and
//! every target placed as if it evaluated the whole block. So neither the number of engines nor the way in which targets
//! are dealt changes a bit.
//!
//! Peers are other devices, each in its thread ([`Threads`]), or other processes; what travels is in [`message`].

mod follower;
pub mod message;
mod threads;

pub use follower::Follower;
pub use threads::Threads;

use super::neighbours::{NeighbourForces, NeighbourTargets};
use super::{Evaluation, ForceEngine, Targets};
use crate::error::Result;
use crate::particles::Particles;
use crate::time::Time;
use std::ops::Range;

/// Engines elsewhere, on other devices or in other processes, that follow the one of the host.
pub trait Peers<E: Evaluation>: Send {
    /// Returns the number of these engines.
    fn count(&self) -> usize;

    /// Loads all particles into them; see [`ForceEngine::load`].
    ///
    /// # Errors
    /// If an engine fails, or cannot be reached.
    fn load(&mut self, all: &Particles) -> Result<()>;

    /// Copies the new state of some particles; see [`ForceEngine::update`].
    ///
    /// # Errors
    /// If an engine fails, or cannot be reached.
    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()>;

    /// Begins the evaluation of a part of the targets by each engine.
    ///
    /// # Errors
    /// If an engine cannot be reached.
    fn begin(&mut self, now: Time, targets: Targets<'_>, parts: &[Range<usize>]) -> Result<()>;

    /// Waits for what was begun, and calls `put` with each part and what was evaluated on it.
    ///
    /// # Errors
    /// If an engine fails, or does not answer.
    fn finish(&mut self, parts: &[Range<usize>], put: &mut dyn FnMut(Range<usize>, &E)) -> Result<()>;
}

/// Engine that shares the targets of each block with its peers.
pub struct Split<E: Evaluation> {
    own: Box<dyn ForceEngine<E>>,
    peers: Box<dyn Peers<E>>,
    some: E,
    /// Number of targets below which the own engine evaluates them alone.
    least: usize,
}

/// Number of targets of a part that are dealt together: engines evaluate as many side by side.
const TOGETHER: usize = 8;

impl<E: Evaluation> Split<E> {
    /// Creates an engine of one here and its peers. Blocks of fewer than `least` targets are not shared.
    #[must_use]
    pub fn new(own: Box<dyn ForceEngine<E>>, peers: Box<dyn Peers<E>>, least: usize) -> Self {
        Self { own, peers, some: E::default(), least }
    }
}

/// Returns the part of `n` targets that the peer `number` of `peers` evaluates.
#[must_use]
pub fn part_of_peer(n: usize, peers: usize, number: usize) -> Range<usize> {
    parts(n, peers + 1)[number].clone()
}

/// Divides `n` targets into `parts` parts of about the same size, whole groups of [`TOGETHER`] as far as there are enough.
fn parts(n: usize, parts: usize) -> Vec<Range<usize>> {
    let groups = n.div_ceil(TOGETHER);
    let bound = |k: usize| (groups * k / parts * TOGETHER).min(n);
    (0..parts).map(|k| bound(k)..bound(k + 1)).collect()
}

/// Copies what was evaluated on a part of `n` targets to its place.
pub(super) fn put_part<E: Evaluation>(out: &mut E, n: usize, part: &Range<usize>, some: &E) {
    for ((width, to), (_, from)) in out.columns(n).into_iter().zip(some.as_columns()) {
        to[width * part.start..width * part.end].copy_from_slice(&from[..width * part.len()]);
    }
}

impl<E: Evaluation> ForceEngine<E> for Split<E> {
    fn load(&mut self, all: &Particles) -> Result<()> {
        self.peers.load(all)?;
        self.own.load(all)
    }

    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        self.peers.update(all, changed)?;
        self.own.update(all, changed)
    }

    fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut E) -> Result<()> {
        let n = targets.len();
        if n < self.least {
            return self.own.evaluate(now, targets, out);
        }
        // The last part, which is never smaller than another, is that of the host.
        let mut parts = parts(n, self.peers.count() + 1);
        let Some(own) = parts.pop() else { return self.own.evaluate(now, targets, out) };
        self.peers.begin(now, targets, &parts)?;
        let done = self.own.evaluate_part(now, targets, own.clone(), &mut self.some);
        // Nothing may be left under way.
        self.peers.finish(&parts, &mut |part, some| put_part(out, n, &part, some))?;
        done?;
        put_part(out, n, &own, &self.some);
        Ok(())
    }

    fn set_start(&mut self, start: f64) {
        self.own.set_start(start);
    }

    fn evaluate_neighbours(&mut self, task: &NeighbourTargets<'_>, out: &mut NeighbourForces<E>) -> Result<()> {
        self.own.evaluate_neighbours(task, out)
    }

    fn spent(&self) -> Result<Vec<(&'static str, f64)>> {
        self.own.spent()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_are_all_of_the_targets_in_order(n in 0_usize..5000, count in 1_usize..20) {
            let parts = parts(n, count);
            prop_assert_eq!(parts.len(), count);
            prop_assert_eq!(parts.iter().cloned().flatten().collect::<Vec<_>>(), (0..n).collect::<Vec<_>>());
            let longest = parts.iter().map(Range::len).max().unwrap_or_default();
            prop_assert!(longest <= n.div_ceil(count) + TOGETHER);
        }
    }
}
