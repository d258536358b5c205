//! What was measured of one sphere, and what the model says of it.

use crate::study::trial::Measured;
use crate::study::trials::Key;

/// A sphere on an engine in a mode, by an integrator: the fastest of its repetitions.
#[derive(Clone, Debug)]
pub struct Row {
    /// The parameters, of the fastest repetition.
    pub key: Key,
    /// Measured time, in s.
    pub best: Measured,
    /// Prediction of the fitted model, with the measured block steps, in s.
    pub modelled: f64,
    /// Prediction from N alone, in s: with the laws of block steps and mean block in their place (PZ eqs 10–17).
    pub from_n: f64,
    /// Share of that which goes with the targets in the engine, their communication among it (PZ eq. 13).
    pub targets_share: f64,
}

impl Row {
    /// Wall time of a time unit.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.best.seconds / self.best.span
    }
}
