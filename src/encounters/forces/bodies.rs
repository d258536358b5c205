//! Particles of the integration: stars that are alone, and centres of mass of subsystems.

use crate::encounters::settings::stars::Collisions;
use tisane_force::particles::{Particles, Vec3};

/// Stars that are alone and centres of mass of subsystems, in the order of their lowest stars.
#[derive(Clone, Debug, Default)]
pub struct Bodies {
    /// The bodies as particles.
    pub particles: Particles,
    /// Lowest star of each body, ascending.
    pub stars: Vec<u32>,
    /// Unit of each star that is the lowest of one.
    places: Vec<u32>,
    /// Radii of the stars.
    pub sizes: Sizes,
    /// What positions and velocities of the bodies lack by rounding, where that is known: at the start. Empty later.
    pub rests: Vec<[Vec3; 2]>,
}

impl Bodies {
    /// Creates the bodies with these lowest stars of `n`.
    pub fn new(particles: Particles, stars: Vec<u32>, n: usize) -> Self {
        let mut places = vec![u32::MAX; n];
        stars.iter().zip(0..).for_each(|(&star, body)| places[star as usize] = body);
        Self { particles, stars, places, sizes: Sizes::default(), rests: Vec::new() }
    }

    /// Returns the bodies, of one star each, with what the relative states of stars say of them.
    pub fn with_rests_of(mut self, stars: &Particles) -> Self {
        if !stars.close.is_empty() {
            self.rests = vec![[Vec3::zeros(); 2]; stars.len()];
        }
        for close in &stars.close {
            let rests = close.rests(&stars.pos, &stars.vel);
            close.rows.iter().zip(rests).for_each(|(&row, rest)| self.rests[row] = rest);
        }
        self
    }

    /// Returns the state of body `k` relative to a point, from that of its rounded state. Without rests not even the sign of a zero
    /// changes.
    pub fn with_rest(&self, k: usize, (pos, vel): (Vec3, Vec3)) -> (Vec3, Vec3) {
        self.rests.get(k).map_or((pos, vel), |[x, v]| (pos + x, vel + v))
    }

    /// Returns the state of body `k` relative to body `i`, from that of their rounded states.
    pub fn between(&self, [i, k]: [usize; 2], (pos, vel): (Vec3, Vec3)) -> (Vec3, Vec3) {
        let rests = self.rests.get(i).zip(self.rests.get(k));
        rests.map_or((pos, vel), |(from, to)| (pos + (to[0] - from[0]), vel + (to[1] - from[1])))
    }

    /// Returns the bodies with these radii of the stars.
    pub fn with_sizes(self, sizes: Sizes) -> Self {
        Self { sizes, ..self }
    }

    /// Returns the body whose lowest star is `star`.
    pub fn of_star(&self, star: u32) -> usize {
        self.places[star as usize] as usize
    }
}

/// Radii of the stars, and what happens where two of them touch.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    /// Radii by stars; empty without collisions.
    pub radii: Vec<f64>,
    /// Treatment of collisions, if they are looked for.
    pub collisions: Option<Collisions>,
}
