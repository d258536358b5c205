//! Disc of Miyamoto and Nagai.

use crate::force::external::field::ExternalField;
use crate::force::external::formula::FieldSource;
use crate::force::external::settings::{self, FieldSettings};
use crate::force::external::values::{self, FieldUnits, Mistake};
use crate::particles::Vec3;
use crate::units::{Real, Units};

settings::keys! {
    /// Disc of Miyamoto & Nagai (1975, PASJ 27, 533) in the plane z = 0: φ = −G M / √(R² + (a + √(z² + b²))²).
    MiyamotoNagaiSettings, "ExternalMiyamotoNagai", {
        /// Mass of the whole disc, not 0; unit: mass. That of one of several discs may be negative.
        mass: Real,
        /// Scale length a, 0 or more; unit: length. With 0 it is a Plummer sphere.
        scale_length: Real,
        /// Scale height b, above 0; unit: length.
        scale_height: Real,
    }
}

/// Returns a disc of a mass, a scale length and a scale height.
pub(super) fn disc(mass: f64, a: f64, b: f64) -> FieldSource {
    FieldSource::new("-G*mass/sqrt(R^2 + (a + sqrt(z^2 + b^2))^2)", &[("mass", mass), ("a", a), ("b", b)])
}

impl FieldSettings for MiyamotoNagaiSettings {
    fn section(&self) -> &'static str {
        "external.miyamoto-nagai"
    }

    fn check(&self, _: &Units, found: &mut Vec<Mistake>) {
        if self.mass.get() == 0.0 {
            found.push(Mistake::new("mass", "expected a number other than 0"));
        }
        values::not_negative(found, "scale_length", self.scale_length);
        values::positive(found, "scale_height", self.scale_height);
    }

    fn describe(&self, units: &Units, place: &str) -> String {
        let lengths = [("scale length", self.scale_length), ("scale height", self.scale_height)];
        format!("Miyamoto-Nagai disc, {}", values::describe(self.mass, place, &lengths, units))
    }

    fn references(&self) -> &'static [&'static str] {
        &["MiyamotoNagai1975"]
    }

    fn at_full_strength(&self, to: FieldUnits<'_>, at: Vec3) -> Result<Box<dyn ExternalField>, Mistake> {
        let [mass, a, b] = [to.mass(self.mass), to.length(self.scale_length), to.length(self.scale_height)];
        settings::compiled(&disc(mass, a, b), at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::external::ready::by_hand::{close, field};
    use crate::real;

    #[test]
    fn values_by_hand() {
        let settings = MiyamotoNagaiSettings {
            mass: real!(10.0),
            scale_length: real!(1.0),
            scale_height: real!(3.0),
            position: [real!(0.0); 3],
            motion: None,
            variation: None,
        };
        // In the plane: D² = R² + (a + b)² = 25. Above the centre at z = 4: w = 5, D = 6, a_z = −M z (a + w) / (w D³).
        let field = field(&settings);
        close(field.pot(3.0 * Vec3::y(), 0.0), -2.0);
        close(field.acc(3.0 * Vec3::y(), 0.0).y, -30.0 / 125.0);
        close(field.acc(4.0 * Vec3::z(), 0.0).z, -40.0 * 6.0 / (5.0 * 216.0));
        assert_eq!(field.acc(Vec3::zeros(), 0.0), Vec3::zeros());
    }
}
