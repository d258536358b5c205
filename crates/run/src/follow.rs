//! Ranks that follow: each holds engines, and does what rank 0 broadcasts.

use crate::assemble::engine::build::Build;
use crate::assemble::engine_of_rank;
use crate::ensemble::dealt::Members;
use crate::team::Order;
use crate::team::protocol::{
    ANSWER, CLOSE, DEAL, END, HELLO, Header, MARK, MEMBERS, OPEN_ACCELERATIONS, OPEN_FORCES, TEXT, WORK,
    WORK_WITH_LISTS, bytes_of, version,
};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use tisane::error::{Error, Result};
use tisane::force::neighbours::NeighbourForces;
use tisane::force::split::{Follower, Found};
use tisane::force::{Accelerations, Evaluation, Forces};
use tisane::spin_pool::on_threads;
use tisane_io::machine;
use tisane_mpi::{Wait, World};

/// Engine of a rank, whatever it evaluates.
trait Obeys: Send {
    /// Does what messages say, and appends what they ask for.
    fn obey(&mut self, words: &[u64], answer: &mut Vec<u8>) -> Result<()>;
}

impl<E: Evaluation> Obeys for Follower<E> {
    fn obey(&mut self, words: &[u64], answer: &mut Vec<u8>) -> Result<()> {
        let Found { forces, neighbours } = Self::obey(self, words)?;
        let NeighbourForces { regular, renewed, within, lists, .. } = neighbours;
        for (_, column) in [forces, regular, renewed].into_iter().flat_map(|it| it.as_columns()) {
            answer.extend_from_slice(bytemuck::cast_slice(column));
        }
        answer.extend_from_slice(bytemuck::cast_slice(within));
        let lists = &lists[..within.len()];
        lists.iter().for_each(|list| answer.extend_from_slice(&(list.len() as u32).to_ne_bytes()));
        lists.iter().for_each(|list| answer.extend_from_slice(bytemuck::cast_slice(list)));
        Ok(())
    }
}

/// Follows rank 0 to the end, on the number of threads that it was asked to take, or else on `threads`. `stop` is set by
/// signals: rank 0 hears of it.
///
/// # Errors
/// [`Error::Input`] if rank 0 does not speak as this version does, [`Error::Integration`] if MPI fails.
pub fn follow(world: World, threads: usize, stop: &'static AtomicBool) -> Result<()> {
    let (engines, words, answer) = (HashMap::new(), Vec::new(), Vec::new());
    let mut rank = Rank { world, stop, engines, words, answer, default_threads: threads, threads: None };
    let mut goes_on = true;
    while goes_on && rank.threads.is_none() {
        goes_on = rank.serve()?;
    }
    if goes_on {
        let asked = rank.threads.filter(|asked| *asked > 0);
        rank = on_threads(asked.unwrap_or(threads), || {
            while rank.serve()? {}
            Ok(rank)
        })?;
    }
    rank.world.finalize().map_err(|fault| Error::Integration { problem: fault.to_string(), help: None })
}

/// Rank that follows.
struct Rank {
    world: World,
    stop: &'static AtomicBool,
    engines: HashMap<u64, Box<dyn Obeys>>,
    words: Vec<u64>,
    answer: Vec<u8>,
    /// Number of threads where none is asked for.
    default_threads: usize,
    /// Number of threads that was asked for, from the first engine on.
    threads: Option<usize>,
}

/// Returns the error of a connection that failed.
fn broken(fault: tisane_mpi::Fault) -> Error {
    Error::Integration { problem: fault.to_string(), help: None }
}

