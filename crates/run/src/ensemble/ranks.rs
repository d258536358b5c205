//! Members on ranks of MPI. Rank 0 deals them in rounds, some at a time, beside those that it integrates itself; each other
//! rank integrates its members with its own threads or GPU and sends what comes of them. Only rank 0 writes tables and
//! states; all read the files that the configuration names, and write the snapshots of their members.

use super::blueprint::{Blueprint, Written};
use super::on_device::{Device, Open};
use super::rows::Tables;
use super::work::{Ended, Message, Task, Work};
use crate::assemble::{self, Session};
use crate::config::Engine;
use crate::team::{ANSWER_OF_MEMBERS, Team};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::time::Duration;
use tisane::error::{Error, Result};
use tisane::force::EngineKind;
use tisane::spin_pool::pool_of;
use tisane_io::checkpoint::{self, MemberState};
use tisane_io::table::Value;

/// Time between rounds where no rank has more to send.
const ROUND: Duration = Duration::from_millis(20);
/// Most bytes of a report beside its numbers.
const PIECE: usize = ANSWER_OF_MEMBERS - 128;

/// What the ranks that follow need to integrate members.
#[derive(Serialize, Deserialize)]
pub(crate) struct Start {
    written: Written,
    engine: Engine,
    /// Number of threads; 0 where each rank has its own default.
    threads: usize,
    /// Folder of the snapshots, absolute.
    snapshots: PathBuf,
}

/// Message of a round, to all ranks.
#[derive(Default, Serialize, Deserialize)]
struct Deal {
    /// Flag to hand back the members in progress.
    stops: bool,
    /// Flag that this is the last round.
    ends: bool,
    /// New members by rank, from rank 1 on.
    members: Vec<Vec<u64>>,
    /// States of those of them that were in progress before, as a file.
    states: Vec<u8>,
}

/// Answer of a rank to a [`Deal`].
#[derive(Default, Serialize, Deserialize)]
struct Report {
    /// Number of members that it would have waiting, and that it has.
    wants: usize,
    waiting: usize,
    /// Number of members that it has, waiting or in progress.
    holds: usize,
    /// Flag that it has nothing to do and nothing to send.
    idle: bool,
    /// Flag that it has more to send than fits.
    more: bool,
    /// Block steps and shares of members in progress, as [`Work`] counts them.
    block_steps: u64,
    shares: f64,
    /// Part of the stream of its [`Frame`]s.
    piece: Vec<u8>,
}

/// What a rank sends of its members, with its length before it.
#[derive(Serialize, Deserialize)]
enum Frame {
    Outputs(Vec<Vec<Value>>),
    Ended(Ended),
    /// States of members in progress, as a file.
    States(Vec<u8>),
    /// Error that ends the ensemble, with the file that cannot be written if it is that.
    Failed(Option<PathBuf>, String),
}

fn encode(what: &impl Serialize) -> Result<Vec<u8>> {
    postcard::to_stdvec(what).map_err(|e| failed(format!("a message between ranks: {e}")))
}

fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T> {
    postcard::from_bytes(bytes).map_err(|e| failed(format!("a message between ranks: {e}")))
}

fn failed(problem: String) -> Error {
    Error::Integration { problem, help: None }
}

/// Returns states as the bytes of a file; none if there are none.
fn pack<'a>(states: impl Iterator<Item = &'a MemberState>) -> Result<Vec<u8>> {
    let mut states = states.peekable();
    if states.peek().is_none() {
        return Ok(Vec::new());
    }
    let folder = tempfile::tempdir().map_err(|e| Error::storage(std::env::temp_dir(), e))?;
    let path = folder.path().join("states.hdf5");
    checkpoint::write_members(&path, states, None)?;
    std::fs::read(&path).map_err(|e| Error::storage(&path, e))
}

