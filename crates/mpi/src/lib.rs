//! A dozen calls of MPI with types and time limits: what forces on several hosts need, and no more.
//!
//! The feature `mpi` turns it on. Without it the crate is empty, and its build needs no MPI; with it, `mpicc` (or what
//! the environment variable `MPICC` names) compiles the calls and says what to link.
//!
//! Rank 0 leads: it expects a message from each other rank (`World::expect`), broadcasts work to all
//! (`World::broadcast`), computes its own share and completes the messages (`World::complete`). The others receive the
//! broadcast and send their message to rank 0 (`World::send`). While they wait, they poll under a `Wait` with a time
//! limit, so that the end of a rank becomes a `Fault` on the others and not a program that hangs.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

#[cfg(feature = "mpi")]
#[allow(unsafe_code, reason = "calls of the MPI library, which lends buffers to it")]
mod calls;
#[cfg(feature = "mpi")]
mod fault;
#[cfg(feature = "mpi")]
mod launched;
#[cfg(feature = "mpi")]
mod wait;
#[cfg(feature = "mpi")]
mod world;

#[cfg(feature = "mpi")]
pub use fault::Fault;
#[cfg(feature = "mpi")]
pub use launched::launched;
#[cfg(feature = "mpi")]
pub use wait::Wait;
#[cfg(feature = "mpi")]
pub use world::{LONGEST_MESSAGE, Pending, World};
