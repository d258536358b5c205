//! Signals that ask the program to stop.

use std::sync::atomic::{AtomicBool, Ordering};

/// Set by the first signal; a second one ends the process at once, as files are whole at every instant.
pub static STOP: AtomicBool = AtomicBool::new(false);

/// Exit code after a second signal.
const AT_ONCE: i32 = 130;

/// Has SIGINT and SIGTERM set [`STOP`].
pub fn listen() {
    let handler = || {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(AT_ONCE);
        }
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        tracing::warn!("a signal will end the program at once: {error}");
    }
}
