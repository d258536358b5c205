//! Motion of two bodies by universal variables (Stumpff 1947; Battin 1987, An Introduction to the Mathematics and Methods
//! of Astrodynamics, section 4.5), for ellipses, parabolas, hyperbolas and straight lines alike. Only + − × ÷ and √ are
//! used: the same bits on every machine.

use crate::particles::Vec3;
use std::f64::consts::TAU;

/// Argument β s² up to which the series are evaluated; larger ones are halved.
const SERIES: f64 = 0.5;
/// Largest number of iterations. Bisection alone ends after some 1100, Newton's method after a few.
const ITERATIONS: usize = 1200;

/// Functions G₁, G₂ and G₃ of the universal anomaly s: for β = 1 sin s, 1 − cos s and s − sin s.
#[derive(Clone, Copy, Debug)]
struct Universal {
    g0: f64,
    g1: f64,
    g2: f64,
    g3: f64,
}

impl Universal {
    fn new(beta: f64, s: f64) -> Self {
        let (mut h, mut halvings) = (s, 0);
        while (beta * h * h).abs() > SERIES {
            h *= 0.5;
            halvings += 1;
        }
        let z = beta * h * h;
        // Horner's scheme: the terms of G₂ are h² (−z)ᵏ / (2k+2)!, of G₃ h³ (−z)ᵏ / (2k+3)!.
        let (mut even, mut odd) = (1.0, 1.0);
        for k in (1..=9).rev() {
            let k = f64::from(2 * k);
            even = 1.0 - z / ((k + 1.0) * (k + 2.0)) * even;
            odd = 1.0 - z / ((k + 2.0) * (k + 3.0)) * odd;
        }
        let (mut g2, mut g3) = (0.5 * h * h * even, h * h * h / 6.0 * odd);
        let (mut g1, mut g0) = (h - beta * g3, 1.0 - beta * g2);
        for _ in 0..halvings {
            (g3, g2, g1) = (2.0 * (g3 + g1 * g2), 2.0 * g1 * g1, 2.0 * g0 * g1);
            g0 = 1.0 - beta * g2;
        }
        Self { g0, g1, g2, g3 }
    }
}

/// Returns relative position and velocity of two bodies after the time `dt`, of any sign; `mu` = G (m₁ + m₂) > 0. Whole
/// revolutions of an ellipse cost nothing.
///
/// Rounding errors grow when steps follow each other, most on eccentric orbits: a position that is wanted again and again
/// is best computed from one and the same epoch.
#[must_use]
pub fn step(pos: Vec3, vel: Vec3, mu: f64, dt: f64) -> (Vec3, Vec3) {
    let r0 = pos.norm();
    let (eta, beta) = (pos.dot(&vel), 2.0 * mu / r0 - vel.norm_squared());
    let (dt, turn) = if beta > 0.0 {
        // In the universal anomaly a revolution is 2π/√β.
        let root = beta.sqrt();
        let period = TAU * mu / (beta * root);
        (dt - period * (dt / period).round(), Some(TAU / root))
    } else {
        (dt, None)
    };
    if dt == 0.0 {
        return (pos, vel);
    }
    let u = Universal::new(beta, anomaly((r0, eta, beta, mu), dt, turn));
    let r = r0 * u.g0 + eta * u.g1 + mu * u.g2;
    let (f, g) = (1.0 - mu * u.g2 / r0, dt - mu * u.g3);
    let (f_dot, g_dot) = (-mu * u.g1 / (r * r0), 1.0 - mu * u.g2 / r);
    (f * pos + g * vel, f_dot * pos + g_dot * vel)
}

/// Solves Kepler's equation r₀ G₁ + η G₂ + μ G₃ = dt for the universal anomaly, which lies within a `turn` if there is
/// one. The left side rises monotonically with slope r: Newton's method within a bracket.
fn anomaly((r0, eta, beta, mu): (f64, f64, f64, f64), dt: f64, turn: Option<f64>) -> f64 {
    let time_and_slope = |s: f64| {
        let u = Universal::new(beta, s);
        (r0 * u.g1 + eta * u.g2 + mu * u.g3, r0 * u.g0 + eta * u.g1 + mu * u.g2)
    };
    let mut far = turn.unwrap_or_else(|| dt.abs() / r0);
    if turn.is_none() {
        while time_and_slope(far.copysign(dt)).0.abs() < dt.abs() {
            far *= 2.0;
        }
    }
    let (mut low, mut high) = if dt > 0.0 { (0.0, far) } else { (-far, 0.0) };
    let mut s = (dt / r0).clamp(low, high);
    for _ in 0..ITERATIONS {
        let (time, slope) = time_and_slope(s);
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
