//! Mistakes in a configuration.

use tisane::error::ConfigError;
use tisane::formula::Mistake;

/// Mistake in a setting, without its location in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Key path, as `section.key`.
    pub key: String,
    /// Description of the mistake and of the expected value.
    pub problem: String,
    /// Advice.
    pub help: Option<String>,
    /// Key path of a setting that contradicts this one.
    pub(super) against: Option<String>,
    /// Mistake in the formula that is the value of the setting.
    pub(super) formula: Option<Box<Mistake>>,
}

impl Problem {
    /// Returns a problem with the setting at a key path.
    pub fn new(key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { key: key.into(), problem: problem.into(), help: None, against: None, formula: None }
    }

    /// Adds advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Returns the problem of a mistake in the formula that is the value of a setting.
    pub(super) fn in_formula(key: impl Into<String>, mistake: Mistake) -> Self {
        let at = 1 + mistake.formula[..mistake.span.start].chars().count();
        let problem = Self::new(key, format!("character {at}: {}", mistake.problem));
        Self { formula: Some(Box::new(mistake)), ..problem }
    }

    /// Adds the key path of a setting that contradicts this one.
    #[must_use]
    pub(super) fn against(mut self, key: impl Into<String>) -> Self {
        self.against = Some(key.into());
        self
    }
}

impl From<Problem> for ConfigError {
    /// Converts a problem without a location, for settings that are not from a file or an override.
    fn from(from: Problem) -> Self {
        let Problem { key, problem, help, formula, .. } = from;
        let formula = formula.map(|mistake| mistake.shown());
        Self { place: String::new(), key, problem, help, formula, written: None, others: Vec::new() }
    }
}

impl From<Problem> for tisane::Error {
    fn from(problem: Problem) -> Self {
        Self::Config(Box::new(problem.into()))
    }
}
