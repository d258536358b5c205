//! Rounding errors of accelerations, which step criteria must not take for derivatives.

use crate::particles::Vec3;
use crate::units::nearest_power_of_two;

/// |a| over the scale of the terms of its sum below which the forces on a particle cancel.
pub(crate) const CANCEL: f64 = 1.0 / 4096.0;
/// Distance from the origin, over that of the other particles, beyond which the rounding of coordinates counts.
pub(crate) const FAR: f64 = 256.0;

/// Rounding errors of the accelerations in a system.
///
/// The scale of the terms of a particle's sum is φ²/M, with the mass M of the others: of all distributions of the mass M
/// that give the potential φ, none has a smaller sum of the magnitudes of its accelerations (the inequality of Cauchy and
/// Schwarz). Where the forces cancel, as in the middle of a ring, the sum is small against it, and all derivatives may be
/// rounding errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Error relative to the larger of |a| and φ²/M: [`Precision::noise`](super::precision::Precision::noise).
    pub relative: f64,
    /// Error where the forces cancel, relative to φ²/M:
    /// [`Precision::cancelled_noise`](super::precision::Precision::cancelled_noise).
    pub cancelled: f64,
    /// 1/M, with the power of two nearest to the total mass, so that products with it are exact.
    pub per_mass: f64,
    /// The same for the heaviest particle, with the mass of the others, if it has more than half of the mass.
    pub per_rest: f64,
    /// Index of that particle; `u32::MAX` if there is none.
    pub heaviest: u32,
}

impl Noise {
    /// Returns the errors, relative to the scales that the fields tell, in a system of these masses.
    #[must_use]
    pub fn new([relative, cancelled]: [f64; 2], mass: &[f64], total: f64) -> Self {
        let heaviest = mass.iter().position(|&m| m > 0.5 * total);
        let others = |i: usize| mass[..i].iter().chain(&mass[i + 1..]).sum();
        Self {
            relative,
            cancelled,
            per_mass: 1.0 / nearest_power_of_two(total),
            per_rest: 1.0 / nearest_power_of_two(heaviest.map_or(total, others)),
            heaviest: heaviest.map_or(u32::MAX, |i| i as u32),
        }
    }

    /// Returns 1/M for particle `i`.
    #[inline(always)]
    #[must_use]
    pub fn per_mass(&self, i: u32) -> f64 {
        if i == self.heaviest { self.per_rest } else { self.per_mass }
    }

    /// Returns the rounding error of the acceleration of particle `i` at `pos`, of the square `acc2`, where the potential
    /// is `pot`.
    #[inline(always)]
    #[must_use]
    pub fn of(&self, i: u32, acc2: f64, pot: f64, pos: &Vec3) -> f64 {
        let scale = pot * pot * self.per_mass(i);
        (self.relative * acc2.sqrt().max(scale)).max(self.where_cancelled(i, acc2, pot, pos))
    }

    /// Returns the same where the forces cancel, and 0 elsewhere.
    #[inline(always)]
    #[must_use]
    pub fn where_cancelled(&self, i: u32, acc2: f64, pot: f64, pos: &Vec3) -> f64 {
        let per_mass = self.per_mass(i);
        let scale = pot * pot * per_mass;
        let bound = CANCEL * scale;
        if acc2 < bound * bound {
            // Coordinates are rounded too, by more where they are larger; M/φ is a mean distance of the others.
            let far = pos[0].abs().max(pos[1].abs()).max(pos[2].abs()) * (pot.abs() * per_mass) / FAR;
            self.cancelled * scale * far.max(1.0)
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_of_the_terms_is_that_of_the_others() {
        let noise = Noise::new([0.0, 1.0], &[1e-6, 1.0, 1e-6], 1.0 + 2e-6);
        assert_eq!((noise.heaviest, noise.per_mass), (1, 1.0));
        // The two pull with 1e-6 each from a distance of 1; M is rounded to a power of two.
        let scale = noise.where_cancelled(1, 1e-44, -2e-6, &Vec3::zeros());
        assert!((1.4e-6..2.9e-6).contains(&scale), "{scale:e}");
        assert_eq!(noise.where_cancelled(1, 1e-16, -2e-6, &Vec3::zeros()), 0.0);
        assert_eq!(noise.where_cancelled(0, 1e-44, -2e-6, &Vec3::zeros()), 4e-12);
        let far = noise.where_cancelled(1, 1e-44, -2e-6, &Vec3::new(0.0, -2560.0, 0.0));
        assert!((5.0..20.0).contains(&(far / scale)), "{far:e}");
        // Nothing acts on the only mass.
        let alone = Noise::new([1e-7, 1.0], &[0.0, 3.0], 3.0);
        assert_eq!(alone.of(1, 0.0, 0.0, &Vec3::zeros()), 0.0);
        assert_eq!(Noise::new([1e-7, 1.0], &[0.0, 0.0], 0.0).of(1, 4.0, 0.0, &Vec3::zeros()), 2e-7);
    }
}
