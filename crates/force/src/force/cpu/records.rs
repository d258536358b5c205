//! Sources for sums over lists: the state of each in memory of its own, in f64.

use super::width::Width;
use crate::error::{Error, Result};
use crate::force::neighbours::NeighbourTargets;
use crate::force::targets::Targets;
use crate::gravity::predict_component;
use crate::particles::Particles;
use crate::rows::for_rows;
use crate::spin_pool;
use crate::states::neighbours::Neighbours;
use crate::time::Time;
use bytemuck::{Pod, Zeroable};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

/// Number of sources that one thread predicts at a time.
const SHARE: usize = 2048;

/// Nanoseconds in which a source is stored, and in which one of a list is predicted: most of them for the memory. Not measured.
const STORED: usize = 50;
const LISTED: usize = 10;

/// Part of the sources, 1 / this number, for which there is room besides.
const MORE: usize = 64;

/// Predicted source: one line of the cache.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Record {
    /// Position, velocity, mass, as the columns of a [slot](super::sources) of f64.
    pub state: [f64; 7],
    rest: f64,
}

/// Source at its own time: position and mass, velocity and ticks, acceleration, jerk.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(64))]
struct Held([[f64; 4]; 4]);

impl Held {
    /// Returns the state of particle `i`.
    #[inline]
    fn of(p: &Particles, i: usize) -> Self {
        let of = |vector: &[f64; 3], last: f64| [vector[0], vector[1], vector[2], last];
        Self([
            of(p.pos[i].as_ref(), p.mass[i]),
            of(p.vel[i].as_ref(), f64::from_bits(p.time[i].0)),
            of(p.acc[i].as_ref(), 0.0),
            of(p.jerk[i].as_ref(), 0.0),
        ])
    }
}

/// Coordinate of no source: so far away that with mass 0 it adds exact zeros.
const NOWHERE: f64 = 1e150;

/// Sources: held at their own times, and predicted where they are needed.
#[derive(Default)]
pub struct Records {
    held: Vec<Held>,
    predicted: Vec<Record>,
    /// Number of the prediction that each source was last predicted in, if that was not of all.
    stamps: Vec<u32>,
    stamp: u32,
    /// Flag that the last prediction was of all.
    is_whole: bool,
}

impl Records {
    /// Checks that the particles that were loaded have lists.
    pub fn check(&self, task: &NeighbourTargets<'_>) -> Result<()> {
        if self.held.is_empty() && !task.targets.is_empty() {
            let problem = "the particles that were loaded have no room for lists of neighbours";
            return Err(Error::Integration { problem: problem.into(), help: None });
        }
        Ok(())
    }

    /// Stores all particles, if they have lists.
    pub fn load(&mut self, p: &Particles) {
        if p.states.get::<Neighbours>().is_empty() {
            *self = Self::default();
            return;
        }
        self.make_room(p.len());
        let of = |(i, held): (usize, &mut Held)| *held = Held::of(p, i);
        self.held.par_iter_mut().with_min_len(spin_pool::min_share(STORED)).enumerate().for_each(of);
    }

    /// Makes room for `n` sources, of which none is gone; for none where particles have no lists.
    pub fn grow(&mut self, n: usize) {
        if !self.held.is_empty() {
            self.make_room(n);
        }
    }

    fn make_room(&mut self, n: usize) {
        let nowhere = Record { state: [NOWHERE, NOWHERE, NOWHERE, 0.0, 0.0, 0.0, 0.0], rest: 0.0 };
        if n > self.held.capacity() {
            // With room for more that begin: a copy of all takes long.
            let more = n + n / MORE - self.held.len();
            self.held.reserve_exact(more);
            self.predicted.reserve_exact(more + 1);
        }
        self.held.resize(n, Held::zeroed());
        // One more than sources: what fills the last places of a list.
        self.predicted.resize(n + 1, nowhere);
        self.predicted[n] = nowhere;
        self.stamps.resize(n, 0);
    }

    /// Stores the state of some particles, strictly ascending; nothing where particles have no lists.
    pub fn store(&mut self, p: &Particles, rows: &[u32]) {
        if !self.held.is_empty() {
            for_rows(&mut self.held, rows, STORED, |k, held| *held = Held::of(p, rows[k] as usize));
        }
    }

