//! Quadrupole of a bar.

use super::rotating::{ACROSS, ALONG};
use crate::force::external::field::ExternalField;
use crate::force::external::formula::FieldSource;
use crate::force::external::settings::{self, FieldSettings};
use crate::force::external::values::{self, FieldUnits, Mistake};
use crate::particles::Vec3;
use crate::units::{Real, Units};

settings::keys! {
    /// Quadrupole of a bar that turns (Dehnen 2000, AJ 119, 800; Monari et al. 2016, MNRAS 461, 3835 outside of the plane):
    /// φ = A cos 2(φ − φ_b − Ω t) (R/r)² × {−(R_b/r)³ outside of R_b, (r/R_b)³ − 2 inside}, A = α v₀²/3 (R₀/R_b)³. Its
    /// force at R₀ along the long axis is α v₀²/R₀. It comes with a field that is round about z.
    DehnenBarSettings, "ExternalDehnenBar", {
        /// Ratio α of the forces of the bar and of the round field at `r0` along the long axis.
        strength: Real,
        /// Radius R₀ of which `strength` tells, above 0; unit: length.
        r0: Real,
        /// Speed v₀ of circular orbits at `r0`, above 0; unit: velocity.
        v0: Real,
        /// Radius R_b of the bar, above 0; unit: length.
        bar_radius: Real,
        /// Angle of the long axis from the axis x at t = 0, in degrees; default: 0.
        #[cfg_attr(feature = "serde", serde(default = "crate::force::external::values::zero"))]
        angle: Real,
        /// Angular velocity of the pattern, positive from x to y; unit: velocity / length; default: 0.
        #[cfg_attr(feature = "serde", serde(default = "crate::force::external::values::zero"))]
        pattern_speed: Real,
    }
}

impl FieldSettings for DehnenBarSettings {
    fn section(&self) -> &'static str {
        "external.dehnen-bar"
    }

    fn check(&self, _: &Units, found: &mut Vec<Mistake>) {
        values::positive(found, "r0", self.r0);
        values::positive(found, "v0", self.v0);
        values::positive(found, "bar_radius", self.bar_radius);
    }

    fn describe(&self, units: &Units, place: &str) -> String {
        let strength = self.strength;
        let lengths = values::list(&[("radius", self.bar_radius)], &units.length.name);
        let pattern = values::list(&[("pattern speed", self.pattern_speed)], &values::frequency_unit(units));
        format!("quadrupole of a bar, strength {strength} {place}{lengths}{pattern}")
    }

    fn references(&self) -> &'static [&'static str] {
        &["Dehnen2000", "Monari2016"]
    }

    fn depends_on_time(&self, _: &Units) -> bool {
        self.pattern_speed.get() != 0.0
    }

    fn at_full_strength(&self, to: FieldUnits<'_>, at: Vec3) -> Result<Box<dyn ExternalField>, Mistake> {
        let (v0, ratio) = (to.velocity(self.v0), self.r0.get() / self.bar_radius.get());
        let parameters = [
            ("amplitude", self.strength.get() * (v0 * v0) / 3.0 * (ratio * ratio * ratio)),
            ("rb", to.length(self.bar_radius)),
            ("angle", self.angle.get().to_radians()),
            ("omega", to.frequency(self.pattern_speed)),
        ];
        let formula = "amplitude*(u^2 - w^2)/r^2*if(r < rb, (r/rb)^3 - 2, -(rb/r)^3)";
        settings::compiled(&FieldSource::new(formula, &parameters).with_parts(&[ALONG, ACROSS]), at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::external::ready::by_hand::{close, field};
    use crate::real;

    #[test]
    fn the_force_at_r0_is_the_strength_times_that_of_the_round_field() {
        let settings = DehnenBarSettings {
            strength: real!(0.01),
            r0: real!(8.0),
            v0: real!(2.0),
            bar_radius: real!(4.0),
            angle: real!(0.0),
            pattern_speed: real!(0.0),
            position: [real!(0.0); 3],
            motion: None,
            variation: None,
        };
        let field = field(&settings);
        // Along the long axis inwards, along the short one outwards.
        close(field.acc(8.0 * Vec3::x(), 0.0).x, -0.01 * 4.0 / 8.0);
        close(field.acc(8.0 * Vec3::y(), 0.0).y, 0.01 * 4.0 / 8.0);
        // A = 0.01·4/3·8; at the radius of the bar −A, and without a jump of the force.
        close(field.pot(4.0 * Vec3::x(), 0.0), -0.32 / 3.0);
        let [inside, outside] = [4.0 - 1e-12, 4.0].map(|r| field.acc(r * Vec3::x(), 0.0).x);
        assert!((inside - outside).abs() < 1e-11);
    }
}
