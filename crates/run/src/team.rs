//! Ranks of MPI that compute forces together: rank 0 runs the simulation, and the others follow it with engines that share
//! the targets of its blocks.
//!
//! Only rank 0 reads and writes files, decides and prints, so that ranks cannot disagree. What travels are corrected
//! particles, blocks of targets and their forces; sums are made whole by one rank each, so that the number of ranks changes
//! no bit. Without the feature `mpi` there is no team.

#[cfg(feature = "mpi")]
mod follow;
#[cfg(feature = "mpi")]
mod lead;
#[cfg(feature = "mpi")]
mod protocol;

#[cfg(feature = "mpi")]
pub use follow::follow;
#[cfg(feature = "mpi")]
pub use lead::Team;
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

/// Engine that every rank opens.
#[cfg_attr(not(feature = "mpi"), expect(dead_code, reason = "only ranks of MPI read it"))]
#[cfg_attr(feature = "mpi", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// Name of the kind.
    pub kind: String,
    /// Name of the precision mode.
    pub precision: String,
    /// Softening, and time axis, in internal units.
    pub epsilon: f64,
    pub start: f64,
    pub dt_max: f64,
    /// Number of particles.
    pub n: usize,
    /// Number of threads of each rank; 0 where each has its own default.
    pub threads: usize,
}
