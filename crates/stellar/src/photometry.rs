//! Light of a star in the band V.

use crate::state::State;
use libm::{log10, pow};

/// Coefficients of the bolometric correction in V as polynomials of log T, and the log T up to which each holds: Flower (1996, ApJ 469,
/// 355), as corrected by Torres (2010, AJ 140, 1158, table 1).
const CORRECTIONS: [(f64, [f64; 6]); 3] = [
    (3.70, [-0.190537291496456e5, 0.155144866764412e5, -0.421278819301717e4, 0.381476328422343e3, 0.0, 0.0]),
    (
        3.90,
        [
            -0.370510203809015e5,
            0.385672629965804e5,
            -0.150651486316025e5,
            0.261724637119416e4,
            -0.170623810323864e3,
            0.0,
        ],
    ),
    (
        f64::INFINITY,
        [
            -0.118115450538963e6,
            0.137145973583929e6,
            -0.636233812100225e5,
            0.147412923562646e5,
            -0.170587278406872e4,
            0.788731721804990e2,
        ],
    ),
];
/// The same of the Sun (Torres 2010).
const SUN: f64 = -0.080;
/// log T at the ends of the fits: beyond the upper one the light in V grows as the temperature, the tail of a black body; below the lower
/// one, where the polynomial falls without end, the correction stays.
const ENDS: (f64, f64) = (3.45, 4.72);
/// Change of the correction with log T in the tail of a black body: 2.5 mag times three powers of the temperature.
const TAIL: f64 = -7.5;

impl State {
    /// Returns the light in the band V, in that of the Sun: L times 10^(0.4 (BC(T) − BC(Sun))), by the bolometric correction of Flower
    /// (1996) and Torres (2010). An estimate: it knows neither gravity nor metallicity, is made for 3500 to 50000 K, and is off by tenths of
    /// a magnitude below 4000 K. 0 for black holes and where nothing is left.
    #[must_use]
    pub fn visual_luminosity(&self) -> f64 {
        let temperature = self.temperature();
        // Black holes of SSE have a token luminosity.
        if self.kind >= crate::Kind::BlackHole || temperature.is_nan() || temperature <= 0.0 {
            return 0.0;
        }
        self.luminosity * pow(10.0, 0.4 * (bolometric_correction(temperature) - SUN))
    }
}

/// Returns the bolometric correction in V, in mag, at an effective temperature in K.
fn bolometric_correction(temperature: f64) -> f64 {
    let log_t = log10(temperature);
    let at = log_t.clamp(ENDS.0, ENDS.1);
    let coefficients = CORRECTIONS.iter().find(|(end, _)| at <= *end).map_or(&CORRECTIONS[2].1, |(_, of)| of);
    let correction = coefficients.iter().rev().fold(0.0, |sum, a| sum * at + a);
    correction + TAIL * (log_t - at).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[test]
    fn corrections_are_those_of_the_classes_of_stars() {
        // Of the main sequence: Cox (2000), Allen's Astrophysical Quantities, table 15.7, to the tenths of a magnitude in which scales differ:
        // B0, A0, G0, K0, M0.
        for (temperature, expected, off) in [
            (30_000.0, -3.16, 0.4),
            (9_790.0, -0.30, 0.15),
            (5_940.0, -0.18, 0.15),
            (5_150.0, -0.31, 0.15),
            (3_840.0, -1.38, 0.3),
        ] {
            let found = bolometric_correction(temperature);
            assert!((found - expected).abs() < off, "{temperature} K: {found}");
        }
        assert!((bolometric_correction(5777.0) - SUN).abs() < 0.005);
    }

    #[test]
    fn corrections_are_continuous_but_for_the_steps_of_the_fits() {
        for k in 0..4000 {
            let at = |k: i32| bolometric_correction(2000.0 * 1.002f64.powi(k));
            let steepest = if 2000.0 * 1.002f64.powi(k) < 3500.0 { 0.09 } else { 0.03 };
            assert!((at(k + 1) - at(k)).abs() < steepest, "{k}");
        }
    }

    #[test]
    fn the_sun_has_its_own_light_and_a_black_hole_none() {
        let sun = State {
            kind: Kind::MainSequence,
            effective_mass: 1.0,
            mass: 1.0,
            core_mass: 0.0,
            age: 0.0,
            luminosity: 1.0,
            radius: 1.0,
        };
        assert!((sun.visual_luminosity() - 1.0).abs() < 0.01);
        assert_eq!(State { kind: Kind::BlackHole, luminosity: 1e-10, radius: 1e-5, ..sun }.visual_luminosity(), 0.0);
        assert_eq!(State { kind: Kind::NoRemnant, luminosity: 0.0, radius: 0.0, ..sun }.visual_luminosity(), 0.0);
        // A red giant and a hot star of the same luminosity have less.
        let giant = State { luminosity: 100.0, radius: 50.0, ..sun };
        let hot = State { luminosity: 100.0, radius: 0.1, ..sun };
        assert!(giant.temperature() < 3000.0 && giant.visual_luminosity() < 5.0);
        assert!(hot.temperature() > 5e4 && hot.visual_luminosity() < 5.0);
    }
}
