//! The launch shapes that may be the fastest: what `tisane bench force --tune` tries.

use super::launch_shape::{LaunchShape, MAX_SPAN_BAGS, MAX_WARP_BAGS, in_order};
use crate::force::canonical::bags;
use crate::force::precision::Precision;

/// Most targets for which [`LaunchShape::Whole`] is tried. Where bags are added in order there is nothing else to share out.
const fn most_for_whole(precision: Precision) -> usize {
    if in_order(precision) { 1 << 14 } else { 1 << 12 }
}
/// Fewest targets for which [`LaunchShape::Tiles`] is tried, where there is something else.
const FEWEST_FOR_TILES: usize = 256;
/// Spans in a grid of [`LaunchShape::Whole`].
const SPANS: std::ops::RangeInclusive<usize> = 8..=256;
/// Fewest thread blocks of [`LaunchShape::Tiles`] that can keep a GPU busy.
const FEWEST_BLOCKS: usize = 100;
/// Most batches, where shorter spans than the longest are tried.
const MOST_BATCHES: usize = 1;

/// TuningTable worth trying for a block of `targets` among `sources`, of kernels that take these numbers of targets a lane and a
/// thread ([`super::CudaEngine::compiled_targets`]).
#[must_use]
pub fn candidates(precision: Precision, choices: &[Vec<usize>; 2], sources: usize, targets: usize) -> Vec<LaunchShape> {
    let [lanes, threads] = choices;
    let mut found = Vec::new();
    if targets <= most_for_whole(precision) {
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

/// Whether a row of threads with so many targets each has work for all but a part of one target of each.
fn worth(threads: usize, each: usize, targets: usize) -> bool {
    each == 1 || threads * (each - 1) < targets
}

fn whole(lane: usize, sources: usize) -> Vec<LaunchShape> {
    let all = bags(sources);
    let mut found = Vec::new();
    for warps in [2, 4, 8] {
        // Two warps a thread block leave much of a multiprocessor idle, unless there are bags for no more.
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
        // The smallest thread blocks are for small blocks of targets where nothing else shares out the work.
        let small = in_order(precision) && targets <= 1024;
        if !worth(threads, thread, targets) || (threads == 32 && !small) || (threads > 32 && threads / 2 >= targets) {
            continue;
        }
        for &span_bags in spans {
            let shape = LaunchShape::Tiles { targets: thread, threads, span_bags };
            let blocks = targets.div_ceil(thread * threads) * all.div_ceil(span_bags);
            let batches = targets.div_ceil(shape.batch(precision, all));
            let busy = blocks >= FEWEST_BLOCKS || span_bags == shortest;
            // As long as all sources, a span need not be longer.
            let needed = span_bags == shortest || span_bags < 2 * all;
            if busy && needed && (batches <= MOST_BATCHES || span_bags >= longest) {
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
