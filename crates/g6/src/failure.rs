//! Reasons for which a call fails, as codes for the caller and as text.

use std::fmt;

/// Kind of a failure; its number is what the function returns. `include/g6.h` declares the same numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// An environment variable with a wrong value, or a device that cannot be opened.
    Setting = -1,
    /// A cluster that is not open.
    Closed = -2,
    /// A null pointer, or a number or address out of range.
    Argument = -3,
    /// A number that is not finite or that the precision mode cannot represent.
    Number = -4,
    /// The engine failed.
    Engine = -5,
    /// A mistake in this library.
    Internal = -6,
}

/// Failure of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Its kind.
    pub code: Code,
    /// What went wrong, in one line.
    pub problem: String,
}

/// Result of a call.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// Creates a failure.
    #[must_use]
    pub fn new(code: Code, problem: impl fmt::Display) -> Self {
        Self { code, problem: problem.to_string() }
    }

    /// Creates a failure by a wrong argument.
    #[must_use]
    pub fn argument(problem: impl fmt::Display) -> Self {
        Self::new(Code::Argument, problem)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)
    }
}

impl From<tisane::Error> for Failure {
    fn from(error: tisane::Error) -> Self {
        Self::new(Code::Engine, error)
    }
}
