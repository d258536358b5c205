//! Launch shapes of an evaluation of forces: they change its speed but no bit of it.

use super::layout::{FORCE, PARTIAL_BYTES};
use crate::force::canonical::{BAG, bags};
use crate::force::mode::Arithmetic;
use crate::force::precision::Precision;

/// Largest number of bags in a span of [`LaunchShape::Tiles`], which fits the kernel's stack.
pub const MAX_SPAN_BAGS: usize = 1 << 11;
/// Largest number of bags of a warp of [`LaunchShape::Whole`], for the same reason.
pub const MAX_WARP_BAGS: usize = 1 << 7;
/// Largest number of warps in a thread block, for which the kernels' registers are bounded.
pub const MAX_WARPS: usize = 8;
/// Bytes of shared memory that a launch may ask for: what a thread block has without a special request, less some for the
/// kernel's own variables.
pub const MAX_SHARED_BYTES: usize = (48 << 10) - 64;

/// Constants of [`LaunchShape::of_predicted`], the quickest on an H200: the block above which it gives a shape, and the
/// number of thread blocks for each multiprocessor, both for one target a thread; the block from which on threads have
/// most targets; the largest number of spans, whose sums have to be added up, and the smallest number of bags in a span.
const FEW_TARGETS: usize = 16;
const MANY_TARGETS: usize = 12_288;
const BLOCKS: usize = 45;
const MAX_SPANS: usize = 512;
const MIN_SPAN_BAGS: usize = 2;

/// Shape of a force evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchShape {
    /// Shape for small blocks: one kernel, in which each warp takes bags of its own for 32 × `targets` targets.
    Whole {
        /// Number of targets a lane.
        targets: usize,
        /// Number of warps in a thread block, a power of two, at most 8.
        warps: usize,
        /// Number of bags of a warp, a power of two, at most 128.
        bags: usize,
    },
    /// Shape for large blocks: each thread takes `targets` targets and loops over a span of bags in shared memory.
    Tiles {
        /// Number of targets a thread.
        targets: usize,
        /// Number of threads in a thread block.
        threads: usize,
        /// Number of bags in a span, a power of two; a mode that adds bags in order takes all.
        span_bags: usize,
    },
}

/// Returns the number of units of 16 bytes of a predicted source (`UNITS` of kernels/pair.cuh).
#[must_use]
pub const fn units(precision: Precision) -> usize {
    match precision.arithmetic() {
        Arithmetic { real_bytes: 8, .. } => 4,
        Arithmetic { split: true, .. } => 3,
        _ => 2,
    }
}

/// Returns the number of units of 16 bytes of a predicted source of which a law reads this number of columns.
#[must_use]
pub const fn units_with(precision: Precision, columns: usize) -> usize {
    units(precision) + (columns * precision.arithmetic().real_bytes).div_ceil(16)
}

/// Returns the size of a partial sum over bags in bytes.
#[must_use]
pub const fn node_bytes(precision: Precision) -> usize {
    precision.arithmetic().node_bytes
}

/// Returns true if the mode adds bags in order and not by the tree.
#[must_use]
pub const fn in_order(precision: Precision) -> bool {
    precision.arithmetic().in_order()
}

/// Returns the bytes of shared memory for a warp of [`LaunchShape::Whole`] (`ROOM` of kernels/force_whole.cu), with a law
/// that reads this number of columns.
#[must_use]
pub fn shared_bytes(precision: Precision, columns: usize, targets: usize) -> usize {
    let nodes = (32 * targets * FORCE * node_bytes(precision)).next_multiple_of(16);
    nodes.max(BAG * 16 * units_with(precision, columns))
}

