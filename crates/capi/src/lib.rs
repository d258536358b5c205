//! libtisane: forces and simulations of tisane for programs in C, C++ and Fortran.
//!
//! `include/tisane.h` is made of this crate by cbindgen, and `fortran/tisane.f90` is its module; the comments of the
//! functions are those of the header.
//!
//! Every function returns a [`Status`]; the text of an error is [`tisane_last_error`](status::tisane_last_error). Objects
//! are numbers, so that one that was closed is an error and not a crash. No function prints, panics or ends the program.

#![allow(clippy::missing_errors_doc, reason = "the returned status is documented in Status")]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

#[allow(unsafe_code, reason = "arrays and texts of the caller are given as pointers")]
mod arrays;
#[allow(unsafe_code, reason = "functions with C names")]
pub mod columns;
#[allow(unsafe_code, reason = "functions with C names")]
pub mod forces;
mod handles;
#[allow(unsafe_code, reason = "functions with C names")]
pub mod simulation;
#[allow(unsafe_code, reason = "functions with C names")]
pub mod stars;
#[allow(unsafe_code, reason = "functions with C names")]
pub mod status;

pub use arrays::TisaneVectors;
pub use status::Status;
