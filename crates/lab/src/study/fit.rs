//! Fits of the laws that studies look for.

use nalgebra::{DMatrix, DVector};

/// A power law through measured points, with how far they scatter about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Power {
    /// Value at x = 1.
    pub coefficient: f64,
    /// Power of x.
    pub exponent: f64,
    /// Root mean square of ln(measured / law).
    pub scatter: f64,
}

impl Power {
    /// The value at x.
    #[must_use]
    pub fn at(&self, x: f64) -> f64 {
        self.coefficient * x.powf(self.exponent)
    }
}

/// Least squares in the logarithms; [`None`] for fewer than two different x. Points that are not positive do not count.
#[must_use]
pub fn power(points: &[(f64, f64)]) -> Option<Power> {
    let logs: Vec<[f64; 2]> =
        points.iter().filter(|(x, y)| *x > 0.0 && *y > 0.0 && y.is_finite()).map(|(x, y)| [x.ln(), y.ln()]).collect();
    let n = logs.len() as f64;
    let [x, y] = [0, 1].map(|k| logs.iter().map(|log| log[k]).sum::<f64>() / n);
    let xx: f64 = logs.iter().map(|log| (log[0] - x).powi(2)).sum();
    let xy: f64 = logs.iter().map(|log| (log[0] - x) * (log[1] - y)).sum();
    // With no points it is NaN.
    if xx.is_nan() || xx <= 1e-12 {
        return None;
    }
    let exponent = xy / xx;
    let squares: f64 = logs.iter().map(|log| (log[1] - y - exponent * (log[0] - x)).powi(2)).sum();
    Some(Power { coefficient: (y - exponent * x).exp(), exponent, scatter: (squares / n).sqrt() })
}

/// The value at x between measured points, straight in the logarithms; NaN outside of them.
#[must_use]
pub fn between(points: &[(f64, f64)], x: f64) -> f64 {
    let below = points.iter().filter(|(at, _)| *at <= x).max_by(|a, b| a.0.total_cmp(&b.0));
    let above = points.iter().filter(|(at, _)| *at >= x).min_by(|a, b| a.0.total_cmp(&b.0));
    match (below, above) {
        (Some(a), Some(b)) if a.0 == b.0 => a.1,
        (Some(a), Some(b)) => {
            let part = (x / a.0).ln() / (b.0 / a.0).ln();
            (a.1.ln() + part * (b.1 / a.1).ln()).exp()
        }
        _ => f64::NAN,
    }
}

/// Energy error against the accuracy parameter x of the steps: |ΔE/E| = √((A x^p)² + R²), truncation and round-off
/// being independent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EnergyLaw {
    /// The truncation error at x = 1.
    pub coefficient: f64,
    /// Its power of x; the order of the Hermite scheme promises 2, for dt⁴ with dt ∝ √ν.
    pub exponent: f64,
    /// The round-off error, that stays for x → 0; 0 where the points do not show one.
    pub round_off: f64,
    /// Root mean square of ln(measured / law).
    pub scatter: f64,
}

impl EnergyLaw {
    /// The error at x.
    #[must_use]
    pub fn at(&self, x: f64) -> f64 {
        (self.coefficient * x.powf(self.exponent)).hypot(self.round_off)
    }

    /// The largest x within a range whose error is at most `goal`, if there is one.
    #[must_use]
    pub fn accuracy_for(&self, goal: f64, (least, most): (f64, f64)) -> Option<f64> {
        let left = (goal * goal - self.round_off * self.round_off).max(0.0).sqrt();
        let x = (left / self.coefficient).powf(1.0 / self.exponent).min(most);
        (x >= least && self.at(x) <= goal * (1.0 + 1e-9)).then_some(x)
    }
}

/// A round-off error this far below the least measured one is not seen.
const UNSEEN: f64 = 0.1;

/// So much must the logarithm of the likelihood ratio, twice, gain by a round-off error: chance gains as much once in a
/// hundred.
const SIGNIFICANT: f64 = 6.6;

/// What is known of a truncation error before the fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Truncation {
    /// Nothing but the power that the order promises.
    Free(f64),
    /// Power: that of f64, where a mode has other steps.
    Power(f64),
    /// Coefficient and power: the truncation error is that of the scheme and the same in every mode with the same
    /// steps.
    Known(f64, f64),
}

