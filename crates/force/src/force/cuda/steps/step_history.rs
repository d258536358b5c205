//! What schemes keep of each particle on the device besides its state, in columns: derivatives and earlier points, and low
//! parts of position and velocity.

use crate::error::Result;
use crate::force::block_steps::StepRules;
use crate::force::cuda::driver::device::Device;
use crate::force::cuda::driver::memory::{Memory, Pinned};
use crate::force::cuda::forces::launch::SourceHistory;
use crate::force::cuda::shapes::layout::{DERIVATIVES, LOW_COLUMNS, POINT_COLUMNS, columns_of};
use crate::particles::Vec3;
use crate::states::States;
use crate::states::history::History;
use crate::states::low_parts::LowParts;
use crate::time::Time;
use rayon::prelude::*;
use std::sync::Arc;

/// What a scheme keeps of a particle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Number of earlier points.
    pub points: usize,
    /// Flag of low parts.
    pub low: bool,
}

impl Kept {
    /// Returns what a scheme keeps by its rules.
    #[must_use]
    pub const fn by(rules: &StepRules) -> Self {
        Self { points: rules.scheme.points() as usize, low: rules.compensated }
    }

    /// Returns the number of columns.
    #[must_use]
    pub const fn columns(self) -> usize {
        self.first_low() + if self.low { LOW_COLUMNS } else { 0 }
    }

    /// Returns the first columns of derivative `k`, of acceleration, jerk and moment of point `k`, and of the low parts.
    const fn derivative(k: usize) -> usize {
        3 * k
    }

    const fn point(self, k: usize) -> [usize; 3] {
        let first = 3 * DERIVATIVES * self.points + POINT_COLUMNS * k;
        [first, first + 3, first + 6]
    }

    const fn first_low(self) -> usize {
        columns_of(self.points)
    }
}

/// History of the particles on the device, and on its way.
pub struct StepHistory {
    kept: Kept,
    sources: usize,
    slots: usize,
    /// Those by which the forces predict, if they do.
    columns: Arc<Memory>,
    /// Columns of other lengths: copies of the thread blocks, with which they work, or what the targets get.
    working: Memory,
    pinned: Pinned,
}

