//! Files of tisane: the snapshots, checkpoints and journals of a run, their provenance, and the file formats of other
//! programs.
//!
//! | module | content |
//! |---|---|
//! | [`snapshot`] | all particles at one time, in the Gadget HDF5 layout |
//! | [`checkpoint`] | the whole state of a run, from which it continues with the same bits |
//! | [`journal`] | tables that grow while a run writes them: diagnostics, cluster structure, binaries, events |
//! | [`table`] | named columns with units, read from and written to CSV and HDF5 |
//! | [`formats`] | particles in the formats of other programs: AMUSE, Gadget, NEMO, Tipsy, NBODY6, … |
//! | [`provenance`] | program, machine, configuration and initial conditions that a file comes from |
//! | [`directory`], [`lock`] | the output directory of a run, and the lock of the process that writes it |
//! | [`inspect`] | a one-page description of any of these files |
//! | [`findings`] | what ended a run, or slows it |
//! | [`pace`] | the wall time that a run still takes |
//!
//! Every file is written under a temporary name, flushed to the disk and renamed ([`atomic`]), so that a kill or a
//! power cut never leaves half a file. Every HDF5 file ends in a SHA-256 of all its bytes ([`checksum`]), which readers
//! verify before the HDF5 library parses the file. Readers bound the memory they allocate by the length of the file,
//! and report errors as [`tisane::Error`] with the file, the place in it, the expected and the found value.
//!
//! # Example
//!
//! Read the positions of a snapshot and print the distance of each particle from the origin:
//!
//! ```no_run
//! use std::path::Path;
//!
//! fn main() -> tisane::Result<()> {
//!     let snapshot = tisane_io::snapshot::read(Path::new("runs/plummer/snapshots/snapshot_0000.hdf5"))?;
//!     println!("{} particles at t = {} {}", snapshot.pos.len(), snapshot.time, snapshot.units.units.time.name);
//!     for (id, position) in snapshot.id.iter().zip(&snapshot.pos) {
//!         println!("{id}: {} {}", position.norm(), snapshot.units.units.length.name);
//!     }
//!     Ok(())
//! }
//! ```

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod atomic;
pub mod checkpoint;
pub mod checksum;
pub mod directory;
pub mod dissolution;
pub mod elements;
pub mod fields;
pub mod file_units;
pub mod findings;
pub mod formats;
mod hdf;
pub mod history;
pub mod inspect;
pub mod journal;
pub mod lock;
pub mod machine;
mod named_columns;
mod number;
pub mod pace;
pub mod provenance;
pub mod regular_file;
pub mod removed;
pub mod shell;
pub mod snapshot;
pub mod stellar_columns;
mod subsystem_stars;
mod subsystem_table;
pub mod summary;
pub mod table;

/// Version of the layout of snapshots, checkpoints and journals. Readers accept every version from 1 up to this one.
pub const FORMAT_VERSION: u64 = 2;
