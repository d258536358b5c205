//! Work on an ensemble that is dealt among workers, and what they send.

use super::blueprint::Blueprint;
use super::rows::{MemberRow, Tables};
use crate::assemble::{self, Session};
use crate::config::Kept;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tisane::error::Error;
use tisane_io::checkpoint::MemberState;
use tisane_io::table::Value;

/// Message of a worker.
pub(super) enum Message {
    /// Rows of the series, in the order of time for each member.
    Outputs(Vec<Vec<Value>>),
    /// A member has ended.
    Ended(Box<MemberRow>),
    /// State of a member in progress.
    State(Box<MemberState>),
    /// Error that ends the ensemble.
    Failed(Error),
}

/// Work on an ensemble.
pub(super) struct Work<'a> {
    pub blueprint: &'a Blueprint,
    pub tables: &'a Tables,
    /// Folder of the snapshots.
    pub snapshots: &'a Path,
    pub session: Session,
    /// Wall time after which a worker sends the state of a member in progress.
    pub checkpoint_interval: Duration,
    /// Flag that requests a stop.
    pub stop: &'static AtomicBool,
    todo: Vec<u64>,
    next: AtomicUsize,
    states: Mutex<BTreeMap<u64, MemberState>>,
    stops: &'a (dyn Fn() -> bool + Sync),
    gpu: OnceLock<String>,
    block_steps: AtomicU64,
    /// Shares of the members in progress, in 2⁻³².
    shares: AtomicU64,
}

/// Unit of [`Work::shares`].
const SHARE: f64 = 4_294_967_296.0;

impl<'a> Work<'a> {
    /// Creates the work on the members `todo`, some of which have states to go on from.
    pub fn new(
        (blueprint, tables): (&'a Blueprint, &'a Tables),
        snapshots: &'a Path,
        (session, stop): (Session, &'static AtomicBool),
        (mut todo, states): (Vec<u64>, BTreeMap<u64, MemberState>),
        stops: &'a (dyn Fn() -> bool + Sync),
    ) -> Self {
        // Members in progress first, so that few are in progress at any time.
        todo.sort_by_key(|member| (!states.contains_key(member), *member));
        Self {
            blueprint,
            tables,
            snapshots,
            session,
            stop,
            checkpoint_interval: blueprint.config.checkpoint.interval.get(),
            todo,
            next: AtomicUsize::new(0),
            states: Mutex::new(states),
            stops,
            gpu: OnceLock::new(),
            block_steps: AtomicU64::new(0),
            shares: AtomicU64::new(0),
        }
    }

    /// Returns the name of the GPU and the version of its driver for the provenance of snapshots; nothing where none are
    /// kept, as it takes a while to find.
    pub fn gpu(&self) -> &str {
        let config = &self.blueprint.config;
        if config.ensemble.as_ref().is_none_or(|ensemble| ensemble.snapshots == Kept::None) {
            return "";
        }
        let device = self.session.device.unwrap_or(config.force.device) as usize;
        let find = || assemble::gpus().ok().and_then(|gpus| Some(gpus.get(device)?.about.clone())).unwrap_or_default();
        self.gpu.get_or_init(find)
    }

    /// Takes the next member, with the state to go on from, if there is one.
    pub fn take(&self) -> Option<(u64, Option<MemberState>)> {
        let member = *self.todo.get(self.next.fetch_add(1, Ordering::Relaxed))?;
        let state = self.states.lock().unwrap_or_else(PoisonError::into_inner).remove(&member);
        Some((member, state))
    }

    /// Returns true if there are members that were not taken.
    pub fn has_more(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.todo.len()
    }

    /// Returns true if workers have to stop.
    pub fn is_stopping(&self) -> bool {
        (self.stops)()
    }

    /// Counts block steps of a member, and the share of its time that they went over.
    pub fn count(&self, block_steps: u64, share: f64) {
        self.block_steps.fetch_add(block_steps, Ordering::Relaxed);
        self.shares.fetch_add((share * SHARE) as i64 as u64, Ordering::Relaxed);
    }

    /// Returns the number of block steps so far.
    pub fn block_steps(&self) -> u64 {
        self.block_steps.load(Ordering::Relaxed)
    }

    /// Returns the sum of the shares of the members in progress.
    pub fn shares(&self) -> f64 {
        (self.shares.load(Ordering::Relaxed) as i64 as f64 / SHARE).max(0.0)
    }

    /// Returns the row of a member with its settings.
    pub fn row(&self, row: &MemberRow) -> Vec<Value> {
        self.tables.member(row, &self.blueprint.members.settings(row.member))
    }
}
