//! Spherical shells of particles: how dense and how fast a cluster is at each radius, with the errors of counting.

use super::figure::{Mark, Series};
use std::f64::consts::PI;
use tisane::diagnostics::structure::radii;
use tisane::particles::{Particles, Vec3};

/// Fewer values than this say nothing about a distribution.
pub(super) const FEW: usize = 30;
/// Particles of the innermost shell, and how many more each has than the one before, up to a part of all.
const FIRST_SHELL: usize = 10;
const GROWTH: f64 = 1.3;
const SHELLS: usize = 30;
/// Ratio of the radii of a shell, at least: an edge is no place for many.
const WIDTH: f64 = 1.05;

/// A spherical shell.
pub(super) struct Shell {
    pub radius: f64,
    density: f64,
    /// ⅓ of the mean of v², weighted by mass as the density is.
    pub square: f64,
    /// Effective number: that of equal masses with the same scatter.
    n: f64,
}

impl Shell {
    /// Densities over radii, with errors.
    pub fn densities(name: &str, shells: &[Self]) -> Series {
        let points = shells.iter().map(|s| (s.radius, s.density, s.n.sqrt().recip()));
        with_errors(name, points.filter(|(r, ..)| *r > 0.0).collect())
    }

    /// One-dimensional dispersions about the origin of velocities, √(⟨v²⟩/3), over radii, with errors.
    pub fn dispersions(name: &str, shells: &[Self]) -> Series {
        // The root of a mean of 3 n squares of normal deviates scatters by 1/√(6 n).
        let points = shells.iter().map(|s| (s.radius, s.square.sqrt(), (6.0 * s.n).sqrt().recip()));
        with_errors(name, points.filter(|(r, ..)| *r > 0.0).collect())
    }
}

/// Points with error bars of a relative size.
pub(super) fn with_errors(name: &str, points: Vec<(f64, f64, f64)>) -> Series {
    let spread = points.iter().map(|(_, y, error)| (y * (1.0 - error).max(0.0), y * (1.0 + error))).collect();
    let points = points.into_iter().map(|(x, y, _)| (x, y)).collect();
    Series { spread: Some(spread), ..Series::new(name, Mark::Points, points) }
}

/// Shells from the inside out. Each ends half-way between two particles.
pub(super) fn shells(p: &Particles, centre: Vec3) -> Vec<Shell> {
    if p.len() < FEW {
        return Vec::new();
    }
    let radii = radii(p, centre);
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| radii[a].total_cmp(&radii[b]));
    let radius = |k: usize| radii[order[k]];
    let max = (p.len() / SHELLS).max(FIRST_SHELL);
    let (mut shells, mut from, mut wanted, mut inner) = (Vec::new(), 0, FIRST_SHELL as f64, 0f64);
    while from < p.len() {
        // In the halo shells must not become wide.
        let left = p.len() - from;
        let n = (wanted as usize).min(max).min(left / 4).max(FIRST_SHELL);
        wanted *= GROWTH;
        // The remainder is too small for a shell of its own.
        let wide = order[from..].partition_point(|&i| radii[i] < WIDTH * inner);
        let to = if left < n.max(wide) + n { p.len() } else { from + n.max(wide) };
        let outer = if to < p.len() { 0.5 * (radius(to - 1) + radius(to)) } else { radius(to - 1) };
        let here = &order[from..to];
        let mass: f64 = here.iter().map(|&i| p.mass[i]).sum();
        let squares: f64 = here.iter().map(|&i| p.mass[i] * p.vel[i].norm_squared()).sum();
        let n = mass.powi(2) / here.iter().map(|&i| p.mass[i].powi(2)).sum::<f64>();
        let density = mass / (4.0 / 3.0 * PI * (outer.powi(3) - inner.powi(3)));
        shells.push(Shell { radius: radius(from + here.len() / 2), density, square: squares / (3.0 * mass), n });
        (from, inner) = (to, outer);
    }
    shells
}
