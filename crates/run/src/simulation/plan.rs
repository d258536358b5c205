//! Plan of a run, and the reasons for its end.

use crate::cluster;
use std::path::PathBuf;
use std::time::Duration;
use tisane::time::Time;
use tisane_io::directory;
use tisane_io::fields::{DiagnosticsRow, FieldColumns};

/// Intervals of the outputs and limits of a run. Intervals are in units of `dt_max`: all particles are synchronised at
/// these times anyway, so that outputs cannot change the trajectory.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Output directory.
    pub directory: PathBuf,
    /// Time at which the run ends.
    pub end: Time,
    /// Interval of the diagnostics, in `dt_max`.
    pub diagnostics_every: u64,
    /// Interval of the snapshots, in `dt_max`.
    pub snapshots_every: u64,
    /// Plan of the surveys of the cluster; none if they are disabled.
    pub cluster: Option<cluster::Plan>,
    /// Wall time between checkpoints.
    pub checkpoint_interval: Duration,
    /// Wall time after which this session of the run stops with a checkpoint.
    pub wall_time: Option<Duration>,
    /// Block steps after which this session of the run stops with a checkpoint.
    pub block_steps: Option<u64>,
    /// Relative energy error of a row of diagnostics above which the run stops with an error; by default a quarter of
    /// the larger of kinetic and potential energy.
    pub energy_error: Option<f64>,
    /// Part of the mass within the tidal radius at the start below which the run stops with a checkpoint.
    pub bound_fraction: Option<f64>,
    /// Flag to wait for space if a file does not fit on the disk, instead of ending with an error.
    pub wait_for_space: bool,
    /// Columns of the diagnostics by the external field that acts on the particles.
    pub field: FieldColumns,
    /// Flag that the Jacobi energy in the tide is conserved.
    pub conserves_jacobi: bool,
    /// Softening, in internal units.
    pub epsilon: f64,
    /// Flag that the integrator has subsystems. It keeps a state of its own, from which that of the particles is made at the
    /// end of a call: a call takes many steps.
    pub subsystems: bool,
    /// Flag that collisions or escapers are looked for: the number of stars may fall, and the stars journal is written.
    pub star_events: bool,
    /// Flag that stars evolve: the stellar journal is written.
    pub evolution: bool,
    /// Flag that the run stops where two stars touch.
    pub stops_at_contact: bool,
}

impl Plan {
    /// Returns the optional columns of the diagnostics whose presence follows from the run.
    pub(super) fn optional_columns(&self) -> Vec<(&'static str, bool)> {
        DiagnosticsRow::optional_columns(
            (self.field, self.conserves_jacobi),
            self.subsystems,
            self.star_events,
            self.evolution,
        )
    }
}

/// Reason for the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitReason {
    /// The run reached `t_end`.
    Finished,
    /// A signal requested a stop (SIGINT, SIGTERM).
    Interrupted,
    /// The limit of wall time was reached.
    TimeLimit,
    /// The limit of block steps was reached.
    BlockStepLimit,
    /// The mass within the tidal radius fell below the limit.
    Dissolution,
    /// Two stars touched, at which the run was to stop.
    Collision,
    /// An error ended the run.
    Failed,
}

impl ExitReason {
    /// Returns the name in `summary.json`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Interrupted => "interrupted",
            Self::TimeLimit => "time-limit",
            Self::BlockStepLimit => "block-step-limit",
            Self::Dissolution => "dissolution",
            Self::Collision => "collision",
            Self::Failed => directory::FAILED,
        }
    }
}
