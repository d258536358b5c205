//! Thread pools, and one whose threads spin instead of sleeping between short pieces of work.
//!
//! While a GPU computes, the threads of a rayon pool go to sleep, and waking them costs more than moving a block of
//! some thousand particles. The threads of a spin pool do not sleep: they poll for work until the pool ends.

use crate::error::{Error, Result};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::cell::Cell;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Largest number of threads that may be requested.
pub const MAX_THREADS: u32 = 1024;

/// Largest number of spinning threads of a run on a GPU. More threads move a block hardly faster.
const MAX_SIZE: usize = 4;

/// The same of a run with subsystems, for which the host has more to do: of up to [`SMALL`] particles, and of more. With 16 threads an H200
/// took 0.98 to 1.11 of the time with 8: 4096 and 16384 particles, 5000 stars in a galaxy. For 65536 it took 0.87
/// (validation/performance/cuda/subsystems.txt).
const MAX_SIZES_WITH_SUBSYSTEMS: [usize; 2] = [8, 16];
const SMALL: usize = 1 << 15;

/// Shortest work, in nanoseconds, that is worth giving to another thread: one that spins begins it after about 1 µs, one that sleeps
/// after 10 to 20. No result depends on them.
const MIN_WORK_AWAKE: usize = 2000;
const MIN_WORK_ASLEEP: usize = 40_000;

/// Pauses of a thread that spins between two looks for work, some 10 to 50 ns each: each look takes the queues from those who work.
/// With one pause 131072 stars took a tenth longer on 16 threads.
const PAUSES: usize = 20;

thread_local! {
    /// True while this thread does the work of a spin pool.
    static IS_AWAKE: Cell<bool> = const { Cell::new(false) };
}

/// Environment variable with rayon's default number of threads.
const VARIABLE: &str = "RAYON_NUM_THREADS";

/// Runs `work` on a pool of `threads` threads; 0 stands for the number in RAYON_NUM_THREADS, or else one a core.
///
/// # Errors
/// Those of `work`, and [`Error::Input`] if the threads cannot be started or RAYON_NUM_THREADS has no valid number.
pub fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    pool_of(threads)?.install(work)
}

/// Creates a pool of `threads` threads; 0 stands for the number in RAYON_NUM_THREADS, or else one a core.
///
/// # Errors
/// [`Error::Input`] if the threads cannot be started or RAYON_NUM_THREADS has no valid number.
pub fn pool_of(threads: usize) -> Result<ThreadPool> {
    let threads = if threads == 0 { default_threads(std::env::var(VARIABLE).ok().as_deref())? } else { threads };
    pool(threads).map_err(|problem| Error::input("threads", problem).with_help(TOO_FEW_PROCESSES))
}

/// Returns the number of threads where none is requested. Rayon itself would accept any number in the variable and
/// start that many threads.
fn default_threads(variable: Option<&str>) -> Result<usize> {
    let wanted = match variable.map(|text| (text, text.trim().parse::<u32>())) {
        None | Some(("", _)) => 0,
        Some((_, Ok(threads))) if threads <= MAX_THREADS => threads as usize,
        Some((text, _)) => {
            let problem =
                format!("expected a number of threads, at most {MAX_THREADS}, or 0 for one a core, found {text:?}");
            return Err(Error::input(VARIABLE, problem));
        }
    };
    let cores = || std::thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS as usize);
    Ok(if wanted == 0 { cores() } else { wanted })
}

/// Returns the pool that all objects of a program share which ask for no number of threads: the number in
/// RAYON_NUM_THREADS, or else one a core. A process that was forked has its own, because threads are not forked.
///
/// # Errors
/// As [`pool_of`].
pub fn shared() -> Result<Arc<ThreadPool>> {
    static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);
    let (mut held, process) = (POOL.lock().unwrap_or_else(PoisonError::into_inner), std::process::id());
    match &*held {
        Some((of, pool)) if *of == process => Ok(pool.clone()),
        _ => {
            let pool = Arc::new(pool_of(0)?);
            // The parent's pool cannot be dropped: nobody would end its threads, which are not here.
            if let Some(before) = held.replace((process, pool.clone())) {
                std::mem::forget(before);
            }
            Ok(pool)
        }
    }
}

/// Advice where threads cannot be started.
const TOO_FEW_PROCESSES: &str = "the system, the container or the batch job allows too few processes (ulimit -u): \
                                 raise the limit, or use fewer threads with --threads";

/// Creates a pool of threads.
fn pool(threads: usize) -> Result<ThreadPool, String> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|e| format!("cannot start {threads}: {e}"))
}

/// Returns the number of spinning threads of a run on a GPU, without subsystems or with them among a number of particles: at most that
/// of the present pool.
#[must_use]
pub fn size_for(subsystems: Option<usize>) -> usize {
    let [small, large] = MAX_SIZES_WITH_SUBSYSTEMS;
    rayon::current_num_threads().min(match subsystems {
        None => MAX_SIZE,
        Some(n) if n <= SMALL => small,
        Some(_) => large,
    })
}

