//! Settings of the integrators as users write them, and everything that the rest of the program needs to know about a
//! scheme.
//!
//! A scheme is one file with the scheme, its settings and their [`Scheme`], and one line in the list of
//! [`IntegratorKind`](super::IntegratorKind).

use super::checks::InvalidSetting;
use super::contract::Integrator;
use super::hermite::limits::StepRange;
use super::steps::Steps;
use super::variant::Variant;
use tisane_force::force::precision::Precision;
use tisane_force::force::{Accelerations, Forces};
use tisane_force::time::Clock;
use tisane_force::units::Real;

/// Properties of a scheme that do not depend on settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemeInfo {
    /// Section of the configuration: `integrator.` and the name.
    pub section: &'static str,
    /// Name with its article, for use in a sentence.
    pub title: &'static str,
    /// Order p of the scheme: the energy error is proportional to the p-th power of the step.
    pub order: u32,
    /// Key of the accuracy parameter.
    pub accuracy_key: &'static str,
    /// Key of the longest step.
    pub dt_max_key: &'static str,
    /// Keys on which its columns of the particles depend: a run that has begun goes on with their values.
    pub state_keys: &'static [&'static str],
    /// Papers that the scheme is taken from, by their keys in the references of `tisane generate cite`.
    pub references: &'static [&'static str],
}

impl SchemeInfo {
    /// Returns the name that users write.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.section.rsplit('.').next().unwrap_or_default()
    }
}

/// Settings of individual block time steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockSteps {
    /// Accuracy ν of the step criterion.
    pub nu: f64,
    /// Shortest and longest step; unit: time.
    pub range: [f64; 2],
    /// Number of evaluations of the forces in each step.
    pub evaluations: u32,
    /// First step of a particle, in units of its natural time |a|/|jerk|.
    pub first: f64,
}

/// Setting whose default follows from the precision mode and the number of particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LateSetting {
    /// Key in the section of the scheme.
    pub key: &'static str,
    /// Value, if it is set.
    pub value: Option<Real>,
    /// Default.
    pub default: Real,
}

/// Integrator by the kind of engine that it needs.
pub enum AnyIntegrator {
    /// Integrator that needs acceleration, jerk and potential of a block of targets.
    Forces(Box<dyn Integrator<Evaluation = Forces>>),
    /// Integrator that needs the accelerations of all particles.
    Accelerations(Box<dyn Integrator<Evaluation = Accelerations>>),
}

/// Settings of a scheme. Lengths of steps are in the user's unit of time.
pub trait Scheme {
    /// Returns the properties that do not depend on settings.
    fn info() -> SchemeInfo
    where
        Self: Sized;

    /// Returns the orders that studies and advice know, each under its name; none for a scheme without block steps.
    fn variants() -> &'static [Variant]
    where
        Self: Sized,
    {
        &[]
    }

    /// Returns the one of these that the settings ask for, if it is among them.
    fn variant(&self) -> Option<&'static Variant> {
        None
    }

    /// Returns the longest step. All particles are synchronised at its multiples.
    fn dt_max(&self) -> f64;

    /// Returns the default time between outputs.
    fn output_interval(&self) -> f64 {
        self.dt_max()
    }

    /// Returns the settings of block steps; [`None`] for a scheme with one step for all particles.
    fn block_steps(&self) -> Option<BlockSteps> {
        None
    }

    /// Returns the step of a scheme with one fixed step for all particles.
    fn shared_step(&self) -> Option<f64> {
        None
    }

    /// Returns the largest number of particles of a scheme that computes the forces itself, which are those of Newton's law on
    /// the CPU; [`None`] for one by the forces of an engine.
    fn max_particles(&self) -> Option<usize> {
        None
    }

    /// Returns descriptions of the scheme and of the lengths of its steps.
    fn describe(&self) -> [String; 2];

    /// Returns the longest and the shortest step as far as they are set; [`None`] for a scheme with one step for all
    /// particles, which is always set.
    fn steps_set(&self) -> Option<StepRange> {
        None
    }

    /// Replaces what [`Scheme::steps_set`] returns, if the scheme has it.
    fn replace_steps(&mut self, _: StepRange) {}

    /// Sets the longest and the shortest step, where they are not set.
    fn set_steps(&mut self, [dt_max, dt_min]: [Real; 2]) {
        if let Some(set) = self.steps_set() {
            self.replace_steps(StepRange { dt_max: set.dt_max.or(Some(dt_max)), dt_min: set.dt_min.or(Some(dt_min)) });
        }
    }

    /// Sets the shortest step, if the scheme has one; an earlier value is replaced.
    fn set_dt_min(&mut self, dt_min: Real) {
        if let Some(set) = self.steps_set() {
            self.replace_steps(StepRange { dt_min: Some(dt_min), ..set });
        }
    }

    /// Writes the defaults into all keys that are not set. That of the longest step is one in N-body units.
    fn resolve(&mut self) {}

    /// Returns the settings whose defaults follow from the precision mode and the number of particles.
    fn late_settings(&self, _: Precision, _n: usize) -> Vec<LateSetting> {
        Vec::new()
    }

    /// Writes the defaults of the [late settings](Self::late_settings) into those that are not set: the bits of a run stay.
    fn resolve_late(&mut self, _: Precision, _n: usize) {}

    /// Returns the power of N by which the wall time of an interval grows, if it is known; [`None`] where it is the pairs of
    /// all particles, in as many steps as their natural times say.
    fn growth(&self) -> Option<f64> {
        None
    }

    /// Returns the memory for `n` particles, with or without subsystems, beyond that of other schemes, in bytes: of the host, and
    /// of a device that takes the steps.
    fn extra_memory(&self, _n: u64, _has_subsystems: bool) -> [u64; 2] {
        [0, 0]
    }

    /// Adds the settings that are invalid with forces of a precision mode to `found`. Returns true if
    /// [`Scheme::dt_max`] is valid. In `physical` units it has no default here: where it is not set, it follows from the
    /// particles.
    fn check(&self, physical: bool, precision: Precision, found: &mut Vec<InvalidSetting>) -> bool;

    /// Returns a warning about settings that are valid but not wise with forces of a precision mode.
    fn doubt(&self, _: Precision) -> Option<String> {
        None
    }

    /// Returns the integrator for a run on the time axis `clock`, in internal units, by forces of a precision mode.
    fn build(&self, precision: Precision, clock: Clock) -> AnyIntegrator;

    /// Builds the scheme for subsystems of few bodies, by forces without softening; [`None`] for one without block steps.
    fn build_steps(&self, _: Precision, _: Clock) -> Option<Box<dyn Steps>> {
        None
    }

    /// Returns true if the scheme needs forces in two parts, by lists of neighbours: see [`tisane_force::force::neighbours`].
    fn needs_lists(&self) -> bool {
        false
    }
}
