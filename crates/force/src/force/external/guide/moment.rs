//! Moments between which the strength of a field changes smoothly and by little, on the time axis of a run.

use crate::force::external::field::ExternalField;
use crate::time::{Clock, Time};

/// Moment at which the power of a moving origin is summed between multiples of the longest step. The rate of the field may jump there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// First tick at it or after it.
    pub at: Time,
    /// Time at which the rate is that before, in internal units.
    pub before: f64,
    /// Time, hardly later, at which it is that after.
    pub after: f64,
}

/// Returns the moments of a field from the start of the time axis on, in their order; without those that are as far from the one before
/// as the longest step is long.
pub fn of(field: &dyn ExternalField, clock: &Clock) -> Vec<Moment> {
    let mut times = field.moments();
    times.sort_unstable_by(f64::total_cmp);
    times.dedup();
    let (tick, mut last) = (clock.tick(), f64::NEG_INFINITY);
    times.retain(|t| {
        let is_near = last == f64::NEG_INFINITY || t - last < clock.dt_max;
        last = *t;
        is_near && *t >= clock.start
    });
    let moment = |t: f64| Moment {
        at: Time(((t - clock.start) / tick).ceil() as u64),
        before: t,
        after: t.next_up().max(t + 0.5 * tick),
    };
    times.into_iter().map(moment).collect()
}
