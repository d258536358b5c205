//! Block steps that an engine takes by itself: scheduler, prediction, forces, corrector and step criterion where the
//! sources are, without the host between them.

use super::external::guide::span::OrbitSpan;
use super::external::parts::FieldParts;
use super::forces::Forces;
use super::noise::Noise;
use super::range::Thresholds;
use crate::error::Result;
use crate::particles::Particles;
use crate::time::{Clock, Level, Time};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Hermite scheme of block steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepScheme {
    /// 4th order: `tisane::integrator::hermite4`.
    Hermite4 {
        /// Accuracy parameter ν of Aarseth's criterion.
        nu: f64,
        /// Number of evaluations and corrections a step: the n of P(EC)ⁿ.
        iterations: u32,
    },
    /// Multi-point: `tisane::integrator::multipoint`.
    Multipoint {
        /// Number of earlier points, by each of which the order rises by two above 4.
        points: u32,
        /// Accuracy parameter η of the step criterion.
        eta: f64,
        /// Flag of the criterion that takes third derivatives of the acceleration, not fourth ones.
        third: bool,
    },
    /// Neighbour scheme: `tisane::integrator::ahmad_cohen`.
    AhmadCohen {
        /// Number of earlier points of each part of the force.
        points: u32,
        /// Accuracy parameters η of the irregular and the regular steps.
        eta: [f64; 2],
        /// Highest derivatives of the accelerations that their criteria take: 2, 3 or 4.
        criteria: [u32; 2],
        /// Number of neighbours that is wanted.
        wanted: f64,
        /// Largest number of neighbours of a list.
        max: usize,
    },
}

impl StepScheme {
    /// Returns ν, or η of a multi-point scheme.
    #[must_use]
    pub const fn accuracy(self) -> f64 {
        match self {
            Self::Hermite4 { nu: accuracy, .. } | Self::Multipoint { eta: accuracy, .. } => accuracy,
            Self::AhmadCohen { eta: [accuracy, _], .. } => accuracy,
        }
    }

    /// Returns the number of evaluations and corrections a step.
    #[must_use]
    pub const fn iterations(self) -> u32 {
        match self {
            Self::Hermite4 { iterations, .. } => iterations,
            Self::Multipoint { .. } | Self::AhmadCohen { .. } => 1,
        }
    }

    /// Returns the number of earlier points.
    #[must_use]
    pub const fn points(self) -> u32 {
        match self {
            Self::Hermite4 { .. } => 0,
            Self::Multipoint { points, .. } | Self::AhmadCohen { points, .. } => points,
        }
    }

    /// Returns true for the criterion of a multi-point scheme that takes third derivatives.
    #[must_use]
    pub const fn is_third(self) -> bool {
        matches!(self, Self::Multipoint { third: true, .. })
    }

    /// Returns ν of the 4th-order scheme with one evaluation a step, which needs nothing but the particle's own state.
    #[must_use]
    pub fn plain_nu(self) -> Option<f64> {
        match self {
            Self::Hermite4 { nu, iterations: 1 } => Some(nu),
            Self::Hermite4 { .. } | Self::Multipoint { .. } | Self::AhmadCohen { .. } => None,
        }
    }
}

/// Rules of the block steps, in internal units.
#[derive(Clone, Copy, Debug)]
pub struct StepRules {
    /// Scheme with its accuracy parameter.
    pub scheme: StepScheme,
    /// Longest step.
    pub dt_max: f64,
    /// Deepest level of a step.
    pub floor: Level,
    /// Flag that shorter steps are clamped to the floor; otherwise the steps end before a deeper level is taken.
    pub clamps: bool,
    /// Flag that the corrector keeps the low parts of positions and velocities.
    pub compensated: bool,
    /// Rounding errors of the accelerations.
    pub noise: Noise,
    /// Limits within which a target and its force need no closer look.
    pub thresholds: Thresholds,
}

/// External field of block steps that an engine takes by itself.
#[derive(Clone, Copy, Debug)]
pub struct StepField<'a> {
    /// The field.
    pub parts: &'a Arc<FieldParts>,
    /// Time of the moment 0, in internal units.
    pub start: f64,
    /// Orbit of the origin of coordinates over at least the steps that are asked for; none where it is that of the field.
    pub orbit: Option<&'a OrbitSpan>,
}

/// Part of an integration.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// Moment of the last block.
    pub from: Time,
    /// Moment that no step passes.
    pub until: Time,
    /// Largest number of steps.
    pub max: u64,
}

