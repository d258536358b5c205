//! Jaffe sphere.

use crate::force::external::field::ExternalField;
use crate::force::external::formula::FieldSource;
use crate::force::external::settings::{self, FieldSettings};
use crate::force::external::values::{self, FieldUnits, Mistake};
use crate::particles::Vec3;
use crate::units::{Real, Units};

settings::keys! {
    /// Jaffe sphere (Jaffe 1983, MNRAS 202, 995): φ = −(G M / a) ln(1 + a/r).
    JaffeSettings, "ExternalJaffe", {
        /// Mass of the whole sphere, above 0; unit: mass.
        mass: Real,
        /// Scale radius, above 0; unit: length.
        scale_radius: Real,
    }
}

impl FieldSettings for JaffeSettings {
    fn section(&self) -> &'static str {
        "external.jaffe"
    }

    fn check(&self, _: &Units, found: &mut Vec<Mistake>) {
        values::positive(found, "mass", self.mass);
        values::positive(found, "scale_radius", self.scale_radius);
    }

    fn describe(&self, units: &Units, place: &str) -> String {
        let lengths = [("scale radius", self.scale_radius)];
        format!("Jaffe sphere, {}", values::describe(self.mass, place, &lengths, units))
    }

    fn references(&self) -> &'static [&'static str] {
        &["Jaffe1983"]
    }

    fn at_full_strength(&self, to: FieldUnits<'_>, at: Vec3) -> Result<Box<dyn ExternalField>, Mistake> {
        let source = FieldSource::new(
            "-G*mass/a*log(1 + a/r)",
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
        // At r = a half of the mass is within.
        let settings = JaffeSettings {
            mass: real!(8.0),
            scale_radius: real!(2.0),
            position: [real!(0.0); 3],
            motion: None,
            variation: None,
        };
        let (field, at) = (field(&settings), 2.0 * Vec3::x());
        close(field.pot(at, 0.0), -4.0 * 2f64.ln());
        close(field.acc(at, 0.0).x, -1.0);
    }
}
