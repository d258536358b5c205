//! Tidal field around a particle: the strongest neighbour, and the sum of all others.

use crate::gravity::predict;
use crate::particles::{Particles, Vec3};
use crate::time::{Clock, Time};

/// Number of partial sums, which fixes the order of the additions for any width of vector units.
const LANES: usize = 8;

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
    place: [Vec<f64>; 3],
    weight: Vec<f64>,
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
        let Self { mass, place: [x, y, z], .. } = self;
        [&mut *x, &mut *y, &mut *z].into_iter().for_each(Vec::clear);
        mass.clone_from(&p.mass);
        for i in 0..p.len() {
            let (pos, _) = at(p, i, clock, now);
            x.push(pos.x);
            y.push(pos.y);
            z.push(pos.z);
        }
        self.weight.resize(p.len(), 0.0);
        self.now = Some(now);
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
        let strongest = (0..weight.len()).fold(i, |best, k| if weight[k] > weight[best] { k } else { best });
        if strongest == i {
            return None;
        }
        let most = std::mem::replace(&mut weight[strongest], 0.0);
        let mut sums = [0.0; LANES];
        let (whole, rest) = weight.as_chunks::<LANES>();
        for weights in whole {
            sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += weight);
        }
        sums.iter_mut().zip(rest).for_each(|(sum, weight)| *sum += weight);
        Some(Surroundings { strongest, weight: most, rest: sums.iter().sum() })
    }
}

/// Returns position and velocity of particle `i` predicted to `now`.
pub fn at(p: &Particles, i: usize, clock: &Clock, now: Time) -> (Vec3, Vec3) {
    predict(p.pos[i], p.vel[i], p.acc[i], p.jerk[i], clock.between(p.time[i], now))
}

#[cfg(test)]
mod tests {
    use super::*;

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
