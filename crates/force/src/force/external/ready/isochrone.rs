//! Hénon's isochrone.

use crate::force::external::field::ExternalField;
use crate::force::external::formula::FieldSource;
use crate::force::external::settings::{self, FieldSettings};
use crate::force::external::values::{self, FieldUnits, Mistake};
use crate::particles::Vec3;
use crate::units::{Real, Units};

settings::keys! {
    /// Isochrone sphere (Hénon 1959, Annales d'Astrophysique 22, 126): φ = −G M / (b + √(b² + r²)).
    IsochroneSettings, "ExternalIsochrone", {
        /// Mass of the whole sphere, above 0; unit: mass.
        mass: Real,
        /// Scale radius, above 0; unit: length.
        scale_radius: Real,
    }
}

impl FieldSettings for IsochroneSettings {
    fn section(&self) -> &'static str {
        "external.isochrone"
    }

    fn check(&self, _: &Units, found: &mut Vec<Mistake>) {
        values::positive(found, "mass", self.mass);
        values::positive(found, "scale_radius", self.scale_radius);
    }

    fn describe(&self, units: &Units, place: &str) -> String {
        let lengths = [("scale radius", self.scale_radius)];
        format!("isochrone sphere, {}", values::describe(self.mass, place, &lengths, units))
    }

    fn references(&self) -> &'static [&'static str] {
        &["Henon1959"]
    }

    fn at_full_strength(&self, to: FieldUnits<'_>, at: Vec3) -> Result<Box<dyn ExternalField>, Mistake> {
        let source = FieldSource::new(
            "-G*mass/(a + sqrt(a^2 + r^2))",
            &[("mass", to.mass(self.mass)), ("a", to.length(self.scale_radius))],
        );
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
        // b = 3, r = 4, w = 5: φ = −M / 8, a = −M r / (w (b + w)²)
        let settings = IsochroneSettings {
            mass: real!(16.0),
            scale_radius: real!(3.0),
            position: [real!(0.0); 3],
            motion: None,
            variation: None,
        };
        let (field, at) = (field(&settings), 4.0 * Vec3::x());
        close(field.pot(at, 0.0), -2.0);
        close(field.acc(at, 0.0).x, -0.2);
        assert_eq!(field.acc(Vec3::zeros(), 0.0), Vec3::zeros());
    }
}
