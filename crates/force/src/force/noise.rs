//! What step criteria must not take for derivatives: the rounding of accelerations, and forces that cancel.

use crate::units::nearest_power_of_two;

/// |a| over the scale of its terms below which forces cancel.
pub const BALANCE: f64 = 1.0 / 4096.0;

/// Scales of the accelerations in a system.
///
/// The terms of a particle's acceleration have at least the size φ²/M together, with the potential φ and the mass M of
/// the others: of all distributions of the mass M that give φ, none has a smaller sum of the magnitudes of its
/// accelerations (the inequality of Cauchy and Schwarz). Where the forces cancel, as in the middle of a ring, the sum is
/// small against it. Then all derivatives may be errors, of rounding and of the motion of the others, and the criterion is
/// 0/0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Rounding error relative to the larger of |a| and φ²/M: [`Precision::noise`](super::precision::Precision::noise).
    pub relative: f64,
    /// 1/M, with the power of two nearest to the total mass, so that products with it are exact.
    pub per_mass: f64,
    /// Square of the total mass.
    pub square: f64,
    /// The same two for the heaviest particle, with the mass of the others, if it has more than half of the mass; the
    /// second is the cube of that mass over the total mass.
    pub per_rest: f64,
    /// See `per_rest`.
    pub square_of_rest: f64,
    /// Index of that particle; `u32::MAX` if there is none.
    pub heaviest: u32,
}

impl Noise {
    /// Returns the scales in a system of these masses and this total mass.
    #[must_use]
    pub fn new(relative: f64, mass: &[f64], total: f64) -> Self {
        let heaviest = mass.iter().position(|&m| m > 0.5 * total);
        let others = |i: usize| mass[..i].iter().chain(&mass[i + 1..]).sum();
        let rest: f64 = heaviest.map_or(total, others);
        Self {
            relative,
            per_mass: 1.0 / nearest_power_of_two(total),
            square: total * total,
            per_rest: 1.0 / nearest_power_of_two(rest),
            square_of_rest: rest * rest * rest / total,
            heaviest: heaviest.map_or(u32::MAX, |i| i as u32),
        }
    }

    /// Returns φ²/M for particle `i`.
    #[inline(always)]
    #[must_use]
    pub fn scale(&self, i: u32, pot: f64) -> f64 {
        pot * pot * if i == self.heaviest { self.per_rest } else { self.per_mass }
    }

    /// Returns the rounding error of the acceleration of particle `i`, of the square `acc2`, where the potential is `pot`.
    #[inline(always)]
    #[must_use]
    pub fn of(&self, i: u32, acc2: f64, pot: f64) -> f64 {
        self.relative * acc2.sqrt().max(self.scale(i, pot))
    }

    /// Returns the time in which the others move on, where the forces on particle `i` cancel, and 0 elsewhere: that of an
    /// orbit at their mean distance r = M/φ, `sqrt(r³/M)` with the whole mass there.
    #[inline(always)]
    #[must_use]
    pub fn time_of_others(&self, i: u32, acc2: f64, pot: f64) -> f64 {
        let bound = BALANCE * self.scale(i, pot);
        if acc2 < bound * bound {
            let square = if i == self.heaviest { self.square_of_rest } else { self.square };
            (square / (pot * pot * pot.abs())).sqrt()
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
        let noise = Noise::new(1e-7, &[1e-6, 1.0, 1e-6], 1.0 + 2e-6);
        assert_eq!((noise.heaviest, noise.per_mass), (1, 1.0));
        // The two pull with 1e-6 each from a distance of 1; M is rounded to a power of two.
        assert!((1.4e-6..2.9e-6).contains(&noise.scale(1, -2e-6)), "{:e}", noise.scale(1, -2e-6));
        assert_eq!(noise.scale(0, -2e-6), 4e-12);
        assert!((1.4e-13..2.9e-13).contains(&noise.of(1, 0.0, -2e-6)));
        // They go round in 2π.
        let time = noise.time_of_others(1, 1e-44, -2e-6);
        assert!((time - 1.0).abs() < 1e-5, "{time}");
        assert_eq!(noise.time_of_others(1, 1e-18, -2e-6), 0.0);
        // Nothing acts on the only mass, nor among none.
        let alone = Noise::new(1e-7, &[0.0, 3.0], 3.0);
        assert_eq!((alone.of(1, 0.0, 0.0), alone.time_of_others(1, 0.0, 0.0)), (0.0, 0.0));
        let none = Noise::new(1e-7, &[0.0, 0.0], 0.0);
        assert_eq!((none.of(1, 4.0, 0.0), none.time_of_others(1, 4.0, 0.0)), (2e-7, 0.0));
    }
}
