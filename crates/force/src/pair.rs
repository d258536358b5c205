//! Two bodies and their relative orbit in the softened potential of the run.

use crate::vector::Vec3;
use std::f64::consts::TAU;

/// Point mass: a particle, or the centre of mass of a binary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body {
    /// Mass.
    pub mass: f64,
    /// Position.
    pub pos: Vec3,
    /// Velocity.
    pub vel: Vec3,
}

impl Body {
    /// Returns two bodies as one at their centre of mass.
    #[inline]
    #[must_use]
    pub fn merged(a: &Self, b: &Self) -> Self {
        let mass = a.mass + b.mass;
        // Massless bodies have no centre of mass; the midpoint stands for it.
        let share = if mass > 0.0 { b.mass / mass } else { 0.5 };
        let between = |a: Vec3, b: Vec3| a + share * (b - a);
        Self { mass, pos: between(a.pos, b.pos), vel: between(a.vel, b.vel) }
    }
}

/// Relative orbit of two bodies at a moment. G = 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// Masses.
    pub mass: [f64; 2],
    /// Separation.
    pub distance: f64,
    /// Relative speed.
    pub speed: f64,
    /// Energy per unit reduced mass, v²/2 − G (m₁ + m₂) / sqrt(r² + ε²); negative if the two are bound.
    pub energy: f64,
    /// Semi-major axis of the Kepler orbit with this energy; negative if the two are not bound.
    pub semi_major_axis: f64,
    /// Eccentricity of the Kepler orbit with this energy and angular momentum.
    pub eccentricity: f64,
    /// Angular momentum per unit reduced mass.
    pub momentum: Vec3,
}

impl Pair {
    /// Computes the orbit of `b` about `a` with softening `epsilon`. Without softening it is the Kepler orbit. With
    /// softening, energy and angular momentum are still those of the motion, and the elements are accurate if the two
    /// are much farther apart than epsilon.
    #[inline]
    #[must_use]
    pub fn new(a: &Body, b: &Body, epsilon: f64) -> Self {
        let (x, v) = (b.pos - a.pos, b.vel - a.vel);
        let mu = a.mass + b.mass;
        let (r, v2) = (x.norm(), v.norm_squared());
        let softened = (r * r + epsilon * epsilon).sqrt();
        let energy = 0.5 * v2 - mu / softened;
        let semi_major_axis = -0.5 * mu / energy;
        // e² = 1 − h² / (μ a), rearranged so that nothing cancels on a circle:
        // (1 − r/a)² + 2 (r/a) (1 − r/s) + (x·v)² / (μ a), with 1 − r/s = ε² / (s (s + r)).
        let (turns, drift) = (r / semi_major_axis, x.dot(&v));
        let lost = epsilon * epsilon / (softened * (softened + r));
        let squared = (1.0 - turns).powi(2) + 2.0 * turns * lost + drift * drift / (mu * semi_major_axis);
        Self {
            mass: [a.mass, b.mass],
            distance: r,
            speed: v2.sqrt(),
            energy,
            semi_major_axis,
            eccentricity: squared.max(0.0).sqrt(),
            momentum: x.cross(&v),
        }
    }

    /// Returns the binding energy, positive if the two are bound.
    #[inline]
    #[must_use]
    pub fn binding_energy(&self) -> f64 {
        let [a, b] = self.mass;
        -self.energy * (a * b / (a + b))
    }

    /// Returns the period; NaN if the two are not bound.
    #[inline]
    #[must_use]
    pub fn period(&self) -> f64 {
        TAU * (self.semi_major_axis.powi(3) / (self.mass[0] + self.mass[1])).sqrt()
    }

    /// Returns the pericentre distance, h² / (μ (1 + e)), which holds for a parabola too.
    #[inline]
    #[must_use]
    pub fn pericentre(&self) -> f64 {
        self.momentum.norm_squared() / ((self.mass[0] + self.mass[1]) * (1.0 + self.eccentricity))
    }

    /// Returns the angle between the planes of two orbits, in radians.
    #[inline]
    #[must_use]
    pub fn inclination_to(&self, other: &Self) -> f64 {
        let (a, b) = (self.momentum, other.momentum);
        a.cross(&b).norm().atan2(a.dot(&b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORIGIN: Vec3 = Vec3::new(0.0, 0.0, 0.0);
    const AT_ORIGIN: Body = Body { mass: 1.0, pos: ORIGIN, vel: ORIGIN };

    #[test]
    fn energy_and_momentum_are_those_of_the_softened_motion() {
        let other = Body { mass: 3.0, pos: 3.0 * Vec3::x(), vel: Vec3::new(0.1, 0.5, 0.0) };
        let pair = Pair::new(&AT_ORIGIN, &other, 4.0);
        assert_eq!(pair.energy, 0.5 * 0.26 - 4.0 / 5.0);
        assert!((pair.binding_energy() - 0.67 * 0.75).abs() < 1e-15);
        let e2 = 1.0 - 1.5f64.powi(2) / (4.0 * pair.semi_major_axis);
        assert!((pair.eccentricity - e2.sqrt()).abs() < 1e-14, "{pair:?}");
        assert!((pair.period() - TAU * (pair.semi_major_axis.powi(3) / 4.0).sqrt()).abs() < 1e-14);
    }

    #[test]
    fn a_parabola_has_a_pericentre() {
        let pair = Pair::new(&AT_ORIGIN, &Body { mass: 1.0, pos: Vec3::x(), vel: 2.0 * Vec3::y() }, 0.0);
        assert_eq!((pair.energy, pair.eccentricity, pair.pericentre()), (0.0, 1.0, 1.0));
        assert!(pair.period().is_nan() || pair.period().is_infinite());
    }
}
