//! Memory layout of the CPU engine's sources: as many consecutive bags are interleaved as the widest vector unit has
//! lanes.
//!
//! [`Real::WIDTH`] bags (8 of f64, 16 of f32) form a *group*. Slot `t` of a group holds source `t` of each of its bags,
//! so that one vector load reads the same element of consecutive bags (lanes over bags), and one broadcast reads a
//! single source (lanes over targets). All columns of a slot are adjacent, so that a sweep is one stream.

use crate::force::canonical::{BAG, bags};
use crate::force::mode::{Mode, SUMS, is_whole};
use crate::force::real::Real;
use crate::gravity::{further, predict_component, predict_component_with};
use crate::particles::{Particles, Vec3};
use crate::time::Time;
use bytemuck::{Pod, Zeroable};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use std::marker::PhantomData;

/// Cache line of 64 bytes: one column of a slot in f32 or f64, or half a column of the held f64 of an f32 mode.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u64; 8]);

/// Number of f64 in a [`Line`].
const LINE: usize = 8;
/// Number of columns of the held state: position, velocity, acceleration, jerk, ticks.
const HELD: usize = 13;

/// Returns the number of columns of a slot for `K` sums: position (hi and, in split modes, lo), velocity if a whole
/// force is summed, mass.
pub const fn columns<M: Mode, const K: usize>() -> usize {
    let pos = if M::SPLIT { 6 } else { 3 };
    pos + if is_whole(K) { 3 } else { 0 } + 1
}

/// Returns the number of lines of held state in a slot.
const fn held_lines<M: Mode>() -> usize {
    HELD * <M::Real as Real>::WIDTH / LINE
}

/// Sources at their positions, in the mode's numbers, as the loop body reads them.
pub struct Slots<M, const K: usize> {
    lines: Vec<Line>,
    len: usize,
    mode: PhantomData<M>,
}

impl<M, const K: usize> Default for Slots<M, K> {
    fn default() -> Self {
        Self { lines: Vec::new(), len: 0, mode: PhantomData }
    }
}

/// Returns slot and lane of source `i`.
#[inline(always)]
pub fn place(i: usize, width: usize) -> (usize, usize) {
    let bag = i / BAG;
    ((bag / width) * BAG + i % BAG, bag % width)
}

impl<M: Mode, const K: usize> Slots<M, K> {
    const WIDTH: usize = <M::Real as Real>::WIDTH;
    /// Number of lines of a group.
    const GROUP: usize = BAG * columns::<M, K>();

    /// Returns the number of sources.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the number of groups of bags.
    pub fn groups(&self) -> usize {
        bags(self.len).div_ceil(Self::WIDTH)
    }

    /// Returns the number of slots that have sources: all but those at the end of a group that is a single bag, not full.
    fn filled_slots(&self) -> usize {
        let before = bags(self.len).saturating_sub(1) / Self::WIDTH;
        before * BAG + (self.len - before * BAG * Self::WIDTH).min(BAG)
    }

    /// Returns the slots as numbers: [`BAG`] slots a group, [`columns`] a slot, [`Real::WIDTH`] numbers a column.
    pub fn numbers(&self) -> &[M::Real] {
        bytemuck::cast_slice(&self.lines)
    }

    /// Returns the number of places for sources.
    fn places(&self) -> usize {
        self.groups() * BAG * Self::WIDTH
    }

    /// Stores the masses of the sources.
    pub fn load(&mut self, mass: &[f64]) {
        *self = Self::default();
        self.grow(mass.len());
        mass.iter().enumerate().for_each(|(i, &mass)| self.set_mass(i, mass));
    }

    /// Makes room for `n` sources, of which none is gone. Places without a source have mass 0 and the coordinate
    /// [`Real::NOWHERE`].
    fn grow(&mut self, n: usize) {
        let first = self.places();
        self.len = n;
        self.lines.resize(self.groups() * Self::GROUP, Line::zeroed());
        (first..self.places()).for_each(|i| self.put(i, Vec3::repeat(<M::Real as Real>::NOWHERE), Vec3::zeros()));
    }

    /// Stores the mass of source `i`.
    #[inline(always)]
    fn set_mass(&mut self, i: usize, mass: f64) {
        self.set(place(i, Self::WIDTH), columns::<M, K>() - 1, M::Real::from_f64(mass));
    }

    #[inline(always)]
    fn set(&mut self, (slot, lane): (usize, usize), column: usize, value: M::Real) {
        let numbers: &mut [M::Real] = bytemuck::cast_slice_mut(&mut self.lines);
        numbers[(slot * columns::<M, K>() + column) * Self::WIDTH + lane] = value;
    }

    /// Stores position and velocity of source `i`. For an acceleration alone the velocity is unused.
    #[inline]
    pub fn put(&mut self, i: usize, pos: Vec3, vel: Vec3) {
        let place = place(i, Self::WIDTH);
        for k in 0..3 {
            let [hi, lo] = M::Real::split(pos[k]);
            self.set(place, k, hi);
            if M::SPLIT {
                self.set(place, 3 + k, lo);
            }
            if is_whole(K) {
                self.set(place, columns::<M, K>() - 4 + k, M::Real::from_f64(vel[k]));
            }
        }
    }
}

