//! From values to lengths: the range of an axis and where a value lies in it.

use super::figure::{Axis, Scale};

/// The largest value that an axis shows: a margin around it is still a number.
const LARGEST: f64 = 1e280;
/// The smallest that a logarithmic axis shows.
const SMALLEST: f64 = 1e-280;
/// Room on each side of the data, as a part of their extent.
const MARGIN: f64 = 0.04;
/// No coordinate further out than this: drawing programs count in f32.
const FAR: f64 = 1e5;

/// Axis laid out along a part of the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Map {
    pub scale: Scale,
    /// Values at the two ends.
    pub ends: (f64, f64),
    /// Coordinates of the two ends.
    pub place: (f64, f64),
}

impl Map {
    /// The coordinate of a value that the scale can show.
    pub fn at(&self, value: f64) -> Option<f64> {
        let part = part(self.scale, value, self.ends)?;
        let (from, to) = self.place;
        Some((from + part * (to - from)).clamp(-FAR, FAR))
    }

    /// The coordinate of a value that lies within the ends.
    pub fn within(&self, value: f64) -> Option<f64> {
        let part = part(self.scale, value, self.ends)?;
        let slack = 1e-9;
        (-slack..=1.0 + slack).contains(&part).then(|| self.at(value)).flatten()
    }

    /// Returns the coordinate at which bars begin: that of zero, or the foot of the axis if zero is not on it.
    pub fn foot(&self) -> f64 {
        self.within(0.0).unwrap_or(self.place.0)
    }
}

/// Returns the distance of a value from the first end, as a part of the distance of the ends.
fn part(scale: Scale, value: f64, (from, to): (f64, f64)) -> Option<f64> {
    can_show(scale, value).then(|| match scale {
        Scale::Linear => (value - from) / (to - from),
        Scale::Log10 => (value.log10() - from.log10()) / (to.log10() - from.log10()),
    })
}

/// True if a scale has a place for the value.
pub(super) fn can_show(scale: Scale, value: f64) -> bool {
    match scale {
        Scale::Linear => value.abs() <= LARGEST,
        Scale::Log10 => (SMALLEST..=LARGEST).contains(&value),
    }
}

/// The ends of an axis: as asked, or around the values that it can show; with a `foot`, such that bars can stand on it.
pub(super) fn ends(axis: &Axis, values: impl Iterator<Item = f64>, foot: bool) -> (f64, f64) {
    let scale = axis.effective_scale();
    if let Some((a, b)) = axis.range
        && can_show(scale, a)
        && can_show(scale, b)
        && !is_point(scale, a.min(b), a.max(b))
    {
        return (a, b);
    }
    if !axis.categories.is_empty() {
        return (-0.6, axis.categories.len() as f64 - 0.4);
    }
    let shown = values.filter(|&x| can_show(scale, x));
    let zero = (foot && scale == Scale::Linear).then_some(0.0);
    let (low, high) =
        shown.chain(zero).fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    match scale {
        // A count that does not change has its neighbours beside it.
        Scale::Linear if axis.whole && low == high => (low - 1.0, high + 1.0),
        Scale::Linear => around_linear(low, high, foot),
        Scale::Log10 => around_log(low, high, foot),
    }
}

/// True if two values are too close for an axis between them.
fn is_point(scale: Scale, low: f64, high: f64) -> bool {
    let size = low.abs().max(high.abs());
    match scale {
        Scale::Linear => high - low <= 1e-12 * size || high == low,
        Scale::Log10 => high.log10() - low.log10() < 1e-6,
    }
}

fn around_linear(low: f64, high: f64, foot: bool) -> (f64, f64) {
    if low > high {
        return (0.0, 1.0);
    }
    if is_point(Scale::Linear, low, high) {
        let half = if low == 0.0 { 1.0 } else { 0.1 * low.abs().max(1e-290) };
        return (low - half, high + half);
    }
    let room = MARGIN * (high - low);
    // Bars stand on the axis.
    let below = if foot && low == 0.0 { 0.0 } else { low - room };
    let above = if foot && high == 0.0 { 0.0 } else { high + room };
    (below, above)
}

