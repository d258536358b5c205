//! Rank 0, which leads.

use super::order::Order;
use super::protocol::{
    ANSWER, ANSWER_OF_MEMBERS, CLOSE, DEAL, END, HELLO, Header, MARK, MEMBERS, OPEN_ACCELERATIONS, OPEN_FORCES, TEXT,
    WORK, WORK_WITH_LISTS, version, words_of,
};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tisane::error::{Error, Result};
use tisane::force::neighbours::{NeighbourForces, NeighbourTargets};
use tisane::force::split::message::{add_evaluate, add_load, add_neighbours, add_update};
use tisane::force::split::{Found, MAX_LIST_WORDS, Peers, Split};
use tisane::force::{Evaluation, ForceEngine, Targets};
use tisane::particles::Particles;
use tisane::states::neighbours::Neighbours;
use tisane::time::Time;
use tisane_io::machine;
use tisane_mpi::{Fault, Pending, Wait, World};

/// Environment variable with the seconds after which a rank that does not answer counts as lost.
const VARIABLE: &str = "TISANE_MPI_TIMEOUT";
/// Its default.
const DEFAULT: u64 = 60;
/// Longest wait, in units of the time that rank 0 took for its own part.
const TIMES_OWN: u32 = 20;
/// Shortest wait after a signal, before which a launcher kills.
const AFTER_STOP: Duration = Duration::from_millis(300);
/// Bytes of the forces on a target.
const OF_TARGET: usize = 56;
/// Pairs of a block below which it is not shared: to send it takes longer.
const MIN_PAIRS: usize = 1 << 14;
const MIN_PAIRS_ON_GPU: usize = 1 << 23;
/// Words of messages after which they are sent although nothing is evaluated.
const MAX_WORDS: usize = 1 << 20;

/// All ranks, led by this one.
pub struct Team {
    state: Mutex<State>,
    size: usize,
    limit: Duration,
    /// Set by signals here, and by those of other ranks.
    stop: &'static AtomicBool,
    names: Vec<String>,
    next: AtomicU64,
    /// Number of threads of this rank by default, and that all were asked to take.
    threads: usize,
    asked: AtomicUsize,
}

/// The connection.
struct State {
    world: Option<World>,
    buffers: Vec<Vec<u8>>,
    pending: Option<Pending>,
    began: Instant,
    failed: bool,
}

impl fmt::Debug for Team {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Team").field("size", &self.size).finish_non_exhaustive()
    }
}

/// Returns the error of a rank that is lost.
fn lost(problem: String) -> Error {
    let help = format!(
        "the last checkpoint is whole: continue from it with `tisane resume DIR`, on any number of ranks; {VARIABLE} sets the \
         seconds to wait for a rank"
    );
    Error::Integration { problem, help: Some(help) }
}

/// Turns an integration error into an input error: before a run starts, the machine is at fault.
fn at_start(error: Error) -> Error {
    match error {
        Error::Integration { problem, help: None } => Error::input("MPI", problem),
        error => error,
    }
}

