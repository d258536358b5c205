//! Loops over the positions of all particles in columns, by the vector units of the machine. All widths add in the same order.
//!
//! Columns are filled up to whole rows of [`LANES`] with particles of no mass that are far away.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use std::ops::Range;
use tisane_force::gravity::predict_component;
use tisane_force::spin_pool::min_share;

/// Number of particles in a row, and of partial sums, which fixes the order of the additions for any width of vector units.
pub const LANES: usize = 16;

/// Column in rows.
pub type Column = Vec<[f64; LANES]>;

/// Columns of x, y and z.
pub type Coordinates = [Column; 3];

/// Coordinate of the particles that fill up a row: the square of its distance is finite.
pub const FAR: f64 = 1e150;

/// Returns a column of some numbers, the last row filled up with another one.
pub fn filled(numbers: impl ExactSizeIterator<Item = f64>, none: f64) -> Column {
    let mut column = vec![[none; LANES]; numbers.len().div_ceil(LANES)];
    column.as_flattened_mut().iter_mut().zip(numbers).for_each(|(to, number)| *to = number);
    column
}

/// Runs a loop with the vector units of the machine.
pub fn run<L: WithSimd>(one: L) -> L::Output {
    Arch::new().dispatch(one)
}

/// Number of rows whose sums a thread computes at a time. It fixes the order of the additions among more particles than these rows
/// have; those of the parts follow each other.
const PART: usize = 256;
/// Nanoseconds of a part.
const PART_TIME: usize = 10_000;
/// Number of sums whose parts are computed together, which bounds the memory for these.
const TOGETHER: usize = 64;
/// Number of pieces of work on these for each thread. No result depends on it.
const PIECES: usize = 4;

/// Sums over rows of particles.
pub trait RowSums<const N: usize>: Copy + Sync {
    /// Returns the partial sums over some rows.
    fn over(self, rows: Range<usize>) -> [[f64; LANES]; N];

    /// Returns the number of rows.
    fn rows(self) -> usize;
}

/// Part of the rows of sums, for the vector units.
struct Part<S, const N: usize>(S, Range<usize>);

impl<const N: usize, T: RowSums<N>> WithSimd for Part<T, N> {
    type Output = [[f64; LANES]; N];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        self.0.over(self.1)
    }
}

/// Returns sums over all rows. Of many rows all threads compute parts.
pub fn sums<const N: usize>(of: impl RowSums<N>) -> [f64; N] {
    let rows = of.rows();
    let part = |k: usize| run(Part::<_, N>(of, k * PART..rows.min((k + 1) * PART)));
    let lanes = if rows <= PART {
        part(0)
    } else {
        let parts = (0..rows.div_ceil(PART)).into_par_iter().with_min_len(min_share(PART_TIME));
        let found: Vec<_> = parts.map(part).collect();
        found.into_iter().reduce(|to, part| added(to, &part)).unwrap_or([[0.0; LANES]; N])
    };
    lanes.map(|lanes| lanes.iter().sum())
}

/// Returns several sums over all rows, each as [`sums`] has it. Threads share them, or of many rows the parts, so that each part is
/// read from memory once.
pub fn sums_of_each<const N: usize>(of: &[impl RowSums<N> + Send]) -> Vec<[f64; N]> {
    let rows = of.first().map_or(0, |of| of.rows());
    if of.len() < 2 || rows <= PART {
        let min = min_share(PART_TIME);
        return if of.len() < 2 * min {
            of.iter().map(|&of| sums(of)).collect()
        } else {
            of.par_iter().with_min_len(min).map(|&of| sums(of)).collect()
        };
    }
    let mut found = Vec::with_capacity(of.len());
    let parts = rows.div_ceil(PART);
    for of in of.chunks(TOGETHER) {
        // Groups of sums in parts of the rows: several for each thread.
        let groups = (PIECES * rayon::current_num_threads()).div_ceil(parts).min(of.len());
        let size = of.len().div_ceil(groups);
        let piece =
            |(rows, of): (Range<usize>, &[_])| of.iter().map(|&of| run(Part::<_, N>(of, rows.clone()))).collect();
        let of_part = |k: usize| of.chunks(size).map(move |of| (k * PART..rows.min((k + 1) * PART), of));
        let pieces: Vec<_> = (0..parts).flat_map(of_part).collect();
        let sums: Vec<Vec<[[f64; LANES]; N]>> = pieces.into_par_iter().map(piece).collect();
        let groups = sums.len() / parts;
        found.extend((0..of.len()).map(|place| {
            let of_part = |k: usize| &sums[k * groups + place / size][place % size];
            let lanes = (1..parts).fold(*of_part(0), |to, k| added(to, of_part(k)));
            lanes.map(|lanes| lanes.iter().sum())
        }));
    }
    found
}

