//! Sizes of type, and the room that labels of ticks take.

use super::figure::Scale;
use super::font;
use super::ticks::Tick;

/// Sizes of type.
pub(super) const TITLE: f64 = 13.0;
pub(super) const LABEL: f64 = 12.0;
pub(super) const TICK: f64 = 11.0;
pub(super) const NOTE: f64 = 9.5;
/// From the axes to the labels of their ticks, from there to the labels of the axes.
pub(super) const PAD: f64 = 6.0;

pub(super) fn label_width(tick: &Tick) -> f64 {
    tick.label.lines().map(|line| font::width(line, TICK)).fold(0.0, f64::max)
}

pub(super) fn widest(ticks: &[Tick]) -> f64 {
    ticks.iter().map(label_width).fold(0.0, f64::max)
}

/// Returns the largest number of ticks on a length, by the room that one takes on a linear and on a logarithmic axis.
pub(super) fn max(scale: Scale, room: f64, linear: f64, log: f64) -> usize {
    (room / if scale == Scale::Linear { linear } else { log }) as usize
}
