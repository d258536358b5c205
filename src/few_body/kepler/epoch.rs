//! Orbit of two bodies from one epoch.

use super::universal::Along;
use tisane_force::particles::Vec3;

/// Eccentricity from which on the orbit is computed from its pericentre.
const ECCENTRIC: f64 = 0.2;
/// Largest argument β y² of the series of the arc tangent, and number of its terms.
const SMALL: f64 = 0.01;
const TERMS: u32 = 8;

/// Orbit of two bodies from one epoch: a position costs the same after any number of revolutions, and errors do not add up.
///
/// The energy of position and velocity is that of the epoch to a few rounding errors of the kinetic energy: near the pericentre
/// of a very eccentric orbit, where that is far larger than the energy, no numbers of f64 have more. The place on the orbit has
/// the error of the period, some 2⁻⁵² of the time since the epoch, and that of β.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Epoch {
    /// Position and velocity at a point of the orbit, and the time from it to the epoch.
    pos: Vec3,
    vel: Vec3,
    since: f64,
    along: Along,
}

impl Epoch {
    /// Creates the orbit with this relative position, not 0, and velocity at the epoch; `mu` = G (m₁ + m₂) > 0.
    #[must_use]
    pub fn new(pos: Vec3, vel: Vec3, mu: f64) -> Self {
        Self::with_beta(pos, vel, mu, Along::new(pos, vel, mu).beta)
    }

    /// Creates the orbit as [`Self::new`] from β = 2μ/r − v² too, which may have digits that position and velocity lack.
    #[must_use]
    pub fn with_beta(pos: Vec3, vel: Vec3, mu: f64, beta: f64) -> Self {
        let here = Along { r: pos.norm(), eta: pos.dot(&vel), beta, mu };
        let spin = pos.cross(&vel);
        let (l2, given) = (spin.norm_squared(), Self { pos, vel, since: 0.0, along: here });
        let e2 = 1.0 - beta * l2 / (mu * mu);
        if l2 == 0.0 || e2 < ECCENTRIC * ECCENTRIC {
            return given;
        }
        // From the pericentre no digits are lost near it, where r is small.
        let e = e2.sqrt();
        let q = l2 / (mu * (1.0 + e));
        let apse = (vel.cross(&spin) / mu - pos / here.r).normalize();
        let ahead = spin.cross(&apse).normalize();
        let along = Along { r: q, eta: 0.0, beta, mu };
        // Tangent of half the anomaly, of an ellipse tan(E/2)/√β, by the form that loses no digits here.
        let (of, over) =
            if beta * here.r > mu { (here.r - q, here.eta) } else { (here.eta, mu * (1.0 + e) - beta * here.r) };
        let (since, _) = along.time_and_distance(2.0 * arc(of, over, beta));
        let found = Self { pos: apse * q, vel: ahead * (l2.sqrt() / q), since, along };
        if found.pos.iter().chain(&found.vel).all(|x| x.is_finite()) && q > 0.0 { found } else { given }
    }

    /// Returns relative position and velocity at the time `dt` after the epoch, of any sign.
    #[must_use]
    pub fn at(&self, dt: f64) -> (Vec3, Vec3) {
        let dt = self.along.within_a_turn(self.since + self.along.within_a_turn(dt));
        if dt == 0.0 { (self.pos, self.vel) } else { self.along.moved(self.pos, self.vel, self.along.anomaly(dt)) }
    }

    /// Returns the period of an ellipse.
    #[must_use]
    pub fn period(&self) -> Option<f64> {
        self.along.turn().map(|(period, _)| period)
    }
}

