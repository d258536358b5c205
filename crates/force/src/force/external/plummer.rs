//! Plummer sphere at a fixed place.

use super::field::ExternalField;
use super::parts::{FieldPart, Summand};
use super::settings::{self, FieldSettings};
use super::values::{self, FieldUnits, Mistake};
use crate::gravity::{attraction, pair, softened_square};
use crate::particles::Vec3;
use crate::units::{Real, Units};

/// Plummer sphere at a fixed place (Plummer 1911, MNRAS 71, 460): φ = −M / √(r² + a²). With a = 0 it is a point mass, with
/// the pair force of a particle that never moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plummer {
    /// Mass M.
    pub mass: f64,
    /// Place of the centre.
    pub position: Vec3,
    /// Scale radius a; 0 for a point mass.
    pub scale_radius: f64,
}

impl ExternalField for Plummer {
    /// −M r / (r² + a²)^{3/2}.
    fn acc(&self, pos: Vec3, _: f64) -> Vec3 {
        let r = self.position - pos;
        attraction(self.mass, r.into(), self.scale_radius * self.scale_radius) * r
    }

    /// −M [v / s³ − 3 (r · v) r / s⁵] with s² = r² + a².
    fn jerk(&self, pos: Vec3, vel: Vec3, _: f64) -> Vec3 {
        let a2 = self.scale_radius * self.scale_radius;
        let pair = pair(self.mass, (self.position - pos).into(), (-vel).into(), a2);
        pair.m_s3 * Vec3::from(pair.d)
    }

    /// −M / √(r² + a²).
    fn pot(&self, pos: Vec3, _: f64) -> f64 {
        -pair(self.mass, (self.position - pos).into(), [0.0; 3], self.scale_radius * self.scale_radius).m_s
    }

    /// −M [1 / s³ − 3 r rᵀ / s⁵].
    fn tide(&self, pos: Vec3, _: f64) -> [f64; 6] {
        let (r, a2) = (self.position - pos, self.scale_radius * self.scale_radius);
        let s2 = softened_square(r.into(), a2);
        let factor = attraction(self.mass, r.into(), a2);
        let [x, y, z] = r.into();
        let slope = 3.0 * factor / s2;
        [
            slope * x * x - factor,
            slope * x * y,
            slope * x * z,
            slope * y * y - factor,
            slope * y * z,
            slope * z * z - factor,
        ]
    }

    /// 0: the field does not change.
    fn rate(&self, _: Vec3, _: Vec3, _: f64) -> [f64; 2] {
        [0.0; 2]
    }

    fn parts(&self) -> Option<Summand> {
        let eps2 = self.scale_radius * self.scale_radius;
        Some(Summand::Part(FieldPart::Sphere { mass: self.mass, position: self.position, eps2 }))
    }
}

settings::keys! {
    /// Plummer sphere, such as the gas that a cluster is embedded in.
    PlummerSettings, "ExternalPlummer", {
        /// Mass of the whole sphere, above 0; unit: mass.
        mass: Real,
        /// Scale radius, above 0; unit: length. Half of the mass is within 1.305 of it.
        scale_radius: Real,
    }
}

impl FieldSettings for PlummerSettings {
    fn section(&self) -> &'static str {
        "external.plummer"
    }

    fn check(&self, _: &Units, found: &mut Vec<Mistake>) {
        values::positive(found, "mass", self.mass);
        values::positive(found, "scale_radius", self.scale_radius);
    }

    fn describe(&self, units: &Units, place: &str) -> String {
        let lengths = [("scale radius", self.scale_radius)];
        format!("Plummer sphere, {}", values::describe(self.mass, place, &lengths, units))
    }

    fn references(&self) -> &'static [&'static str] {
        &["Plummer1911"]
    }

    fn at_full_strength(&self, to: FieldUnits<'_>, at: Vec3) -> Result<Box<dyn ExternalField>, Mistake> {
        let (mass, scale_radius) = (to.mass(self.mass), to.length(self.scale_radius));
        Ok(Box::new(Plummer { mass, position: at, scale_radius }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::field::tide_times;
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

    #[test]
    fn the_tidal_tensor_is_that_of_the_jerk() {
        let field = Plummer { mass: 3.0, position: Vec3::new(0.5, -1.0, 2.0), scale_radius: 0.75 };
        let (x, v) = (Vec3::new(1.0, 0.25, 1.5), Vec3::new(0.5, -2.0, 1.0));
        let jerk = field.jerk(x, v, 0.0);
        assert!((tide_times(field.tide(x, 0.0), v) - jerk).norm() < 1e-14 * jerk.norm());
    }

    #[test]
    fn values_of_a_point_mass_by_hand() {
        let field = Plummer { mass: 4.0, position: Vec3::new(1.0, 0.0, 0.0), scale_radius: 0.0 };
        let at = Vec3::new(3.0, 0.0, 0.0);
        assert_eq!(field.acc(at, 0.0), -Vec3::x());
        assert_eq!(field.pot(at, 0.0), -2.0);
        // Across the line of sight the direction turns; along it the distance grows.
        assert_eq!(field.jerk(at, Vec3::y(), 0.0), -0.5 * Vec3::y());
        assert_eq!(field.jerk(at, Vec3::x(), 0.0), Vec3::x());
        // M / r³ = ½: stretched along the line of sight, compressed across it.
        assert_eq!(field.tide(at, 0.0), [1.0, 0.0, 0.0, -0.5, 0.0, -0.5]);
        assert_eq!(field.rate(at, Vec3::y(), 0.0), [0.0; 2]);
        let soft = Plummer { scale_radius: 2.0, ..field };
        assert_eq!((soft.acc(field.position, 0.0), soft.pot(field.position, 0.0)), (Vec3::zeros(), -2.0));
    }
}
