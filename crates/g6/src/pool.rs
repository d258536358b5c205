//! Threads of the library: those that all objects of a program share, of its own process even after a fork.

use crate::failure::{Code, Failure, Result};
use tisane::spin_pool;

/// Runs `work` on the threads of the library.
///
/// # Errors
/// [`Code::Engine`] if the threads cannot be started.
pub fn run<R: Send>(work: impl FnOnce() -> R + Send) -> Result<R> {
    let pool = spin_pool::shared().map_err(|error| Failure::new(Code::Engine, error.to_string()))?;
    Ok(pool.install(work))
}

/// Returns the number of threads; 0 if they cannot be started.
#[must_use]
pub fn threads() -> usize {
    spin_pool::shared().map_or(0, |pool| pool.current_num_threads())
}
