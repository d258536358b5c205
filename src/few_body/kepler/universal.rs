//! Universal variables: the functions G₀ to G₃, Kepler's equation and a step along the orbit.

use std::f64::consts::TAU;
use tisane_force::particles::Vec3;

/// Argument β s² up to which the series are evaluated; larger ones are halved.
const SMALL: f64 = 0.5;
const SIXTH: f64 = 1.0 / 6.0;
/// Largest number of iterations. Bisection alone ends after some 1100, Newton's method after a few.
const ITERATIONS: usize = 1200;

/// Functions G₀ to G₃ of the universal anomaly s: for β = 1 cos s, sin s, 1 − cos s and s − sin s.
#[derive(Clone, Copy, Debug)]
pub struct Universal {
    pub g0: f64,
    pub g1: f64,
    pub g2: f64,
    pub g3: f64,
    beta: f64,
}

/// Coefficients after the first of the series: those of G₂, 2 (−1)ᵏ / (2k+2)!, and of G₃, 6 (−1)ᵏ / (2k+3)!.
const SERIES: [[f64; TERMS]; 2] = [series(2), series(3)];
const TERMS: usize = 8;

const fn series(first: usize) -> [f64; TERMS] {
    let (mut found, mut product, mut k) = ([0.0; TERMS], 1.0, 0);
    while k < TERMS {
        let number = first + 2 * k;
        product *= -(((number + 1) * (number + 2)) as f64);
        found[k] = 1.0 / product;
        k += 1;
    }
    found
}

/// Returns 1 + c₀ z + c₁ z² + …, in an order in which most of it is independent.
#[inline]
fn sum(c: &[f64; TERMS], z: f64, z2: f64, z4: f64) -> f64 {
    let (low, high) = ((c[0] + c[1] * z) + (c[2] + c[3] * z) * z2, (c[4] + c[5] * z) + (c[6] + c[7] * z) * z2);
    1.0 + z * (low + high * z4)
}

impl Universal {
    #[inline]
    pub fn new(beta: f64, s: f64) -> Self {
        let (mut h, mut halvings) = (s, 0);
        while (beta * h * h).abs() > SMALL {
            h *= 0.5;
            halvings += 1;
        }
        let z = beta * h * h;
        let (z2, z4) = (z * z, (z * z) * (z * z));
        let (even, odd) = (sum(&SERIES[0], z, z2, z4), sum(&SERIES[1], z, z2, z4));
        let (g2, g3) = (0.5 * h * h * even, h * h * h * SIXTH * odd);
        let mut found = Self { g0: 1.0 - beta * g2, g1: h - beta * g3, g2, g3, beta };
        for _ in 0..halvings {
            found = found.doubled();
        }
        found
    }

    /// Returns the functions of 2 s.
    #[inline]
    pub fn doubled(self) -> Self {
        let Self { g0, g1, g2, g3, beta } = self;
        let twice = 2.0 * g1 * g1;
        Self { g0: 1.0 - beta * twice, g1: 2.0 * g0 * g1, g2: twice, g3: 2.0 * (g3 + g1 * g2), beta }
    }
}

/// Numbers of a Kepler orbit that its motion along the orbit depends on, at one point of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Along {
    /// Distance r, r dr/dt = x·v, β = 2μ/r − v² and μ.
    pub r: f64,
    pub eta: f64,
    pub beta: f64,
    pub mu: f64,
}

impl Along {
    /// Returns the numbers for a position and velocity.
    pub fn new(pos: Vec3, vel: Vec3, mu: f64) -> Self {
        let r = pos.norm();
        Self { r, eta: pos.dot(&vel), beta: 2.0 * mu / r - vel.norm_squared(), mu }
    }

    /// Returns period and range of the universal anomaly of a revolution, 2π/√β, of an ellipse.
    pub fn turn(&self) -> Option<(f64, f64)> {
        (self.beta > 0.0).then(|| {
            let root = self.beta.sqrt();
            (TAU * self.mu / (self.beta * root), TAU / root)
        })
    }

    /// Returns `dt` without whole revolutions.
    pub fn within_a_turn(&self, dt: f64) -> f64 {
        self.turn().map_or(dt, |(period, _)| dt - period * (dt / period).round())
    }

    /// Returns the time and its slope, the distance, at an anomaly.
    pub fn time_and_distance(&self, s: f64) -> (f64, f64) {
        let u = Universal::new(self.beta, s);
        (self.r * u.g1 + self.eta * u.g2 + self.mu * u.g3, self.r * u.g0 + self.eta * u.g1 + self.mu * u.g2)
    }

    /// Solves Kepler's equation r G₁ + η G₂ + μ G₃ = dt for the universal anomaly; `dt` is not longer than a period. The left
    /// side rises monotonically with slope r: Newton's method within a bracket.
    pub fn anomaly(&self, dt: f64) -> f64 {
        // Not closer on the way than this, but by the factor of a few: r, or the way of a fall.
        let mut way = self.r;
        while way * way * way < self.mu * dt * dt {
            way *= 2.0;
        }
        let mut far = self.turn().map_or(dt.abs() / way, |(_, turn)| turn);
        if self.beta <= 0.0 {
            while self.time_and_distance(far.copysign(dt)).0.abs() < dt.abs() {
                far *= 2.0;
            }
        }
        let (mut low, mut high) = if dt > 0.0 { (0.0, far) } else { (-far, 0.0) };
        let mut s = (dt / way).clamp(low, high);
        for _ in 0..ITERATIONS {
            let (time, slope) = self.time_and_distance(s);
            let off = time - dt;
            let newton = s - off / slope;
            if (newton - s).abs() <= f64::EPSILON * s.abs() {
                return newton;
            }
            if off > 0.0 {
                high = s;
            } else {
                low = s;
            }
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if next == s {
                return s;
            }
            s = next;
        }
        s
    }

