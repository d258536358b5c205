//! Whether a number is what it should be.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a tolerance means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// |measured / reference − 1| is at most the tolerance.
    Relative,
    /// |measured − reference| is at most the tolerance.
    Absolute,
    /// measured / reference is between 1 / tolerance and tolerance.
    Factor,
    /// measured is at most reference · (1 + tolerance).
    UpperLimit,
    /// measured is at least reference · (1 − tolerance).
    LowerLimit,
}

impl Kind {
    /// The tolerance for people.
    #[must_use]
    pub fn told(self, tolerance: f64) -> String {
        match (self, tolerance) {
            (Self::Relative, t) => format!("{:.2} %", 100.0 * t).replace(".00 %", " %"),
            (Self::Absolute, t) => format!("± {t}"),
            (Self::Factor, t) => format!("factor {t}"),
            (Self::UpperLimit, 0.0) => "at most".into(),
            (Self::UpperLimit, t) => format!("at most, + {:.2} %", 100.0 * t).replace(".00 %", " %"),
            (Self::LowerLimit, 0.0) => "at least".into(),
            (Self::LowerLimit, t) => format!("at least, − {:.2} %", 100.0 * t).replace(".00 %", " %"),
        }
    }

    /// True if `measured` is as it should be; never for NaN.
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

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// As it should be.
    Pass,
    /// Not as it should be, or not to be had at all.
    Fail,
    /// What the case needs is missing here.
    Skipped,
}

impl Verdict {
    /// The verdict for people.
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
    fn what_is_not_a_number_never_holds() {
        for kind in [Kind::Relative, Kind::Absolute, Kind::Factor, Kind::UpperLimit, Kind::LowerLimit] {
            assert!(!kind.holds(f64::NAN, 1.0, 10.0), "{kind:?}");
        }
        assert!(!Kind::Relative.holds(f64::INFINITY, 1.0, 10.0) && !Kind::Absolute.holds(f64::INFINITY, 1.0, 10.0));
    }
}