/// Fits the law to (x, |ΔE/E|), in the logarithms, by what is left free. [`None`] for fewer than two points (three
/// where all is free).
#[must_use]
pub fn energy(points: &[(f64, f64)], truncation: Truncation) -> Option<EnergyLaw> {
    let points: Vec<(f64, f64)> =
        points.iter().copied().filter(|(x, y)| *x > 0.0 && *y > 0.0 && y.is_finite()).collect();
    let (needed, free) = match truncation {
        Truncation::Free(_) => (3, [true, true, true]),
        Truncation::Power(_) => (2, [true, false, true]),
        Truncation::Known(..) => (2, [false, false, true]),
    };
    if points.len() < needed {
        return None;
    }
    let law = |log: [f64; 3]| EnergyLaw {
        coefficient: log[0].exp(),
        exponent: log[1],
        round_off: log[2].exp(),
        scatter: 0.0,
    };
    let misfit = |law: &EnergyLaw| points.iter().map(|(x, y)| (y / law.at(*x)).ln().powi(2)).sum::<f64>();
    let least = points.iter().map(|(_, y)| *y).fold(f64::INFINITY, f64::min);
    let (coefficient, exponent, promised) = match truncation {
        Truncation::Free(promised) => {
            let all = power(&points)?;
            (all.coefficient, all.exponent, promised)
        }
        Truncation::Power(p) => (coefficient(&points, p), p, p),
        Truncation::Known(a, p) => (a, p, p),
    };
    let straight = EnergyLaw { coefficient, exponent, round_off: 0.0, scatter: 0.0 };
    let start = if free[1] { exponent.clamp(0.5 * promised, 2.0 * promised) } else { exponent };
    // From a visible round-off error and from none: the misfit may have a minimum on each side.
    let fits = [1.0, 1e-3].map(|part| {
        let best = minimise([coefficient.ln(), start, (part * least).ln()], free, |log| {
            // Powers that no scheme has, where round-off hides the truncation, are kept off.
            let [lowest, highest] = [0.25, 2.5].map(|part| part * promised);
            misfit(&law(log)) + 100.0 * ((log[1] - highest).max(0.0) + (lowest - log[1]).max(0.0))
        });
        law(best)
    });
    let [one, other] = fits;
    let mut best = if misfit(&one) <= misfit(&other) { one } else { other };
    let gain = points.len() as f64 * (misfit(&straight) / misfit(&best).max(f64::MIN_POSITIVE)).ln();
    if best.round_off < UNSEEN * least || gain < SIGNIFICANT {
        best = straight;
    }
    best.scatter = (misfit(&best) / points.len() as f64).sqrt();
    Some(best)
}

/// Value at x = 1 of the power law of a given exponent through points, by least squares in the logarithms.
#[must_use]
pub fn coefficient(points: &[(f64, f64)], exponent: f64) -> f64 {
    let mean = points.iter().map(|(x, y)| y.ln() - exponent * x.ln()).sum::<f64>() / points.len() as f64;
    mean.exp()
}

/// Minimum of `f` near `start` by Nelder & Mead's simplex (1965, Computer Journal 7, 308), along the axes that are
/// free.
fn minimise<const K: usize>(start: [f64; K], free: [bool; K], f: impl Fn([f64; K]) -> f64) -> [f64; K] {
    let axes: Vec<usize> = (0..K).filter(|&k| free[k]).collect();
    let value = |at: [f64; K]| {
        let f = f(at);
        (if f.is_nan() { f64::INFINITY } else { f }, at)
    };
    let mut simplex = vec![value(start)];
    for &k in &axes {
        let mut corner = start;
        corner[k] += 0.7;
        simplex.push(value(corner));
    }
    for _ in 0..600 {
        simplex.sort_by(|a, b| a.0.total_cmp(&b.0));
        let worst = simplex.len() - 1;
        let mut centre = [0.0; K];
        for (_, corner) in &simplex[..worst] {
            for k in 0..K {
                centre[k] += corner[k] / worst as f64;
            }
        }
        let along = |t: f64| {
            let mut at = centre;
            for k in 0..K {
                at[k] += t * (simplex[worst].1[k] - centre[k]);
            }
            value(at)
        };
        let reflected = along(-1.0);
        let better = if reflected.0 < simplex[0].0 {
            let expanded = along(-2.0);
            if expanded.0 < reflected.0 { expanded } else { reflected }
        } else if reflected.0 < simplex[worst - 1].0 {
            reflected
        } else {
            along(0.5)
        };
        if better.0 < simplex[worst].0 {
            simplex[worst] = better;
        } else {
            let best = simplex[0].1;
            for corner in &mut simplex[1..] {
                *corner = value(std::array::from_fn(|k| 0.5 * (corner.1[k] + best[k])));
            }
        }
    }
    simplex.sort_by(|a, b| a.0.total_cmp(&b.0));
    simplex[0].1
}

