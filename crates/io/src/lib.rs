//! Files in and out: what tisane writes and reads back (snapshots, checkpoints, diagnostics), and the [`formats`] of others.
//!
//! Every file is written under a temporary name, flushed and renamed ([`atomic`]); every HDF5 file ends in a SHA-256 of all its
//! bytes ([`seal`]), which readers check before the HDF5 library sees the file.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod atomic;
pub mod checkpoint;
pub mod checksum;
pub mod directory;
pub mod elements;
pub mod fields;
pub mod file_units;
pub mod formats;
mod hdf;
pub mod history;
pub mod inspect;
pub mod journal;
pub mod lock;
pub mod machine;
pub mod provenance;
pub mod regular_file;
pub mod snapshot;
pub mod summary;
pub mod table;

/// Version of the layout of snapshots, checkpoints and diagnostics. Readers take every version up to this one.
pub const FORMAT_VERSION: u64 = 2;