/// One block step that an engine is asked for.
#[derive(Clone, Copy, Debug)]
pub struct NextStep<'a> {
    /// Moment of the last block.
    pub from: Time,
    /// Moment of this one.
    pub now: Time,
    /// Its particles, ascending.
    pub block: &'a [u32],
    /// Moment beyond which the engine does not work ahead.
    pub until: Time,
}

/// Block steps that an engine took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Moment of the last block.
    pub now: Time,
    /// Number of block steps.
    pub block_steps: u64,
    /// Number of particle steps.
    pub particle_steps: u64,
    /// Number of particle steps that were clamped to the floor.
    pub clamped: u64,
    /// Number of pairs evaluated, where that does not follow from the number of particle steps.
    pub pairs: Option<u64>,
    /// Number of further steps, at least one, of which the last needs the host's closer look at a force; 0 where the
    /// engine stopped for another reason. None of them is taken.
    pub refused: u64,
}

/// Reason for an integrator that takes many block steps at once to return early. It changes no bit.
#[derive(Clone)]
pub struct Pause {
    stop: Arc<dyn Fn() -> bool + Send + Sync>,
    after: Duration,
}

impl Pause {
    /// Creates a pause after some time, or as soon as `stop` returns true, which is asked some hundred times a second.
    #[must_use]
    pub fn new(stop: impl Fn() -> bool + Send + Sync + 'static, after: Duration) -> Self {
        Self { stop: Arc::new(stop), after }
    }

    /// Returns true if work that began then has to pause.
    #[must_use]
    pub fn is_due(&self, began: Instant) -> bool {
        (self.stop)() || began.elapsed() >= self.after
    }

    /// Returns true if work that began then has to pause, where it is to take `at_least` so long unless it is stopped: for work
    /// that is dear to hand over.
    #[must_use]
    pub fn is_due_after(&self, began: Instant, at_least: Duration) -> bool {
        (self.stop)() || began.elapsed() >= self.after.max(at_least)
    }

    /// Returns the pause for a part, that begins now, of work that began then.
    #[must_use]
    pub fn left(&self, began: Instant) -> Self {
        Self { stop: Arc::clone(&self.stop), after: self.after.saturating_sub(began.elapsed()) }
    }
}

impl std::fmt::Debug for Pause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pause").field("after", &self.after).finish_non_exhaustive()
    }
}

/// System whose block steps a [`SystemStepper`] takes.
pub struct SystemSteps<'a> {
    /// Particles, on the schedule of block steps: as after the start of an integrator.
    pub particles: &'a mut Particles,
    /// Time axis.
    pub clock: Clock,
    /// Plummer softening, in internal units.
    pub epsilon: f64,
    /// Rules of the steps; see `tisane::integrator::Integrator::step_rules`.
    pub rules: StepRules,
    /// Moments and number of steps.
    pub span: Span,
    /// Number of steps that brought the system from time zero to the beginning of the span, 0 if that is not known. It
    /// tells how many are to come, so that all systems can end together; no bit depends on it.
    pub before: u64,
}

/// Device that takes the block steps of many independent systems at a time. Each system's bits are those of the same
/// system alone.
pub trait SystemStepper: Send {
    /// Evaluates the forces of all particles of each system, with its Plummer softening, on each other, at the positions
    /// and velocities that they have: all at one moment.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) for a system larger than what this was made for; otherwise if the device
    /// fails.
    fn forces(&mut self, systems: &[(&Particles, f64)]) -> Result<Vec<Forces>>;

    /// Takes steps of all systems, each up to the end of its span, and stores the new states. May return early where
    /// `pause` says so. The results are in the order of the systems.
    ///
    /// A system with a force that needs the host's closer look keeps its state from before the launch, and
    /// [`Taken::refused`] says how many steps are the host's, while the others go on; likewise, with 1, one without
    /// particles, whose particles are not on the schedule of block steps, or whose scheme has no
    /// [`StepScheme::plain_nu`].
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) for a system larger than what this was made for; otherwise if the device
    /// fails: then the states of some systems are new, and of some old.
    fn take(&mut self, systems: &mut [SystemSteps<'_>], pause: Option<&Pause>) -> Result<Vec<Taken>>;
}

/// Returns true if every particle stands at the last moment, not after `now`, of its level, as the schedule has it.
#[must_use]
pub fn is_on_schedule(p: &Particles, now: Time) -> bool {
    p.time.iter().zip(&p.step).all(|(&time, &level)| is_at_its_moment(time, level, now))
}

/// Returns true if a particle of a level that stands at `time` is on schedule: see [`is_on_schedule`].
#[must_use]
pub fn is_at_its_moment(time: Time, level: Level, now: Time) -> bool {
    time.0 == now.0 / level.ticks() * level.ticks()
}
