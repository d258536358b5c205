//! Mistakes in a configuration.

use std::ops::Range;
use tisane::error::ConfigError;

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
    /// Text of the setting, and the place in it.
    pub(super) within: Option<Box<(String, Range<usize>)>>,
}

impl Problem {
    /// Returns a problem with the setting at a key path.
    pub fn new(key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { key: key.into(), problem: problem.into(), help: None, against: None, within: None }
    }

    /// Adds advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds the place of the mistake in the text of the setting.
    #[must_use]
    pub(super) fn within(mut self, text: String, place: Range<usize>) -> Self {
        self.within = Some(Box::new((text, place)));
        self
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
        let Problem { key, problem, help, .. } = from;
        Self { place: String::new(), key, problem, help, text: None, labels: Vec::new(), others: Vec::new() }
    }
}

impl From<Problem> for tisane::Error {
    fn from(problem: Problem) -> Self {
        Self::Config(Box::new(problem.into()))
    }
}
