//! Estimate of the time in which a cluster dissolves in the tide of a galaxy, for `check`.

use crate::assemble::Setup;
use crate::orbit::Shape;
use tisane::units::Dimension;

/// Lifetimes of clusters that fill their tidal radius, by integrations of 8192 to 131072 stars with the masses of Kroupa (2001) that evolve,
/// in a logarithmic halo (Baumgardt & Makino 2003, MNRAS 340, 227, eq. 7): T / Myr = β (N / ln 0.02 N)^x (R / kpc) (V / 220 km/s)^−1 (1 − ε),
/// with the apocentre R, the speed V of a circular orbit and the eccentricity ε = (R − R_p) / (R + R_p). β and x of King models with
/// W₀ = 5 and 7.
const KING_5: [f64; 2] = [1.91, 0.75];
const KING_7: [f64; 2] = [1.03, 0.82];
/// The Coulomb logarithm is that of γ N.
const GAMMA: f64 = 0.02;
/// Fewest stars for which there is an estimate: the logarithm is 3.
const FEWEST: usize = 1000;
/// cgs values of the units of the formula.
const MYR: f64 = 3.155_76e13;
const KPC: f64 = 3.085_677_581_491_367_3e21;
const SPEED: f64 = 2.2e7;

/// Returns the time in Myr for `n` stars, by β and x.
fn lifetime([beta, x]: [f64; 2], n: f64, [apocentre, speed, eccentricity]: [f64; 3]) -> f64 {
    beta * libm::pow(n / libm::log(GAMMA * n), x) * apocentre / speed * (1.0 - eccentricity)
}

impl Setup {
    /// Returns the times in which King models of `n` stars with W₀ = 5 and 7 dissolve on the orbit of the origin, in internal units;
    /// [`None`] without an orbit that comes back, for few stars, and in units without names.
    #[must_use]
    pub fn dissolution_times(&self, n: usize) -> Option<[f64; 2]> {
        let units = self.config.units();
        let Shape { circular_velocity, pericentre, apocentre, .. } = self.orbit_shape()?;
        if units.is_henon() || n < FEWEST || !(apocentre.is_finite() && circular_velocity > 0.0) {
            return None;
        }
        let cgs = |d: Dimension| self.scale.factor(d) * units.cgs(d);
        let orbit = [
            apocentre * cgs(Dimension::LENGTH) / KPC,
            circular_velocity * cgs(Dimension::VELOCITY) / SPEED,
            (apocentre - pericentre) / (apocentre + pericentre),
        ];
        Some([KING_5, KING_7].map(|king| lifetime(king, n as f64, orbit) * MYR / cgs(Dimension::TIME)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lifetimes_are_those_of_the_formula() {
        // 8192 stars on a circle of 8.5 kpc at 220 km/s: 8192 / ln 163.84 = 1606.8.
        let circle = [8.5, 1.0, 0.0];
        let found = [KING_5, KING_7].map(|king| lifetime(king, 8192.0, circle));
        for (found, expected) in found.into_iter().zip([1.91 * 253.8 * 8.5, 1.03 * 425.5 * 8.5]) {
            assert!((found / expected - 1.0).abs() < 1e-3, "{found} {expected}");
        }
        // Half of it with the eccentricity ½, and at twice the speed.
        let other = |orbit| lifetime(KING_5, 8192.0, orbit) / found[0];
        assert!((other([8.5, 1.0, 0.5]) - 0.5).abs() < 1e-12 && (other([8.5, 2.0, 0.0]) - 0.5).abs() < 1e-12);
    }
}