impl Team {
    /// Greets all ranks. `threads` is the default of the number of threads of this one; `stop` is set by signals.
    ///
    /// # Errors
    /// [`Error::Input`] if a rank is another version, [`Error::Integration`] if one does not answer.
    pub fn lead(world: World, threads: usize, stop: &'static AtomicBool) -> Result<Self> {
        let seconds = match std::env::var(VARIABLE) {
            Err(_) => DEFAULT,
            Ok(text) => text.parse().ok().filter(|seconds| *seconds > 0).ok_or_else(|| {
                Error::input(VARIABLE, format!("expected a number of seconds above zero, found {text:?}"))
            })?,
        };
        let size = world.size();
        let state =
            State { world: Some(world), buffers: Vec::new(), pending: None, began: Instant::now(), failed: false };
        let mut team = Self {
            state: Mutex::new(state),
            size,
            limit: Duration::from_secs(seconds),
            stop,
            names: vec![format!("rank 0 ({}, process {})", machine::host(), std::process::id())],
            next: AtomicU64::new(0),
            threads,
            asked: AtomicUsize::new(0),
        };
        let (own, mut names, mut others) = (version(), team.names.clone(), BTreeMap::<String, Vec<String>>::new());
        team.begin(HELLO, 0, &[], Some(ANSWER + TEXT))?;
        team.finish(&mut |rank, bytes| {
            let about = String::from_utf8_lossy(bytes).into_owned();
            let mut lines = about.lines().map(str::to_owned);
            let [version, host, process] = [(); 3].map(|()| lines.next().unwrap_or_default());
            names.push(format!("rank {rank} ({host}, process {process})"));
            if version != own {
                others.entry(version).or_default().push(names[rank].clone());
            }
        })?;
        team.names = names;
        if let Some((version, ranks)) = others.into_iter().next() {
            team.end(2);
            let problem = format!("{} runs tisane {version}, and rank 0 {own}", ranks.join(", "));
            return Err(Error::input("MPI", problem).with_help("start the same program on all ranks"));
        }
        Ok(team)
    }

    /// Notes the number of threads that each rank shall take, 0 for its default. Returns that of this one.
    #[must_use]
    pub fn take_threads(&self, asked: usize) -> usize {
        self.asked.store(asked, Ordering::Relaxed);
        if asked > 0 { asked } else { self.threads }
    }

    /// Returns the number of threads that each rank was asked to take.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    /// Returns the number of ranks.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Describes the ranks in one line.
    #[must_use]
    pub fn describe(&self) -> String {
        let mut hosts = BTreeMap::<&str, usize>::new();
        for name in &self.names {
            let host = name.split_once('(').and_then(|(_, rest)| rest.split_once(',')).map_or("", |(host, _)| host);
            *hosts.entry(host).or_default() += 1;
        }
        let hosts: Vec<String> = hosts.iter().map(|(host, ranks)| format!("{ranks} on {host}")).collect();
        format!("{} ranks: {}", self.size, hosts.join(", "))
    }

    /// Makes one engine of that of this rank and one of each other rank.
    ///
    /// # Errors
    /// If a rank cannot open it, or does not answer.
    pub(crate) fn share<E: Evaluation>(
        &'static self,
        order: Order,
        own: Box<dyn ForceEngine<E>>,
    ) -> Result<Box<dyn ForceEngine<E>>> {
        let bytes = postcard::to_stdvec(&order).map_err(|e| lost(e.to_string()))?;
        let kind = if order.whole { OPEN_FORCES } else { OPEN_ACCELERATIONS };
        let engine = self.next.fetch_add(1, Ordering::Relaxed);
        let longest = ANSWER + TEXT + OF_TARGET * (order.n.div_ceil(self.size) + 64);
        self.begin(kind, engine, &words_of(&bytes), Some(longest))?;
        self.finish(&mut |_, _| {}).map_err(at_start)?;
        let min = if order.kind == "cuda" { MIN_PAIRS_ON_GPU } else { MIN_PAIRS };
        let peers = Ranks { team: self, engine, words: Vec::new(), asked_lists: false, some: Found::default() };
        Ok(Box::new(Split::new(own, Box::new(peers), min.div_ceil(order.n.max(1)).max(2))))
    }

    /// Sends the description of an ensemble to the other ranks, which then wait for its members: an encoded
    /// [`Start`](crate::ensemble::messages::Start).
    ///
    /// # Errors
    /// If a rank cannot integrate them, or does not answer.
    pub(crate) fn start_members(&self, bytes: &[u8]) -> Result<()> {
        self.begin(MEMBERS, 0, &words_of(bytes), Some(ANSWER + TEXT + ANSWER_OF_MEMBERS))?;
        self.finish(&mut |_, _| {}).map_err(at_start)
    }

    /// Sends what is dealt in a round, and calls `take` with each rank and its answer.
    ///
    /// # Errors
    /// If a rank does not answer.
    pub(crate) fn deal_members(&self, bytes: &[u8], take: &mut dyn FnMut(usize, &[u8])) -> Result<()> {
        self.begin(DEAL, 0, &words_of(bytes), None)?;
        self.finish(take)
    }

