//! Threads that a simulation in memory computes on.

use rayon::ThreadPool;
use std::sync::Arc;
use tisane::error::{Error, Result};
use tisane::spin_pool;

/// Pool of threads, bound to the process that made it.
#[derive(Debug)]
pub(super) struct Threads {
    pool: Arc<ThreadPool>,
    process: u32,
}

impl Threads {
    /// Starts `threads` threads; 0 stands for those that all simulations share.
    pub(super) fn new(threads: usize) -> Result<Arc<Self>> {
        let pool = if threads == 0 { spin_pool::shared()? } else { Arc::new(spin_pool::pool_of(threads)?) };
        Ok(Arc::new(Self { pool, process: std::process::id() }))
    }

    /// Runs `work` on them. In a process that was forked from the one that made them there are no such threads, and
    /// waiting for them would last for ever.
    pub(super) fn run<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        if self.process != std::process::id() {
            let problem = "this simulation was made by the process from which this one was forked";
            let help = "make it in the process that uses it, for example by starting workers with \"spawn\"";
            return Err(Error::input("process", problem).with_help(help));
        }
        self.pool.install(work)
    }
}
