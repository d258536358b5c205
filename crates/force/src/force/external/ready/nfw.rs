//! Halo of Navarro, Frenk and White.

use crate::force::external::field::ExternalField;
use crate::force::external::formula::FieldSource;
use crate::force::external::settings::{self, FieldSettings};
use crate::force::external::values::{self, FieldUnits, Mistake};
use crate::particles::Vec3;
use crate::units::{Real, Units};

settings::keys! {
    /// Halo of Navarro, Frenk & White (1997, ApJ 490, 493): φ = −G M ln(1 + r/a) / r.
    NfwSettings, "ExternalNfw", {
        /// Mass M = 4π ρ₀ a³, above 0; unit: mass. The whole mass is infinite; within 5.3 a it is M.
        mass: Real,
        /// Scale radius, above 0; unit: length.
        scale_radius: Real,
    }
}

/// Largest power of r/a in the series of ln(1 + y)/y near the centre, where the closed form loses digits by
/// cancellation: below y = 0.1 the next term and its second derivative are below 10⁻¹⁷.
const TERMS: u32 = 20;

/// Returns the series 1 − y/2 + y²/3 − … of ln(1 + y)/y in y = r/a, by Horner's rule.
fn series() -> String {
    (1..=TERMS).rev().fold(format!("1/{}", TERMS + 1), |inner, k| format!("(1/{k} - r/a*{inner})"))
}

/// Returns a halo of a mass 4π ρ₀ a³ and a scale radius.
pub(super) fn halo(mass: f64, a: f64) -> FieldSource {
    let shape = format!("if(r < 0.1*a, {}, log(1 + r/a)*a/r)", series());
    FieldSource::new("-G*mass/a*shape", &[("mass", mass), ("a", a)]).with_parts(&[("shape", &shape)])
}

impl FieldSettings for NfwSettings {
    fn section(&self) -> &'static str {
        "external.nfw"
    }

    fn check(&self, _: &Units, found: &mut Vec<Mistake>) {
        values::positive(found, "mass", self.mass);
        values::positive(found, "scale_radius", self.scale_radius);
    }

    fn describe(&self, units: &Units, place: &str) -> String {
        let lengths = [("scale radius", self.scale_radius)];
        format!("NFW halo, {}", values::describe(self.mass, place, &lengths, units))
    }

    fn references(&self) -> &'static [&'static str] {
        &["NavarroFrenkWhite1997"]
    }

    fn at_full_strength(&self, to: FieldUnits<'_>, at: Vec3) -> Result<Box<dyn ExternalField>, Mistake> {
        let source = halo(to.mass(self.mass), to.length(self.scale_radius));
        settings::compiled(&source, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::external::ready::by_hand::{close, field};
    use crate::real;

    #[test]
    fn values_by_hand() {
        let settings = NfwSettings {
            mass: real!(3.0),
            scale_radius: real!(2.0),
            position: [real!(0.0); 3],
            motion: None,
            variation: None,
        };
        let field = field(&settings);
        // At r = a: φ = −M ln 2 / a, a = −M (ln 2 − ½) / a².
        close(field.pot(2.0 * Vec3::z(), 0.0), -1.5 * 2f64.ln());
        close(field.acc(2.0 * Vec3::z(), 0.0).z, -0.75 * (2f64.ln() - 0.5));
        // Towards the centre: φ → −M/a, |a| → M / (2 a²).
        let near = 1e-9 * Vec3::y();
        assert!((field.pot(near, 0.0) + 1.5).abs() < 1e-8);
        assert!((field.acc(near, 0.0).y + 0.375).abs() < 1e-8);
        // Series and closed form meet at r = a/10.
        let [inside, outside] = [0.2 - 1e-9, 0.2 + 1e-9].map(|r| field.jerk(r * Vec3::x(), Vec3::x(), 0.0).x);
        assert!((inside / outside - 1.0).abs() < 1e-8, "{inside}, {outside}");
    }
}
