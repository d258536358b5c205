//! Memory needed for a number of sources.

use super::launch_shape::{units, units_with};
use super::layout::{FORCE, PARTIAL_BYTES, columns_of_derivatives, upload_words};
use crate::force::canonical::BAG;
use crate::force::precision::Precision;

/// Sizes in bytes of the arrays for a number of sources, on the device and pinned on the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryPlan {
    /// Number of sources and padding.
    pub slots: usize,
    /// Sizes of the arrays with one entry a slot: held state, ticks, masses, predicted state, counters of finished
    /// tiles.
    pub arrays: [usize; 5],
    /// Size of the upload from the host.
    pub upload: usize,
    /// Number of further derivatives by which sources are predicted, and size of the history that has them.
    pub history: (usize, usize),
}

impl MemoryPlan {
    /// Creates the plan for `n` sources.
    #[must_use]
    pub fn new(precision: Precision, n: usize) -> Self {
        let slots = n.next_multiple_of(BAG);
        let arrays = [96, 8, 8, 16 * units(precision), 4].map(|bytes| bytes * slots);
        Self { slots, arrays, upload: 8 * upload_words(slots, 0), history: (0, 0) }
    }

    /// Returns the plan for sources that are predicted by further derivatives.
    #[must_use]
    pub fn with_derivatives(mut self, derivatives: usize) -> Self {
        self.upload = 8 * upload_words(self.slots, derivatives);
        self.history = (derivatives, 8 * columns_of_derivatives(derivatives) * self.slots);
        self
    }

    /// Returns the plan for a law that reads this number of columns of the particles.
    #[must_use]
    pub fn with_columns(mut self, precision: Precision, columns: usize) -> Self {
        self.arrays[2] *= 1 + columns;
        self.arrays[3] = 16 * units_with(precision, columns) * self.slots;
        self
    }

    /// Returns the bytes on the device.
    #[must_use]
    pub fn on_device(&self) -> usize {
        self.arrays.iter().sum::<usize>() + self.history.1 + PARTIAL_BYTES + self.upload
    }

    /// Returns the bytes of pinned memory on the host: for the upload, and for the forces.
    #[must_use]
    pub fn pinned(&self) -> usize {
        self.upload + 8 * FORCE * self.slots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_grows_with_the_particles_and_the_mode() {
        for precision in Precision::ALL {
            let bytes = |n| MemoryPlan::new(precision, n).on_device() - PARTIAL_BYTES;
            let (small, large) = (bytes(1 << 16), bytes(1 << 20));
            assert_eq!(large, 16 * small, "{}", precision.name());
            assert!((250..450).contains(&(large >> 20)), "{}: {} bytes a particle", precision.name(), large >> 20);
            assert!(MemoryPlan::new(precision, 1).slots == BAG && MemoryPlan::new(precision, BAG + 1).slots == 2 * BAG);
        }
        let bytes = |precision| MemoryPlan::new(precision, 1 << 20).on_device();
        assert_eq!(bytes(Precision::F64) - bytes(Precision::F32Kahan), 32 << 20);
        assert_eq!(MemoryPlan::new(Precision::F64, 1 << 20).pinned(), (8 * (14 + 6) + 8 * FORCE) << 20);
        // Order 6 keeps two derivatives and a point, order 8 twice as much, and both low parts; the derivatives are in the upload too.
        for (derivatives, columns) in [(2, 13 + 6 + 6), (4, 26 + 6 + 12)] {
            let with = MemoryPlan::new(Precision::F64, 1 << 20).with_derivatives(derivatives).on_device();
            assert_eq!(with - bytes(Precision::F64), (8 * columns) << 20);
        }
    }
}
