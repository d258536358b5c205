//! Bounds of values, and whole multiples of times.

use super::error::Problem;
use tisane::time::MAX_DT_MAX_STEPS;
use tisane::units::{Real, shortest_decimal};

/// Relative error up to which the ratio of two times counts as a whole number: decimal ratios such as 0.3 / 0.1 are not
/// whole in binary.
const WHOLE_TOLERANCE: f64 = 1e-9;
/// Absolute error up to which the ratio counts as a whole number, so that the end of a very long run is not moved by a
/// step.
pub(super) const WHOLE_TOLERANCE_STEPS: f64 = 1e-3;

/// Adds a problem to `found` if a value is not above a bound.
pub fn above(found: &mut Vec<Problem>, key: impl Into<String>, value: Option<Real>, bound: f64) {
    if let Some(value) = value.filter(|value| value.get() <= bound) {
        found.push(Problem::new(key, format!("expected a number above {bound}, found {value}")));
    }
}

/// Adds a problem to `found` if a value is below a bound.
pub fn at_least(found: &mut Vec<Problem>, key: impl Into<String>, value: Option<Real>, bound: f64) {
    if let Some(value) = value.filter(|value| value.get() < bound) {
        found.push(Problem::new(key, format!("expected a number of at least {bound}, found {value}")));
    }
}

/// Adds a problem for each missing key: in physical units, values with a unit have no default.
pub(super) fn required(found: &mut Vec<Problem>, section: &str, keys: &[(&str, Option<Real>)]) {
    for (key, _) in keys.iter().filter(|(_, value)| value.is_none()) {
        let problem = format!("missing key `{key}` in [{section}]: it has a default in N-body units only");
        found.push(Problem::new(format!("{section}.{key}"), problem));
    }
}

/// Returns the ratio of `length` to `unit`, if it is a whole number of at least 1 that the tick counter can hold.
#[must_use]
pub fn whole_multiple(length: f64, unit: f64) -> Option<u64> {
    Span::exact(length).in_steps(unit)
}

/// Length of time, in the user's unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span {
    /// The length.
    pub length: f64,
    /// Most by which it may be off, as the times that it lies between are rounded to numbers.
    pub rounding: f64,
}

impl Span {
    /// Returns a length that was given as such.
    pub(crate) const fn exact(length: f64) -> Self {
        Self { length, rounding: 0.0 }
    }

    /// Returns the length between two times.
    pub(crate) fn between(start: f64, end: f64) -> Self {
        if start == 0.0 {
            return Self::exact(end);
        }
        Self { length: end - start, rounding: start.abs().max(end.abs()) * f64::EPSILON }
    }

    /// Returns the shortest decimal that the length can be, for steps that people can read.
    pub(crate) fn as_decimal(self) -> Self {
        Self { length: shortest_decimal(self.length, self.rounding), ..self }
    }

    /// Returns the number of steps in it, if it is a whole number of at least 1 that the tick counter can hold. Of late times the
    /// rounding may be more than that of a quotient of decimals.
    pub(crate) fn in_steps(self, step: f64) -> Option<u64> {
        let ratio = self.length / step;
        let whole = ratio.round();
        let tolerance = (WHOLE_TOLERANCE * whole).max(self.rounding / step).min(WHOLE_TOLERANCE_STEPS);
        let close = (ratio - whole).abs() <= tolerance;
        (close && whole >= 1.0 && whole <= MAX_DT_MAX_STEPS as f64).then_some(whole as u64)
    }

    /// Returns the shortest step that the times around it can count.
    pub(crate) fn shortest_step(self) -> f64 {
        (self.rounding / WHOLE_TOLERANCE_STEPS).max(self.length / MAX_DT_MAX_STEPS as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tisane::units::twelve_digits;

    #[test]
    fn decimals_that_people_write_are_whole_multiples() {
        for (length, unit, times) in [(0.3, 0.1, 3), (1.0, 0.125, 8), (70.0, 0.01, 7000), (6.3, 6.3, 1)] {
            assert_eq!(whole_multiple(length, unit), Some(times), "{length} / {unit}");
        }
        for (length, unit) in [(0.3, 0.125), (0.05, 0.1), (0.0, 1.0), (-1.0, 1.0), (1e300, 1e-300), (1e9, 1.0)] {
            assert_eq!(whole_multiple(length, unit), None, "{length} / {unit}");
        }
    }

    #[test]
    fn late_times_are_whole_multiples_within_their_rounding() {
        for (start, end, step, times) in [
            (100.0, 100.000_001, 5e-8, 20),
            (2000.0, 2000.2, 1e-3, 200),
            (1e6, 1_000_000.003, 3e-6, 1000),
            (-100.0, -99.999_999, 5e-8, 20),
            (0.1, 0.4, 0.1, 3),
        ] {
            assert_eq!(Span::between(start, end).in_steps(step), Some(times), "{start} to {end} by {step}");
        }
        for (start, end, step) in [(100.0, 100.000_001_02, 5e-8), (100.0, 100.000_001, 3e-7), (0.0, 0.3, 0.125)] {
            assert_eq!(Span::between(start, end).in_steps(step), None, "{start} to {end} by {step}");
        }
        assert_eq!(Span::between(100.0, 100.000_001).as_decimal().length, 1e-6);
        assert!(Span::between(100.0, 100.000_001).shortest_step() < 5e-8);
    }

    proptest! {
        #[test]
        fn any_late_time_that_numbers_can_tell_is_accepted(start in 1e-3..1e9_f64, steps in 1_u32..1_000_000, fine in 1e-12..1e-2_f64) {
            // As people write it: the decimal of six digits.
            let dt_max: f64 = format!("{:.5e}", start * fine).parse().unwrap();
            let end: f64 = format!("{:?}", start + f64::from(steps) * dt_max).parse().unwrap();
            let spacing = end * f64::EPSILON;
            if spacing <= 1e-3 * dt_max {
                prop_assert_eq!(Span::between(start, end).in_steps(dt_max), Some(u64::from(steps)));
            }
        }

        #[test]
        fn values_that_a_message_names_are_valid(steps in 1_u32..100_000_000, dt_max in 1e-6..1e6_f64) {
            let named = twelve_digits(f64::from(steps) * dt_max);
            prop_assert_eq!(whole_multiple(named, dt_max), Some(u64::from(steps)));
        }
    }
}
