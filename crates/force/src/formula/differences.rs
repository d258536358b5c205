//! Derivatives of compiled formulas against differences, and the boundaries between their parts.

/// Step of differences, relative to the distance.
pub(crate) const STEP: f64 = 1.0 / 1024.0;
/// Relative difference up to which two numbers are the same: derivatives and their differences, and the two sides of a
/// boundary.
pub(crate) const TOLERANCE: f64 = 1e-5;
/// Relative change of a difference with half the step up to which it counts as exact enough for a comparison.
const CONVERGED: f64 = 1e-7;
/// Size from which numbers have all their digits, and so have sums of them.
pub(crate) const MIN: f64 = f64::MIN_POSITIVE / f64::EPSILON;
/// Distances near one, relative to it.
pub(crate) const NEIGHBOURS: [f64; 5] = [1.0, 0.997, 0.9983, 1.0019, 1.0037];

/// Difference quotient of the fourth order, with the largest value in it; [`None`] where it is not exact enough.
fn difference(f: impl Fn(f64) -> f64, s: f64) -> Option<(f64, f64)> {
    let quotient = |h: f64| {
        let [a, b, c, d] = [-2.0, -1.0, 1.0, 2.0].map(|k| f(s + k * h));
        ((a - 8.0 * b + 8.0 * c - d) / (12.0 * h), a.abs().max(d.abs()))
    };
    let ((coarse, size), (fine, _)) = (quotient(STEP * s), quotient(0.5 * STEP * s));
    let scale = fine.abs().max(size / s);
    (scale.is_finite() && scale > MIN && (coarse - fine).abs() <= CONVERGED * scale).then_some((fine, scale))
}

/// Returns the derivative at a distance and that by differences, if they are known to differ.
pub(crate) fn wrong(f: impl Fn(f64) -> f64, derivative: impl Fn(f64) -> f64, s: f64) -> Option<[f64; 2]> {
    let (slope, scale) = difference(f, s)?;
    let made = derivative(s);
    ((made - slope).abs() > TOLERANCE * scale).then_some([made, slope])
}

/// Returns the adjacent numbers between which a condition changes.
pub(crate) fn boundary(below: impl Fn(f64) -> bool, [mut low, mut high]: [f64; 2]) -> [f64; 2] {
    let first = below(low);
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return [low, high];
        }
        if below(middle) == first { low = middle } else { high = middle }
    }
}
