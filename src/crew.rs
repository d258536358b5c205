//! Short pieces of work shared among threads: who does what, and threads that stay awake in between.
//!
//! While a GPU computes, the threads of a pool go to sleep, and waking them costs more than moving a block of some thousand
//! particles. A crew does not sleep: its threads look for work until it is dismissed.

use crate::error::{Error, Result};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Particles that a thread gets at least in the mean: handing out work costs as much as some hundred of them.
const SHARE: usize = 256;
/// Stripes of the particles for each thread.
const STRIPES: usize = 4;

/// An ascending list of particles, cut for the threads of the pool. A particle is always the same thread's, for in that
/// core's cache is what was written of it last.
#[derive(Clone, Debug)]
pub struct Parts {
    /// Places in the list.
    ranges: Vec<Range<usize>>,
    /// Which thread does each.
    owners: Vec<usize>,
}

impl Parts {
    /// Cuts the list `index` of some of `n` particles; in one piece if it is short.
    #[must_use]
    pub fn of(index: &[u32], n: usize) -> Self {
        let threads = rayon::current_num_threads();
        if threads == 1 || index.len() < threads * SHARE {
            return Self { ranges: std::iter::once(0..index.len()).collect(), owners: vec![0] };
        }
        let stripe = n.div_ceil(STRIPES * threads);
        let mut parts = Self { ranges: Vec::new(), owners: Vec::new() };
        let mut begin = 0;
        while let Some(&first) = index.get(begin) {
            let number = first as usize / stripe;
            let end = begin + index[begin..].partition_point(|&i| (i as usize) < (number + 1) * stripe);
            parts.ranges.push(begin..end);
            parts.owners.push(number % threads);
            begin = end;
        }
        parts
    }

    /// Places in the list where each part lies.
    #[must_use]
    pub fn ranges(&self) -> &[Range<usize>] {
        &self.ranges
    }

    /// The parts of a column with an entry for each particle of the list.
    pub fn of_column<'a, T>(&self, mut column: &'a mut [T]) -> Vec<&'a mut [T]> {
        let part = |range: &Range<usize>| {
            let (part, rest) = std::mem::take(&mut column).split_at_mut(range.len());
            column = rest;
            part
        };
        self.ranges.iter().map(part).collect()
    }

    /// Does `work` on each part, given its places in the list and what it may change.
    pub fn each<P: Send>(&self, parts: impl IntoIterator<Item = P>, work: impl Fn(Range<usize>, P) + Sync) {
        let parts = self.ranges.iter().cloned().zip(parts);
        if self.ranges.len() == 1 {
            return parts.for_each(|(range, part)| work(range, part));
        }
        let parts: Vec<Mutex<Option<_>>> = parts.map(|part| Mutex::new(Some(part))).collect();
        rayon::broadcast(|thread| {
            for (part, _) in parts.iter().zip(&self.owners).filter(|(_, owner)| **owner == thread.index()) {
                let part = part.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let Some((range, part)) = part {
                    work(range, part);
                }
            }
        });
    }
}

/// Threads that a run on a GPU keeps awake at most. More move a block hardly faster.
pub const SIZE: usize = 4;

/// Does `work` on one of `threads` threads of a new pool, and keeps the others awake for what it hands out through rayon.
///
/// # Errors
/// If the threads cannot be started.
pub fn awake<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> Result<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool =
        pool.map_err(|e| Error::Integration { problem: format!("cannot start {threads} threads: {e}"), help: None })?;
    let (ready, dismissed) = (AtomicUsize::new(1), AtomicBool::new(false));
    Ok(pool.in_place_scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|_| {
                ready.fetch_add(1, Ordering::Relaxed);
                // Nobody takes two of these places.
                while ready.load(Ordering::Relaxed) < threads {
                    std::hint::spin_loop();
                }
                while !dismissed.load(Ordering::Relaxed) {
                    if rayon::yield_now() != Some(rayon::Yield::Executed) {
                        std::hint::spin_loop();
                    }
                }
            });
        }
        pool.install(|| {
            while ready.load(Ordering::Relaxed) < threads {
                std::hint::spin_loop();
            }
            // Dismissed even if the work panics, for the scope waits for everyone.
            let _dismiss = Dismiss(&dismissed);
            work()
        })
    }))
}

/// Dismisses a crew when dropped.
struct Dismiss<'a>(&'a AtomicBool);

impl Drop for Dismiss<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    #[test]
    fn every_entry_is_in_one_part_and_a_particle_always_the_same_threads() {
        for threads in [1, 3, 4] {
            awake(threads, || {
                let n = 20_000;
                let mut owner_of = vec![None; n];
                for step in [1, 2, 3, 7, 5000] {
                    let index: Vec<u32> = (0..n as u32).step_by(step).collect();
                    let parts = Parts::of(&index, n);
                    let mut seen = vec![0; index.len()];
                    let columns = parts.of_column(&mut seen);
                    parts.each(columns, |range, seen| {
                        assert_eq!(range.len(), seen.len());
                        seen.iter_mut().zip(&index[range]).for_each(|(seen, &i)| *seen += i + 1);
                    });
                    assert!(seen.iter().zip(&index).all(|(seen, i)| *seen == i + 1));
                    if parts.ranges().len() > 1 {
                        for (range, owner) in parts.ranges().iter().zip(&parts.owners) {
                            for &i in &index[range.clone()] {
                                assert_eq!(*owner_of[i as usize].get_or_insert(*owner), *owner);
                            }
                        }
                    }
                }
            })
            .unwrap();
        }
    }

    #[test]
    fn work_is_shared_and_the_crew_dismissed() {
        for threads in [1, 2, 5] {
            let sum = awake(threads, || {
                assert_eq!(rayon::current_num_threads(), threads);
                (0..100).map(|_| (0..1000_u32).into_par_iter().with_min_len(10).sum::<u32>()).sum::<u32>()
            });
            assert_eq!(sum.unwrap(), 100 * 499_500);
        }
    }

    #[test]
    fn a_panic_is_passed_on() {
        assert!(std::panic::catch_unwind(|| awake(3, || panic!("on purpose"))).is_err());
    }
}
