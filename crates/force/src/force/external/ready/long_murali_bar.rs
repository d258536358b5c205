//! Bar of Long and Murali.

use super::rotating::{ACROSS, ALONG};
use crate::force::external::field::ExternalField;
use crate::force::external::formula::FieldSource;
use crate::force::external::settings::{self, FieldSettings};
use crate::force::external::values::{self, FieldUnits, Mistake};
use crate::particles::Vec3;
use crate::units::{Real, Units};

settings::keys! {
    /// Bar that turns (Long & Murali 1992, ApJ 397, 44), a needle of half the length a along u, thickened:
    /// φ = (G M / 2a) ln[(T₊ + T₋ − 2a) / (T₊ + T₋ + 2a)], T± = √((a ± u)² + w² + (b + √(c² + z²))²).
    LongMuraliBarSettings, "ExternalLongMuraliBar", {
        /// Mass of the bar, above 0; unit: mass.
        mass: Real,
        /// Half the length a, above 0; unit: length.
        half_length: Real,
        /// Scale length b in the plane across the bar, 0 or more; unit: length.
        width: Real,
        /// Scale height c, above 0; unit: length.
        height: Real,
        /// Angle of the long axis from the axis x at t = 0, in degrees; default: 0.
        #[cfg_attr(feature = "serde", serde(default = "crate::force::external::values::zero"))]
        angle: Real,
        /// Angular velocity of the pattern, positive from x to y; unit: velocity / length; default: 0.
        #[cfg_attr(feature = "serde", serde(default = "crate::force::external::values::zero"))]
        pattern_speed: Real,
    }
}

impl FieldSettings for LongMuraliBarSettings {
    fn section(&self) -> &'static str {
        "external.long-murali-bar"
    }

    fn check(&self, _: &Units, found: &mut Vec<Mistake>) {
        values::positive(found, "mass", self.mass);
        values::positive(found, "half_length", self.half_length);
        values::not_negative(found, "width", self.width);
        values::positive(found, "height", self.height);
    }

    fn describe(&self, units: &Units, place: &str) -> String {
        let lengths = [("half length", self.half_length), ("width", self.width), ("height", self.height)];
        let pattern = values::list(&[("pattern speed", self.pattern_speed)], &values::frequency_unit(units));
        format!("Long-Murali bar, {}{pattern}", values::describe(self.mass, place, &lengths, units))
    }

    fn references(&self) -> &'static [&'static str] {
        &["LongMurali1992"]
    }

    fn depends_on_time(&self, _: &Units) -> bool {
        self.pattern_speed.get() != 0.0
    }

    fn at_full_strength(&self, to: FieldUnits<'_>, at: Vec3) -> Result<Box<dyn ExternalField>, Mistake> {
        let parameters = [
            ("mass", to.mass(self.mass)),
            ("a", to.length(self.half_length)),
            ("b", to.length(self.width)),
            ("c", to.length(self.height)),
            ("angle", self.angle.get().to_radians()),
            ("omega", to.frequency(self.pattern_speed)),
        ];
        let source = FieldSource::new("G*mass/(2*a)*log((ends - 2*a)/(ends + 2*a))", &parameters).with_parts(&[
            ALONG,
            ACROSS,
            ("h", "w^2 + (b + sqrt(c^2 + z^2))^2"),
            ("ends", "sqrt((a + u)^2 + h) + sqrt((a - u)^2 + h)"),
        ]);
        settings::compiled(&source, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::external::ready::by_hand::{close, field};
    use crate::real;

    #[test]
    fn values_by_hand_of_a_bar_that_turns() {
        let settings = LongMuraliBarSettings {
            mass: real!(6.0),
            half_length: real!(3.0),
            width: real!(3.0),
            height: real!(1.0),
            angle: real!(90.0),
            pattern_speed: real!(0.5),
            position: [real!(0.0); 3],
            motion: None,
            variation: None,
        };
        let field = field(&settings);
        // b + c = 4 at the centre: T± = 5, φ = ln(4/16).
        close(field.pot(Vec3::zeros(), 0.0), -4f64.ln());
        // At the end of the bar, which is at y = 3 first, a half turn later at y = −3: T± = √52, 4.
        let end = ((52f64.sqrt() - 2.0) / (52f64.sqrt() + 10.0)).ln();
        close(field.pot(3.0 * Vec3::y(), 0.0), end);
        close(field.pot(-3.0 * Vec3::y(), 2.0 * std::f64::consts::PI), end);
        close(field.pot(3.0 * Vec3::x(), std::f64::consts::PI), end);
        // Far away: a point mass.
        assert!((field.pot(1e6 * Vec3::x(), 0.3) * 1e6 + 6.0).abs() < 1e-4);
    }
}
