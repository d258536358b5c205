//! Full disk: a run ends with an error, or waits for space and writes the file again.

use super::Simulation;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tisane::error::Result;

/// First and longest pause between two attempts; each pause is twice the one before.
const PAUSE_RANGE: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(60)];
/// Time between two messages that the run is waiting.
const REMINDER_INTERVAL: Duration = Duration::from_secs(600);
/// Time between two checks for a request to stop, during a pause.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Reaction of a session to a full disk.
#[derive(Clone, Copy, Debug)]
struct RetryPolicy {
    wait: bool,
    stop: &'static AtomicBool,
    until: Option<Instant>,
    pauses: [Duration; 2],
    reminder_interval: Duration,
}

impl Simulation {
    /// Calls `write`, which writes a file whole or leaves no trace. If the disk is full and the plan is to wait, calls
    /// it again until the file fits or the run has to stop, with a warning at once and every ten minutes.
    ///
    /// # Errors
    /// As `write`.
    pub fn retry_when_full<T>(&self, write: impl FnMut() -> Result<T>) -> Result<T> {
        let policy = RetryPolicy {
            wait: self.plan.wait_for_space,
            stop: self.session.stop,
            until: self.plan.wall_time.and_then(|limit| self.session.began.checked_add(limit)),
            pauses: PAUSE_RANGE,
            reminder_interval: REMINDER_INTERVAL,
        };
        policy.run(write, |line| tracing::warn!("{line}"))
    }
}

impl RetryPolicy {
    fn run<T>(&self, mut write: impl FnMut() -> Result<T>, mut log: impl FnMut(&str)) -> Result<T> {
        let (began, mut last_message) = (Instant::now(), None::<Instant>);
        let [mut pause, longest] = self.pauses;
        loop {
            let done = write();
            let full = match done {
                Err(error) if self.wait && error.is_full() && !self.is_over() => error,
                done => {
                    if done.is_ok() && last_message.is_some() {
                        log(&format!("there is space again, after {} s: the run continues", began.elapsed().as_secs()));
                    }
                    return done;
                }
            };
            if last_message.is_none_or(|then| then.elapsed() >= self.reminder_interval) {
                let so_far =
                    last_message.map_or(String::new(), |_| format!(", for {} s now", began.elapsed().as_secs()));
                log(&format!(
                    "{full}; waiting for space{so_far} (output.on_full = \"wait\"). SIGINT or \
                     SIGTERM ends the run; its last checkpoint is complete"
                ));
                last_message = Some(Instant::now());
            }
            self.sleep(pause);
            pause = (2 * pause).min(longest);
        }
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.until.is_some_and(|until| Instant::now() >= until)
    }

    fn sleep(&self, pause: Duration) {
        let began = Instant::now();
        while began.elapsed() < pause && !self.is_over() {
            std::thread::sleep(POLL_INTERVAL.min(pause));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use tisane::error::Error;

    static STOP: AtomicBool = AtomicBool::new(false);
    static GO_ON: AtomicBool = AtomicBool::new(false);

    fn policy(stop: &'static AtomicBool) -> RetryPolicy {
        let pauses = [Duration::from_millis(1), Duration::from_millis(2)];
        RetryPolicy { wait: true, stop, until: None, pauses, reminder_interval: Duration::from_millis(20) }
    }

    fn full() -> Error {
        Error::storage("a", std::io::Error::from_raw_os_error(28))
    }

    #[test]
    fn only_a_full_disk_is_waited_for_with_repeated_warnings() {
        let (mut tries, messages) = (0, RefCell::new(Vec::new()));
        // Fails until two messages were logged, and there were more attempts than messages. A policy that logs at every
        // attempt, or only once, gets its success at the bound on attempts, and the assertions below fail.
        let write = || {
            tries += 1;
            let lines = messages.borrow().len();
            if (lines < 2 || tries < lines + 3) && tries < 10_000 { Err(full()) } else { Ok(7) }
        };
        let done = policy(&GO_ON).run(write, |line| messages.borrow_mut().push(line.to_owned()));
        let messages = messages.into_inner();
        assert_eq!(done.unwrap(), 7);
        assert!(tries > 2 && messages.len() > 2, "{tries} tries, {messages:?}");
        assert!(
            messages[0].contains("No space left") && messages[0].contains("waiting for space (output.on_full"),
            "{messages:?}"
        );
        assert!(messages[1].contains("waiting for space, for ") && messages[1].contains(" s now"), "{messages:?}");
        assert!(messages.last().unwrap().contains("space again"), "{messages:?}");
        assert!(messages.len() < tries, "a message at every try");

        let quota = Error::storage("a", std::io::Error::from_raw_os_error(122));
        assert!(full().is_full() && quota.is_full());
        for other in [Error::storage("a", "Input/output error"), Error::input("a", "No space left on device")] {
            let mut tries = 0;
            let write = || {
                tries += 1;
                Err::<(), _>(Error::storage("a", "Input/output error"))
            };
            assert!(!other.is_full());
            policy(&GO_ON).run(write, |_| panic!("a message")).unwrap_err();
            assert_eq!(tries, 1);
        }
    }

    #[test]
    fn a_request_to_stop_or_not_to_wait_ends_the_attempts() {
        let no_wait = RetryPolicy { wait: false, ..policy(&GO_ON) };
        let over = RetryPolicy { until: Some(Instant::now()), ..policy(&GO_ON) };
        for policy in [no_wait, over] {
            let error = policy.run(|| Err::<(), _>(full()), |_| panic!("a message")).unwrap_err();
            assert_eq!(error.exit_code(), 5);
        }
        let mut tries = 0;
        let write = || {
            tries += 1;
            STOP.store(tries == 3, Ordering::Relaxed);
            Err::<(), _>(full())
        };
        assert!(policy(&STOP).run(write, |_| {}).unwrap_err().is_full());
        assert_eq!(tries, 3);
    }
}