/// Least squares for y = Σ c_k x_k with no c_k negative: of all choices of terms the one that fits best (Lawson &
/// Hanson 1974 solve the same for many terms; here there are few). Zeros where there are no rows.
#[must_use]
pub fn nonnegative<const K: usize>(rows: &[([f64; K], f64)]) -> [f64; K] {
    // Terms of very different size: columns are brought to length 1.
    let length: [f64; K] = std::array::from_fn(|k| rows.iter().map(|(x, _)| x[k] * x[k]).sum::<f64>().sqrt());
    let mut best = ([0.0; K], rows.iter().map(|(_, y)| y * y).sum::<f64>());
    for choice in 1_u32..1 << K {
        let terms: Vec<usize> = (0..K).filter(|&k| choice >> k & 1 == 1 && length[k] > 0.0).collect();
        let Some(found) = least_squares(rows, &terms, &length) else { continue };
        if found.iter().any(|c| *c < 0.0) {
            continue;
        }
        let misfit = rows.iter().map(|(x, y)| (y - (0..K).map(|k| found[k] * x[k]).sum::<f64>()).powi(2)).sum();
        // A term more must earn its place: rounding alone does not.
        if misfit < best.1 * (1.0 - 1e-9) {
            best = (found, misfit);
        }
    }
    best.0
}

