//! Plummer sphere at a fixed place.

use super::field::ExternalField;
use super::point_mass::PointMass;
use super::settings::{self, FieldSettings, Mistake};
use crate::particles::Vec3;
use crate::units::{Real, Scale, Units};

/// Plummer sphere at a fixed place (Plummer 1911, MNRAS 71, 460): φ = −M / √(r² + a²), the potential of a point mass
/// with the softening a.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plummer {
    /// Mass.
    pub mass: f64,
    /// Place of the centre.
    pub position: Vec3,
    /// Scale radius a.
    pub scale_radius: f64,
}

impl Plummer {
    /// Returns the point mass of the same potential.
    const fn softened(&self) -> PointMass {
        PointMass { mass: self.mass, position: self.position, softening: self.scale_radius }
    }
}

impl ExternalField for Plummer {
    fn acc(&self, pos: Vec3, t: f64) -> Vec3 {
        self.softened().acc(pos, t)
    }

    fn jerk(&self, pos: Vec3, vel: Vec3, t: f64) -> Vec3 {
        self.softened().jerk(pos, vel, t)
    }

    fn pot(&self, pos: Vec3, t: f64) -> f64 {
        self.softened().pot(pos, t)
    }
}

/// Plummer sphere at a fixed position, such as the gas that a cluster is embedded in.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "serde", schemars(rename = "ExternalPlummer"))]
pub struct PlummerSettings {
    /// Mass of the whole sphere, above 0; unit: mass.
    pub mass: Real,
    /// Scale radius, above 0; unit: length. Half of the mass is within 1.305 of it.
    pub scale_radius: Real,
    /// Position of the centre; unit: length.
    #[cfg_attr(feature = "serde", serde(default = "settings::origin"))]
    pub position: [Real; 3],
}

impl FieldSettings for PlummerSettings {
    fn section(&self) -> &'static str {
        "external.plummer"
    }

    fn check(&self, found: &mut Vec<Mistake>) {
        settings::positive(found, "mass", self.mass);
        settings::positive(found, "scale_radius", self.scale_radius);
    }

    fn describe(&self, units: &Units) -> String {
        let length = ("scale radius", self.scale_radius);
        format!("Plummer sphere, {}", settings::describe(self.mass, self.position, length, units))
    }

    fn references(&self) -> &'static [&'static str] {
        &["Plummer1911"]
    }

    fn build(&self, scale: &Scale) -> Box<dyn ExternalField> {
        let position = settings::place(self.position, scale);
        let (mass, scale_radius) = (self.mass.get() / scale.mass, self.scale_radius.get() / scale.length);
        Box::new(Plummer { mass, position, scale_radius })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_acceleration_is_that_of_the_mass_within() {
        let field = Plummer { mass: 3.0, position: Vec3::new(0.5, -1.0, 2.0), scale_radius: 0.75 };
        for r in [0.01, 0.75, 10.0] {
            // M(r) = M r³ / (r² + a²)^{3/2}.
            let within = 3.0 * (r / (r * r + 0.5625f64).sqrt()).powi(3);
            let found = field.acc(field.position + r * Vec3::z(), 0.0);
            assert!((found + within / (r * r) * Vec3::z()).norm() < 1e-13 * within / (r * r), "{r}: {found}");
        }
        assert_eq!(field.pot(field.position, 0.0), -4.0);
    }
}
