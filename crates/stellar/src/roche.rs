//! Size of Roche lobes.

use libm::{cbrt, log1p};

/// Returns the radius of the Roche lobe of a star on a circular orbit over the separation, by its mass in that of the other one; a lobe has
/// the volume of a sphere of this radius, within 1 % (Eggleton 1983, ApJ 268, 368, equation 2). 0 for a star without mass.
#[must_use]
pub fn roche_lobe(mass_ratio: f64) -> f64 {
    let third = cbrt(mass_ratio);
    let square = third * third;
    if square == 0.0 { 0.0 } else { 0.49 * square / (0.6 * square + log1p(third)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verify_lobes_have_the_sizes_of_the_formula() {
        // Equal masses: 0.49 / (0.6 + ln 2); the limits of light and heavy stars.
        assert!((roche_lobe(1.0) - 0.378_920_6).abs() < 1e-7, "{}", roche_lobe(1.0));
        assert!((roche_lobe(1e-9) / (0.49 * 1e-3) - 1.0).abs() < 1e-3);
        assert!((roche_lobe(1e12) - 0.49 / 0.6).abs() < 1e-3);
        assert_eq!(roche_lobe(0.0), 0.0);
        // Paczynski (1971) for light stars: 0.462 (q / (1 + q))^(1/3), within 2 %.
        for q in [0.1, 0.2, 0.4f64] {
            let other = 0.462 * (q / (1.0 + q)).cbrt();
            assert!((roche_lobe(q) / other - 1.0).abs() < 0.02, "{q}: {} {other}", roche_lobe(q));
        }
    }
}