    /// Returns position and velocity at the anomaly `s` from those here.
    pub fn moved(&self, pos: Vec3, vel: Vec3, s: f64) -> (Vec3, Vec3) {
        let u = Universal::new(self.beta, s);
        let Self { r: r0, eta, mu, .. } = *self;
        let r = r0 * u.g0 + eta * u.g1 + mu * u.g2;
        let (f, g) = (1.0 - mu * u.g2 / r0, r0 * u.g1 + eta * u.g2);
        let (f_dot, g_dot) = (-mu * u.g1 / (r * r0), (r0 * u.g0 + eta * u.g1) / r);
        (f * pos + g * vel, f_dot * pos + g_dot * vel)
    }
}

/// Returns relative position and velocity of two bodies after the time `dt`, of any sign; `mu` = G (m₁ + m₂) > 0. Whole
/// revolutions of an ellipse cost nothing.
///
/// Rounding errors grow when steps follow each other, most on eccentric orbits: a position that is wanted again and again
/// is best computed from one and the same [`Epoch`](super::Epoch).
#[must_use]
pub fn step(pos: Vec3, vel: Vec3, mu: f64, dt: f64) -> (Vec3, Vec3) {
    let along = Along::new(pos, vel, mu);
    let dt = along.within_a_turn(dt);
    if dt == 0.0 { (pos, vel) } else { along.moved(pos, vel, along.anomaly(dt)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Orbit with pericentre distance 1 and this eccentricity, at its pericentre, with μ = 1.
    fn at_pericentre(e: f64) -> (Vec3, Vec3) {
        (Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, (1.0 + e).sqrt(), 0.0))
    }

    fn energy(x: Vec3, v: Vec3) -> f64 {
        0.5 * v.norm_squared() - 1.0 / x.norm()
    }

    #[test]
    fn verify_energy_angular_momentum_and_way_back() {
        for e in [0.0, 0.3, 0.9, 0.999, 1.0, 1.5, 20.0] {
            let (x, v) = at_pericentre(e);
            for dt in [1e-9, 0.01, 0.7, 3.0, 50.0, -4.0] {
                let (y, w) = step(x, v, 1.0, dt);
                let scale = 1.0 / y.norm() + 0.5 * w.norm_squared() + 0.5 * (1.0 - e).abs();
                assert!((energy(y, w) - energy(x, v)).abs() < 1e-14 * scale, "e = {e}, dt = {dt}");
                assert!((y.cross(&w) - x.cross(&v)).norm() < 2e-14 * (1.0 + y.norm() * w.norm()), "e = {e}, dt = {dt}");
                let (z, u) = step(y, w, 1.0, -dt);
                let bound = 3e-13 * (1.0 + dt.abs());
                assert!((z - x).norm() < bound && (u - v).norm() < bound, "e = {e}, dt = {dt}: {}", (z - x).norm());
            }
        }
    }

    /// Kepler's equation with the system's sines: position on the ellipse at a time after pericentre.
    #[test]
    fn verify_keplers_equation_on_ellipses() {
        for e in [0.0f64, 0.2, 0.7, 0.99] {
            let a = 1.0 / (1.0 - e);
            let (x, v) = at_pericentre(e);
            for k in 0..50 {
                let anomaly = 0.125 * f64::from(k);
                let dt = a * a.sqrt() * (anomaly - e * anomaly.sin());
                let expected = Vec3::new(a * (anomaly.cos() - e), a * (1.0 - e * e).sqrt() * anomaly.sin(), 0.0);
                let (found, _) = step(x, v, 1.0, dt);
                assert!((found - expected).norm() < 1e-13 * a * a, "e = {e}, E = {anomaly}: {found} {expected}");
            }
        }
    }

    #[test]
    fn revolutions_cost_nothing_and_lose_little() {
        let (x, v) = at_pericentre(0.5);
        let period = TAU * 2.0f64.powf(1.5);
        let (y, w) = step(x, v, 1.0, 1e6 * period + 0.25);
        let (z, u) = step(x, v, 1.0, 0.25);
        assert!((y - z).norm() < 1e-7 && (w - u).norm() < 1e-7, "{}", (y - z).norm());
    }

    /// A body that falls from rest: half of the way takes the time known in closed form.
    #[test]
    fn verify_fall_on_a_straight_line() {
        let x = Vec3::new(1.0, 0.0, 0.0);
        // From r = 1 to 1/2 with mu = 1: (π/2 + 1)/2/√2 · ... by t = √(1/2) (acos √y + √(y (1 − y))), y = r.
        let y: f64 = 0.5;
        let dt = 0.5f64.sqrt() * (y.sqrt().acos() + (y * (1.0 - y)).sqrt());
        let (found, vel) = step(x, Vec3::zeros(), 1.0, dt);
        assert!((found[0] - 0.5).abs() < 1e-14 && found[1] == 0.0, "{found}");
        assert!((vel[0] + (2.0 * (1.0 / 0.5 - 1.0f64)).sqrt()).abs() < 1e-13, "{vel}");
    }

    #[test]
    fn steps_of_no_length_change_nothing() {
        let (x, v) = at_pericentre(0.4);
        assert_eq!(step(x, v, 1.0, 0.0), (x, v));
    }
}
