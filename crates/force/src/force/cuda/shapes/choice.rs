//! Choice of a launch shape.

use super::launch_shape::{LaunchShape, MAX_SHARED_BYTES, MAX_WARP_BAGS, shared_bytes};
use super::tuning_table::TuningTable;
use crate::force::precision::Precision;

/// Returns the shape for a block of `targets` among `sources` that are predicted already: the `fixed` one, that of
/// [`LaunchShape::of_predicted`], or that of `shapes`.
#[must_use]
pub fn choose(
    fixed: Option<LaunchShape>,
    precision: Precision,
    (sources, targets): (usize, usize),
    multiprocessors: usize,
    shapes: &Shapes,
) -> LaunchShape {
    let shape = fixed.or_else(|| LaunchShape::of_predicted(precision, sources, targets, multiprocessors));
    shape.unwrap_or_else(|| shapes.choose(sources, targets))
}

/// Shapes of the kernels of an engine.
pub enum Shapes {
    /// Those that were measured.
    Measured(TuningTable),
    /// Those of a law, with which nothing was measured: Newton's for blocks so small that they are of
    /// [`LaunchShape::Whole`], and else [`LaunchShape::tiled`].
    OfLaw {
        /// Newton's.
        newton: TuningTable,
        /// Precision mode.
        precision: Precision,
        /// Number of columns that the law reads.
        columns: usize,
        /// Numbers of targets a lane and a thread.
        choices: [&'static [usize]; 2],
        /// Number of multiprocessors of the device.
        multiprocessors: usize,
    },
}

impl Shapes {
    /// Returns the shape for a block of `targets` among `sources`.
    #[must_use]
    pub fn choose(&self, sources: usize, targets: usize) -> LaunchShape {
        match self {
            Self::Measured(table) => table.choose(sources, targets),
            Self::OfLaw { newton, precision, columns, choices: [whole, tiles], multiprocessors } => {
                match newton.choose(sources, targets) {
                    LaunchShape::Whole { targets: of_lane, mut warps, mut bags } if !whole.is_empty() => {
                        let targets = if whole.contains(&of_lane) { of_lane } else { whole[0] };
                        // The columns stand beside the sources in shared memory.
                        while warps * shared_bytes(*precision, *columns, targets) > MAX_SHARED_BYTES {
                            (warps, bags) = (warps / 2, (2 * bags).min(MAX_WARP_BAGS));
                        }
                        LaunchShape::Whole { targets, warps, bags }
                    }
                    _ => LaunchShape::tiled(tiles, sources, targets, *multiprocessors),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::cuda::shapes::layout::MAX_COLUMNS;

    #[test]
    fn shapes_of_laws_have_kernels_and_fit_the_shared_memory() {
        let mut fewer = 0;
        for precision in Precision::ALL {
            let choices = [LaunchShape::whole(precision), LaunchShape::tiles(precision)];
            for (columns, of_law) in (0..=MAX_COLUMNS).flat_map(|columns| [(columns, &[1][..]), (columns, &[1, 2])]) {
                let lanes: &[_] = if choices[0].is_empty() { &[] } else { of_law };
                let newton = || TuningTable::load(precision, &choices.map(<[_]>::to_vec)).unwrap();
                let table = newton();
                let choices = [lanes, of_law];
                let shapes = Shapes::OfLaw { newton: newton(), precision, columns, choices, multiprocessors: 132 };
                for (n, targets) in (6..18).flat_map(|n| (0..=n).map(move |targets| (1 << n, 1 << targets))) {
                    match (shapes.choose(n, targets), table.choose(n, targets)) {
                        (LaunchShape::Whole { targets, warps, bags }, LaunchShape::Whole { warps: max, .. }) => {
                            let shared = warps * shared_bytes(precision, columns, targets);
                            assert!(lanes.contains(&targets) && shared < 48 << 10, "{precision:?} {columns} {shared}");
                            assert!(warps.is_power_of_two() && bags.is_power_of_two() && bags <= MAX_WARP_BAGS);
                            assert!(warps == max || columns > 2, "{precision:?} {columns}: {warps} of {max} warps");
                            fewer += usize::from(warps < max);
                        }
                        (LaunchShape::Tiles { targets, .. }, LaunchShape::Tiles { .. }) => {
                            assert!(of_law.contains(&targets));
                        }
                        (found, newton) => panic!("{precision:?} {n} {targets}: {found:?}, Newton's {newton:?}"),
                    }
                }
            }
        }
        assert!(fewer > 0, "more columns need more room");
    }
}
