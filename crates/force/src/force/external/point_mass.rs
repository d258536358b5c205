//! Point mass at a fixed place: a [Plummer sphere](Plummer) of size 0, or, with a softening, of that size.

use super::field::ExternalField;
use super::plummer::Plummer;
use super::settings::{self, FieldSettings, Mistake};
use crate::units::{Real, Scale, Units};

/// Point mass at a fixed position, such as a black hole that the cluster does not move.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "serde", schemars(rename = "ExternalPointMass"))]
pub struct PointMassSettings {
    /// Mass, above 0; unit: mass.
    pub mass: Real,
    /// Position; unit: length.
    #[cfg_attr(feature = "serde", serde(default = "settings::origin"))]
    pub position: [Real; 3],
    /// Softening length of this field, 0 or more; unit: length.
    #[cfg_attr(feature = "serde", serde(default = "no_softening"))]
    pub softening: Real,
}

#[cfg(feature = "serde")]
const fn no_softening() -> Real {
    crate::real!(0.0)
}

impl FieldSettings for PointMassSettings {
    fn section(&self) -> &'static str {
        "external.point-mass"
    }

    fn check(&self, found: &mut Vec<Mistake>) {
        settings::positive(found, "mass", self.mass);
        settings::not_negative(found, "softening", self.softening);
    }

    fn describe(&self, units: &Units) -> String {
        format!("point mass, {}", settings::describe(self.mass, self.position, ("softening", self.softening), units))
    }

    fn build(&self, scale: &Scale) -> Box<dyn ExternalField> {
        let position = settings::place(self.position, scale);
        let (mass, scale_radius) = (self.mass.get() / scale.mass, self.softening.get() / scale.length);
        Box::new(Plummer { mass, position, scale_radius })
    }
}