/// Returns the least-squares coefficients of some terms, zero for the others, by the QR decomposition of the columns
/// brought to length 1 (Golub & Van Loan 2013, section 5.3.2): its rounding errors grow with the condition number of
/// the columns, those of the normal equations with its square. [`None`] where the columns depend on each other.
fn least_squares<const K: usize>(rows: &[([f64; K], f64)], terms: &[usize], length: &[f64; K]) -> Option<[f64; K]> {
    /// Least distance of a column from the span of those before it, squared.
    const INDEPENDENT: f64 = 1e-11;
    let n = terms.len();
    if n == 0 || rows.len() < n {
        return None;
    }
    let qr = DMatrix::from_fn(rows.len(), n, |row, k| rows[row].0[terms[k]] / length[terms[k]]).qr();
    let mut y = DVector::from_iterator(rows.len(), rows.iter().map(|(_, y)| *y));
    qr.q_tr_mul(&mut y);
    let r = qr.r();
    if r.diagonal().iter().any(|distance| distance * distance < INDEPENDENT) {
        return None;
    }
    let coefficients = r.solve_upper_triangular(&y.rows(0, n))?;
    let mut found = [0.0; K];
    for (&term, coefficient) in terms.iter().zip(&coefficients) {
        found[term] = coefficient / length[term];
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Factors that scatter about 1, the same at every call.
    fn noise(k: usize, size: f64) -> f64 {
        (size * (1.7 * k as f64).sin()).exp()
    }

    proptest! {
        #[test]
        fn a_planted_power_law_is_found(c in 1e-9..1e9f64, p in -4.0..4.0f64) {
            let points: Vec<_> = (0..9).map(|k| f64::from(1 << k)).map(|x| (x, c * x.powf(p))).collect();
            let found = power(&points).unwrap();
            prop_assert!((found.coefficient / c - 1.0).abs() < 1e-9 && (found.exponent - p).abs() < 1e-9);
            prop_assert!(found.scatter < 1e-9);
        }

        #[test]
        fn a_planted_energy_law_is_found(a in -9.0..-3.0f64, p in 1.5..3.0f64, r in -13.0..-8.0f64) {
            let law = EnergyLaw { coefficient: 10f64.powf(a), exponent: p, round_off: 10f64.powf(r), scatter: 0.0 };
            let points: Vec<_> =
                (0..12).map(|k| 0.2 / f64::from(1 << k)).enumerate().map(|(k, nu)| (nu, law.at(nu) * noise(k, 0.1))).collect();
            let truncation = law.coefficient * 0.2f64.powf(p);
            let least = law.coefficient * (0.2f64 / 2048.0).powf(p);
            let free = energy(&points, Truncation::Free(2.0)).unwrap();
            let fixed = energy(&points, Truncation::Known(law.coefficient, p)).unwrap();
            prop_assert!(fixed.scatter < 0.2 && free.scatter < 0.2, "{fixed:?} {free:?}");
            if law.round_off > 3.0 * least && law.round_off < truncation / 30.0 {
                prop_assert!((fixed.round_off / law.round_off).ln().abs() < 0.15, "{fixed:?} for {law:?}");
                prop_assert!((free.round_off / law.round_off).ln().abs() < 0.3, "{free:?} for {law:?}");
                prop_assert!((free.exponent - p).abs() < 0.3, "{free:?} for {law:?}");
            }
        }

        #[test]
        fn planted_costs_are_found(c in prop::array::uniform4(0.0..10.0f64)) {
            let rows: Vec<_> = (0..40).map(|k| {
                let (n, b) = (f64::from(256 << (k % 5)), f64::from(1 << (k / 5)));
                let x = [1.0, n, b, n * b];
                (x, (0..4).map(|k| c[k] * x[k]).sum::<f64>())
            }).collect();
            let found = nonnegative(&rows);
            for k in 0..4 {
                prop_assert!((found[k] - c[k]).abs() < 1e-5 * (1.0 + c[k]), "{found:?} for {c:?}");
            }
        }
    }

    #[test]
    fn laws_of_higher_orders_are_found() {
        // Order 6 and 8 in η, with a round-off error within the points, and with the coefficient or all left free.
        for (p, round_off) in [(6.0, 3e-12), (8.0, 1e-13)] {
            let law = EnergyLaw { coefficient: 2e-6, exponent: p, round_off, scatter: 0.0 };
            let etas = [0.5, 0.35, 0.25, 0.18, 0.13, 0.09, 0.06];
            let points: Vec<_> = etas.iter().enumerate().map(|(k, x)| (*x, law.at(*x) * noise(k, 0.1))).collect();
            for truncation in [Truncation::Free(p), Truncation::Power(p), Truncation::Known(2e-6, p)] {
                let found = energy(&points, truncation).unwrap();
                assert!((found.exponent - p).abs() < 0.4 && found.scatter < 0.2, "{truncation:?}: {found:?}");
                assert!((found.round_off / round_off).ln().abs() < 0.3, "{truncation:?}: {found:?}");
            }
        }
    }

    #[test]
    fn no_cost_is_negative() {
        let rows: Vec<_> = (1..20).map(|k| ([1.0, f64::from(k)], 5.0 - 0.1 * f64::from(k))).collect();
        let [constant, slope] = nonnegative(&rows);
        assert!(slope == 0.0 && (constant - 4.0).abs() < 1e-9, "{constant} {slope}");
        assert_eq!(nonnegative::<2>(&[]), [0.0; 2]);
    }

    #[test]
    fn between_points_is_straight_in_the_logarithms() {
        let points = [(0.1, 1e-3), (0.001, 1e-1), (0.01, 1e-2)];
        for (x, y) in [(0.1, 1e-3), (0.001, 1e-1), (0.03, 1e-4 / 0.03)] {
            assert!((between(&points, x) / y - 1.0).abs() < 1e-9, "{x}: {}", between(&points, x));
        }
        assert!(between(&points, 0.2).is_nan() && between(&points, 1e-4).is_nan() && between(&[], 1.0).is_nan());
    }

    #[test]
    fn too_few_points_are_no_law() {
        assert_eq!(power(&[(1.0, 2.0)]), None);
        assert_eq!(power(&[(1.0, 2.0), (1.0, 3.0)]), None);
        assert_eq!(power(&[]), None);
        assert_eq!(energy(&[(0.1, 1e-6), (0.05, 1e-7)], Truncation::Free(2.0)), None);
        for truncation in [Truncation::Known(1.0, 2.0), Truncation::Power(2.0)] {
            assert_eq!(energy(&[(0.1, 0.0), (0.05, f64::NAN)], truncation), None);
        }
    }

    #[test]
    fn a_goal_is_reached_or_not() {
        let law = EnergyLaw { coefficient: 1e-5, exponent: 2.0, round_off: 1e-10, scatter: 0.0 };
        let nu = law.accuracy_for(1e-9, (1e-4, 0.1)).unwrap();
        assert!((law.at(nu) / 1e-9 - 1.0).abs() < 1e-9);
        assert_eq!(law.accuracy_for(1e-3, (1e-4, 0.1)), Some(0.1));
        assert_eq!(law.accuracy_for(0.9e-10, (1e-9, 0.1)), None, "below the round-off error");
        assert_eq!(law.accuracy_for(1e-9, (0.05, 0.1)), None, "below the range");
    }
}
