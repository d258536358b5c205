//! Relative errors of forces, and their distribution.

use tisane_force::particles::Vec3;

/// Maximum, root mean square and 99th percentile of an error over many particles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// The largest error.
    pub max: f64,
    /// Root mean square.
    pub rms: f64,
    /// The smallest error that at least 99 % of the errors do not exceed.
    pub p99: f64,
}

impl Spread {
    /// Spread of an error that is undefined: NaN throughout.
    pub const NOT_COMPARED: Self = Self { max: f64::NAN, rms: f64::NAN, p99: f64::NAN };

    /// Computes the spread of `errors`; zeros if there are none. NaN counts as larger than any number.
    #[must_use]
    pub fn from_errors(mut errors: Vec<f64>) -> Self {
        let n = errors.len();
        if n == 0 {
            return Self::default();
        }
        errors.sort_unstable_by(|a, b| a.abs().total_cmp(&b.abs()));
        let squares: f64 = errors.iter().map(|e| e * e).sum();
        // The nearest rank.
        let rank = (n * 99).div_ceil(100);
        Self { max: errors[n - 1], rms: (squares / n as f64).sqrt(), p99: errors[rank - 1] }
    }

    /// Returns maximum, root mean square and 99th percentile, in this order.
    #[must_use]
    pub fn to_array(self) -> [f64; 3] {
        [self.max, self.rms, self.p99]
    }
}

/// Returns the relative error |x − x₀| / |x₀| of each vector. Where |x₀| is below a thousandth of the sample's mean,
/// that thousandth is the divisor: forces that cancel have no meaningful relative error.
#[must_use]
pub fn relative_errors(found: &[Vec3], reference: &[Vec3]) -> Vec<f64> {
    let mean = reference.iter().map(|v| v.norm()).sum::<f64>() / reference.len().max(1) as f64;
    let error = |(x, x0): (&Vec3, &Vec3)| {
        let difference = (x - x0).norm();
        if difference == 0.0 { 0.0 } else { difference / x0.norm().max(mean / 1000.0) }
    };
    found.iter().zip(reference).map(error).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_of_a_hundred_and_one() {
        let [max, rms, p99] = Spread::from_errors((0..=100).map(f64::from).collect()).to_array();
        assert_eq!((max, p99), (100.0, 99.0));
        assert!((rms - (338_350.0f64 / 101.0).sqrt()).abs() < 1e-12);
        assert_eq!(Spread::from_errors(Vec::new()), Spread::default());
        assert!(Spread::from_errors(vec![1.0, f64::NAN, 2.0]).max.is_nan(), "a NaN must not pass for small");
    }

    #[test]
    fn a_cancelled_force_does_not_make_a_large_error() {
        let reference = [Vec3::x(), Vec3::y(), 1e-17 * Vec3::x()];
        let found = [(1.0 + 1e-6) * Vec3::x(), Vec3::y(), 2e-17 * Vec3::x()];
        let errors = relative_errors(&found, &reference);
        assert!((errors[0] - 1e-6).abs() < 1e-12 && errors[1] == 0.0 && errors[2] < 1e-13, "{errors:?}");
    }
}