/// Returns partial sums with those of another part.
fn added<const N: usize>(mut to: [[f64; LANES]; N], part: &[[f64; LANES]; N]) -> [[f64; LANES]; N] {
    to.as_flattened_mut().iter_mut().zip(part.as_flattened()).for_each(|(to, part)| *to += part);
    to
}

/// Least square of a distance, so that a particle without a mass at the place itself adds 0.
pub const NEAREST2: f64 = 1e-60;

/// Returns positions of a row relative to `from`, and the squares of the distances.
#[inline(always)]
fn relative([x, y, z]: &Coordinates, from: [f64; 3], row: usize) -> ([[f64; LANES]; 3], [f64; LANES]) {
    let (mut of, mut r2) = ([x[row], y[row], z[row]], [0.0; LANES]);
    for lane in 0..LANES {
        for (column, from) in of.iter_mut().zip(from) {
            column[lane] -= from;
        }
        let square = of[0][lane] * of[0][lane] + of[1][lane] * of[1][lane] + of[2][lane] * of[2][lane];
        r2[lane] = if square > NEAREST2 { square } else { NEAREST2 };
    }
    (of, r2)
}

/// Returns the masses of a row, without that of a particle.
#[inline(always)]
fn masses(mass: &Column, row: usize, but: usize) -> [f64; LANES] {
    let mut found = mass[row];
    if row == but / LANES {
        found[but % LANES] = 0.0;
    }
    found
}

/// Sum of m/r at a place by all particles but some, ascending.
#[derive(Clone, Copy)]
pub struct Potential<'a> {
    pub mass: &'a Column,
    pub pos: &'a Coordinates,
    pub from: [f64; 3],
    pub but: &'a [usize],
}

impl RowSums<1> for Potential<'_> {
    fn rows(self) -> usize {
        self.mass.len()
    }

    #[inline(always)]
    fn over(self, rows: Range<usize>) -> [[f64; LANES]; 1] {
        let (mut sums, mut but) = ([0.0; LANES], self.but);
        but = &but[but.partition_point(|i| i / LANES < rows.start)..];
        for row in rows {
            let mut mass = self.mass[row];
            while let Some((first, rest)) = but.split_first().filter(|(first, _)| *first / LANES == row) {
                (mass[first % LANES], but) = (0.0, rest);
            }
            let (_, r2) = relative(self.pos, self.from, row);
            for lane in 0..LANES {
                sums[lane] += mass[lane] / r2[lane].sqrt();
            }
        }
        [sums]
    }
}

/// Derivatives xx, yy, zz, xy, xz, yz of the acceleration at a place by all particles but one.
#[derive(Clone, Copy)]
pub struct Tide<'a> {
    pub mass: &'a Column,
    pub pos: &'a Coordinates,
    pub from: [f64; 3],
    pub but: usize,
}

impl RowSums<6> for Tide<'_> {
    fn rows(self) -> usize {
        self.mass.len()
    }

    #[inline(always)]
    fn over(self, rows: Range<usize>) -> [[f64; LANES]; 6] {
        let mut sums = [[0.0; LANES]; 6];
        for row in rows {
            let mass = masses(self.mass, row, self.but);
            let ([x, y, z], r2) = relative(self.pos, self.from, row);
            for lane in 0..LANES {
                // m (3 r rᵀ / r² − 1) / r³.
                let per_r2 = 1.0 / r2[lane];
                let m_r3 = mass[lane] * per_r2 * per_r2.sqrt();
                let m3_r5 = 3.0 * m_r3 * per_r2;
                let (along_x, along_y) = (m3_r5 * x[lane], m3_r5 * y[lane]);
                sums[0][lane] += along_x * x[lane] - m_r3;
                sums[1][lane] += along_y * y[lane] - m_r3;
                sums[2][lane] += m3_r5 * z[lane] * z[lane] - m_r3;
                sums[3][lane] += along_x * y[lane];
                sums[4][lane] += along_x * z[lane];
                sums[5][lane] += along_y * z[lane];
            }
        }
        sums
    }
}