    /// Predicts the sources in `lists`, or all of them if that is less work, and puts the targets where they are.
    pub fn predict(&mut self, (now, tick): (Time, f64), targets: Targets<'_>, lists: &[&[u32]], width: Width) {
        let n = self.held.len();
        let entries: usize = lists.iter().map(|list| list.len()).sum();
        self.is_whole = entries >= n / 2;
        if self.is_whole {
            let predict = |(held, predicted): (&[Held], &mut [Record])| {
                width.run(PredictAll { held, predicted, now, tick });
            };
            if n <= SHARE || rayon::current_num_threads() == 1 {
                predict((&self.held, &mut self.predicted[..n]));
            } else {
                self.held.par_chunks(SHARE).zip(self.predicted[..n].par_chunks_mut(SHARE)).for_each(predict);
            }
        } else {
            self.stamp = self.stamp.wrapping_add(1);
            if self.stamp == 0 {
                self.stamps.fill(0);
                self.stamp = 1;
            }
            self.predict_listed((now, tick), (lists, entries), width);
        }
        let Self { held, predicted, stamps, stamp, .. } = self;
        for_rows(predicted, targets.index, STORED, |k, record| {
            let (x, v, Held([[.., mass], ..])) = (targets.pos[k], targets.vel[k], held[targets.index[k] as usize]);
            record.state = [x.x, x.y, x.z, v.x, v.y, v.z, mass];
        });
        targets.index.iter().for_each(|&i| stamps[i as usize] = *stamp);
    }

    /// Predicts the sources in more lists, after [`Self::predict`] at the same moment.
    pub fn predict_more(&mut self, (now, tick): (Time, f64), lists: &[&[u32]], width: Width) {
        if !self.is_whole {
            self.predict_listed((now, tick), (lists, lists.iter().map(|list| list.len()).sum()), width);
        }
    }

    /// Predicts the sources in some lists, without those that were predicted at this moment. Each thread takes the sources of a range
    /// of rows. `entries` is the number of entries of all lists.
    fn predict_listed(&mut self, (now, tick): (Time, f64), (lists, entries): (&[&[u32]], usize), width: Width) {
        let Self { held, predicted, stamps, stamp, .. } = self;
        let part = |(first, held, predicted, stamps)| {
            width.run(PredictListed { first, held, predicted, stamps, stamp: *stamp, lists, now, tick });
        };
        let parts = entries.div_ceil(spin_pool::share(entries, LISTED).max(1));
        if parts <= 1 {
            return part((0, held, predicted, stamps));
        }
        let size = held.len().div_ceil(parts);
        let columns = held.par_chunks(size).zip(predicted.par_chunks_mut(size)).zip(stamps.par_chunks_mut(size));
        columns.enumerate().for_each(|(k, ((held, predicted), stamps))| part((k * size, held, predicted, stamps)));
    }

    /// Returns the predicted sources, and one more without mass.
    pub fn predicted(&self) -> &[Record] {
        &self.predicted
    }
}

/// Returns the state of a source at the moment `now`.
#[inline(always)]
fn predicted(Held([pos, vel, acc, jerk]): &Held, now: Time, tick: f64) -> Record {
    let dt = (now.0 - vel[3].to_bits()) as f64 * tick;
    let (mut x, mut v) = ([0.0; 4], [0.0; 4]);
    for k in 0..4 {
        (x[k], v[k]) = predict_component(pos[k], if k < 3 { vel[k] } else { 0.0 }, acc[k], jerk[k], dt);
    }
    Record { state: [x[0], x[1], x[2], v[0], v[1], v[2], pos[3]], rest: 0.0 }
}

/// Vectorised work: predicts all sources.
struct PredictAll<'a> {
    held: &'a [Held],
    predicted: &'a mut [Record],
    now: Time,
    tick: f64,
}

impl WithSimd for PredictAll<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (held, record) in self.held.iter().zip(self.predicted) {
            *record = predicted(held, self.now, self.tick);
        }
    }
}

/// Vectorised work: predicts those of the sources from `first` on that are in some lists and have another stamp.
struct PredictListed<'a> {
    first: usize,
    held: &'a [Held],
    predicted: &'a mut [Record],
    stamps: &'a mut [u32],
    stamp: u32,
    lists: &'a [&'a [u32]],
    now: Time,
    tick: f64,
}

impl WithSimd for PredictListed<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { first, held, predicted: records, stamps, stamp, lists, now, tick } = self;
        for list in lists {
            // Lists ascend.
            let begin = if first == 0 { 0 } else { list.partition_point(|&j| (j as usize) < first) };
            for j in list[begin..].iter().map(|&j| j as usize - first) {
                let Some(held) = held.get(j) else { break };
                if stamps[j] != stamp {
                    stamps[j] = stamp;
                    records[j] = predicted(held, now, tick);
                }
            }
        }
    }
}
