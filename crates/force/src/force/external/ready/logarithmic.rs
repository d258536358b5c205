//! Flattened logarithmic halo.

use crate::force::external::field::ExternalField;
use crate::force::external::formula::FieldSource;
use crate::force::external::settings::{self, FieldSettings};
use crate::force::external::values::{self, FieldUnits, Mistake};
use crate::particles::Vec3;
use crate::units::{Real, Units};

settings::keys! {
    /// Logarithmic halo (Binney 1981, MNRAS 196, 455): φ = ½ v₀² ln(x² + y²/p² + z²/q² + c²), in units of length of the user.
    /// Far out the speed of a circular orbit is v₀ at any radius.
    LogarithmicSettings, "ExternalLogarithmic", {
        /// Speed v₀ of circular orbits far out, above 0; unit: velocity.
        speed: Real,
        /// Core radius c, 0 or more; unit: length.
        core_radius: Real,
        /// Axis ratio p of the equipotentials in y, above 0; default: 1.
        #[cfg_attr(feature = "serde", serde(default = "round"))]
        flattening_y: Real,
        /// Axis ratio q of the equipotentials in z, above 0; default: 1.
        #[cfg_attr(feature = "serde", serde(default = "round"))]
        flattening_z: Real,
    }
}

#[cfg(feature = "serde")]
const fn round() -> Real {
    crate::real!(1.0)
}

impl FieldSettings for LogarithmicSettings {
    fn section(&self) -> &'static str {
        "external.logarithmic"
    }

    fn check(&self, _: &Units, found: &mut Vec<Mistake>) {
        values::positive(found, "speed", self.speed);
        values::not_negative(found, "core_radius", self.core_radius);
        values::positive(found, "flattening_y", self.flattening_y);
        values::positive(found, "flattening_z", self.flattening_z);
    }

    fn describe(&self, units: &Units, place: &str) -> String {
        let (speed, velocity, length) = (self.speed, &units.velocity.name, &units.length.name);
        let (core, p, q) = (self.core_radius, self.flattening_y, self.flattening_z);
        format!(
            "logarithmic halo, {speed} {velocity} {place}, core radius {core} {length}, flattening {p} in y, {q} in z"
        )
    }

    fn references(&self) -> &'static [&'static str] {
        &["Binney1981"]
    }

    fn at_full_strength(&self, to: FieldUnits<'_>, at: Vec3) -> Result<Box<dyn ExternalField>, Mistake> {
        let source = FieldSource::new(
            "0.5*v0^2*log(unit^2*(x^2 + y^2/p^2 + z^2/q^2 + c^2))",
            &[
                ("v0", to.velocity(self.speed)),
                ("c", to.length(self.core_radius)),
                ("p", self.flattening_y.get()),
                ("q", self.flattening_z.get()),
                ("unit", to.scale.length),
            ],
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
    fn the_speed_of_a_circular_orbit_is_that_of_the_halo() {
        // v² = v₀² R² / (R² + c²)
        let settings = LogarithmicSettings {
            speed: real!(2.0),
            core_radius: real!(3.0),
            flattening_y: real!(1.0),
            flattening_z: real!(0.5),
            position: [real!(0.0); 3],
            motion: None,
            variation: None,
        };
        let field = field(&settings);
        close(-4.0 * field.acc(4.0 * Vec3::x(), 0.0).x, 4.0 * 16.0 / 25.0);
        close(field.pot(4.0 * Vec3::x(), 0.0), 2.0 * 25f64.ln());
        close(field.pot(2.0 * Vec3::z(), 0.0), 2.0 * 25f64.ln());
    }
}