impl Rank {
    /// Receives a message, and returns its kind and engine.
    fn receive(&mut self) -> Result<(u64, u64)> {
        let mut header: Header = [0; 4];
        // As long as rank 0 wants: it may wait for space on a disk. The launcher ends this rank if rank 0 is lost.
        self.world.broadcast(bytemuck::cast_slice_mut(&mut header), &Wait::forever()).map_err(broken)?;
        let [mark, kind, engine, length] = header;
        if mark != MARK {
            let problem = format!("rank 0 is another version of tisane than this one, {}", version());
            return Err(Error::input("MPI", problem));
        }
        self.words.resize(usize::try_from(length).unwrap_or_default(), 0);
        self.world.broadcast(bytemuck::cast_slice_mut(&mut self.words), &Wait::forever()).map_err(broken)?;
        if matches!(kind, HELLO | OPEN_FORCES | OPEN_ACCELERATIONS | WORK_WITH_LISTS | MEMBERS) {
            self.world.agree_on_longest(0, &Wait::forever()).map_err(broken)?;
        }
        self.answer.clear();
        self.answer.resize(ANSWER, 0);
        Ok((kind, engine))
    }

    /// Answers a message, whose outcome this is.
    fn reply(&mut self, done: Result<()>) -> Result<()> {
        if let Err(error) = done {
            self.answer.truncate(ANSWER);
            self.answer[0] = 1;
            let text = error.to_string();
            self.answer.extend_from_slice(&text.as_bytes()[..text.len().min(TEXT)]);
        }
        self.answer[8] = u8::from(self.stop.load(Ordering::Relaxed));
        self.world.send(&self.answer, &Wait::forever()).map_err(broken)
    }

    /// Does what one message says. Returns false at the end.
    fn serve(&mut self) -> Result<bool> {
        let (kind, engine) = self.receive()?;
        let done = match kind {
            END => return Ok(false),
            CLOSE => {
                self.engines.remove(&engine);
                return Ok(true);
            }
            MEMBERS => return self.integrate_members().map(|()| true),
            HELLO => {
                let about = format!("{}\n{}\n{}", version(), machine::host(), std::process::id());
                self.answer.extend_from_slice(about.as_bytes());
                Ok(())
            }
            OPEN_FORCES => self.open::<Forces>(engine),
            OPEN_ACCELERATIONS => self.open::<Accelerations>(engine),
            WORK | WORK_WITH_LISTS => match self.engines.get_mut(&engine) {
                Some(found) => found.obey(&self.words, &mut self.answer),
                None => Err(Error::Integration { problem: "there is no such engine".into(), help: None }),
            },
            _ => Err(Error::Integration { problem: "rank 0 sent an unknown message".into(), help: None }),
        };
        self.reply(done)?;
        Ok(true)
    }

    /// Integrates the members of an ensemble that rank 0 deals.
    fn integrate_members(&mut self) -> Result<()> {
        let place = (self.world.rank(), self.world.host_rank());
        let bytes = bytes_of(&self.words).unwrap_or_default();
        let members = match Members::open(&bytes, place, self.default_threads) {
            Ok(members) => members,
            Err(error) => return self.reply(Err(error)),
        };
        self.reply(Ok(()))?;
        members.integrate(self.stop, &mut |take| {
            let (kind, _) = self.receive()?;
            if kind != DEAL {
                return Err(Error::Integration { problem: "rank 0 ended before the ensemble".into(), help: None });
            }
            let mut answer = std::mem::take(&mut self.answer);
            let taken = take(&bytes_of(&self.words).unwrap_or_default(), &mut answer);
            self.answer = answer;
            let (goes_on, done) = match taken {
                Ok(goes_on) => (goes_on, Ok(())),
                Err(error) => (true, Err(error)),
            };
            self.reply(done)?;
            Ok(goes_on)
        })
    }

    /// Opens an engine.
    fn open<E: Build>(&mut self, engine: u64) -> Result<()> {
        let (number, peers) = (self.world.rank() - 1, self.world.size() - 1);
        let order = bytes_of(&self.words).and_then(|bytes| postcard::from_bytes::<Order>(&bytes).ok());
        let order = order.ok_or_else(|| Error::Integration { problem: "rank 0 sent no engine".into(), help: None })?;
        self.threads.get_or_insert(order.threads);
        let opened = engine_of_rank::<E>(&order, self.world.host_rank())?;
        self.engines.insert(engine, Box::new(Follower::new(opened, number, peers)));
        Ok(())
    }
}
