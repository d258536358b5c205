//! Launch shapes that may be the fastest, which `tisane bench force --tune` measures.

use super::launch_shape::{LaunchShape, MAX_SPAN_BAGS, MAX_WARP_BAGS, in_order};
use crate::force::canonical::bags;
use crate::force::precision::Precision;

/// Returns the largest number of targets for which [`LaunchShape::Whole`] is measured. Where bags are added in order no
/// other shape divides the sources.
const fn max_for_whole(precision: Precision) -> usize {
    if in_order(precision) { 1 << 14 } else { 1 << 12 }
}
/// Smallest number of targets for which [`LaunchShape::Tiles`] is measured, where there is another shape.
const FEWEST_FOR_TILES: usize = 256;
/// Numbers of spans in a grid of [`LaunchShape::Whole`].
const SPANS: std::ops::RangeInclusive<usize> = 8..=256;
/// Smallest number of thread blocks of [`LaunchShape::Tiles`] that can keep a GPU busy.
const FEWEST_BLOCKS: usize = 100;
/// Largest number of batches for which spans shorter than the longest are measured.
const MAX_BATCHES: usize = 1;

/// Returns the shapes worth measuring for a block of `targets` among `sources`, of the kernels with these numbers of
/// targets a lane and a thread ([`crate::force::cuda::CudaEngine::compiled_targets`]).
#[must_use]
pub fn candidates(precision: Precision, choices: &[Vec<usize>; 2], sources: usize, targets: usize) -> Vec<LaunchShape> {
    let [lanes, threads] = choices;
    let mut found = Vec::new();
    if targets <= max_for_whole(precision) {
        found.extend(lanes.iter().filter(|lane| worth(32, **lane, targets)).flat_map(|lane| whole(*lane, sources)));
    }
    if targets >= FEWEST_FOR_TILES || lanes.is_empty() {
        for &thread in threads {
            found.extend(tiles(precision, thread, sources, targets));
        }
    }
    found.retain(|shape| shape.is_valid(precision));
    found
}

/// Returns true if `threads` threads with `each` targets each all have work, except for a part of their last targets.
fn worth(threads: usize, each: usize, targets: usize) -> bool {
    each == 1 || threads * (each - 1) < targets
}

fn whole(lane: usize, sources: usize) -> Vec<LaunchShape> {
    let all = bags(sources);
    let mut found = Vec::new();
    for warps in [2, 4, 8] {
        // Two warps a thread block leave most of a multiprocessor idle, unless there are bags for no more.
        if warps == 2 && all > 16 {
            continue;
        }
        for bags in (0..=MAX_WARP_BAGS.ilog2()).map(|log2| 1 << log2) {
            let spans = all.div_ceil(warps * bags);
            if spans <= *SPANS.end() && (bags == 1 || spans >= *SPANS.start()) {
                found.push(LaunchShape::Whole { targets: lane, warps, bags });
            }
        }
    }
    found
}

fn tiles(precision: Precision, thread: usize, sources: usize, targets: usize) -> Vec<LaunchShape> {
    let all = bags(sources);
    let spans: &[usize] = if in_order(precision) { &[MAX_SPAN_BAGS] } else { &[8, 16, 32, 64, 128, 256, 1024] };
    let (shortest, longest) = (spans[0], 256);
    let mut found = Vec::new();
    for threads in [32, 64, 128, 256] {
        // The smallest thread blocks are for few targets where no other shape divides the work.
        let small = in_order(precision) && targets <= 1024;
        if !worth(threads, thread, targets) || (threads == 32 && !small) || (threads > 32 && threads / 2 >= targets) {
            continue;
        }
        for &span_bags in spans {
            let shape = LaunchShape::Tiles { targets: thread, threads, span_bags };
            let blocks = targets.div_ceil(thread * threads) * all.div_ceil(span_bags);
            let batches = targets.div_ceil(shape.batch(precision, all));
            let busy = blocks >= FEWEST_BLOCKS || span_bags == shortest;
            // A span need not be longer than all sources.
            let needed = span_bags == shortest || span_bags < 2 * all;
            if busy && needed && (batches <= MAX_BATCHES || span_bags >= longest) {
                found.push(shape);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_something_to_try_everywhere_and_all_of_it_can_be_launched() {
        for precision in Precision::ALL {
            let choices = [LaunchShape::whole(precision), LaunchShape::tiles(precision)].map(<[usize]>::to_vec);
            for log2_sources in 0..24 {
                for log2_targets in 0..=log2_sources {
                    let (sources, targets) = (1 << log2_sources, 1 << log2_targets);
                    let found = candidates(precision, &choices, sources, targets);
                    let place = format!("{} {sources} {targets}", precision.name());
                    assert!(found.len() < 80, "{place}: {} shapes", found.len());
                    // Beyond what one launch can hold there may be nothing to try.
                    assert!(!found.is_empty() || sources > 1 << 20, "{place}: nothing");
                    for (k, shape) in found.iter().enumerate() {
                        assert!(shape.is_valid(precision) && !found[..k].contains(shape), "{place}: {shape:?}");
                    }
                }
            }
        }
    }
}
