//! The rows of an engine, a mode and an integrator, with the laws through them.

use super::row::Row;
use crate::study::config::TimeSpan;
use crate::study::fit::Power;
use crate::study::integrators::Integrator;
use crate::study::model::Fit;
use crate::study::trials::Key;
use tisane::force::precision::Precision;

/// An engine in a mode with an integrator, and what took its steps: its rows and the laws through them.
#[derive(Clone, Debug)]
pub struct Line {
    /// Engine.
    pub engine: String,
    /// Precision mode.
    pub mode: Precision,
    /// Integrator.
    pub integrator: Integrator,
    /// By N.
    pub rows: Vec<Row>,
    /// Block steps of a time unit over N, beside PZ eq. 17.
    pub block_steps: Option<Power>,
    /// Mean block over N, beside PZ eq. 14.
    pub mean_block: Option<Power>,
    /// The performance model.
    pub fit: Fit,
}

/// True if the workload is that of PZ table 2.
#[must_use]
pub fn is_of_the_paper(span: &TimeSpan, key: &Key) -> bool {
    *span == TimeSpan::default() && (key.integrator, key.accuracy) == (Integrator::default(), 0.01)
}
