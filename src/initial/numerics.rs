//! Numerical methods for the models, in plain arithmetic.

/// Returns the largest value of a function with one maximum on [`a`, `b`], by golden-section search (Kiefer 1953).
pub(crate) fn maximum(f: impl Fn(f64) -> f64, mut a: f64, mut b: f64) -> f64 {
    const SECTION: f64 = 0.618_033_988_749_894_9;
    /// Number of steps. 0.618^60 of the interval is below 1e-12 of it; at a smooth maximum the value is then exact to
    /// the last digit.
    const STEPS: usize = 60;
    let (mut x, mut y) = (b - SECTION * (b - a), a + SECTION * (b - a));
    let (mut fx, mut fy) = (f(x), f(y));
    for _ in 0..STEPS {
        if fx < fy {
            (a, x, fx) = (x, y, fy);
            y = a + SECTION * (b - a);
            fy = f(y);
        } else {
            (b, y, fy) = (y, x, fx);
            x = b - SECTION * (b - a);
            fx = f(x);
        }
    }
    fx.max(fy)
}

/// Returns the argument between `a` and `b` at which an increasing function has the value `wanted`, by bisection down
/// to adjacent numbers; an end of the interval if there is none.
pub(crate) fn bisect(f: impl Fn(f64) -> f64, wanted: f64, mut a: f64, mut b: f64) -> f64 {
    loop {
        let middle = 0.5 * (a + b);
        if !(middle > a && middle < b) {
            return a;
        }
        if f(middle) < wanted {
            a = middle;
        } else {
            b = middle;
        }
    }
}

/// Returns the position of `value` in an ascending column: the row before it, and the fraction of the distance to the
/// next row.
pub(crate) fn locate(column: &[f64], value: f64) -> (usize, f64) {
    let next = column.partition_point(|x| *x <= value).clamp(1, column.len() - 1);
    let (low, high) = (column[next - 1], column[next]);
    (next - 1, ((value - low) / (high - low)).clamp(0.0, 1.0))
}

/// Returns the value of a column at a position that [`locate`] found in another column, by linear interpolation.
pub(crate) fn interpolate(column: &[f64], (row, share): (usize, f64)) -> f64 {
    column[row] + share * (column[row + 1] - column[row])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maxima_roots_and_tables() {
        assert!((maximum(|x| x * (2.0 - x), 0.0, 5.0) - 1.0).abs() < 1e-15);
        assert!((maximum(|x| 1.0 - x, 0.0, 1.0) - 1.0).abs() < 1e-12, "at an end");
        assert!((bisect(|x| x * x, 2.0, 0.0, 2.0) - 2f64.sqrt()).abs() < 1e-15);
        assert_eq!(bisect(|x| x, 2.0, 0.0, 1.0), 1.0_f64.next_down());
        let column = [0.0, 1.0, 4.0];
        assert_eq!(locate(&column, 2.5), (1, 0.5));
        assert_eq!(locate(&column, -1.0), (0, 0.0));
        assert_eq!(locate(&column, 9.0), (1, 1.0));
        assert_eq!(interpolate(&column, (1, 0.5)), 2.5);
    }
}
