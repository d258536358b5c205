//! Objects of the caller as numbers, which are never used again: a closed object is an error.

use crate::status::{Failure, Status, wrong};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

/// Numbers of objects, one sequence for all kinds, so that a number of one kind is no object of another.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Table of the open objects of a kind.
pub(crate) struct Handles<T> {
    kind: &'static str,
    open: Mutex<Option<HashMap<u64, Arc<Mutex<T>>>>>,
}

impl<T> Handles<T> {
    pub(crate) const fn new(kind: &'static str) -> Self {
        Self { kind, open: Mutex::new(None) }
    }

    /// Returns what `work` makes of the table.
    fn with_table<R>(&self, work: impl FnOnce(&mut HashMap<u64, Arc<Mutex<T>>>) -> R) -> R {
        // A panic elsewhere cannot leave the table half changed.
        work(self.open.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
    }

    fn unknown(&self, handle: u64) -> Failure {
        wrong(format!("{handle} is no open {}: it was closed, or never opened", self.kind))
    }

    /// Keeps an object; returns its number.
    pub(crate) fn open(&self, object: T) -> u64 {
        let handle = NEXT.fetch_add(1, Ordering::Relaxed);
        self.with_table(|table| table.insert(handle, Arc::new(Mutex::new(object))));
        handle
    }

    /// Drops an object, once a call that uses it has ended.
    pub(crate) fn close(&self, handle: u64) -> Result<Status, Failure> {
        let object = self.with_table(|table| table.remove(&handle)).ok_or_else(|| self.unknown(handle))?;
        drop(object);
        Ok(Status::TISANE_OK)
    }

    /// Calls `work` with an object.
    pub(crate) fn with<R>(&self, handle: u64, work: impl FnOnce(&mut T) -> Result<R, Failure>) -> Result<R, Failure> {
        let object = self.with_table(|table| table.get(&handle).cloned()).ok_or_else(|| self.unknown(handle))?;
        match object.try_lock() {
            Ok(mut object) => work(&mut object),
            Err(TryLockError::WouldBlock) => {
                let problem = format!("{} {handle} is in use by another call", self.kind);
                Err(Failure(Status::TISANE_BUSY, problem))
            }
            Err(TryLockError::Poisoned(_)) => {
                let problem = format!("a mistake in tisane has left {} {handle} unusable: close it", self.kind);
                Err(Failure(Status::TISANE_BUG, problem))
            }
        }
    }
}
