//! Members on ranks of MPI. Rank 0 deals them in rounds, some at a time, beside those that it integrates itself; each other
//! rank integrates its members with its own threads or GPU and sends what comes of them. Only rank 0 writes tables and
//! states; all read the files that the configuration names, and write the snapshots of their members.

use super::messages::{Deal, Frame, Report, Start, decode, encode, failed, pack, unpack};
use super::work::{Message, Task, Work};
use crate::assemble::Session;
use crate::config::Engine;
use crate::team::Team;
use std::sync::mpsc::Sender;
use std::time::Duration;
use tisane::error::{Error, Result};

/// Time between rounds where no rank has more to send.
const ROUND: Duration = Duration::from_millis(20);

/// Deals members of the work to the other ranks until all have ended or the work stops.
pub(super) fn deal(work: &Work<'_>, team: &'static Team, sender: &Sender<Message>) {
    let ranks = (1..team.size()).map(|_| Rank::default()).collect();
    if let Err(error) = (Dealer { work, team, sender, ranks }).run() {
        let _ = sender.send(Message::Failed(error));
    }
}

/// Another rank, as rank 0 knows it.
#[derive(Default)]
struct Rank {
    report: Report,
    /// Part of the stream that holds no whole frame yet.
    stream: Vec<u8>,
}

struct Dealer<'a> {
    work: &'a Work<'a>,
    team: &'static Team,
    sender: &'a Sender<Message>,
    ranks: Vec<Rank>,
}

impl Dealer<'_> {
    fn run(&mut self) -> Result<()> {
        let Session { engine, .. } = self.work.session;
        let snapshots = std::path::absolute(self.work.snapshots);
        let start = Start {
            written: self.work.blueprint.written.clone(),
            engine: engine.unwrap_or(Engine::Cpu),
            threads: self.team.asked(),
            snapshots: snapshots.map_err(|e| Error::input(self.work.snapshots, e))?,
        };
        self.team.start_members(&encode(&start)?)?;
        loop {
            let stops = self.work.is_stopping();
            let idle = self.ranks.iter().all(|rank| rank.report.idle);
            let ends = idle && (stops || self.work.waiting() == 0);
            let tasks = if stops || ends { Vec::new() } else { self.tasks() };
            let states = pack(tasks.iter().flatten().filter_map(|(_, state)| state.as_ref()))?;
            let members = tasks.iter().map(|tasks| tasks.iter().map(|(member, _)| *member).collect()).collect();
            self.round(&Deal { stops, ends, members, states })?;
            if ends {
                return Ok(());
            }
            if !self.ranks.iter().any(|rank| rank.report.more) {
                std::thread::sleep(ROUND);
            }
        }
    }

    /// Takes new members for each rank: as many as it would have waiting, but no more than its share of all, and of those that
    /// are left so few that the ranks end together.
    fn tasks(&self) -> Vec<Vec<Task>> {
        let max = self.work.waiting().div_ceil(2 * self.team.size());
        let of = |rank: &Rank| {
            let Report { wants, waiting, holds, .. } = rank.report;
            let more = wants.saturating_sub(waiting).min(self.work.share.saturating_sub(holds)).min(max);
            std::iter::from_fn(|| self.work.take()).take(more).collect()
        };
        self.ranks.iter().map(of).collect()
    }

    fn round(&mut self, deal: &Deal) -> Result<()> {
        let (ranks, mut outcome) = (&mut self.ranks, Ok(()));
        self.team.deal_members(&encode(deal)?, &mut |number, bytes| {
            if let Some(rank) = ranks.get_mut(number - 1)
                && let Err(error) = rank.take(bytes, self.work, self.sender)
            {
                outcome = Err(error);
            }
        })?;
        outcome
    }
}

impl Rank {
    /// Takes a report, and hands on the frames that are whole.
    fn take(&mut self, bytes: &[u8], work: &Work<'_>, sender: &Sender<Message>) -> Result<()> {
        let mut report: Report = decode(bytes)?;
        self.stream.append(&mut report.piece);
        work.count(report.block_steps - self.report.block_steps, report.shares - self.report.shares);
        self.report = report;
        let mut left = self.stream.as_slice();
        while let Some((length, rest)) = left.split_first_chunk::<8>() {
            let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
            let Some((frame, rest)) = rest.split_at_checked(length) else { break };
            left = rest;
            let send = |message| sender.send(message).unwrap_or_default();
            match decode(frame)? {
                Frame::Outputs(rows) => send(Message::Outputs(rows)),
                Frame::Journals(rows) => send(Message::Journals(rows)),
                Frame::Ended(ended) => send(Message::Ended(Box::new(ended))),
                Frame::States(states) => {
                    unpack(&states)?.into_iter().for_each(|state| send(Message::State(Box::new(state))));
                }
                Frame::Failed(Some(path), problem) => send(Message::Failed(Error::storage(path, problem))),
                Frame::Failed(None, problem) => send(Message::Failed(failed(problem))),
            }
        }
        let taken = self.stream.len() - left.len();
        self.stream.drain(..taken);
        Ok(())
    }
}
