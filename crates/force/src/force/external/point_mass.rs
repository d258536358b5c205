//! Point mass at a fixed place: a [Plummer sphere](Plummer) of size 0, or, with a softening, of that size.

use super::field::ExternalField;
use super::plummer::Plummer;
use super::settings::FieldSettings;
use super::values::{self, FieldUnits, Mistake};
use super::variation::Variation;
use crate::units::{Real, Units};

/// Point mass at a fixed position, such as a black hole that the cluster does not move.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "serde", schemars(rename = "ExternalPointMass"))]
pub struct PointMassSettings {
    /// Mass, above 0; unit: mass.
    pub mass: Real,
    /// Position; unit: length.
    #[cfg_attr(feature = "serde", serde(default = "values::origin"))]
    pub position: [Real; 3],
    /// Softening length of this field, 0 or more; unit: length.
    #[cfg_attr(feature = "serde", serde(default = "no_softening"))]
    pub softening: Real,
    /// Change of the strength in time; default: none.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub variation: Option<Variation>,
}

#[cfg(feature = "serde")]
const fn no_softening() -> Real {
    crate::real!(0.0)
}

impl FieldSettings for PointMassSettings {
    fn section(&self) -> &'static str {
        "external.point-mass"
    }

    fn check(&self, _: &Units, found: &mut Vec<Mistake>) {
        values::positive(found, "mass", self.mass);
        values::not_negative(found, "softening", self.softening);
    }

    fn describe(&self, units: &Units) -> String {
        format!("point mass, {}", values::describe(self.mass, self.position, &[("softening", self.softening)], units))
    }

    fn variation(&self) -> Option<&Variation> {
        self.variation.as_ref()
    }

    fn at_full_strength(&self, to: FieldUnits<'_>) -> Result<Box<dyn ExternalField>, Mistake> {
        let (mass, scale_radius) = (to.mass(self.mass), to.length(self.softening));
        Ok(Box::new(Plummer { mass, position: to.place(self.position), scale_radius }))
    }
}
