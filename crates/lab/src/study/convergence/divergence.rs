//! How two courses of one system part: distances, the moment at which they are too large, and the rate of growth.

use super::system::State;
use tisane::particles::{Particles, Vec3};

/// Part of the time to the threshold that does not count for the rate: there errors add up more than they grow.
const FIRST_PART: f64 = 0.25;

/// Length and speed in which differences are measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// Half-mass radius at the start.
    pub radius: f64,
    /// Rms speed at the start.
    pub speed: f64,
}

impl Size {
    /// Returns those of particles of equal masses at the start.
    #[must_use]
    pub fn of(start: &State) -> Self {
        let rows: Vec<Vec3> = start.pos.chunks_exact(3).map(|x| Vec3::new(x[0], x[1], x[2])).collect();
        let speed = (3.0 * mean_square(start.vel.iter().copied())).sqrt();
        Self { radius: radius_of_share(&rows, 0.5), speed }
    }
}

fn mean_square(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.map(|x| x * x).sum::<f64>() / count
}

/// Returns the radius about their mean place that holds a share of particles of equal masses.
pub fn radius_of_share(pos: &[Vec3], share: f64) -> f64 {
    let centre = pos.iter().sum::<Vec3>() / pos.len() as f64;
    let mut radii: Vec<f64> = pos.iter().map(|x| (x - centre).norm()).collect();
    radii.sort_unstable_by(f64::total_cmp);
    let held = (share * pos.len() as f64).ceil() as usize;
    radii.get(held.max(1) - 1).copied().unwrap_or(f64::NAN)
}

/// Returns the root of the mean square of the distances of the particles from a solution.
#[must_use]
pub fn rms_distance(p: &Particles, solution: &State) -> f64 {
    let flat = p.pos.iter().flat_map(|v| [v.x, v.y, v.z]);
    let squares = flat.zip(solution.pos.iter().zip(&solution.pos_low));
    let sum: f64 = squares.map(|(x, (high, low))| ((x - high) - low).powi(2)).sum();
    (sum / p.len() as f64).sqrt()
}

/// Differences of two solutions at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Largest of all components, in half-mass radii or rms speeds.
    pub largest: f64,
    /// Rms distance of the particles, in half-mass radii.
    pub distance: f64,
}

impl Difference {
    /// Compares two states.
    #[must_use]
    pub fn of(a: &State, b: &State, size: Size) -> Self {
        let by = |high: [&[f64]; 2], low: [&[f64]; 2]| -> Vec<f64> {
            let highs = high[0].iter().zip(high[1]);
            highs.zip(low[0].iter().zip(low[1])).map(|((a, b), (c, d))| (a - b) + (c - d)).collect()
        };
        let pos = by([&a.pos, &b.pos], [&a.pos_low, &b.pos_low]);
        let vel = by([&a.vel, &b.vel], [&a.vel_low, &b.vel_low]);
        let max = |values: &[f64]| values.iter().fold(0.0, |max: f64, x| max.max(x.abs()));
        Self {
            largest: (max(&pos) / size.radius).max(max(&vel) / size.speed),
            distance: (3.0 * mean_square(pos.iter().copied())).sqrt() / size.radius,
        }
    }
}

/// Rate at which a distance grows, d ln δ/dt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Rate; its inverse is the e-folding time.
    pub value: f64,
    /// Error of the fitted line with residuals taken as independent. They are correlated, so it is too small.
    pub error: f64,
}

/// How a distance δ, in half-mass radii, grows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Divergence {
    /// Time at which it reaches the threshold, between moments on a line in ln δ; [`None`] if it does not.
    pub reached: Option<f64>,
    /// Rate until then; [`None`] of fewer than four moments.
    pub rate: Option<Rate>,
}

