//! tisane: direct N-body integration, accurate, fast and reproducible.

pub mod assemble;
pub mod cli;
pub mod config;
pub mod diagnostics;
pub mod error;
pub mod force;
pub mod gravity;
pub mod initial;
pub mod integrator;
pub mod io;
pub mod particles;
pub mod simulation;
pub mod sum;
pub mod time;
pub mod units;

pub use error::{Error, Result};
