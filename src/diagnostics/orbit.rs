//! Osculating Kepler orbit of two bodies.

use libm::{acos, asinh, atan2};
use std::f64::consts::TAU;
use tisane_force::particles::Vec3;

/// Osculating elements of a relative orbit. Angles in radians.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orbit {
    /// Semi-major axis; negative for a hyperbola.
    pub semi_major_axis: f64,
    /// Eccentricity.
    pub eccentricity: f64,
    /// Inclination to the x-y plane, 0 to π.
    pub inclination: f64,
    /// Mean longitude: the sum of longitude of the node, argument of pericentre and mean anomaly, in 0 … 2π. Well
    /// defined on circular orbits and in the x-y plane, where its parts are not. For a hyperbola the mean anomaly is −∞
    /// … ∞.
    pub mean_longitude: f64,
}

impl Orbit {
    /// Computes the orbit of a body at relative position `x` with relative velocity `v`; `mu` = G (m₁ + m₂). Murray &
    /// Dermott (1999), Solar System Dynamics, section 2.8.
    #[must_use]
    pub fn from_state(x: Vec3, v: Vec3, mu: f64) -> Self {
        let r = x.norm();
        let h = x.cross(&v);
        let semi_major_axis = 1.0 / (2.0 / r - v.norm_squared() / mu);
        let to_pericentre = v.cross(&h) / mu - x / r;
        let eccentricity = to_pericentre.norm();
        // Longitudes are measured in the frame obtained by rotating the x-y plane about the line of nodes into the
        // plane of the orbit: its first axis is well defined on circular and on flat orbits too.
        let w = h.normalize();
        let [along, ahead] = plane(w);
        let angle = |d: Vec3| atan2(d.dot(&ahead), d.dot(&along));
        let (radial, a) = (x.dot(&v), semi_major_axis);
        let mean_longitude = if a > 0.0 {
            let (e_sin, e_cos) = (radial / (mu * a).sqrt(), 1.0 - r / a);
            (angle(x) - equation_of_centre(e_sin, e_cos)).rem_euclid(TAU)
        } else {
            // e sinh H = x·v / √(μ |a|), M = e sinh H − H
            let e_sinh = radial / (mu * -a).sqrt();
            angle(to_pericentre) + e_sinh - asinh(e_sinh / eccentricity)
        };
        Self { semi_major_axis, eccentricity, inclination: acos(w[2].clamp(-1.0, 1.0)), mean_longitude }
    }
}

/// Returns axes in the plane perpendicular to the unit vector `w`: the images of the x and y axes under the shortest
/// rotation of the z axis into `w`. In them an angle from the first axis is the sum of the longitude of the node and
/// the angle from the node.
fn plane(w: Vec3) -> [Vec3; 2] {
    let [wx, wy, wz] = w.into();
    if wz < -1.0 + 1e-12 {
        return [Vec3::x(), Vec3::new(0.0, -1.0, 0.0)];
    }
    let c = 1.0 / (1.0 + wz);
    [Vec3::new(1.0 - wx * wx * c, -wx * wy * c, -wx), Vec3::new(-wx * wy * c, 1.0 - wy * wy * c, -wy)]
}

/// Returns the true minus the mean anomaly, from e sin E and e cos E: smooth where e is zero and neither anomaly is
/// defined.
fn equation_of_centre(e_sin: f64, e_cos: f64) -> f64 {
    let divisor = 1.0 + (1.0 - e_sin * e_sin - e_cos * e_cos).max(0.0).sqrt();
    2.0 * atan2(e_sin / divisor, 1.0 - e_cos / divisor) + e_sin
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::initial::kepler::Elements;
    use tisane_force::pair::{Body, Pair};

    #[test]
    fn verify_elements_come_back() {
        for (e, i, node, pericentre) in [
            (0.3, 0.4, 1.0, 2.0),
            (0.0, 0.0, 0.0, 0.0),
            (0.9, 2.5, 5.0, 0.3),
            (0.05, 0.0, 0.0, 4.0),
            (0.0, 1.0, 2.0, 0.0),
        ] {
            for k in 0..12 {
                let mean_anomaly = 0.5 * f64::from(k);
                let elements =
                    Elements { semi_major_axis: 2.5, eccentricity: e, inclination: i, node, pericentre, mean_anomaly };
                let (x, v) = elements.relative_state(3.0);
                let found = Orbit::from_state(x, v, 3.0);
                assert!((found.semi_major_axis - 2.5).abs() < 1e-13, "{elements:?}: {found:?}");
                assert!((found.eccentricity - e).abs() < 1e-13, "{elements:?}: {found:?}");
                assert!((found.inclination - i).abs() < 1e-7, "{elements:?}: {found:?}");
                let off = (found.mean_longitude - (node + pericentre + mean_anomaly)) / TAU;
                assert!((off - off.round()).abs() < 1e-12, "{elements:?}: {found:?}");
            }
        }
    }

    #[test]
    fn a_hyperbola_has_a_negative_axis() {
        // At pericentre 1 with v² = 3 μ / r: e = 2, a = −1.
        let found = Orbit::from_state(Vec3::x(), 3f64.sqrt() * Vec3::y(), 1.0);
        assert!((found.eccentricity - 2.0).abs() < 1e-14 && (found.semi_major_axis + 1.0).abs() < 1e-14, "{found:?}");
        assert!(found.mean_longitude.abs() < 1e-14, "{found:?}");
    }

    #[test]
    fn without_softening_the_orbit_of_a_pair_is_keplers() {
        let origin = Vec3::zeros();
        let at_origin = Body { mass: 1.0, pos: origin, vel: origin };
        for (pos, vel) in [
            ([1.0, 0.2, 0.1], [0.1, 1.2, 0.3]),
            ([1.0, 0.0, 0.0], [0.0, 2f64.sqrt(), 0.0]),
            ([0.3, 0.0, 2.0], [1.0, 2.0, 0.0]),
        ] {
            let (pos, vel) = (Vec3::from(pos), Vec3::from(vel));
            let pair = Pair::new(&at_origin, &Body { mass: 1.0, pos, vel }, 0.0);
            let orbit = Orbit::from_state(pos, vel, 2.0);
            assert!((pair.semi_major_axis / orbit.semi_major_axis - 1.0).abs() < 1e-14, "{pair:?} {orbit:?}");
            assert!((pair.eccentricity - orbit.eccentricity).abs() < 1e-14, "{pair:?} {orbit:?}");
            let pericentre = orbit.semi_major_axis * (1.0 - orbit.eccentricity);
            assert!((pair.pericentre() / pericentre - 1.0).abs() < 1e-13, "{pair:?} {orbit:?}");
        }
    }
}
