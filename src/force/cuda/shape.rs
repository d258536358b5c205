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
        /// Bags in a span, a power of two; a mode that adds bags in order takes all.
        span_bags: usize,
    },
}

impl Shape {
    /// Numbers of targets a lane that there are kernels for.
    #[must_use]
    pub const fn lanes(precision: Precision) -> &'static [usize] {
        match precision {
            Precision::F32Direct => &[],
            Precision::F32Kahan | Precision::DoubleFloat => &[1, 2],
            Precision::Mixed => &[2],
            Precision::F32Chamomile | Precision::F64Fast | Precision::F64 => &[2, 4],
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
            _ => 32 * multiprocessors,
        };
        if targets < tiles_from {
            // With warps enough to keep every scheduler busy for several rounds, a lane takes more targets.
            let warps = bags.div_ceil(GROUP) * targets;
            let choices = Self::lanes(precision);
            let per_lane = choices[if warps > 48 * multiprocessors { choices.len() - 1 } else { 0 }];
            return Self::Lanes { targets: per_lane, warps: targets.div_ceil(per_lane).clamp(1, 4) };
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
        while span_bags > TILE_BAGS && tiles * bags.div_ceil(span_bags) < 12 * multiprocessors {
            span_bags /= 2;
        }
        Self::Tiles { targets: per_thread, threads: 128, span_bags }
    }

    /// Bags in a span, and spans.
    #[must_use]
    pub fn spans(self, precision: Precision, bags: usize) -> (usize, usize) {
        match self {
            // Groups are whole, so that the bags of the last one are there, empty or not.
            Self::Lanes { .. } if precision == Precision::F32Chamomile => (1, bags.next_multiple_of(GROUP)),
            Self::Lanes { .. } => (GROUP, bags.div_ceil(GROUP)),
            // Spans of a mode that adds bags in order are all bags.
            Self::Tiles { .. } if matches!(precision, Precision::F32Direct | Precision::F32Chamomile) => (bags, 1),
            Self::Tiles { span_bags, .. } => (span_bags, bags.div_ceil(span_bags)),
        }
    }
}
