//! Steps that follow a Kepler orbit.

use std::f64::consts::PI;
use tisane::diagnostics::cluster::pair::Pair;
use tisane::integrator::timestep::{aarseth, initial};
use tisane::particles::Vec3;
use tisane::time::Level;

/// Eccentricity from which on the pericentre says nothing: two particles that fall towards each other along a line pass
/// it at a distance that the others set.
const RADIAL: f64 = 0.999_999;
/// Points of half an orbit at which the step is computed.
const POINTS: u32 = 256;

/// Returns the step of Aarseth's criterion with accuracy ν at an eccentric anomaly on an orbit of eccentricity `e`, in
/// units of sqrt(a³/μ): the derivatives of the acceleration are those of two bodies alone.
fn step_at(nu: f64, e: f64, anomaly: f64) -> f64 {
    let (c, s, minor) = (anomaly.cos(), anomaly.sin(), (1.0 - e * e).sqrt());
    let x = Vec3::new(c - e, minor * s, 0.0);
    let v = Vec3::new(-s, minor * c, 0.0) / (1.0 - e * c);
    // u = 1/r³ and its derivatives, from those of r²; a = -u x and its derivatives by the product rule.
    let r2 = x.norm_squared();
    let u = 1.0 / (r2 * r2.sqrt());
    let acc = -u * x;
    let d1 = 2.0 * x.dot(&v);
    let u1 = -1.5 * u * d1 / r2;
    let jerk = -(u1 * x + u * v);
    let d2 = 2.0 * (v.norm_squared() + x.dot(&acc));
    let u2 = -(2.5 * u1 * d1 + 1.5 * u * d2) / r2;
    let snap = -(u2 * x + 2.0 * u1 * v + u * acc);
    let d3 = 2.0 * (3.0 * v.dot(&acc) + x.dot(&jerk));
    let u3 = -(3.5 * u2 * d1 + 4.0 * u1 * d2 + 1.5 * u * d3) / r2;
    let crackle = -(u3 * x + 3.0 * u2 * v + 3.0 * u1 * acc + u * jerk);
    aarseth(nu, 1.0, acc.norm(), jerk.norm(), snap.norm(), crackle.norm())
}

/// Returns sqrt(a³/μ), the period over 2π.
fn unit(pair: &Pair) -> f64 {
    pair.period() / (2.0 * PI)
}

/// Returns the step at the pericentre; infinite for an orbit along a line.
pub(super) fn pericentre_step(nu: f64, pair: &Pair) -> f64 {
    if pair.eccentricity < RADIAL { unit(pair) * step_at(nu, pair.eccentricity, 0.0) } else { f64::INFINITY }
}

/// Returns the first step of a particle of the pair where it is, with the softening `epsilon`, in a scheme whose first
/// steps are `first` natural times |a|/|jerk| long.
pub(super) fn first_step(first: f64, pair: &Pair, epsilon: f64) -> f64 {
    let (mu, r) = (pair.mass[0] + pair.mass[1], pair.distance);
    let softened = r.hypot(epsilon);
    let across = pair.momentum.norm_squared() / (r * r);
    let radial = (pair.speed * pair.speed - across).max(0.0);
    let stretch = 1.0 - 3.0 * (r / softened).powi(2);
    let jerk = mu / softened.powi(3) * (across + stretch * stretch * radial).sqrt();
    initial(first, mu * r / softened.powi(3), jerk, mu / softened)
}

/// Returns the number of steps of an orbit, where each is rounded down to `dt_max` over a power of two.
pub(super) fn steps_per_orbit(nu: f64, pair: &Pair, dt_max: f64) -> f64 {
    let (e, unit) = (pair.eccentricity.min(RADIAL), unit(pair));
    let each = PI / f64::from(POINTS);
    let steps = |k: u32| {
        let anomaly = (f64::from(k) + 0.5) * each;
        let step = unit * step_at(nu, e, anomaly);
        let level = Level::not_longer_than(step / dt_max).unwrap_or(Level::DEEPEST);
        unit * (1.0 - e * anomaly.cos()) * each / level.step(dt_max)
    };
    2.0 * (0..POINTS).map(steps).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tisane::diagnostics::cluster::pair::Body;

    /// A pair of total mass 1 and semi-major axis 1 at its pericentre.
    fn at_pericentre(e: f64) -> Pair {
        let body = |side: f64| Body {
            mass: 0.5,
            pos: side * (1.0 - e) * Vec3::x(),
            vel: side * ((1.0 + e) / (1.0 - e)).sqrt() * Vec3::y(),
        };
        Pair::new(&body(-0.5), &body(0.5), 0.0)
    }

    #[test]
    fn the_step_at_the_pericentre_is_that_of_the_derivatives_by_hand() {
        for e in [0.0, 0.3, 0.9_f64] {
            // |a| = 1, |jerk|² = 1 + e, |snap| = 1 + 3 e, |crackle|² = (1 + 9 e)² (1 + e) at distance 1 with μ = 1.
            let by_hand = (0.01 * (1.0 + 2.0 * e) / (1.0 + 8.0 * e + 9.0 * e * e)).sqrt();
            let step = pericentre_step(0.01, &at_pericentre(e)) / (1.0 - e).powf(1.5);
            assert!((step / by_hand - 1.0).abs() < 1e-12, "{e}: {step} {by_hand}");
        }
    }

    #[test]
    fn a_circular_orbit_takes_two_pi_over_root_nu_steps_and_more_by_rounding() {
        let steps = |dt_max| steps_per_orbit(0.01, &at_pericentre(0.0), dt_max);
        // A step of 0.1 is itself dt_max/2^k, or just too short for that.
        assert!((steps(0.8 * 0.999) / (20.0 * PI) - 1.0).abs() < 2e-3);
        assert!((steps(0.8 * 1.001) / (40.0 * PI) - 1.0).abs() < 2e-3);
        assert!(steps_per_orbit(0.01, &at_pericentre(0.99), 0.8) > steps(0.8));
    }

    #[test]
    fn first_steps_are_those_of_the_integrator() {
        // r = 1, v = 1 across: |a|/|jerk| = 1.
        assert!((first_step(0.01, &at_pericentre(0.0), 0.0) - 0.01).abs() < 1e-15);
        // Deep in the core of a softened force acceleration and jerk fall alike.
        assert!((first_step(0.01, &at_pericentre(0.0), 10.0) - 0.01).abs() < 1e-12);
        let body = |side: f64| Body { mass: 0.5, pos: side * Vec3::x(), vel: Vec3::zeros() };
        let at_rest = Pair::new(&body(-0.5), &body(0.5), 0.0);
        assert_eq!(first_step(0.01, &at_rest, 0.0), 0.1, "the longest first step: sqrt(ν |φ|)/|a|");
        assert_eq!(pericentre_step(0.01, &at_rest), f64::INFINITY);
    }
}
