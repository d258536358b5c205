//! Longest and shortest step of a scheme with block steps, as users write them.

use crate::integrator::checks::{InvalidSetting, positive, tick};
use crate::real;
use std::num::NonZeroU32;
use tisane_force::time::{LOG2_TICKS_PER_DT_MAX, Level};
use tisane_force::units::Real;
use tisane_force::units::digits;

/// Longest time step in N-body units where the configuration does not give it.
const DT_MAX: Real = real!(0.125);
/// Number of shortest time steps in the longest one where the configuration does not give the shortest.
const DT_MIN_PARTS: NonZeroU32 = NonZeroU32::new(1 << 23).unwrap();

/// Treatment of a particle that needs a step below `dt_min`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "serde", schemars(rename = "OnDtMin"))]
pub enum OnFloor {
    /// Stop the run and name the particle and its partner.
    #[default]
    Stop,
    /// Continue with dt_min and count such steps.
    Clamp,
}

/// The keys `dt_max` and `dt_min`, which have defaults.
#[derive(Clone, Copy, Debug)]
pub struct StepRange {
    /// Longest step.
    pub dt_max: Option<Real>,
    /// Shortest step.
    pub dt_min: Option<Real>,
}

impl StepRange {
    /// Returns the range with missing values replaced by their defaults.
    #[must_use]
    pub fn resolved(self) -> Self {
        let dt_max = self.dt_max.unwrap_or(DT_MAX);
        Self { dt_max: Some(dt_max), dt_min: Some(self.dt_min.unwrap_or(dt_max.divided_by(DT_MIN_PARTS))) }
    }

    /// Returns the longest step.
    #[must_use]
    pub fn longest(&self) -> f64 {
        self.dt_max.unwrap_or(DT_MAX).get()
    }

    /// Returns the shortest step.
    #[must_use]
    pub fn shortest(&self) -> f64 {
        self.resolved().dt_min.map_or(0.0, Real::get)
    }

    /// Returns the deepest level that is not shorter than the shortest step.
    #[must_use]
    pub fn floor(&self) -> Level {
        Level::not_shorter_than(self.shortest() / self.longest())
    }

    /// Returns the range for people.
    #[must_use]
    pub fn describe(&self) -> String {
        format!("{} to {}", digits(self.shortest()), digits(self.longest()))
    }

    /// Adds the invalid settings to `found`. Returns true if the longest step is valid. In `physical` units a longest
    /// step that is not set follows from the particles, and the shortest one is checked against it later.
    pub fn check(&self, physical: bool, found: &mut Vec<InvalidSetting>) -> bool {
        let before = found.len();
        let known = self.dt_max.is_some() || !physical;
        positive(found, "dt_max", self.dt_max);
        let sound = found.len() == before;
        positive(found, "dt_min", self.dt_min);
        if known && found.len() == before {
            let (dt_min, dt_max) = (self.shortest(), self.longest());
            let deepest = tick(dt_max);
            if !deepest.is_normal() {
                let problem = format!("{dt_max:e} is too short to be divided into steps");
                found.push(InvalidSetting::Wrong("dt_max", problem));
            } else if dt_min > dt_max {
                let problem = format!("expected at most dt_max = {dt_max}, found {dt_min}");
                found.push(InvalidSetting::Wrong("dt_min", problem));
            } else if dt_min < deepest {
                let problem =
                    format!("expected at least dt_max/2^{LOG2_TICKS_PER_DT_MAX} = {deepest:e}, found {dt_min:e}");
                found.push(InvalidSetting::Wrong("dt_min", problem));
            }
        }
        sound
    }
}
