//! Power law of the density with an exponential cut-off: bulges.

use crate::force::external::field::ExternalField;
use crate::force::external::formula::FieldSource;
use crate::force::external::settings::{self, FieldSettings};
use crate::force::external::values::{self, FieldUnits, Mistake};
use crate::particles::Vec3;
use crate::units::{Real, Units};

settings::keys! {
    /// Sphere with the density r^(−α) e^(−(r/r_c)²) (Bovy 2015, ApJS 216, 29). With x = (r/r_c)² and s = (3 − α)/2:
    /// φ = −G M [P(s, x)/r + Γ(s − ½, x)/(Γ(s) r_c)], P the regularised lower and Γ(s, x) the upper incomplete gamma function.
    PowerLawSettings, "ExternalPowerLaw", {
        /// Mass of the whole sphere, above 0; unit: mass.
        mass: Real,
        /// Slope α of the density, from 0 to below 2.
        slope: Real,
        /// Radius r_c of the cut-off, above 0; unit: length.
        cutoff_radius: Real,
    }
}

/// Returns the power law with a cut-off, from its mass, slope and cut-off radius.
pub(super) fn cut_off(mass: f64, slope: f64, radius: f64) -> FieldSource {
    let s = 0.5 * (3.0 - slope);
    let outer = libm::tgamma(s - 0.5) / libm::tgamma(s);
    FieldSource::new(
        "-G*mass*(gammap(s, x2)/r + outer/rc*(1 - gammap(s - 1/2, x2)))",
        &[("mass", mass), ("s", s), ("outer", outer), ("rc", radius)],
    )
    .with_parts(&[("x2", "r^2/rc^2")])
}

impl FieldSettings for PowerLawSettings {
    fn section(&self) -> &'static str {
        "external.power-law"
    }

    fn check(&self, _: &Units, found: &mut Vec<Mistake>) {
        values::positive(found, "mass", self.mass);
        values::positive(found, "cutoff_radius", self.cutoff_radius);
        if !(0.0..2.0).contains(&self.slope.get()) {
            found.push(Mistake::new("slope", format!("expected a number from 0 to below 2, found {}", self.slope)));
        }
    }

    fn describe(&self, units: &Units, place: &str) -> String {
        let lengths = [("cut-off radius", self.cutoff_radius)];
        let placed = values::describe(self.mass, place, &lengths, units);
        format!("power law of slope {} with a cut-off, {placed}", self.slope)
    }

    fn references(&self) -> &'static [&'static str] {
        &["Bovy2015"]
    }

    fn at_full_strength(&self, to: FieldUnits<'_>, at: Vec3) -> Result<Box<dyn ExternalField>, Mistake> {
        let field = cut_off(to.mass(self.mass), self.slope.get(), to.length(self.cutoff_radius));
        settings::compiled(&field, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::external::ready::by_hand::{close, field};
    use crate::real;

    #[test]
    fn values_by_hand() {
        // α = 1: M(r) = M (1 − e^(−x)); potential and acceleration of all mass far outside.
        let settings = PowerLawSettings {
            mass: real!(4.0),
            slope: real!(1.0),
            cutoff_radius: real!(2.0),
            position: [real!(0.0); 3],
            motion: None,
            variation: None,
        };
        let field = field(&settings);
        for r in [0.125, 1.0, 3.0] {
            let within = -4.0 * (-r * r / 4.0f64).exp_m1();
            close(field.acc(r * Vec3::z(), 0.0).z, -within / (r * r));
        }
        close(field.pot(40.0 * Vec3::x(), 0.0), -0.1);
        close(field.acc(40.0 * Vec3::x(), 0.0).x, -0.0025);
        // At the centre φ = −G M √π / r_c.
        let centre = field.pot(1e-9 * Vec3::x(), 0.0);
        assert!((centre + 2.0 * std::f64::consts::PI.sqrt()).abs() < 1e-8, "{centre}");
    }
}
