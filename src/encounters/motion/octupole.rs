//! Octupole of a pair of unequal masses beside a far body, averaged over the orbit of the pair, and over both orbits.
//!
//! At the third order in r/R the potential energy of a pair of masses m₀, m₁, at r from body 0 to body 1, beside a mass m at R from its
//! centre of mass is −m κ (5 (r·R)³ − 3 r² R² r·R) / (2 R⁷) with κ = μ (m₀ − m₁) / (m₀ + m₁). The mean of rᵢ rⱼ rₖ over an orbit a, e, j is
//! −5/8 a³ (7 eᵢ eⱼ eₖ + eᵢ Bⱼₖ + eⱼ Bᵢₖ + eₖ Bᵢⱼ) with B = j² I − j jᵀ, and that of Rᵢ Rⱼ Rₖ / R⁷ over an orbit A, E, J with b = |J| is
//! (Eᵢ Pⱼₖ + Eⱼ Pᵢₖ + Eₖ Pᵢⱼ) / (4 A⁴ b⁵) with P = I − J Jᵀ / b². Their product is the energy that Liu, Muñoz & Lai (2015, MNRAS 447, 747) have:
//! −15/64 m κ a³ / A⁴ (e·E (1 − 8 e²) / b⁵ + (e·E (35 (e·J)² − 5 (j·J)²) − 10 e·J j·E j·J) / b⁷). Nothing is divided by an eccentricity.

use crate::encounters::forces::orbit::Orbit;
use crate::few_body::Motion;
use tisane_force::particles::Vec3;

/// Derivatives of an energy by the vectors e and j of an orbit.
pub type Slope = (Vec3, Vec3);

/// Orbit of a pair with its octupole.
#[derive(Clone, Copy, Debug)]
pub struct Octupole {
    e: Vec3,
    j: Vec3,
    /// κ a³.
    scale: f64,
}

impl Octupole {
    /// Returns the octupole of a pair on its orbit; [`None`] if its masses are equal.
    pub fn of(orbit: &Orbit, skew: f64) -> Option<Self> {
        let Orbit { axis, e, j, .. } = *orbit;
        (skew != 0.0).then_some(Self { e, j, scale: skew * (axis * axis * axis) })
    }

    /// Returns the potential energy of a unit mass at `r` from the centre of mass.
    pub fn potential(&self, r: Vec3) -> f64 {
        let (r2, s, q) = (r.norm_squared(), self.e.dot(&r), self.j.dot(&r));
        let bracket = 35.0 * s * s - 15.0 * q * q + r2 * (3.0 - 24.0 * self.e.norm_squared());
        0.3125 * self.scale * s * bracket / (r2 * r2 * r2 * r2.sqrt())
    }

    /// Returns the energy beside a unit mass that moves on an orbit about the centre of mass, averaged over that.
    pub fn energy(&self, outer: &Orbit) -> f64 {
        let Self { e, j, .. } = self;
        let (s, p, q, w) = (e.dot(&outer.e), e.dot(&outer.j), j.dot(&outer.j), j.dot(&outer.e));
        let b2 = outer.j.norm_squared();
        let bracket = s * (35.0 * p * p - 5.0 * q * q) - 10.0 * p * q * w;
        self.factor(outer) * (s * (1.0 - 8.0 * e.norm_squared()) + bracket / b2)
    }

    /// Returns the derivatives of [`Self::energy`] by the vectors of the orbit of the pair, and by those of the outer one.
    pub fn slopes(&self, outer: &Orbit) -> (Slope, Slope) {
        let (Self { e, j, .. }, Orbit { e: far, j: normal, .. }) = (self, outer);
        let (s, p, q, w) = (e.dot(far), e.dot(normal), j.dot(normal), j.dot(far));
        let (b2, round) = (normal.norm_squared(), 1.0 - 8.0 * e.norm_squared());
        let square = (35.0 * p * p - 5.0 * q * q) / b2;
        let (by_p, by_q, by_w) = ((70.0 * s * p - 10.0 * q * w) / b2, -10.0 * (s * q + p * w) / b2, -10.0 * p * q / b2);
        // Of b⁻⁵ and b⁻⁷.
        let by_b = -(5.0 * s * round + 7.0 * (s * square + by_w * w)) / b2;
        let factor = self.factor(outer);
        let of_pair = (far * (round + square) - e * (16.0 * s) + normal * by_p, normal * by_q + far * by_w);
        let of_outer = (e * (round + square) + j * by_w, e * by_p + j * by_q + normal * by_b);
        let scaled = |(e, j): Slope| (e * factor, j * factor);
        (scaled(of_pair), scaled(of_outer))
    }

    fn factor(&self, outer: &Orbit) -> f64 {
        let (a2, b2) = (outer.axis * outer.axis, outer.j.norm_squared());
        -0.234375 * self.scale / (a2 * a2 * (b2 * b2 * b2.sqrt()))
    }
}

