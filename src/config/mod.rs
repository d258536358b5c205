//! The configuration: the TOML as written. Data, defaults, units, validation; nothing is built here.

/// A mistake in the configuration, told where it was made.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[error("{key}: {problem}")]
pub struct ConfigError {
    /// Key path, as `section.key`.
    pub key: String,
    /// What is wrong and what was expected.
    pub problem: String,
    /// The nearest valid name or value, or other advice.
    #[help]
    pub help: Option<String>,
}
