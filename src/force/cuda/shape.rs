//! How an evaluation is spread over the device: a matter of speed alone, no shape changes a bit.

use crate::force::precision::Precision;

/// Bags in a group: the lanes of a warp.
pub const GROUP: usize = 32;
/// Most bags in a span of a tree mode: what the kernel's stack has room for.
pub const MAX_SPAN_BAGS: usize = 1 << 11;
/// Bags that a block reads into shared memory at a time.
const TILE_BAGS: usize = 4;

/// The shape of a force evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// For small blocks: each lane of a warp takes one bag for `targets` targets; `warps` warps in a thread block.
    Lanes {
        /// Targets a lane.
        targets: usize,
        /// Warps in a thread block.
        warps: usize,
    },
    /// For large blocks: each thread takes `targets` targets and walks a span of bags in shared memory.
    Tiles {
        /// Targets a thread.
        targets: usize,
        /// Threads in a thread block.
        threads: usize,
        /// Bags in a span: a power of two; all bags in a mode that adds bags in order.
        span_bags: usize,
    },
}

impl Shape {
    /// The shape for a block of `targets` among `bags` bags, on so many multiprocessors.
    #[must_use]
    pub fn choose(precision: Precision, targets: usize, bags: usize, multiprocessors: usize) -> Self {
        // Warps that keep every scheduler of the device busy.
        let busy = 16 * multiprocessors;
        let in_order = matches!(precision, Precision::F32Direct | Precision::F32Chamomile);
        if precision != Precision::F32Direct && targets < tiles_from(precision) {
            let warps = bags.div_ceil(GROUP) * targets;
            let per_lane = if warps <= busy {
                1
            } else if warps <= 2 * busy {
                2
            } else {
                4
            };
            return Self::Lanes { targets: per_lane, warps: targets.div_ceil(per_lane).clamp(1, 4) };
        }
        let threads = 128;
        let most = per_thread(precision);
        let per_thread = (1..=most).rev().find(|t| targets >= t * 32 * 4 * multiprocessors).unwrap_or(1);
        if in_order {
            let threads = if targets < threads * multiprocessors { 32 } else { threads };
            return Self::Tiles { targets: per_thread, threads, span_bags: bags.next_power_of_two() };
        }
        // Enough spans for several rounds of thread blocks on every multiprocessor, so that the last is a small part.
        let (per_thread, tiles) = (most, targets.div_ceil(most * threads));
        let mut span_bags = bags.next_power_of_two().clamp(TILE_BAGS, MAX_SPAN_BAGS / 2);
        while span_bags > TILE_BAGS && tiles * bags.div_ceil(span_bags) < 32 * multiprocessors {
            span_bags /= 2;
        }
        Self::Tiles { targets: per_thread, threads, span_bags }
    }

    /// Bags in a span, and spans.
    #[must_use]
    pub fn spans(self, precision: Precision, bags: usize) -> (usize, usize) {
        match self {
            // Groups are whole, so that the bags of the last one are there, empty or not.
            Self::Lanes { .. } if precision == Precision::F32Chamomile => (1, bags.next_multiple_of(GROUP)),
            Self::Lanes { .. } => (GROUP, bags.div_ceil(GROUP)),
            Self::Tiles { span_bags, .. } => (span_bags, bags.div_ceil(span_bags)),
        }
    }
}

/// Targets from which on tiles win.
const fn tiles_from(precision: Precision) -> usize {
    match precision {
        // One thread adds up all bags of a target: there must be many.
        Precision::F32Chamomile => 32768,
        _ => 2048,
    }
}

/// The best number of targets a thread, for large blocks.
const fn per_thread(precision: Precision) -> usize {
    match precision {
        Precision::F32Direct | Precision::F32Chamomile => 4,
        Precision::F32Kahan | Precision::Mixed => 3,
        Precision::DoubleFloat | Precision::F64 => 2,
    }
}
