//! States of many systems on their way to the device and back: one copy each way.

use super::system_call::{REPORTED, SystemCall, SystemReport, WORDS};
use crate::error::Result;
use crate::force::cuda::driver::device::Device;
use crate::force::cuda::driver::memory::{Memory, Pinned};
use crate::force::cuda::shapes::layout::LOW_COLUMNS;
use crate::force::cuda::shapes::step_shape::COLUMNS;
use crate::force::forces::Forces;
use crate::particles::{Particles, Vec3};
use crate::states::low_parts::LowParts;
use crate::time::{Level, Time};
use rayon::prelude::*;

/// Largest number of words of states that are on the device at a time, a GiB in pinned memory and on the device, and of
/// systems.
const MAX_WORDS: usize = 1 << 27;
const MAX_SYSTEMS: usize = 1 << 20;
/// Part of the free device memory that states may take.
const SHARE_OF_MEMORY: usize = 2;
/// Minimum number of systems that a thread copies.
const SHARE: usize = 16;

/// Number of columns of numbers of a system: state, masses, low parts of positions and velocities.
const ALL_COLUMNS: usize = COLUMNS + 1 + LOW_COLUMNS;

/// Returns the number of words of the state of `n` particles: columns, and a byte a level.
pub const fn words(n: usize) -> usize {
    ALL_COLUMNS * n + n.div_ceil(8)
}

/// Returns the number of words of the low parts with which a kernel works.
pub const fn low_words(n: usize) -> usize {
    LOW_COLUMNS * n
}

/// Memory for systems.
pub struct Store {
    state: Memory,
    low: Memory,
    calls: Memory,
    staged: Pinned,
    staged_calls: Pinned,
    reports: Pinned,
    words: usize,
    systems: usize,
}

impl Store {
    /// Allocates memory for `systems` systems whose states have `words` words.
    pub fn new(device: &Device, words: usize, systems: usize) -> Result<Self> {
        Ok(Self {
            state: device.memory(8 * words)?,
            // Low parts are less than half of a state.
            low: device.memory(8 * words / 2)?,
            calls: device.memory(8 * WORDS * systems)?,
            staged: device.pinned(words)?,
            staged_calls: device.pinned(WORDS * systems)?,
            reports: device.pinned(REPORTED * systems)?,
            words,
            systems,
        })
    }

    /// Returns true if there is room for these numbers of words and systems.
    pub fn has_room(&self, words: usize, systems: usize) -> bool {
        words <= self.words && systems <= self.systems
    }

    /// Returns the number of the first systems, of these sizes, that go to the device together: at least one.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn at_once(device: &Device, sizes: impl Iterator<Item = usize>) -> Result<usize> {
        let room = (device.free_bytes()? / 8 / SHARE_OF_MEMORY).min(MAX_WORDS);
        let ends = sizes.scan(0, |end, n| {
            *end += words(n);
            Some(*end)
        });
        Ok(ends.take(MAX_SYSTEMS).take_while(|&end| end <= room).count().max(1))
    }

    /// Addresses of calls, states, working low parts and reports.
    pub fn addresses(&self) -> [u64; 4] {
        [self.calls.address(), self.state.address(), self.low.address(), self.reports.address()]
    }

    /// Sends the states of systems, one behind the other.
    ///
    /// # Errors
    /// If the device fails.
    pub fn send(&mut self, device: &Device, systems: &[&Particles], state: State) -> Result<()> {
        let mut rest = self.staged.words_mut();
        let mut places = Vec::with_capacity(systems.len());
        for p in systems {
            let (place, after) = rest.split_at_mut(words(p.len()));
            places.push(place);
            rest = after;
        }
        places.into_par_iter().zip(systems).with_min_len(SHARE).for_each(|(place, p)| pack(place, p, state));
        let all = systems.iter().map(|p| words(p.len())).sum();
        device.copy_up(&self.staged, 0..all, &self.state)
    }

    /// Sends the calls of a launch.
    ///
    /// # Errors
    /// If the device fails.
    pub fn send_calls(&mut self, device: &Device, calls: &[SystemCall]) -> Result<()> {
        let all = calls.len() * WORDS;
        self.staged_calls.words_mut()[..all].copy_from_slice(bytemuck::cast_slice(calls));
        device.copy_up(&self.staged_calls, 0..all, &self.calls)
    }

    /// Returns the reports of the last launch, after the device is done.
    pub fn reports(&self, systems: usize) -> &[SystemReport] {
        bytemuck::cast_slice(&self.reports.words()[..systems * REPORTED])
    }

    /// Brings `words` words of states back.
    ///
    /// # Errors
    /// If the device fails.
    pub fn fetch(&mut self, device: &Device, words: usize) -> Result<()> {
        device.copy_words_down(&self.state, &mut self.staged, words)?;
        device.wait()
    }

    /// Returns the states that were brought back, by the systems' sizes.
    pub fn states(&self, sizes: impl Iterator<Item = usize>) -> Vec<&[u64]> {
        let mut rest = self.staged.words();
        let next = |n: usize| {
            let (state, after) = rest.split_at(words(n));
            rest = after;
            state
        };
        sizes.map(next).collect()
    }
}

