//! Random numbers of the sampled models.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use tisane_force::particles::{Particles, Vec3};

/// Stream of uniform deviates from xoshiro256++ (Blackman & Vigna 2021, ACM TOMS 47, 36), seeded through SplitMix64.
/// The conversion of 64 random bits to a number is made here, so that no release of a random-number crate can change a
/// sample.
pub(crate) struct Uniform(Xoshiro256PlusPlus);

/// Purpose of random numbers. Each purpose has a stream of its own, so that for example binaries change no orbit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Positions and velocities.
    Orbits,
    /// Masses.
    Masses,
    /// Pairing of stars.
    Binaries,
    /// Mass segregation.
    Segregation,
    /// Rotation.
    Rotation,
    /// Orbits of binaries.
    Orientations,
    /// Settings of the members of an ensemble.
    Settings,
}

/// Returns the first `n` uniform deviates in [0, 1) of the stream of a seed that no sampled model uses.
#[must_use]
pub fn deviates(seed: u64, n: usize) -> Vec<f64> {
    let mut uniform = Uniform::for_purpose(seed, Purpose::Settings);
    (0..n).map(|_| uniform.next()).collect()
}

impl Uniform {
    /// Creates the stream of a seed for positions and velocities.
    pub(crate) fn new(seed: u64) -> Self {
        Self::for_purpose(seed, Purpose::Orbits)
    }

    /// Creates the stream of a seed for a purpose: each starts 2¹⁹² numbers after the previous one.
    pub(crate) fn for_purpose(seed: u64, purpose: Purpose) -> Self {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        (0..purpose as u32).for_each(|_| generator.long_jump());
        Self(generator)
    }

    /// Returns the next deviate in [0, 1): a multiple of 2⁻⁵³.
    pub(crate) fn next(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1u64 << 53) as f64;
        (self.0.next_u64() >> 11) as f64 * STEP
    }

    /// Returns a vector of the given length in a direction uniform on the sphere (Aarseth, Hénon & Wielen 1974,
    /// appendix), from two deviates: z, then the azimuth.
    pub(crate) fn isotropic(&mut self, length: f64) -> Vec3 {
        let z = (1.0 - 2.0 * self.next()) * length;
        let azimuth = std::f64::consts::TAU * self.next();
        let rho = (length * length - z * z).max(0.0).sqrt();
        Vec3::new(rho * libm::cos(azimuth), rho * libm::sin(azimuth), z)
    }

    /// Returns a uniform whole number below `n`, from one deviate.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((self.next() * n as f64) as usize).min(n.saturating_sub(1))
    }

    /// Returns a normal deviate of dispersion 1 (Box & Muller 1958, Ann. Math. Stat. 29, 610), from two uniform ones.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(1.0 - self.next())).sqrt();
        radius * libm::cos(std::f64::consts::TAU * self.next())
    }

    /// Returns three normal deviates of dispersion 1: an isotropic Maxwellian velocity.
    pub(crate) fn maxwellian(&mut self) -> Vec3 {
        Vec3::from([0; 3].map(|_| self.normal()))
    }

    /// Returns a random permutation of the numbers below `n` (Fisher & Yates), from `n` − 1 deviates.
    pub(crate) fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for last in (1..n).rev() {
            order.swap(last, self.below(last + 1));
        }
        order
    }
}

/// Draws `n` equal masses 1/n of an isotropic model: for each a radius, a direction, a speed at that radius, and a
/// direction.
pub(crate) fn isotropic_sample(
    n: usize,
    seed: u64,
    radius: impl Fn(&mut Uniform) -> f64,
    speed: impl Fn(&mut Uniform, f64) -> f64,
) -> Particles {
    let mut random = Uniform::new(seed);
    let (mut pos, mut vel) = (Vec::with_capacity(n), Vec::with_capacity(n));
    for _ in 0..n {
        let r = radius(&mut random);
        pos.push(random.isotropic(r));
        let v = speed(&mut random, r);
        vel.push(random.isotropic(v));
    }
    Particles::new(vec![1.0 / n as f64; n], pos, vel)
}
