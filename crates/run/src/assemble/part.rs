//! Part of the particles of a run in place of all, for a forecast.

use super::setup::Setup;
use tisane::particles::{Particles, Vec3};

/// Share of the total mass above which a body is in every part of a system.
const HEAVY: f64 = 0.01;

impl Setup {
    /// Returns a setup of about `count` of the particles with the mass of all, for a forecast. Stars of a primordial binary
    /// stay together, and bodies of more than 1 % of the mass stay.
    #[must_use]
    pub fn part(&self, count: usize) -> Self {
        let p = &self.particles;
        let (parts, total) = ((p.len() / count.max(1)).max(1), p.total_mass());
        let is_heavy = |i: usize| p.mass[i] > HEAVY * total;
        let index: Vec<usize> = (0..p.len()).filter(|&i| (i / 2) % parts == 0 || is_heavy(i)).collect();
        let column = |of: &[Vec3]| index.iter().map(|&i| of[i]).collect();
        let mass: Vec<f64> = index.iter().map(|&i| p.mass[i]).collect();
        let mut particles = Particles::new(mass, column(&p.pos), column(&p.vel));
        particles.id = index.iter().map(|&i| p.id[i]).collect();
        particles.radius = index.iter().filter_map(|&i| p.radius.get(i).copied()).collect();
        let heavy: f64 = (0..p.len()).filter(|&i| is_heavy(i)).map(|i| p.mass[i]).sum();
        let factor = (total - heavy) / (particles.total_mass() - heavy);
        let light = particles.mass.iter_mut().zip(&index).filter(|(_, i)| !is_heavy(**i));
        light.for_each(|(mass, _)| *mass *= factor);
        Self { particles, ..self.clone() }
    }
}
