//! Point mass at a fixed place.

use super::field::ExternalField;
use super::settings::{self, FieldSettings, Mistake};
use crate::gravity::{attraction, pair};
use crate::particles::Vec3;
use crate::units::{Real, Scale, Units};

/// Point mass at a fixed place, with the pair force of a particle that never moves: softened it is the potential of a
/// Plummer sphere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointMass {
    /// Mass.
    pub mass: f64,
    /// Place.
    pub position: Vec3,
    /// Softening length ε; 0 for none.
    pub softening: f64,
}

impl ExternalField for PointMass {
    /// −M r / (r² + ε²)^{3/2}.
    fn acc(&self, pos: Vec3, _: f64) -> Vec3 {
        let r = self.position - pos;
        attraction(self.mass, r.into(), self.softening * self.softening) * r
    }

    /// −M [v / s³ − 3 (r · v) r / s⁵] with s² = r² + ε².
    fn jerk(&self, pos: Vec3, vel: Vec3, _: f64) -> Vec3 {
        let pair = pair(self.mass, (self.position - pos).into(), (-vel).into(), self.softening * self.softening);
        pair.m_s3 * Vec3::from(pair.d)
    }

    /// −M / √(r² + ε²).
    fn pot(&self, pos: Vec3, _: f64) -> f64 {
        -pair(self.mass, (self.position - pos).into(), [0.0; 3], self.softening * self.softening).m_s
    }
}

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
        let (mass, softening) = (self.mass.get() / scale.mass, self.softening.get() / scale.length);
        Box::new(PointMass { mass, position, softening })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_by_hand() {
        let field = PointMass { mass: 4.0, position: Vec3::new(1.0, 0.0, 0.0), softening: 0.0 };
        let at = Vec3::new(3.0, 0.0, 0.0);
        assert_eq!(field.acc(at, 0.0), -Vec3::x());
        assert_eq!(field.pot(at, 0.0), -2.0);
        // Across the line of sight the direction turns; along it the distance grows.
        assert_eq!(field.jerk(at, Vec3::y(), 0.0), -0.5 * Vec3::y());
        assert_eq!(field.jerk(at, Vec3::x(), 0.0), Vec3::x());
        let soft = PointMass { softening: 2.0, ..field };
        assert_eq!((soft.acc(field.position, 0.0), soft.pot(field.position, 0.0)), (Vec3::zeros(), -2.0));
    }
}
