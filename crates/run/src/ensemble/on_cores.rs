//! Members on the cores: one a core, each on one thread.

use super::blueprint::Blueprint;
use super::member::{FAILED, Member, Outputs, describe};
use super::rows::MemberRow;
use super::work::{Message, Work};
use crate::assemble::Session;
use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError};
use std::thread::Scope;
use std::time::{Duration, Instant};
use tisane::error::{Error, Result};
use tisane::spin_pool::pool_of;
use tisane_io::checkpoint::MemberState;

/// Time between looks at the request to stop.
const LOOK: Duration = Duration::from_millis(10);
/// Number of block steps of the first look.
const FIRST_STEPS: u64 = 16;

/// Starts the workers.
///
/// # Errors
/// [`Error::Input`] if the threads cannot be started.
pub(super) fn spawn<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    work: &'env Work<'env>,
    threads: usize,
    sender: Sender<Message>,
) -> Result<()> {
    let next = || {
        while work.wait() {
            // Another worker may have been quicker.
            if let Some(member) = work.take() {
                return Some(member);
            }
        }
        None
    };
    let workers = pool_of(threads)?.current_num_threads();
    (0..workers).try_for_each(|_| spawn_one(scope, work, (next, Member::new), sender.clone()))
}

/// Integrates `members` that a GPU does not take, each its number and the state in which it goes on, on up to `workers`
/// threads, a member on each. Returns when all have ended, or once the ensemble is to stop.
///
/// # Errors
/// [`Error::Input`] if the threads cannot be started.
pub(super) fn finish(
    work: &Work<'_>,
    members: Vec<(u64, Option<MemberState>)>,
    workers: usize,
    sender: &Sender<Message>,
) -> Result<()> {
    let workers = workers.min(members.len());
    let members = Mutex::new(members.into_iter());
    let next = || members.lock().unwrap_or_else(PoisonError::into_inner).next();
    std::thread::scope(|scope| {
        (0..workers).try_for_each(|_| spawn_one(scope, work, (next, Member::left_by_device), sender.clone()))
    })
}

/// How a member is built: of an ensemble the one with a number, in a session.
type Build = fn(&Blueprint, u64, Session) -> Result<Member>;

/// Starts a worker that builds and integrates the `next` members, until there is none.
fn spawn_one<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    work: &'scope Work<'_>,
    (next, build): (impl Fn() -> Option<(u64, Option<MemberState>)> + Send + 'scope, Build),
    sender: Sender<Message>,
) -> Result<()> {
    let pool = pool_of(1)?;
    let deal = move || {
        while let Some((number, state)) = next() {
            if work.is_stopping() || !pool.install(|| integrate(work, (number, build), state, &sender)) {
                return;
            }
        }
    };
    let worker = std::thread::Builder::new().name("member".into());
    worker.spawn_scoped(scope, deal).map_err(|e| Error::input("threads", format!("cannot start one: {e}")))?;
    Ok(())
}

/// Integrates a member. Returns false if the worker has to end.
fn integrate(
    work: &Work<'_>,
    (number, build): (u64, Build),
    state: Option<MemberState>,
    sender: &Sender<Message>,
) -> bool {
    let mut member = match build(work.blueprint, number, work.session) {
        Ok(member) => member,
        Err(error) => return sender.send(work.ended(&failed(number, &error))).is_ok(),
    };
    let mut task = Task { work, sender, share: 0.0 };
    let error = match task.finish(&mut member, state) {
        Ok(true) => None,
        // Asked to stop.
        Ok(false) => return false,
        Err(error @ Error::Storage { .. }) => {
            if member.has_begun() {
                let _ = sender.send(Message::State(Box::new(member.state())));
            }
            let _ = sender.send(Message::Failed(error));
            return false;
        }
        Err(error) => Some(error),
    };
    work.count(0, -task.share);
    member.end_journals();
    task.send_journals(&mut member);
    sender.send(work.ended(&member.row(error))).is_ok()
}

/// Returns the row of a member that could not be built.
pub(super) fn failed(number: u64, error: &Error) -> MemberRow {
    MemberRow {
        member: number,
        outcome: FAILED.into(),
        energy: f64::NAN,
        energy_error: f64::NAN,
        max_energy_error: f64::NAN,
        angular_momentum_error: f64::NAN,
        acceleration_error: f64::NAN,
        bound_fraction: f64::NAN,
        problem: describe(error),
        ..MemberRow::default()
    }
}

/// Integration of one member.
struct Task<'a> {
    work: &'a Work<'a>,
    sender: &'a Sender<Message>,
    /// Share of its time that was counted.
    share: f64,
}

impl Task<'_> {
    /// Integrates a member to its end. Returns false if it was stopped before; then its state was sent.
    fn finish(&mut self, member: &mut Member, state: Option<MemberState>) -> Result<bool> {
        let mut ended = match state {
            Some(state) => {
                member.resume(state)?;
                // A look that the state was kept before: its output could not be written.
                member.is_at_look() && member.needs_output()? && self.output(member, Member::measure)?
            }
            None => {
                let ended = self.output(member, Member::start);
                self.send_journals(member);
                ended?
            }
        };
        let (mut steps, mut saved) = (FIRST_STEPS, Instant::now());
        while !ended {
            let until = member.next_look();
            while member.system.state.now < until {
                if self.work.is_stopping() {
                    let _ = self.sender.send(Message::State(Box::new(member.state())));
                    return Ok(false);
                }
                if saved.elapsed() >= self.work.checkpoint_interval {
                    let _ = self.sender.send(Message::State(Box::new(member.state())));
                    saved = Instant::now();
                }
                let began = Instant::now();
                let advanced = member.advance(until, steps);
                self.send_journals(member);
                let (taken, collided) = advanced?;
                let ratio = LOOK.as_secs_f64() / began.elapsed().as_secs_f64().max(1e-6);
                steps = ((steps as f64 * ratio.min(4.0)) as u64).clamp(1, 1 << 20);
                self.work.count(taken, member.share() - self.share);
                self.share = member.share();
                if collided {
                    return Ok(true);
                }
            }
            ended = member.needs_output()? && self.output(member, Member::measure)?;
        }
        Ok(true)
    }

    /// Sends new rows of the journals.
    fn send_journals(&self, member: &mut Member) {
        let rows = member.take_journals();
        if !rows.is_empty() {
            let _ = self.sender.send(Message::Journals(rows));
        }
    }

    /// Makes an output, and sends its rows.
    fn output(
        &self,
        member: &mut Member,
        make: impl FnOnce(&mut Member, &mut Outputs<'_>) -> Result<bool>,
    ) -> Result<bool> {
        let mut out = Outputs { tables: self.work.tables, snapshots: self.work.snapshots, rows: Vec::new() };
        let ended = make(member, &mut out);
        if !out.rows.is_empty() {
            let _ = self.sender.send(Message::Outputs(out.rows));
        }
        ended
    }
}
