//! What a rank is asked to open.

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
    /// Flag that it computes forces with jerk and potential.
    #[cfg_attr(feature = "mpi", serde(skip))]
    pub whole: bool,
}
