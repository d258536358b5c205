//! Fractal clumps.

use super::random::Uniform;
use libm::exp2;
use std::f64::consts::PI;
use tisane_force::particles::{Particles, Vec3};

/// Mean number of leaves of the tree inside the sphere for each particle wanted, enough for a free choice among them.
const LEAVES_PER_PARTICLE: f64 = 8.0;

/// Returns a random sample of `n` equal masses 1/n from a fractal of the given dimension inside a sphere of radius 1
/// (Goodwin & Whitworth 2004, A&A 413, 929; velocities as in Allison et al. 2010, MNRAS 407, 1098). Velocities have no
/// unit and have to be brought to a virial ratio by [`super::scaling`].
///
/// A cube of side 2 is divided into eight, each of which survives with the probability 2^(D − 3), and so on for every
/// survivor, down to about eight times as many cubes as particles. A cube has the velocity of its parent plus a
/// Maxwellian one of dispersion 2^(−g) in generation g. A particle lies anywhere in its last cube, which replaces the
/// noise on the corners of a grid. Particles outside the sphere are removed, and of the rest `n` are chosen at random
/// (reservoir sampling: Vitter 1985, ACM TOMS 11, 37). A tree with too few leaves is followed by the next one of the
/// stream.
///
/// # Panics
/// Unless 1 ≤ `dimension` ≤ 3.
#[must_use]
pub fn sample(n: usize, seed: u64, dimension: f64) -> Particles {
    assert!((1.0..=3.0).contains(&dimension), "fractal dimension {dimension}");
    let wanted = n as f64 * LEAVES_PER_PARTICLE / (PI / 6.0);
    let mut generations = 1;
    while exp2(dimension * f64::from(generations)) < wanted {
        generations += 1;
    }
    let random = Uniform::new(seed);
    let mut tree =
        Tree { random, survival: exp2(dimension - 3.0), generations, n, leaves: 0, pos: vec![], vel: vec![] };
    while tree.pos.len() < n {
        tree.grow(Vec3::zeros(), Vec3::zeros(), 1);
    }
    Particles::new(vec![1.0 / n as f64; n], tree.pos, tree.vel)
}

struct Tree {
    random: Uniform,
    survival: f64,
    generations: u32,
    n: usize,
    leaves: usize,
    pos: Vec<Vec3>,
    vel: Vec<Vec3>,
}

impl Tree {
    /// Divides a cube into eight parts of the given generation, in the order of z, y, x.
    fn grow(&mut self, centre: Vec3, velocity: Vec3, generation: u32) {
        let half = exp2(-f64::from(generation));
        for part in 0..8 {
            if self.random.next() >= self.survival {
                continue;
            }
            let centre = centre + Vec3::from([0, 1, 2].map(|k| if part >> k & 1 == 1 { half } else { -half }));
            let own = self.random.maxwellian();
            let velocity = velocity + half * own;
            if generation < self.generations {
                self.grow(centre, velocity, generation + 1);
            } else {
                let pos = centre.map(|x| x + half * (2.0 * self.random.next() - 1.0));
                self.offer(pos, velocity);
            }
        }
    }

    /// Adds a leaf to the sample: every leaf inside the sphere has the same chance to be among the `n`.
    fn offer(&mut self, pos: Vec3, vel: Vec3) {
        if pos.norm_squared() > 1.0 {
            return;
        }
        self.leaves += 1;
        if self.pos.len() < self.n {
            self.pos.push(pos);
            self.vel.push(vel);
            return;
        }
        let place = self.random.below(self.leaves);
        if place < self.n {
            self.pos[place] = pos;
            self.vel[place] = vel;
        }
    }
}