    /// Broadcasts a message, to which the other ranks will answer with at most `longest` bytes, if that is given.
    fn begin(&self, kind: u64, engine: u64, words: &[u64], longest: Option<usize>) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { world, buffers, pending, began, failed } = &mut *state;
        let Some(world) = world else { return Err(lost("the ranks have ended".into())) };
        let answered = !matches!(kind, CLOSE | END);
        let wait = Wait::at_most(self.limit);
        *began = Instant::now();
        let mut send = || -> Result<Option<Pending>, Fault> {
            let mut header: Header = [MARK, kind, engine, words.len() as u64];
            // Those that were expected before have their length already.
            let mut expected =
                if answered && longest.is_none() { Some(world.expect(std::mem::take(buffers))?) } else { None };
            world.broadcast(bytemuck::cast_slice_mut(&mut header), &wait)?;
            world.broadcast(bytemuck::cast_slice_mut(&mut words.to_vec()), &wait)?;
            if let Some(longest) = longest {
                world.agree_on_longest(longest, &wait)?;
                expected = Some(world.expect(std::mem::take(buffers))?);
            }
            Ok(expected)
        };
        match send() {
            Ok(expected) => *pending = expected,
            Err(fault) => {
                *failed = true;
                return Err(lost(fault.to_string()));
            }
        }
        Ok(())
    }

    /// Waits for the answers, and calls `take` with each rank and its answer.
    fn finish(&self, take: &mut dyn FnMut(usize, &[u8])) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { world: Some(world), buffers, pending, began, failed } = &mut *state else {
            return Err(lost("the ranks have ended".into()));
        };
        let Some(pending) = pending.take() else { return Ok(()) };
        let own = began.elapsed();
        let wait = Wait::at_most(self.limit + TIMES_OWN * own).with_stop(self.stop, AFTER_STOP.max(3 * own));
        let answers = world.complete(pending, &wait).map_err(|fault| {
            *failed = true;
            lost(match fault {
                Fault::TimedOut { ranks, waited } if !ranks.is_empty() => {
                    let who: Vec<&str> =
                        ranks.iter().map(|&rank| self.names.get(rank).map_or("a rank", |it| it)).collect();
                    format!("{} did not answer within {:.1} s", who.join(", "), waited.as_secs_f64())
                }
                fault => fault.to_string(),
            })
        })?;
        let mut outcome = Ok(());
        for (rank, answer) in answers.iter().enumerate().skip(1) {
            let Some((head, content)) = answer.split_at_checked(ANSWER) else {
                return Err(lost(format!("rank {rank} sent no answer")));
            };
            if head[8] != 0 {
                self.stop.store(true, Ordering::Relaxed);
            }
            if head[0] == 0 {
                take(rank, content);
            } else if outcome.is_ok() {
                let problem =
                    format!("{}: {}", self.names.get(rank).map_or("a rank", |it| it), String::from_utf8_lossy(content));
                outcome = Err(Error::Integration { problem, help: None });
            }
        }
        *buffers = answers;
        outcome
    }

    /// Ends all ranks with this one, whose exit code is `code`; the others are killed if one was lost.
    pub fn end(&self, code: u8) {
        let failed = self.state.lock().unwrap_or_else(PoisonError::into_inner).failed;
        let ended = !failed && self.begin(END, 0, &[], None).is_ok();
        let world = self.state.lock().unwrap_or_else(PoisonError::into_inner).world.take();
        let Some(world) = world else { return };
        if ended {
            if let Err(fault) = world.finalize() {
                tracing::warn!("{fault}");
            }
        } else {
            world.abort(code.into());
        }
    }
}

/// Engines of the other ranks.
struct Ranks<E> {
    team: &'static Team,
    engine: u64,
    /// Messages that were not sent yet.
    words: Vec<u64>,
    /// Flag that regular forces and new lists were asked for.
    asked_lists: bool,
    some: Found<E>,
}

