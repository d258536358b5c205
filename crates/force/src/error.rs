//! Errors of the whole program, and the exit code of each kind.

mod below_floor;
mod nearest;
mod synonyms;

pub use below_floor::{Remedy, RunContext, StepBelowFloor};
pub use nearest::nearest;

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Result with this crate's [`enum@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Error by the kind of remedy. [`Error::exit_code`] maps each kind to the exit code of the process.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Mistake in the configuration, with file, line and key.
    #[error(transparent)]
    Config(#[from] Box<ConfigError>),

    /// File or directory named by the user that cannot be used. Nothing was written.
    #[error("{}: {problem}", path.display())]
    Input {
        /// The file or directory.
        path: PathBuf,
        /// Description of the problem, with the place (line, dataset, byte) where that helps.
        problem: String,
        /// Advice.
        help: Option<String>,
    },

    /// Integration that cannot continue: a step below the floor, a number that is not finite, a failed device.
    #[error("{problem}")]
    Integration {
        /// Description of the problem, with particle, partner, time.
        problem: String,
        /// Advice.
        help: Option<String>,
    },

    /// Particle that needs a shorter step than the run allows.
    #[error(transparent)]
    StepBelowFloor(Box<StepBelowFloor>),

    /// Output that could not be written during a run. Finished files and the last checkpoint are whole.
    #[error("cannot write {}: {problem}", path.display())]
    Storage {
        /// The file.
        path: PathBuf,
        /// Message of the system.
        problem: String,
        /// Advice.
        help: Option<&'static str>,
    },
}

/// Mistake in the configuration. Its text is `file:line: section.key: problem`, or `--set …: problem` where the
/// setting came from the command line.
#[derive(Debug, thiserror::Error)]
pub struct ConfigError {
    /// File and line, or the override, where the setting was written; empty if it was not written anywhere.
    pub place: String,
    /// Key path, as `section.key`; empty where the text is not TOML.
    pub key: String,
    /// Description of the problem and of what was expected.
    pub problem: String,
    /// Advice.
    pub help: Option<String>,
    /// Formula that the mistake is in, with a line of carets under the place.
    pub formula: Option<String>,
    /// Place of the setting in the text of the file; [`None`] if it was not written there.
    pub written: Option<Written>,
    /// Further mistakes in the same configuration.
    pub others: Vec<ConfigError>,
}

/// Place of a setting in the text of a file.
#[derive(Clone, Debug)]
pub struct Written {
    /// Name of the file.
    pub file: String,
    /// Whole text of the file.
    pub text: Arc<str>,
    /// Place in the text, in bytes.
    pub place: Range<usize>,
    /// Place of the setting that this one contradicts, in bytes.
    pub against: Option<Range<usize>>,
}

impl ConfigError {
    /// Returns the advice, if there is some: for a mistake in a formula, its place there.
    #[must_use]
    pub fn advice(&self) -> Option<String> {
        let formula = || self.formula.as_ref().map(|formula| format!("the place:\n{formula}"));
        self.help.clone().or_else(formula)
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in [&self.place, &self.key] {
            if !part.is_empty() {
                write!(f, "{}: ", printable(part))?;
            }
        }
        f.write_str(&printable(&self.problem))
    }
}

/// Messages of the system about storage that the user can repair, with advice.
const STORAGE_ADVICE: [(&str, &str); 3] = [
    ("No space left on device", "free some space"),
    ("Disk quota exceeded", "free some space within your quota"),
    (
        "File too large",
        "the limit on the size of files (ulimit -f) or that of the file system is reached: raise it, or write elsewhere",
    ),
];

impl Error {
    /// Returns the error of an integration with what it needs to know of the run to speak in the user's units.
    #[must_use]
    pub fn in_run(mut self, run: &RunContext) -> Self {
        if let Self::StepBelowFloor(what) = &mut self {
            what.run.get_or_insert_with(|| run.clone());
        }
        self
    }