/// Sum of m/r³ at a place by all particles but two.
#[derive(Clone, Copy)]
pub struct Rest<'a> {
    pub mass: &'a Column,
    pub pos: &'a Coordinates,
    pub from: [f64; 3],
    pub but: [usize; 2],
}

impl RowSums<1> for Rest<'_> {
    fn rows(self) -> usize {
        self.mass.len()
    }

    #[inline(always)]
    fn over(self, rows: Range<usize>) -> [[f64; LANES]; 1] {
        let mut sums = [0.0; LANES];
        for row in rows {
            let mut mass = masses(self.mass, row, self.but[0]);
            if row == self.but[1] / LANES {
                mass[self.but[1] % LANES] = 0.0;
            }
            let (_, r2) = relative(self.pos, self.from, row);
            for lane in 0..LANES {
                sums[lane] += mass[lane] / (r2[lane] * r2[lane].sqrt());
            }
        }
        [sums]
    }
}

/// States of all particles at their own times.
#[derive(Clone, Debug, Default)]
pub struct StateColumns {
    /// Times in ticks.
    pub time: Vec<[u64; LANES]>,
    /// Positions, velocities, accelerations and jerks.
    pub vectors: [Coordinates; 4],
}

/// Prediction of all particles to a moment `now`, in ticks.
pub struct Predict<'a> {
    pub states: &'a StateColumns,
    pub now: u64,
    pub tick: f64,
    /// First row.
    pub first: usize,
    /// Positions of the rows from there on.
    pub pos: [&'a mut [[f64; LANES]]; 3],
}

impl WithSimd for Predict<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let (StateColumns { time, vectors }, mut to) = (self.states, self.pos);
        for k in 0..to[0].len() {
            let (row, mut dt) = (self.first + k, [0.0; LANES]);
            for lane in 0..LANES {
                dt[lane] = (self.now - time[row][lane]) as f64 * self.tick;
            }
            for (axis, pos) in to.iter_mut().enumerate() {
                let [x, v, a, j] = vectors.each_ref().map(|vectors| &vectors[axis][row]);
                for lane in 0..LANES {
                    pos[k][lane] = predict_component(x[lane], v[lane], a[lane], j[lane], dt[lane]).0;
                }
            }
        }
    }
}

/// Search for particles within a distance of a place: `factor` times the root of each, not less than `min`, and
/// `slack` and `time` times its speed beside.
#[derive(Clone, Copy)]
pub struct Within<'a> {
    pub root: &'a Column,
    pub pos: &'a Coordinates,
    pub speed: &'a Column,
    pub from: [f64; 3],
    pub factor: f64,
    pub min: f64,
    pub slack: f64,
    pub time: f64,
}

impl Within<'_> {
    /// Returns a bit for each particle of a row that is within.
    #[inline(always)]
    fn row(&self, row: usize) -> u32 {
        let (_, r2) = relative(self.pos, self.from, row);
        let (root, speed, mut within) = (self.root[row], self.speed[row], 0);
        for lane in 0..LANES {
            let root = if root[lane] > self.min { root[lane] } else { self.min };
            let max = self.factor * root + (self.slack + self.time * speed[lane]);
            within |= u32::from(r2[lane] < max * max) << lane;
        }
        within
    }
}

/// Returns the particles within, ascending.
impl WithSimd for Within<'_> {
    type Output = Vec<usize>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Vec<usize> {
        let mut found = Vec::new();
        for row in 0..self.root.len() {
            let mut within = self.row(row);
            while within != 0 {
                found.push(row * LANES + within.trailing_zeros() as usize);
                within &= within - 1;
            }
        }
        found
    }
}
