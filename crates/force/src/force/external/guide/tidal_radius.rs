//! Tidal radius of a mass on an orbit in external fields.

use super::segment::OrbitState;
use nalgebra::Matrix3;

/// Returns the tidal radius of a mass on an orbit, r_t = [M / (λ + Ω²)]^(1/3), in internal units; [`None`] where the tide
/// holds it together, and for an orbit through the centre. λ is the largest eigenvalue of the `tide` there (xx, xy, xz, yy, yz,
/// zz), Ω = |X × V| / X² the angular velocity about the origin of the fields (King 1962, AJ 67, 471, equation 24; Renaud, Gieles &
/// Boily 2011, MNRAS 418, 759). On a circle in a round field it is the distance of L1.
#[must_use]
pub fn tidal_radius(mass: f64, orbit: &OrbitState, tide: [f64; 6]) -> Option<f64> {
    let [xx, xy, xz, yy, yz, zz] = tide;
    let largest = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz).symmetric_eigenvalues().max();
    let distance2 = orbit.pos.norm_squared();
    let stretching = largest + orbit.pos.cross(&orbit.vel).norm_squared() / (distance2 * distance2);
    (stretching > 0.0 && mass > 0.0).then(|| libm::cbrt(mass / stretching))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::external::{ExternalField, Plummer};
    use crate::particles::Vec3;

    #[test]
    fn the_tidal_radius_about_a_point_mass() {
        let of = |mass: f64, scale_radius: f64, pos: Vec3, vel: Vec3| {
            let field = Plummer { mass: 1e6, position: Vec3::zeros(), scale_radius };
            tidal_radius(mass, &OrbitState { pos, vel }, field.tide(pos, 0.0))
        };
        // On a circle R (m / 3M)^(1/3), in any direction; at rest R (m / 2M)^(1/3).
        let circle = of(3.0, 0.0, Vec3::new(60.0, 0.0, 80.0), Vec3::new(0.0, 100.0, 0.0)).unwrap();
        assert!((circle - 1.0).abs() < 1e-12, "{circle}");
        let at_rest = of(2.0, 0.0, Vec3::new(0.0, 100.0, 0.0), Vec3::zeros()).unwrap();
        assert!((at_rest - 1.0).abs() < 1e-12, "{at_rest}");
        // In the core of a sphere the tide compresses.
        assert_eq!(of(2.0, 100.0, Vec3::new(1.0, 0.0, 0.0), Vec3::zeros()), None);
        assert_eq!(of(0.0, 0.0, Vec3::new(1.0, 0.0, 0.0), Vec3::zeros()), None);
    }
}
