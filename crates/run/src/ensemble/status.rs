//! Progress of an ensemble.

/// Progress of an ensemble.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Status {
    /// Number of members.
    pub members: u64,
    /// Number of members that have ended, those that failed included.
    pub ended: u64,
    /// Number of members that failed.
    pub failed: u64,
    /// Members that have ended, and the share of those in progress.
    pub done: f64,
    /// Block steps of all members in this session.
    pub block_steps: u64,
    /// Largest |energy error| of a member that has ended.
    pub energy_error: f64,
}
