//! Exponential disc, as three discs of Miyamoto and Nagai.

use super::miyamoto_nagai::disc;
use crate::force::external::field::{ExternalField, FieldSum};
use crate::force::external::settings::{self, FieldSettings};
use crate::force::external::values::{self, FieldUnits, Mistake};
use crate::particles::Vec3;
use crate::units::{Real, Units};

/// Density of an exponential disc across its plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Vertical {
    /// sech²(z/h_z)
    #[default]
    Sech2,
    /// e^(−|z|/h_z)
    Exponential,
}

settings::keys! {
    /// Disc with the surface density M e^(−R/h_R) / (2π h_R²) in the plane z = 0, as three Miyamoto-Nagai discs of one
    /// scale height, of which one has a negative mass; the density is positive everywhere (Smith et al. 2015, MNRAS 448,
    /// 2934, Table 2). Within 4 h_R the density is right to 3.3 %; further out than some 5 h_R it is too large.
    ExponentialDiscSettings, "ExternalExponentialDisc", {
        /// Mass of the whole disc, above 0; unit: mass.
        mass: Real,
        /// Scale length h_R, above 0; unit: length.
        scale_length: Real,
        /// Scale height h_z, above 0 and at most 3 scale lengths; unit: length.
        scale_height: Real,
        /// Density across the plane: sech2 (default) or exponential.
        #[cfg_attr(feature = "serde", serde(default))]
        vertical: Vertical,
    }
}

/// Masses m_k / M and scale lengths a_k / h_R of the three discs as polynomials β⁴, β³, β², β, 1 of β = b / h_R.
const MASSES: [[f64; 5]; 3] = [
    [0.0036, -0.0330, 0.1117, -0.1335, 0.1749],
    [-0.0131, 0.1090, -0.3035, 0.2921, -5.7976],
    [-0.0048, 0.0454, -0.1425, 0.1012, 6.7120],
];
const LENGTHS: [[f64; 5]; 3] = [
    [-0.0158, 0.0993, -0.2070, -0.7089, 0.6445],
    [-0.0319, 0.1514, -0.1279, -0.9325, 2.6836],
    [-0.0326, 0.1816, -0.2943, -0.6329, 2.3193],
];
/// Largest h_z / h_R of the fit.
const MAX_RATIO: f64 = 3.0;

/// Returns the value of a polynomial, its highest power first.
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().fold(0.0, |value, coefficient| value * x + coefficient)
}

/// Returns b / h_R of the three discs, from q = h_z / h_R.
fn thickness(vertical: Vertical, q: f64) -> f64 {
    match vertical {
        Vertical::Sech2 => polynomial(&[-0.033, 0.262, 0.659, 0.0], q),
        Vertical::Exponential => polynomial(&[-0.269, 1.08, 1.092, 0.0], q),
    }
}

/// Returns the three discs of a mass, a scale length and a scale height.
pub(super) fn discs(
    [mass, length, height]: [f64; 3],
    vertical: Vertical,
    position: Vec3,
) -> Result<Box<dyn ExternalField>, Mistake> {
    let beta = thickness(vertical, height / length);
    let part = |k: usize| {
        let (mass, a) = (mass * polynomial(&MASSES[k], beta), length * polynomial(&LENGTHS[k], beta));
        settings::compiled(&disc(mass, a, length * beta), position)
    };
    Ok(Box::new(FieldSum(vec![part(0)?, part(1)?, part(2)?])))
}

impl FieldSettings for ExponentialDiscSettings {
    fn section(&self) -> &'static str {
        "external.exponential-disc"
    }

    fn check(&self, _: &Units, found: &mut Vec<Mistake>) {
        values::positive(found, "mass", self.mass);
        values::positive(found, "scale_length", self.scale_length);
        values::positive(found, "scale_height", self.scale_height);
        let ratio = self.scale_height.get() / self.scale_length.get();
        let beta = thickness(self.vertical, ratio);
        if ratio > MAX_RATIO || !(0.0..=MAX_RATIO).contains(&beta) {
            let problem = format!("too thick for a sum of three discs: {} of the scale length", ratio);
            found.push(Mistake::new("scale_height", problem));
        }
    }

    fn describe(&self, units: &Units, place: &str) -> String {
        let lengths = [("scale length", self.scale_length), ("scale height", self.scale_height)];
        format!("exponential disc, {}", values::describe(self.mass, place, &lengths, units))
    }

    fn references(&self) -> &'static [&'static str] {
        &["Smith2015", "MiyamotoNagai1975"]
    }

    fn at_full_strength(&self, to: FieldUnits<'_>, at: Vec3) -> Result<Box<dyn ExternalField>, Mistake> {
        let sizes = [to.mass(self.mass), to.length(self.scale_length), to.length(self.scale_height)];
        discs(sizes, self.vertical, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::external::ready::by_hand::field;
    use crate::real;

    #[test]
    fn the_circular_speed_is_that_of_a_thin_exponential_disc() {
        let settings = ExponentialDiscSettings {
            mass: real!(1.0),
            scale_length: real!(1.0),
            scale_height: real!(0.01),
            vertical: Vertical::Sech2,
            position: [real!(0.0); 3],
            motion: None,
            variation: None,
        };
        let field = field(&settings);
        // Freeman (1970): v² = 2 M/h y² [I₀K₀ − I₁K₁](y), y = R / 2h; at R = 2h: 2 (1.2660659·0.4210244 − 0.5651591·0.6019072).
        let exact = 2.0 * (1.266_065_878 * 0.421_024_438 - 0.565_159_104 * 0.601_907_230);
        let found = -2.0 * field.acc(2.0 * Vec3::x(), 0.0).x;
        assert!((found / exact - 1.0).abs() < 0.02, "{found} is not {exact}");
        // The masses of the three discs add up to that of the disc within a few per cent.
        let whole = -field.pot(1e6 * Vec3::y(), 0.0) * 1e6;
        assert!((0.95..1.15).contains(&whole), "{whole}");
    }
}
