//! Work on an ensemble that is dealt among workers, and what they send.

use super::blueprint::Blueprint;
use super::journals::JournalRows;
use super::rows::{MemberRow, Tables};
use crate::assemble::{self, Session};
use crate::config::Kept;
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tisane::error::Error;
use tisane_io::checkpoint::MemberState;
use tisane_io::table::Value;

/// Message of a worker.
pub(super) enum Message {
    /// Rows of the series, in the order of time for each member.
    Outputs(Vec<Vec<Value>>),
    /// Rows of the journals.
    Journals(JournalRows),
    /// A member has ended.
    Ended(Box<Ended>),
    /// State of a member in progress.
    State(Box<MemberState>),
    /// Error that ends the ensemble.
    Failed(Error),
}

/// Member that has ended.
#[cfg_attr(feature = "mpi", derive(serde::Serialize, serde::Deserialize))]
#[derive(Debug)]
pub(super) struct Ended {
    pub member: u64,
    /// Error that ended it; empty if there was none.
    pub problem: String,
    /// Largest |energy error| of any output.
    pub energy_error: f64,
    /// Row of the table of the members.
    pub row: Vec<Value>,
}

/// Member to integrate, with the state to go on from if it has one.
pub(super) type Task = (u64, Option<MemberState>);

/// Members that no worker has taken.
struct Queue {
    tasks: VecDeque<Task>,
    /// Flag that none are added any more.
    closed: bool,
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
    /// Most members that one of several GPUs or ranks has in progress.
    pub share: usize,
    queue: Mutex<Queue>,
    /// Notified when members are added and when the queue is closed.
    changed: Condvar,
    stops: &'a (dyn Fn() -> bool + Sync),
    gpus: OnceLock<Vec<String>>,
    block_steps: AtomicU64,
    /// Shares of the members in progress, in 2⁻³².
    shares: AtomicU64,
}

/// Unit of [`Work::shares`].
const SHARE: f64 = 4_294_967_296.0;

/// Members that are to be integrated.
pub(super) struct Todo {
    /// Their numbers.
    pub members: Vec<u64>,
    /// States of some of them to go on from.
    pub states: BTreeMap<u64, MemberState>,
    /// Number of GPUs or ranks.
    pub parts: usize,
}

impl<'a> Work<'a> {
    /// Creates the work on members.
    pub fn new(
        (blueprint, tables): (&'a Blueprint, &'a Tables),
        snapshots: &'a Path,
        (session, stop): (Session, &'static AtomicBool),
        todo: Todo,
        stops: &'a (dyn Fn() -> bool + Sync),
    ) -> Self {
        let Todo { mut members, mut states, parts } = todo;
        // Members in progress first, so that few are in progress at any time.
        members.sort_by_key(|member| (!states.contains_key(member), *member));
        let share = members.len().div_ceil(parts.max(1));
        let tasks = members.into_iter().map(|member| (member, states.remove(&member))).collect();
        Self {
            blueprint,
            tables,
            snapshots,
            session,
            stop,
            checkpoint_interval: blueprint.config.checkpoint.interval.get(),
            share,
            queue: Mutex::new(Queue { tasks, closed: true }),
            changed: Condvar::new(),
            stops,
            gpus: OnceLock::new(),
            block_steps: AtomicU64::new(0),
            shares: AtomicU64::new(0),
        }
    }

    /// Returns the name of a GPU and the version of its driver for the provenance of snapshots; nothing where none are
    /// kept, as it takes a while to find.
    pub fn gpu(&self, device: u32) -> &str {
        let ensemble = self.blueprint.config.ensemble.as_ref();
        if ensemble.is_none_or(|ensemble| ensemble.snapshots == Kept::None) {
            return "";
        }
        let find = || assemble::gpus().unwrap_or_default().into_iter().map(|gpu| gpu.about).collect();
        self.gpus.get_or_init(find).get(device as usize).map_or("", String::as_str)
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the work of a rank to which members are dealt, until it is [closed](Self::close).
    #[cfg(feature = "mpi")]
    pub fn dealt(self) -> Self {
        self.queue().closed = false;
        Self { share: usize::MAX, ..self }
    }

    /// Adds members.
    #[cfg(feature = "mpi")]
    pub fn add(&self, tasks: impl Iterator<Item = Task>) {
        self.queue().tasks.extend(tasks);
        self.changed.notify_all();
    }

    /// Ends the wait for more members.
    #[cfg(feature = "mpi")]
    pub fn close(&self) {
        self.queue().closed = true;
        self.changed.notify_all();
    }

    /// Takes the next member, if there is one.
    pub fn take(&self) -> Option<Task> {
        self.queue().tasks.pop_front()
    }

    /// Waits until there are members to take. Returns false if there will be none.
    pub fn wait(&self) -> bool {
        let mut queue = self.queue();
        while queue.tasks.is_empty() && !queue.closed {
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        !queue.tasks.is_empty()
    }

    /// Returns the number of members that were not taken.
    pub fn waiting(&self) -> usize {
        self.queue().tasks.len()
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

    /// Returns the message of a member that has ended.
    pub fn ended(&self, row: &MemberRow) -> Message {
        let MemberRow { member, problem, max_energy_error, .. } = row;
        let cells = self.tables.member(row, &self.blueprint.members.settings(*member));
        let ended = Ended { member: *member, problem: problem.clone(), energy_error: *max_energy_error, row: cells };
        Message::Ended(Box::new(ended))
    }
}
