//! What multi-point schemes keep of each particle, on the device: derivatives and earlier points, in columns.

use crate::error::Result;
use crate::force::cuda::driver::device::Device;
use crate::force::cuda::driver::memory::{Memory, Pinned};
use crate::force::cuda::forces::launch::SourceHistory;
use crate::force::cuda::shapes::layout::{DERIVATIVES, POINT_COLUMNS, columns_of};
use crate::particles::Vec3;
use crate::states::history::History;
use crate::time::Time;
use rayon::prelude::*;
use std::sync::Arc;

/// History of the particles on the device, and on its way.
pub struct StepHistory {
    points: usize,
    sources: usize,
    slots: usize,
    /// Those by which the forces predict, if they do.
    columns: Arc<Memory>,
    /// Columns of other lengths: copies of the thread blocks, with which they work, or what the targets get.
    working: Memory,
    pinned: Pinned,
}

impl StepHistory {
    /// Allocates memory for schemes with `points` earlier points, for `slots` particles, unless it is `held` with the forces, and for
    /// `working` besides; [`None`] if there is too little.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn new(
        device: &Device,
        points: usize,
        (sources, slots): (usize, usize),
        working: usize,
        held: Option<&SourceHistory>,
    ) -> Result<Option<Self>> {
        let columns = columns_of(points);
        let own = if held.is_some() { 0 } else { slots };
        if 8 * columns * (own + working) > device.free_bytes()? {
            return Ok(None);
        }
        let memory = |particles: usize| device.memory(8 * columns * particles);
        let pinned = device.pinned(columns * slots)?;
        let kept = match held {
            Some(held) => Arc::clone(&held.columns),
            None => Arc::new(memory(slots)?),
        };
        Ok(Some(Self { points, sources, slots, columns: kept, working: memory(working)?, pinned }))
    }

    /// Returns the number of earlier points.
    pub const fn points(&self) -> usize {
        self.points
    }

    /// Returns the addresses of the columns, and of the others.
    pub fn addresses(&self) -> [u64; 2] {
        [self.columns.address(), self.working.address()]
    }

    /// Returns the first columns of derivative `k`, and of acceleration, jerk and moment of point `k`.
    fn derivative(k: usize) -> usize {
        3 * k
    }

    fn point(&self, k: usize) -> [usize; 3] {
        Self::point_of(self.points, k)
    }

    /// Returns the same for a scheme with `points` earlier points.
    const fn point_of(points: usize, k: usize) -> [usize; 3] {
        let first = 3 * DERIVATIVES * points + POINT_COLUMNS * k;
        [first, first + 3, first + 6]
    }

    /// Stores the history of some rows, in columns of `slots` words with an entry for each of the `rows`.
    pub fn unpack_rows((words, slots): (&[u64], usize), points: usize, history: &mut History, rows: &[u32]) {
        let vector = |first: usize, k: usize| Vec3::from_fn(|c, _| f64::from_bits(words[(first + c) * slots + k]));
        for (d, column) in history.derivatives.iter_mut().enumerate() {
            rows.iter().enumerate().for_each(|(k, &i)| column[i as usize] = vector(Self::derivative(d), k));
        }
        for (number, point) in history.points.iter_mut().enumerate() {
            let [acc, jerk, moment] = Self::point_of(points, number);
            for (k, i) in rows.iter().map(|&i| i as usize).enumerate() {
                (point.acc[i], point.jerk[i]) = (vector(acc, k), vector(jerk, k));
                point.time[i] = Time(words[moment * slots + k]);
            }
        }
    }

    /// Sends the history of the particles.
    ///
    /// # Errors
    /// If the device fails.
    pub fn send(&mut self, device: &Device, history: &History) -> Result<()> {
        let mut vectors: Vec<(usize, &[Vec3])> = Vec::new();
        let mut times: Vec<(usize, &[Time])> = Vec::new();
        vectors.extend(history.derivatives.iter().enumerate().map(|(k, column)| (Self::derivative(k), &column[..])));
        for (k, point) in history.points.iter().enumerate() {
            let [acc, jerk, moment] = self.point(k);
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

    /// Starts the copy of the history back.
    ///
    /// # Errors
    /// If the device fails.
    pub fn fetch(&mut self, device: &Device) -> Result<()> {
        device.copy_down(&self.columns, &mut self.pinned, 0)
    }

    /// Stores the history after [`Self::fetch`].
    pub fn unpack(&self, history: &mut History) {
        let (words, slots, n) = (self.pinned.words(), self.slots, self.sources);
        let vectors = |to: &mut [Vec3], first: usize| {
            let of = |i: usize| Vec3::from_fn(|c, _| f64::from_bits(words[(first + c) * slots + i]));
            to.par_iter_mut().enumerate().for_each(|(i, to)| *to = of(i));
        };
        for (k, column) in history.derivatives.iter_mut().enumerate() {
            vectors(column, Self::derivative(k));
        }
        for (k, point) in history.points.iter_mut().enumerate() {
            let [acc, jerk, moment] = self.point(k);
            vectors(&mut point.acc, acc);
            vectors(&mut point.jerk, jerk);
            let moments = &words[moment * slots..][..n];
            point.time.iter_mut().zip(moments).for_each(|(time, &word)| *time = Time(word));
        }
    }
}
