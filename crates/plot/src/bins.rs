//! Histograms with the errors of counting.

use super::figure::{Mark, Series};

/// Returns the limits of one standard deviation of the number that a count of `n` stands for: Gehrels (1986, ApJ 303, 336),
/// equations 7 and 11.
pub(super) fn counting_limits(n: f64) -> (f64, f64) {
    let low = if n > 0.0 { n - (n - 0.25).sqrt() } else { 0.0 };
    (low, n + (n + 0.75).sqrt() + 1.0)
}

/// Returns the edges of bins of `width` decades that hold all values above zero, each edge a power of ten or between two; none
/// where there are no such values.
pub(super) fn decades(values: impl Iterator<Item = f64>, width: f64) -> Vec<f64> {
    let places = values.map(|x| x.log10() / width).filter(|at| at.is_finite());
    let (first, last) =
        places.fold((f64::INFINITY, f64::NEG_INFINITY), |(first, last), at| (first.min(at), last.max(at)));
    if first > last {
        return Vec::new();
    }
    let (first, bins) = (first.floor(), (last.floor() - first.floor()) as usize + 1);
    (0..=bins).map(|k| 10f64.powf(width * (first + k as f64))).collect()
}

/// Returns the edges of `bins` bins of one width from 0 to 1.
pub(super) fn unit_interval(bins: usize) -> Vec<f64> {
    (0..=bins).map(|k| k as f64 / bins as f64).collect()
}

/// Returns the numbers of values in the bins between ascending `edges` as stairs with a band of their errors; a value at the last edge
/// is in the last bin.
pub(super) fn stairs(name: impl Into<String>, values: impl Iterator<Item = f64>, edges: &[f64]) -> Series {
    let bins = edges.len().saturating_sub(1);
    let mut counts = vec![0.0; bins];
    for x in values {
        let at = edges.partition_point(|edge| *edge <= x);
        let at = if bins > 0 && x == edges[bins] { bins } else { at };
        if let Some(count) = at.checked_sub(1).and_then(|at| counts.get_mut(at)) {
            *count += 1.0;
        }
    }
    // The last value holds up to the last edge.
    let at = |k: usize| counts.get(k).or(counts.last()).copied().unwrap_or(0.0);
    let points = edges.iter().enumerate().map(|(k, edge)| (*edge, at(k))).collect();
    let spread = (0..edges.len()).map(|k| counting_limits(at(k))).collect();
    Series { spread: Some(spread), ..Series::new(name, Mark::Steps, points) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_the_bin_around_it() {
        let values = [0.0, 0.05, 0.1, 0.95, 1.0, 1.5, -0.1, f64::NAN];
        let Series { points, spread, .. } = stairs("", values.into_iter(), &unit_interval(10));
        let counts: Vec<f64> = points.iter().map(|(_, count)| *count).collect();
        assert_eq!(counts, [2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 2.0]);
        assert_eq!(spread.unwrap()[0], counting_limits(2.0));
        assert!(stairs("", values.into_iter(), &[]).points.is_empty());
    }

    #[test]
    fn decades_hold_all_values_above_zero() {
        let values = [0.02, 3.0, 0.0, -1.0, f64::NAN, f64::INFINITY];
        let edges = decades(values.into_iter(), 0.5);
        assert!(edges[0] <= 0.02 && edges[edges.len() - 1] > 3.0 && edges.len() == 6, "{edges:?}");
        let held: f64 = stairs("", values.into_iter(), &edges).points.iter().rev().skip(1).map(|(_, n)| n).sum();
        assert_eq!(held, 2.0);
        // A value on an edge has a bin that begins with it.
        assert_eq!(decades([1.0].into_iter(), 0.5), [1.0, 10f64.sqrt()]);
        assert!(decades([0.0].into_iter(), 0.5).is_empty());
    }

    #[test]
    fn limits_are_those_of_the_table_of_gehrels() {
        // Table 1 and 2 of the paper for one standard deviation: n = 1: 0.173 and 3.300; n = 10: 6.891 and 14.267.
        for (n, low, high) in [(1.0, 0.173, 3.300), (10.0, 6.891, 14.267)] {
            let found = counting_limits(n);
            assert!((found.0 - low).abs() < 0.05 && (found.1 - high).abs() < 0.05, "{found:?}");
        }
        assert_eq!(counting_limits(0.0).0, 0.0);
    }
}
