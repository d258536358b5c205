//! Members that rank 0 deals to another rank, which integrates them with its own threads or GPU.

use super::blueprint::Blueprint;
use super::messages::{Deal, Frame, Report, Start, decode, encode, pack, unpack};
use super::on_device::{Device, Open};
use super::rows::Tables;
use super::work::{Message, Todo, Work};
use super::workers::start;
use crate::assemble::{self, Session};
use crate::team::ANSWER_OF_MEMBERS;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use tisane::error::{Error, Result};
use tisane::force::EngineKind;
use tisane::spin_pool::pool_of;
use tisane_io::checkpoint::MemberState;

/// Most bytes of a report beside its numbers.
const PIECE: usize = ANSWER_OF_MEMBERS - 128;

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
        let tables = blueprint.tables();
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
        let none = Todo { members: Vec::new(), states: BTreeMap::new(), parts: 1 };
        let work = Work::new(common, &self.start.snapshots, (session, stop), none, &stops).dealt();
        let number = self.device.unwrap_or_default();
        let open = move |precision, largest| assemble::system_stepper(precision, number, largest);
        let device = Device { number, kind: EngineKind::Cuda, open: &open as &Open<'_> };
        let devices: Vec<Device<'_>> = self.device.map(|_| device).into_iter().collect();
        let (sender, receiver) = mpsc::channel();
        std::thread::scope(|scope| {
            start(scope, &work, self.start.threads, &devices, None, sender)?;
            let min = match self.device {
                Some(_) => usize::MAX,
                None => 2 * pool_of(self.start.threads)?.current_num_threads(),
            };
            let mut dealt = Dealt { work: &work, receiver, min, given: 0, ended: 0, stream: VecDeque::new() };
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
    min: usize,
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
                Ok(Message::Journals(rows)) => self.put(&Frame::Journals(rows))?,
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
            wants: self.min.max(2 * (self.ended - ended_before)),
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
