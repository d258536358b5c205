//! Everything that can go wrong, and the exit code that each kind has.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use miette::{LabeledSpan, NamedSource};

/// Result with this crate's [`enum@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, by what the user can do about it. [`Error::exit_code`] maps each kind to the process's exit code.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum Error {
    /// The configuration is wrong: points at file, line and key.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Config(#[from] Box<ConfigError>),

    /// A file or directory that the user named cannot be used. Nothing was written.
    #[error("{}: {problem}", path.display())]
    Input {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong with it, with the place (line, dataset, byte) where that helps.
        problem: String,
        /// What to do about it.
        #[help]
        help: Option<String>,
    },

    /// The integration cannot go on: a step below the floor, a number that is not finite, a failed device.
    #[error("{problem}")]
    Integration {
        /// What happened, with particle, partner, time.
        problem: String,
        /// What to do about it.
        #[help]
        help: Option<String>,
    },

    /// A particle wants a shorter step than the run allows.
    #[error(transparent)]
    #[diagnostic(transparent)]
    StepBelowFloor(Box<StepBelowFloor>),

    /// Output could not be written while a run was under way. Finished files and the last checkpoint are whole.
    #[error("cannot write {}: {problem}", path.display())]
    Storage {
        /// The file.
        path: PathBuf,
        /// What the system said.
        problem: String,
        /// What to do about it.
        #[help]
        help: Option<&'static str>,
    },
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
    pub text: Option<NamedSource<Arc<str>>>,
    /// The places in the text.
    #[label(collection, "here")]
    pub labels: Vec<LabeledSpan>,
    /// Further mistakes in the same configuration.
    #[related]
    pub others: Vec<ConfigError>,
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

/// What the system says of a storage that can be mended, and what to do about it.
const STORAGE_ADVICE: [(&str, &str); 3] = [
    ("No space left on device", "make room; a run then goes on by `tisane resume`"),
    ("Disk quota exceeded", "make room within your quota; a run then goes on by `tisane resume`"),
    (
        "File too large",
        "the limit on the size of files (ulimit -f) or that of the file system is reached: raise it, or write elsewhere; a run then \
         goes on by `tisane resume`",
    ),
];

/// A particle wants a shorter step than the run allows, in whichever units the text is to be read in.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[error(
    "particle {id} wants a time step of {wanted:.3e} at time {time}, below the floor of {floor:.3e}{}",
    partner.map_or(String::new(), |(id, distance)| format!("; its nearest neighbour is particle {id}, at a distance of {distance:.3e}"))
)]
#[diagnostic(help(
    "soften the encounter (softening.epsilon), allow shorter steps ({section}.dt_min), or let such particles go \
     on at the floor, with a larger error, by {section}.on_dt_min = \"clamp\""
))]
pub struct StepBelowFloor {
    /// Its id.
    pub id: u64,
    /// When.
    pub time: f64,
    /// The step it wants.
    pub wanted: f64,
    /// The shortest step allowed.
    pub floor: f64,
    /// Section of the configuration that has the settings of its steps.
    pub section: &'static str,
    /// Its nearest neighbour's id and distance, unless it is alone.
    pub partner: Option<(u64, f64)>,
}

impl Error {
    /// The same error with times and lengths of an integration turned from internal units into the user's.
    #[must_use]
    pub fn in_user_units(mut self, scale: &crate::units::Scale) -> Self {
        if let Self::StepBelowFloor(what) = &mut self {
            for time in [&mut what.time, &mut what.wanted, &mut what.floor] {
                *time *= scale.time;
            }
            if let Some((_, distance)) = &mut what.partner {
                *distance *= scale.length;
            }
        }
        self
    }

    /// Shorthand for [`Error::Input`] without advice.
    pub fn input(path: impl AsRef<Path>, problem: impl std::fmt::Display) -> Self {
        Self::Input { path: path.as_ref().to_owned(), problem: printable(&problem.to_string()), help: None }
    }

    /// Shorthand for [`Error::Storage`].
    pub fn storage(path: impl AsRef<Path>, problem: impl std::fmt::Display) -> Self {
        let problem = problem.to_string();
        let help = STORAGE_ADVICE.into_iter().find(|(words, _)| problem.contains(words)).map(|(_, help)| help);
        Self::Storage { path: path.as_ref().to_owned(), problem, help }
    }

    /// The same error with advice added, where its kind carries advice.
    #[must_use]
    pub fn with_help(mut self, text: impl Into<String>) -> Self {
        if let Self::Input { help, .. } | Self::Integration { help, .. } = &mut self {
            *help = Some(text.into());
        }
        self
    }

    /// The same error about the file `path`, where it was about `other`: a temporary name means nothing to the user.
    #[must_use]
    pub fn with_path(mut self, other: &Path, path: &Path) -> Self {
        if let Self::Storage { path: named, .. } = &mut self
            && named == other
        {
            path.clone_into(named);
        }
        self
    }

    /// True if a file could not be written because the disk or the user's share of it is full. HDF5 hands on what the system
    /// said as text alone, so the system's words are looked for.
    #[must_use]
    pub fn is_full(&self) -> bool {
        let words = ["No space left on device", "Disk quota exceeded"];
        matches!(self, Self::Storage { problem, .. } if words.iter().any(|words| problem.contains(words)))
    }

    /// Exit code of the process: 2 wrong input, 4 the integration cannot go on, 5 storage failed during a run.
    /// (0 is success, 3 a run stopped on request with a checkpoint, 1 anything unforeseen.)
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Config(_) | Self::Input { .. } => 2,
            Self::Integration { .. } | Self::StepBelowFloor(_) => 4,
            Self::Storage { .. } => 5,
        }
    }
}

/// A text that may come from a file, as it may stand on a terminal: characters that would command it are replaced by others of
/// the same length in bytes. Ends of lines and tabs stay.
#[must_use]
pub fn printable(text: &str) -> String {
    let plain = |c: char| match c {
        '\n' | '\t' => c,
        '\r' => ' ',
        '\0'..='\x1f' | '\x7f' => '?',
        '\u{80}'..='\u{9f}' => '\u{bf}',
        _ => c,
    };
    text.chars().map(plain).collect()
}
