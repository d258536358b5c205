//! The Plummer (1911) sphere.

use super::random::{Uniform, isotropic_sample};
use super::scaling;
use std::f64::consts::PI;
use tisane_force::particles::Particles;

/// Structural length of the Plummer model in N-body units: E = −3π/64 · M²/a = −1/4 gives a = 3π/16.
pub const STRUCTURAL_LENGTH: f64 = 3.0 * PI / 16.0;

/// Returns a random sample of `n` equal masses 1/n from the isotropic Plummer model in N-body units (G = M = 1, E = −1/4
/// of the whole model), without further scaling: centre of mass and energy scatter by 1/√n; see [`scaling`].
///
/// The method is that of Aarseth, Hénon & Wielen (1974, A&A 37, 183), appendix: enclosed mass X uniform in (0,
/// `mass_fraction`], r = (X^(−2/3) − 1)^(−1/2); isotropic direction; speed q v_esc with q by rejection from g(q) = q²
/// (1 − q²)^(7/2); isotropic direction. `mass_fraction` < 1 leaves out the halo beyond the radius that encloses it
/// (0.999: 22.8).
///
/// # Panics
/// If `mass_fraction` is not in (0, 1].
#[must_use]
pub fn sample(n: usize, seed: u64, mass_fraction: f64) -> Particles {
    assert!(mass_fraction > 0.0 && mass_fraction <= 1.0, "mass fraction {mass_fraction} is not in (0, 1]");
    let escape = |r: f64| (2.0 / (1.0 + r * r).sqrt()).sqrt();
    let speed = |random: &mut Uniform, r: f64| escape(r) * speed_fraction(random);
    let mut particles = isotropic_sample(n, seed, |random| radius(random, mass_fraction), speed);
    scaling::rescale(&mut particles, 1.0, STRUCTURAL_LENGTH, 1.0 / STRUCTURAL_LENGTH.sqrt());
    particles
}

/// Draws a radius in structural lengths.
fn radius(random: &mut Uniform, mass_fraction: f64) -> f64 {
    loop {
        let enclosed = mass_fraction * (1.0 - random.next());
        let root = libm::cbrt(enclosed);
        let r = 1.0 / (1.0 / (root * root) - 1.0).sqrt();
        // The whole mass is enclosed at infinity only, so that a draw of exactly 1 is repeated.
        if r.is_finite() {
            return r;
        }
    }
}

/// Draws the ratio of speed to escape speed.
fn speed_fraction(random: &mut Uniform) -> f64 {
    /// Bound above the maximum of g, 0.0922 at q = √2/3.
    const BOUND: f64 = 0.1;
    loop {
        let q = random.next();
        let rest = 1.0 - q * q;
        let g = q * q * rest * rest * rest * rest.sqrt();
        if BOUND * random.next() < g {
            return q;
        }
    }
}
