//! Peers in threads of this process, such as the engines of several GPUs.

use super::follower::Follower;
use super::message::{add_evaluate, add_load, add_neighbours, add_update};
use super::peers::{Found, Peers};
use crate::error::{Error, Result};
use crate::force::engine::ForceEngine;
use crate::force::forces::Evaluation;
use crate::force::neighbours::NeighbourTargets;
use crate::force::targets::Targets;
use crate::particles::Particles;
use crate::time::Time;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time for which a thread looks for work before it sleeps: longer than the host takes between two steps.
const AWAKE: Duration = Duration::from_micros(200);
/// Words of messages after which they are sent although nothing is evaluated.
const MAX_WORDS: usize = 1 << 20;

/// Engines, each in a thread.
pub struct Threads<E: Evaluation> {
    threads: Vec<Peer<E>>,
    /// Messages that were not sent yet.
    words: Vec<u64>,
}

/// Thread with its channels.
struct Peer<E> {
    work: Option<Sender<Arc<Vec<u64>>>>,
    done: Receiver<Result<Found<E>>>,
    thread: Option<JoinHandle<()>>,
    /// Number of answers that were not heard.
    pending: usize,
}

impl<E: Evaluation> Threads<E> {
    /// Starts a thread for each engine.
    ///
    /// # Errors
    /// [`Error::Input`] if the system has no more threads.
    pub fn new(engines: Vec<Box<dyn ForceEngine<E>>>) -> Result<Self> {
        let count = engines.len();
        let start = |(number, engine): (usize, Box<dyn ForceEngine<E>>)| {
            let (work, given) = mpsc::channel::<Arc<Vec<u64>>>();
            let (answer, done) = mpsc::channel();
            let mut follower = Follower::new(engine, number, count);
            let name = format!("engine {}", number + 1);
            let thread = std::thread::Builder::new().name(name.clone()).spawn(move || {
                while let Ok(words) = receive(&given) {
                    if answer.send(follower.obey(&words).map(std::mem::take)).is_err() {
                        break;
                    }
                }
            });
            let thread = thread.map_err(|e| Error::input(name, e.to_string()))?;
            Ok(Peer { work: Some(work), done, thread: Some(thread), pending: 0 })
        };
        Ok(Self { threads: engines.into_iter().enumerate().map(start).collect::<Result<_>>()?, words: Vec::new() })
    }

    /// Sends what was not sent to all threads.
    fn send(&mut self) -> Result<()> {
        let words = Arc::new(std::mem::take(&mut self.words));
        for peer in &mut self.threads {
            let sent = peer.work.as_ref().is_some_and(|work| work.send(Arc::clone(&words)).is_ok());
            peer.pending += usize::from(sent);
            if !sent {
                return Err(ended());
            }
        }
        Ok(())
    }
}

/// Receives a message: for a while without sleeping.
fn receive<T>(from: &Receiver<T>) -> Result<T, mpsc::RecvError> {
    let began = Instant::now();
    while began.elapsed() < AWAKE {
        match from.try_recv() {
            Ok(message) => return Ok(message),
            Err(TryRecvError::Disconnected) => return Err(mpsc::RecvError),
            Err(TryRecvError::Empty) => std::thread::yield_now(),
        }
    }
    from.recv()
}

fn ended() -> Error {
    Error::Integration { problem: "the thread of an engine ended".into(), help: None }
}

impl<E: Evaluation> Peers<E> for Threads<E> {
    fn count(&self) -> usize {
        self.threads.len()
    }

    fn load(&mut self, all: &Particles) -> Result<()> {
        self.words.clear();
        add_load(&mut self.words, all);
        self.send()?;
        self.finish(&vec![0..0; self.count()], &mut |_, _| {})
    }

    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        add_update(&mut self.words, all, changed);
        if self.words.len() < MAX_WORDS {
            return Ok(());
        }
        self.send()?;
        self.finish(&vec![0..0; self.count()], &mut |_, _| {})
    }

    fn begin(&mut self, now: Time, targets: Targets<'_>) -> Result<()> {
        add_evaluate(&mut self.words, now, targets);
        self.send()
    }

    fn begin_neighbours(&mut self, task: &NeighbourTargets<'_>) -> Result<()> {
        add_neighbours(&mut self.words, task);
        self.send()
    }

    fn finish(&mut self, parts: &[Range<usize>], put: &mut dyn FnMut(Range<usize>, &Found<E>)) -> Result<()> {
        let mut outcome = Ok(());
        for (peer, part) in self.threads.iter_mut().zip(parts) {
            while peer.pending > 0 {
                peer.pending -= 1;
                match receive(&peer.done).map_err(|_| ended()).and_then(|answer| answer) {
                    Ok(found) if !part.is_empty() && peer.pending == 0 => put(part.clone(), &found),
                    Ok(_) => {}
                    Err(error) => outcome = outcome.and(Err(error)),
                }
            }
        }
        outcome
    }
}

impl<E: Evaluation> Drop for Threads<E> {
    fn drop(&mut self) {
        for peer in &mut self.threads {
            peer.work = None;
        }
        for thread in self.threads.iter_mut().filter_map(|peer| peer.thread.take()) {
            // A thread that panicked said so itself.
            let _ = thread.join();
        }
    }
}