/// Returns κ = μ (m₀ − m₁) / (m₀ + m₁) of a pair; [`None`] of more bodies.
pub fn skew(motion: &Motion) -> Option<f64> {
    let [a, b] = motion.masses()[..] else { return None };
    let total = a + b;
    Some(a * b / total * ((a - b) / total))
}

/// Returns de/dt and dj/dt of an orbit with this reduced mass by the derivatives of its energy (Milankovitch's equations).
pub fn milankovitch(orbit: &Orbit, reduced: f64, (by_e, by_j): Slope) -> (Vec3, Vec3) {
    let Orbit { mass, axis, e, j } = orbit;
    let per_action = -1.0 / (reduced * (mass * axis).sqrt());
    ((j.cross(&by_e) + e.cross(&by_j)) * per_action, (j.cross(&by_j) + e.cross(&by_e)) * per_action)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    /// Two orbits at angles to each other, each with the direction ahead of its pericentre.
    fn orbits(number: u32) -> [(Orbit, Vec3); 2] {
        let turn = |k: u32| f64::from(number * 7 + k) * 1.7;
        [(0.3 + 0.1 * f64::from(number), 1.0, 1u32), (0.6, 8.0, 2)].map(|(e, axis, k)| {
            let major = Vec3::new(turn(k).cos(), turn(k).sin(), turn(k + 3).cos()).normalize();
            let minor = major.cross(&Vec3::new(turn(k + 5).sin(), 0.3, turn(k + 4).cos())).normalize();
            let j = major.cross(&minor) * f64::sqrt(1.0 - e * e);
            (Orbit { mass: 1.0, axis, e: major * e, j }, minor)
        })
    }

    /// Mean of a function of the place over an orbit; `far` counts places by the true anomaly.
    fn mean((orbit, minor): &(Orbit, Vec3), far: bool, of: impl Fn(Vec3) -> f64) -> f64 {
        let (e, b, major) = (orbit.e.norm(), orbit.j.norm(), orbit.e.normalize());
        let parts = 64;
        let term = |k: u32| {
            let (sin, cos) = (TAU * f64::from(k) / f64::from(parts)).sin_cos();
            let (place, weight) = if far {
                let r = orbit.axis * b * b / (1.0 + e * cos);
                ((major * cos + minor * sin) * r, r * r / (orbit.axis * orbit.axis * b))
            } else {
                ((major * (cos - e) + minor * (b * sin)) * orbit.axis, 1.0 - e * cos)
            };
            weight * of(place)
        };
        (0..parts).map(term).sum::<f64>() / f64::from(parts)
    }

    /// Potential energy of a unit mass at `far` and two stars, at the third order.
    fn third([a, b]: [f64; 2], r: Vec3, far: Vec3) -> f64 {
        let of = |mass: f64, x: Vec3| {
            let (size, distance) = (x.norm(), far.norm());
            let cos = x.dot(&far) / (size * distance);
            -mass * size.powi(3) / distance.powi(4) * (2.5 * cos.powi(3) - 1.5 * cos)
        };
        of(a, r * (-b / (a + b))) + of(b, r * (a / (a + b)))
    }

    fn octupole(orbit: &Orbit, [a, b]: [f64; 2]) -> Octupole {
        let motion = Motion::from_vectors(&[a, b], &[Vec3::x()], &[Vec3::y()]);
        Octupole::of(orbit, skew(&motion).unwrap()).unwrap()
    }

    #[test]
    fn verify_energies_are_the_means_of_the_third_order() {
        for (number, masses) in [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.7, 0.3]].into_iter().enumerate() {
            let [inner, outer] = orbits(number as u32);
            let octupole = octupole(&inner.0, masses);
            let ring = |far: Vec3| mean(&inner, false, |r| third(masses, r, far));
            let far = Vec3::new(3.0, -4.0, 5.0);
            assert!((octupole.potential(far) / ring(far) - 1.0).abs() < 1e-11);
            let (found, expected) = (octupole.energy(&outer.0), mean(&outer, true, ring));
            assert!((found / expected - 1.0).abs() < 1e-10, "{found:e} {expected:e}");
        }
    }

    /// What Newton's potential of both orbits changes by when the stars of the pair change places is the odd orders.
    #[test]
    fn verify_the_energy_is_that_of_newton() {
        let [mut inner, outer] = orbits(1);
        inner.0.axis = 0.04;
        let newton = |[a, b]: [f64; 2]| {
            let of = |far: Vec3, r: Vec3| -a / (far + r * b).norm() - b / (far - r * a).norm();
            mean(&outer, true, |far| mean(&inner, false, |r| of(far, r)))
        };
        let odd = 0.5 * (newton([0.7, 0.3]) - newton([0.3, 0.7]));
        let found = octupole(&inner.0, [0.7, 0.3]).energy(&outer.0);
        assert!((found / odd - 1.0).abs() < 1e-3, "{found:e} {odd:e}");
    }

    #[test]
    fn equal_masses_have_none() {
        let motion = Motion::from_vectors(&[0.3, 0.3], &[Vec3::x()], &[Vec3::y()]);
        assert!(Octupole::of(&orbits(0)[0].0, skew(&motion).unwrap()).is_none());
    }
}
