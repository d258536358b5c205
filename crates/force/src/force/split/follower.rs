//! Engine that follows another by messages.

use super::message::{self, Message, State};
use super::peers::{Found, part_of_peer};
use crate::error::{Error, Result};
use crate::force::engine::ForceEngine;
use crate::force::forces::Evaluation;
use crate::force::neighbours::NeighbourTargets;
use crate::particles::Particles;
use crate::states::history::History;
use crate::states::neighbours::Neighbours;
use crate::time::Time;

/// Engine with the particles that it holds, which does what messages say.
pub struct Follower<E: Evaluation> {
    engine: Box<dyn ForceEngine<E>>,
    particles: Particles,
    /// Its number among the peers, and their number.
    place: (usize, usize),
    found: Found<E>,
}

impl<E: Evaluation> Follower<E> {
    /// Wraps peer `number`, from 0 on, of `peers`.
    #[must_use]
    pub fn new(engine: Box<dyn ForceEngine<E>>, number: usize, peers: usize) -> Self {
        Self { engine, particles: Particles::default(), place: (number, peers), found: Found::default() }
    }

    /// Does what messages say, in their order. Returns what the last one asked for: nothing, if it asked for nothing.
    ///
    /// # Errors
    /// If the engine fails, or a message is not whole.
    pub fn obey(&mut self, mut words: &[u64]) -> Result<&mut Found<E>> {
        self.found.clear();
        while !words.is_empty() {
            let problem = "a message to an engine that shares the targets is not whole";
            let broken = || Error::Integration { problem: problem.into(), help: None };
            match message::next(&mut words).ok_or_else(broken)? {
                Message::Load(state, has_lists) => {
                    let n = state.mass.len();
                    self.particles =
                        Particles::new(state.mass.to_vec(), state.columns[0].to_vec(), state.columns[1].to_vec());
                    if has_lists {
                        self.particles.states.set(Neighbours::new(n, 0, 0));
                    }
                    self.particles.states.set(History::new(n, 0, state.more.len()));
                    self.store(0..n, &state);
                    self.engine.load(&self.particles)?;
                }
                Message::Update(index, state) => {
                    self.store(index.iter().map(|&i| i as usize), &state);
                    self.engine.update(&self.particles, index)?;
                }
                Message::Evaluate(now, targets) => {
                    let (number, peers) = self.place;
                    let part = part_of_peer(targets.len(), peers, number);
                    if !part.is_empty() {
                        self.engine.evaluate_part(now, targets, part, &mut self.found.forces)?;
                    }
                }
                Message::Neighbours(whole) => self.renew(&whole)?,
            }
        }
        Ok(&mut self.found)
    }

    /// Evaluates regular forces and new lists on the part of this engine.
    fn renew(&mut self, whole: &NeighbourTargets<'_>) -> Result<()> {
        let (number, peers) = self.place;
        let part = part_of_peer(whole.regular.len(), peers, number);
        if part.is_empty() {
            return Ok(());
        }
        let lists = vec![&[][..]; whole.targets.len()];
        let task = NeighbourTargets { lists: &lists, ..whole.renewing(part) };
        self.engine.evaluate_neighbours(&task, &mut self.found.neighbours)
    }

    /// Stores the state of the particles `index`.
    fn store(&mut self, index: impl Iterator<Item = usize>, state: &State<'_>) {
        let (p, [pos, vel, acc, jerk]) = (&mut self.particles, state.columns);
        for (k, i) in index.enumerate() {
            (p.pos[i], p.vel[i], p.acc[i], p.jerk[i], p.time[i]) =
                (pos[k], vel[k], acc[k], jerk[k], Time(state.time[k]));
            for (column, of) in p.states.get_mut::<History>().derivatives.iter_mut().zip(&state.more) {
                column[i] = of[k];
            }
        }
    }
}
