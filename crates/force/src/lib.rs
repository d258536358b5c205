//! Gravitational forces of N bodies on CPUs and GPUs.
//!
//! This crate is the lower half of tisane's engine: [particles] in columns, [time] and [units],
//! the [law of gravity](gravity) and [laws of one's own](law), and the [force engines](force) with their precision modes
//! and canonical sums. It knows no integrator. The crate `tisane` offers all of it together with the integrators.
//!
//! # Features
//! - `cuda` (default): the engine for NVIDIA GPUs. The driver is loaded at run time.
//! - `compiled-laws`: machine code of laws on x86-64. Without it the CPU computes a law operation by operation, with the
//!   same bits and more slowly. The program and the Python package have it.
//! - `serde`: units, modes and kinds of engines as serde types with a JSON Schema.

// A mistake of a caller ends in an `Error`, not in a panic.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod compensated_sum;
pub mod error;
pub mod exact_sum;
pub mod force;
pub mod formula;
pub mod gravity;
pub mod law;
pub mod pair;
pub mod particles;
pub mod rows;
pub mod spin_pool;
pub mod states;
pub mod time;
pub mod units;
pub mod vector;

pub use error::{Error, Result};
