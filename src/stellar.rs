//! Properties of single stars.

/// Coefficients of the radius: numerator of M^2.5, M^6.5, M^11, M^19 and M^19.5; denominator of 1, M², M^8.5 and M^19.5.
const NUMERATOR: [f64; 5] = [1.715_359, 6.597_788, 10.088_55, 1.012_495, 0.074_901_66];
const DENOMINATOR: [f64; 4] = [0.010_774_22, 3.082_234, 17.847_78, 0.000_225_82];
/// Least mass of the fit, in solar masses.
const MIN: f64 = 0.1;

/// Returns the radius, in solar radii, of a star of this mass, in solar masses, on the zero-age main sequence of solar
/// metallicity (Tout, Pols, Eggleton & Han 1996, MNRAS 281, 257, equation 2, for Z = 0.02), with an error of some per cent from 0.1
/// to 100. A lighter body has the radius of a star of 0.1, which is about that of a brown dwarf or a large planet too; one of
/// mass 0 is a point. Only + × ÷ and √ are used: the same bits on every machine.
#[must_use]
pub fn main_sequence_radius(mass: f64) -> f64 {
    if mass <= 0.0 {
        return 0.0;
    }
    let m = mass.max(MIN);
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

/// Coefficients of the time to the base of the giant branch: a1 to a5 for Z = 0.02.
const TO_GIANT_BRANCH: [f64; 5] = [1.593_890e3, 2.706_708e3, 1.466_143e2, 4.141_960e-2, 3.426_349e-1];

/// Returns the age in Myr at which a star of this mass, in solar masses, has left the main sequence and reaches the base of the giant
/// branch, for solar metallicity, t_BGB of Hurley, Pols & Tout (2000, MNRAS 315, 543, equation 4, with the coefficients of their
/// appendix A for Z = 0.02); what is left of the life of a star is short against it. Infinite for a mass of 0.
#[must_use]
pub fn main_sequence_lifetime(mass: f64) -> f64 {
    let [a1, a2, a3, a4, a5] = TO_GIANT_BRANCH;
    let (m2, root) = (mass * mass, mass.sqrt());
    let m4 = m2 * m2;
    if mass > 1.0 {
        // By M^7, which may exceed the range.
        let m3 = m2 * mass;
        return (a1 / (m4 * m3) + a2 / m3 + a3 / (mass * root) + 1.0) / (a4 / (m4 * mass) + a5);
    }
    let m7 = m4 * m2 * mass;
    (a1 + a2 * m4 + a3 * (m4 * mass * root) + m7) / (a4 * m2 + a5 * m7)
}

/// Returns the mass, in solar masses, of the stars that leave the main sequence at an age in Myr: heavier ones have done so before.
/// [`None`] for an age that even the heaviest stars exceed.
#[must_use]
pub fn turn_off_mass(age: f64) -> Option<f64> {
    const LIGHTEST: f64 = 0.01;
    const HEAVIEST: f64 = 1e4;
    if age <= main_sequence_lifetime(HEAVIEST) {
        return None;
    }
    let (mut low, mut high) = (LIGHTEST, HEAVIEST);
    for _ in 0..60 {
        let middle = (low * high).sqrt();
        (low, high) = if main_sequence_lifetime(middle) > age { (middle, high) } else { (low, middle) };
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verify_lifetimes_of_the_main_sequence() {
        // The formula as it stands in the paper.
        for mass in [0.1f64, 0.5, 0.999_999, 1.0, 1.000_001, 3.5, 8.0, 55.0, 1e3] {
            let power = |p: f64| mass.powf(p);
            let above = 1593.890 + 2706.708 * power(4.0) + 146.6143 * power(5.5) + power(7.0);
            let below = 0.04141960 * power(2.0) + 0.3426349 * power(7.0);
            assert!((main_sequence_lifetime(mass) * below / above - 1.0).abs() < 1e-13, "{mass}");
        }
        // The Sun takes 11 to 12 Gyr, a star of 8 solar masses about 37 Myr, one of 55 a few.
        assert!((main_sequence_lifetime(1.0) / 11.6e3 - 1.0).abs() < 0.01);
        assert!((main_sequence_lifetime(8.0) / 37.3 - 1.0).abs() < 0.01);
        assert!((3.0..5.0).contains(&main_sequence_lifetime(55.0)) && main_sequence_lifetime(0.0).is_infinite());
    }

    #[test]
    fn the_turn_off_is_where_the_lifetime_is_the_age() {
        for age in [4.0, 37.3, 300.0, 1.2e4] {
            let mass = turn_off_mass(age).unwrap();
            assert!((main_sequence_lifetime(mass) / age - 1.0).abs() < 1e-9, "{age}: {mass}");
        }
        assert_eq!(turn_off_mass(2.0), None);
    }

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
