//! Span of time that a study measures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tisane::time::TICKS_PER_DT_MAX;
use tisane_run::config::{Problem, Real, above, at_least, real, whole_multiple};

/// Span of time over which a Plummer sphere is measured, with its softening and steps. The defaults are those of
/// Portegies Zwart et al. (2007).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TimeSpan {
    /// Plummer softening length.
    pub epsilon: Real,
    /// Longest time step.
    pub dt_max: Real,
    /// Shortest time step.
    pub dt_min: Real,
    /// Time at which measuring begins; a multiple of dt_max.
    pub t_start: Real,
    /// Time at which measuring ends; a multiple of dt_max.
    pub t_end: Real,
}

impl Default for TimeSpan {
    fn default() -> Self {
        Self {
            epsilon: real!(1.0 / 256.0),
            dt_max: real!(0.125),
            dt_min: real!(1.0 / (1u64 << 26) as f64),
            t_start: real!(0.25),
            t_end: real!(0.5),
        }
    }
}

impl TimeSpan {
    /// Adds the problems of a span of time.
    pub(super) fn check(&self, section: &str, found: &mut Vec<Problem>) {
        let key = |name: &str| format!("{section}.stretch.{name}");
        at_least(found, key("epsilon"), Some(self.epsilon), 0.0);
        let before = found.len();
        above(found, key("dt_max"), Some(self.dt_max), 0.0);
        above(found, key("dt_min"), Some(self.dt_min), 0.0);
        at_least(found, key("t_start"), Some(self.t_start), 0.0);
        if found.len() > before {
            return;
        }
        let (dt_max, dt_min) = (self.dt_max.get(), self.dt_min.get());
        let deepest = dt_max / TICKS_PER_DT_MAX as f64;
        if !(deepest..=dt_max).contains(&dt_min) {
            found.push(Problem::new(
                key("dt_min"),
                format!("expected {deepest:e} to dt_max = {dt_max}, found {dt_min}"),
            ));
        }
        for (name, time) in [("t_start", self.t_start.get()), ("t_end", self.t_end.get())] {
            if time != 0.0 && whole_multiple(time, dt_max).is_none() {
                found.push(Problem::new(key(name), format!("{time} is not a whole multiple of dt_max = {dt_max}")));
            }
        }
        if self.t_end <= self.t_start {
            found.push(Problem::new(
                key("t_end"),
                format!("expected a time after t_start = {}, found {}", self.t_start, self.t_end),
            ));
        }
    }
}
