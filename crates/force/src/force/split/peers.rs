//! The contract of peers, and the parts of the targets that each evaluates.

use crate::error::Result;
use crate::force::forces::Evaluation;
use crate::force::neighbours::{NeighbourForces, NeighbourTargets};
use crate::force::targets::Targets;
use crate::particles::Particles;
use crate::time::Time;
use std::ops::Range;

/// Engines elsewhere, on other devices or in other processes, that follow the one of the host.
pub trait Peers<E: Evaluation>: Send {
    /// Returns the number of these engines.
    fn count(&self) -> usize;

    /// Loads all particles into them; see [`ForceEngine::load`](crate::force::ForceEngine::load).
    ///
    /// # Errors
    /// If an engine fails, or cannot be reached.
    fn load(&mut self, all: &Particles) -> Result<()>;

    /// Copies the new state of some particles; see [`ForceEngine::update`](crate::force::ForceEngine::update).
    ///
    /// # Errors
    /// If an engine fails, or cannot be reached.
    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()>;

    /// Begins the evaluation of a part of the targets by each engine.
    ///
    /// # Errors
    /// If an engine cannot be reached.
    fn begin(&mut self, now: Time, targets: Targets<'_>) -> Result<()>;

    /// Begins the evaluation of regular forces and new lists by each engine, on a part of the targets that need them.
    ///
    /// # Errors
    /// If an engine cannot be reached.
    fn begin_neighbours(&mut self, task: &NeighbourTargets<'_>) -> Result<()>;

    /// Waits for what was begun, and calls `put` with each part and what was evaluated on it.
    ///
    /// # Errors
    /// If an engine fails, or does not answer.
    fn finish(&mut self, parts: &[Range<usize>], put: &mut dyn FnMut(Range<usize>, &Found<E>)) -> Result<()>;
}

/// What an engine was asked for, on its part of the targets.
#[derive(Debug, Default)]
pub struct Found<E> {
    /// Whole forces.
    pub forces: E,
    /// Regular forces, new lists and irregular forces by these: one entry for each in `within`.
    pub neighbours: NeighbourForces<E>,
}

impl<E: Evaluation> Found<E> {
    /// Removes all entries.
    pub fn clear(&mut self) {
        self.forces.columns(0);
        let NeighbourForces { irregular, regular, renewed, within, .. } = &mut self.neighbours;
        for forces in [irregular, regular, renewed] {
            forces.columns(0);
        }
        within.clear();
    }
}

/// Number of targets of a part that are dealt together: engines evaluate as many side by side.
pub(super) const TOGETHER: usize = 8;

/// Returns the part of `n` targets that the peer `number` of `peers` evaluates.
#[must_use]
pub fn part_of_peer(n: usize, peers: usize, number: usize) -> Range<usize> {
    parts(n, peers + 1)[number].clone()
}

/// Divides `n` targets into `parts` parts of about the same size, whole groups of [`TOGETHER`] as far as there are enough.
pub(super) fn parts(n: usize, parts: usize) -> Vec<Range<usize>> {
    let groups = n.div_ceil(TOGETHER);
    let bound = |k: usize| (groups * k / parts * TOGETHER).min(n);
    (0..parts).map(|k| bound(k)..bound(k + 1)).collect()
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
