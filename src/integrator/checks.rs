//! Checks of settings as users write them.

use tisane_force::time::TICKS_PER_DT_MAX;
use tisane_force::units::Real;

/// Invalid setting of a scheme, at a key of its section.
#[derive(Clone, Debug, PartialEq)]
pub enum InvalidSetting {
    /// Value that must be above zero.
    NotPositive(&'static str, Real),
    /// Value that is wrong for the reason given.
    Wrong(&'static str, String),
}

/// Adds an invalid setting for a value that is not above zero.
pub(crate) fn positive(found: &mut Vec<InvalidSetting>, key: &'static str, value: Option<Real>) {
    found.extend(value.filter(|value| value.get() <= 0.0).map(|value| InvalidSetting::NotPositive(key, value)));
}

/// Returns the length of a tick where the longest step is `dt_max`.
pub(crate) fn tick(dt_max: f64) -> f64 {
    dt_max / TICKS_PER_DT_MAX as f64
}
