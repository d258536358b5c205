//! Extension module `tisane._engine`: what the Python package calls of the engine, of simulations and of the program.
//!
//! It is thin: arguments are arrays that the package has checked, results are arrays and dictionaries, errors become
//! the exceptions of `tisane.errors`. No call holds Python's interpreter lock while it computes. The public interface,
//! with its documentation, is the package in `python/tisane`.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod arrays;
mod ensemble;
mod errors;
mod forces;
mod function;
mod program;
mod run;
mod simulation;

use pyo3::prelude::*;

#[pymodule]
mod _engine {
    #[pymodule_export]
    use super::ensemble::ensemble;
    #[pymodule_export]
    use super::forces::Forces;
    #[pymodule_export]
    use super::program::{program, units};
    #[pymodule_export]
    use super::run::run;
    #[pymodule_export]
    use super::simulation::Core;
    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        tisane_cli::declare_build();
        module.add("__version__", tisane_io::provenance::version())
    }
}
