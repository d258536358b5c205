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
    /// Standard error of the power, from how the points scatter about the law; NaN where it was not fitted, or where
    /// there are no more points than parameters.
    pub exponent_error: f64,
    /// The round-off error, that stays for x → 0; 0 where the points do not show one.
    pub round_off: f64,
    /// Scatter of ln(measured / law): root of the sum of squares over the points less the parameters; NaN where there
    /// are no more points than parameters.
    pub scatter: f64,
    /// Points that it was fitted to.
    pub points: usize,
    /// Parameters that were fitted.
    pub parameters: usize,
}

impl EnergyLaw {
    /// A law that was not fitted.
    #[must_use]
    pub const fn known(coefficient: f64, exponent: f64, round_off: f64) -> Self {
        let unknown = f64::NAN;
        Self { coefficient, exponent, exponent_error: unknown, round_off, scatter: unknown, points: 0, parameters: 0 }
    }

    /// The truncation error at x.
    #[must_use]
    pub fn truncation(&self, x: f64) -> f64 {
        self.coefficient * x.powf(self.exponent)
    }

    /// Returns true if the points are few for the parameters: what is fitted is rough.
    #[must_use]
    pub const fn is_rough(&self) -> bool {
        self.points < self.parameters + 3
    }

    /// The error at x.
    #[must_use]
    pub fn at(&self, x: f64) -> f64 {
        self.truncation(x).hypot(self.round_off)
    }

    /// The largest x within a range whose error is at most `goal`, if there is one.
    #[must_use]
    pub fn accuracy_for(&self, goal: f64, (min, max): (f64, f64)) -> Option<f64> {
        let left = (goal * goal - self.round_off * self.round_off).max(0.0).sqrt();
        let x = (left / self.coefficient).powf(1.0 / self.exponent).min(max);
        (x >= min && self.at(x) <= goal * (1.0 + 1e-9)).then_some(x)
    }
}

/// Number of points of a visible plateau, at least.
const PLATEAU: usize = 2;

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
///
/// A round-off error is found only where there are more points than parameters with it, where they gain by it more than
/// chance gives once in a hundred (by the distribution of F), and, unless the truncation error is known, where a
/// plateau is visible: at the two smallest x at least it outweighs the truncation error, so that the errors no longer
/// fall with the step, within their scatter.
#[must_use]
pub fn energy(points: &[(f64, f64)], truncation: Truncation) -> Option<EnergyLaw> {
    let points: Vec<(f64, f64)> =
        points.iter().copied().filter(|(x, y)| *x > 0.0 && *y > 0.0 && y.is_finite()).collect();
    let (needed, free) = match truncation {
        Truncation::Free(_) => (3, [true, true, false]),
        Truncation::Power(_) => (2, [true, false, false]),
        Truncation::Known(..) => (2, [false, false, false]),
    };
    if points.len() < needed {
        return None;
    }
    let (coefficient, exponent) = match truncation {
        Truncation::Free(_) => {
            let all = power(&points)?;
            (all.coefficient, all.exponent)
        }
        Truncation::Power(p) => (coefficient(&points, p), p),
        Truncation::Known(a, p) => (a, p),
    };
    let straight = with_errors(EnergyLaw::known(coefficient, exponent, 0.0), &points, free);
    Some(with_round_off(&straight, &points, truncation).unwrap_or(straight))
}

/// The law with a round-off error, if the points show one.
fn with_round_off(straight: &EnergyLaw, points: &[(f64, f64)], truncation: Truncation) -> Option<EnergyLaw> {
    let (free, promised) = match truncation {
        Truncation::Free(promised) => ([true, true, true], promised),
        Truncation::Power(p) => ([true, false, true], p),
        Truncation::Known(_, p) => ([false, false, true], p),
    };
    let freedom = points.len().checked_sub(straight.parameters + 1).filter(|freedom| *freedom > 0)?;
    let law = |log: [f64; 3]| EnergyLaw::known(log[0].exp(), log[1], log[2].exp());
    let min = points.iter().map(|(_, y)| *y).fold(f64::INFINITY, f64::min);
    let start = if free[1] { straight.exponent.clamp(0.5 * promised, 2.0 * promised) } else { straight.exponent };
    // From a visible round-off error and from none: the misfit may have a minimum on each side.
    let fits = [1.0, 1e-3].map(|part| {
        let best = minimise([straight.coefficient.ln(), start, (part * min).ln()], free, |log| {
            // Powers that no scheme has, where round-off hides the truncation, are kept off.
            let [lowest, highest] = [0.25, 2.5].map(|part| part * promised);
            misfit(&law(log), points) + 100.0 * ((log[1] - highest).max(0.0) + (lowest - log[1]).max(0.0))
        });
        law(best)
    });
    let [one, other] = fits;
    let best = if misfit(&one, points) <= misfit(&other, points) { one } else { other };
    let (before, after) = (misfit(straight, points), misfit(&best, points).max(f64::MIN_POSITIVE));
    let gained = (before - after) / (after / freedom as f64) > significant(freedom);
    let on_plateau = points.iter().filter(|(x, _)| best.truncation(*x) <= best.round_off).count();
    let is_visible = on_plateau >= PLATEAU || matches!(truncation, Truncation::Known(..));
    (gained && is_visible).then(|| with_errors(best, points, free))
}

/// Sum of the squares of ln(measured / law).
fn misfit(law: &EnergyLaw, points: &[(f64, f64)]) -> f64 {
    points.iter().map(|(x, y)| (y / law.at(*x)).ln().powi(2)).sum()
}

/// Returns the value of F, for one parameter more, that chance surpasses once in a hundred, by the degrees of freedom
/// that remain with it: quantiles of 99 % of Fisher's distribution; for more than ten an approximation within 2 %.
fn significant(freedom: usize) -> f64 {
    const QUANTILES: [f64; 10] = [4052.2, 98.50, 34.12, 21.20, 16.26, 13.75, 12.25, 11.26, 10.56, 10.04];
    QUANTILES.get(freedom.max(1) - 1).copied().unwrap_or(6.63 + 32.0 / freedom as f64)
}

/// The law with its scatter and the standard error of its power. Of its coefficient, power and round-off error those
/// that are `free` were fitted.
fn with_errors(law: EnergyLaw, points: &[(f64, f64)], free: [bool; 3]) -> EnergyLaw {
    let axes: Vec<usize> = (0..3).filter(|&k| free[k]).collect();
    let parameters = axes.len();
    let mut law = EnergyLaw { points: points.len(), parameters, ..law };
    if points.len() <= parameters {
        return law;
    }
    law.scatter = (misfit(&law, points) / (points.len() - parameters) as f64).sqrt();
    // Derivatives of the logarithm by ln A, p and ln R, from which the covariance follows.
    let slopes = DMatrix::from_fn(points.len(), parameters, |row, k| {
        let x = points[row].0;
        let share = (law.truncation(x) / law.at(x)).powi(2);
        [share, share * x.ln(), 1.0 - share][axes[k]]
    });
    let variance = |axis: usize| {
        let k = axes.iter().position(|it| *it == axis)?;
        Some((slopes.transpose() * &slopes).try_inverse()?[(k, k)])
    };
    law.exponent_error = variance(1).map_or(f64::NAN, |variance| law.scatter * variance.max(0.0).sqrt());
    law
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
mod tests;
