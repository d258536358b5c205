//! Threads that stay awake between short pieces of work.
//!
//! While a GPU computes, the threads of a pool go to sleep, and waking them costs more than moving a block of some thousand
//! particles. A crew does not sleep: its threads look for work until it is dismissed.

use crate::error::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Threads that a run on a GPU keeps awake at most. More move a block hardly faster.
pub const SIZE: usize = 4;

/// Does `work` on a pool of `threads` threads (0: one a core).
///
/// # Errors
/// What `work` returns, and [`Error::Integration`] if the threads cannot be started.
pub fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool =
        pool.map_err(|e| Error::Integration { problem: format!("cannot start {threads} threads: {e}"), help: None })?;
    pool.install(work)
}

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
