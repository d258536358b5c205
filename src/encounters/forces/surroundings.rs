//! Tidal field around a particle: the strongest neighbour, and the sum of all others.

use crate::encounters::forces::columns::{
    self, Column, Coordinates, FAR, LANES, Potential, Predict, Rest, StateColumns, Tide, Within,
};
use rayon::prelude::*;
use tisane_force::gravity::predict;
use tisane_force::particles::{Particles, Vec3};
use tisane_force::spin_pool;
use tisane_force::time::{Clock, Time};

/// Part of all particles, 1 / this number, from which on all are loaded, in order. Not measured; no result depends on it.
const MIN_SHARE_TO_LOAD_ALL: usize = 8;

/// Nanoseconds in which a particle is loaded, and a row of them predicted.
const LOADED: usize = 20;
const PREDICTED: usize = 20;

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
    /// True while masses and states are those of the particles, but for those that have `moved`.
    is_loaded: bool,
    moved: Vec<u32>,
    mass: Column,
    states: StateColumns,
    pos: Coordinates,
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
    /// Forgets all, since rows have another meaning or all particles have changed.
    pub fn forget(&mut self) {
        (self.now, self.is_loaded) = (None, false);
        self.moved.clear();
    }

    /// Takes note of particles that have moved or changed, or are new.
    pub fn moved(&mut self, rows: &[u32]) {
        if self.is_loaded && self.moved.len() + rows.len() < self.mass.len() * LANES / MIN_SHARE_TO_LOAD_ALL {
            self.moved.extend_from_slice(rows);
        } else {
            self.forget();
        }
    }

    /// Gives the columns rows for `n` particles, and fills up the last one with none.
    fn resize(&mut self, n: usize) {
        let (rows, Self { mass, states, pos, .. }) = (n.div_ceil(LANES), self);
        let [places, rates @ ..] = &mut states.vectors;
        let fill = |column: &mut Column, none: f64| {
            column.resize(rows, [none; LANES]);
            column.as_flattened_mut()[n..].fill(none);
        };
        fill(mass, 0.0);
        places.iter_mut().chain(pos).for_each(|column| fill(column, FAR));
        rates.iter_mut().flatten().for_each(|column| fill(column, 0.0));
        states.time.resize(rows, [0; LANES]);
        states.time.as_flattened_mut()[n..].fill(0);
    }

    /// Loads all particles, or some rows: the columns on threads.
    fn load(&mut self, p: &Particles, rows: Option<&[u32]>) {
        let Self { mass, states: StateColumns { time, vectors }, .. } = self;
        let of = [&p.pos, &p.vel, &p.acc, &p.jerk];
        let axes = vectors.iter_mut().zip(of).flat_map(|(to, of)| to.iter_mut().enumerate().map(move |it| (it, of)));
        let axes: Vec<_> = axes.collect();
        let (mass, time) = (mass.as_flattened_mut(), time.as_flattened_mut());
        let mut load_rest = || {
            let mut load = |i: usize| (mass[i], time[i]) = (p.mass[i], p.time[i].0);
            match rows {
                None => (0..p.len()).for_each(load),
                Some(rows) => rows.iter().for_each(|&i| load(i as usize)),
            }
        };
        let load = |((axis, to), of): ((usize, &mut Column), &Vec<Vec3>)| {
            let to = to.as_flattened_mut();
            match rows {
                None => of.iter().zip(to).for_each(|(vector, to)| *to = vector[axis]),
                Some(rows) => rows.iter().for_each(|&i| to[i as usize] = of[i as usize][axis]),
            }
        };
        if rows.map_or(p.len(), <[u32]>::len) < spin_pool::min_share(LOADED) {
            axes.into_iter().for_each(load);
            load_rest();
        } else {
            rayon::join(|| axes.into_par_iter().for_each(load), load_rest);
        }
    }

    /// Predicts all particles to `now`, or those that have moved if the others were.
    pub fn set(&mut self, p: &Particles, clock: &Clock, now: Time) {
        let mut moved = std::mem::take(&mut self.moved);
        if !self.is_loaded {
            self.resize(p.len());
            self.load(p, None);
            (self.now, self.is_loaded) = (None, true);
        } else if !moved.is_empty() {
            self.resize(p.len());
            self.load(p, Some(&moved));
        }
        let Self { states, pos: [x, y, z], mass, .. } = self;
        let tick = clock.tick();
        let predict = |first: usize, pos: [&mut [[f64; LANES]]; 3]| {
            columns::run(Predict { states, now: now.0, tick, first, pos });
        };
        if self.now == Some(now) {
            for row in moved.iter().map(|&i| i as usize / LANES) {
                predict(row, [&mut x[row..=row], &mut y[row..=row], &mut z[row..=row]]);
            }
        } else {
            let share = spin_pool::share(mass.len(), PREDICTED);
            let parts = x.par_chunks_mut(share).zip(y.par_chunks_mut(share)).zip(z.par_chunks_mut(share)).enumerate();
            parts.for_each(|(k, ((x, y), z))| predict(k * share, [x, y, z]));
            self.now = Some(now);
        }
        moved.clear();
        self.moved = moved;
    }

    /// Returns the position of particle `i`.
    pub fn of(&self, i: usize) -> Vec3 {
        self.pos_of(i).into()
    }

    fn pos_of(&self, i: usize) -> [f64; 3] {
        self.pos.each_ref().map(|column| column[i / LANES][i % LANES])
    }

    /// Returns the potential at particle `i` of all but some, ascending, among which it is.
    pub fn potential(&self, i: usize, but: &[usize]) -> f64 {
        -columns::sums(Potential { mass: &self.mass, pos: &self.pos, from: self.pos_of(i), but })[0]
    }

    /// Returns the derivatives of the acceleration at some particles by all others: xx, yy, zz, xy, xz, yz.
    pub fn tides(&self, of: &[usize]) -> Vec<[f64; 6]> {
        let tide = |&i: &usize| Tide { mass: &self.mass, pos: &self.pos, from: self.pos_of(i), but: i };
        columns::sums_of_each(&of.iter().map(tide).collect::<Vec<_>>())
    }

    /// Returns all particles, ascending, whose distance from particle `i` is below `slack` and their size and `time` times their
    /// speed in sum, with these distances.
    pub fn reached(&self, i: usize, extents: &Extents, slack: f64, time: f64) -> Vec<(usize, f64)> {
        let Extents { size, speed } = extents;
        let from = self.pos_of(i);
        let each = Within { root: size, pos: &self.pos, speed, from, factor: 1.0, min: 0.0, slack, time };
        let others = columns::run(each).into_iter().filter(|&k| k != i);
        others.map(|k| (k, (self.of(k) - self.of(i)).norm())).collect()
    }

    /// Returns the sums of m/r³ at the first of two particles by all but these, for some of such pairs.
    pub fn rests(&self, of: &[[usize; 2]]) -> Vec<f64> {
        let rest = |&but: &[usize; 2]| Rest { mass: &self.mass, pos: &self.pos, from: self.pos_of(but[0]), but };
        columns::sums_of_each(&of.iter().map(rest).collect::<Vec<_>>()).into_iter().map(|[sum]| sum).collect()
    }
}

