//! Threads of the library.
//!
//! They are its own, and not those of rayon's global pool, because a process that forks leaves all its threads behind:
//! in the child a new pool is made, where work for the old one would wait for ever.

use crate::failure::{Code, Failure, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, PoisonError};

/// The pool and the process that made it. Never dropped: a drop would signal threads that a child does not have.
static POOL: Mutex<Option<(u32, ManuallyDrop<Arc<ThreadPool>>)>> = Mutex::new(None);

/// Returns the threads of this process.
fn pool() -> Result<Arc<ThreadPool>> {
    let mut made = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    match &*made {
        Some((process, pool)) if *process == std::process::id() => Ok(Arc::clone(pool)),
        _ => {
            let builder = ThreadPoolBuilder::new().thread_name(|k| format!("g6-{k}"));
            let problem = |error| Failure::new(Code::Engine, format!("the threads cannot be started: {error}"));
            let pool = Arc::new(builder.build().map_err(problem)?);
            *made = Some((std::process::id(), ManuallyDrop::new(Arc::clone(&pool))));
            Ok(pool)
        }
    }
}

/// Runs `work` on the threads of the library.
///
/// # Errors
/// [`Code::Engine`] if the threads cannot be started.
pub fn run<R: Send>(work: impl FnOnce() -> R + Send) -> Result<R> {
    Ok(pool()?.install(work))
}

/// Returns the number of threads; 0 if they cannot be started.
#[must_use]
pub fn threads() -> usize {
    pool().map_or(0, |pool| pool.current_num_threads())
}
