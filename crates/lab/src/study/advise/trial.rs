//! A trial of advice: what was tried, and what came of it.

use crate::study::integrators::Integrator;
use tisane::force::precision::Precision;
use tisane_run::config::Engine;

/// Steps of dt_max in each of the first trials, at most.
pub(super) const MAX_STEPS: u64 = 64;

/// What a trial is tried with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Engine.
    pub engine: Engine,
    /// Precision mode.
    pub mode: Precision,
    /// Integrator.
    pub integrator: Integrator,
    /// Accuracy of the time step.
    pub accuracy: f64,
}

impl Candidate {
    /// Returns all but the accuracy, over which the laws are fitted.
    pub(super) fn group(&self) -> (Engine, Precision, Integrator) {
        (self.engine, self.mode, self.integrator)
    }

    /// Describes the candidate in a line.
    #[must_use]
    pub fn describe(&self) -> String {
        let Self { engine, mode, integrator, accuracy } = self;
        format!("{}, {}, {}, {} = {accuracy}", engine.name(), mode.name(), integrator.name(), integrator.accuracy_key())
    }
}

/// Result of a trial, scaled to the whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// What was tried.
    pub candidate: Candidate,
    /// Part of the run that it covered.
    pub part: f64,
    /// Wall time of the whole run, in s.
    pub seconds: f64,
    /// Energy error at the end of the run: expected, least and most; what was measured, three times, if the trial covered
    /// all of it; NaN if the energy says nothing.
    pub error: [f64; 3],
    /// Energy errors at the end of each dt_max of the trial.
    pub errors: Vec<f64>,
    /// Steps of dt_max in the run.
    pub steps: f64,
}

impl Trial {
    /// Returns true if its energy errors are evidence: numbers, of which one at least is not exactly 0.
    #[must_use]
    pub fn has_energy_error(&self) -> bool {
        !self.error[0].is_nan()
    }

    /// Returns true if it could go on: it had all steps that the first trials have, and the run has more.
    pub(super) fn is_cut(&self) -> bool {
        self.part < 1.0 && self.errors.len() as u64 == MAX_STEPS
    }
}
