//! Point mass at a fixed place: a [Plummer sphere](Plummer) of size 0, or, with a softening, of that size.

use super::field::ExternalField;
use super::plummer::Plummer;
use super::settings::{self, FieldSettings};
use super::values::{self, FieldUnits, Mistake};
use crate::particles::Vec3;
use crate::units::{Real, Units};

settings::keys! {
    /// Point mass, such as a black hole that the cluster does not move.
    PointMassSettings, "ExternalPointMass", {
        /// Mass, above 0; unit: mass.
        mass: Real,
        /// Softening length of this field, 0 or more; unit: length.
        #[cfg_attr(feature = "serde", serde(default = "crate::force::external::values::zero"))]
        softening: Real,
    }
}

impl FieldSettings for PointMassSettings {
    fn section(&self) -> &'static str {
        "external.point-mass"
    }

    fn check(&self, _: &Units, found: &mut Vec<Mistake>) {
        values::positive(found, "mass", self.mass);
        values::not_negative(found, "softening", self.softening);
    }

    fn describe(&self, units: &Units, place: &str) -> String {
        format!("point mass, {}", values::describe(self.mass, place, &[("softening", self.softening)], units))
    }

    fn at_full_strength(&self, to: FieldUnits<'_>, at: Vec3) -> Result<Box<dyn ExternalField>, Mistake> {
        let (mass, scale_radius) = (to.mass(self.mass), to.length(self.softening));
        Ok(Box::new(Plummer { mass, position: at, scale_radius }))
    }
}
