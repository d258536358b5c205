//! What a run is to do, and how it may end.

use crate::cluster;
use std::path::PathBuf;
use std::time::Duration;
use tisane::time::Time;

/// What is written when, and when the run ends. Intervals are in units of `dt_max`, so that outputs fall on moments at which
/// the whole system is synchronised anyway and cannot change the trajectory.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The output directory.
    pub directory: PathBuf,
    /// The end of the run.
    pub end: Time,
    /// Interval of the diagnostics.
    pub diagnostics_every: u64,
    /// Interval of the snapshots.
    pub snapshots_every: u64,
    /// When to look at the cluster, if at all.
    pub cluster: Option<cluster::Plan>,
    /// Wall time between checkpoints.
    pub checkpoint_interval: Duration,
    /// Wall time after which this session of the run stops with a checkpoint.
    pub wall_time: Option<Duration>,
    /// Block steps after which this session of the run stops with a checkpoint.
    pub block_steps: Option<u64>,
    /// Relative energy error of a row of diagnostics at which the run cannot go on; none for where the energy says nothing more.
    pub energy_error: Option<f64>,
    /// Whether to wait where a file does not fit on the disk, in place of ending with an error.
    pub wait_for_space: bool,
    /// True if an external field acts on the particles: then the diagnostics have a column for its energy.
    pub external_field: bool,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitReason {
    /// It reached `t_end`.
    Finished,
    /// It was asked to stop (SIGINT, SIGTERM).
    Interrupted,
    /// Its wall time was up.
    TimeLimit,
    /// It had done as many block steps as it was allowed.
    BlockStepLimit,
}

impl ExitReason {
    /// Its name in `summary.json`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Interrupted => "interrupted",
            Self::TimeLimit => "time-limit",
            Self::BlockStepLimit => "block-step-limit",
        }
    }
}
