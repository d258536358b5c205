//! Studies of accuracy and speed: benchmarks, sweeps that end in tables and figures, the validation cases, the performance
//! model, the verification of engines, the papers. Functions return rows and tables; the program prints them.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod bench;
pub mod literature;
pub mod study;
pub mod validate;
pub mod verify;