impl LaunchShape {
    /// Returns the numbers of targets a lane for which there are kernels.
    #[must_use]
    pub const fn whole(precision: Precision) -> &'static [usize] {
        precision.kernels().whole
    }

    /// Returns the numbers of targets a thread for which there are kernels.
    #[must_use]
    pub const fn tiles(precision: Precision) -> &'static [usize] {
        precision.kernels().tiles
    }

    /// Returns true if the kernels can be launched in this shape, in a mode that has kernels for its number of targets.
    #[must_use]
    pub fn is_valid(self, precision: Precision) -> bool {
        match self {
            Self::Whole { targets, warps, bags } => {
                let powers = warps.is_power_of_two() && bags.is_power_of_two();
                let shared = warps.saturating_mul(shared_bytes(precision, 0, targets));
                powers && warps <= MAX_WARPS && bags <= MAX_WARP_BAGS && shared <= MAX_SHARED_BYTES
            }
            Self::Tiles { threads, span_bags, .. } => {
                let threads_fit = threads > 0 && threads.is_multiple_of(32) && threads <= 32 * MAX_WARPS;
                threads_fit && span_bags.is_power_of_two() && span_bags <= MAX_SPAN_BAGS
            }
        }
    }

    /// Returns the shape for `times` as many sources: with longer spans, within the limits of the kernels, so that
    /// their number stays the same.
    #[must_use]
    pub fn with_more_sources(self, times: usize) -> Self {
        let times = 1 << times.max(1).ilog2();
        match self {
            Self::Whole { targets, warps, bags } => {
                Self::Whole { targets, warps, bags: bags.saturating_mul(times).min(MAX_WARP_BAGS) }
            }
            Self::Tiles { targets, threads, span_bags } => {
                Self::Tiles { targets, threads, span_bags: span_bags.saturating_mul(times).min(MAX_SPAN_BAGS) }
            }
        }
    }

    /// Returns the shape for a block of `targets` among sources that are predicted already, on a device with this number
    /// of multiprocessors; [`None`] where a shape that predicts them itself may be quicker: for some targets, and in modes
    /// that add bags in order.
    #[must_use]
    pub fn of_predicted(precision: Precision, sources: usize, targets: usize, multiprocessors: usize) -> Option<Self> {
        let choices = Self::tiles(precision);
        let shape = Self::tiled(choices, sources, targets, multiprocessors);
        let Self::Tiles { targets: of_thread, .. } = shape else { return None };
        (!in_order(precision) && targets > FEW_TARGETS * of_thread).then_some(shape)
    }

    /// Returns the shape of [`Self::Tiles`] for a block of `targets`, with one of these numbers of targets a thread, in
    /// ascending order.
    #[must_use]
    pub fn tiled(choices: &[usize], sources: usize, targets: usize, multiprocessors: usize) -> Self {
        let of_thread = if targets < MANY_TARGETS { choices.first() } else { choices.last() };
        let of_thread = of_thread.copied().unwrap_or(1);
        let threads = targets.div_ceil(of_thread).next_power_of_two().clamp(32, 128);
        let tiles = targets.div_ceil(of_thread * threads);
        let blocks = multiprocessors * BLOCKS / of_thread;
        let spans = blocks.div_ceil(tiles).next_power_of_two().min(MAX_SPANS);
        let span_bags = (bags(sources).next_power_of_two() / spans).clamp(MIN_SPAN_BAGS, MAX_SPAN_BAGS);
        Self::Tiles { targets: of_thread, threads, span_bags }
    }

    /// Returns the number of targets whose partial sums fit the memory for them; larger blocks are evaluated in
    /// batches.
    #[must_use]
    pub fn batch(self, precision: Precision, bags: usize) -> usize {
        let (_, spans) = self.spans(precision, bags);
        (PARTIAL_BYTES / (spans * FORCE * node_bytes(precision))).max(1)
    }

    /// Returns the number of bags in a span, and of spans.
    #[must_use]
    pub fn spans(self, precision: Precision, bags: usize) -> (usize, usize) {
        let in_order = in_order(precision);
        match self {
            // Every bag's sum is passed on.
            Self::Whole { warps, bags: own, .. } if in_order => (warps * own, bags),
            Self::Whole { warps, bags: own, .. } => (warps * own, bags.div_ceil(warps * own)),
            // In a mode that adds bags in order one span has all bags.
            Self::Tiles { .. } if in_order => (bags, 1),
            Self::Tiles { span_bags, .. } => (span_bags, bags.div_ceil(span_bags)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_that_the_kernels_cannot_take_does_not_fit() {
        let whole = |targets, warps, bags| LaunchShape::Whole { targets, warps, bags };
        let tiles = |threads, span_bags| LaunchShape::Tiles { targets: 1, threads, span_bags };
        for precision in Precision::ALL {
            for good in [whole(1, 1, 1), whole(2, 8, 128), tiles(32, 1), tiles(256, 2048), tiles(96, 4)] {
                assert!(good.is_valid(precision), "{} {good:?}", precision.name());
            }
            for bad in [
                whole(1, 3, 1),
                whole(1, 16, 1),
                whole(1, 8, 3),
                whole(1, 8, 256),
                whole(1, 0, 1),
                tiles(0, 8),
                tiles(100, 8),
                tiles(512, 8),
                tiles(128, 0),
                tiles(128, 12),
                tiles(128, 4096),
            ] {
                assert!(!bad.is_valid(precision), "{} {bad:?}", precision.name());
            }
        }
        // 4 targets a lane: 8 warps have 56 KiB of nodes of 8 bytes, 28 KiB of nodes of 4.
        assert!(!whole(4, 8, 1).is_valid(Precision::Mixed) && whole(4, 4, 1).is_valid(Precision::Mixed));
        assert!(whole(4, 8, 1).is_valid(Precision::F32Chamomile));
    }

    #[test]
    fn shapes_of_predicted_sources_can_be_launched() {
        for precision in Precision::ALL {
            for n in [1, 100, 1000, 65_536, 100_000, 131_072, 1 << 20, 10_000_000] {
                for targets in [1, 33, 100, 1000, 4000, 100_000, n].into_iter().filter(|targets| *targets <= n) {
                    for multiprocessors in [1, 20, 108, 132] {
                        let Some(shape) = LaunchShape::of_predicted(precision, n, targets, multiprocessors) else {
                            assert!(in_order(precision) || targets < 64);
                            continue;
                        };
                        assert!(shape.is_valid(precision) && shape.batch(precision, bags(n)) >= 1000, "{shape:?}");
                        let LaunchShape::Tiles { targets, .. } = shape else { panic!("{shape:?}") };
                        assert!(LaunchShape::tiles(precision).contains(&targets));
                    }
                }
            }
        }
        let shape = |n, targets| LaunchShape::of_predicted(Precision::Mixed, n, targets, 132);
        let tiles = |targets, threads, span_bags| Some(LaunchShape::Tiles { targets, threads, span_bags });
        assert_eq!([shape(131_072, 40), shape(131_072, 4096)], [tiles(2, 32, 4), tiles(2, 128, 8)]);
        assert_eq!([shape(65_536, 32), shape(65_536, 65_536)], [None, tiles(3, 128, 64)]);
    }

    #[test]
    fn more_sources_make_longer_spans_up_to_what_the_kernels_hold() {
        let whole = |bags| LaunchShape::Whole { targets: 1, warps: 8, bags };
        let tiles = |span_bags| LaunchShape::Tiles { targets: 1, threads: 128, span_bags };
        for (times, longer) in [(0, 2), (1, 2), (2, 4), (7, 8), (64, 128), (1 << 40, 128)] {
            assert_eq!(whole(2).with_more_sources(times), whole(longer));
        }
        assert_eq!((tiles(16).with_more_sources(4), tiles(64).with_more_sources(100)), (tiles(64), tiles(2048)));
    }
}
