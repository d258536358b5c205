//! Position and velocity on a Kepler ellipse from orbital elements.

use libm::{cos, sin};
use tisane_force::particles::Vec3;

/// Elements of an elliptic orbit. Angles in radians.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elements {
    /// Semi-major axis.
    pub semi_major_axis: f64,
    /// Eccentricity, 0 ≤ e < 1.
    pub eccentricity: f64,
    /// Inclination to the x-y plane.
    pub inclination: f64,
    /// Longitude of the ascending node, from the x axis.
    pub node: f64,
    /// Argument of pericentre, from the node.
    pub pericentre: f64,
    /// Mean anomaly.
    pub mean_anomaly: f64,
}

impl Elements {
    /// Returns position and velocity relative to the other body; `mu` = G (m₁ + m₂) in the units of the semi-major axis
    /// and of the velocity. Murray & Dermott (1999), Solar System Dynamics, eqs 2.41, 2.52 and 2.119–2.122.
    ///
    /// # Panics
    /// Unless 0 ≤ `eccentricity` < 1.
    #[must_use]
    pub fn relative_state(&self, mu: f64) -> (Vec3, Vec3) {
        let (a, e) = (self.semi_major_axis, self.eccentricity);
        assert!((0.0..1.0).contains(&e), "eccentricity {e}");
        let anomaly = eccentric_anomaly(self.mean_anomaly, e);
        let (c, s, minor) = (cos(anomaly), sin(anomaly), (1.0 - e * e).sqrt());
        let rate = (mu / a).sqrt() / (1.0 - e * c);
        let (p, q) = self.axes();
        let in_space = |x: f64, y: f64| x * p + y * q;
        (in_space(a * (c - e), a * minor * s), in_space(-rate * s, rate * minor * c))
    }

    /// Returns unit vectors to the pericentre and, in the plane of the orbit, to the point 90° ahead of it.
    fn axes(&self) -> (Vec3, Vec3) {
        let (cn, sn) = (cos(self.node), sin(self.node));
        let (cp, sp) = (cos(self.pericentre), sin(self.pericentre));
        let (ci, si) = (cos(self.inclination), sin(self.inclination));
        let p = Vec3::new(cn * cp - sn * sp * ci, sn * cp + cn * sp * ci, sp * si);
        let q = Vec3::new(-cn * sp - sn * cp * ci, -sn * sp + cn * cp * ci, cp * si);
        (p, q)
    }
}

/// Solves Kepler's equation E − e sin E = M by Newton's method.
fn eccentric_anomaly(mean_anomaly: f64, e: f64) -> f64 {
    let turn = std::f64::consts::TAU;
    let m = mean_anomaly - turn * (mean_anomaly / turn).round();
    // From ±π Newton's iteration is monotonic for every e < 1 (the equation is convex on that side), so that it always
    // ends.
    let mut anomaly = std::f64::consts::PI.copysign(m);
    for _ in 0..100 {
        let change = (anomaly - e * sin(anomaly) - m) / (1.0 - e * cos(anomaly));
        anomaly -= change;
        if change.abs() <= 4.0 * f64::EPSILON {
            break;
        }
    }
    anomaly
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keplers_equation_is_solved_at_any_eccentricity() {
        for e in [0.0, 0.0167, 0.5, 0.9, 0.999_999] {
            for k in -40..=40 {
                let m = 0.157 * f64::from(k);
                let anomaly = eccentric_anomaly(m, e);
                let left = anomaly - e * anomaly.sin() - m;
                let turns = left / std::f64::consts::TAU;
                assert!((turns - turns.round()).abs() < 1e-15, "e {e} M {m}: residual {left}");
            }
        }
    }
}