fn around_log(low: f64, high: f64, foot: bool) -> (f64, f64) {
    if low > high {
        return (0.1, 10.0);
    }
    let extent = high.log10() - low.log10();
    let room = if is_point(Scale::Log10, low, high) { 0.7 } else { MARGIN * extent };
    // Bars stand on a whole decade, and the lowest is seen.
    let below = if foot { (low.log10() - 0.1).floor() } else { low.log10() - room };
    (10f64.powf(below), 10f64.powf(high.log10() + room))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends_of(axis: &Axis, values: &[f64]) -> (f64, f64) {
        ends(axis, values.iter().copied(), false)
    }

    #[test]
    fn hostile_values_give_a_range_that_can_be_drawn() {
        let none = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        for values in [
            &[][..],
            &none,
            &[0.0],
            &[5.0; 3],
            &[-3.0],
            &[-1e280, 1e280],
            &[1e-280, 1e280],
            &[-1e300, 1e-300, 1e300],
            &[1.0, 1.0 + f64::EPSILON],
            &[1e-310, 2e-310],
            &[f64::MAX, f64::MIN],
            &[0.0, -1.0, 1e-5],
        ] {
            for axis in [Axis::linear(""), Axis::log("")] {
                let (low, high) = ends_of(&axis, values);
                assert!(low < high && low.is_finite() && high.is_finite(), "{values:?}: {low} {high}");
                let map = Map { scale: axis.scale, ends: (low, high), place: (0.0, 100.0) };
                for &value in values.iter().filter(|v| can_show(axis.scale, **v)) {
                    let at = map.within(value);
                    assert!(at.is_some_and(f64::is_finite), "{values:?}: {value} is not within {low} {high}");
                }
            }
        }
    }

    #[test]
    fn a_range_that_makes_no_sense_counts_as_none() {
        for range in [(1.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY)] {
            let axis = Axis { range: Some(range), ..Axis::linear("") };
            assert_eq!(ends_of(&axis, &[0.0, 1.0]), (-0.04, 1.04), "{range:?}");
        }
        let axis = Axis { range: Some((0.0, 1.0)), ..Axis::log("") };
        assert!(ends_of(&axis, &[1.0, 10.0]).0 > 0.9);
        let turned = Axis { range: Some((10.0, 1.0)), ..Axis::log("") };
        let map = Map { scale: Scale::Log10, ends: ends_of(&turned, &[]), place: (0.0, 100.0) };
        assert_eq!((map.at(10.0), map.at(1.0)), (Some(0.0), Some(100.0)));
    }

    #[test]
    fn bars_stand_on_zero_or_on_a_decade() {
        let with_foot = |axis: &Axis, values: &[f64]| ends(axis, values.iter().copied(), true);
        assert_eq!(with_foot(&Axis::linear(""), &[2.0, 5.0]).0, 0.0);
        assert_eq!(with_foot(&Axis::linear(""), &[-2.0, -5.0]).1, 0.0);
        assert!((with_foot(&Axis::log(""), &[0.02, 5.0]).0 - 0.01).abs() < 1e-12);
        assert!((with_foot(&Axis::log(""), &[1.0, 5.0]).0 - 0.1).abs() < 1e-12);
    }

    #[test]
    fn zero_and_below_are_not_on_a_logarithmic_axis() {
        let map = Map { scale: Scale::Log10, ends: (1.0, 100.0), place: (0.0, 100.0) };
        assert_eq!(map.at(0.0), None);
        assert_eq!(map.at(-1.0), None);
        assert_eq!(map.at(f64::NAN), None);
        assert!((map.at(10.0).unwrap() - 50.0).abs() < 1e-9);
        assert_eq!(map.within(1000.0), None);
        assert_eq!(map.foot(), 0.0);
    }
}
