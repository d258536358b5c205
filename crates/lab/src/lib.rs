//! Studies of accuracy and speed: sweeps that end in tables and figures, the validation cases, the performance model.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod bench;
pub mod literature;
pub mod study;
pub mod validate;