/// What of a system is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// All, for steps.
    Whole,
    /// Masses, positions and velocities, for the forces alone.
    Places,
}

/// Writes the state of a system.
fn pack(to: &mut [u64], p: &Particles, state: State) {
    let n = p.len();
    let (columns, levels) = to.split_at_mut(ALL_COLUMNS * n);
    let columns: &mut [f64] = bytemuck::cast_slice_mut(columns);
    let levels: &mut [u8] = bytemuck::cast_slice_mut(levels);
    let mut vectors = |first: usize, from: &[Vec3]| {
        for (i, vector) in from.iter().enumerate() {
            for c in 0..3 {
                columns[(first + c) * n + i] = vector[c];
            }
        }
    };
    vectors(0, &p.pos);
    vectors(3, &p.vel);
    if state == State::Whole {
        vectors(6, &p.acc);
        vectors(9, &p.jerk);
        let low = p.states.get::<LowParts>();
        if low.has(n) {
            vectors(COLUMNS + 1, &low.pos);
            vectors(COLUMNS + 4, &low.vel);
        } else {
            columns[(COLUMNS + 1) * n..].fill(0.0);
        }
        columns[12 * n..13 * n].copy_from_slice(&p.pot);
        levels.iter_mut().zip(&p.step).for_each(|(to, level)| *to = level.0);
    } else {
        columns[6 * n..].fill(0.0);
        levels.fill(0);
    }
    columns[13 * n..14 * n].copy_from_slice(&p.mass);
}

/// Returns vector number i of three columns from column `first` on.
fn vector(columns: &[f64], n: usize, first: usize, i: usize) -> Vec3 {
    Vec3::new(columns[first * n + i], columns[(first + 1) * n + i], columns[(first + 2) * n + i])
}

/// Reads the state of a system after steps up to `now`, with low parts where the steps were `compensated`.
pub fn unpack(from: &[u64], p: &mut Particles, now: Time, compensated: bool) {
    let n = p.len();
    LowParts::keep(&mut p.states, n, compensated);
    let (columns, levels) = from.split_at(ALL_COLUMNS * n);
    let (columns, levels): (&[f64], &[u8]) = (bytemuck::cast_slice(columns), bytemuck::cast_slice(levels));
    for (to, first) in [(&mut p.pos, 0), (&mut p.vel, 3), (&mut p.acc, 6), (&mut p.jerk, 9)] {
        to.iter_mut().enumerate().for_each(|(i, to)| *to = vector(columns, n, first, i));
    }
    let low = p.states.get_mut::<LowParts>();
    for (to, first) in [(&mut low.pos, COLUMNS + 1), (&mut low.vel, COLUMNS + 4)] {
        to.iter_mut().enumerate().for_each(|(i, to)| *to = vector(columns, n, first, i));
    }
    p.pot.copy_from_slice(&columns[12 * n..13 * n]);
    for ((step, time), &level) in p.step.iter_mut().zip(&mut p.time).zip(levels) {
        *step = Level(level);
        *time = Time(now.0 / step.ticks() * step.ticks());
    }
}

/// Reads forces.
pub fn forces(from: &[u64], n: usize) -> Forces {
    let columns: &[f64] = bytemuck::cast_slice(&from[..COLUMNS * n]);
    Forces {
        acc: (0..n).map(|i| vector(columns, n, 6, i)).collect(),
        jerk: (0..n).map(|i| vector(columns, n, 9, i)).collect(),
        pot: columns[12 * n..].to_vec(),
        ..Forces::default()
    }
}
