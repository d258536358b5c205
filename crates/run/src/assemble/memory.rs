//! Memory that particles need, and that of this machine.

use crate::config::{Loaded, Problem};
use tisane::error::Result;

/// Memory of a run for each particle, in bytes: host columns, sources of the engine, a block, an output.
pub const MEMORY_PER_PARTICLE: u64 = 400;

/// Refuses a sampled model that this machine cannot hold, before an allocation fails.
pub(super) fn check(loaded: &Loaded) -> Result<()> {
    match loaded.config.initial.sampled() {
        Some((Some(n), key, _)) => check_for(loaded, n, key),
        _ => Ok(()),
    }
}

/// Refuses `n` particles, which the setting `key` asks for, if this machine cannot hold them.
pub(super) fn check_for(loaded: &Loaded, n: u64, key: String) -> Result<()> {
    let needed = n.saturating_mul(MEMORY_PER_PARTICLE);
    match of_this_machine("MemTotal") {
        Some(total) if needed > total => {
            let problem = format!("{n} particles take {needed} bytes of memory, and this machine has {total}");
            Err(loaded.explain(Problem::new(key, problem)))
        }
        _ => Ok(()),
    }
}

/// Returns a line of `/proc/meminfo`, `MemTotal` or `MemAvailable`, in bytes; [`None`] where it cannot be read.
pub(super) fn of_this_machine(which: &str) -> Option<u64> {
    let about = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = about.lines().find_map(|line| line.strip_prefix(which)?.strip_prefix(':'))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
