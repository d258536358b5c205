//! Cubic splines through columns of a table.

/// Returns the slopes at the rows of the cubic spline through `values` at `times`, at least four, which has no jump of the third
/// derivative at the second and the last row but one ("not a knot"; de Boor 1978, A Practical Guide to Splines, IV).
pub fn slopes(times: &[f64], values: &[f64]) -> Vec<f64> {
    let n = times.len();
    let h: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let d: Vec<f64> = values.windows(2).zip(&h).map(|(pair, h)| (pair[1] - pair[0]) / h).collect();
    let end = |h0: f64, h1: f64, d0: f64, d1: f64| {
        let both = h0 + h1;
        ((h0 + 2.0 * both) * h1 * d0 + h0 * h0 * d1) / both
    };
    // Rows of a tridiagonal system: before, at, after, right side.
    let row = |i: usize| match i {
        0 => [0.0, h[1], h[0] + h[1], end(h[0], h[1], d[0], d[1])],
        _ if i == n - 1 => [h[n - 2] + h[n - 3], h[n - 3], 0.0, end(h[n - 2], h[n - 3], d[n - 2], d[n - 3])],
        _ => [h[i], 2.0 * (h[i - 1] + h[i]), h[i - 1], 3.0 * (h[i] * d[i - 1] + h[i - 1] * d[i])],
    };
    // Elimination downwards, substitution upwards.
    let (mut after, mut right) = (vec![0.0; n], vec![0.0; n]);
    for i in 0..n {
        let [before, at, next, value] = row(i);
        let (above, sum) = if i == 0 { (0.0, 0.0) } else { (after[i - 1], right[i - 1]) };
        let pivot = at - before * above;
        after[i] = next / pivot;
        right[i] = (value - before * sum) / pivot;
    }
    for i in (0..n - 1).rev() {
        right[i] -= after[i] * right[i + 1];
    }
    right
}

/// Returns value, first and second derivative of the cubic polynomial over an interval of the length `h` with these values and slopes
/// at its ends, at the part `z` of it.
pub fn cubic(h: f64, z: f64, [y0, y1]: [f64; 2], [s0, s1]: [f64; 2]) -> [f64; 3] {
    let rise = y1 - y0;
    let (c1, c2, c3) = (h * s0, 3.0 * rise - h * (2.0 * s0 + s1), h * (s0 + s1) - 2.0 * rise);
    let value = y0 + z * (c1 + z * (c2 + z * c3));
    let slope = (c1 + z * (2.0 * c2 + z * 3.0 * c3)) / h;
    [value, slope, (2.0 * c2 + 6.0 * z * c3) / (h * h)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cubic_polynomial_is_met_exactly_at_uneven_times() {
        let times = [-1.0, 0.0, 0.5, 2.0, 2.25, 4.0];
        let (f, slope) = (|t: f64| 1.0 - t + 0.5 * t * t * t, |t: f64| -1.0 + 1.5 * t * t);
        let values = times.map(f);
        for (t, found) in times.iter().zip(slopes(&times, &values)) {
            assert!((found - slope(*t)).abs() < 1e-12, "{t}: {found}");
        }
        let found = cubic(1.5, 0.4, [f(0.5), f(2.0)], [slope(0.5), slope(2.0)]);
        let t = 0.5 + 0.6;
        for (found, expected) in found.into_iter().zip([f(t), slope(t), 3.0 * t]) {
            assert!((found - expected).abs() < 1e-13, "{found} is not {expected}");
        }
        // The least number of rows.
        assert_eq!(slopes(&times[..4], &values[..4]).len(), 4);
    }

    #[test]
    fn verify_the_order_of_a_spline_is_four() {
        let error = |n: usize| {
            let times: Vec<f64> = (0..=n).map(|k| 3.0 * k as f64 / n as f64).collect();
            let values: Vec<f64> = times.iter().map(|t| t.sin()).collect();
            let slopes = slopes(&times, &values);
            let middle = |k: usize| {
                let h = times[k + 1] - times[k];
                let [found, ..] = cubic(h, 0.5, [values[k], values[k + 1]], [slopes[k], slopes[k + 1]]);
                (found - (times[k] + 0.5 * h).sin()).abs()
            };
            (0..n).map(middle).fold(0.0, f64::max)
        };
        let order = (error(32) / error(64)).log2();
        assert!((3.7..4.4).contains(&order), "{order}");
    }
}