    /// Returns the advice, if there is some.
    #[must_use]
    pub fn advice(&self) -> Option<String> {
        match self {
            Self::Config(error) => error.advice(),
            Self::Input { help, .. } | Self::Integration { help, .. } => help.clone(),
            Self::StepBelowFloor(error) => Some(error.advice()),
            Self::Storage { help, .. } => help.map(str::to_owned),
        }
    }

    /// Creates an [`Error::Input`] without advice.
    pub fn input(path: impl AsRef<Path>, problem: impl std::fmt::Display) -> Self {
        Self::Input { path: path.as_ref().to_owned(), problem: printable(&problem.to_string()), help: None }
    }

    /// Creates an [`Error::Storage`], with advice for a message of the system that is known.
    pub fn storage(path: impl AsRef<Path>, problem: impl std::fmt::Display) -> Self {
        let problem = problem.to_string();
        let help = STORAGE_ADVICE.into_iter().find(|(words, _)| problem.contains(words)).map(|(_, help)| help);
        Self::Storage { path: path.as_ref().to_owned(), problem, help }
    }

    /// Returns the error with advice, where its kind has advice.
    #[must_use]
    pub fn with_help(mut self, text: impl Into<String>) -> Self {
        if let Self::Input { help, .. } | Self::Integration { help, .. } = &mut self {
            *help = Some(text.into());
        }
        self
    }

    /// Returns the error with the file `path` in place of `other`: a temporary name means nothing to the user.
    #[must_use]
    pub fn with_path(mut self, other: &Path, path: &Path) -> Self {
        if let Self::Storage { path: named, .. } = &mut self
            && named == other
        {
            path.clone_into(named);
        }
        self
    }

    /// Returns true if a file could not be written because the disk or the user's quota is full. HDF5 passes on only
    /// the text of the system's message, so the text is searched.
    #[must_use]
    pub fn is_full(&self) -> bool {
        let words = ["No space left on device", "Disk quota exceeded"];
        matches!(self, Self::Storage { problem, .. } if words.iter().any(|words| problem.contains(words)))
    }

    /// Returns the exit code of the process: 2 wrong input, 4 the integration cannot continue, 5 storage failed during
    /// a run. (0 is success, 3 a run stopped on request with a checkpoint, 1 any other error.)
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Config(_) | Self::Input { .. } => 2,
            Self::Integration { .. } | Self::StepBelowFloor(_) => 4,
            Self::Storage { .. } => 5,
        }
    }
}

/// Returns a text from outside in a form that is safe on a terminal: control characters, and others that are not seen, are
/// replaced by ones of the same length in bytes. Line ends and tabs stay.
#[must_use]
pub fn printable(text: &str) -> String {
    let plain = |c: char| match c {
        '\n' | '\t' => c,
        '\r' => ' ',
        '\0'..='\x1f' | '\x7f' => '?',
        '\u{80}'..='\u{9f}' => '\u{bf}',
        // Signs of no width, fillers, marks of direction and of language are unseen, or change the order that is seen.
        '\u{ad}' | '\u{34f}' | '\u{61c}' => '\u{bf}',
        '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' => {
            '\u{fffd}'
        }
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => '\u{fffd}',
        '\u{e0000}'..='\u{e0fff}' => '\u{1f532}',
        _ => c,
    };
    text.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_that_are_not_seen_are_replaced_by_ones_of_the_same_length() {
        let hidden = "a\u{7}b\u{200b}c\u{202e}d\u{feff}e\u{ad}f\u{e0041}g\u{9b}h\u{2066}i\u{61c}j\u{3164}";
        let shown = printable(hidden);
        assert_eq!(shown, "a?b\u{fffd}c\u{fffd}d\u{fffd}e\u{bf}f\u{1f532}g\u{bf}h\u{fffd}i\u{bf}j\u{fffd}");
        assert_eq!(shown.len(), hidden.len());
        for text in ["Hénon, 10⁻³ pc — α\n\tβ", "星団"] {
            assert_eq!(printable(text), text);
        }
    }
}
