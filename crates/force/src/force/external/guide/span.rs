//! A step of the orbit for a device, which finds the origin at its moments by itself.

use super::segment::Coefficients;
use crate::time::Time;

/// Orbit of the origin over a step of the longest length.
#[derive(Clone, Debug, PartialEq)]
pub struct OrbitSpan {
    /// Moment of its beginning.
    pub from: Time,
    /// Moment of its end.
    pub until: Time,
    /// Segments of equal length, a power of two in number, and behind them the first one after the end.
    pub segments: Vec<Coefficients>,
}
