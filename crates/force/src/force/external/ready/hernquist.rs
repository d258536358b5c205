//! Hernquist sphere: bulges, elliptical galaxies.

use crate::force::external::field::ExternalField;
use crate::force::external::formula::FieldSource;
use crate::force::external::settings::{self, FieldSettings};
use crate::force::external::values::{self, FieldUnits, Mistake};
use crate::particles::Vec3;
use crate::units::{Real, Units};

settings::keys! {
    /// Hernquist sphere (Hernquist 1990, ApJ 356, 359): φ = −G M / (r + a).
    HernquistSettings, "ExternalHernquist", {
        /// Mass of the whole sphere, above 0; unit: mass.
        mass: Real,
        /// Scale radius, above 0; unit: length.
        scale_radius: Real,
    }
}

/// Returns a sphere of a mass and a scale radius.
pub(super) fn sphere(mass: f64, a: f64) -> FieldSource {
    FieldSource::new("-G*mass/(r + a)", &[("mass", mass), ("a", a)])
}

impl FieldSettings for HernquistSettings {
    fn section(&self) -> &'static str {
        "external.hernquist"
    }

    fn check(&self, _: &Units, found: &mut Vec<Mistake>) {
        values::positive(found, "mass", self.mass);
        values::positive(found, "scale_radius", self.scale_radius);
    }

    fn describe(&self, units: &Units, place: &str) -> String {
        let lengths = [("scale radius", self.scale_radius)];
        format!("Hernquist sphere, {}", values::describe(self.mass, place, &lengths, units))
    }

    fn references(&self) -> &'static [&'static str] {
        &["Hernquist1990"]
    }

    fn at_full_strength(&self, to: FieldUnits<'_>, at: Vec3) -> Result<Box<dyn ExternalField>, Mistake> {
        let source = sphere(to.mass(self.mass), to.length(self.scale_radius));
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
        // φ = −M / (r + a), a = −M / (r + a)², across the line of sight T = a / r, along it 2 M / (r + a)³
        let settings = HernquistSettings {
            mass: real!(8.0),
            scale_radius: real!(2.0),
            position: [real!(0.0); 3],
            motion: None,
            variation: None,
        };
        let (field, at) = (field(&settings), 2.0 * Vec3::x());
        close(field.pot(at, 0.0), -2.0);
        close(field.acc(at, 0.0).x, -0.5);
        close(field.jerk(at, Vec3::y(), 0.0).y, -0.25);
        close(field.jerk(at, Vec3::x(), 0.0).x, 0.25);
    }
}
