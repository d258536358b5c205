//! Sphere of constant density.

use super::random::Uniform;
use tisane_force::particles::{Particles, Vec3};

/// Returns a random sample of `n` equal masses 1/n from a sphere of constant density and radius 1 about the origin,
/// without further scaling: the centre of mass scatters by 1/√n. Directions and the enclosed volume X, uniform in (0,
/// 1], give r = X^(1/3). With `moving` every velocity is drawn from one isotropic Maxwellian of dispersion 1 in each
/// coordinate (Box & Muller 1958, Ann. Math. Stat. 29, 610), to be brought to a virial ratio by
/// [`super::scaling::to_virial_ratio`]; otherwise all are at rest.
///
/// Positions do not depend on `moving`: they are the first random numbers of the stream.
#[must_use]
pub fn sample(n: usize, seed: u64, moving: bool) -> Particles {
    let mut random = Uniform::new(seed);
    let pos = (0..n)
        .map(|_| {
            let r = libm::cbrt(1.0 - random.next());
            random.isotropic(r)
        })
        .collect();
    let vel = (0..n).map(|_| if moving { random.maxwellian() } else { Vec3::zeros() }).collect();
    Particles::new(vec![1.0 / n as f64; n], pos, vel)
}
