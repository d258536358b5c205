//! Moments at which two bodies on a Kepler orbit touch.

use super::epoch::arc;
use super::universal::Along;
use tisane_force::particles::Vec3;

/// Contact of two bodies whose orbit leads them closer than a distance, as seen from one point of the orbit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Distance at pericentre.
    pub pericentre: f64,
    /// Time since the pericentre, negative before it.
    since: f64,
    /// Time that the orbit takes from the contact to the pericentre.
    inside: f64,
    period: Option<f64>,
}

impl Touch {
    /// Returns the contact at `distance` of two bodies with this relative position, not 0, and velocity; `mu` = G (m₁ + m₂)
    /// \> 0, β = 2μ/r − v². [`None`] if the pericentre of their orbit is not within the distance.
    #[must_use]
    pub fn new(pos: Vec3, vel: Vec3, (mu, beta): (f64, f64), distance: f64) -> Option<Self> {
        let (r, l2) = (pos.norm(), pos.cross(&vel).norm_squared());
        let e = (1.0 - beta * l2 / (mu * mu)).max(0.0).sqrt();
        let pericentre = l2 / (mu * (1.0 + e));
        // An orbit that is as good as a circle has its pericentre here.
        let apocentre = mu * (1.0 + e) / beta;
        if pericentre.min(r) >= distance {
            return None;
        }
        let along = Along { r: pericentre, eta: 0.0, beta, mu };
        // Half the anomaly has the tangent √β η / (μ (1 + e) − β r), with the other form where that loses digits.
        let time = |r: f64, eta: f64| {
            let far = beta * r > mu;
            let (of, over) = if far { (r - pericentre, eta) } else { (eta, mu * (1.0 + e) - beta * r) };
            if of == 0.0 { 0.0 } else { along.time_and_distance(2.0 * arc(of, over, beta)).0 }
        };
        let eta = ((2.0 * mu - beta * distance) * distance - l2).max(0.0).sqrt();
        // An ellipse within the distance: the bodies always touch, and the contact is its apocentre.
        let is_whole = beta > 0.0 && apocentre <= distance;
        let period = along.turn().map(|(period, _)| period);
        let inside = if is_whole { 0.5 * period.unwrap_or(0.0) } else { time(distance, eta) };
        Some(Self { pericentre, since: time(r, pos.dot(&vel)), inside, period })
    }

    /// Returns the time until the next contact: 0 for bodies that touch; [`None`] if they fly apart for ever.
    #[must_use]
    pub fn ahead(&self) -> Option<f64> {
        if self.since.abs() <= self.inside {
            Some(0.0)
        } else if self.since < 0.0 {
            Some(-self.since - self.inside)
        } else {
            self.period.map(|period| period - self.since - self.inside)
        }
    }

    /// Returns the time since the last contact of bodies that touch or recede.
    #[must_use]
    pub fn past(&self) -> f64 {
        (self.since + self.inside).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::universal::step;
    use super::*;

    /// Positions and velocities at the pericentre, at distance 1, of orbits with μ = 1.
    fn at_pericentre(e: f64) -> (Vec3, Vec3) {
        (Vec3::x(), Vec3::y() * (1.0 + e).sqrt())
    }

    #[test]
    fn verify_the_moment_of_a_contact() {
        for e in [0.3, 0.9, 0.9999, 1.0, 1.5, 20.0] {
            let (x, v) = at_pericentre(e);
            let beta = 1.0 - e;
            for (before, distance) in [(0.3, 1.001), (2.0, 1.2), (2.5, 1.5)] {
                let (pos, vel) = step(x, v, 1.0, -before);
                let touch = Touch::new(pos, vel, (1.0, beta), distance).unwrap();
                assert!((touch.pericentre - 1.0).abs() < 1e-11, "e = {e}: {touch:?}");
                let (there, _) = step(pos, vel, 1.0, touch.ahead().unwrap());
                assert!((there.norm() - distance).abs() < 1e-9, "e = {e}, {distance}: {}", there.norm());
                // From behind the pericentre the same moment, back in time, and one period later.
                let (pos, vel) = step(x, v, 1.0, before);
                let after = Touch::new(pos, vel, (1.0, beta), distance).unwrap();
                let (there, _) = step(pos, vel, 1.0, -after.past());
                assert!((there.norm() - distance).abs() < 1e-9, "e = {e}, {distance}: {}", there.norm());
                assert_eq!(after.ahead().is_some(), beta > 0.0);
                if let Some(ahead) = after.ahead() {
                    let (there, w) = step(pos, vel, 1.0, ahead);
                    assert!((there.norm() - distance).abs() < 1e-6 && there.dot(&w) < 0.0, "e = {e}: {there}");
                }
                assert_eq!(Touch::new(pos, vel, (1.0, beta), 0.999), None);
            }
        }
    }

    #[test]
    fn bodies_that_touch_do_so_now() {
        let (x, v) = at_pericentre(0.5);
        assert_eq!(Touch::new(x, v, (1.0, 0.5), 1.1).unwrap().ahead(), Some(0.0));
        // A whole orbit within the distance, and a circle.
        assert_eq!(Touch::new(x, v, (1.0, 0.5), 4.0).unwrap().ahead(), Some(0.0));
        assert_eq!(Touch::new(x, Vec3::y(), (1.0, 1.0), 1.5).unwrap().ahead(), Some(0.0));
        assert_eq!(Touch::new(x, Vec3::y(), (1.0, 1.0), 0.9), None);
    }

    /// A fall from rest on a straight line: the time is known in closed form.
    #[test]
    fn verify_the_contact_of_a_fall() {
        let touch = Touch::new(Vec3::x(), Vec3::zeros(), (1.0, 2.0), 0.5).unwrap();
        let expected = 0.5f64.sqrt() * (0.5f64.sqrt().acos() + 0.5);
        let ahead = touch.ahead().unwrap();
        assert!((ahead - expected).abs() < 1e-13 && touch.pericentre == 0.0, "{ahead} {expected}");
    }
}
