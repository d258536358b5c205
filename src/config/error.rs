//! A mistake in the configuration, told where it was made.

use std::fmt;
use std::sync::Arc;

use miette::{LabeledSpan, NamedSource};

use crate::error::shown;

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

/// A mistake in the configuration. Its plain text is `file:line: section.key: what is wrong`, or `--set …: what is wrong`
/// where the setting came from the command line; as a diagnostic it shows the place in the text.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub struct ConfigError {
    /// File and line, or the override, where the setting was written; empty if it was not written anywhere.
    pub place: String,
    /// Key path, as `section.key`; empty where the text is not TOML.
    pub key: String,
    /// What is wrong and what was expected.
    pub problem: String,
    /// Advice.
    #[help]
    pub help: Option<String>,
    /// The whole text of the file, to show the place in.
    #[source_code]
    pub(super) text: Option<NamedSource<Arc<str>>>,
    /// The places in the text.
    #[label(collection, "here")]
    pub(super) labels: Vec<LabeledSpan>,
    /// Further mistakes in the same configuration.
    #[related]
    pub others: Vec<ConfigError>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in [&self.place, &self.key] {
            if !part.is_empty() {
                write!(f, "{}: ", shown(part))?;
            }
        }
        f.write_str(&shown(&self.problem))
    }
}

impl From<Problem> for ConfigError {
    /// The mistake without a place: for settings that no file or override wrote.
    fn from(from: Problem) -> Self {
        let Problem { key, problem, help, .. } = from;
        Self { place: String::new(), key, problem, help, text: None, labels: Vec::new(), others: Vec::new() }
    }
}

impl From<Problem> for crate::Error {
    fn from(problem: Problem) -> Self {
        Self::Config(Box::new(problem.into()))
    }
}