impl StepHistory {
    /// Allocates memory for what a scheme keeps, for `slots` particles, unless it is `held` with the forces, and for `working` besides;
    /// [`None`] if there is too little.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn new(
        device: &Device,
        kept: Kept,
        (sources, slots): (usize, usize),
        working: usize,
        held: Option<&SourceHistory>,
    ) -> Result<Option<Self>> {
        let columns = kept.columns();
        // What the forces hold has room for the low parts.
        let held = held.filter(|held| held.derivatives == DERIVATIVES * kept.points);
        let own = if held.is_some() { 0 } else { slots };
        if 8 * columns * (own + working) > device.free_bytes()? {
            return Ok(None);
        }
        let memory = |particles: usize| device.memory(8 * columns * particles);
        let pinned = device.pinned(columns * slots)?;
        let columns = match held {
            Some(held) => Arc::clone(&held.columns),
            None => Arc::new(memory(slots)?),
        };
        Ok(Some(Self { kept, sources, slots, columns, working: memory(working)?, pinned }))
    }

    /// Sets the number of particles, for which there are slots.
    pub const fn set_sources(&mut self, sources: usize) {
        self.sources = sources;
    }

    /// Returns what the scheme keeps.
    pub const fn kept(&self) -> Kept {
        self.kept
    }

    /// Returns the addresses of the columns, and of the others.
    pub fn addresses(&self) -> [u64; 2] {
        [self.columns.address(), self.working.address()]
    }

    /// Stores what is kept of some rows, in columns of `slots` words with an entry for each of the `rows`.
    pub fn unpack_rows((words, slots): (&[u64], usize), kept: Kept, states: &mut States, rows: &[u32]) {
        let vector = |first: usize, k: usize| Vec3::from_fn(|c, _| f64::from_bits(words[(first + c) * slots + k]));
        let (history, low) = states.two_mut::<History, LowParts>();
        for (d, column) in history.derivatives.iter_mut().enumerate() {
            rows.iter().enumerate().for_each(|(k, &i)| column[i as usize] = vector(Kept::derivative(d), k));
        }
        if kept.low {
            let first = kept.first_low();
            for (k, i) in rows.iter().map(|&i| i as usize).enumerate() {
                (low.pos[i], low.vel[i]) = (vector(first, k), vector(first + 3, k));
            }
        }
        for (number, point) in history.points.iter_mut().enumerate() {
            let [acc, jerk, moment] = kept.point(number);
            for (k, i) in rows.iter().map(|&i| i as usize).enumerate() {
                (point.acc[i], point.jerk[i]) = (vector(acc, k), vector(jerk, k));
                point.time[i] = Time(words[moment * slots + k]);
            }
        }
    }

    /// Writes what is kept of some rows, in columns of `slots` words with an entry for each of the `rows`.
    pub fn pack_rows((words, slots): (&mut [u64], usize), kept: Kept, states: &States, rows: &[u32]) {
        let (history, low) = (states.get::<History>(), states.get::<LowParts>());
        let mut vector = |first: usize, k: usize, vector: Vec3| {
            (0..3).for_each(|c| words[(first + c) * slots + k] = vector[c].to_bits());
        };
        for (k, i) in rows.iter().map(|&i| i as usize).enumerate() {
            history.derivatives.iter().enumerate().for_each(|(d, column)| vector(Kept::derivative(d), k, column[i]));
            if kept.low {
                let first = kept.first_low();
                // None was kept yet: zero.
                vector(first, k, low.pos.get(i).copied().unwrap_or_default());
                vector(first + 3, k, low.vel.get(i).copied().unwrap_or_default());
            }
            for (number, point) in history.points.iter().enumerate() {
                let [acc, jerk, _] = kept.point(number);
                vector(acc, k, point.acc[i]);
                vector(jerk, k, point.jerk[i]);
            }
        }
        for (number, point) in history.points.iter().enumerate() {
            let [.., moment] = kept.point(number);
            let column = &mut words[moment * slots..];
            rows.iter().zip(column).for_each(|(&i, word)| *word = point.time[i as usize].0);
        }
    }

    /// Sends what is kept of the particles.
    ///
    /// # Errors
    /// If the device fails.
    pub fn send(&mut self, device: &Device, states: &States) -> Result<()> {
        let (history, low) = (states.get::<History>(), states.get::<LowParts>());
        let mut vectors: Vec<(usize, &[Vec3])> = Vec::new();
        let mut times: Vec<(usize, &[Time])> = Vec::new();
        vectors.extend(history.derivatives.iter().enumerate().map(|(k, column)| (Kept::derivative(k), &column[..])));
        let first_low = self.kept.first_low();
        if self.kept.low && low.has(self.sources) {
            vectors.extend([(first_low, &low.pos[..]), (first_low + 3, &low.vel[..])]);
        } else if self.kept.low {
            // None was kept yet: not those of the particles before.
            self.pinned.words_mut()[first_low * self.slots..].fill(0);
        }
        for (k, point) in history.points.iter().enumerate() {
            let [acc, jerk, moment] = self.kept.point(k);
            vectors.extend([(acc, &point.acc[..]), (jerk, &point.jerk[..])]);
            times.push((moment, &point.time));
        }
        let slots = self.slots;
        let words = self.pinned.words_mut();
        for (first, vectors) in vectors {
            for c in 0..3 {
                let column = &mut words[(first + c) * slots..][..vectors.len()];
                column.par_iter_mut().zip(vectors).for_each(|(to, vector)| *to = vector[c].to_bits());
            }
        }
        for (first, times) in times {
            words[first * slots..].iter_mut().zip(times).for_each(|(to, time)| *to = time.0);
        }
        device.copy_up(&self.pinned, 0..self.pinned.words().len(), &self.columns)
    }

    /// Starts the copy back.
    ///
    /// # Errors
    /// If the device fails.
    pub fn fetch(&mut self, device: &Device) -> Result<()> {
        let words = self.pinned.words().len();
        device.copy_words_down(&self.columns, &mut self.pinned, words)
    }

    /// Stores what is kept after [`Self::fetch`].
    pub fn unpack(&self, states: &mut States) {
        let (history, low) = states.two_mut::<History, LowParts>();
        let (words, slots, n) = (self.pinned.words(), self.slots, self.sources);
        let vectors = |to: &mut [Vec3], first: usize| {
            let of = |i: usize| Vec3::from_fn(|c, _| f64::from_bits(words[(first + c) * slots + i]));
            to.par_iter_mut().enumerate().for_each(|(i, to)| *to = of(i));
        };
        for (k, column) in history.derivatives.iter_mut().enumerate() {
            vectors(column, Kept::derivative(k));
        }
        if self.kept.low {
            let first = self.kept.first_low();
            vectors(&mut low.pos, first);
            vectors(&mut low.vel, first + 3);
        }
        for (k, point) in history.points.iter_mut().enumerate() {
            let [acc, jerk, moment] = self.kept.point(k);
            vectors(&mut point.acc, acc);
            vectors(&mut point.jerk, jerk);
            let moments = &words[moment * slots..][..n];
            point.time.iter_mut().zip(moments).for_each(|(time, &word)| *time = Time(word));
        }
    }
}
