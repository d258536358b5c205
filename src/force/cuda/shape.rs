//! How an evaluation is spread over the device: a matter of speed alone, no shape changes a bit.

use crate::force::canonical::BAG;
use crate::force::precision::Precision;

/// Most bags in a span of a tree mode: what the kernel's stack has room for.
pub const MAX_SPAN_BAGS: usize = 1 << 11;
/// Bags that a block of `force_tiles` reads into shared memory at a time.
const TILE_BAGS: usize = 4;

/// The shape of a force evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
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

/// Units of 16 bytes that a predicted source takes (`UNITS` of kernels/call.cuh).
#[must_use]
pub const fn units(precision: Precision) -> usize {
    match precision {
        Precision::F32Direct | Precision::F32Chamomile | Precision::F32Kahan => 2,
        Precision::Mixed | Precision::DoubleFloat => 3,
        Precision::F64Fast | Precision::F64 => 4,
    }
}

/// Bytes of a partial sum over bags.
#[must_use]
pub const fn node_bytes(precision: Precision) -> usize {
    match precision {
        Precision::F32Direct | Precision::F32Chamomile => 4,
        _ => 8,
    }
}

/// Bytes of shared memory for a warp of [`Shape::Whole`] (`ROOM` of kernels/force_whole.cu).
#[must_use]
pub fn room(precision: Precision, targets: usize) -> usize {
    let nodes = (32 * targets * 7 * node_bytes(precision)).next_multiple_of(16);
    nodes.max(BAG * 16 * units(precision))
}

impl Shape {
    /// Numbers of targets a lane that there are kernels for.
    #[must_use]
    pub const fn whole(precision: Precision) -> &'static [usize] {
        match precision {
            Precision::F32Direct => &[],
            _ => &[1, 2],
        }
    }

    /// Numbers of targets a thread that there are kernels for: for blocks of some thousand, and for larger ones.
    #[must_use]
    pub const fn tiles(precision: Precision) -> &'static [usize] {
        match precision {
            Precision::F64Fast | Precision::F64 => &[1],
            Precision::F32Direct | Precision::F32Chamomile => &[1, 2],
            Precision::F32Kahan | Precision::Mixed | Precision::DoubleFloat => &[2, 3],
        }
    }

    /// The shape for a block of `targets` among `bags` bags, on so many multiprocessors. Measured on one H200
    /// (tests/cuda_shapes.rs).
    #[must_use]
    pub fn choose(precision: Precision, targets: usize, bags: usize, multiprocessors: usize) -> Self {
        let in_order = matches!(precision, Precision::F32Direct | Precision::F32Chamomile);
        let tiles_from = match precision {
            Precision::F32Direct => 0,
            // One thread adds up all bags of a target: there must be many.
            Precision::F32Chamomile => 80 * multiprocessors,
            _ if bags < 512 => 32 * multiprocessors,
            _ => 12 * multiprocessors,
        };
        if targets < tiles_from {
            let work = targets.div_ceil(32) * bags;
            let per_lane = if work > 32 * multiprocessors { 2 } else { 1 };
            let warps = if work >= 7 * multiprocessors { 8 } else { 4 };
            // Not so many spans that adding them up takes longer.
            let least = bags.div_ceil(256 * warps).next_power_of_two();
            let bags_of_warp = (work / (16 * multiprocessors)).clamp(1, 4).next_power_of_two().max(least).min(128);
            return Self::Whole { targets: per_lane, warps, bags: bags_of_warp };
        }
        let many = targets >= 512 * multiprocessors;
        let choices = Self::tiles(precision);
        let per_thread = choices[if many { choices.len() - 1 } else { 0 }];
        if in_order {
            return Self::Tiles {
                targets: per_thread,
                threads: if many { 256 } else { 128 },
                span_bags: MAX_SPAN_BAGS,
            };
        }
        // Enough spans for several rounds of thread blocks on every multiprocessor, so that the last is a small part.
        let tiles = targets.div_ceil(per_thread * 128);
        let mut span_bags = MAX_SPAN_BAGS / 8;
        while span_bags > 4 * TILE_BAGS && tiles * bags.div_ceil(span_bags) < 12 * multiprocessors {
            span_bags /= 2;
        }
        Self::Tiles { targets: per_thread, threads: 128, span_bags }
    }

    /// Bags in a span, and spans.
    #[must_use]
    pub fn spans(self, precision: Precision, bags: usize) -> (usize, usize) {
        let in_order = matches!(precision, Precision::F32Direct | Precision::F32Chamomile);
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
