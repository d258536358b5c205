//! Tidal field around a particle: the strongest neighbour, and the sum of all others.

use crate::encounters::cube_root::cube_root;
use crate::encounters::forces::columns::{
    self, Column, Coordinates, FAR, LANES, Potential, Sum, Tide, Weights, Within,
};
use tisane_force::gravity::predict;
use tisane_force::particles::{Particles, Vec3};
use tisane_force::time::{Clock, Time};

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
    mass: Column,
    /// Cube roots of the masses.
    root: Column,
    pos: Coordinates,
    speed: Column,
    weight: Column,
}

/// Sizes of all particles, and bounds of their speeds, in columns.
#[derive(Clone, Debug)]
pub struct Extents {
    /// Sizes.
    pub size: Column,
    /// Speeds.
    pub speed: Column,
}

/// Bounds of a search for particles that may come near.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// Distance that counts as near, in units of the cube root of the mass.
    pub distance: f64,
    /// Smallest cube root of a mass that counts there.
    pub min: f64,
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
        let rows = p.len().div_ceil(LANES);
        let Self { mass, root, pos, speed, weight, .. } = self;
        [&mut *mass, root, speed, weight].into_iter().for_each(|column| column.resize(rows, [0.0; LANES]));
        pos.iter_mut().for_each(|column| column.resize(rows, [FAR; LANES]));
        for i in 0..p.len() {
            let (row, lane) = (i / LANES, i % LANES);
            if mass[row][lane] != p.mass[i] {
                (mass[row][lane], root[row][lane]) = (p.mass[i], cube_root(p.mass[i]));
            }
            let (here, _) = at(p, i, clock, now);
            pos.iter_mut().zip(&here).for_each(|(column, x)| column[row][lane] = *x);
            speed[row][lane] = p.vel[i].norm_squared().sqrt();
        }
        for lane in p.len()..rows * LANES {
            let lane = (lane / LANES, lane % LANES);
            [&mut *mass, root, speed].into_iter().for_each(|column| column[lane.0][lane.1] = 0.0);
            pos.iter_mut().for_each(|column| column[lane.0][lane.1] = FAR);
        }
        self.now = Some(now);
    }

    /// Returns the masses.
    pub fn mass(&self) -> &Column {
        &self.mass
    }

    /// Returns the position of particle `i`.
    pub fn of(&self, i: usize) -> Vec3 {
        self.pos_of(i).into()
    }

    fn pos_of(&self, i: usize) -> [f64; 3] {
        self.pos.each_ref().map(|column| column[i / LANES][i % LANES])
    }

    /// Returns the potential at particle `i` of others with these masses.
    pub fn potential(&self, i: usize, mass: &Column) -> f64 {
        -columns::run(Potential { mass, pos: &self.pos, from: self.pos_of(i) })
    }

    /// Returns the derivatives of the acceleration at particle `i` by all others: xx, yy, zz, xy, xz, yz.
    pub fn tide(&self, i: usize) -> [f64; 6] {
        columns::run(Tide { mass: &self.mass, pos: &self.pos, from: self.pos_of(i), but: i })
    }

    /// Calls `found` for all particles, ascending, that may come near particle `i`, by a bound of their motion, and with the
    /// distance that counts.
    pub fn within(&self, i: usize, reach: Reach, mut found: impl FnMut(usize, f64)) {
        let Self { root, pos, speed, .. } = self;
        let Reach { distance: factor, min, time, .. } = reach;
        let slack = time * (speed[i / LANES][i % LANES] + reach.speed);
        let each = Within { root, pos, speed, from: self.pos_of(i), factor, min, slack, time };
        for row in columns::run(each) {
            let (distance, is_within) = each.row(row);
            let lanes = (0..LANES).filter(|&lane| is_within[lane] && row * LANES + lane != i);
            lanes.for_each(|lane| found(row * LANES + lane, distance[lane]));
        }
    }

    /// Returns all particles, ascending, whose distance from particle `i` is below `slack` and their size and `time` times their
    /// speed in sum, with these distances.
    pub fn reached(&self, i: usize, extents: &Extents, slack: f64, time: f64) -> Vec<(usize, f64)> {
        let Extents { size, speed } = extents;
        let from = self.pos_of(i);
        let each = Within { root: size, pos: &self.pos, speed, from, factor: 1.0, min: 0.0, slack, time };
        let mut found = Vec::new();
        for row in columns::run(each) {
            let (_, is_within) = each.row(row);
            let lanes = (0..LANES).filter(|&lane| is_within[lane] && row * LANES + lane != i);
            found.extend(lanes.map(|lane| row * LANES + lane).map(|k| (k, (self.of(k) - self.of(i)).norm())));
        }
        found
    }

    /// Returns the strongest of those that the last call of [`around`](Self::around) or of this has not returned, and its
    /// m/r³.
    pub fn next(&mut self) -> (usize, f64) {
        let strongest = self.weight.as_flattened().iter().copied().fold(0.0, f64::max);
        self.take(strongest)
    }

    /// Takes out the first of this weight.
    fn take(&mut self, max: f64) -> (usize, f64) {
        let weight = self.weight.as_flattened_mut();
        let place = weight.iter().position(|weight| *weight == max).unwrap_or(0);
        (place, std::mem::replace(&mut weight[place], 0.0))
    }

    /// Returns the surroundings of particle `i`; [`None`] if there is no other one with a mass.
    pub fn surroundings(&mut self, i: usize) -> Option<Surroundings> {
        let from = self.pos_of(i);
        let Self { mass, pos, weight, .. } = self;
        let max = columns::run(Weights { mass, pos, from, but: i, weight });
        if max == 0.0 {
            return None;
        }
        let (strongest, weight) = self.take(max);
        Some(Surroundings { strongest, weight, rest: columns::run(Sum(&self.weight)) })
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
        assert_eq!(positions.surroundings(0), Some(Surroundings { strongest: 1, weight: 4.0, rest: 3.0 }));
        // Predicted to a later moment: particle 1 has passed.
        p.vel[1] = Vec3::new(8.0, 0.0, 0.0);
        positions.set(&p, &clock, Time::from_dt_max(1));
        assert_eq!(positions.surroundings(0).unwrap().strongest, 2);
        let mut alone = Positions::default();
        alone.set(&Particles::new(vec![1.0], vec![Vec3::zeros()], vec![Vec3::zeros()]), &clock, Time::default());
        assert_eq!(alone.surroundings(0), None);
    }
}
