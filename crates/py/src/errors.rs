//! Errors as exceptions of `tisane.errors`.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::fmt::Write;
use tisane::error::Error;

/// Returns the exception of an error: its message with the advice.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let name = match error {
        Error::Config(_) => "ConfigError",
        Error::Input { .. } => "InputError",
        Error::Integration { .. } | Error::StepBelowFloor(_) => "IntegrationError",
        Error::Storage { .. } => "StorageError",
    };
    raise(py, name, &message(error))
}

/// Returns the exception `name` of `tisane.errors`.
pub(crate) fn raise(py: Python<'_>, name: &str, message: &str) -> PyErr {
    let made = py.import("tisane.errors").and_then(|module| module.getattr(name)?.call1((message,)));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// Returns the exception of a simulation that cannot be used now.
pub(crate) fn busy(message: &str) -> PyErr {
    PyRuntimeError::new_err(message.to_owned())
}

fn message(error: &Error) -> String {
    let mut text = error.to_string();
    let advise = |text: &mut String, help: Option<String>| {
        if let Some(help) = help {
            // Writing into a string does not fail.
            let _ = write!(text, "\nhelp: {help}");
        }
    };
    advise(&mut text, tisane_run::help::advice(error));
    if let Error::Config(config) = error {
        for other in &config.others {
            let _ = write!(text, "\n{other}");
            advise(&mut text, other.advice());
        }
    }
    text
}