/// Returns the states that [`pack`] packed.
fn unpack(bytes: &[u8]) -> Result<Vec<MemberState>> {
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    let folder = tempfile::tempdir().map_err(|e| Error::storage(std::env::temp_dir(), e))?;
    let path = folder.path().join("states.hdf5");
    std::fs::write(&path, bytes).map_err(|e| Error::storage(&path, e))?;
    checkpoint::read_members(&path).map(|(states, _)| states)
}

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
        let most = self.work.waiting().div_ceil(2 * self.team.size());
        let of = |rank: &Rank| {
            let Report { wants, waiting, holds, .. } = rank.report;
            let more = wants.saturating_sub(waiting).min(self.work.share.saturating_sub(holds)).min(most);
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

/// Receives a message of rank 0, lets it be answered, and returns what that returned.
pub(crate) type Serve<'a> = dyn FnMut(&mut dyn FnMut(&[u8], &mut Vec<u8>) -> Result<bool>) -> Result<bool> + 'a;

/// Members of a rank that follows.
pub(crate) struct Members {
    start: Start,
    /// Number of this rank.
    rank: usize,
    blueprint: Blueprint,
    tables: Tables,
    /// GPU of this rank, if it takes one.
    device: Option<u32>,
}

impl Members {
    /// Reads what rank 0 says of an ensemble, on rank number `rank`, which is number `host_rank` of its host and takes
    /// `threads` by default.
    ///
    /// # Errors
    /// As [`Blueprint::from_written`], and if there is no GPU where one is asked for.
    pub fn open(bytes: &[u8], (rank, host_rank): (usize, usize), threads: usize) -> Result<Self> {
        let mut start: Start = decode(bytes)?;
        if start.threads == 0 {
            start.threads = threads;
        }
        let blueprint = Blueprint::from_written(start.written.clone())?;
        let tables = Tables::new(&blueprint.config, &blueprint.members);
        let on_gpu = start.engine.kind() == Some(EngineKind::Cuda);
        let device = on_gpu.then(|| assemble::device_of_rank(host_rank)).transpose()?;
        Ok(Self { start, rank, blueprint, tables, device })
    }

    /// Integrates the members that rank 0 deals, until it ends that.
    ///
    /// # Errors
    /// Those of the threads and of the connection; those of members are sent.
    pub fn integrate(&self, stop: &'static AtomicBool, serve: &mut Serve<'_>) -> Result<()> {
        let _ahead = self.device.map(assemble::open_ahead);
        let halted = AtomicBool::new(false);
        let stops = || halted.load(Ordering::Relaxed);
        let session = Session { engine: Some(self.start.engine), device: self.device, ..Session::default() };
        let common = (&self.blueprint, &self.tables);
        let none = (Vec::new(), BTreeMap::new(), 1);
        let work = Work::new(common, &self.start.snapshots, (session, stop), none, &stops).dealt();
        let number = self.device.unwrap_or_default();
        let open = move |precision, largest| assemble::system_stepper(precision, number, largest);
        let device = Device { number, kind: EngineKind::Cuda, open: &open as &Open<'_> };
        let devices: Vec<Device<'_>> = self.device.map(|_| device).into_iter().collect();
        let (sender, receiver) = mpsc::channel();
        std::thread::scope(|scope| {
            super::start(scope, &work, (self.start.threads, &devices, None), sender)?;
            let least = match self.device {
                Some(_) => usize::MAX,
                None => 2 * pool_of(self.start.threads)?.current_num_threads(),
            };
            let mut dealt = Dealt { work: &work, receiver, least, given: 0, ended: 0, stream: VecDeque::new() };
            let mut goes_on = Ok(true);
            while matches!(goes_on, Ok(true)) {
                goes_on = serve(&mut |bytes, answer| {
                    let mut deal: Deal = decode(bytes)?;
                    if deal.stops {
                        halted.store(true, Ordering::Relaxed);
                        stop.store(true, Ordering::Relaxed);
                    }
                    let members = deal.members.get_mut(self.rank - 1).map(std::mem::take).unwrap_or_default();
                    answer.extend(encode(&dealt.turn(&members, &deal.states)?)?);
                    Ok(!deal.ends)
                });
            }
            if goes_on.is_err() {
                halted.store(true, Ordering::Relaxed);
            }
            work.close();
            goes_on.map(drop)
        })
    }
}

/// Members that were dealt to this rank.
struct Dealt<'a> {
    work: &'a Work<'a>,
    receiver: Receiver<Message>,
    /// Smallest number of members to have waiting.
    least: usize,
    /// Number of members that were dealt, and of those that have ended.
    given: usize,
    ended: usize,
    /// Frames that were not sent.
    stream: VecDeque<u8>,
}

impl Dealt<'_> {
    /// Adds new members, with the states of some of them, and reports.
    fn turn(&mut self, members: &[u64], states: &[u8]) -> Result<Report> {
        let states = unpack(states)?.into_iter().map(|state| (state.member, state));
        let mut states: BTreeMap<u64, MemberState> = states.collect();
        self.given += members.len();
        self.work.add(members.iter().map(|&member| (member, states.remove(&member))));
        let ended_before = self.ended;
        let mut states = Vec::new();
        let gone = loop {
            match self.receiver.try_recv() {
                Ok(Message::Outputs(rows)) => self.put(&Frame::Outputs(rows))?,
                Ok(Message::Ended(ended)) => {
                    self.ended += 1;
                    self.put(&Frame::Ended(*ended))?;
                }
                Ok(Message::State(state)) => states.push(*state),
                Ok(Message::Failed(Error::Storage { path, problem, .. })) => {
                    self.put(&Frame::Failed(Some(path), problem))?;
                }
                Ok(Message::Failed(error)) => self.put(&Frame::Failed(None, error.to_string()))?,
                Err(TryRecvError::Empty) => break false,
                Err(TryRecvError::Disconnected) => break true,
            }
        };
        if !states.is_empty() {
            self.put(&Frame::States(pack(states.iter())?))?;
        }
        let piece: Vec<u8> = self.stream.drain(..self.stream.len().min(PIECE)).collect();
        let (holds, more) = (self.given - self.ended, !self.stream.is_empty());
        Ok(Report {
            wants: self.least.max(2 * (self.ended - ended_before)),
            waiting: self.work.waiting(),
            holds,
            idle: (gone || holds == 0) && !more,
            more,
            block_steps: self.work.block_steps(),
            shares: self.work.shares(),
            piece,
        })
    }

    fn put(&mut self, frame: &Frame) -> Result<()> {
        let bytes = encode(frame)?;
        self.stream.extend((bytes.len() as u64).to_le_bytes());
        self.stream.extend(bytes);
        Ok(())
    }
}
