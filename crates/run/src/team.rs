//! Ranks of MPI that compute forces together: rank 0 runs the simulation, and the others follow it with engines that share
//! the targets of its blocks.
//!
//! Only rank 0 reads and writes files, decides and prints, so that ranks cannot disagree. What travels are corrected
//! particles, blocks of targets and their forces; sums are made whole by one rank each, so that the number of ranks changes
//! no bit. Without the feature `mpi` there is no team.

#[cfg(feature = "mpi")]
mod lead;
mod order;
#[cfg(feature = "mpi")]
pub(crate) mod protocol;

#[cfg(feature = "mpi")]
pub use lead::Team;
pub(crate) use order::Order;
#[cfg(feature = "mpi")]
pub(crate) use protocol::ANSWER_OF_MEMBERS;

/// No team, in a build without MPI.
#[cfg(not(feature = "mpi"))]
#[derive(Debug)]
pub enum Team {}

#[cfg(not(feature = "mpi"))]
impl Team {
    /// Does nothing: there is none.
    pub(crate) fn share<E>(&'static self, _: Order, _: E) -> tisane::Result<E> {
        match *self {}
    }

    /// Does nothing: there is none.
    #[must_use]
    pub fn describe(&self) -> String {
        match *self {}
    }

    /// Does nothing: there is none.
    #[must_use]
    pub fn take_threads(&self, _: usize) -> usize {
        match *self {}
    }

    /// Does nothing: there is none.
    #[must_use]
    pub fn size(&self) -> usize {
        match *self {}
    }

    /// Does nothing: there is none.
    pub(crate) fn asked(&self) -> usize {
        match *self {}
    }
}
