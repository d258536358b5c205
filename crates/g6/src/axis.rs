//! Time axis of the engine: whole ticks of 2⁻⁴⁵ in the client's unit of time.
//!
//! Clients count time in f64, and block steps are powers of two. A moment that is a whole number of ticks is therefore
//! the rule, and the engine predicts sources between such moments exactly as the client does. Moments between ticks are
//! served by predicting on the host ([`crate::sources`]).

use tisane::time::{Clock, Time};

/// Number of ticks in the unit of time.
const TICKS: f64 = (1u64 << 45) as f64;
/// Tick of the time zero.
const ZERO: u64 = 1 << 63;
/// Largest distance from the time zero, in ticks.
const FURTHEST: f64 = (1u64 << 62) as f64;
/// Largest number of ticks over which an engine predicts: 128 units of time.
pub const LONGEST: u64 = (1 << 52) - 1;
/// Clock of the engines.
pub const CLOCK: Clock = Clock { start: -((1u64 << 18) as f64), dt_max: 1.0 / 512.0 };

/// Returns the moment `t`, if it is a whole number of ticks within the range of the axis.
#[must_use]
pub fn moment(t: f64) -> Option<Time> {
    let ticks = t * TICKS;
    (ticks.abs() <= FURTHEST && ticks.fract() == 0.0).then(|| Time(ZERO.wrapping_add_signed(ticks as i64)))
}

/// Returns a moment for sources that stand still, when the true one is not on the axis.
#[must_use]
pub const fn any_moment() -> Time {
    Time(ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_measures_the_same_lengths_of_time() {
        assert_eq!(CLOCK.tick(), 1.0 / TICKS);
        for (from, to) in [(0.0, 0.125), (-3.5, 2.0), (7.0, 7.0 + 2f64.powi(-45)), (100.0, 227.0 + 2f64.powi(-40))] {
            let (a, b) = (moment(from).unwrap(), moment(to).unwrap());
            assert_eq!(CLOCK.between(a, b), to - from);
            assert!(b.0 - a.0 <= LONGEST);
            assert!((CLOCK.time(a) - from).abs() < 1e-9);
        }
    }

    #[test]
    fn only_whole_ticks_near_zero_are_moments() {
        for t in [0.1, 2f64.powi(-46), 1e6, -1e300, f64::NAN, f64::INFINITY] {
            assert_eq!(moment(t), None, "{t}");
        }
        assert_eq!(moment(-0.0), moment(0.0));
        assert_eq!(moment(0.0), Some(any_moment()));
    }
}
