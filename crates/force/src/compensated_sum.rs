//! Compensated sums, for every total that diagnostics report.

use crate::particles::vector::Vec3;

/// Returns the sum by Neumaier's variant of Kahan's compensation (Neumaier 1974, ZAMM 54, 39): the error does not grow
/// with the number of terms. The result depends on the order of the terms, which is always storage order.
#[must_use]
pub fn sum(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut total, mut lost) = (0.0f64, 0.0f64);
    for x in terms {
        let t = total + x;
        lost += if total.abs() >= x.abs() { (total - t) + x } else { (x - t) + total };
        total = t;
    }
    total + lost
}

/// Returns the [`sum`] of vectors, by component.
#[must_use]
pub fn sum3(terms: impl Iterator<Item = Vec3> + Clone) -> Vec3 {
    Vec3::from([0, 1, 2].map(|k| sum(terms.clone().map(|v| v[k]))))
}

/// Returns a sum and what its rounding has cut off, exactly (Knuth 1969, The Art of Computer Programming, vol. 2, 4.2.2).
#[inline]
#[must_use]
pub fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_and_its_rest_are_exact() {
        assert_eq!(two_sum(1.0, 1e-30), (1.0, 1e-30));
        assert_eq!(two_sum(1e-30, -1.0), (-1.0, 1e-30));
    }

    #[test]
    fn keeps_what_a_plain_sum_loses() {
        let terms = [1.0, 1e100, 1.0, -1e100];
        assert_eq!(sum(terms.into_iter()), 2.0);
        assert_eq!(terms.iter().sum::<f64>(), 0.0);
    }
}
