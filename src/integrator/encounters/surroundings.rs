//! Tidal field around a particle: the strongest neighbour, and the sum of all others.

use crate::gravity::predict;
use crate::particles::{Particles, Vec3};
use crate::time::{Clock, Time};

/// Number of partial sums, which fixes the order of the additions for any width of vector units.
const LANES: usize = 8;

/// Number of particles that are looked at together in a search.
const SEARCHED: usize = 16;

/// Tidal field at a particle in units of G: m/r³ of each other one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surroundings {
    /// Index of the strongest neighbour.
    pub strongest: usize,
    /// Its m/r³.
    pub weight: f64,
    /// m/r³ of all others in sum.
    pub rest: f64,
}

/// Positions of all particles at one moment, in columns.
#[derive(Clone, Debug, Default)]
pub struct Positions {
    now: Option<Time>,
    mass: Vec<f64>,
    /// Cube roots of the masses.
    root: Vec<f64>,
    place: [Vec<f64>; 3],
    speed: Vec<f64>,
    weight: Vec<f64>,
}

/// Bounds of a search for particles that may come near.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// Distance that counts as near, in units of the cube root of the mass.
    pub distance: f64,
    /// Smallest cube root of a mass that counts there.
    pub least: f64,
    /// Time, with a safety factor.
    pub time: f64,
    /// Speed that is added to those of both.
    pub speed: f64,
}

impl Positions {
    /// Forgets the positions, since particles have moved or changed.
    pub fn clear(&mut self) {
        self.now = None;
    }

    /// Predicts all particles to `now`, unless they were.
    pub fn set(&mut self, p: &Particles, clock: &Clock, now: Time) {
        if self.now == Some(now) {
            return;
        }
        let Self { mass, root, place: [x, y, z], speed, .. } = self;
        [&mut *x, &mut *y, &mut *z].into_iter().for_each(Vec::clear);
        mass.resize(p.len(), 0.0);
        root.resize(p.len(), 0.0);
        for ((mass, root), new) in mass.iter_mut().zip(root).zip(&p.mass).filter(|((mass, _), new)| **mass != **new) {
            (*mass, *root) = (*new, cube_root(*new));
        }
        for i in 0..p.len() {
            let (pos, _) = at(p, i, clock, now);
            x.push(pos.x);
            y.push(pos.y);
            z.push(pos.z);
        }
        speed.clear();
        speed.extend(p.vel.iter().map(|v| v.norm_squared().sqrt()));
        self.weight.resize(p.len(), 0.0);
        self.now = Some(now);
    }

    /// Calls `found` for all particles, ascending, that may come near particle `i`, by a bound of their motion, and with the
    /// distance that counts.
    pub fn within(&self, i: usize, reach: Reach, mut found: impl FnMut(usize, f64)) {
        let Self { root, place: [x, y, z], speed, .. } = self;
        let (x0, y0, z0, slack) = (x[i], y[i], z[i], reach.time * (speed[i] + reach.speed));
        let distance = |k: usize| reach.distance * root[k].max(reach.least);
        let is_within = |k: usize| {
            let (x, y, z) = (x[k] - x0, y[k] - y0, z[k] - z0);
            let most = distance(k) + (slack + reach.time * speed[k]);
            x * x + y * y + z * z < most * most
        };
        let n = x.len();
        let mut begin = 0;
        while begin < n {
            let end = n.min(begin + SEARCHED);
            // Without branches, for the compiler's vector code: most parts have none.
            if (begin..end).fold(false, |any, k| any | is_within(k)) {
                (begin..end).filter(|&k| k != i && is_within(k)).for_each(|k| found(k, distance(k)));
            }
            begin = end;
        }
    }

    /// Returns the strongest of those that the last call of [`around`](Self::around) or of this has not returned, and its
    /// m/r³.
    pub fn next(&mut self) -> (usize, f64) {
        let strongest = strongest(&self.weight);
        (strongest, std::mem::replace(&mut self.weight[strongest], 0.0))
    }

    /// Returns the surroundings of particle `i`; [`None`] if there is no other one with a mass.
    pub fn around(&mut self, i: usize) -> Option<Surroundings> {
        let Self { mass, place: [x, y, z], weight, .. } = self;
        let (x0, y0, z0) = (x[i], y[i], z[i]);
        let columns = mass.iter().zip(&*x).zip(&*y).zip(&*z);
        for (weight, (((mass, x), y), z)) in weight.iter_mut().zip(columns) {
            let (x, y, z) = (x - x0, y - y0, z - z0);
            let r2 = x * x + y * y + z * z;
            *weight = mass / (r2 * r2.sqrt());
        }
        weight[i] = 0.0;
        let strongest = strongest(weight);
        let most = std::mem::replace(&mut weight[strongest], 0.0);
        if most == 0.0 {
            return None;
        }
        let mut sums = [0.0; LANES];
        let (whole, rest) = weight.as_chunks::<LANES>();
        for weights in whole {
            sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += weight);
        }
        sums.iter_mut().zip(rest).for_each(|(sum, weight)| *sum += weight);
        Some(Surroundings { strongest, weight: most, rest: sums.iter().sum() })
    }
}

/// Returns the place of the largest number, of equal ones the first.
fn strongest(weight: &[f64]) -> usize {
    (0..weight.len()).fold(0, |best, k| if weight[k] > weight[best] { k } else { best })
}

/// Returns position and velocity of particle `i` predicted to `now`.
pub fn at(p: &Particles, i: usize, clock: &Clock, now: Time) -> (Vec3, Vec3) {
    predict(p.pos[i], p.vel[i], p.acc[i], p.jerk[i], clock.between(p.time[i], now))
}

/// Returns the cube root of a positive number by Newton's method: the same bits on every machine, unlike that of a
/// system's library.
pub fn cube_root(x: f64) -> f64 {
    if !(x > 0.0 && x.is_finite()) {
        return x;
    }
    // A third of the exponent is within a factor of two of it.
    let mut root = f64::from_bits(x.to_bits() / 3 + 0x2a9f_7893_0000_0000);
    for _ in 0..6 {
        root -= (root - x / (root * root)) / 3.0;
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verify_cube_roots() {
        for x in [1e-300, 1e-12, 0.3, 1.0, 8.0, 27.0, 1e6, 3e200] {
            let root = cube_root(x);
            assert!((root * root * root / x - 1.0).abs() < 1e-15, "{x}: {root}");
        }
        assert_eq!(cube_root(0.0), 0.0);
    }

    #[test]
    fn the_strongest_neighbour_and_the_rest() {
        let pos = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -4.0]].map(Vec3::from);
        let mut p = Particles::new(vec![1.0, 32.0, 2.0, 64.0], pos.to_vec(), vec![Vec3::zeros(); 4]);
        let (clock, mut positions) = (Clock { start: 0.0, dt_max: 1.0 }, Positions::default());
        positions.set(&p, &clock, Time::default());
        assert_eq!(positions.around(0), Some(Surroundings { strongest: 1, weight: 4.0, rest: 3.0 }));
        // Predicted to a later moment: particle 1 has passed.
        p.vel[1] = Vec3::new(8.0, 0.0, 0.0);
        positions.set(&p, &clock, Time::from_dt_max(1));
        assert_eq!(positions.around(0).unwrap().strongest, 2);
        let mut alone = Positions::default();
        alone.set(&Particles::new(vec![1.0], vec![Vec3::zeros()], vec![Vec3::zeros()]), &clock, Time::default());
        assert_eq!(alone.around(0), None);
    }
}
