//! How an evaluation is spread over the device: a matter of speed alone, no shape changes a bit.

use super::PARTIAL_BYTES;
use super::staging::FORCE;
use crate::force::canonical::BAG;
use crate::force::mode::Arithmetic;
use crate::force::precision::Precision;

/// Most bags in a span of [`LaunchShape::Tiles`]: what the kernel's stack has room for.
pub const MAX_SPAN_BAGS: usize = 1 << 11;
/// Most bags of a warp of [`LaunchShape::Whole`], for the same reason.
pub const MAX_WARP_BAGS: usize = 1 << 7;
/// Most warps in a thread block: the kernels' registers are bounded for so many.
pub const MAX_WARPS: usize = 8;
/// Most bytes of shared memory that a thread block has without asking for more.
const MAX_SHARED_BYTES: usize = 48 << 10;

/// The shape of a force evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchShape {
    /// For small blocks: one kernel, in which each warp takes bags of its own for 32 × `targets` targets.
    Whole {
        /// Targets a lane.
        targets: usize,
        /// Warps in a thread block, a power of two, at most 8.
        warps: usize,
        /// Bags of a warp, a power of two, at most 128.
        bags: usize,
    },
    /// For large blocks: each thread takes `targets` targets and walks a span of bags in shared memory.
    Tiles {
        /// Targets a thread.
        targets: usize,
        /// Threads in a thread block.
        threads: usize,
        /// Bags in a span, a power of two; a mode that adds bags in order takes all.
        span_bags: usize,
    },
}

/// Kernels that are compiled for a mode, by their numbers of targets, and its speed.
#[derive(Clone, Copy, Debug)]
pub struct Compiled {
    /// Targets a lane of [`LaunchShape::Whole`]: `TISANE_EACH_WHOLE` of kernels/precision.cuh.
    pub whole: &'static [usize],
    /// Targets a thread of [`LaunchShape::Tiles`]: `TISANE_EACH_TILES`.
    pub tiles: &'static [usize],
    /// Targets a thread of [`super::AccelerationShape`]: `TISANE_EACH_ACCELERATION`.
    pub accelerations: &'static [usize],
    /// Pairs a second, roughly: for guesses of how long tuning takes.
    pub pairs_per_second: f64,
    /// Whether the mode is taken for runs of a million particles, so that it is tuned for them.
    pub for_many: bool,
}

/// Returns the kernels of a mode: the table to extend for a new one.
#[must_use]
pub const fn compiled(precision: Precision) -> Compiled {
    let (whole, tiles, accelerations, pairs_per_second, for_many): (&[_], &[_], &[_], _, _) = match precision {
        Precision::F32Direct => (&[], &[1, 2], &[1, 2, 4], 8e11, false),
        Precision::F32Chamomile => (&[1, 2], &[1, 2], &[1, 2, 4], 8e11, false),
        Precision::F32Kahan => (&[1, 2], &[2, 3], &[1, 4], 5e11, false),
        Precision::Mixed => (&[1, 2], &[2, 3], &[1, 4], 5e11, true),
        Precision::DoubleFloat => (&[1, 2], &[2, 3], &[1, 4], 3e11, false),
        Precision::F64Fast => (&[1, 2], &[1], &[1, 2], 3e11, true),
        Precision::F64 => (&[1, 2], &[1], &[1, 2], 3e11, true),
    };
    Compiled { whole, tiles, accelerations, pairs_per_second, for_many }
}

/// Units of 16 bytes that a predicted source takes (`UNITS` of kernels/pair.cuh).
#[must_use]
pub const fn units(precision: Precision) -> usize {
    match precision.arithmetic() {
        Arithmetic { real_bytes: 8, .. } => 4,
        Arithmetic { split: true, .. } => 3,
        _ => 2,
    }
}

/// Bytes of a partial sum over bags.
#[must_use]
pub const fn node_bytes(precision: Precision) -> usize {
    precision.arithmetic().node_bytes
}

/// Whether the mode adds up bags in order, not by the tree.
#[must_use]
pub const fn in_order(precision: Precision) -> bool {
    precision.arithmetic().in_order()
}

/// Bytes of shared memory for a warp of [`LaunchShape::Whole`] (`ROOM` of kernels/force_whole.cu).
#[must_use]
pub fn shared_bytes(precision: Precision, targets: usize) -> usize {
    let nodes = (32 * targets * FORCE * node_bytes(precision)).next_multiple_of(16);
    nodes.max(BAG * 16 * units(precision))
}

impl LaunchShape {
    /// Numbers of targets a lane that there are kernels for.
    #[must_use]
    pub const fn whole(precision: Precision) -> &'static [usize] {
        compiled(precision).whole
    }

    /// Numbers of targets a thread that there are kernels for.
    #[must_use]
    pub const fn tiles(precision: Precision) -> &'static [usize] {
        compiled(precision).tiles
    }

    /// Whether the kernels can be launched in this shape, in a mode in which there are some for its number of targets.
    #[must_use]
    pub fn is_valid(self, precision: Precision) -> bool {
        match self {
            Self::Whole { targets, warps, bags } => {
                let powers = warps.is_power_of_two() && bags.is_power_of_two();
                let shared = warps.saturating_mul(shared_bytes(precision, targets));
                powers && warps <= MAX_WARPS && bags <= MAX_WARP_BAGS && shared <= MAX_SHARED_BYTES
            }
            Self::Tiles { threads, span_bags, .. } => {
                let threads_fit = threads > 0 && threads.is_multiple_of(32) && threads <= 32 * MAX_WARPS;
                threads_fit && span_bags.is_power_of_two() && span_bags <= MAX_SPAN_BAGS
            }
        }
    }

    /// The same for `times` as many sources: longer spans, so that there are no more of them, as far as kernels go.
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

    /// Targets whose partial sums there is room for: larger blocks go in batches.
    #[must_use]
    pub fn batch(self, precision: Precision, bags: usize) -> usize {
        let (_, spans) = self.spans(precision, bags);
        (PARTIAL_BYTES / (spans * FORCE * node_bytes(precision))).max(1)
    }

    /// Bags in a span, and spans.
    #[must_use]
    pub fn spans(self, precision: Precision, bags: usize) -> (usize, usize) {
        let in_order = in_order(precision);
        match self {
            // Every bag's sum is handed on.
            Self::Whole { warps, bags: own, .. } if in_order => (warps * own, bags),
            Self::Whole { warps, bags: own, .. } => (warps * own, bags.div_ceil(warps * own)),
            // Spans of a mode that adds bags in order are all bags.
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
    fn more_sources_make_longer_spans_up_to_what_the_kernels_hold() {
        let whole = |bags| LaunchShape::Whole { targets: 1, warps: 8, bags };
        let tiles = |span_bags| LaunchShape::Tiles { targets: 1, threads: 128, span_bags };
        for (times, longer) in [(0, 2), (1, 2), (2, 4), (7, 8), (64, 128), (1 << 40, 128)] {
            assert_eq!(whole(2).with_more_sources(times), whole(longer));
        }
        assert_eq!((tiles(16).with_more_sources(4), tiles(64).with_more_sources(100)), (tiles(64), tiles(2048)));
    }
}
