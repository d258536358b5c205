//! One step of the extrapolated leapfrog: leapfrogs of 1, 2, 3, … parts over the same time, whose errors are series in
//! h² (Gragg 1965, SIAM J. Numer. Anal. 2, 384), extrapolated to parts of no length (Bulirsch & Stoer 1966, Numerische
//! Mathematik 8, 1) until the last column changes nothing more.

use super::number::{Bodies, Columns, Number};

/// Positions and velocities; x, y and z of all rows follow each other.
#[derive(Clone, Debug)]
pub struct Motion<C> {
    pub pos: C,
    pub vel: C,
}

impl<C: Columns> Motion<C> {
    pub fn zeros(len: usize) -> Self {
        Self { pos: C::zeros(len), vel: C::zeros(len) }
    }

    fn copy_from(&mut self, other: &Self) {
        self.pos.copy_from(&other.pos);
        self.vel.copy_from(&other.vel);
    }

    fn add_difference(&mut self, factor: C::Number, other: &Self) {
        self.pos.add_difference(factor, &other.pos);
        self.vel.add_difference(factor, &other.vel);
    }

    /// Returns the largest difference of a component from another motion; infinite if one is not a number.
    fn distance(&self, other: &Self, len: usize) -> f64 {
        let size = |a: &C, b: &C, row| a.get(row).minus(b.get(row)).rounded().abs();
        let sizes = (0..len).flat_map(|row| [size(&self.pos, &other.pos, row), size(&self.vel, &other.vel, row)]);
        sizes.fold(0.0, |max, size| if size.is_nan() { f64::INFINITY } else { size.max(max) })
    }
}

/// What came of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// It converged. The next one should be twice or half as long (1, −1), or as long.
    Converged(i8),
    /// It did not converge: it is too long.
    TooLong,
}

/// Columns by which a step is judged too early to be hopeless.
const FEWEST: usize = 4;
/// Gain by which another length of the step must be cheaper.
const GAIN: f64 = 0.9;

/// Memory of the steps of a system.
#[derive(Clone, Debug)]
pub struct Extrapolation<C: Columns> {
    bodies: Bodies<C::Number>,
    /// Largest number of columns.
    columns: usize,
    tolerance: f64,
    /// Factors of the differences: of column j of row q in `weights[q][j]`.
    weights: Vec<Vec<C::Number>>,
    /// 1/1, 1/2, 1/3, ….
    parts: Vec<C::Number>,
    half: C::Number,
    /// The last row of the table.
    table: Vec<Motion<C>>,
    moved: Motion<C>,
    save: Motion<C>,
    acc: C,
    /// Number of evaluations of the accelerations so far.
    pub evaluations: u64,
}

impl<C: Columns> Extrapolation<C> {
    /// Creates it for a system and a tolerance of the last change by a step.
    pub fn new(bodies: Bodies<C::Number>, tolerance: f64) -> Self {
        let (len, columns) = (3 * bodies.mass.len(), max_columns(tolerance));
        let weight = |q: usize, j: usize| {
            let (more, fewer) = (q as u32 + 1, (q - j) as u32);
            let square = C::Number::exact(f64::from(fewer * fewer));
            square.times(C::Number::reciprocal(more * more - fewer * fewer))
        };
        Self {
            weights: (0..columns).map(|q| (0..q).map(|j| weight(q, j)).collect()).collect(),
            parts: (1..=columns as u32).map(C::Number::reciprocal).collect(),
            half: C::Number::exact(0.5),
            table: vec![Motion::zeros(len); columns],
            moved: Motion::zeros(len),
            save: Motion::zeros(len),
            acc: C::zeros(len),
            bodies,
            columns,
            tolerance,
            evaluations: 0,
        }
    }

    /// Returns the system.
    pub const fn bodies(&self) -> &Bodies<C::Number> {
        &self.bodies
    }

    /// Computes the accelerations at these positions.
    pub fn accelerate(&mut self, pos: &C, acc: &mut C) {
        C::accelerate(&self.bodies, pos, acc);
        self.evaluations += 1;
    }

