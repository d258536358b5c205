//! A mistake in the configuration, told where it was made.

use tisane::error::ConfigError;

/// What is wrong with a setting, before it is known where it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Key path, as `section.key`.
    pub key: String,
    /// What is wrong and what was expected.
    pub problem: String,
    /// Advice.
    pub help: Option<String>,
    /// Key path of a setting that contradicts this one.
    pub(super) against: Option<String>,
}

impl Problem {
    /// A problem with the setting at a key path.
    pub fn new(key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { key: key.into(), problem: problem.into(), help: None, against: None }
    }

    /// The same problem with advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same problem, naming the other setting that takes part in it.
    #[must_use]
    pub(super) fn against(mut self, key: impl Into<String>) -> Self {
        self.against = Some(key.into());
        self
    }
}

impl From<Problem> for ConfigError {
    /// The mistake without a place: for settings that no file or override wrote.
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