/// Sources of forces: held at their own times in f64, and predicted in the mode's numbers.
pub struct Sources<M> {
    held: Vec<Line>,
    /// Derivatives of the acceleration from the second on, of three columns each, by which sources are predicted too: none
    /// in modes that are not in f64.
    more: Vec<Line>,
    derivatives: usize,
    predicted: Slots<M, SUMS>,
}

impl<M> Default for Sources<M> {
    fn default() -> Self {
        Self { held: Vec::new(), more: Vec::new(), derivatives: 0, predicted: Slots::default() }
    }
}

impl<M: Mode> Sources<M> {
    const WIDTH: usize = <M::Real as Real>::WIDTH;

    /// Returns the sources as last predicted.
    pub fn predicted(&self) -> &Slots<M, SUMS> {
        &self.predicted
    }

    /// Stores all particles.
    pub fn load(&mut self, p: &Particles) {
        *self = Self::default();
        self.derivatives = if M::PRECISION.in_f64() { p.derivatives().len() } else { 0 };
        self.grow(p.len());
        (0..p.len()).for_each(|i| self.replace(p, i));
    }

    /// Returns the number of derivatives by which sources are predicted besides acceleration and jerk.
    pub fn derivatives(&self) -> usize {
        self.derivatives
    }

    /// Returns the number of lines of derivatives in a slot.
    fn more_lines(&self) -> usize {
        3 * self.derivatives * Self::WIDTH / LINE
    }

    /// Makes room for `n` sources, of which none is gone.
    pub fn grow(&mut self, n: usize) {
        let first = self.predicted.places();
        self.predicted.grow(n);
        self.held.resize(self.predicted.groups() * BAG * held_lines::<M>(), Line::zeroed());
        self.more.resize(self.predicted.groups() * BAG * self.more_lines(), Line::zeroed());
        for i in first..self.predicted.places() {
            for k in 0..3 {
                self.hold(place(i, Self::WIDTH), k, <M::Real as Real>::NOWHERE);
            }
        }
    }

    /// Stores the mass and the state of particle `i`.
    #[inline]
    pub fn replace(&mut self, p: &Particles, i: usize) {
        self.predicted.set_mass(i, p.mass[i]);
        self.store(p, i);
    }

    #[inline(always)]
    fn hold(&mut self, (slot, lane): (usize, usize), column: usize, value: f64) {
        let held: &mut [f64] = bytemuck::cast_slice_mut(&mut self.held);
        held[(slot * HELD + column) * Self::WIDTH + lane] = value;
    }

    /// Stores the state of particle `i`.
    #[inline]
    pub fn store(&mut self, p: &Particles, i: usize) {
        let place = place(i, Self::WIDTH);
        for k in 0..3 {
            self.hold(place, k, p.pos[i][k]);
            self.hold(place, 3 + k, p.vel[i][k]);
            self.hold(place, 6 + k, p.acc[i][k]);
            self.hold(place, 9 + k, p.jerk[i][k]);
        }
        self.hold(place, 12, f64::from_bits(p.time[i].0));
        let columns = 3 * self.derivatives;
        if columns > 0 {
            let ((slot, lane), more) = (place, bytemuck::cast_slice_mut::<_, f64>(&mut self.more));
            for (d, derivative) in p.derivatives().iter().enumerate() {
                for k in 0..3 {
                    more[(slot * columns + 3 * d + k) * Self::WIDTH + lane] = derivative[i][k];
                }
            }
        }
    }

    /// Returns all slots that have sources, for one prediction. The others stay as they are: nowhere.
    pub fn filled_slots(&mut self) -> SlotChunk<'_, M> {
        let (slots, lines) = (self.predicted.filled_slots(), self.more_lines());
        let Self { held, more, derivatives, predicted } = self;
        SlotChunk {
            held: &held[..slots * held_lines::<M>()],
            more: &more[..slots * lines],
            derivatives: *derivatives,
            predicted: &mut predicted.lines[..slots * columns::<M, SUMS>()],
            mode: PhantomData,
        }
    }

    /// Returns the same in chunks of `groups` groups, for predictions in parallel.
    pub fn chunks(&mut self, groups: usize) -> impl ParallelIterator<Item = SlotChunk<'_, M>> {
        let lines = groups * BAG * self.more_lines();
        let SlotChunk { held, more, derivatives, predicted, .. } = self.filled_slots();
        let held = held.par_chunks(groups * BAG * held_lines::<M>());
        let predicted = predicted.par_chunks_mut(groups * Slots::<M, SUMS>::GROUP);
        held.zip(predicted).enumerate().map(move |(k, (held, predicted))| {
            let more = &more[k * lines..more.len().min((k + 1) * lines)];
            SlotChunk { held, more, derivatives, predicted, mode: PhantomData }
        })
    }

    /// Stores position and velocity of the predicted source `i`.
    #[inline]
    pub fn put(&mut self, i: usize, pos: Vec3, vel: Vec3) {
        self.predicted.put(i, pos, vel);
    }
}