    /// Moves a system with these accelerations by the time `dt` with the leapfrog, in `parts` equal parts.
    fn leapfrog(&mut self, from: &Motion<C>, acc: &C, dt: f64, parts: usize) {
        let step = C::Number::exact(dt).times(self.parts[parts - 1]);
        let half = step.times(self.half);
        self.moved.copy_from(from);
        self.moved.vel.add_product(half, acc);
        for part in 1..=parts {
            self.moved.pos.add_product(step, &self.moved.vel);
            C::accelerate(&self.bodies, &self.moved.pos, &mut self.acc);
            self.moved.vel.add_product(if part < parts { step } else { half }, &self.acc);
        }
        self.evaluations += parts as u64;
    }

    /// Moves a system with these accelerations by the time `dt`, if that converges.
    pub fn step(&mut self, motion: &mut Motion<C>, acc: &C, dt: f64) -> Outcome {
        let mut errors: Vec<f64> = Vec::with_capacity(self.columns);
        for q in 0..self.columns {
            self.leapfrog(motion, acc, dt, q + 1);
            // T(q, j+1) = T(q, j) + (T(q, j) − T(q−1, j)) n²(q−j−1) / (n²(q) − n²(q−j−1)).
            for j in 0..q {
                self.save.copy_from(&self.table[j]);
                self.table[j].copy_from(&self.moved);
                self.moved.add_difference(self.weights[q][j], &self.save);
            }
            if q > 0 {
                errors.push(self.moved.distance(&self.table[q - 1], 3 * self.bodies.mass.len()));
            }
            let error = errors.last().copied().unwrap_or(f64::INFINITY);
            if q > 1 && error <= self.tolerance {
                motion.copy_from(&self.moved);
                return Outcome::Converged(self.advice(&errors));
            }
            if errors.len() >= FEWEST && !self.may_converge(&errors) {
                return Outcome::TooLong;
            }
            self.table[q].copy_from(&self.moved);
        }
        Outcome::TooLong
    }

    /// Returns true if the errors of the columns, going on as they fall, come below the tolerance. By the series, that of column
    /// k is proportional to h^2k/(k!)².
    fn may_converge(&self, errors: &[f64]) -> bool {
        let last = errors.len();
        let (mut error, ratio) = (errors[last - 1], errors[last - 1] / errors[last - 2]);
        for k in last + 1..self.columns {
            let shrinks = (last as f64 + 1.0) / (k as f64 + 1.0);
            error *= ratio * shrinks * shrinks;
        }
        error <= self.tolerance
    }

    /// Returns 1 or −1 if steps twice or half as long take fewer evaluations for the same time. The error of column k
    /// is proportional to h^(2k+1).
    fn advice(&self, errors: &[f64]) -> i8 {
        let work = |columns: usize| 1.0 + (columns * (columns + 1) / 2) as f64;
        let columns = errors.len() + 1;
        let falls = errors[errors.len() - 1] / errors[errors.len() - 2];
        let of = |k: usize| match errors.get(k - 1) {
            Some(error) => *error,
            None => errors[errors.len() - 1] * libm::pow(falls, (k - errors.len()) as f64),
        };
        let needed = |factor: f64| {
            let found = (2..self.columns).find(|&k| of(k) * libm::pow(factor, (2 * k + 1) as f64) <= self.tolerance);
            found.map(|k| k + 1)
        };
        if needed(2.0).is_some_and(|of_double| work(of_double) < 2.0 * GAIN * work(columns)) {
            1
        } else if needed(0.5).is_some_and(|of_half| 2.0 * work(of_half) < GAIN * work(columns)) {
            -1
        } else {
            0
        }
    }
}

/// Returns the largest number of columns for a tolerance: more than the best one for any step.
fn max_columns(tolerance: f64) -> usize {
    let digits = -libm::log10(tolerance);
    (0.6 * digits) as usize + 4
}
