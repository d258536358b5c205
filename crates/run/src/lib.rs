//! Runs of tisane: the TOML configuration, what is built from it, and the loop that integrates and writes.
//!
//! [`config`] is the configuration as written, checked and resolved. [`assemble`] builds a
//! [`simulation::Simulation`] from it, which advances the particles and writes outputs and checkpoints when they are due.
//! [`cluster`] turns what [`tisane::diagnostics::cluster`] finds into the rows of its journals.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod assemble;
pub mod cluster;
pub mod config;
pub mod simulation;
