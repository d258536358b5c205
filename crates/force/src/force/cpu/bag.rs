//! Bag of sources as the lanes see it, and a source of it.

use crate::force::mode::{Mode, V};
use crate::force::real::Real;
use pulp::Simd;

/// Sources that the lanes go through in step: one bag for all of them, or a bag for each.
pub struct Bag<'a, M: Mode, S: Simd> {
    /// The slots of the sources.
    pub slots: &'a [M::Real],
    /// Number of the first slot, among those of all groups.
    pub group: usize,
    /// Lane of the bag in the slots, or of the first bag of several.
    pub first: usize,
    /// Place in the bag of the source that each lane leaves out, or −1.
    pub absent: V<M, S>,
    /// Number of sources in the bag of each lane, where each has its own.
    pub filled: V<M, S>,
    /// Flag that a lane may leave a source out.
    pub masked: bool,
}

impl<M: Mode, S: Simd> Bag<'_, M, S> {
    /// Returns the place after the sources that no lane leaves out, from a place on.
    #[inline(always)]
    pub fn end_of_whole(&self, place: usize, sources: usize) -> usize {
        let mut end = sources;
        if self.masked {
            let [absent, filled] = [&self.absent, &self.filled].map(std::slice::from_ref);
            let numbers = bytemuck::cast_slice::<_, M::Real>(absent).iter().zip(bytemuck::cast_slice(filled));
            for (absent, filled) in numbers {
                let absent = M::Real::widen(*absent);
                if absent >= place as f64 {
                    end = end.min(absent as usize);
                }
                end = end.min(M::Real::widen(*filled) as usize);
            }
        }
        end.max(place)
    }
}

/// Source in the lanes: its slot. Columns are read where they are needed, so that pairs begun ahead keep registers free.
#[derive(Clone, Copy)]
pub struct Source<'a, R, const OVER_BAGS: bool> {
    slot: &'a [R],
    /// Lane of the slot that the first lane reads.
    first: usize,
    /// Place in the bag.
    pub place: usize,
}

impl<'a, R: Real, const OVER_BAGS: bool> Source<'a, R, OVER_BAGS> {
    /// Returns a column: of the same source in every lane, or of one for each.
    #[inline(always)]
    pub fn column<S: Simd>(self, simd: S, column: usize) -> R::Lanes<S> {
        in_lanes::<R, S, OVER_BAGS>(simd, self.slot, column * R::WIDTH + self.first)
    }

    /// Creates the source of a slot, at a place of a bag whose first lane reads `first`.
    #[inline(always)]
    pub fn new(slot: &'a [R], first: usize, place: usize) -> Self {
        Self { slot, first, place }
    }

    /// Returns the mass: the last column.
    #[inline(always)]
    pub fn mass<S: Simd>(self, simd: S) -> R::Lanes<S> {
        self.column(simd, self.slot.len() / R::WIDTH - 1)
    }

    /// Returns a value of a column that lies apart from the slots, one row a slot; the bag begins at slot `group`.
    #[inline(always)]
    pub fn beside<S: Simd>(self, simd: S, column: &[R], group: usize) -> R::Lanes<S> {
        in_lanes::<R, S, OVER_BAGS>(simd, column, (group + self.place) * R::WIDTH + self.first)
    }

    /// Returns the mask of the lanes whose bags have no source at this place.
    #[inline(always)]
    pub fn beyond<M: Mode<Real = R>, S: Simd>(self, simd: S, bag: &Bag<'_, M, S>) -> R::Mask<S> {
        R::at_least(simd, self.place(simd), bag.filled)
    }

    /// Returns the mask of the lanes that leave the source out.
    #[inline(always)]
    pub fn absent<M: Mode<Real = R>, S: Simd>(self, simd: S, bag: &Bag<'_, M, S>) -> R::Mask<S> {
        R::equal(simd, bag.absent, self.place(simd))
    }

    /// Returns the place in the bag in every lane: a small number, exact in f32 too.
    #[inline(always)]
    fn place<S: Simd>(self, simd: S) -> R::Lanes<S> {
        R::splat(simd, R::from_f64(self.place as f64))
    }
}

/// Returns the number at `first` in every lane, or over bags as many as there are lanes.
#[inline(always)]
fn in_lanes<R: Real, S: Simd, const OVER_BAGS: bool>(simd: S, numbers: &[R], first: usize) -> R::Lanes<S> {
    if OVER_BAGS {
        let lanes = size_of::<R::Lanes<S>>() / size_of::<R>();
        return bytemuck::pod_read_unaligned(bytemuck::cast_slice(&numbers[first..first + lanes]));
    }
    R::splat(simd, numbers[first])
}
