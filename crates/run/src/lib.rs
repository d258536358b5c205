//! Runs of tisane: configuration in TOML, assembly of a simulation, and the loop that integrates and writes outputs.
//!
//! - [`config`] reads, checks and resolves a configuration.
//! - [`assemble`] builds a [`simulation::Simulation`] from it.
//! - [`binaries`] finds the close pairs of the particles at the start.
//! - [`simulation`] advances the particles and writes outputs and checkpoints when they are due.
//! - [`proposal`] is a configuration for a file of particles.
//! - [`in_memory`] is a simulation without files, for programs that use the library.
//! - [`cluster`] converts surveys of [`tisane::diagnostics::cluster`] to the rows of the journals.
//!
//! ```no_run
//! use std::path::Path;
//! use tisane_run::assemble::{self, Session};
//! use tisane_run::config::Config;
//! use tisane_run::simulation::Observer;
//! use tisane_io::checkpoint::RunState;
//! use tisane_io::fields::DiagnosticsRow;
//!
//! struct Energy;
//!
//! impl Observer for Energy {
//!     fn step(&mut self, _: &RunState) {}
//!     fn output(&mut self, row: &DiagnosticsRow, _: bool) {
//!         println!("t = {}, dE/E = {:.2e}", row.time, row.relative_energy_error);
//!     }
//! }
//!
//! let text = "run = { name = 'sphere', t_end = 1.0 }\ninitial.plummer.n = 1024\n";
//! let loaded = Config::from_str("sphere.toml", text, Path::new(""), &[])?;
//! let mut simulation = assemble::new_run(assemble::prepare(loaded)?, Session::default())?;
//! std::fs::create_dir_all(&simulation.plan().directory)?;
//! let mut outputs = simulation.start(&mut Energy)?;
//! let reason = simulation.run(&mut outputs, &mut Energy)?;
//! println!("{}", reason.name());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod assemble;
pub mod binaries;
pub mod cluster;
pub mod config;
mod dissolution_time;
pub mod ensemble;
pub mod evolution;
mod field_doubts;
#[cfg(feature = "mpi")]
pub mod follow;
pub mod help;
pub mod in_memory;
pub mod orbit;
mod own_field;
pub mod proposal;
mod roche_contacts;
pub mod roche_forecast;
mod row;
pub mod several;
pub mod simulation;
mod star_columns;
pub mod star_forecast;
mod stars;
mod subsystems;
pub mod system;
pub mod team;
pub mod together;