/// Runs `work` on one of `threads` threads of a new pool, whose other threads spin and take what it distributes through
/// rayon.
///
/// # Errors
/// [`Error::Integration`] if the threads cannot be started.
pub fn run<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> Result<T> {
    let pool = pool(threads).map_err(|problem| Error::Integration {
        problem: format!("threads: {problem}"),
        help: Some(TOO_FEW_PROCESSES.into()),
    })?;
    let (ready, stopped) = (AtomicUsize::new(1), AtomicBool::new(false));
    Ok(pool.in_place_scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|_| {
                ready.fetch_add(1, Ordering::Relaxed);
                // Each thread takes only one of these tasks.
                while ready.load(Ordering::Relaxed) < threads {
                    std::hint::spin_loop();
                }
                while !stopped.load(Ordering::Relaxed) {
                    if rayon::yield_now() != Some(rayon::Yield::Executed) {
                        (0..PAUSES).for_each(|_| std::hint::spin_loop());
                    }
                }
            });
        }
        pool.install(|| {
            while ready.load(Ordering::Relaxed) < threads {
                std::hint::spin_loop();
            }
            // Dropped even if the work panics, since the scope waits for all threads.
            let _awake = Awake::new(&stopped);
            work()
        })
    }))
}

/// Time during which the other threads spin: ends when dropped.
struct Awake<'a> {
    stopped: &'a AtomicBool,
}

impl<'a> Awake<'a> {
    fn new(stopped: &'a AtomicBool) -> Self {
        IS_AWAKE.set(true);
        Self { stopped }
    }
}

impl Drop for Awake<'_> {
    fn drop(&mut self) {
        IS_AWAKE.set(false);
        self.stopped.store(true, Ordering::Relaxed);
    }
}

/// Returns true on the thread that does the work of [`run`]: others wait for a part of it, so that short work is worth sharing.
#[must_use]
pub fn is_awake() -> bool {
    IS_AWAKE.get()
}

/// Returns the smallest number of items, at least 1, that are worth giving to another thread. `nanoseconds` is the time of an item,
/// at least 1.
#[must_use]
pub fn min_share(nanoseconds: usize) -> usize {
    ((if is_awake() { MIN_WORK_AWAKE } else { MIN_WORK_ASLEEP }) / nanoseconds).max(1)
}

/// Returns the number of items for each thread, of `n` items: all of them where sharing costs more time than it saves. `nanoseconds`
/// is the time of an item, at least 1.
#[must_use]
pub fn share(n: usize, nanoseconds: usize) -> usize {
    n.div_ceil((n / min_share(nanoseconds)).clamp(1, rayon::current_num_threads()))
}

/// Returns true if all threads should share the work on `n` items. `nanoseconds` is the time of an item.
#[must_use]
pub fn is_worth_sharing(n: usize, nanoseconds: usize) -> bool {
    n >= 2 * min_share(nanoseconds) && rayon::current_num_threads() > 1
}

/// Runs a function on each item, on threads where there is enough work, and returns its results in the order of the items. `nanoseconds`
/// is the time of one call.
pub fn map<T: Sync, R: Send>(items: &[T], nanoseconds: usize, run: impl Fn(&T) -> R + Sync) -> Vec<R> {
    if is_worth_sharing(items.len(), nanoseconds) {
        let min = min_share(nanoseconds).min(items.len() / 2);
        items.par_iter().with_min_len(min).map(&run).collect()
    } else {
        items.iter().map(run).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_shared_and_the_threads_stop() {
        for threads in [1, 2, 5] {
            let sum = run(threads, || {
                assert_eq!(rayon::current_num_threads(), threads);
                (0..100).map(|_| (0..1000_u32).into_par_iter().with_min_len(10).sum::<u32>()).sum::<u32>()
            });
            assert_eq!(sum.unwrap(), 100 * 499_500);
        }
    }

    #[test]
    fn runs_with_subsystems_have_more_spinning_threads_large_ones_most() {
        let sizes = || [None, Some(2), Some(SMALL), Some(SMALL + 1)].map(size_for);
        assert_eq!(pool_of(20).unwrap().install(sizes), [4, 8, 8, 16]);
        assert_eq!(pool_of(3).unwrap().install(sizes), [3; 4]);
    }

    #[test]
    fn a_variable_sets_the_number_of_threads_within_limits() {
        let cores = std::thread::available_parallelism().unwrap().get();
        for nothing in [None, Some(""), Some("0")] {
            assert_eq!(default_threads(nothing).unwrap(), cores.min(MAX_THREADS as usize));
        }
        assert_eq!(default_threads(Some("3")).unwrap(), 3);
        for bad in ["1025", "99999999999", "-1", "two"] {
            let error = default_threads(Some(bad)).unwrap_err();
            assert!(error.exit_code() == 2 && error.to_string().contains(bad), "{error}");
        }
    }

    #[test]
    fn a_panic_is_passed_on() {
        assert!(std::panic::catch_unwind(|| run(3, || panic!("on purpose"))).is_err());
    }

    #[test]
    fn only_the_thread_of_the_work_is_awake_and_shares_more() {
        assert!(!is_awake() && min_share(40) == 1000);
        run(2, || {
            assert!(is_awake() && min_share(40) == 50 && [99, 100, 229].map(|n| share(n, 40)) == [99, 50, 115]);
            assert!(pool_of(3).unwrap().install(|| !is_awake() && share(999, 40) == 999 && share(4000, 40) == 1334));
            assert!(is_awake());
        })
        .unwrap();
        assert!(!is_awake());
    }

    #[test]
    fn no_thread_stays_awake_after_a_panic() {
        let stopped = AtomicBool::new(false);
        let ended = std::panic::catch_unwind(|| {
            let _awake = Awake::new(&stopped);
            panic!("on purpose");
        });
        assert!(ended.is_err() && !is_awake() && stopped.into_inner());
    }
}
