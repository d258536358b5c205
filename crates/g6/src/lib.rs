//! The GRAPE-6 library on tisane's force engines: `libg6.so` and `libg6.a`, for programs that were written for a GRAPE-6
//! board or for Phantom-GRAPE, AMUSE's `libg6` or Sapporo.
//!
//! Such a program loads sources with `g6_set_j_particle`, sets the time with `g6_set_ti`, and asks for the forces on some
//! particles with `g6calc_firsthalf` and `g6calc_lasthalf`. The functions and what they promise are in
//! `include/g6.h`; the page "GRAPE-6" of the documentation says how to link and which programs were tried.
//!
//! [`ffi`] alone deals with pointers. Behind it a [`Cluster`](cluster) is an engine with its [`sources`], and
//! [`neighbours`] finds what an engine does not: the nearest source and those within a radius.

// A mistake of a caller ends in an error code, not in a panic.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod axis;
pub mod cluster;
pub mod failure;
#[allow(unsafe_code, reason = "the functions are called by programs in C and Fortran, with their pointers")]
pub mod ffi;
pub mod neighbours;
mod pool;
mod registry;
pub mod settings;
pub mod sources;
