//! The program `tisane`, and the names of units.

use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use tisane::units::names::{LengthUnit, MassUnit, TimeUnit, VelocityUnit};

/// Does what a command line says; its first word is the name of the program, whose file is `file`. Returns the exit
/// code.
#[pyfunction]
pub(crate) fn program(py: Python<'_>, file: PathBuf, words: Vec<OsString>) -> u8 {
    let ended = py.detach(|| tisane_cli::main_from(Some(file), words));
    // An exit code of the program can only be compared.
    (0..=u8::MAX).find(|code| ExitCode::from(*code) == ended).unwrap_or(1)
}

/// Returns the names of the units of mass, length, velocity and time.
#[pyfunction]
pub(crate) fn units() -> [Vec<&'static str>; 4] {
    [
        MassUnit::ALL.iter().map(|unit| unit.name()).collect(),
        LengthUnit::ALL.iter().map(|unit| unit.name()).collect(),
        VelocityUnit::ALL.iter().map(|unit| unit.name()).collect(),
        TimeUnit::ALL.iter().map(|unit| unit.name()).collect(),
    ]
}
