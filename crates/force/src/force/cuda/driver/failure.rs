//! Errors of the driver.

use crate::error::Error;
use cudarc::driver::result::DriverError;

/// Advice to a user without a usable GPU.
const ADVICE: &str =
    r#"use force.engine = "cpu", or install NVIDIA's driver (580 or later) and check it with nvidia-smi"#;

/// Returns a conversion of errors of the driver into [`Error::Integration`]; `what` is the operation that failed.
pub fn driver_error(what: &'static str) -> impl Fn(DriverError) -> Error {
    move |e| Error::Integration {
        problem: format!("the GPU failed ({what}): {}", driver_message(e)),
        help: Some(
            "the last checkpoint is whole: continue from it with `tisane resume DIR`, on another GPU with --device K, \
                 or without a GPU with --engine cpu"
                .into(),
        ),
    }
}

/// Returns the driver's description of an error.
pub fn driver_message(e: DriverError) -> String {
    e.error_string().map_or_else(|_| format!("{:?}", e.0), |text| text.to_string_lossy().into_owned())
}

/// Returns the error of a machine without a usable GPU.
pub fn unavailable(problem: impl std::fmt::Display) -> Error {
    Error::input("CUDA", problem).with_help(ADVICE)
}
