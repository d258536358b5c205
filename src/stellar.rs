//! Properties of single stars.

/// Coefficients of the radius: numerator of M^2.5, M^6.5, M^11, M^19 and M^19.5; denominator of 1, M², M^8.5 and M^19.5.
const NUMERATOR: [f64; 5] = [1.715_359, 6.597_788, 10.088_55, 1.012_495, 0.074_901_66];
const DENOMINATOR: [f64; 4] = [0.010_774_22, 3.082_234, 17.847_78, 0.000_225_82];
/// Least mass of the fit, in solar masses.
const LEAST: f64 = 0.1;

/// Returns the radius, in solar radii, of a star of this mass, in solar masses, on the zero-age main sequence of solar
/// metallicity (Tout, Pols, Eggleton & Han 1996, MNRAS 281, 257, equation 2, for Z = 0.02), with an error of some per cent from 0.1
/// to 100. A lighter body has the radius of a star of 0.1, which is about that of a brown dwarf or a large planet too; one of
/// mass 0 is a point. Only + × ÷ and √ are used: the same bits on every machine.
#[must_use]
pub fn main_sequence_radius(mass: f64) -> f64 {
    if mass <= 0.0 {
        return 0.0;
    }
    let m = mass.max(LEAST);
    let (m2, root) = (m * m, m.sqrt());
    let (m4, m8) = (m2 * m2, (m2 * m2) * (m2 * m2));
    // By M^18.5, which may exceed the range: all powers are those of M^-1 above one solar mass.
    let [a, b, c, d, e] = NUMERATOR;
    let [f, g, h, k] = DENOMINATOR;
    if m < 1.0 {
        let m16 = m8 * m8;
        let above = m2 * root * (a + m4 * b) + m8 * m2 * m * c + m16 * m2 * m * (d + e * root);
        return above / (f + g * m2 + h * m8 * root + m16 * m2 * root * (1.0 + k * m));
    }
    let below = 1.0 / (m8 * m8);
    let above = (a + b * m4) * below + (c / root) * m * (1.0 / m8) + d * root + e * m;
    above / ((f * below / m2 + g * below) / root + h / (m8 * m2) + (1.0 + k * m))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The formula as it stands in the paper.
    #[test]
    fn verify_radii_of_the_main_sequence() {
        for mass in [0.1f64, 0.3, 0.5, 0.999_999, 1.0, 1.5, 8.0, 40.0, 100.0] {
            let power = |p: f64| mass.powf(p);
            let above = 1.715359 * power(2.5)
                + 6.597788 * power(6.5)
                + 10.08855 * power(11.0)
                + 1.012495 * power(19.0)
                + 0.07490166 * power(19.5);
            let below =
                0.01077422 + 3.082234 * power(2.0) + 17.84778 * power(8.5) + power(18.5) + 0.00022582 * power(19.5);
            let found = main_sequence_radius(mass);
            assert!((found * below / above - 1.0).abs() < 1e-13, "{mass}: {found} {}", above / below);
        }
        // The Sun had 0.89 of its present radius; a heavy star has a large one.
        assert!((main_sequence_radius(1.0) - 0.888).abs() < 1e-3 && main_sequence_radius(1e9).is_finite());
        assert_eq!((main_sequence_radius(0.01), main_sequence_radius(0.0)), (main_sequence_radius(0.1), 0.0));
    }
}
