//! Medians and quantiles of several realisations: a line with a band.

use super::figure::{Mark, Series};

/// Number of values from which on the band ends at quantiles: below, these would be made up between few values.
const FEW: usize = 5;
/// Parts of the values below the ends of the band.
const PARTS: [f64; 2] = [0.1, 0.9];

/// Median of some values, and the range that most of them lie in: 10 % to 90 %, or below five values all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// Median.
    pub median: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Number of values.
    pub count: usize,
}

impl Band {
    /// Finds it for the values that are not NaN; [`None`] if there are none.
    #[must_use]
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().filter(|x| !x.is_nan()).collect();
        values.sort_by(f64::total_cmp);
        let (first, last) = (*values.first()?, *values.last()?);
        let [low, high] = if values.len() < FEW { [first, last] } else { PARTS.map(|part| quantile(&values, part)) };
        Some(Self { median: quantile(&values, 0.5), low, high, count: values.len() })
    }

    /// Describes the limits of bands over this number of values.
    #[must_use]
    pub const fn range(count: usize) -> &'static str {
        if count < FEW { "least to largest" } else { "10 % to 90 %" }
    }
}

/// Returns the value below which a part of the sorted values lies, on the line between its neighbours.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    // Infinite neighbours have no line between them.
    if below == above { below } else { below + (place - place.floor()) * (above - below) }
}

/// Returns medians as a series whose spread is the bands; without a spread where no point has several values.
#[must_use]
pub fn series(name: impl Into<String>, mark: Mark, points: &[(f64, Band)]) -> Series {
    let spread = points.iter().any(|(_, band)| band.count > 1);
    let ends = || points.iter().map(|(_, band)| (band.low, band.high)).collect();
    let medians = points.iter().map(|(x, band)| (*x, band.median)).collect();
    Series { spread: spread.then(ends), ..Series::new(name, mark, medians) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_have_a_range_and_many_have_quantiles() {
        assert_eq!(Band::of([f64::NAN]), None);
        let one = Band::of([3.0]).unwrap();
        assert_eq!((one.median, one.low, one.high), (3.0, 3.0, 3.0));
        let four = Band::of([4.0, 1.0, f64::NAN, 3.0, 2.0]).unwrap();
        assert_eq!((four.median, four.low, four.high, four.count), (2.5, 1.0, 4.0, 4));
        let many = Band::of((0..=100).rev().map(f64::from)).unwrap();
        assert_eq!((many.median, many.low, many.high), (50.0, 10.0, 90.0));
        assert_eq!((Band::range(4), Band::range(5)), ("least to largest", "10 % to 90 %"));
    }

    #[test]
    fn single_values_have_no_band() {
        let single = [1.0, 2.0].map(|x| (x, Band::of([x]).unwrap()));
        assert_eq!(series("a", Mark::Line, &single).spread, None);
        let with_one = [single[0], (2.0, Band::of([1.0, 3.0]).unwrap())];
        assert_eq!(series("a", Mark::Line, &with_one).spread, Some(vec![(1.0, 1.0), (1.0, 3.0)]));
    }
}
