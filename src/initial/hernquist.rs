//! The Hernquist (1990) model.

use super::numerics::maximum;
use super::random::{Uniform, isotropic_sample};
use tisane_force::particles::Particles;

/// Returns a random sample of `n` equal masses 1/n from the isotropic Hernquist model (Hernquist 1990, ApJ 356, 359) in
/// units in which G, the whole model's mass and its length a are 1, without further scaling. The random numbers for
/// each particle are radius from the enclosed mass r²/(1 + r)² (his eq. 3; one), direction (two), speed by rejection
/// from v² f(E) with f of his eq. 17 (pairs), direction (two). `mass_fraction` < 1 leaves out the halo beyond the
/// radius that encloses it (0.99: 198.5).
///
/// # Panics
/// If `mass_fraction` is not in (0, 1].
#[must_use]
pub fn sample(n: usize, seed: u64, mass_fraction: f64) -> Particles {
    assert!(mass_fraction > 0.0 && mass_fraction <= 1.0, "mass fraction {mass_fraction} is not in (0, 1]");
    let speed = |random: &mut Uniform, r: f64| {
        let depth = 1.0 / (1.0 + r);
        (2.0 * depth).sqrt() * speed_fraction(random, depth)
    };
    isotropic_sample(n, seed, |random| radius(random, mass_fraction), speed)
}

fn radius(random: &mut Uniform, mass_fraction: f64) -> f64 {
    loop {
        let root = (mass_fraction * (1.0 - random.next())).sqrt();
        let r = root / (1.0 - root);
        // The whole mass is enclosed at infinity only, so that a draw of exactly 1 is repeated.
        if r.is_finite() && r > 0.0 {
            return r;
        }
    }
}

/// Returns the distribution function at the binding energy `e` = −E a/(GM), up to a factor (Hernquist 1990, eq. 17).
/// With q = √e = sin θ his bracket 3 sin⁻¹q + q (1 − q²)^(1/2) (1 − 2q²) (8q⁴ − 8q² − 3) is 3φ/4 − sin φ + sin(2φ)/8
/// with φ = 4θ.
#[must_use]
pub fn distribution(e: f64) -> f64 {
    let rest = 1.0 - e;
    let phi = 4.0 * libm::asin(e.sqrt());
    let bracket = if phi < 0.5 {
        // Σ (−1)^k (4^(k−1) − 1) φ^(2k+1)/(2k+1)! from k = 2: the remainder where the three terms cancel.
        let (mut power, mut sum, mut four) = (phi * phi * phi * phi * phi / 120.0, 0.0, 4.0);
        for k in 2..10 {
            sum += (four - 1.0) * power;
            power *= -phi * phi / f64::from((2 * k + 2) * (2 * k + 3));
            four *= 4.0;
        }
        sum
    } else {
        0.75 * phi - libm::sin(phi) + 0.125 * libm::sin(2.0 * phi)
    };
    bracket / (rest * rest * rest.sqrt())
}

/// Draws the ratio of speed to escape speed where the potential is −`depth`.
fn speed_fraction(random: &mut Uniform, depth: f64) -> f64 {
    let g = |s: f64| s * s * distribution(depth * (1.0 - s * s));
    let bound = maximum(g, 0.0, 1.0) * (1.0 + 1e-9);
    loop {
        let s = random.next();
        if bound * random.next() <= g(s) {
            return s;
        }
    }
}
