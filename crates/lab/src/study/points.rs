//! Working through the points of a study: what is finished is kept, what is missing is measured.

use super::journal::{Journal, Outcome};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use tisane::error::{Error, Result};

/// Observer of a study while its points are measured.
pub trait Progress: Sync {
    /// Reports the number of points to measure besides the finished ones, and their cost in all.
    fn begin(&self, missing: usize, finished: usize, cost: f64);
    /// Reports a finished point: `line` describes it and its result.
    fn point(&self, line: &str, cost: f64);
    /// Reports that all points are finished.
    fn end(&self);
}

/// Settings of the measurement of a study's points.
pub struct Work<'a> {
    /// Number of points measured at the same time.
    pub at_once: usize,
    /// True if all is computed on the host: there an integration that cannot go on belongs to its point. Elsewhere it may be a device
    /// that failed.
    pub on_host: bool,
    /// Observer of the progress.
    pub progress: &'a dyn Progress,
}

/// Measures the points of `keys` that the journal lacks, and returns the results of all in the order of `keys`. `cost`
/// gives the relative cost of a point, `describe` a line about it and its result.
///
/// # Errors
/// The result of `measure`, except for a step below dt_min, and on the host for an integration that cannot go on: these belong to the
/// parameters and are kept as the point's result. [`Error::Storage`] if a point cannot be kept.
pub fn finish<K, R>(
    journal: &mut Journal<K, R>,
    keys: &[K],
    work: &Work<'_>,
    cost: impl Fn(&K) -> f64 + Sync,
    describe: impl Fn(&K, &Outcome<R>) -> String + Sync,
    measure: impl Fn(&K) -> Result<R> + Sync,
) -> Result<Vec<Outcome<R>>>
where
    K: Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync,
    R: Clone + Serialize + DeserializeOwned + Send,
{
    let each = |keys: &[&K]| keys.iter().map(|key| measure(key)).collect();
    finish_together(journal, keys, work, (|_, _| false, each), cost, describe)
}

/// Does as [`finish`] with points that are measured together: those next to each other that the first function
/// allows, at most [`Work::at_once`]. The second one measures them.
///
/// # Errors
/// As [`finish`].
pub fn finish_together<K, R>(
    journal: &mut Journal<K, R>,
    keys: &[K],
    work: &Work<'_>,
    (together, measure): (impl Fn(&K, &K) -> bool, impl Fn(&[&K]) -> Vec<Result<R>> + Sync),
    cost: impl Fn(&K) -> f64 + Sync,
    describe: impl Fn(&K, &Outcome<R>) -> String + Sync,
) -> Result<Vec<Outcome<R>>>
where
    K: Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync,
    R: Clone + Serialize + DeserializeOwned + Send,
{
    let missing: Vec<&K> = keys.iter().filter(|key| journal.get(key).is_none()).collect();
    work.progress.begin(missing.len(), keys.len() - missing.len(), missing.iter().map(|key| cost(key)).sum());
    let groups = missing.chunk_by(|a, b| together(a, b));
    let batches: Vec<&[&K]> = groups.flat_map(|group| group.chunks(work.at_once.max(1))).collect();
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let shared = Mutex::new((&mut *journal, Ok(())));
    let worker = || {
        while !failed.load(Ordering::Relaxed) {
            let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
            for (key, measured) in batch.iter().zip(measure(batch)) {
                let outcome = match measured {
                    Ok(result) => Ok(Outcome::Done(result)),
                    Err(error @ Error::StepBelowFloor(_)) => Ok(Outcome::Failed(error.to_string())),
                    Err(error @ Error::Integration { .. }) if work.on_host => Ok(Outcome::Failed(error.to_string())),
                    Err(error) => Err(error),
                };
                let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
                let line = outcome.as_ref().map_or_else(|_| String::new(), |outcome| describe(key, outcome));
                match outcome.and_then(|outcome| shared.0.keep((*key).clone(), outcome)) {
                    Ok(()) => work.progress.point(&line, cost(key)),
                    Err(error) => {
                        // Of several errors the first is returned: the others may follow from it.
                        if shared.1.is_ok() {
                            shared.1 = Err(error);
                        }
                        failed.store(true, Ordering::Relaxed);
                    }
                }
            }
        }
    };
    if work.at_once > 1 {
        let workers = work.at_once.min(batches.len());
        std::thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(worker))));
    } else {
        worker();
    }
    let (_, result) = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    work.progress.end();
    result?;
    let lost = || Error::Integration { problem: "a point was not measured".into(), help: None };
    keys.iter().map(|key| journal.get(key).cloned().ok_or_else(lost)).collect()
}
