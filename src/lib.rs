//! tisane: direct N-body integration, accurate, fast and reproducible.

pub mod config;
pub mod error;
pub mod initial;
pub mod io;
pub mod particles;
pub mod sum;
pub mod time;
pub mod units;

pub use error::{Error, Result};
