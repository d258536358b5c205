//! Comparison of a number with its reference value.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Writes a number with at most seven digits, without trailing zeros.
#[must_use]
pub fn number(x: f64) -> String {
    let size = x.abs();
    if size != 0.0 && size.is_finite() && !(1e-3..1e7).contains(&size) {
        let digits = format!("{x:.3e}");
        let (digits, power) = digits.split_once('e').unwrap_or((&digits, "0"));
        return format!("{}e{power}", digits.trim_end_matches('0').trim_end_matches('.'));
    }
    let rounded: f64 = format!("{x:.6e}").parse().unwrap_or(x);
    rounded.to_string()
}

/// Meaning of a tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Relative: |measured / reference − 1| is at most the tolerance.
    Relative,
    /// Absolute: |measured − reference| is at most the tolerance.
    Absolute,
    /// Factor: measured / reference is between 1 / tolerance and tolerance.
    Factor,
    /// Upper limit: measured is at most reference · (1 + tolerance).
    UpperLimit,
    /// Lower limit: measured is at least reference · (1 − tolerance).
    LowerLimit,
}

impl Kind {
    /// Describes the tolerance.
    #[must_use]
    pub fn describe(self, tolerance: f64) -> String {
        let percent = |share: f64| format!("{} %", number(100.0 * share));
        match (self, tolerance) {
            (Self::Relative, t) => percent(t),
            (Self::Absolute, t) => format!("± {}", number(t)),
            (Self::Factor, t) => format!("factor {}", number(t)),
            (Self::UpperLimit, 0.0) => "at most".into(),
            (Self::UpperLimit, t) => format!("at most, + {}", percent(t)),
            (Self::LowerLimit, 0.0) => "at least".into(),
            (Self::LowerLimit, t) => format!("at least, − {}", percent(t)),
        }
    }

    /// Returns true if `measured` is within the tolerance; false for NaN.
    #[must_use]
    pub fn holds(self, measured: f64, reference: f64, tolerance: f64) -> bool {
        match self {
            Self::Relative => (measured - reference).abs() <= tolerance * reference.abs(),
            Self::Absolute => (measured - reference).abs() <= tolerance,
            Self::Factor => {
                let factor = measured / reference;
                factor <= tolerance && factor * tolerance >= 1.0
            }
            Self::UpperLimit => measured <= reference + tolerance * reference.abs(),
            Self::LowerLimit => measured >= reference - tolerance * reference.abs(),
        }
    }
}

/// Result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Within the tolerance.
    Pass,
    /// Beyond the tolerance, or without a number.
    Fail,
    /// Not run: a requirement of the case is missing on this machine.
    Skipped,
}

impl Verdict {
    /// Returns the verdict in a word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "FAIL",
            Self::Skipped => "skipped",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_by_hand() {
        for (kind, measured, reference, tolerance, holds) in [
            (Kind::Relative, 1.01, 1.0, 0.011, true),
            (Kind::Relative, 1.01, 1.0, 0.009, false),
            (Kind::Relative, -1.01, -1.0, 0.011, true),
            (Kind::Relative, 1.0, -1.0, 0.5, false),
            (Kind::Relative, 1e-300, 0.0, 0.5, false),
            (Kind::Absolute, 0.1, 0.0, 0.1, true),
            (Kind::Absolute, -0.11, 0.0, 0.1, false),
            (Kind::Factor, 2.0, 1.0, 2.0, true),
            (Kind::Factor, 0.5, 1.0, 2.0, true),
            (Kind::Factor, 0.49, 1.0, 2.0, false),
            (Kind::Factor, 2.1, 1.0, 2.0, false),
            (Kind::Factor, -1.0, 1.0, 2.0, false),
            (Kind::UpperLimit, 1.0, 1.0, 0.0, true),
            (Kind::UpperLimit, 1.1, 1.0, 0.0, false),
            (Kind::UpperLimit, 1.1, 1.0, 0.2, true),
            (Kind::UpperLimit, -1.1, -1.0, 0.0, true),
            (Kind::LowerLimit, 0.9, 1.0, 0.2, true),
            (Kind::LowerLimit, 0.7, 1.0, 0.2, false),
            (Kind::LowerLimit, 1e9, 1.0, 0.0, true),
        ] {
            assert_eq!(
                kind.holds(measured, reference, tolerance),
                holds,
                "{kind:?} {measured} {reference} {tolerance}"
            );
        }
    }

    #[test]
    fn numbers_have_at_most_seven_digits() {
        for (x, written) in [
            (0.0, "0"),
            (6.325_913_982_926_287, "6.325914"),
            (1e-9, "1e-9"),
            (1.23456e-9, "1.235e-9"),
            (-0.25, "-0.25"),
            (123_456.789, "123456.8"),
            (1.5e9, "1.5e9"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(number(x), written);
        }
    }

    #[test]
    fn what_is_not_a_number_never_holds() {
        for kind in [Kind::Relative, Kind::Absolute, Kind::Factor, Kind::UpperLimit, Kind::LowerLimit] {
            assert!(!kind.holds(f64::NAN, 1.0, 10.0), "{kind:?}");
        }
        assert!(!Kind::Relative.holds(f64::INFINITY, 1.0, 10.0) && !Kind::Absolute.holds(f64::INFINITY, 1.0, 10.0));
    }
}
