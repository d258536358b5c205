//! One engine made of several that hold the same sources: each evaluates a part of the targets.
//!
//! The force on a target is one canonical sum, which one of the engines computes whole, with every source predicted and
//! every target placed as if it evaluated the whole block. So neither the number of engines nor the way in which targets
//! are dealt changes a bit.
//!
//! Of forces in two parts the regular ones are shared, with the new lists; see [`neighbours`](super::neighbours).
//!
//! Peers are other devices, each in its thread ([`Threads`]), or other processes; what travels is in [`message`].

mod follower;
pub mod message;
mod peers;
mod threads;

pub use follower::Follower;
pub use peers::{Found, Peers, part_of_peer};
pub use threads::Threads;

use peers::{TOGETHER, parts};

use super::engine::ForceEngine;
use super::forces::Evaluation;
use super::neighbours::{NeighbourForces, NeighbourTargets};
use super::targets::Targets;
use crate::error::Result;
use crate::law::Law;
use crate::particles::{Particles, Vec3};
use crate::time::Time;
use std::ops::Range;
use std::sync::Arc;

/// Engine that shares the targets of each block with its peers.
pub struct Split<E: Evaluation> {
    own: Box<dyn ForceEngine<E>>,
    peers: Box<dyn Peers<E>>,
    some: Found<E>,
    /// Number of targets below which the own engine evaluates them alone.
    min: usize,
    /// Number of particles that they hold.
    loaded: usize,
}

/// Largest number of 32-bit words in the regular forces and new lists of one engine at a time; more are evaluated in turns.
pub const MAX_LIST_WORDS: usize = 1 << 22;
/// Words for each target besides its list: two forces, and two numbers.
const WORDS_OF_TARGET: usize = 30;

impl<E: Evaluation> Split<E> {
    /// Creates an engine of one here and its peers. Blocks of fewer than `min` targets are not shared.
    #[must_use]
    pub fn new(own: Box<dyn ForceEngine<E>>, peers: Box<dyn Peers<E>>, min: usize) -> Self {
        Self { own, peers, some: Found::default(), min, loaded: 0 }
    }

    /// Evaluates the regular forces and new lists of the targets `turn`, shared with the peers, and in the first turn the
    /// irregular forces of all targets by the own engine, so that their lists need not be sent.
    fn renew(&mut self, task: &NeighbourTargets<'_>, turn: Range<usize>, out: &mut NeighbourForces<E>) -> Result<()> {
        let (n, first) = (task.regular.len(), turn.start);
        let task = task.renewing(turn);
        let mut parts = parts(task.regular.len(), self.peers.count() + 1);
        let Some(own) = parts.pop() else { return self.own.evaluate_neighbours(&task, out) };
        let none = if first == 0 { Vec::new() } else { vec![&[][..]; task.targets.len()] };
        let lists = if first == 0 { task.lists } else { &none };
        self.peers.begin_neighbours(&task)?;
        let some = &mut self.some.neighbours;
        let done = self.own.evaluate_neighbours(&NeighbourTargets { lists, ..task.renewing(own.clone()) }, some);
        let mut put = |part: Range<usize>, some: &NeighbourForces<E>| {
            put_renewed(out, n, &(first + part.start..first + part.end), some);
        };
        // Nothing may be left under way.
        self.peers.finish(&parts, &mut |part, found| put(part, &found.neighbours))?;
        done?;
        put(own, some);
        out.eps2 = some.eps2;
        if first == 0 {
            std::mem::swap(&mut out.irregular, &mut some.irregular);
        }
        Ok(())
    }
}

/// Copies what was evaluated on a part of `n` targets to its place.
pub(super) fn put_part<E: Evaluation>(out: &mut E, n: usize, part: &Range<usize>, some: &E) {
    for ((width, to), (_, from)) in out.columns(n).into_iter().zip(some.as_columns()) {
        to[width * part.start..width * part.end].copy_from_slice(&from[..width * part.len()]);
    }
}

/// Copies the regular forces and new lists of a part of `n` targets to their places.
fn put_renewed<E: Evaluation>(out: &mut NeighbourForces<E>, n: usize, part: &Range<usize>, some: &NeighbourForces<E>) {
    put_part(&mut out.regular, n, part, &some.regular);
    put_part(&mut out.renewed, n, part, &some.renewed);
    out.within[part.clone()].copy_from_slice(&some.within);
    for (list, new) in out.lists[part.clone()].iter_mut().zip(&some.lists) {
        list.clone_from(new);
    }
}

impl<E: Evaluation> ForceEngine<E> for Split<E> {
    fn load(&mut self, all: &Particles) -> Result<()> {
        self.loaded = all.len();
        self.peers.load(all)?;
        self.own.load(all)
    }

    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        self.peers.update(all, changed)?;
        self.own.update(all, changed)
    }

    /// Peers load all particles again, as messages between peers have no form for single rows.
    fn replace(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        self.loaded = all.len();
        self.peers.load(all)?;
        self.own.replace(all, changed)
    }

    fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut E) -> Result<()> {
        let n = targets.len();
        if n < self.min {
            return self.own.evaluate(now, targets, out);
        }
        // The last part, which is never smaller than another, is that of the host.
        let mut parts = parts(n, self.peers.count() + 1);
        let Some(own) = parts.pop() else { return self.own.evaluate(now, targets, out) };
        self.peers.begin(now, targets)?;
        let some = &mut self.some.forces;
        let done = self.own.evaluate_part(now, targets, own.clone(), some);
        // Nothing may be left under way.
        self.peers.finish(&parts, &mut |part, found| put_part(out, n, &part, &found.forces))?;
        done?;
        put_part(out, n, &own, some);
        Ok(())
    }

    fn derivatives(&self) -> usize {
        self.own.derivatives()
    }

    fn law(&self) -> Option<(Arc<Law>, f64)> {
        self.own.law()
    }

    fn external_potential(&self, now: Time, pos: Vec3) -> Result<f64> {
        self.own.external_potential(now, pos)
    }

    fn external_tides(&self, now: Time, pos: &[Vec3]) -> Result<Vec<[f64; 6]>> {
        self.own.external_tides(now, pos)
    }

    fn set_start(&mut self, start: f64) {
        self.own.set_start(start);
    }

    fn evaluate_neighbours(&mut self, task: &NeighbourTargets<'_>, out: &mut NeighbourForces<E>) -> Result<()> {
        let n = task.regular.len();
        if n < self.min {
            return self.own.evaluate_neighbours(task, out);
        }
        let max = MAX_LIST_WORDS / task.max.min(self.loaded).saturating_add(WORDS_OF_TARGET);
        let at_once = max.saturating_sub(TOGETHER).max(1) * (self.peers.count() + 1);
        out.resize(n);
        for first in (0..n).step_by(at_once) {
            self.renew(task, first..n.min(first + at_once), out)?;
        }
        Ok(())
    }

    fn spent(&self) -> Result<Vec<(&'static str, f64)>> {
        self.own.spent()
    }
}
