//! Waiting for other ranks: polling with a time limit.

use std::hint;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Polls between two looks at the clock, which costs as much as a poll.
const POLLS: usize = 8;
/// How long to poll without giving up the core. With 20 µs, two ranks under MPICH on a busy host with two cores took up to
/// 50 µs for a round trip, with 5 µs at most 9.
const SPIN: Duration = Duration::from_micros(5);
/// How long to offer the core to others between polls, and to sleep from then on.
const YIELD: Duration = Duration::from_millis(1);
/// Longest sleep between polls.
const LONGEST_SLEEP: Duration = Duration::from_millis(1);
/// Sleeps are this fraction of the time waited, so that no wait becomes longer by more than it.
const SLEEP_FRACTION: u32 = 16;
/// Longest time between two polls that counts. A process that was stopped (`SIGSTOP`, a suspended job) finds that hours
/// have passed in which other ranks were stopped too.
const LONGEST_GAP: Duration = Duration::from_secs(1);

/// What a poll has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Poll {
    /// Nothing is left to wait for.
    Done,
    /// A part is done, so that the next may be about to come.
    Advanced,
    /// Nothing has changed.
    Pending,
}

/// How long to wait for other ranks.
///
/// The wait polls for 5 µs, then offers its core to others between polls for 1 ms, so that more ranks than cores work,
/// and then sleeps between polls, a sixteenth of the time waited and at most 1 ms: a rank that waits long uses
/// one or two hundredths of a core. It begins so again when a part of what it waits for is done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wait<'a> {
    /// Longest wait. `None` waits without end.
    pub limit: Option<Duration>,
    /// Flag that asks the program to stop. Once it is seen set, `after_stop` is a limit too.
    pub stop: Option<&'a AtomicBool>,
    /// Longest wait from the moment in which the flag is seen set, or from the beginning where it was set before.
    pub after_stop: Duration,
}

impl<'a> Wait<'a> {
    /// Returns a wait without end.
    #[must_use]
    pub fn forever() -> Self {
        Self::default()
    }

    /// Returns a wait of at most `limit`.
    #[must_use]
    pub fn at_most(limit: Duration) -> Self {
        Self { limit: Some(limit), ..Self::default() }
    }

    /// Returns this wait, but with at most `after_stop` from when `stop` is set.
    #[must_use]
    pub fn with_stop(self, stop: &'a AtomicBool, after_stop: Duration) -> Self {
        Self { stop: Some(stop), after_stop, ..self }
    }

    /// Polls until nothing is left to wait for, and returns `None`; or returns the time waited once that is over the
    /// limit.
    pub(crate) fn until<E>(&self, mut poll: impl FnMut() -> Result<Poll, E>) -> Result<Option<Duration>, E> {
        let mut last: Option<Instant> = None;
        let mut waited = Duration::ZERO;
        let mut advanced_at = Duration::ZERO;
        let mut stopped_at = None;
        loop {
            let mut advanced = false;
            for _ in 0..POLLS {
                match poll()? {
                    Poll::Done => return Ok(None),
                    Poll::Advanced => advanced = true,
                    Poll::Pending => hint::spin_loop(),
                }
            }
            let now = Instant::now();
            waited += last.map_or(Duration::ZERO, |last| now.duration_since(last).min(LONGEST_GAP));
            last = Some(now);
            if self.is_over(waited, &mut stopped_at) {
                return Ok(Some(waited));
            }
            if advanced {
                advanced_at = waited;
            }
            pause(waited.saturating_sub(advanced_at));
        }
    }

    fn is_over(&self, waited: Duration, stopped_at: &mut Option<Duration>) -> bool {
        if stopped_at.is_none() && self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            *stopped_at = Some(waited);
        }
        let after_stop = stopped_at.is_some_and(|at| waited.saturating_sub(at) >= self.after_stop);
        after_stop || self.limit.is_some_and(|limit| waited >= limit)
    }
}

fn pause(waited: Duration) {
    if waited >= YIELD {
        thread::sleep((waited / SLEEP_FRACTION).min(LONGEST_SLEEP));
    } else if waited >= SPIN {
        thread::yield_now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn never() -> Result<Poll, ()> {
        Ok(Poll::Pending)
    }

    #[test]
    fn a_wait_ends_when_done_or_over_the_limit() {
        let mut polls = 0;
        let done = Wait::forever().until(|| {
            polls += 1;
            Ok::<_, ()>(if polls == 100 { Poll::Done } else { Poll::Pending })
        });
        assert_eq!((done, polls), (Ok(None), 100));
        let began = Instant::now();
        let waited = Wait::at_most(Duration::from_millis(20)).until(never).unwrap().unwrap();
        assert!(waited >= Duration::from_millis(20) && waited <= began.elapsed(), "{waited:?}");
        assert_eq!(Wait::at_most(Duration::ZERO).until(|| Err::<Poll, _>("broken")), Err("broken"));
    }

    #[test]
    fn a_flag_shortens_a_wait_from_when_it_is_set() {
        let stop = AtomicBool::new(false);
        let wait = Wait::at_most(Duration::from_secs(60)).with_stop(&stop, Duration::from_millis(5));
        let mut polls = 0;
        let waited = wait.until(|| {
            polls += 1;
            stop.store(polls > 40, Ordering::Relaxed);
            never()
        });
        let waited = waited.unwrap().unwrap();
        assert!(polls > 40 && waited >= Duration::from_millis(5) && waited < Duration::from_secs(30), "{waited:?}");
    }

    #[test]
    fn a_long_wait_polls_rarely() {
        let mut late_polls = 0;
        let began = Instant::now();
        let _ = Wait::at_most(Duration::from_millis(120)).until(|| {
            late_polls += usize::from(began.elapsed() > Duration::from_millis(20));
            never()
        });
        // 100 ms with sleeps of 1 ms.
        assert!((1..=POLLS * 110).contains(&late_polls), "{late_polls}");
    }
}
