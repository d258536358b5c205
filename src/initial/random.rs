//! The stream of random numbers behind every sampled model.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Uniform deviates from xoshiro256++ (Blackman & Vigna 2021, ACM TOMS 47, 36), seeded through SplitMix64. The step from
/// 64 random bits to a number is made here, so that no release of a random-number crate can change a sample.
pub(crate) struct Uniform(Xoshiro256PlusPlus);

impl Uniform {
    /// The stream of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// The next deviate in [0, 1): a multiple of 2⁻⁵³.
    pub(crate) fn next(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1u64 << 53) as f64;
        (self.0.next_u64() >> 11) as f64 * STEP
    }

    /// A vector of the given length in a direction uniform on the sphere (Aarseth, Hénon & Wielen 1974, appendix): two
    /// deviates, first z then the azimuth.
    pub(crate) fn isotropic(&mut self, length: f64) -> [f64; 3] {
        let z = (1.0 - 2.0 * self.next()) * length;
        let azimuth = std::f64::consts::TAU * self.next();
        let rho = (length * length - z * z).max(0.0).sqrt();
        [rho * libm::cos(azimuth), rho * libm::sin(azimuth), z]
    }
}
