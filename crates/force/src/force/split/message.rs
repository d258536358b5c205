//! Messages from an engine to its peers, in words: each is its kind, its number of particles or targets, and columns.

use crate::force::neighbours::NeighbourTargets;
use crate::force::targets::Targets;
use crate::particles::{Particles, Vec3};
use crate::states::history::MAX_DERIVATIVES;
use crate::states::neighbours::Neighbours as NeighbourState;
use crate::time::Time;
use bytemuck::Pod;

/// Kinds of messages.
const LOAD: u64 = 1;
const UPDATE: u64 = 2;
const EVALUATE: u64 = 3;
const NEIGHBOURS: u64 = 4;

/// Message that was read.
#[derive(Debug)]
pub(super) enum Message<'a> {
    /// All particles, and whether they have lists of neighbours.
    Load(State<'a>, bool),
    /// New state of some particles.
    Update(&'a [u32], State<'a>),
    /// Block of targets.
    Evaluate(Time, Targets<'a>),
    /// Block of targets, some of which need a regular force and a new list. The lists of the others stay empty.
    Neighbours(NeighbourTargets<'a>),
}

/// State of particles as the engines read it.
#[derive(Debug)]
pub(super) struct State<'a> {
    /// Masses; none where they stay.
    pub mass: &'a [f64],
    /// Moments of the states.
    pub time: &'a [u64],
    /// Position, velocity, acceleration, jerk.
    pub columns: [&'a [Vec3]; 4],
    /// Further derivatives by which engines predict.
    pub more: Vec<&'a [Vec3]>,
}

/// Appends a message with all particles.
pub fn add_load(words: &mut Vec<u64>, all: &Particles) {
    words.extend([LOAD, all.len() as u64, u64::from(!all.states.get::<NeighbourState>().is_empty())]);
    words.push(all.derivatives().len() as u64);
    words.extend_from_slice(bytemuck::cast_slice(&all.mass));
    words.extend(all.time.iter().map(|time| time.0));
    for column in [&all.pos, &all.vel, &all.acc, &all.jerk].into_iter().chain(all.derivatives()) {
        words.extend_from_slice(bytemuck::cast_slice(column));
    }
}

/// Appends a message with the new state of some particles.
pub fn add_update(words: &mut Vec<u64>, all: &Particles, changed: &[u32]) {
    words.extend([UPDATE, changed.len() as u64, all.derivatives().len() as u64]);
    add_index(words, changed);
    words.extend(changed.iter().map(|&i| all.time[i as usize].0));
    for column in [&all.pos, &all.vel, &all.acc, &all.jerk].into_iter().chain(all.derivatives()) {
        for &i in changed {
            words.extend(bytemuck::cast::<Vec3, [u64; 3]>(column[i as usize]));
        }
    }
}

/// Appends a message that asks for forces on a block.
pub fn add_evaluate(words: &mut Vec<u64>, now: Time, targets: Targets<'_>) {
    words.extend([EVALUATE, targets.len() as u64, now.0]);
    add_targets(words, targets);
}

/// Appends a message that asks for regular forces and new lists. The present lists are not in it: irregular forces by these
/// are those of the engine that asks.
pub fn add_neighbours(words: &mut Vec<u64>, task: &NeighbourTargets<'_>) {
    let NeighbourTargets { now, targets, regular, radius, max, .. } = *task;
    words.extend([NEIGHBOURS, targets.len() as u64, now.0, max as u64, regular.len() as u64]);
    add_targets(words, targets);
    add_index(words, regular);
    words.extend_from_slice(bytemuck::cast_slice(radius));
}

/// Appends targets, after the number of those that move.
fn add_targets(words: &mut Vec<u64>, targets: Targets<'_>) {
    words.push(targets.vel.len() as u64);
    add_index(words, targets.index);
    words.extend_from_slice(bytemuck::cast_slice(targets.pos));
    words.extend_from_slice(bytemuck::cast_slice(targets.vel));
}

/// Appends indices, two a word.
fn add_index(words: &mut Vec<u64>, index: &[u32]) {
    let (pairs, rest) = index.as_chunks::<2>();
    words.extend(pairs.iter().map(|pair| bytemuck::cast::<[u32; 2], u64>(*pair)));
    words.extend(rest.iter().map(|&i| bytemuck::cast::<[u32; 2], u64>([i, 0])));
}

/// Takes `n` numbers of a column from the front; [`None`] if there are fewer.
fn take<'a, T: Pod>(words: &mut &'a [u64], n: usize) -> Option<&'a [T]> {
    let (column, rest) = words.split_at_checked((n * size_of::<T>()).div_ceil(8))?;
    *words = rest;
    Some(&bytemuck::cast_slice(column)[..n])
}

/// Takes vectors from the front.
fn take_vectors<'a>(words: &mut &'a [u64], n: usize) -> Option<&'a [Vec3]> {
    take::<[f64; 3]>(words, n).map(bytemuck::cast_slice)
}

/// Takes the state of `n` particles with further `derivatives`, and their masses if `all`.
fn take_state<'a>(words: &mut &'a [u64], (n, derivatives): (usize, u64), all: bool) -> Option<State<'a>> {
    let derivatives = usize::try_from(derivatives).ok().filter(|&number| number <= MAX_DERIVATIVES)?;
    let mass = take(words, if all { n } else { 0 })?;
    let time = take(words, n)?;
    let mut column = || take_vectors(words, n);
    let columns = [column()?, column()?, column()?, column()?];
    Some(State { mass, time, columns, more: (0..derivatives).map(|_| column()).collect::<Option<_>>()? })
}

/// Takes `n` targets from the front.
fn take_targets<'a>(words: &mut &'a [u64], n: usize) -> Option<Targets<'a>> {
    let &[moving] = take::<u64>(words, 1)? else { return None };
    let (index, pos) = (take(words, n)?, take_vectors(words, n)?);
    let vel = take_vectors(words, usize::try_from(moving).ok()?)?;
    Some(Targets { index, pos, vel })
}

/// Takes the next message from the front; [`None`] at the end, or if it is not whole.
pub(super) fn next<'a>(words: &mut &'a [u64]) -> Option<Message<'a>> {
    let &[kind, n] = take::<u64>(words, 2)? else { return None };
    let n = usize::try_from(n).ok()?;
    match kind {
        LOAD => {
            let &[has_lists, derivatives] = take::<u64>(words, 2)? else { return None };
            Some(Message::Load(take_state(words, (n, derivatives), true)?, has_lists != 0))
        }
        UPDATE => {
            let &[derivatives] = take::<u64>(words, 1)? else { return None };
            Some(Message::Update(take(words, n)?, take_state(words, (n, derivatives), false)?))
        }
        EVALUATE => {
            let &[now] = take::<u64>(words, 1)? else { return None };
            Some(Message::Evaluate(Time(now), take_targets(words, n)?))
        }
        NEIGHBOURS => {
            let &[now, max, count] = take::<u64>(words, 3)? else { return None };
            let (max, count) = (usize::try_from(max).ok()?, usize::try_from(count).ok()?);
            let targets = take_targets(words, n)?;
            let (regular, radius) = (take(words, count)?, take(words, count)?);
            Some(Message::Neighbours(NeighbourTargets { now: Time(now), targets, lists: &[], regular, radius, max }))
        }
        _ => None,
    }
}
