//! Dehnen spheres.

use crate::force::external::field::ExternalField;
use crate::force::external::formula::FieldSource;
use crate::force::external::settings::{self, FieldSettings};
use crate::force::external::values::{self, FieldUnits, Mistake};
use crate::particles::Vec3;
use crate::units::{Real, Units};

settings::keys! {
    /// Sphere of Dehnen (1993, MNRAS 265, 250) with the density M (3 − γ) a / (4π r^γ (r + a)^(4 − γ)):
    /// φ = −G M / (a (2 − γ)) [1 − (r / (r + a))^(2 − γ)]. γ = 1 is Hernquist's sphere, γ = 2 Jaffe's.
    DehnenSettings, "ExternalDehnen", {
        /// Mass of the whole sphere, above 0; unit: mass.
        mass: Real,
        /// Scale radius, above 0; unit: length.
        scale_radius: Real,
        /// Inner slope γ of the density, from 0 to below 3.
        inner_slope: Real,
    }
}

impl FieldSettings for DehnenSettings {
    fn section(&self) -> &'static str {
        "external.dehnen"
    }

    fn check(&self, _: &Units, found: &mut Vec<Mistake>) {
        values::positive(found, "mass", self.mass);
        values::positive(found, "scale_radius", self.scale_radius);
        if !(0.0..3.0).contains(&self.inner_slope.get()) {
            let problem = format!("expected a number from 0 to below 3, found {}", self.inner_slope);
            found.push(Mistake::new("inner_slope", problem));
        }
    }

    fn describe(&self, units: &Units, place: &str) -> String {
        let lengths = [("scale radius", self.scale_radius)];
        format!(
            "Dehnen sphere of inner slope {}, {}",
            self.inner_slope,
            values::describe(self.mass, place, &lengths, units)
        )
    }

    fn references(&self) -> &'static [&'static str] {
        &["Dehnen1993"]
    }

    fn at_full_strength(&self, to: FieldUnits<'_>, at: Vec3) -> Result<Box<dyn ExternalField>, Mistake> {
        let parameters =
            [("mass", to.mass(self.mass)), ("a", to.length(self.scale_radius)), ("gamma", self.inner_slope.get())];
        // The general form divides 0 by 0 at γ = 2.
        let formula = if self.inner_slope.get() == 2.0 {
            "-G*mass/a*log(1 + a/r)"
        } else {
            "-G*mass/(a*(2 - gamma))*(1 - (1 + a/r)^(gamma - 2))"
        };
        settings::compiled(&FieldSource::new(formula, &parameters), at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::external::ready::by_hand::{close, field};
    use crate::real;

    #[test]
    fn the_acceleration_is_that_of_the_mass_within() {
        for slope in [real!(0.0), real!(0.7), real!(1.0), real!(2.0), real!(2.5)] {
            let settings = DehnenSettings {
                mass: real!(8.0),
                scale_radius: real!(2.0),
                inner_slope: slope,
                position: [real!(0.0); 3],
                motion: None,
                variation: None,
            };
            let field = field(&settings);
            for r in [0.01, 2.0, 30.0] {
                // M(r) = M (r / (r + a))^(3 − γ)
                let within = 8.0 * (r / (r + 2.0f64)).powf(3.0 - slope.get());
                close(field.acc(r * Vec3::z(), 0.0).z, -within / (r * r));
            }
        }
    }
}
