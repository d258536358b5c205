//! Statistics of samples.

#![allow(dead_code, reason = "each test file uses its own part")]

use tisane::compensated_sum::sum;
use tisane::particles::Particles;

/// Greatest distance between the values' empirical distribution and a cumulative distribution (Kolmogorov & Smirnov),
/// times √n: below 1.95 in 999 of 1000 samples of the distribution.
pub fn kolmogorov_smirnov(mut values: Vec<f64>, cumulative: impl Fn(f64) -> f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let distance = |(i, x): (usize, &f64)| {
        let c = cumulative(*x);
        (c - i as f64 / n).abs().max((c - (i + 1) as f64 / n).abs())
    };
    values.iter().enumerate().map(distance).fold(0.0, f64::max) * n.sqrt()
}

/// Kinetic and potential energy without softening, every pair once.
pub fn energies(p: &Particles) -> (f64, f64) {
    let kinetic = sum(p.mass.iter().zip(&p.vel).map(|(m, v)| 0.5 * m * v.norm().powi(2)));
    let pairs = (0..p.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    let potential = sum(pairs.map(|(i, j)| -p.mass[i] * p.mass[j] / (p.pos[i] - p.pos[j]).norm()));
    (kinetic, potential)
}

/// Integral of a function by Simpson's rule in 2000 steps.
pub fn integral(f: impl Fn(f64) -> f64, from: f64, to: f64) -> f64 {
    const STEPS: i32 = 2000;
    let h = (to - from) / f64::from(STEPS);
    let weight = |k: i32| if k == 0 || k == STEPS { 1.0 } else { [2.0, 4.0][(k % 2) as usize] };
    (0..=STEPS).map(|k| weight(k) * f(from + f64::from(k) * h)).sum::<f64>() * h / 3.0
}

/// Positions, velocities and the angle between them are isotropic: no axis is preferred and no radial motion.
#[track_caller]
pub fn assert_isotropic(p: &Particles) {
    let uniform = |c: f64| 0.5 * (1.0 + c);
    for (name, column) in [("position", &p.pos), ("velocity", &p.vel)] {
        for axis in 0..3 {
            let cosines = column.iter().map(|v| v[axis] / v.norm()).collect();
            let distance = kolmogorov_smirnov(cosines, uniform);
            assert!(distance < 1.95, "{name} axis {axis}: {distance}");
        }
    }
    let angles = p.pos.iter().zip(&p.vel).map(|(x, v)| x.dot(v) / (x.norm() * v.norm())).collect();
    let distance = kolmogorov_smirnov(angles, uniform);
    assert!(distance < 1.95, "position and velocity: {distance}");
}