/// Returns the arc between −π/2 and π/2, over √β, whose tangent over √β is `of`/`over`; for β < 0 of the hyperbolic one.
pub(super) fn arc(of: f64, over: f64, beta: f64) -> f64 {
    let (mut of, mut over) = if over < 0.0 { (-of, -over) } else { (of, over) };
    let mut times = 1.0;
    while (beta * of * of).abs() > SMALL * over * over {
        over += (over * over + beta * of * of).max(0.0).sqrt();
        times *= 2.0;
        // The same ratio of numbers that do not overflow.
        (of, over) = (of / over, 1.0);
    }
    let y = of / over;
    let z = beta * y * y;
    let series = (0..TERMS).rev().fold(0.0, |sum, k| 1.0 / f64::from(2 * k + 1) - z * sum);
    times * y * series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arcs_are_those_of_the_system() {
        for x in [1e-9f64, 0.05, 0.7, 1.0, 30.0, 1e9] {
            assert!((arc(x, 1.0, 1.0) / x.atan() - 1.0).abs() < 1e-15, "{x}");
            assert!((arc(-x, -1.0, 4.0) / (2.0 * x).atan() * 2.0 - 1.0).abs() < 1e-15, "{x}");
            assert!((arc(x, 2.0, 0.0) - 0.5 * x).abs() < 1e-15 * x, "{x}");
        }
        for x in [1e-9f64, 0.05, 0.7, 0.99] {
            assert!((arc(x, -1.0, -1.0) / -x.atanh() - 1.0).abs() < 3e-15, "{x}");
        }
        assert!((arc(1.0, 0.0, 1.0) - 0.5 * std::f64::consts::PI).abs() < 1e-15);
    }

    /// Positions after 10⁵ orbits have the energy and the angular momentum of the epoch, wherever on the orbit that was.
    #[test]
    fn verify_that_errors_do_not_grow_with_the_time() {
        for e in [0.0f64, 0.45, 0.9, 0.999_999] {
            let start = (Vec3::new(1.0 + e, 0.0, 0.0), Vec3::new(0.0, ((1.0 - e) / (1.0 + e)).sqrt(), 0.0));
            let period = std::f64::consts::TAU;
            for phase in [0.0, 0.2, -0.4, 0.5 + 1e-6] {
                let (pos, vel) = Epoch::new(start.0, start.1, 1.0).at(phase * period);
                let orbit = Epoch::with_beta(pos, vel, 1.0, 1.0);
                for after in [0.0, 0.1, 0.3, 0.5, 0.500_001, 0.8] {
                    let (y, w) = orbit.at((1e5 + after) * period);
                    let (kinetic, bound) = (0.5 * w.norm_squared(), 1.0 / y.norm());
                    let off = (bound - kinetic - 0.5).abs();
                    assert!(off < 2e-15 * (bound + kinetic), "e = {e}, {phase}, {after}: {:e} of T", off / kinetic);
                    let spin = pos.cross(&vel).norm();
                    assert!((y.cross(&w).norm() / spin - 1.0).abs() < 1e-12, "e = {e}, {phase}, {after}");
                    let (z, u) = Epoch::new(start.0, start.1, 1.0).at((phase + after) * period);
                    let place = (y - z).norm() / (1e-9 * (1.0 + u.norm()));
                    assert!(place < 1.0, "e = {e}, {phase}, {after}: {place:e}");
                }
            }
        }
    }

    #[test]
    fn any_orbit_is_that_of_the_steps() {
        let x = Vec3::new(1.0, 0.5, -0.25);
        let across = Vec3::new(0.3, -0.9, 0.4);
        for (vel, mu) in [(x * -2.0, 1.0), (x * 0.1, 1.0), (across, 1.0), (across * 3.0, 2.0), (across - x * 4.0, 0.5)]
        {
            let orbit = Epoch::new(x, vel, mu);
            for dt in [-3.0, -0.2, 0.0, 0.1, 2.0] {
                let ((y, w), (z, u)) = (orbit.at(dt), super::super::universal::step(x, vel, mu, dt));
                let bound = 1e-13 * (1.0 + u.norm());
                assert!(
                    (y - z).norm() < bound && (w - u).norm() < bound * (1.0 + u.norm()),
                    "{vel} {mu} {dt}: {y} {z}"
                );
            }
        }
    }
}
