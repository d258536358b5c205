//! The end of a run, or its state in progress: from its lock, its summary and its log.

use crate::directory::{FAILED, LOG, SUMMARY};
use crate::{lock, regular_file};
use serde_json::Value;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Length of the end of the log that is read, in bytes.
const TAIL: u64 = 1 << 18;

/// State of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// A process is at it.
    Running {
        /// Text of its lock: process, machine, begin.
        owner: String,
        /// Flag that the process is halted (SIGSTOP).
        halted: bool,
    },
    /// It ended as its summary says: finished, interrupted, time-limit, block-step-limit, collision, dissolution.
    Ended {
        /// Reason, as in `summary.json`.
        reason: String,
    },
    /// An error ended it.
    Failed {
        /// The error.
        error: String,
        /// Advice that came with it, a remedy a line; empty if there is none.
        advice: String,
    },
    /// Its process ended without a summary and without an error.
    Killed {
        /// Text of its stale lock; empty if there is none.
        owner: String,
    },
}

/// Line of the log of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Time in UTC, to the second.
    pub time: String,
    /// True for an error, false for a warning.
    pub is_error: bool,
    /// Message.
    pub text: String,
}

impl Ending {
    /// Determines the state of the run in `dir` from its summary, and from the warnings and errors of the last session
    /// in its log.
    #[must_use]
    pub fn find(dir: &Path, summary: Option<&Value>, log: &[LogLine]) -> Self {
        if lock::in_use(dir) {
            let owner = lock::owner(dir).unwrap_or_default();
            return Self::Running { halted: is_halted(&owner), owner };
        }
        let text = |key: &str| summary.and_then(|s| s.get(key)?.as_str()).unwrap_or_default().to_owned();
        match (text("exit_reason"), log.iter().rev().find(|line| line.is_error)) {
            (reason, _) if reason == FAILED => Self::Failed { error: text("error"), advice: text("advice") },
            (reason, _) if !reason.is_empty() => Self::Ended { reason },
            (_, Some(line)) => Self::Failed { error: line.text.clone(), advice: String::new() },
            (_, None) => Self::Killed { owner: lock::owner(dir).unwrap_or_default() },
        }
    }

    /// Returns true if the run is in progress.
    #[must_use]
    pub const fn is_running(&self) -> bool {
        matches!(self, Self::Running { .. })
    }

    /// Returns true if the run reached its end.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        matches!(self, Self::Ended { reason } if reason == "finished")
    }
}

/// Reads the summary of a run; [`None`] if there is none.
///
/// # Errors
/// A message if it cannot be read.
pub fn read_summary(dir: &Path) -> Result<Option<Value>, String> {
    let path = dir.join(SUMMARY);
    if !path.exists() {
        return Ok(None);
    }
    let damaged = |why: String| format!("{SUMMARY}: {why}");
    let bytes = regular_file::read(&path).map_err(|e| damaged(e.to_string()))?;
    serde_json::from_slice(&bytes).map(Some).map_err(|e| damaged(e.to_string()))
}

/// Returns the warnings and errors of the last session in the log of a run.
///
/// # Errors
/// A message if the log is missing or cannot be read.
pub fn read_log(dir: &Path) -> Result<Vec<LogLine>, String> {
    let read = || {
        let mut file = regular_file::open(&dir.join(LOG))?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
        let mut bytes = Vec::new();
        file.take(TAIL).read_to_end(&mut bytes)?;
        std::io::Result::Ok(bytes)
    };
    let bytes = read().map_err(|e| format!("{LOG}: {e}"))?;
    Ok(last_session(&String::from_utf8_lossy(&bytes)))
}

/// Returns the warnings and errors after the last line that begins a session. A line without a time continues the one
/// before.
fn last_session(log: &str) -> Vec<LogLine> {
    let mut found: Vec<LogLine> = Vec::new();
    let mut continued = false;
    for line in log.lines() {
        match split(line) {
            Some((_, "INFO", text)) if text.starts_with("process ") && text.contains(" on ") => {
                found.clear();
                continued = false;
            }
            Some((time, level @ ("WARN" | "ERROR"), text)) => {
                let time = time.split('.').next().unwrap_or(time).replace('T', " ");
                found.push(LogLine { time, is_error: level == "ERROR", text: text.to_owned() });
                continued = true;
            }
            Some(_) => continued = false,
            None => {
                if let Some(last) = found.last_mut().filter(|_| continued && !line.trim().is_empty()) {
                    last.text += &format!(" {}", line.trim());
                }
            }
        }
    }
    found
}

