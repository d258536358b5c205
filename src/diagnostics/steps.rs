//! The distribution of time steps.

use tisane_force::time::{LEVELS, Level};

/// Returns the number of particles at each block level.
#[must_use]
pub fn histogram(steps: &[Level]) -> [u64; LEVELS] {
    let mut count = [0; LEVELS];
    for level in steps {
        count[usize::from(level.0)] += 1;
    }
    count
}

/// Returns the shortest, mean and longest step of a histogram, in the unit of `dt_max`; zero without particles.
#[must_use]
pub fn min_mean_max(histogram: &[u64; LEVELS], dt_max: f64) -> (f64, f64, f64) {
    let step = |level: usize| Level(level as u8).step(dt_max);
    let held = || (0..LEVELS).filter(|&level| histogram[level] > 0);
    let total: u64 = histogram.iter().sum();
    // From the shortest step up, so that short steps are not lost in rounding.
    let sum: f64 = held().rev().map(|level| histogram[level] as f64 * step(level)).sum();
    (held().next_back().map_or(0.0, step), sum / total.max(1) as f64, held().next().map_or(0.0, step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_averages() {
        let h = histogram(&[Level(3), Level(0), Level(3), Level(1)]);
        assert_eq!((h[0], h[1], h[3], h.iter().sum::<u64>()), (1, 1, 2, 4));
        assert_eq!(min_mean_max(&h, 8.0), (1.0, (8.0 + 4.0 + 2.0) / 4.0, 8.0));
        assert_eq!(min_mean_max(&[0; LEVELS], 8.0), (0.0, 0.0, 0.0));
    }
}
