//! A system in the arithmetic of its run, behind a trait that hides which one.

use super::double_double::{DoubleDouble, DoubleDoubles};
use super::limbs::Limbs;
use super::number::{Bodies, Columns, Number};
use super::step::{Extrapolation, Motion, Outcome};
use tisane_force::error::{Error, Result};
use tisane_force::particles::{Particles, Vec3};
use tisane_force::states::digits::Digits;

/// Numbers of bits that there are.
pub const BITS: [u32; 6] = [106, 192, 256, 384, 512, 1024];

/// System that takes steps.
pub trait Solver: Send {
    /// Moves all particles by the time `dt` if that converges.
    fn step(&mut self, dt: f64) -> Outcome;

    /// Stores positions, velocities and accelerations in f64, and all digits.
    fn store(&self, p: &mut Particles);

    /// Returns a copy.
    fn copied(&self) -> Box<dyn Solver>;

    /// Returns the number of evaluations of the accelerations of all particles so far.
    fn evaluations(&self) -> u64;
}

/// Returns the system of some particles in a number of [`BITS`], for a tolerance of a step.
///
/// # Errors
/// If the digits that they have are not numbers.
pub fn solver(p: &Particles, bits: u32, epsilon: f64, tolerance: f64) -> Result<Box<dyn Solver>> {
    Ok(match bits {
        106 => Box::new(Digital::<DoubleDoubles>::new(p, epsilon, tolerance)?),
        192 => Box::new(Digital::<Vec<Limbs<3>>>::new(p, epsilon, tolerance)?),
        256 => Box::new(Digital::<Vec<Limbs<4>>>::new(p, epsilon, tolerance)?),
        384 => Box::new(Digital::<Vec<Limbs<6>>>::new(p, epsilon, tolerance)?),
        512 => Box::new(Digital::<Vec<Limbs<8>>>::new(p, epsilon, tolerance)?),
        _ => Box::new(Digital::<Vec<Limbs<16>>>::new(p, epsilon, tolerance)?),
    })
}

/// Returns what positions and velocities have beyond f64, rounded to f64, in internal units: the numbers less their f64 values,
/// zero where these were changed since. [`None`] for particles without such digits.
#[must_use]
pub fn low_parts(p: &Particles) -> Option<[Vec<Vec3>; 2]> {
    let digits = p.states.get::<Digits>();
    match digits.bits {
        106 => low_parts_of::<DoubleDouble>(p, digits),
        192 => low_parts_of::<Limbs<3>>(p, digits),
        256 => low_parts_of::<Limbs<4>>(p, digits),
        384 => low_parts_of::<Limbs<6>>(p, digits),
        512 => low_parts_of::<Limbs<8>>(p, digits),
        1024 => low_parts_of::<Limbs<16>>(p, digits),
        _ => None,
    }
}

fn low_parts_of<T: Number>(p: &Particles, digits: &Digits) -> Option<[Vec<Vec3>; 2]> {
    if digits.words.len() != 6 * p.len() * T::WORDS {
        return None;
    }
    let low = |place: usize, rounded: f64| {
        let number = T::read(&digits.words[place * T::WORDS..(place + 1) * T::WORDS])?;
        Some(if number.rounded() == rounded { number.minus(T::exact(rounded)).rounded() } else { 0.0 })
    };
    let mut found = [Vec::with_capacity(p.len()), Vec::with_capacity(p.len())];
    for i in 0..p.len() {
        for (k, (column, of)) in found.iter_mut().zip([p.pos[i], p.vel[i]]).enumerate() {
            let at = 6 * i + 3 * k;
            column.push(Vec3::new(low(at, of.x)?, low(at + 1, of.y)?, low(at + 2, of.z)?));
        }
    }
    Some(found)
}

/// System in one arithmetic.
#[derive(Clone)]
struct Digital<C: Columns> {
    of: Extrapolation<C>,
    motion: Motion<C>,
    acc: C,
}

impl<C: Columns> Digital<C> {
    /// Creates it. A position or velocity goes on with its digits where these round to it, and else as it is.
    fn new(p: &Particles, epsilon: f64, tolerance: f64) -> Result<Self> {
        let (n, rows) = (p.len(), p.len().next_multiple_of(C::ROWS));
        let mut mass = p.mass.clone();
        mass.resize(rows, 0.0);
        let epsilon = C::Number::exact(epsilon);
        let of = Extrapolation::new(Bodies { n, mass, epsilon2: epsilon.times(epsilon) }, tolerance);
        let (mut motion, acc) = (Motion::<C>::zeros(3 * rows), C::zeros(3 * rows));
        let digits = p.states.get::<Digits>();
        let words = C::Number::WORDS;
        let has_digits = digits.bits == C::Number::BITS as usize && digits.words.len() == 6 * n * words;
        for i in 0..n {
            for c in 0..3 {
                let number = |place: usize, rounded: f64| -> Result<C::Number> {
                    let at = (6 * i + place) * words;
                    let Some(words) = digits.words.get(at..at + words).filter(|_| has_digits) else {
                        return Ok(C::Number::exact(rounded));
                    };
                    let found = C::Number::read(words).ok_or_else(|| not_a_number(p, i))?;
                    Ok(if found.rounded() == rounded { found } else { C::Number::exact(rounded) })
                };
                motion.pos.set(c * rows + i, number(c, p.pos[i][c])?);
                motion.vel.set(c * rows + i, number(3 + c, p.vel[i][c])?);
            }
        }
        let mut found = Self { of, motion, acc };
        found.of.accelerate(&found.motion.pos, &mut found.acc);
        Ok(found)
    }
}

fn not_a_number(p: &Particles, i: usize) -> Error {
    let problem = format!("the digits of particle {} beyond f64 are not those of a number", p.id[i]);
    Error::Integration { problem, help: None }
}

impl<C: Columns + 'static> Solver for Digital<C> {
    fn step(&mut self, dt: f64) -> Outcome {
        let outcome = self.of.step(&mut self.motion, &self.acc, dt);
        if matches!(outcome, Outcome::Converged(_)) {
            self.of.accelerate(&self.motion.pos, &mut self.acc);
        }
        outcome
    }

    fn store(&self, p: &mut Particles) {
        let rows = self.of.bodies().mass.len();
        let mut words = Vec::with_capacity(6 * p.len() * C::Number::WORDS);
        let rounded = |column: &C, i: usize| Vec3::from_fn(|c, _| column.get(c * rows + i).rounded());
        for i in 0..p.len() {
            (p.pos[i], p.vel[i]) = (rounded(&self.motion.pos, i), rounded(&self.motion.vel, i));
            p.acc[i] = rounded(&self.acc, i);
            for column in [&self.motion.pos, &self.motion.vel] {
                (0..3).for_each(|c| column.get(c * rows + i).write(&mut words));
            }
        }
        p.states.set(Digits { bits: C::Number::BITS as usize, words });
    }

    fn copied(&self) -> Box<dyn Solver> {
        Box::new(self.clone())
    }

    fn evaluations(&self) -> u64 {
        self.of.evaluations
    }
}