/// Splits a line of the log into time, level and message; [`None`] if it is none.
fn split(line: &str) -> Option<(&str, &str, &str)> {
    let (time, rest) = line.split_once(' ')?;
    let (level, text) = rest.trim_start().split_once(' ')?;
    let is_time = time.ends_with('Z') && time.starts_with(|c: char| c.is_ascii_digit()) && time.contains('T');
    let is_level = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR"].contains(&level);
    (is_time && is_level).then_some((time, level, text))
}

/// Returns true if the process that a lock names is on this machine and halted.
fn is_halted(owner: &str) -> bool {
    let Some(id) = lock::process_here(owner) else { return false };
    // The state follows the name of the program, which is in brackets and may contain others.
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['T', 't']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::{LOCK_FILE, Lock};
    use serde_json::json;

    const LOG_OF_TWO: &str = "2026-11-22T19:25:24.517804Z  INFO process 1 on vm\n\
        2026-11-22T19:25:24.6Z ERROR cannot write x: No space left on device\n\
        2026-11-22T19:26:24.517804Z  INFO process 2 on vm\n\
        2026-11-22T19:26:25.1Z  WARN of this session\n  on two lines\n\
        2026-11-22T19:26:26.0Z DEBUG wrote a checkpoint\nnot a line of a log\n\
        2026-11-22T19:26:27.0Z ERROR particle 84 needs a shorter step\n";

    #[test]
    fn warnings_and_errors_of_the_last_session_are_found() {
        let lines = last_session(LOG_OF_TWO);
        let texts: Vec<_> = lines.iter().map(|line| (line.time.as_str(), line.is_error, line.text.as_str())).collect();
        assert_eq!(
            texts,
            [
                ("2026-11-22 19:26:25", false, "of this session on two lines"),
                ("2026-11-22 19:26:27", true, "particle 84 needs a shorter step"),
            ]
        );
        // A log whose beginning was not read.
        assert_eq!(last_session("Z  WARN cut\n2026-11-22T19:26:25.1Z  WARN whole\n").len(), 1);
        assert_eq!(last_session(""), []);
    }

    #[test]
    fn a_long_log_is_read_from_its_end() {
        let dir = tempfile::tempdir().unwrap();
        assert!(read_log(dir.path()).unwrap_err().contains("run.log"));
        let many = "2026-11-22T19:26:26.0Z  WARN again\n".repeat(20_000);
        std::fs::write(dir.path().join(LOG), format!("{many}2026-11-22T19:26:26.0Z ERROR the last\n")).unwrap();
        let lines = read_log(dir.path()).unwrap();
        assert!(lines.len() < 20_000 && lines.last().unwrap().text == "the last", "{}", lines.len());
    }

    #[test]
    fn each_end_of_a_run_is_told_from_the_others() {
        let dir = tempfile::tempdir().unwrap();
        let end = |summary: Option<&Value>, log: &str| Ending::find(dir.path(), summary, &last_session(log));
        let finished = json!({ "exit_reason": "finished" });
        assert!(end(Some(&finished), LOG_OF_TWO).is_finished());
        let failed = json!({ "exit_reason": "failed", "error": "too short", "advice": "soften" });
        let (error, advice) = ("too short".into(), "soften".into());
        assert_eq!(end(Some(&failed), ""), Ending::Failed { error, advice });
        // Versions before wrote no summary at an error.
        let error = "particle 84 needs a shorter step".into();
        assert_eq!(end(None, LOG_OF_TWO), Ending::Failed { error, advice: String::new() });
        let stale = "process 4711 on node17, since 2026-11-21T22:10:05Z";
        std::fs::write(dir.path().join(LOCK_FILE), format!("{stale}\n")).unwrap();
        assert_eq!(end(None, ""), Ending::Killed { owner: stale.into() });
        let _lock = Lock::take(dir.path()).unwrap();
        let running = end(Some(&finished), LOG_OF_TWO);
        let own = format!("process {} on ", std::process::id());
        assert!(matches!(&running, Ending::Running { owner, halted: false } if owner.starts_with(&own)), "{running:?}");
        assert!(running.is_running() && !running.is_finished());
    }

    #[test]
    fn a_missing_summary_is_none_and_a_damaged_one_an_error() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read_summary(dir.path()), Ok(None));
        std::fs::write(dir.path().join(SUMMARY), "{").unwrap();
        assert!(read_summary(dir.path()).unwrap_err().starts_with("summary.json: "));
    }
}
