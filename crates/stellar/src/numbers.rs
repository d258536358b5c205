//! Small numerical tools. Powers are always `libm::pow`: M^a by `exp` and `log` would have other bits.

/// Returns the value at `x` of the straight line through two points.
pub(crate) fn line(x: f64, from: (f64, f64), to: (f64, f64)) -> f64 {
    from.1 + (to.1 - from.1) * (x - from.0) / (to.0 - from.0)
}

/// Returns the polynomial with these coefficients, lowest power first, at `x`.
pub(crate) fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| c + x * sum)
}

/// Returns where a growing function reaches `value` between two bounds, or the bound nearer to it.
pub(crate) fn inverse(value: f64, bounds: (f64, f64), function: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = bounds;
    // 60 halvings of the largest range of masses leave less than the rounding of its ends.
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if function(middle) < value { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}
