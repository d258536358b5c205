//! Launch shapes of an evaluation of accelerations: they change its speed but no bit of it.

use super::launch_shape::{MAX_SPAN_BAGS, in_order};
use crate::force::canonical::bags;
use crate::force::precision::Precision;

/// Largest number of threads in a block, for which the kernels' registers are bounded.
pub const MAX_THREADS: usize = 256;
/// Number of thread blocks that keep every multiprocessor busy to the end.
const MANY_BLOCKS: usize = 2048;
/// Number of particles up to which `f32-direct` uses thread blocks of 64 threads.
const FEW_FOR_128: usize = 16384;

/// Shape of an evaluation: thread blocks take tiles of targets and spans of bags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccelerationShape {
    /// Number of targets a thread.
    pub targets: usize,
    /// Number of threads of a thread block with targets of their own, a multiple of 32; times [`Self::groups`] at most
    /// 256.
    pub threads: usize,
    /// Number of bags in a span: a power of two, or any number in the modes that add bags in order. `f32-direct` always
    /// takes all bags.
    pub span_bags: usize,
}

impl AccelerationShape {
    /// Returns the numbers of targets a thread for which there are kernels.
    #[must_use]
    pub const fn targets(precision: Precision) -> &'static [usize] {
        precision.kernels().accelerations
    }

    /// Returns the number of groups of threads in a block, each of [`Self::threads`], that share the bags of their
    /// targets (`GROUPS_OF` of kernels/acceleration.cu). Where bags are added in order, few targets a block distribute
    /// the work evenly.
    #[must_use]
    pub const fn groups(self, precision: Precision) -> usize {
        if matches!(precision, Precision::F32Chamomile) && self.targets == 4 { 4 } else { 1 }
    }

    /// Returns true if the kernels can be launched in this shape, in a mode that has kernels for its number of targets.
    #[must_use]
    pub fn is_valid(self, precision: Precision) -> bool {
        let max = MAX_THREADS / self.groups(precision);
        let threads = self.threads > 0 && self.threads.is_multiple_of(32) && self.threads <= max;
        let span = self.span_bags.is_power_of_two() && self.span_bags <= MAX_SPAN_BAGS;
        threads && self.span_bags > 0 && (span || in_order(precision))
    }

    /// Returns the shape for `n` particles on a GPU with `multiprocessors` multiprocessors. Few particles are divided
    /// among many thread blocks by their sources; many need no more blocks than their targets occupy.
    #[must_use]
    pub fn choose(precision: Precision, n: usize, multiprocessors: usize) -> Self {
        let max = *Self::targets(precision).last().unwrap_or(&1);
        let all = bags(n).max(1);
        let whole = |targets: usize, threads: usize| Self { targets, threads, span_bags: all.next_power_of_two() };
        match precision {
            // One running sum over all sources: as many threads as there are targets, few targets a thread.
            Precision::F32Direct if n <= FEW_FOR_128 => whole(1, 64),
            Precision::F32Direct => {
                let blocks = |targets: usize| n.div_ceil(targets * 128);
                let time = |targets: &&usize| running_sum(**targets, blocks(**targets), multiprocessors);
                let targets = Self::targets(precision).iter().min_by(|a, b| time(a).total_cmp(&time(b)));
                whole(targets.copied().unwrap_or(1), 128)
            }
            // Where bags are added in order each bag's sums are passed on, which costs more than it gains with many
            // bags.
            Precision::F32Chamomile if n > 1 << 15 => whole(4, 64),
            _ => {
                let (targets, threads) = match n {
                    0..=2048 => (1, 64),
                    2049..=8192 => (1, 128),
                    _ if precision == Precision::F32Chamomile => (max, 64),
                    _ => (max, 128),
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

/// Returns the relative time of `f32-direct` in `blocks` thread blocks of 128 threads. The busiest multiprocessor
/// determines it: it has a whole number of thread blocks, with 4 targets a thread of pairs of blocks, and fewer threads
/// wait longer. The numbers were fitted to an H200 at N from 20000 to 262144 (docs/reports/src/kernels.md).
fn running_sum(targets: usize, blocks: usize, multiprocessors: usize) -> f64 {
    let (together, rate, wait) = match targets {
        1 => (1, 0.95, 0.28),
        2 => (1, 0.98, 0.19),
        _ => (2, 1.0, 0.0),
    };
    let busiest = (together * blocks.div_ceil(together * multiprocessors)) as f64;
    targets as f64 * busiest / (rate - wait / busiest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_running_sum_takes_the_targets_that_were_measured_to_be_fastest() {
        let measured =
            [(16_384, 1), (20_000, 1), (32_768, 1), (50_000, 1), (65_536, 2), (100_000, 2), (131_072, 4), (150_000, 1)];
        for (n, targets) in measured.into_iter().chain([(200_000, 2), (262_144, 4)]) {
            assert_eq!(AccelerationShape::choose(Precision::F32Direct, n, 132).targets, targets, "{n}");
        }
        // The same blocks on fewer multiprocessors.
        assert_eq!(AccelerationShape::choose(Precision::F32Direct, 65_536, 66).targets, 4);
    }

    #[test]
    fn what_is_chosen_can_be_launched() {
        for precision in Precision::ALL {
            for log2 in 0..26 {
                for n in [1 << log2, (1 << log2) + 1] {
                    let shape = AccelerationShape::choose(precision, n, 132);
                    let there = AccelerationShape::targets(precision).contains(&shape.targets);
                    assert!(there && shape.is_valid(precision), "{} {n}: {shape:?}", precision.name());
                    // The grid's second side has 65535 rows.
                    assert!(bags(n).div_ceil(shape.span_bags) < 1 << 16, "{} {n}: {shape:?}", precision.name());
                }
            }
        }
    }
}
