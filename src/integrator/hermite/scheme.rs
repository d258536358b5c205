//! What makes a Hermite scheme: predictor, corrector, step criterion, and the parameters that all of them have.

use super::limits::OnFloor;
use crate::integrator::particle_slices::ParticleSlices;
use crate::integrator::settings::SchemeInfo;
#[cfg(doc)]
use crate::integrator::timestep::initial;
use std::fmt::Debug;
#[cfg(doc)]
use tisane_force::force::Forces;
use tisane_force::force::block_steps::StepScheme;
use tisane_force::force::precision::Precision;
use tisane_force::force::range::Range;
use tisane_force::particles::{Particles, Vec3};
#[cfg(doc)]
use tisane_force::states::history::History;
#[cfg(doc)]
use tisane_force::states::low_parts::LowParts;
use tisane_force::time::{Level, Time};

/// Number of particles whose new steps are computed together, so that square roots and divisions use the vector unit.
pub const LANES: usize = 16;
/// Parameters of every scheme, in internal units.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Deepest level allowed: that of the shortest step.
    pub floor: Level,
    /// Treatment of particles that need a shorter step.
    pub on_floor: OnFloor,
    /// Rounding error of an acceleration, relative to the larger of |a| and φ²/M: 0 for forces in f64.
    pub noise: f64,
    /// Range of the pair arithmetic of the forces.
    pub range: Range,
    /// Flag that the corrector of a Hermite scheme goes from the old point and keeps the low parts of positions and
    /// velocities, [`LowParts`], so that rounding errors do not add up. The neighbour scheme does not read it.
    pub compensated: bool,
}

impl Limits {
    /// Returns the defaults for forces of a precision mode: steps down to dt_max/2²³, [`OnFloor::Stop`] below, and a
    /// compensated corrector where the forces are in f64.
    #[must_use]
    pub const fn new(precision: Precision) -> Self {
        Self {
            floor: Level(23),
            on_floor: OnFloor::Stop,
            noise: precision.noise(),
            range: Range::for_precision(precision),
            compensated: precision.in_f64(),
        }
    }

    /// Returns the same with a compensated corrector or without one, as far as that is asked for.
    #[must_use]
    pub fn compensated(self, asked: Option<bool>) -> Self {
        Self { compensated: asked.unwrap_or(self.compensated), ..self }
    }
}

/// End of a step: what the corrector is given besides the particle.
#[derive(Clone, Copy, Debug)]
pub struct StepEnd {
    /// Moment.
    pub now: Time,
    /// Length of the step.
    pub dt: f64,
    /// Rounding error of the acceleration: 0 for forces in f64.
    pub noise: f64,
    /// Predicted position.
    pub pos: Vec3,
    /// Predicted velocity.
    pub vel: Vec3,
    /// New acceleration.
    pub acc: Vec3,
    /// Acceleration that the step criterion takes: [`Forces::acc_for_step`].
    pub acc_for_step: Vec3,
    /// New jerk.
    pub jerk: Vec3,
}

/// Choice of the first step of every particle.
#[derive(Clone, Copy, Debug)]
pub enum FirstStep {
    /// By acceleration and jerk: [`initial`] with this ν.
    FromJerk(f64),
    /// By Aarseth's criterion with this ν and derivatives measured in two evaluations shortly after the start.
    Measured(f64),
}

/// Predictor, corrector and step criterion of a Hermite scheme.
pub trait HermiteScheme: Clone + Debug + Send + Sync {
    /// Arguments of the step criterion for [`LANES`] particles, in columns.
    type Lanes: Default;

    /// Properties that do not depend on settings, for messages.
    fn info(&self) -> SchemeInfo;

    /// Numbers of earlier points that the corrector uses and of derivatives that the predictor uses: what the
    /// particles keep in their [`History`].
    fn history(&self) -> [usize; 2] {
        [0, 0]
    }

    /// Number of evaluations and corrections a step: the n of P(EC)ⁿ.
    fn iterations(&self) -> u32 {
        1
    }

    /// Returns the scheme as an engine knows it that takes the steps by itself (see
    /// [`tisane_force::force::ForceEngine::take_steps`]); [`None`] if no engine does.
    fn step_scheme(&self) -> Option<StepScheme> {
        None
    }

    /// Returns the step on a circular orbit, in units of its period over 2π.
    fn natural_step(&self) -> f64;

    /// Returns the choice of the first step.
    fn first_step(&self) -> FirstStep;

    /// Returns the first step of all particles where the longest step, and not the criterion, sets the steps of all that
    /// follow; [`None`] where it may not. `shortest` is the shortest of the measured first steps.
    fn first_of_longest_steps(&self, _shortest: f64, _dt_max: f64) -> Option<f64> {
        None
    }

    /// Returns the predicted position and velocity of particle `i` after `dt`.
    fn predict(&self, p: &Particles, i: usize, dt: f64) -> (Vec3, Vec3);

    /// Returns the corrected position and velocity of particle `i` for the next evaluation, which only schemes with
    /// several evaluations a step have. `low` are its low parts, if there are some.
    fn iterate(&self, _: &Particles, _: usize, _low: Option<[Vec3; 2]>, end: &StepEnd) -> (Vec3, Vec3) {
        (end.pos, end.vel)
    }

    /// Moves particle `i` of the slices to the end of its step, except for its potential and its next step, and stores
    /// the arguments of the criterion in a lane.
    fn correct(&self, p: &mut ParticleSlices<'_>, i: usize, end: &StepEnd, lanes: &mut Self::Lanes, lane: usize);

    /// Computes the steps that the criterion gives in the first lanes: as many as `wanted` has places, at most [`LANES`].
    fn wanted(&self, lanes: &Self::Lanes, wanted: &mut [f64]);
}