/// Some slots: the held state, and the predicted one to be written.
pub struct SlotChunk<'a, M> {
    held: &'a [Line],
    more: &'a [Line],
    derivatives: usize,
    predicted: &'a mut [Line],
    mode: PhantomData<M>,
}

/// Vectorised work: predicts every source of a chunk to `now`.
pub struct Predict<'a, M> {
    pub chunk: SlotChunk<'a, M>,
    pub now: Time,
    /// Length of a tick, in internal units.
    pub tick: f64,
}

impl<M: Mode> WithSimd for Predict<'_, M> {
    type Output = ();

    /// Runs [`predict_component`] on every lane. Plain loops over fixed arrays, which the compiler turns into vector
    /// code when this is inlined into a function built for the wider instructions. No closures: see [`super::lanes`].
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        match self.chunk.derivatives {
            2 => self.predict_with::<2>(),
            4 => self.predict_with::<4>(),
            _ => self.predict_with::<0>(),
        }
    }
}

impl<M: Mode> Predict<'_, M> {
    /// Predicts by `K` derivatives besides acceleration and jerk.
    #[inline(always)]
    fn predict_with<const K: usize>(self) {
        let width = <M::Real as Real>::WIDTH;
        let held: &[[f64; LINE]] = bytemuck::cast_slice(self.chunk.held);
        let more: &[[f64; LINE]] = bytemuck::cast_slice(self.chunk.more);
        let predicted: &mut [M::Real] = bytemuck::cast_slice_mut(self.chunk.predicted);
        let parts = width / LINE;
        for (number, (held, slot)) in
            held.chunks_exact(HELD * parts).zip(predicted.chunks_exact_mut(columns::<M, SUMS>() * width)).enumerate()
        {
            let more = &more[3 * K * parts * number..3 * K * parts * (number + 1)];
            for part in 0..parts {
                let mut dt = [0.0; LINE];
                for lane in 0..LINE {
                    dt[lane] = passed(self.now, held[12 * parts + part][lane].to_bits()) * self.tick;
                }
                for k in 0..3 {
                    let (mut x, mut v) = ([0.0; LINE], [0.0; LINE]);
                    let [pos, vel, acc, jerk] = [
                        held[k * parts + part],
                        held[(3 + k) * parts + part],
                        held[(6 + k) * parts + part],
                        held[(9 + k) * parts + part],
                    ];
                    if K == 0 {
                        for lane in 0..LINE {
                            (x[lane], v[lane]) =
                                predict_component(pos[lane], vel[lane], acc[lane], jerk[lane], dt[lane]);
                        }
                    } else {
                        for d in (0..K).rev() {
                            let derivative = more[(3 * d + k) * parts + part];
                            for lane in 0..LINE {
                                (x[lane], v[lane]) = further((x[lane], v[lane]), d + 2, derivative[lane], dt[lane]);
                            }
                        }
                        for lane in 0..LINE {
                            let (state, rates) = ((pos[lane], vel[lane]), (acc[lane], jerk[lane]));
                            (x[lane], v[lane]) = predict_component_with(state, rates, (x[lane], v[lane]), dt[lane]);
                        }
                    }
                    let column = |c: usize| c * width + part * LINE..c * width + (part + 1) * LINE;
                    narrow(&mut slot[column(k)], &x);
                    if M::SPLIT {
                        rest(&mut slot[column(3 + k)], &x);
                    }
                    narrow(&mut slot[column(columns::<M, SUMS>() - 4 + k)], &v);
                }
            }
        }
    }
}

/// Returns the ticks from `then` to `now` as f64. A whole number below 2⁵² in the low bits of 2⁵² is that number added,
/// the exact conversion that every vector unit has. No source is further back than dt_max, 2³⁶ ticks; lanes without a
/// source are cut to 52 bits, and do not move anyway.
#[inline(always)]
fn passed(now: Time, then: u64) -> f64 {
    let low_bits = now.0.wrapping_sub(then) & ((1 << 52) - 1);
    f64::from_bits(low_bits | (0x4330 << 48)) - (1u64 << 52) as f64
}

#[inline(always)]
fn narrow<R: Real>(to: &mut [R], from: &[f64; LINE]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = R::from_f64(*from);
    }
}

#[inline(always)]
fn rest<R: Real>(to: &mut [R], from: &[f64; LINE]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = R::split(*from)[1];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::mode::F64;

    #[test]
    fn slots_with_a_source_are_filled_and_those_after_the_last_are_not() {
        let width = <<F64 as Mode>::Real as Real>::WIDTH;
        for n in [0, 1, 2, BAG - 1, BAG, BAG + 1, width * BAG, width * BAG + 1, width * BAG + BAG + 1, 3 * width * BAG]
        {
            let mut slots = Slots::<F64, SUMS>::default();
            slots.load(&vec![1.0; n]);
            let last = (0..n).map(|i| place(i, width).0).max();
            assert_eq!(slots.filled_slots(), last.map_or(0, |last| last + 1), "{n} sources");
        }
    }
}
