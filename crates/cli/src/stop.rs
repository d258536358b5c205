//! Signals that ask the program to stop.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ};
use signal_hook::flag;
use std::io;
use std::sync::Once;
use std::sync::atomic::AtomicBool;

/// Set by the first signal; a second one ends the process at once, as files are whole at every instant.
pub static STOP: AtomicBool = AtomicBool::new(false);
/// Set by SIGXFSZ and never read: the write beyond the limit returns an error, which is reported.
static TOO_LARGE: AtomicBool = AtomicBool::new(false);

/// Signals of users, shells and batch systems; after any signal one of these ends the process at once.
const REQUESTS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
/// Signals of batch systems before they kill. SIGXCPU comes again every second.
const WARNINGS: [i32; 3] = [SIGXCPU, SIGUSR1, SIGUSR2];

/// Exit code after a second signal.
const AT_ONCE: i32 = 130;

/// Lets the signals that ask for a stop set [`STOP`], except those that are ignored.
pub fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if let Err(error) = register() {
            tracing::warn!("a signal will end the program at once: {error}");
        }
    });
}

fn register() -> io::Result<()> {
    for signal in heeded() {
        // Registered first: a signal must not end the program by the flag that it sets itself.
        if REQUESTS.contains(&signal) {
            flag::register_conditional_shutdown(signal, AT_ONCE, &STOP)?;
        }
        flag::register(signal, &STOP)?;
    }
    Ok(())
}

/// Returns the signals that ask for a stop. A signal that was ignored when the program started (SIGHUP under `nohup`,
/// SIGINT in the background of a script) stays ignored.
pub fn heeded() -> impl Iterator<Item = i32> {
    let ignored = std::fs::read_to_string("/proc/self/status").map_or(0, |status| ignored(&status));
    REQUESTS.into_iter().chain(WARNINGS).filter(move |signal| ignored & (1 << (signal - 1)) == 0)
}

/// Returns the set of ignored signals in the `status` of a process: signal s is bit s - 1.
fn ignored(status: &str) -> u64 {
    let digits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    digits.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok()).unwrap_or(0)
}

/// Makes a write beyond the limit on the size of files (`ulimit -f`) return an error instead of ending the program.
pub fn outlive_large_files() {
    if let Err(error) = flag::register(SIGXFSZ, &TOO_LARGE) {
        tracing::warn!("a file beyond the limit on their size will end the program at once: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_the_status() {
        let status = "Name:\ttisane\nSigBlk:\tffffffffffffffff\nSigIgn:\t0000000000001001\nSigCgt:\t0000000000000000\n";
        let pipe = 13;
        assert_eq!(ignored(status), 1 << (SIGHUP - 1) | 1 << (pipe - 1));
        for nothing in ["", "SigIgn:", "SigIgn:\tmany\n"] {
            assert_eq!(ignored(nothing), 0);
        }
    }
}