/// Returns position and velocity of particle `i` predicted to `now`.
#[inline]
pub fn at(p: &Particles, i: usize, clock: &Clock, now: Time) -> (Vec3, Vec3) {
    predict(p.pos[i], p.vel[i], p.acc[i], p.jerk[i], clock.between(p.time[i], now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_the_field_at_the_predicted_places() {
        let pos = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -4.0]].map(Vec3::from);
        let mut p = Particles::new(vec![1.0, 32.0, 2.0, 64.0], pos.to_vec(), vec![Vec3::zeros(); 4]);
        let (clock, mut positions) = (Clock { start: 0.0, dt_max: 1.0 }, Positions::default());
        positions.set(&p, &clock, Time::default());
        assert_eq!(positions.rests(&[[0, 1], [0, 2], [0, 3]]), [3.0, 5.0, 6.0]);
        // Predicted to a later moment: particle 1 has passed.
        p.vel[1] = Vec3::new(6.0, 0.0, 0.0);
        positions.moved(&[1]);
        positions.set(&p, &clock, Time::from_dt_max(1));
        assert_eq!(positions.of(1), at(&p, 1, &clock, Time::from_dt_max(1)).0);
        assert_eq!(positions.rests(&[[0, 1], [0, 2]]), [3.0, 1.0625]);
        // One that has jumped since, at the same moment.
        p.pos[3] = Vec3::new(0.0, 0.0, -2.0);
        p.time[3] = Time::from_dt_max(1);
        positions.moved(&[3]);
        positions.set(&p, &clock, Time::from_dt_max(1));
        assert_eq!(positions.of(3), p.pos[3]);
        assert_eq!(positions.rests(&[[0, 1], [0, 3]]), [10.0, 2.0625]);
        positions.forget();
        positions.set(&Particles::new(vec![1.0], vec![Vec3::zeros()], vec![Vec3::zeros()]), &clock, Time::default());
        assert_eq!(positions.rests(&[[0, 0]]), [0.0]);
    }

    #[test]
    fn sums_over_many_particles_are_the_same_on_any_number_of_threads() {
        let n = 10_007;
        let place = |i: usize| Vec3::from_fn(|axis, _| ((i * (7919 + 2 * axis) + axis) % 10_007) as f64);
        let p = Particles::new(vec![1.0; n], (0..n).map(place).collect(), vec![Vec3::zeros(); n]);
        let clock = Clock { start: 0.0, dt_max: 1.0 };
        let mut positions = Positions::default();
        positions.set(&p, &clock, Time::default());
        let but: Vec<usize> = (0..n).filter(|i| i % 10 == 1).collect();
        let found = |threads: usize| {
            // One alone, and beside others.
            let many: Vec<[usize; 2]> = (0..151).map(|k| if k == 75 { [1, 5] } else { [k + 2, k] }).collect();
            let rests = || {
                let [one, few, many] = [&[[1, 5]][..], &[[7, 2], [1, 5], [3, 4]], &many].map(|of| {
                    let found = positions.rests(of);
                    assert_eq!(found[0], positions.rests(&of[..1])[0]);
                    found[of.len() / 2]
                });
                assert_eq!(few, many);
                [one, few]
            };
            let tides = || [&[1][..], &[4, 1, 2]].map(|of| positions.tides(of)[of.len() / 2]);
            let of = || (rests(), tides(), positions.potential(1, &but));
            let ([rest, same], [tide, also], potential) = spin_pool::pool_of(threads).unwrap().install(of);
            assert_eq!((rest, tide), (same, also));
            (rest, tide, potential)
        };
        let (rest, tide, potential) = found(1);
        assert!([2, 5].map(found) == [(rest, tide, potential); 2]);
        let apart = |k: usize| (p.pos[k] - p.pos[1]).norm();
        let by = |others: &dyn Fn(usize) -> bool, power: i32| -> f64 {
            (0..n).filter(|&k| others(k)).map(|k| apart(k).powi(power)).sum()
        };
        assert!((rest / by(&|k| k != 1 && k != 5, -3) - 1.0).abs() < 1e-12);
        assert!((-potential / by(&|k| k % 10 != 1, -1) - 1.0).abs() < 1e-12);
        // Without a trace, by Poisson's equation.
        assert!((tide[0] + tide[1] + tide[2]).abs() < 1e-12 * rest && tide[0].abs() > 1e-6 * rest);
    }
}
