//! Shapes of the kernels that step many systems, a thread block each.

use super::launch_shape::units;
use super::layout::FORCE;
use super::step_shape::COLUMNS;
use crate::force::canonical::{BAG, bags};
use crate::force::mode::{Mode, Order, with_mode};
use crate::force::precision::Precision;

/// Largest number of threads of a thread block (`SYSTEM_THREADS` of kernels/systems.cuh), and of bags of a system
/// (`SYSTEM_BAGS`).
pub const MAX_THREADS: usize = 512;
pub const MAX_BAGS: usize = 16;
/// Number of rows of a warp's scratch (`KEPT`).
pub const KEPT: usize = 8;
/// Largest number of particles of a system that one thread steps, and number of such threads of a thread block
/// (`FEW_THREADS` of kernels/few_bodies.cu).
pub const FEW: usize = 4;
pub const FEW_THREADS: usize = 64;
/// Number of columns of a predicted particle (`PREDICTED`).
pub const PREDICTED: usize = 6;
/// Shared memory that the kernels take besides what they are launched with, rounded up.
pub const STATIC_BYTES: usize = 1 << 10;
/// How a thread block steps a system. No shape changes a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SystemShape {
    /// Number of threads: whole warps.
    pub threads: usize,
    /// Number of targets whose forces are summed at a time: a multiple of 4.
    pub tile: usize,
    /// Number of warps whose lanes may share a bag.
    pub sharers: usize,
    /// Largest number of pairs of target and bag at which they do.
    pub cooperates: usize,
}

impl SystemShape {
    /// Chooses the shape for systems of up to `n` particles on a device with this many bytes of shared memory; [`None`]
    /// if they do not fit.
    #[must_use]
    pub fn choose(precision: Precision, n: usize, shared: usize) -> Option<Self> {
        if n == 0 || bags(n) > MAX_BAGS {
            return None;
        }
        // One warp has nothing to wait for, and leaves room for more systems; more finish a large system earlier. Targets
        // at a time and sharing warps take the room that the number of systems a multiprocessor leaves.
        let (threads, tile, sharers, cooperates) = match n {
            ..=64 => (32, 32, 1, 8),
            65..=128 => (32, 28, 1, 6),
            129..=256 => (128, 32, 2, 12),
            257..=512 => (256, 32, 4, 24),
            _ => (MAX_THREADS, 64, 8, 32),
        };
        let tiles = [tile, 32, 16, 8].into_iter();
        let shapes = tiles.flat_map(|tile| (1..=sharers).rev().map(move |sharers| (tile, sharers)));
        let mut shapes = shapes.map(|(tile, sharers)| Self { threads, tile, sharers, cooperates });
        shapes.find(|shape| shape.fits(precision, n, shared))
    }

    /// Returns true if the kernels can take this shape.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        let Self { threads, tile, sharers, .. } = *self;
        (32..=MAX_THREADS).contains(&threads)
            && threads.is_multiple_of(32)
            && tile > 0
            && tile.is_multiple_of(4)
            && (1..=threads / 32).contains(&sharers)
    }

    /// Returns true if a system of `n` particles fits in this many bytes of shared memory.
    #[must_use]
    pub fn fits(&self, precision: Precision, n: usize, shared: usize) -> bool {
        bags(n) <= MAX_BAGS && self.shared_bytes(precision, n) + STATIC_BYTES <= shared
    }

    /// Returns the bytes of shared memory of a thread block for a system of `n` particles (`Alone` of
    /// kernels/systems.cuh).
    #[must_use]
    pub fn shared_bytes(&self, precision: Precision, n: usize) -> usize {
        let (own, arithmetic) = (n.next_multiple_of(4), precision.arithmetic());
        let real = arithmetic.real_bytes;
        let parts = if arithmetic.order == Order::Running { 1 } else { bags(n) };
        let sums = parts * self.tile * FORCE * with_mode!(precision, M => M::PARTS) * real;
        let forces = if parts > 1 { self.tile * FORCE * 8 } else { 0 };
        own * (8 * COLUMNS + 16 * units(precision) + 2 + 1) + sums + forces + self.sharers * shared_numbers(real) * real
    }
}

/// Returns the bytes of shared memory of a thread block for systems of up to `n` particles, a thread each (`Few` of
/// kernels/few_bodies.cu).
pub const fn shared_bytes_of_few(n: usize) -> usize {
    FEW_THREADS * n * (8 * (COLUMNS + PREDICTED) + 1)
}

/// Returns the number of numbers that a warp's lanes share (`Shared::NUMBERS`).
const fn shared_numbers(real_bytes: usize) -> usize {
    let targets = if real_bytes == 4 { 4 } else { 2 };
    targets * KEPT * (BAG / 2 + 16 / real_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_system_up_to_1024_fits_and_no_larger() {
        for precision in Precision::ALL {
            for shared in [227 << 10, 163 << 10, 99 << 10] {
                let shape = |n| SystemShape::choose(precision, n, shared);
                assert_eq!(shape(0), None);
                assert_eq!(shape(MAX_BAGS * BAG + 1), None);
                for n in 1..=MAX_BAGS * BAG {
                    let Some(shape) = shape(n) else {
                        assert!(shared < 227 << 10 && n > 448, "{} {n} {shared}", precision.name());
                        continue;
                    };
                    assert!(shape.shared_bytes(precision, n) < shared);
                    assert!(shape.threads.is_multiple_of(32) && shape.tile.is_multiple_of(4) && shape.sharers > 0);
                    // A smaller system fits in what a larger one asks for.
                    assert!(shape.shared_bytes(precision, n - 1) <= shape.shared_bytes(precision, n));
                }
            }
        }
    }
}
