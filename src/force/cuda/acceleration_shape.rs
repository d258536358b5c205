//! How an evaluation of accelerations is spread over the device: a matter of speed alone, no shape changes a bit.

use super::shape::{MAX_SPAN_BAGS, in_order};
use crate::force::canonical::bags;
use crate::force::precision::Precision;

/// Most threads in a block: the kernels' registers are bounded for so many.
pub const MAX_THREADS: usize = 256;
/// Thread blocks that keep every multiprocessor busy to the end.
const MANY_BLOCKS: usize = 2048;

/// The shape of an evaluation: thread blocks take tiles of targets and spans of bags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccelerationShape {
    /// Targets a thread.
    pub targets: usize,
    /// Threads with targets of their own in a thread block, a multiple of 32: times [`Self::groups`] at most 256.
    pub threads: usize,
    /// Bags in a span: a power of two, in the modes that add bags in order any number, where `f32-direct` takes all in any case.
    pub span_bags: usize,
}

impl AccelerationShape {
    /// Numbers of targets a thread that there are kernels for.
    #[must_use]
    pub const fn targets(precision: Precision) -> &'static [usize] {
        match precision {
            Precision::F32Direct | Precision::F32Chamomile => &[1, 2, 4],
            Precision::F32Kahan | Precision::Mixed | Precision::DoubleFloat => &[1, 4],
            Precision::F64Fast | Precision::F64 => &[1, 2],
        }
    }

    /// Groups of threads in a block, each of [`Self::threads`], that share the bags of their targets (`GROUPS_OF` of
    /// kernels/acceleration.cu): where bags are added in order, few targets a block spread the work evenly.
    #[must_use]
    pub const fn groups(self, precision: Precision) -> usize {
        if matches!(precision, Precision::F32Chamomile) && self.targets == 4 { 4 } else { 1 }
    }

    /// Whether the kernels can be launched in this shape, in a mode in which there are some for its number of targets.
    #[must_use]
    pub fn fits(self, precision: Precision) -> bool {
        let most = MAX_THREADS / self.groups(precision);
        let threads = self.threads > 0 && self.threads.is_multiple_of(32) && self.threads <= most;
        let span = self.span_bags.is_power_of_two() && self.span_bags <= MAX_SPAN_BAGS;
        threads && self.span_bags > 0 && (span || in_order(precision))
    }

    /// The shape for `n` particles. Few particles are split among many thread blocks by their sources; many need no more than
    /// their targets do.
    #[must_use]
    pub fn choose(precision: Precision, n: usize) -> Self {
        let most = *Self::targets(precision).last().unwrap_or(&1);
        let all = bags(n).max(1);
        let whole = |targets: usize, threads: usize| Self { targets, threads, span_bags: all.next_power_of_two() };
        match precision {
            // One running sum over all sources: as many threads as there are targets for, few targets a thread.
            Precision::F32Direct => match n {
                0..=16384 => whole(1, 64),
                16385..=32768 => whole(1, 128),
                32769..=65536 => whole(2, 128),
                _ => whole(4, 128),
            },
            // Where bags are added in order each bag's sums are handed on, which costs more than it wins where there are many.
            Precision::F32Chamomile if n > 1 << 15 => whole(4, 64),
            _ => {
                let (targets, threads) = match n {
                    0..=2048 => (1, 64),
                    2049..=8192 => (1, 128),
                    _ if precision == Precision::F32Chamomile => (most, 64),
                    _ => (most, 128),
                };
                let tiles = n.div_ceil(targets * threads);
                let mut span_bags = MAX_SPAN_BAGS;
                while span_bags > 1 && tiles * all.div_ceil(span_bags) < MANY_BLOCKS {
                    span_bags /= 2;
                }
                Self { targets, threads, span_bags }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_chosen_can_be_launched() {
        for precision in Precision::ALL {
            for log2 in 0..26 {
                for n in [1 << log2, (1 << log2) + 1] {
                    let shape = AccelerationShape::choose(precision, n);
                    let there = AccelerationShape::targets(precision).contains(&shape.targets);
                    assert!(there && shape.fits(precision), "{} {n}: {shape:?}", precision.name());
                    // The grid's second side has 65535 rows.
                    assert!(bags(n).div_ceil(shape.span_bags) < 1 << 16, "{} {n}: {shape:?}", precision.name());
                }
            }
        }
    }
}
