//! Promises of the GRAPE-6 library.
#![allow(unsafe_code, reason = "the functions of the library take pointers")]

mod bad_input;
mod clusters;
mod forces;
mod model;
mod neighbours;
mod programs;