impl<E: Evaluation> Ranks<E> {
    fn send(&mut self) -> Result<()> {
        self.team.begin(WORK, self.engine, &self.words, None)?;
        self.words.clear();
        Ok(())
    }
}

impl<E: Evaluation> Peers<E> for Ranks<E> {
    fn count(&self) -> usize {
        self.team.size - 1
    }

    fn load(&mut self, all: &Particles) -> Result<()> {
        self.words.clear();
        add_load(&mut self.words, all);
        if all.states.get::<Neighbours>().is_empty() {
            self.send()?;
        } else {
            let longest = ANSWER + TEXT + 4 * MAX_LIST_WORDS;
            self.team.begin(WORK_WITH_LISTS, self.engine, &self.words, Some(longest))?;
            self.words.clear();
        }
        self.team.finish(&mut |_, _| {})
    }

    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        add_update(&mut self.words, all, changed);
        if self.words.len() < MAX_WORDS {
            return Ok(());
        }
        self.send()?;
        self.team.finish(&mut |_, _| {})
    }

    fn begin(&mut self, now: Time, targets: Targets<'_>) -> Result<()> {
        self.asked_lists = false;
        add_evaluate(&mut self.words, now, targets);
        self.send()
    }

    fn begin_neighbours(&mut self, task: &NeighbourTargets<'_>) -> Result<()> {
        self.asked_lists = true;
        add_neighbours(&mut self.words, task);
        self.send()
    }

    fn finish(&mut self, parts: &[Range<usize>], put: &mut dyn FnMut(Range<usize>, &Found<E>)) -> Result<()> {
        let Self { team, some, asked_lists, .. } = self;
        let mut whole = true;
        team.finish(&mut |rank, bytes| {
            let part = parts[rank - 1].clone();
            if part.is_empty() {
                return;
            }
            let read = if *asked_lists {
                take_lists(bytes, part.len(), &mut some.neighbours)
            } else {
                take_columns(bytes, part.len(), &mut some.forces).map(drop)
            };
            match read {
                Some(()) => put(part, some),
                None => whole = false,
            }
        })?;
        if whole { Ok(()) } else { Err(lost("a rank sent less than was asked for".into())) }
    }
}

/// Copies the columns of `n` targets from the front of an answer. Returns what is behind them; [`None`] if it is shorter.
fn take_columns<'a, E: Evaluation>(mut bytes: &'a [u8], n: usize, to: &mut E) -> Option<&'a [u8]> {
    for (_, column) in to.columns(n) {
        bytes = take_numbers(bytes, column)?;
    }
    Some(bytes)
}

/// Copies numbers from the front of an answer, as [`take_columns`].
fn take_numbers<'a, T: bytemuck::Pod>(bytes: &'a [u8], to: &mut [T]) -> Option<&'a [u8]> {
    let to: &mut [u8] = bytemuck::cast_slice_mut(to);
    let (own, rest) = bytes.split_at_checked(to.len())?;
    to.copy_from_slice(own);
    Some(rest)
}

/// Copies the regular forces and new lists of `n` targets from an answer; [`None`] if it is shorter.
fn take_lists<E: Evaluation>(bytes: &[u8], n: usize, to: &mut NeighbourForces<E>) -> Option<()> {
    to.resize(n);
    let bytes = take_columns(bytes, n, &mut to.regular)?;
    let bytes = take_columns(bytes, n, &mut to.renewed)?;
    let mut lengths = vec![0_u32; n];
    let bytes = take_numbers(bytes, &mut to.within)?;
    let mut bytes = take_numbers(bytes, &mut lengths)?;
    for (list, length) in to.lists.iter_mut().zip(lengths) {
        if bytes.len() < 4 * length as usize {
            return None;
        }
        list.resize(length as usize, 0);
        bytes = take_numbers(bytes, list)?;
    }
    Some(())
}

impl<E> Drop for Ranks<E> {
    fn drop(&mut self) {
        // Without an answer nothing is to be done.
        let _ = self.team.begin(CLOSE, self.engine, &[], None);
    }
}
