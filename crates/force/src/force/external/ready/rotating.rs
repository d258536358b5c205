//! Coordinates that turn about the axis z.

/// Coordinate along an axis in the plane z = 0 that is at `angle` from x at t = 0 and turns with `omega`.
pub(super) const ALONG: (&str, &str) = ("u", "x*cos(angle + omega*t) + y*sin(angle + omega*t)");
/// Coordinate across it, a quarter of a turn further.
pub(super) const ACROSS: (&str, &str) = ("w", "y*cos(angle + omega*t) - x*sin(angle + omega*t)");