impl Divergence {
    /// Finds it for the distances at the moments 1, 2, 3, … times `interval`.
    #[must_use]
    pub fn of(distances: &[f64], interval: f64, threshold: f64) -> Self {
        let time = |k: usize| interval * (k + 1) as f64;
        let first = distances.iter().position(|distance| *distance > threshold);
        let reached = first.map(|k| {
            let before = distances.get(k.wrapping_sub(1)).filter(|before| **before > 0.0);
            let part = before.map_or(1.0, |before| (threshold / before).ln() / (distances[k] / before).ln());
            time(k) - (1.0 - part) * interval
        });
        let end = first.unwrap_or(distances.len());
        let from = FIRST_PART * reached.unwrap_or(interval * distances.len() as f64);
        let points: Vec<[f64; 2]> = distances[..end]
            .iter()
            .enumerate()
            .filter(|(k, distance)| time(*k) >= from && **distance > 0.0)
            .map(|(k, distance)| [time(k), distance.ln()])
            .collect();
        Self { reached, rate: slope(&points) }
    }
}

/// Returns the slope of a line of least squares through at least four points.
fn slope(points: &[[f64; 2]]) -> Option<Rate> {
    if points.len() < 4 {
        return None;
    }
    let n = points.len() as f64;
    let [x, y] = [0, 1].map(|k| points.iter().map(|point| point[k]).sum::<f64>() / n);
    let xx: f64 = points.iter().map(|point| (point[0] - x).powi(2)).sum();
    let value = points.iter().map(|point| (point[0] - x) * (point[1] - y)).sum::<f64>() / xx;
    let squares: f64 = points.iter().map(|point| (point[1] - y - value * (point[0] - x)).powi(2)).sum();
    Some(Rate { value, error: (squares / (n - 2.0) / xx).sqrt() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distances that grow from `start` by the rate 2, in steps of an eighth, and end at 1.
    fn grown(start: f64) -> Vec<f64> {
        (1..=80).map(|k| (start * (2.0 * f64::from(k) / 8.0).exp()).min(1.0)).collect()
    }

    #[test]
    fn exponential_growth_has_its_rate_and_the_moment_of_the_threshold() {
        let found = Divergence::of(&grown(1e-7), 0.125, 0.01);
        let rate = found.rate.unwrap();
        assert!((rate.value - 2.0).abs() < 1e-9 && rate.error < 1e-9, "{rate:?}");
        assert!((found.reached.unwrap() - 1e5f64.ln() / 2.0).abs() < 1e-9, "{found:?}");
        // It is not reached, and at once.
        let found = Divergence::of(&grown(1e-14), 0.125, 0.01);
        assert_eq!(found.reached, None);
        assert!((found.rate.unwrap().value - 2.0).abs() < 1e-9);
        assert_eq!(Divergence::of(&grown(0.1), 0.125, 0.01), Divergence { reached: Some(0.125), rate: None });
    }

    #[test]
    fn differences_count_low_parts_and_both_sizes() {
        let state = |x: f64, low: f64, v: f64| State {
            pos: vec![x, 0.0, 0.0, -1.0, 0.0, 0.0],
            pos_low: vec![low, 0.0, 0.0, 0.0, 0.0, 0.0],
            vel: vec![v, 0.0, 0.0, 0.0, 0.0, 0.0],
            vel_low: vec![0.0; 6],
        };
        let start = state(1.0, 0.0, 2.0);
        let size = Size::of(&start);
        assert_eq!((size.radius, size.speed), (1.0, 2f64.sqrt()));
        let found = Difference::of(&start, &state(1.0, 1e-20, 2.0), size);
        assert!((found.largest / 1e-20 - 1.0).abs() < 1e-12, "{found:?}");
        assert!((found.distance / (1e-20 / 2f64.sqrt()) - 1.0).abs() < 1e-12, "{found:?}");
        let found = Difference::of(&start, &state(1.0, 0.0, 2.5), size);
        assert!((found.largest - 0.5 / 2f64.sqrt()).abs() < 1e-12 && found.distance == 0.0, "{found:?}");
        let p = Particles::new(vec![0.5; 2], vec![Vec3::x(), -Vec3::x()], vec![Vec3::zeros(); 2]);
        assert!((rms_distance(&p, &state(1.0, 2e-17, 0.0)) / (2e-17 / 2f64.sqrt()) - 1.0).abs() < 1e-12);
    }
}
