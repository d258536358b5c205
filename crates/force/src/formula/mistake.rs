//! Mistakes in a formula, with their places.

use std::fmt;
use std::ops::Range;

/// Mistake in a formula. Its text shows the formula with carets under the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Formula.
    pub formula: String,
    /// Place in the formula, in bytes.
    pub span: Range<usize>,
    /// Description of the mistake and of what was expected.
    pub problem: String,
}

/// Result of a part of the compilation, whose mistakes do not know the formula yet.
pub(crate) type Checked<T> = Result<T, At>;

/// Mistake at a place in the formula at hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct At {
    pub span: Range<usize>,
    pub problem: String,
}

impl At {
    /// Returns a mistake at a place.
    pub fn new(span: &Range<usize>, problem: impl Into<String>) -> Self {
        Self { span: span.clone(), problem: problem.into() }
    }

    /// Returns the mistake with its formula.
    pub fn of(self, formula: &str) -> Mistake {
        Mistake { formula: formula.into(), span: self.span, problem: self.problem }
    }
}

/// Most characters of a formula that a message shows on either side of the place.
const AROUND: usize = 40;

impl Mistake {
    /// Returns the formula, or its part around the place, with a line of carets under the place.
    #[must_use]
    pub fn shown(&self) -> String {
        let before = self.formula.get(..self.span.start).unwrap_or_default();
        let place = self.formula.get(self.span.clone()).unwrap_or_default();
        let after = self.formula.get(self.span.end..).unwrap_or_default();
        let skipped = before.chars().count().saturating_sub(AROUND);
        let before: String = before.chars().skip(skipped).collect();
        let after: String = after.chars().take(AROUND).collect();
        let plain = |text: &str| text.replace(char::is_control, " ");
        let indent = " ".repeat(before.chars().count());
        let carets = "^".repeat(place.chars().count().max(1));
        format!("  {}{}{}\n  {indent}{carets}", plain(&before), plain(place), plain(&after))
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.problem, self.shown())
    }
}

impl std::error::Error for Mistake {}
