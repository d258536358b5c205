//! Blocks of pairs of a [law](crate::law): vectors of one result, their sources, their distances.

use super::inverse_sqrt::{Ieee, InverseSqrt};
use super::pair::{Lanes, Source, V, relative_position};
use super::plan::{DISTANCES, ROOTS, Reads, SQUARES};
use crate::force::mode::Mode;
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
    pub slots: &'a [R],
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

    /// Returns true if there are [`BLOCK`] sources.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.slots.len() == BLOCK * self.stride
    }

    /// Returns the same sources with a length that the compiler knows.
    #[inline(always)]
    pub fn full(self) -> Self {
        Self { slots: &self.slots[..BLOCK * self.stride], ..self }
    }

    /// Returns a source.
    #[inline(always)]
    pub fn get<const OVER_BAGS: bool>(&self, k: usize) -> Source<'a, R, OVER_BAGS> {
        Source::new(&self.slots[k * self.stride..][..self.stride], self.first, self.place + k)
    }
}

/// Distances of a block of pairs.
pub struct Distances<'a, M: Mode, S: Simd> {
    /// s², s, 1 / s
    pub scalars: &'a [Block<M, S>; DISTANCES],
    /// Relative position.
    pub position: &'a [Block<M, S>; 3],
    pub reads: Reads,
}

impl<M: Mode, S: Simd> Distances<'_, M, S> {
    /// Computes the distances of a pair; in place of 1 / s its root in a form that has no value at 0 and ∞.
    #[inline(always)]
    pub fn begin<D: InverseSqrt, const OVER_BAGS: bool>(
        &self,
        (simd, form): (S, D),
        target: &Lanes<M, S>,
        sources: Sources<'_, M::Real>,
        k: usize,
    ) {
        let Reads { square: square_is_read, root: root_is_read, inverse } = self.reads;
        let r = relative_position::<M, S, OVER_BAGS>(simd, target, sources.get(k));
        let square = target.softened_square(simd, r);
        if root_is_read || inverse {
            let root = M::Real::sqrt_lanes(simd, square);
            if root_is_read || D::PARTIAL {
                self.scalars[ROOTS].set(k, root);
            }
            if inverse && !D::PARTIAL {
                let inverse = form.inverse_of_root::<M::Real, S>(simd, square, root);
                self.scalars[self.reads.inverses()].set(k, inverse);
            }
        }
        if square_is_read || D::PARTIAL {
            self.scalars[SQUARES].set(k, square);
        }
        for (position, &r) in self.position.iter().zip(&r) {
            position.set(k, r);
        }
    }

    /// Computes 1 / s in a form that has no value at 0 and ∞, and in the other where one of them is there.
    #[inline(always)]
    pub fn finish<D: InverseSqrt>(&self, simd: S, form: D) {
        if !D::PARTIAL || !self.reads.inverse {
            return;
        }
        let (squares, roots) = (&self.scalars[SQUARES], &self.scalars[ROOTS]);
        let inverses = &self.scalars[self.reads.inverses()];
        let mut sums = [M::Real::splat(simd, M::Real::from_f64(0.0)); 4];
        for part in (0..BLOCK).step_by(sums.len()) {
            for (k, sum) in sums.iter_mut().enumerate() {
                let (square, root) = (squares.get(part + k), roots.get(part + k));
                let inverse = form.inverse_of_root::<M::Real, S>(simd, square, root);
                inverses.set(part + k, inverse);
                *sum = M::Real::add(simd, *sum, inverse);
            }
        }
        // The sum of numbers of one sign is NaN if and only if one of them is.
        let [a, b, c, d] = sums;
        let sum = M::Real::add(simd, M::Real::add(simd, a, b), M::Real::add(simd, c, d));
        if form.any_nan::<M::Real, S>(sum) {
            for k in 0..BLOCK {
                inverses.set(k, Ieee.inverse_sqrt::<M::Real, S>(simd, squares.get(k)));
            }
        }
    }
}
