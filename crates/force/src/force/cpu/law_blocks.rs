//! Blocks of pairs of a [law](crate::law): vectors of one result, and their sources.

use super::bag::Source;
use crate::force::mode::{Mode, V};
use crate::force::real::Real;
use pulp::Simd;
use std::cell::Cell;

/// Number of pairs of each lane in a block. Twice as many do not fit the innermost cache beside the sources.
pub const BLOCK: usize = 16;

/// Vectors of one result of a program, aligned to cache lines, which the types of vectors are not. The blocks of operands
/// and of the result are borrowed at the same time.
#[repr(C, align(64))]
pub struct Block<M: Mode, S: Simd>([Cell<V<M, S>>; BLOCK]);

impl<M: Mode, S: Simd> Block<M, S> {
    /// Creates a block with a vector in each place.
    #[inline(always)]
    pub fn new(value: V<M, S>) -> Self {
        Self([value; BLOCK].map(Cell::new))
    }

    /// Returns the vector of a place.
    #[inline(always)]
    pub fn get(&self, k: usize) -> V<M, S> {
        self.0[k].get()
    }

    /// Stores the vector of a place.
    #[inline(always)]
    pub fn set(&self, k: usize, value: V<M, S>) {
        self.0[k].set(value);
    }

    /// Stores a vector in each place.
    #[inline(always)]
    pub fn fill(&self, value: V<M, S>) {
        for k in 0..BLOCK {
            self.set(k, value);
        }
    }

    /// Returns all vectors.
    #[inline(always)]
    pub fn values(&self) -> [V<M, S>; BLOCK] {
        let mut values = [self.get(0); BLOCK];
        for (k, value) in values.iter_mut().enumerate() {
            *value = self.get(k);
        }
        values
    }
}

/// Sources of a block of pairs.
#[derive(Clone, Copy)]
pub struct Sources<'a, R> {
    slots: &'a [R],
    /// Length of a slot.
    stride: usize,
    /// Lane of the first source in a slot.
    first: usize,
    /// Place of the first source in its bag.
    place: usize,
}

impl<'a, R: Real> Sources<'a, R> {
    /// Creates the sources of the first slots.
    #[inline(always)]
    pub fn new(slots: &'a [R], stride: usize, first: usize, place: usize) -> Self {
        Self { slots: &slots[..slots.len().min(BLOCK * stride)], stride, first, place }
    }

    /// Returns the number of sources: at most [`BLOCK`].
    #[inline(always)]
    pub fn len(&self) -> usize {
        (self.slots.len() / self.stride).min(BLOCK)
    }

    /// Returns a source.
    #[inline(always)]
    pub fn get<const OVER_BAGS: bool>(&self, k: usize) -> Source<'a, R, OVER_BAGS> {
        Source::new(&self.slots[k * self.stride..][..self.stride], self.first, self.place + k)
    }
}
